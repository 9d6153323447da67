//! AVX2 + FMA + F16C kernels.
//!
//! The quantized product multiplies 16-bit pairs (`vpmaddwd`) and adds in 32 bits: exact. Several
//! token rows: a block is unpacked to pairs once (1 KiB, L1) and used by all panels. One token row:
//! codes are unpacked in registers.

use super::{
    AttendPage, DenseTile, Kernels, ScaleEntry, SimdLevel, Tile, TileScratch, Words, body, portable,
};
use crate::cpu::activations::{BlockMeta, Group, RowTarget};
use crate::cpu::packed::{BLOCK, TILE_ROWS};
use crate::formats::{GroupForm, ScalarType, ScaleForm};
use crate::step::PAGE_TOKENS;
use std::arch::x86_64::*;

pub static KERNELS: Kernels = Kernels {
    level: SimdLevel::Avx2,
    panel: 6,
    quantize_row,
    matmul_tile,
    dense_tile,
    rms_norm,
    swiglu,
    widen,
    narrow,
    attend_page,
};

/// Repeats a body for the 16 pairs of a block with a literal index, so that shifts are immediates.
macro_rules! for_pairs {
    ($from:expr, $to:expr, $j:ident, $body:block) => {
        for_pairs!(@ $from, $to, $j, $body, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    (@ $from:expr, $to:expr, $j:ident, $body:block, $($n:literal)*) => {
        $({ const $j: usize = $n; if ($from..$to).contains(&$j) $body })*
    };
}

/// Logical shift right of 32-bit lanes; a constant count becomes an immediate.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn shift<const N: i32>(v: __m256i) -> __m256i {
    if N == 0 { v } else { _mm256_srli_epi32::<N>(v) }
}

/// Pair `J` of one plane for 8 lanes; `plane` points at lane 0 of these 8 lanes in vector 0.
macro_rules! plane_pair {
    ($bits:literal, $plane:expr, $j:expr) => {{
        const PAIRS: usize = 16 / $bits;
        const MASK: i32 = ((1 << $bits) - 1) * 0x0001_0001;
        let vector = _mm256_loadu_si256($plane.add($j / PAIRS * 64).cast());
        _mm256_and_si256(
            shift::<{ ($bits * ($j % PAIRS)) as i32 }>(vector),
            _mm256_set1_epi32(MASK),
        )
    }};
}

/// The 16-bit pairs `J` of 8 lanes of a block.
macro_rules! code_pair {
    ($bits:expr, $block:expr, $j:expr) => {
        match $bits {
            2 => plane_pair!(2, $block, $j),
            3 => _mm256_or_si256(
                plane_pair!(2, $block, $j),
                _mm256_slli_epi32::<2>(plane_pair!(1, $block.add(128), $j)),
            ),
            4 => plane_pair!(4, $block, $j),
            5 => _mm256_or_si256(
                plane_pair!(4, $block, $j),
                _mm256_slli_epi32::<4>(plane_pair!(1, $block.add(256), $j)),
            ),
            6 => _mm256_or_si256(
                plane_pair!(4, $block, $j),
                _mm256_slli_epi32::<4>(plane_pair!(2, $block.add(256), $j)),
            ),
            _ => plane_pair!(8, $block, $j),
        }
    };
}

#[target_feature(enable = "avx2,fma,f16c")]
fn matmul_tile(
    tile: &Tile<'_>,
    x: &Group<'_>,
    scratch: &mut TileScratch,
    out: &mut [[f32; TILE_ROWS]],
) {
    let direct = match tile.form.scale {
        ScaleForm::Stored(ScalarType::F16) if tile.form.group == BLOCK => STORED_F16,
        ScaleForm::Zero(ScalarType::F16, _) if tile.form.group == BLOCK => ZERO_F16,
        _ => EXPANDED,
    };
    let one_row = x.rows == 1;
    let (scales, words) = scratch.parts(tile, x.blocks);
    if !one_row || direct == EXPANDED {
        expand_scales(tile.form, tile.section, scales);
    }
    match (tile.form.bits, one_row, tile.halves(), direct) {
        (4, true, _, STORED_F16) => one::<4, false, STORED_F16>(tile, scales, x, out),
        (5, true, _, STORED_F16) => one::<5, false, STORED_F16>(tile, scales, x, out),
        (4, true, _, ZERO_F16) => one::<4, false, ZERO_F16>(tile, scales, x, out),
        (5, true, _, ZERO_F16) => one::<5, false, ZERO_F16>(tile, scales, x, out),
        (8, true, _, ZERO_F16) => one::<8, false, ZERO_F16>(tile, scales, x, out),
        (bits, true, halves, direct) => {
            if direct != EXPANDED {
                expand_scales(tile.form, tile.section, scales);
            }
            match (bits, halves) {
                (2, false) => one::<2, false, EXPANDED>(tile, scales, x, out),
                (2, true) => one::<2, true, EXPANDED>(tile, scales, x, out),
                (3, false) => one::<3, false, EXPANDED>(tile, scales, x, out),
                (3, true) => one::<3, true, EXPANDED>(tile, scales, x, out),
                (4, _) => one::<4, false, EXPANDED>(tile, scales, x, out),
                (5, _) => one::<5, false, EXPANDED>(tile, scales, x, out),
                (6, false) => one::<6, false, EXPANDED>(tile, scales, x, out),
                (6, true) => one::<6, true, EXPANDED>(tile, scales, x, out),
                _ => one::<8, false, EXPANDED>(tile, scales, x, out),
            }
        }
        (2, ..) => several::<2>(tile, scales, x, words, out),
        (3, ..) => several::<3>(tile, scales, x, words, out),
        (4, ..) => several::<4>(tile, scales, x, words, out),
        (5, ..) => several::<5>(tile, scales, x, words, out),
        (6, ..) => several::<6>(tile, scales, x, words, out),
        _ => several::<8>(tile, scales, x, words, out),
    }
}

/// `acc + bias·x_sum + (float(ints)·x_scale)·scale`; `x_sum` is scaled already.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn flush(acc: __m256, ints: __m256i, scale: __m256, bias: __m256, sum: f32, x: f32) -> __m256 {
    let acc = _mm256_fmadd_ps(bias, _mm256_set1_ps(sum), acc);
    let value = _mm256_mul_ps(_mm256_cvtepi32_ps(ints), _mm256_set1_ps(x));
    _mm256_fmadd_ps(value, scale, acc)
}

