//! The inner products of several token rows: a block's words, unpacked before, times panels of rows.

use super::matmul::flush;
use crate::cpu::activations::BlockMeta;
use crate::cpu::kernels::{ScaleEntry, Words};
use crate::cpu::packed::{BLOCK, TILE_ROWS};
use std::arch::x86_64::*;
use std::mem::offset_of;

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

/// The sums of a row of the panel, from integers to those of its span: `$begin` is the first part of
/// the span. In place of the products' temporaries: scales in `w`, biases in `r`.
macro_rules! asm_flush {
    ($begin:tt, $row:literal, $meta:literal, $at:literal) => {
        concat!(
            "vbroadcastss {p0}, dword ptr [{m} + ",
            $meta,
            "]\n",
            asm_start!($begin, "q0", "r0", $at),
            asm_start!($begin, "q1", "r1", $at, " + 32"),
            "vcvtdq2ps {a",
            $row,
            "}, {a",
            $row,
            "}\n",
            "vfmadd231ps {q0}, {a",
            $row,
            "}, {w0}\n",
            "vmovups ymmword ptr [{s} + ",
            $at,
            "], {q0}\n",
            "vcvtdq2ps {b",
            $row,
            "}, {b",
            $row,
            "}\n",
            "vfmadd231ps {q1}, {b",
            $row,
            "}, {w1}\n",
            "vmovups ymmword ptr [{s} + ",
            $at,
            " + 32], {q1}\n",
        )
    };
}

/// `$to` = the span's sums so far + bias · the row's sum.
macro_rules! asm_start {
    (true, $to:literal, $bias:literal, $($at:literal),+) => {
        concat!("vmulps {", $to, "}, {p0}, {", $bias, "}\n")
    };
    (false, $to:literal, $bias:literal, $($at:literal),+) => {
        concat!(
            "vmovups {", $to, "}, ymmword ptr [{s} + ", $($at),+, "]\n",
            "vfmadd231ps {", $to, "}, {p0}, {", $bias, "}\n",
        )
    };
}

/// Pairs of four token rows: the inner loop of prefill. In assembly because the compiler either
/// leaves it rolled or spills the sums, and in place because a function would pass them through
/// memory. Reads 4 token rows' pairs at `x` and 32 words a pair at `w`, 32-byte aligned; all 16
/// registers are in use. Then the scaled sums go to four rows at `s`; `m` are the rows' sums, one a
/// `BlockMeta`, `e` the scales and biases.
///
/// What bounds it on Zen 3 are the four vector pipes, not loads: multiplies run on two of them only,
/// and additions that become ready in their midst take slots of these two instead of the others'.
/// 24 operations would take 6 cycles; they take 7.3 if each product is added at once, 7.0 so. Six
/// rows need fewer loads, but leave no registers to wait in.
macro_rules! four_rows {
    ($begin:tt, $x:expr, $w:expr, $m:expr, $e:expr, $s:expr, $($pairs:expr),+) => {
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
            "vmovups {w0}, ymmword ptr [{e}]",
            "vmovups {w1}, ymmword ptr [{e} + 32]",
            "vmovups {r0}, ymmword ptr [{e} + 64]",
            "vmovups {r1}, ymmword ptr [{e} + 96]",
            asm_flush!($begin, "0", "0", "0"),
            asm_flush!($begin, "1", "16", "64"),
            asm_flush!($begin, "2", "32", "128"),
            asm_flush!($begin, "3", "48", "192"),
            w = in(reg) $w,
            x = in(reg) $x,
            m = in(reg) $m,
            e = in(reg) $e,
            s = in(reg) $s,
            a0 = out(ymm_reg) _, b0 = out(ymm_reg) _,
            a1 = out(ymm_reg) _, b1 = out(ymm_reg) _,
            a2 = out(ymm_reg) _, b2 = out(ymm_reg) _,
            a3 = out(ymm_reg) _, b3 = out(ymm_reg) _,
            w0 = out(ymm_reg) _, w1 = out(ymm_reg) _,
            p0 = out(ymm_reg) _, p1 = out(ymm_reg) _,
            q0 = out(ymm_reg) _, q1 = out(ymm_reg) _,
            r0 = out(ymm_reg) _, r1 = out(ymm_reg) _,
            options(nostack, preserves_flags),
        )
    };
}

