//! AVX2 + FMA + F16C kernels.
//!
//! The quantized product multiplies 16-bit pairs (`vpmaddwd`) and adds in 32 bits: exact. Several
//! token rows: a block is unpacked to pairs once (1 KiB, L1) and used by all panels. One token row:
//! codes are unpacked in registers.

use super::{AttendPage, DenseTile, Kernels, SimdLevel, Tile, Words, body, portable};
use crate::cpu::activations::{Panel, PanelRow};
use crate::cpu::packed::{BLOCK, TILE_ROWS};
use crate::formats::{GroupForm, ScalarType, ScaleForm};
use std::arch::x86_64::*;

pub static KERNELS: Kernels = Kernels {
    level: SimdLevel::Avx2,
    panel: 6,
    quantize_row,
    expand_scales,
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
        $({ const $j: usize = $n; if $j >= $from && $j < $to $body })*
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
    panels: &[Panel<'_>],
    words: &mut Words,
    out: &mut [[f32; TILE_ROWS]],
) {
    debug_assert_eq!(out.len(), panels.iter().map(|p| p.rows).sum::<usize>());
    let one_row = panels.len() == 1 && panels[0].rows == 1;
    match (tile.bits, one_row, tile.halves) {
        (2, true, false) => one::<2, false>(tile, &panels[0], out),
        (2, true, true) => one::<2, true>(tile, &panels[0], out),
        (3, true, false) => one::<3, false>(tile, &panels[0], out),
        (3, true, true) => one::<3, true>(tile, &panels[0], out),
        (4, true, _) => one::<4, false>(tile, &panels[0], out),
        (5, true, _) => one::<5, false>(tile, &panels[0], out),
        (6, true, false) => one::<6, false>(tile, &panels[0], out),
        (6, true, true) => one::<6, true>(tile, &panels[0], out),
        (_, true, _) => one::<8, false>(tile, &panels[0], out),
        (2, ..) => several::<2>(tile, panels, words, out),
        (3, ..) => several::<3>(tile, panels, words, out),
        (4, ..) => several::<4>(tile, panels, words, out),
        (5, ..) => several::<5>(tile, panels, words, out),
        (6, ..) => several::<6>(tile, panels, words, out),
        _ => several::<8>(tile, panels, words, out),
    }
}

/// `acc += (float(ints)·scale + bias·sum)·x_scale`.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn flush(acc: __m256, ints: __m256i, scale: __m256, bias: __m256, sum: f32, x: f32) -> __m256 {
    let value = _mm256_mul_ps(_mm256_cvtepi32_ps(ints), scale);
    let value = _mm256_fmadd_ps(bias, _mm256_set1_ps(sum), value);
    _mm256_fmadd_ps(value, _mm256_set1_ps(x), acc)
}