/// One token row (decode): codes unpacked in registers.
#[target_feature(enable = "avx2,fma,f16c")]
fn one<const BITS: usize, const HALVES: bool, const SCALES: u8>(
    tile: &Tile<'_>,
    scales: &[ScaleEntry],
    x: &Group<'_>,
    out: &mut [[f32; TILE_ROWS]],
) {
    let blocks = x.blocks;
    let entries = if HALVES { 2 } else { 1 };
    assert!(tile.codes.len() >= blocks * BITS * 64 && x.ints.len() >= blocks * BLOCK);
    assert!(SCALES != EXPANDED || scales.len() >= blocks * entries);
    assert!(SCALES != STORED_F16 || tile.section.len() >= blocks * 64);
    assert!(SCALES != ZERO_F16 || tile.section.len() >= blocks * 32);
    let zero = match tile.form.scale {
        ScaleForm::Zero(_, zero) => -f32::from(zero),
        _ => 0.0,
    };
    let mut acc = [_mm256_setzero_ps(); 2];
    for b in 0..blocks {
        // SAFETY: all offsets stay inside the lengths asserted above.
        unsafe {
            let codes = tile.codes.as_ptr().add(b * BITS * 64);
            _mm_prefetch::<_MM_HINT_T0>(codes.add(PREFETCH).cast());
            if BITS > 1 {
                _mm_prefetch::<_MM_HINT_T0>(codes.add(PREFETCH + 64).cast());
            }
            if BITS > 2 {
                _mm_prefetch::<_MM_HINT_T0>(codes.add(PREFETCH + 128).cast());
            }
            if BITS > 3 {
                _mm_prefetch::<_MM_HINT_T0>(codes.add(PREFETCH + 192).cast());
            }
            let x_pairs = x.ints.as_ptr().cast::<i32>().add(b * BLOCK / 2);
            let meta = x.meta.get_unchecked(b);
            for half in 0..entries {
                let (from, to) = if HALVES {
                    (half * 8, half * 8 + 8)
                } else {
                    (0, 16)
                };
                let mut ints = [_mm256_setzero_si256(); 2];
                for_pairs!(from, to, J, {
                    let x = _mm256_set1_epi32(x_pairs.add(J).read_unaligned());
                    let low = code_pair!(BITS, codes, J);
                    let high = code_pair!(BITS, codes.add(32), J);
                    ints[0] = _mm256_add_epi32(ints[0], _mm256_madd_epi16(low, x));
                    ints[1] = _mm256_add_epi32(ints[1], _mm256_madd_epi16(high, x));
                });
                let sum = match (HALVES, half) {
                    (false, _) => meta.sum,
                    (true, 0) => meta.sum_low,
                    (true, _) => meta.sum_high,
                };
                let (scale, bias) = match SCALES {
                    STORED_F16 => {
                        let unit = tile.section.get_unchecked(b * 64..);
                        let f16 = ScalarType::F16;
                        (load16(f16, unit), load16(f16, unit.get_unchecked(32..)))
                    }
                    ZERO_F16 => {
                        let unit = tile.section.get_unchecked(b * 32..);
                        let scale = load16(ScalarType::F16, unit);
                        (scale, scaled(scale, zero))
                    }
                    _ => {
                        let at = scales
                            .get_unchecked(b * entries + half)
                            .as_ptr()
                            .cast::<f32>();
                        let row = |i| [_mm256_loadu_ps(at.add(i)), _mm256_loadu_ps(at.add(i + 8))];
                        (row(0), row(16))
                    }
                };
                for h in 0..2 {
                    acc[h] = flush(acc[h], ints[h], scale[h], bias[h], sum, meta.scale);
                }
            }
        }
    }
    // SAFETY: `out` has one row of 16.
    unsafe {
        _mm256_storeu_ps(out[0].as_mut_ptr(), acc[0]);
        _mm256_storeu_ps(out[0].as_mut_ptr().add(8), acc[1]);
    }
}

