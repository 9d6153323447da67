//! Kernel bodies in plain Rust that the compiler vectorises for each SIMD level: every level calls
//! them from functions with its target features on.

use super::{AttendPage, KeysValues};
use crate::ir::CLAMPED_ALPHA;
use crate::step::PAGE_TOKENS;

/// Lanes of the explicit accumulators: two AVX-512 vectors, four AVX2 ones.
pub const LANES: usize = 32;

/// `a·b + c`, fused where the level has it (`F`).
#[inline(always)]
pub fn fma<const F: bool>(a: f32, b: f32, c: f32) -> f32 {
    if F { a.mul_add(b, c) } else { a * b + c }
}

/// e^x, 2 ulp: 2^n · p(r) with r = x − n·ln 2 (Cephes' polynomial); saturates outside ±87.
#[inline(always)]
pub fn exp<const F: bool>(x: f32) -> f32 {
    // 1.5·2^23: adding it rounds to an integer, which then stands in the low bits.
    const MAGIC: f32 = 12_582_912.0;
    let x = x.clamp(-87.0, 88.0);
    let shifted = fma::<F>(x, std::f32::consts::LOG2_E, MAGIC);
    let n = shifted - MAGIC;
    let r = fma::<F>(n, -0.693_359_4, x);
    let r = fma::<F>(n, 2.121_944_4e-4, r);
    let mut p = 1.987_569_1e-4;
    for c in [
        1.398_199_9e-3,
        8.333_452e-3,
        4.166_579_6e-2,
        0.166_666_65,
        0.5,
    ] {
        p = fma::<F>(p, r, c);
    }
    let p = fma::<F>(p * r, r, r + 1.0);
    p * f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23))
}

/// `cap · tanh(x / cap)`, by tanh(y) = 1 − 2 / (e^(2y) + 1).
#[inline(always)]
pub fn soft_cap<const F: bool>(scores: &mut [f32], cap: f32) {
    for x in scores {
        let e = exp::<F>(*x / cap * 2.0);
        *x = cap * (1.0 - 2.0 / (e + 1.0));
    }
}

/// `Σ` of the lanes in a fixed order, which `columns` shares.
#[inline(always)]
pub fn sum(lanes: &[f32; LANES]) -> f32 {
    let mut lanes = *lanes;
    let mut n = LANES / 2;
    while n > 0 {
        for i in 0..n {
            lanes[i] += lanes[i + n];
        }
        n /= 2;
    }
    lanes[0]
}

#[inline(always)]
pub fn rms_norm<const F: bool>(x: &[f32], weight: &[f32], eps: f32, out: &mut [f32]) {
    let mut acc = [0.0f32; LANES];
    let (chunks, rest) = x.as_chunks::<LANES>();
    for chunk in chunks {
        for i in 0..LANES {
            acc[i] = fma::<F>(chunk[i], chunk[i], acc[i]);
        }
    }
    for (i, &v) in rest.iter().enumerate() {
        acc[i] = fma::<F>(v, v, acc[i]);
    }
    let scale = 1.0 / (sum(&acc) / x.len() as f32 + eps).sqrt();
    for ((out, &x), &w) in out.iter_mut().zip(x).zip(weight) {
        *out = x * scale * w;
    }
}

#[inline(always)]
pub fn swiglu<const F: bool>(gate: &mut [f32], up: &[f32]) {
    for (g, &u) in gate.iter_mut().zip(up) {
        *g = *g / (1.0 + exp::<F>(-*g)) * u;
    }
}

/// `gate = gate · sigmoid(1.702·gate) · (up + 1)`, gate at most `limit`, up at most so far from 0.
#[inline(always)]
pub fn swiglu_clamped<const F: bool>(gate: &mut [f32], up: &[f32], limit: f32) {
    // A comparison with NaN is false, so that NaN stays.
    let below = |x: f32| if x > limit { limit } else { x };
    let above = |x: f32| if x < -limit { -limit } else { x };
    for (g, &u) in gate.iter_mut().zip(up) {
        let gate = below(*g);
        let silu = gate / (1.0 + exp::<F>(-CLAMPED_ALPHA * gate));
        *g = silu * (above(below(u)) + 1.0);
    }
}

/// The two inner products of attention, of one SIMD level, for `R` query rows and keys and values of
/// `T`: f32 or u16, the bits of f16.
pub trait PageProducts<T> {
    /// `scores[r][t] = Σ_d q[r][d]·k[d][t]` for the 16 tokens from `t`.
    ///
    /// # Safety
    /// `q` `[R][dim]`, `k` `[dim][PAGE_TOKENS]`, `t + 16 ≤ PAGE_TOKENS`.
    unsafe fn scores<const R: usize>(
        q: *const f32,
        k: *const T,
        dim: usize,
        t: usize,
        scores: &mut [[f32; PAGE_TOKENS]; R],
    );

