//! The inner products of several token rows: a block's words, unpacked before, times panels of rows.

use super::matmul::flush;
use crate::cpu::activations::BlockMeta;
use crate::cpu::kernels::{ScaleEntry, Words};
use crate::cpu::packed::{BLOCK, TILE_ROWS};
use std::arch::x86_64::*;

/// One token row of pair `$j`: broadcast, two multiplies. `$at` is the row's place in the pair.
macro_rules! asm_mul {
    ($j:literal, $at:literal, $low:literal, $high:literal) => {
        concat!(
            "vpbroadcastd {",
            $high,
            "}, dword ptr [{x} + 16 * ",
            $j,
            " + ",
            $at,
            "]\n",
            "vpmaddwd {",
            $low,
            "}, {",
            $high,
            "}, {w0}\n",
            "vpmaddwd {",
            $high,
            "}, {",
            $high,
            "}, {w1}\n",
        )
    };
}

/// Adds two products to the sums of a row.
macro_rules! asm_add {
    ($row:literal, $low:literal, $high:literal) => {
        concat!(
            "vpaddd {a",
            $row,
            "}, {a",
            $row,
            "}, {",
            $low,
            "}\n", //
            "vpaddd {b",
            $row,
            "}, {b",
            $row,
            "}, {",
            $high,
            "}\n",
        )
    };
}

/// The weights of pair `$j`.
macro_rules! asm_words {
    ($j:literal) => {
        concat!(
            "vmovdqa {w0}, ymmword ptr [{w} + 64 * ",
            $j,
            "]\n",
            "vmovdqa {w1}, ymmword ptr [{w} + 64 * ",
            $j,
            " + 32]\n",
        )
    };
}

/// Pair `$j` of four token rows. Each product waits in one of three pairs of temporaries and is
/// added two rows later, so this adds the last two rows of the pair before.
macro_rules! asm_pair {
    ($j:literal, $t0:literal $t1:literal, $u0:literal $u1:literal, $v0:literal $v1:literal) => {
        concat!(
            asm_words!($j),
            asm_mul!($j, "0", $t0, $t1),
            asm_add!("2", $u0, $u1),
            asm_mul!($j, "4", $u0, $u1),
            asm_add!("3", $v0, $v1),
            asm_mul!($j, "8", $v0, $v1),
            asm_add!("0", $t0, $t1),
            asm_mul!($j, "12", $t0, $t1),
            asm_add!("1", $u0, $u1),
        )
    };
}

/// Pairs of four token rows: the inner loop of prefill. In assembly because the compiler either
/// leaves it rolled or spills the sums, and in place because a function would pass them through
/// memory. Reads 4 token rows' pairs at `x` and 32 words a pair at `w`, 32-byte aligned; all 16
/// registers are in use.
///
/// What bounds it on Zen 3 are the four vector pipes, not loads: multiplies run on two of them only,
/// and additions that become ready in their midst take slots of these two instead of the others'.
/// 24 operations would take 6 cycles; they take 7.3 if each product is added at once, 7.0 so. Six
/// rows need fewer loads, but leave no registers to wait in.
macro_rules! four_rows {
    ($x:expr, $w:expr, $a0:ident $a1:ident $a2:ident $a3:ident, $b0:ident $b1:ident $b2:ident $b3:ident,
     $($pairs:expr),+) => {
        std::arch::asm!(
            // The first pair has nothing to be added to.
            asm_words!("0"),
            asm_mul!("0", "0", "a0", "b0"),
            asm_mul!("0", "4", "a1", "b1"),
            asm_mul!("0", "8", "a2", "b2"),
            asm_mul!("0", "12", "a3", "b3"),
            asm_words!("1"),
            asm_mul!("1", "0", "p0", "p1"),
            asm_mul!("1", "4", "q0", "q1"),
            asm_mul!("1", "8", "r0", "r1"),
            asm_add!("0", "p0", "p1"),
            asm_mul!("1", "12", "p0", "p1"),
            asm_add!("1", "q0", "q1"),
            $($pairs),+,
            w = in(reg) $w,
            x = in(reg) $x,
            a0 = out(ymm_reg) $a0, b0 = out(ymm_reg) $b0,
            a1 = out(ymm_reg) $a1, b1 = out(ymm_reg) $b1,
            a2 = out(ymm_reg) $a2, b2 = out(ymm_reg) $b2,
            a3 = out(ymm_reg) $a3, b3 = out(ymm_reg) $b3,
            w0 = out(ymm_reg) _, w1 = out(ymm_reg) _,
            p0 = out(ymm_reg) _, p1 = out(ymm_reg) _,
            q0 = out(ymm_reg) _, q1 = out(ymm_reg) _,
            r0 = out(ymm_reg) _, r1 = out(ymm_reg) _,
            options(nostack, readonly, preserves_flags),
        )
    };
}