/// Where `one` takes its scales from: entries that were expanded before, or the section itself.
pub const EXPANDED: u8 = 0;
/// f16 scale and bias for each block (Q4_1, Q5_1, MLX group 32 in f16).
pub const STORED_F16: u8 = 1;
/// f16 scale for each block, fixed zero point (Q4_0, Q5_0, Q8_0).
pub const ZERO_F16: u8 = 2;

/// Bytes ahead of the codes in use that `one` asks for.
const PREFETCH: usize = 2048;

/// One token row of one pair: broadcast, two multiplies, two additions.
macro_rules! asm_row {
    ($x:literal, $low:literal, $high:literal) => {
        concat!(
            "vpbroadcastd {t0}, dword ptr [{x} + ",
            $x,
            "]\n",
            "vpmaddwd {t1}, {t0}, {w0}\n",
            "vpmaddwd {t0}, {t0}, {w1}\n",
            "vpaddd {",
            $low,
            "}, {",
            $low,
            "}, {t1}\n",
            "vpaddd {",
            $high,
            "}, {",
            $high,
            "}, {t0}\n",
        )
    };
}

/// One pair of columns for six token rows.
macro_rules! asm_pair {
    ($w0:literal, $w1:literal, $x0:literal, $x1:literal, $x2:literal, $x3:literal, $x4:literal, $x5:literal) => {
        concat!(
            "vmovdqa {w0}, ymmword ptr [{w} + ",
            $w0,
            "]\n",
            "vmovdqa {w1}, ymmword ptr [{w} + ",
            $w1,
            "]\n",
            asm_row!($x0, "a0", "b0"),
            asm_row!($x1, "a1", "b1"),
            asm_row!($x2, "a2", "b2"),
            asm_row!($x3, "a3", "b3"),
            asm_row!($x4, "a4", "b4"),
            asm_row!($x5, "a5", "b5"),
        )
    };
}