/// The pairs of a block's part and where their products go.
pub struct Part<'a> {
    /// The block's pairs of all token rows.
    pub ints: &'a [i16],
    pub words: &'a Words,
    /// The first pair.
    pub from: usize,
    /// The block's facts of all token rows.
    pub meta: &'a [BlockMeta],
    pub entry: &'a ScaleEntry,
    /// Whether it is the first of a span and begins its sums.
    pub begins: bool,
    pub sums: &'a mut [[f32; TILE_ROWS]],
}

/// `PAIRS` pairs of the rows of a panel from pair `from` of the block.
macro_rules! panel_of {
    ($begin:tt, $pairs:expr, $x:expr, $w:expr, $m:expr, $e:expr, $s:expr) => {
        if $pairs == 16 {
            four_rows!(
                $begin, $x, $w, $m, $e, $s,
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
                $begin, $x, $w, $m, $e, $s,
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
    };
}

/// All token rows × `PAIRS` pairs of a block, in panels of four.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
pub fn panels<const PAIRS: usize>(part: Part<'_>) {
    let Part {
        ints,
        words,
        from,
        meta,
        entry,
        begins,
        sums,
    } = part;
    let rows = meta.len();
    assert!(ints.len() >= rows * BLOCK && from + PAIRS <= 16 && sums.len() >= rows);
    // The sum of a whole block, of its first or of its last half.
    let sum = match (PAIRS, from) {
        (16, _) => offset_of!(BlockMeta, sum),
        (_, 0) => offset_of!(BlockMeta, sum_low),
        _ => offset_of!(BlockMeta, sum_high),
    };
    let mut row = 0;
    // SAFETY: offsets stay inside the lengths asserted above; `words` is 64-byte aligned.
    unsafe {
        let words = words.0.as_ptr().add(from * 32);
        while row + 4 <= rows {
            let x = ints.as_ptr().add(row * BLOCK + from * 8).cast::<i32>();
            let sum = meta.as_ptr().add(row).byte_add(sum);
            let entry = entry.as_ptr();
            let sums = sums.as_mut_ptr().add(row);
            if begins {
                panel_of!(true, PAIRS, x, words, sum, entry, sums);
            } else {
                panel_of!(false, PAIRS, x, words, sum, entry, sums);
            }
            row += 4;
        }
        let x = |rest: usize| {
            ints.as_ptr()
                .add(row * BLOCK + from * 2 * rest)
                .cast::<i32>()
        };
        let mut flush_row = |r: usize, ints: &[__m256i; 2]| {
            let row = row + r;
            let sum = *meta.as_ptr().add(row).byte_add(sum).cast::<f32>();
            for h in 0..2 {
                let at = sums[row].as_mut_ptr().add(8 * h);
                let [scale, bias] = [entry[0].as_ptr().add(8 * h), entry[1].as_ptr().add(8 * h)];
                let mut acc = _mm256_setzero_ps();
                if !begins {
                    acc = _mm256_loadu_ps(at);
                }
                let (scale, bias) = (_mm256_loadu_ps(scale), _mm256_loadu_ps(bias));
                _mm256_storeu_ps(at, flush(acc, ints[h], scale, bias, sum));
            }
        };
        match rows - row {
            1 => {
                let ints = few_rows::<1, PAIRS>(x(1), words);
                flush_row(0, &ints[0]);
            }
            2 => {
                let ints = few_rows::<2, PAIRS>(x(2), words);
                (0..2).for_each(|r| flush_row(r, &ints[r]));
            }
            3 => {
                let ints = few_rows::<3, PAIRS>(x(3), words);
                (0..3).for_each(|r| flush_row(r, &ints[r]));
            }
            _ => {}
        }
    }
}

/// `out += sums · scale` for all token rows: the end of a span.
#[target_feature(enable = "avx2,fma,f16c")]
pub fn settle(meta: &[BlockMeta], sums: &[[f32; TILE_ROWS]], out: &mut [[f32; TILE_ROWS]]) {
    for ((meta, sums), out) in meta.iter().zip(sums).zip(out) {
        let scale = _mm256_set1_ps(meta.scale);
        for h in 0..2 {
            // SAFETY: rows of 16.
            unsafe {
                let sum = _mm256_loadu_ps(sums.as_ptr().add(8 * h));
                let to = out.as_mut_ptr().add(8 * h);
                _mm256_storeu_ps(to, _mm256_fmadd_ps(sum, scale, _mm256_loadu_ps(to)));
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