    /// `out[r][d] = out[r][d]·keep[r] + Σ_t p[r][t]·v[t][d]` for the 16 columns from `d`, `t < last`.
    ///
    /// # Safety
    /// `out` `[R][dim]`, `v` `[PAGE_TOKENS][dim]`, `d + 16 ≤ dim`, `last ≤ PAGE_TOKENS`.
    unsafe fn values<const R: usize>(
        p: &[[f32; PAGE_TOKENS]; R],
        v: *const T,
        dim: usize,
        d: usize,
        last: usize,
        keep: &[f32; R],
        out: *mut f32,
    );
}

/// One page of flash attention: scores, running softmax, weighted values.
///
/// For each row `r` over the tokens `t` it sees: `s = q·k_t`, `m' = max(m, s)`,
/// `out = out·e^(m−m') + Σ e^(s−m')·v_t`, `sum = sum·e^(m−m') + Σ e^(s−m')`.
#[inline(always)]
pub fn attend_page<const F: bool, P: PageProducts<f32> + PageProducts<u16>>(
    page: &mut AttendPage<'_>,
) {
    match page.kv {
        KeysValues::F32(k, v) => attend::<F, P, f32>(page, k, v),
        KeysValues::F16(k, v) => attend::<F, P, u16>(page, k, v),
    }
}

#[inline(always)]
fn attend<const F: bool, P: PageProducts<T>, T>(page: &mut AttendPage<'_>, k: &[T], v: &[T]) {
    match page.state.len() {
        1 => attend_rows::<F, P, T, 1>(page, k, v),
        2 => attend_rows::<F, P, T, 2>(page, k, v),
        3 => attend_rows::<F, P, T, 3>(page, k, v),
        4 => attend_rows::<F, P, T, 4>(page, k, v),
        5 => attend_rows::<F, P, T, 5>(page, k, v),
        _ => attend_rows::<F, P, T, 6>(page, k, v),
    }
}

#[inline(always)]
fn attend_rows<const F: bool, P: PageProducts<T>, T, const R: usize>(
    page: &mut AttendPage<'_>,
    k: &[T],
    v: &[T],
) {
    const STEP: usize = 16;
    const N: usize = PAGE_TOKENS;
    let dim = page.q.len() / R;
    let last = page.seen.iter().map(|s| s.1).max().unwrap_or(0);
    assert!(page.q.len() >= R * dim && page.out.len() >= R * dim && dim.is_multiple_of(STEP));
    assert!(k.len() >= dim * N && v.len() >= dim * N && last <= N);
    assert!(page.seen.len() >= R && page.state.len() >= R);
    let mut scores = [[0.0f32; N]; R];
    for t in (0..last).step_by(STEP) {
        // SAFETY: the lengths asserted above.
        unsafe { P::scores(page.q.as_ptr(), k.as_ptr(), dim, t, &mut scores) };
    }
    if page.cap > 0.0 {
        for row in &mut scores {
            soft_cap::<F>(row, page.cap);
        }
    }
    let mut keep = [1.0f32; R];
    for r in 0..R {
        let (from, to) = page.seen[r];
        let (old_max, old_sum) = page.state[r];
        let row = &mut scores[r];
        if from > 0 || to < N {
            row[..from].fill(f32::NEG_INFINITY);
            row[to..].fill(f32::NEG_INFINITY);
        }
        let max = old_max.max(maximum(row));
        if max == f32::NEG_INFINITY {
            row.fill(0.0);
            continue;
        }
        keep[r] = if old_max == f32::NEG_INFINITY {
            0.0
        } else {
            exp::<F>(old_max - max)
        };
        for s in row.iter_mut() {
            *s = exp::<F>(*s - max);
        }
        if from > 0 || to < N {
            row[..from].fill(0.0);
            row[to..].fill(0.0);
        }
        page.state[r] = (max, fma::<F>(old_sum, keep[r], sum(row)));
    }
    for d in (0..dim).step_by(STEP) {
        let (v, out) = (v.as_ptr(), page.out.as_mut_ptr());
        // SAFETY: the lengths asserted above.
        unsafe { P::values(&scores, v, dim, d, last, &keep, out) };
    }
}

/// The largest of the lanes; NaN is passed over (it shows in the sum).
#[inline(always)]
pub fn maximum<const N: usize>(lanes: &[f32; N]) -> f32 {
    let mut lanes = *lanes;
    let mut n = N / 2;
    while n > 0 {
        for i in 0..n {
            lanes[i] = if lanes[i + n] > lanes[i] {
                lanes[i + n]
            } else {
                lanes[i]
            };
        }
        n /= 2;
    }
    lanes[0]
}