/// Eight pairs for six token rows: the inner loop of prefill. In assembly because the compiler
/// either leaves it rolled or spills the sums, and in place because a function would pass them
/// through memory. Reads 48 pairs at `x` and 256 words at `w`, 32-byte aligned; all 16 registers
/// are in use.
macro_rules! eight_pairs {
    ($x:expr, $w:expr, $a0:ident $a1:ident $a2:ident $a3:ident $a4:ident $a5:ident,
     $b0:ident $b1:ident $b2:ident $b3:ident $b4:ident $b5:ident) => {
        std::arch::asm!(
            asm_pair!("0", "32", "0", "4", "8", "12", "16", "20"),
            asm_pair!("64", "96", "24", "28", "32", "36", "40", "44"),
            asm_pair!("128", "160", "48", "52", "56", "60", "64", "68"),
            asm_pair!("192", "224", "72", "76", "80", "84", "88", "92"),
            asm_pair!("256", "288", "96", "100", "104", "108", "112", "116"),
            asm_pair!("320", "352", "120", "124", "128", "132", "136", "140"),
            asm_pair!("384", "416", "144", "148", "152", "156", "160", "164"),
            asm_pair!("448", "480", "168", "172", "176", "180", "184", "188"),
            w = in(reg) $w,
            x = in(reg) $x,
            a0 = inout(ymm_reg) $a0, b0 = inout(ymm_reg) $b0,
            a1 = inout(ymm_reg) $a1, b1 = inout(ymm_reg) $b1,
            a2 = inout(ymm_reg) $a2, b2 = inout(ymm_reg) $b2,
            a3 = inout(ymm_reg) $a3, b3 = inout(ymm_reg) $b3,
            a4 = inout(ymm_reg) $a4, b4 = inout(ymm_reg) $b4,
            a5 = inout(ymm_reg) $a5, b5 = inout(ymm_reg) $b5,
            w0 = out(ymm_reg) _, w1 = out(ymm_reg) _,
            t0 = out(ymm_reg) _, t1 = out(ymm_reg) _,
            options(nostack, readonly, preserves_flags),
        )
    };
}

/// Several token rows: each block is unpacked once and used by all of them.
#[target_feature(enable = "avx2,fma,f16c")]
fn several<const BITS: usize>(
    tile: &Tile<'_>,
    scales: &[ScaleEntry],
    x: &Group<'_>,
    words: &mut Words,
    out: &mut [[f32; TILE_ROWS]],
) {
    out.fill([0.0; TILE_ROWS]);
    let parts = if tile.halves() { 2 } else { 1 };
    assert!(tile.codes.len() >= x.blocks * BITS * 64 && scales.len() >= x.blocks * parts);
    for b in 0..x.blocks {
        // SAFETY: block `b` lies inside the codes; `words` holds 16 pairs of 16 rows.
        unsafe {
            let codes = tile.codes.as_ptr().add(b * BITS * 64);
            for_pairs!(0, 16, J, {
                let to = words.0.as_mut_ptr().add(J * 32);
                _mm256_store_si256(to.cast(), code_pair!(BITS, codes, J));
                _mm256_store_si256(to.add(16).cast(), code_pair!(BITS, codes.add(32), J));
            });
        }
        let ints = &x.ints[b * x.rows * BLOCK..][..x.rows * BLOCK];
        let meta = &x.meta[b * x.rows..][..x.rows];
        let scales = &scales[b * parts..][..parts];
        if tile.halves() {
            let (low, high) = (&scales[0], &scales[1]);
            panels::<8>(ints, words, 0, meta, |m| m.sum_low, low, out);
            panels::<8>(ints, words, 8, meta, |m| m.sum_high, high, out);
        } else {
            panels::<16>(ints, words, 0, meta, |m| m.sum, &scales[0], out);
        }
    }
}

