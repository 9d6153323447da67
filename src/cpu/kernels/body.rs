//! Kernel bodies in plain Rust that the compiler vectorises for each SIMD level: every level calls
//! them from functions with its target features on.

use super::AttendPage;
use crate::step::PAGE_TOKENS;

/// Lanes of the explicit accumulators: two AVX-512 vectors, four AVX2 ones.
const LANES: usize = 32;

/// `a·b + c`, fused where the level has it (`F`).
#[inline(always)]
fn fma<const F: bool>(a: f32, b: f32, c: f32) -> f32 {
    if F { a.mul_add(b, c) } else { a * b + c }
}

/// e^x for x ≤ 0 or moderate x, 2 ulp: 2^n · p(r) with r = x − n·ln 2 (Cephes' polynomial).
#[inline(always)]
fn exp<const F: bool>(x: f32) -> f32 {
    const MAGIC: f32 = 12_582_912.0; // 1.5·2^23: adding it rounds to an integer
    let x = x.clamp(-87.0, 88.0);
    let n = fma::<F>(x, std::f32::consts::LOG2_E, MAGIC) - MAGIC;
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
    p * f32::from_bits(((n as i32 + 127) << 23) as u32)
}

/// `Σ` of the lanes in a fixed order.
#[inline(always)]
fn sum(lanes: &[f32; LANES]) -> f32 {
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
pub fn swiglu<const F: bool>(gate: &[f32], up: &[f32], out: &mut [f32]) {
    for ((out, &g), &u) in out.iter_mut().zip(gate).zip(up) {
        *out = g / (1.0 + exp::<F>(-g)) * u;
    }
}

/// One page of flash attention: scores, running softmax, weighted values.
///
/// For each row `r` over the tokens `t` it sees: `s = q·k_t`, `m' = max(m, s)`,
/// `out = out·e^(m−m') + Σ e^(s−m')·v_t`, `sum = sum·e^(m−m') + Σ e^(s−m')`.
#[inline(always)]
pub fn attend_page<const F: bool>(page: &mut AttendPage<'_>) {
    match page.state.len() {
        1 => attend_rows::<F, 1>(page),
        2 => attend_rows::<F, 2>(page),
        3 => attend_rows::<F, 3>(page),
        4 => attend_rows::<F, 4>(page),
        5 => attend_rows::<F, 5>(page),
        _ => attend_rows::<F, 6>(page),
    }
}

#[inline(always)]
fn attend_rows<const F: bool, const R: usize>(page: &mut AttendPage<'_>) {
    const STEP: usize = 16;
    let dim = page.q.len() / R;
    let last = page.seen.iter().map(|s| s.1).max().unwrap_or(0);
    let mut scores = [[0.0f32; PAGE_TOKENS]; R];
    for t in (0..last).step_by(STEP) {
        let mut acc = [[0.0f32; STEP]; R];
        for d in 0..dim {
            let k: &[f32; STEP] = page.k[d * PAGE_TOKENS + t..][..STEP]
                .try_into()
                .unwrap_or(&[0.0; STEP]);
            for r in 0..R {
                let q = page.q[r * dim + d];
                for i in 0..STEP {
                    acc[r][i] = fma::<F>(q, k[i], acc[r][i]);
                }
            }
        }
        for r in 0..R {
            scores[r][t..t + STEP].copy_from_slice(&acc[r]);
        }
    }
    let mut keep = [1.0f32; R];
    for r in 0..R {
        let (from, to) = page.seen[r];
        let (old_max, old_sum) = page.state[r];
        let row = &mut scores[r];
        for (t, s) in row.iter_mut().enumerate() {
            if t < from || t >= to {
                *s = f32::NEG_INFINITY;
            }
        }
        let max = row.iter().fold(old_max, |m, &s| m.max(s));
        if max == f32::NEG_INFINITY {
            row.fill(0.0);
            continue;
        }
        keep[r] = if old_max == f32::NEG_INFINITY {
            0.0
        } else {
            exp::<F>(old_max - max)
        };
        let mut acc = [0.0f32; PAGE_TOKENS];
        for (t, s) in row.iter_mut().enumerate() {
            let p = exp::<F>(*s - max);
            *s = if t < from || t >= to { 0.0 } else { p };
            acc[t] = *s;
        }
        page.state[r] = (max, fma::<F>(old_sum, keep[r], sum(&acc)));
    }
    for d in (0..dim).step_by(STEP) {
        let mut acc = [[0.0f32; STEP]; R];
        for r in 0..R {
            for i in 0..STEP {
                acc[r][i] = page.out[r * dim + d + i] * keep[r];
            }
        }
        for t in 0..last {
            let v: &[f32; STEP] = page.v[t * dim + d..][..STEP]
                .try_into()
                .unwrap_or(&[0.0; STEP]);
            for r in 0..R {
                let p = scores[r][t];
                for i in 0..STEP {
                    acc[r][i] = fma::<F>(p, v[i], acc[r][i]);
                }
            }
        }
        for r in 0..R {
            page.out[r * dim + d..][..STEP].copy_from_slice(&acc[r]);
        }
    }
}