type V4 = (__m256i, __m256i, __m256i, __m256i);

/// All token rows × `PAIRS` pairs of a block from pair `from`, in panels of four.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
pub fn panels<const PAIRS: usize>(
    ints: &[i16],
    words: &Words,
    from: usize,
    meta: &[BlockMeta],
    sum: impl Fn(&BlockMeta) -> f32,
    entry: &ScaleEntry,
    out: &mut [[f32; TILE_ROWS]],
) {
    let rows = meta.len();
    assert!(ints.len() >= rows * BLOCK && from + PAIRS <= 16 && out.len() >= rows);
    let mut row = 0;
    // SAFETY: offsets stay inside the lengths asserted above; `words` is 64-byte aligned.
    unsafe {
        let words = words.0.as_ptr().add(from * 32);
        while row + 4 <= rows {
            let x = ints.as_ptr().add(row * BLOCK + from * 8).cast::<i32>();
            let (a0, a1, a2, a3): V4;
            let (b0, b1, b2, b3): V4;
            if PAIRS == 16 {
                four_rows!(
                    x, words, a0 a1 a2 a3, b0 b1 b2 b3,
                    asm_pair!("2", "q0" "q1", "r0" "r1", "p0" "p1"),
                    asm_pair!("3", "r0" "r1", "p0" "p1", "q0" "q1"),
                    asm_pair!("4", "p0" "p1", "q0" "q1", "r0" "r1"),
                    asm_pair!("5", "q0" "q1", "r0" "r1", "p0" "p1"),
                    asm_pair!("6", "r0" "r1", "p0" "p1", "q0" "q1"),
                    asm_pair!("7", "p0" "p1", "q0" "q1", "r0" "r1"),
                    asm_pair!("8", "q0" "q1", "r0" "r1", "p0" "p1"),
                    asm_pair!("9", "r0" "r1", "p0" "p1", "q0" "q1"),
                    asm_pair!("10", "p0" "p1", "q0" "q1", "r0" "r1"),
                    asm_pair!("11", "q0" "q1", "r0" "r1", "p0" "p1"),
                    asm_pair!("12", "r0" "r1", "p0" "p1", "q0" "q1"),
                    asm_pair!("13", "p0" "p1", "q0" "q1", "r0" "r1"),
                    asm_pair!("14", "q0" "q1", "r0" "r1", "p0" "p1"),
                    asm_pair!("15", "r0" "r1", "p0" "p1", "q0" "q1"),
                    asm_add!("2", "q0", "q1"),
                    asm_add!("3", "r0", "r1")
                );
            } else {
                four_rows!(
                    x, words, a0 a1 a2 a3, b0 b1 b2 b3,
                    asm_pair!("2", "q0" "q1", "r0" "r1", "p0" "p1"),
                    asm_pair!("3", "r0" "r1", "p0" "p1", "q0" "q1"),
                    asm_pair!("4", "p0" "p1", "q0" "q1", "r0" "r1"),
                    asm_pair!("5", "q0" "q1", "r0" "r1", "p0" "p1"),
                    asm_pair!("6", "r0" "r1", "p0" "p1", "q0" "q1"),
                    asm_pair!("7", "p0" "p1", "q0" "q1", "r0" "r1"),
                    asm_add!("2", "r0", "r1"),
                    asm_add!("3", "p0", "p1")
                );
            }
            let (meta, out) = (meta.as_ptr().add(row), out.as_mut_ptr().add(row));
            let pairs = [(a0, b0), (a1, b1), (a2, b2), (a3, b3)];
            for (r, (a, b)) in pairs.into_iter().enumerate() {
                let meta = &*meta.add(r);
                let sum = sum(meta);
                let to = out.add(r).cast::<f32>();
                for (h, ints) in [(0, a), (1, b)] {
                    let [scale, bias] =
                        [0, 1].map(|i: usize| _mm256_loadu_ps(entry[i].as_ptr().add(8 * h)));
                    let to = to.add(8 * h);
                    let acc = _mm256_loadu_ps(to);
                    _mm256_storeu_ps(to, flush(acc, ints, scale, bias, sum, meta.scale));
                }
            }
            row += 4;
        }
        let x = |rest: usize| {
            ints.as_ptr()
                .add(row * BLOCK + from * 2 * rest)
                .cast::<i32>()
        };
        let (meta, out) = (&meta[row..], out.as_mut_ptr().add(row));
        match rows - row {
            1 => flush_rows(&few_rows::<1, PAIRS>(x(1), words), meta, &sum, entry, out),
            2 => flush_rows(&few_rows::<2, PAIRS>(x(2), words), meta, &sum, entry, out),
            3 => flush_rows(&few_rows::<3, PAIRS>(x(3), words), meta, &sum, entry, out),
            _ => {}
        }
    }
}