/// All token rows × `PAIRS` pairs of a block from pair `from`, in panels of six.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn panels<const PAIRS: usize>(
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
        while row + 6 <= rows {
            let x = ints.as_ptr().add(row * BLOCK + from * 12).cast::<i32>();
            let zero = _mm256_setzero_si256();
            let [mut a0, mut a1, mut a2, mut a3, mut a4, mut a5] = [zero; 6];
            let [mut b0, mut b1, mut b2, mut b3, mut b4, mut b5] = [zero; 6];
            eight_pairs!(x, words, a0 a1 a2 a3 a4 a5, b0 b1 b2 b3 b4 b5);
            if PAIRS == 16 {
                let (x, words) = (x.add(48), words.add(256));
                eight_pairs!(x, words, a0 a1 a2 a3 a4 a5, b0 b1 b2 b3 b4 b5);
            }
            let (meta, out) = (meta.as_ptr().add(row), out.as_mut_ptr().add(row));
            let pairs = [(a0, b0), (a1, b1), (a2, b2), (a3, b3), (a4, b4), (a5, b5)];
            for (r, (a, b)) in pairs.into_iter().enumerate() {
                let meta = &*meta.add(r);
                let (sum, x) = (_mm256_set1_ps(sum(meta)), _mm256_set1_ps(meta.scale));
                let to = out.add(r).cast::<f32>();
                for (h, ints) in [(0, a), (1, b)] {
                    let [scale, bias] =
                        [0, 1].map(|i: usize| _mm256_loadu_ps(entry[i].as_ptr().add(8 * h)));
                    let to = to.add(8 * h);
                    let acc = _mm256_fmadd_ps(bias, sum, _mm256_loadu_ps(to));
                    let value = _mm256_mul_ps(_mm256_cvtepi32_ps(ints), x);
                    _mm256_storeu_ps(to, _mm256_fmadd_ps(value, scale, acc));
                }
            }
            row += 6;
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
            4 => flush_rows(&few_rows::<4, PAIRS>(x(4), words), meta, &sum, entry, out),
            5 => flush_rows(&few_rows::<5, PAIRS>(x(5), words), meta, &sum, entry, out),
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

#[target_feature(enable = "avx2,fma,f16c")]
fn quantize_row(x: &[f32], mut out: RowTarget<'_>) {
    let (chunks, rest) = x.as_chunks::<BLOCK>();
    assert!(rest.is_empty(), "activation rows are whole blocks");
    for (b, block) in chunks.iter().enumerate() {
        // SAFETY: `block` holds 32 floats.
        unsafe {
            let v: [__m256; 4] =
                std::array::from_fn(|i| _mm256_loadu_ps(block.as_ptr().add(8 * i)));
            let sign = _mm256_set1_ps(-0.0);
            let abs = v.map(|v| _mm256_andnot_ps(sign, v));
            let max = _mm256_max_ps(_mm256_max_ps(abs[0], abs[1]), _mm256_max_ps(abs[2], abs[3]));
            let max = horizontal_max(max);
            let zero = _mm256_setzero_ps();
            let poison = v.iter().fold(zero, |a, &v| _mm256_fmadd_ps(v, zero, a));
            let poison = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_UNORD_Q>(poison, poison));
            let inverse = _mm256_set1_ps(if max > 0.0 { 32767.0 / max } else { 0.0 });
            let q = v.map(|v| _mm256_cvtps_epi32(_mm256_mul_ps(v, inverse)));
            let low = horizontal_sum(_mm256_add_epi32(q[0], q[1]));
            let high = horizontal_sum(_mm256_add_epi32(q[2], q[3]));
            let mut pairs = [0u32; BLOCK / 2];
            for h in 0..2 {
                let packed = _mm256_packs_epi32(q[2 * h], q[2 * h + 1]);
                let ordered = _mm256_permute4x64_epi64::<0b11_01_10_00>(packed);
                _mm256_storeu_si256(pairs.as_mut_ptr().add(8 * h).cast(), ordered);
            }
            let scale = if poison != 0 { f32::NAN } else { max / 32767.0 };
            out.put(b, &pairs, BlockMeta::new(scale, low, high));
        }
    }
}

#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn horizontal_sum(v: __m256i) -> i32 {
    let v = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256::<1>(v));
    let v = _mm_add_epi32(v, _mm_shuffle_epi32::<0b01_00_11_10>(v));
    _mm_cvtsi128_si32(_mm_add_epi32(v, _mm_shuffle_epi32::<0b00_00_00_01>(v)))
}

#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn horizontal_max(v: __m256) -> f32 {
    let v = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps::<1>(v));
    let v = _mm_max_ps(v, _mm_movehl_ps(v, v));
    _mm_cvtss_f32(_mm_max_ss(v, _mm_shuffle_ps::<1>(v, v)))
}