/// One token row (decode): codes unpacked in registers.
#[target_feature(enable = "avx2,fma,f16c")]
fn one<const BITS: usize, const HALVES: bool>(
    tile: &Tile<'_>,
    x: &Panel<'_>,
    out: &mut [[f32; TILE_ROWS]],
) {
    let blocks = x.meta.len();
    let entries = if HALVES { 2 } else { 1 };
    assert!(tile.codes.len() >= blocks * BITS * 64 && x.ints.len() >= blocks * BLOCK);
    assert!(tile.scales.len() >= blocks * entries);
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
                let entry = tile
                    .scales
                    .get_unchecked(b * entries + half)
                    .as_ptr()
                    .cast::<f32>();
                for h in 0..2 {
                    let scale = _mm256_loadu_ps(entry.add(8 * h));
                    let bias = _mm256_loadu_ps(entry.add(16 + 8 * h));
                    acc[h] = flush(acc[h], ints[h], scale, bias, sum, meta.scale);
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

/// Bytes ahead of the codes in use that `one` asks for.
const PREFETCH: usize = 2048;

/// Several token rows: each block is unpacked once and used by all of them.
#[target_feature(enable = "avx2,fma,f16c")]
fn several<const BITS: usize>(
    tile: &Tile<'_>,
    panels: &[Panel<'_>],
    words: &mut Words,
    out: &mut [[f32; TILE_ROWS]],
) {
    out.fill([0.0; TILE_ROWS]);
    let blocks = tile.codes.len() / (BITS * 64);
    for b in 0..blocks {
        // SAFETY: block `b` lies inside the codes; `words` holds 16 pairs of 16 rows.
        unsafe {
            let codes = tile.codes.as_ptr().add(b * BITS * 64);
            for_pairs!(0, 16, J, {
                let to = words.0.as_mut_ptr().add(J * 32);
                _mm256_store_si256(to.cast(), code_pair!(BITS, codes, J));
                _mm256_store_si256(to.add(16).cast(), code_pair!(BITS, codes.add(32), J));
            });
        }
        let mut first = 0;
        for panel in panels {
            let out = &mut out[first..first + panel.rows];
            match panel.rows {
                1 => rows::<1>(tile, panel, words, b, out),
                2 => rows::<2>(tile, panel, words, b, out),
                3 => rows::<3>(tile, panel, words, b, out),
                4 => rows::<4>(tile, panel, words, b, out),
                5 => rows::<5>(tile, panel, words, b, out),
                _ => rows::<6>(tile, panel, words, b, out),
            }
            first += panel.rows;
        }
    }
}

#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn rows<const R: usize>(
    tile: &Tile<'_>,
    panel: &Panel<'_>,
    words: &Words,
    block: usize,
    out: &mut [[f32; TILE_ROWS]],
) {
    let x = &panel.ints[block * BLOCK * R..][..BLOCK * R];
    let meta = &panel.meta[block * R..][..R];
    if tile.halves {
        let entries = &tile.scales[2 * block..][..2];
        let (low, high) = (0, 8);
        rows_part::<R, 8>(
            x,
            words,
            low,
            out,
            |r| (meta[r].sum_low, meta[r].scale),
            &entries[0],
        );
        rows_part::<R, 8>(
            x,
            words,
            high,
            out,
            |r| (meta[r].sum_high, meta[r].scale),
            &entries[1],
        );
    } else {
        let entry = &tile.scales[block];
        rows_part::<R, 16>(x, words, 0, out, |r| (meta[r].sum, meta[r].scale), entry);
    }
}

/// `R` token rows × `PAIRS` pairs from pair `from`: the inner loop of prefill.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn rows_part<const R: usize, const PAIRS: usize>(
    x: &[i16],
    words: &Words,
    from: usize,
    out: &mut [[f32; TILE_ROWS]],
    facts: impl Fn(usize) -> (f32, f32),
    entry: &[[f32; 16]; 2],
) {
    assert!(x.len() >= (from + PAIRS) * 2 * R && from + PAIRS <= 16 && out.len() >= R);
    let mut ints = [[_mm256_setzero_si256(); 2]; R];
    // SAFETY: offsets stay inside the lengths asserted above; `words` is 64-byte aligned.
    unsafe {
        let x = x.as_ptr().cast::<i32>().add(from * R);
        let words = words.0.as_ptr().add(from * 32);
        for j in 0..PAIRS {
            let low = _mm256_load_si256(words.add(j * 32).cast());
            let high = _mm256_load_si256(words.add(j * 32 + 16).cast());
            for (r, ints) in ints.iter_mut().enumerate() {
                let x = _mm256_set1_epi32(x.add(j * R + r).read_unaligned());
                ints[0] = _mm256_add_epi32(ints[0], _mm256_madd_epi16(low, x));
                ints[1] = _mm256_add_epi32(ints[1], _mm256_madd_epi16(high, x));
            }
        }
        for h in 0..2 {
            let scale = _mm256_loadu_ps(entry[0].as_ptr().add(8 * h));
            let bias = _mm256_loadu_ps(entry[1].as_ptr().add(8 * h));
            for (r, ints) in ints.iter().enumerate() {
                let (sum, x_scale) = facts(r);
                let to = out.get_unchecked_mut(r).as_mut_ptr().add(8 * h);
                let acc = _mm256_loadu_ps(to);
                _mm256_storeu_ps(to, flush(acc, ints[h], scale, bias, sum, x_scale));
            }
        }
    }
}

#[target_feature(enable = "avx2,fma,f16c")]
fn quantize_row(x: &[f32], out: PanelRow<'_>) {
    let (chunks, rest) = x.as_chunks::<BLOCK>();
    assert!(rest.is_empty(), "activation rows are whole blocks");
    for (b, block) in chunks.iter().enumerate() {
        let mut ints = [0i16; BLOCK];
        // SAFETY: `block` and `ints` hold 32 elements.
        let scale = unsafe {
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
            for h in 0..2 {
                let packed = _mm256_packs_epi32(q[2 * h], q[2 * h + 1]);
                let ordered = _mm256_permute4x64_epi64::<0b11_01_10_00>(packed);
                _mm256_storeu_si256(ints.as_mut_ptr().add(16 * h).cast(), ordered);
            }
            if poison != 0 { f32::NAN } else { max / 32767.0 }
        };
        portable::put_block(&ints, scale, b, out.stride, out.ints, out.meta);
    }
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
fn push(form: GroupForm, scale: [__m256; 2], bias: [__m256; 2], out: &mut Vec<[[f32; 16]; 2]>) {
    let mut entry = [[0.0f32; 16]; 2];
    for h in 0..2 {
        // SAFETY: rows of 16.
        unsafe {
            _mm256_storeu_ps(entry[0].as_mut_ptr().add(8 * h), scale[h]);
            _mm256_storeu_ps(entry[1].as_mut_ptr().add(8 * h), bias[h]);
        }
    }
    portable::push_group(form, entry, out);
}

#[target_feature(enable = "avx2,fma,f16c")]
fn expand_scales(form: GroupForm, section: &[u8], cols: usize, out: &mut Vec<[[f32; 16]; 2]>) {
    const N: usize = TILE_ROWS;
    out.clear();
    out.reserve(cols / form.group.min(BLOCK) + 4);
    let groups = cols / form.group;
    let supers = 256 / form.group;
    let times =
        |a: [__m256; 2], b: [__m256; 2]| [_mm256_mul_ps(a[0], b[0]), _mm256_mul_ps(a[1], b[1])];
    let scaled = |a: [__m256; 2], f: f32| a.map(|v| _mm256_mul_ps(v, _mm256_set1_ps(f)));
    match form.scale {
        ScaleForm::Stored(ty) => {
            let size = if ty == ScalarType::F32 { 4 } else { 2 };
            for unit in section.chunks_exact(2 * N * size).take(groups) {
                push(form, load16(ty, unit), load16(ty, &unit[N * size..]), out);
            }
        }
        ScaleForm::Zero(ty, zero) => {
            let size = if ty == ScalarType::F32 { 4 } else { 2 };
            for unit in section.chunks_exact(N * size).take(groups) {
                let scale = load16(ty, unit);
                push(form, scale, scaled(scale, -f32::from(zero)), out);
            }
        }
        ScaleForm::SuperZero(zero) => {
            for unit in section
                .chunks_exact(2 * N + supers * N)
                .take(groups / supers)
            {
                let d = load16(ScalarType::F16, unit);
                for sub in unit[2 * N..].chunks_exact(N) {
                    let scale = times(d, load16_bytes(true, sub));
                    push(form, scale, scaled(scale, -f32::from(zero)), out);
                }
            }
        }
        ScaleForm::SuperMin => {
            for unit in section
                .chunks_exact(4 * N + supers * 2 * N)
                .take(groups / supers)
            {
                let d = load16(ScalarType::F16, unit);
                let dmin = scaled(load16(ScalarType::F16, &unit[2 * N..]), -1.0);
                for sub in unit[4 * N..].chunks_exact(2 * N) {
                    let scale = times(d, load16_bytes(false, sub));
                    push(
                        form,
                        scale,
                        times(dmin, load16_bytes(false, &sub[N..])),
                        out,
                    );
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
fn swiglu(gate: &[f32], up: &[f32], out: &mut [f32]) {
    body::swiglu::<true>(gate, up, out);
}

#[target_feature(enable = "avx2,fma,f16c")]
fn attend_page(page: &mut AttendPage<'_>) {
    body::attend_page::<true>(page);
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