/// `out[r] += bias·sum + (float(ints)·x_scale)·scale` for `R` rows.
///
/// # Safety
/// `meta` and `out` have `R` rows.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
unsafe fn flush_rows<const R: usize>(
    sums: &[[__m256i; 2]; R],
    meta: &[BlockMeta],
    sum: impl Fn(&BlockMeta) -> f32,
    entry: &ScaleEntry,
    out: *mut [f32; TILE_ROWS],
) {
    // SAFETY: by contract.
    unsafe {
        for h in 0..2 {
            let scale = _mm256_loadu_ps(entry[0].as_ptr().add(8 * h));
            let bias = _mm256_loadu_ps(entry[1].as_ptr().add(8 * h));
            for (r, ints) in sums.iter().enumerate() {
                let meta = meta.get_unchecked(r);
                let to = out.add(r).cast::<f32>().add(8 * h);
                let acc = _mm256_loadu_ps(to);
                _mm256_storeu_ps(to, flush(acc, ints[h], scale, bias, sum(meta), meta.scale));
            }
        }
    }
}

/// `R` token rows × `PAIRS` pairs.
///
/// # Safety
/// `x` holds `R·PAIRS` pairs, `words` `PAIRS·32` words, 32-byte aligned.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
unsafe fn few_rows<const R: usize, const PAIRS: usize>(
    x: *const i32,
    words: *const i16,
) -> [[__m256i; 2]; R] {
    let mut ints = [[_mm256_setzero_si256(); 2]; R];
    for j in 0..PAIRS {
        // SAFETY: by contract.
        unsafe {
            let low = _mm256_load_si256(words.add(j * 32).cast());
            let high = _mm256_load_si256(words.add(j * 32 + 16).cast());
            for (r, ints) in ints.iter_mut().enumerate() {
                let x = _mm256_set1_epi32(x.add(j * R + r).read_unaligned());
                ints[0] = _mm256_add_epi32(ints[0], _mm256_madd_epi16(low, x));
                ints[1] = _mm256_add_epi32(ints[1], _mm256_madd_epi16(high, x));
            }
        }
    }
    ints
}