/// 16 stored scalars as f32.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn load16(ty: ScalarType, bytes: &[u8]) -> [__m256; 2] {
    assert!(bytes.len() >= if ty == ScalarType::F32 { 64 } else { 32 });
    let at = bytes.as_ptr();
    // SAFETY: the length was checked.
    unsafe {
        match ty {
            ScalarType::F32 => [0, 8].map(|i| _mm256_loadu_ps(at.cast::<f32>().add(i))),
            ScalarType::F16 => [0, 16].map(|i| _mm256_cvtph_ps(_mm_loadu_si128(at.add(i).cast()))),
            ScalarType::BF16 => [0, 16].map(|i| {
                let wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(at.add(i).cast()));
                _mm256_castsi256_ps(_mm256_slli_epi32::<16>(wide))
            }),
        }
    }
}

/// 16 bytes as f32.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn load16_bytes(signed: bool, bytes: &[u8]) -> [__m256; 2] {
    assert!(bytes.len() >= 16);
    [0, 8].map(|i| {
        // SAFETY: the length was checked.
        let raw = unsafe { _mm_loadl_epi64(bytes.as_ptr().add(i).cast()) };
        _mm256_cvtepi32_ps(if signed {
            _mm256_cvtepi8_epi32(raw)
        } else {
            _mm256_cvtepu8_epi32(raw)
        })
    })
}

#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn put(scale: [__m256; 2], bias: [__m256; 2], out: &mut [ScaleEntry]) {
    for entry in out {
        for h in 0..2 {
            // SAFETY: rows of 16.
            unsafe {
                _mm256_storeu_ps(entry[0].as_mut_ptr().add(8 * h), scale[h]);
                _mm256_storeu_ps(entry[1].as_mut_ptr().add(8 * h), bias[h]);
            }
        }
    }
}

#[target_feature(enable = "avx2,fma,f16c")]
pub fn expand_scales(form: GroupForm, section: &[u8], out: &mut [ScaleEntry]) {
    match form.scale {
        ScaleForm::Stored(ScalarType::F16) if form.group == BLOCK => {
            // The common case (Q4_1, MLX group 32) without inner loops.
            for (unit, out) in section.chunks_exact(64).zip(out) {
                let f16 = ScalarType::F16;
                put(
                    load16(f16, unit),
                    load16(f16, &unit[32..]),
                    std::slice::from_mut(out),
                );
            }
        }
        ScaleForm::Zero(ScalarType::F16, zero) => {
            for (unit, out) in section.chunks_exact(32).zip(out) {
                let scale = load16(ScalarType::F16, unit);
                let bias = scaled(scale, -f32::from(zero));
                put(scale, bias, std::slice::from_mut(out));
            }
        }
        _ => expand_scales_any(form, section, out),
    }
}

#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn scaled(a: [__m256; 2], f: f32) -> [__m256; 2] {
    [
        _mm256_mul_ps(a[0], _mm256_set1_ps(f)),
        _mm256_mul_ps(a[1], _mm256_set1_ps(f)),
    ]
}

#[target_feature(enable = "avx2,fma,f16c")]
fn expand_scales_any(form: GroupForm, section: &[u8], out: &mut [ScaleEntry]) {
    const N: usize = TILE_ROWS;
    let times =
        |a: [__m256; 2], b: [__m256; 2]| [_mm256_mul_ps(a[0], b[0]), _mm256_mul_ps(a[1], b[1])];
    let covers = portable::entries_a_group(form);
    let supers = 256 / form.group;
    match form.scale {
        ScaleForm::Stored(ty) => {
            let size = if ty == ScalarType::F32 { 4 } else { 2 };
            for (unit, out) in section
                .chunks_exact(2 * N * size)
                .zip(out.chunks_mut(covers))
            {
                put(load16(ty, unit), load16(ty, &unit[N * size..]), out);
            }
        }
        ScaleForm::Zero(ty, zero) => {
            let size = if ty == ScalarType::F32 { 4 } else { 2 };
            for (unit, out) in section.chunks_exact(N * size).zip(out.chunks_mut(covers)) {
                let scale = load16(ty, unit);
                put(scale, scaled(scale, -f32::from(zero)), out);
            }
        }
        ScaleForm::SuperZero(zero) => {
            let units = section.chunks_exact(2 * N + supers * N);
            for (unit, out) in units.zip(out.chunks_mut(supers * covers)) {
                let d = load16(ScalarType::F16, unit);
                for (sub, out) in unit[2 * N..].chunks_exact(N).zip(out.chunks_mut(covers)) {
                    let scale = times(d, load16_bytes(true, sub));
                    put(scale, scaled(scale, -f32::from(zero)), out);
                }
            }
        }
        ScaleForm::SuperMin => {
            let units = section.chunks_exact(4 * N + supers * 2 * N);
            for (unit, out) in units.zip(out.chunks_mut(supers * covers)) {
                let d = load16(ScalarType::F16, unit);
                let dmin = scaled(load16(ScalarType::F16, &unit[2 * N..]), -1.0);
                for (sub, out) in unit[4 * N..]
                    .chunks_exact(2 * N)
                    .zip(out.chunks_mut(covers))
                {
                    let scale = times(d, load16_bytes(false, sub));
                    put(scale, times(dmin, load16_bytes(false, &sub[N..])), out);
                }
            }
        }
    }
}

#[target_feature(enable = "avx2,fma,f16c")]
fn dense_tile(tile: &DenseTile<'_>, x: &[f32], out: &mut [[f32; TILE_ROWS]]) {
    out.fill([0.0; TILE_ROWS]);
    let pairs = x.chunks(2 * tile.cols).zip(out.chunks_mut(2));
    for (x, out) in pairs {
        for r in (0..tile.rows).step_by(4) {
            let n = (tile.rows - r).min(4);
            match (n, out.len()) {
                (4, 2) => dense_dot::<4, 2>(tile, r, x, out),
                (4, _) => dense_dot::<4, 1>(tile, r, x, out),
                _ => {
                    for i in r..r + n {
                        for (x, out) in x.chunks_exact(tile.cols).zip(out.iter_mut()) {
                            dense_dot::<1, 1>(tile, i, x, std::slice::from_mut(out));
                        }
                    }
                }
            }
        }
    }
}

/// `R` weight rows × `C` token rows, lanes along the columns.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn dense_dot<const R: usize, const C: usize>(
    tile: &DenseTile<'_>,
    first: usize,
    x: &[f32],
    out: &mut [[f32; TILE_ROWS]],
) {
    let cols = tile.cols;
    let size = if tile.ty == ScalarType::F32 { 4 } else { 2 };
    assert!(tile.data.len() >= (first + R) * cols * size && x.len() >= C * cols);
    let mut acc = [[_mm256_setzero_ps(); C]; R];
    let whole = cols / 8 * 8;
    let data = tile.data.as_ptr();
    for k in (0..whole).step_by(8) {
        // SAFETY: rows `first..first + R` of `cols` values lie inside `data`, C rows inside `x`.
        unsafe {
            let x: [__m256; C] =
                std::array::from_fn(|c| _mm256_loadu_ps(x.as_ptr().add(c * cols + k)));
            for (r, acc) in acc.iter_mut().enumerate() {
                let at = data.add(((first + r) * cols + k) * size);
                let w = match tile.ty {
                    ScalarType::F32 => _mm256_loadu_ps(at.cast()),
                    ScalarType::F16 => _mm256_cvtph_ps(_mm_loadu_si128(at.cast())),
                    ScalarType::BF16 => {
                        let wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(at.cast()));
                        _mm256_castsi256_ps(_mm256_slli_epi32::<16>(wide))
                    }
                };
                for c in 0..C {
                    acc[c] = _mm256_fmadd_ps(w, x[c], acc[c]);
                }
            }
        }
    }
    for (r, acc) in acc.iter().enumerate() {
        for (c, acc) in acc.iter().enumerate() {
            let mut lanes = [0.0f32; 8];
            // SAFETY: 8 lanes.
            unsafe { _mm256_storeu_ps(lanes.as_mut_ptr(), *acc) };
            let mut sum = lanes.iter().sum::<f32>();
            for k in whole..cols {
                let row = &tile.data[(first + r) * cols * size..];
                sum += portable::scalar(tile.ty, row, k) * x[c * cols + k];
            }
            out[c][first + r] = sum;
        }
    }
}

#[target_feature(enable = "avx2,fma,f16c")]
fn rms_norm(x: &[f32], weight: &[f32], eps: f32, out: &mut [f32]) {
    body::rms_norm::<true>(x, weight, eps, out);
}

#[target_feature(enable = "avx2,fma,f16c")]
fn swiglu(gate: &mut [f32], up: &[f32]) {
    body::swiglu::<true>(gate, up);
}

#[target_feature(enable = "avx2,fma,f16c")]
fn attend_page(page: &mut AttendPage<'_>) {
    body::attend_page::<true, Lanes8>(page);
}

/// Inner products of attention on 8 lanes: 2 vectors × `R` rows of sums stay in registers.
struct Lanes8;

impl body::PageProducts for Lanes8 {
    #[inline(always)]
    unsafe fn scores<const R: usize>(
        q: *const f32,
        k: *const f32,
        dim: usize,
        t: usize,
        scores: &mut [[f32; PAGE_TOKENS]; R],
    ) {
        // SAFETY: by contract; reached only through `attend_page` above, which has the features.
        unsafe {
            let mut acc = [[_mm256_setzero_ps(); 2]; R];
            let mut k = k.add(t);
            for d in 0..dim {
                let (low, high) = (_mm256_loadu_ps(k), _mm256_loadu_ps(k.add(8)));
                for (r, acc) in acc.iter_mut().enumerate() {
                    let q = _mm256_broadcast_ss(&*q.add(r * dim + d));
                    acc[0] = _mm256_fmadd_ps(q, low, acc[0]);
                    acc[1] = _mm256_fmadd_ps(q, high, acc[1]);
                }
                k = k.add(PAGE_TOKENS);
            }
            for (acc, row) in acc.iter().zip(scores) {
                _mm256_storeu_ps(row.as_mut_ptr().add(t), acc[0]);
                _mm256_storeu_ps(row.as_mut_ptr().add(t + 8), acc[1]);
            }
        }
    }

    #[inline(always)]
    unsafe fn values<const R: usize>(
        p: &[[f32; PAGE_TOKENS]; R],
        v: *const f32,
        dim: usize,
        d: usize,
        last: usize,
        keep: &[f32; R],
        out: *mut f32,
    ) {
        // SAFETY: by contract; reached only through `attend_page` above, which has the features.
        unsafe {
            let mut acc: [[__m256; 2]; R] = std::array::from_fn(|r| {
                let keep = _mm256_set1_ps(keep[r]);
                [0, 8].map(|i| _mm256_mul_ps(_mm256_loadu_ps(out.add(r * dim + d + i)), keep))
            });
            let mut v = v.add(d);
            for t in 0..last {
                let (low, high) = (_mm256_loadu_ps(v), _mm256_loadu_ps(v.add(8)));
                for (r, acc) in acc.iter_mut().enumerate() {
                    let p = _mm256_broadcast_ss(p.get_unchecked(r).get_unchecked(t));
                    acc[0] = _mm256_fmadd_ps(p, low, acc[0]);
                    acc[1] = _mm256_fmadd_ps(p, high, acc[1]);
                }
                v = v.add(dim);
            }
            for (r, acc) in acc.iter().enumerate() {
                _mm256_storeu_ps(out.add(r * dim + d), acc[0]);
                _mm256_storeu_ps(out.add(r * dim + d + 8), acc[1]);
            }
        }
    }
}

#[target_feature(enable = "avx2,fma,f16c")]
fn widen(src: &[u16], dst: &mut [f32]) {
    let (chunks, rest) = src.as_chunks::<8>();
    let (to, to_rest) = dst[..src.len()].as_chunks_mut::<8>();
    for (src, dst) in chunks.iter().zip(to) {
        // SAFETY: 8 values each.
        unsafe {
            let wide = _mm256_cvtph_ps(_mm_loadu_si128(src.as_ptr().cast()));
            _mm256_storeu_ps(dst.as_mut_ptr(), wide);
        }
    }
    portable::widen(rest, to_rest);
}

#[target_feature(enable = "avx2,fma,f16c")]
fn narrow(src: &[f32], dst: &mut [u16]) {
    let (chunks, rest) = src.as_chunks::<8>();
    let (to, to_rest) = dst[..src.len()].as_chunks_mut::<8>();
    for (src, dst) in chunks.iter().zip(to) {
        // SAFETY: 8 values each.
        unsafe {
            let half = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_loadu_ps(src.as_ptr()));
            _mm_storeu_si128(dst.as_mut_ptr().cast(), half);
        }
    }
    portable::narrow(rest, to_rest);
}
