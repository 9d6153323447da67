//! Scale sections of packed tiles to f32.

use crate::cpu::activations::SPAN;
use crate::cpu::kernels::{ScaleEntry, Tile, portable};
use crate::cpu::packed::{BLOCK, SUPER, TILE_ROWS, scales_len};
use crate::formats::{GroupForm, ScalarType, ScaleForm, Values};
use std::arch::x86_64::*;

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
            ScalarType::BF16 => [0, 16].map(|i| widen(_mm_loadu_si128(at.add(i).cast()))),
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

/// Powers of two by the bytes of 16 exponents; the smallest is taken for 0.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn powers(bytes: &[u8]) -> [__m256; 2] {
    assert!(bytes.len() >= 16);
    [0, 8].map(|i| {
        // SAFETY: the length was checked.
        let raw = unsafe { _mm_loadl_epi64(bytes.as_ptr().add(i).cast()) };
        _mm256_castsi256_ps(_mm256_slli_epi32::<23>(_mm256_cvtepu8_epi32(raw)))
    })
}

/// 16 E4M3 scales: as f16 their exponent is too small by 8.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn floats8(bytes: &[u8]) -> [__m256; 2] {
    assert!(bytes.len() >= 16);
    [0, 8].map(|i| {
        // SAFETY: the length was checked.
        let raw = unsafe { _mm_loadl_epi64(bytes.as_ptr().add(i).cast()) };
        let wide = _mm_cvtepu8_epi16(raw);
        let magnitude = _mm_slli_epi16::<7>(_mm_and_si128(wide, _mm_set1_epi16(0x7f)));
        let sign = _mm_slli_epi16::<8>(_mm_and_si128(wide, _mm_set1_epi16(0x80)));
        let half = _mm256_cvtph_ps(_mm_or_si128(magnitude, sign));
        _mm256_mul_ps(half, _mm256_set1_ps(256.0))
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
    if form.values != Values::Code {
        expand_scales_any(form, section, out);
        let unit = form.values.unit();
        if unit != 1.0 {
            for entry in out {
                let times = |a: [__m256; 2]| scaled(a, unit);
                let both = entry.map(|kind| {
                    // SAFETY: 16 values.
                    times([0, 8].map(|i| unsafe { _mm256_loadu_ps(kind.as_ptr().add(i)) }))
                });
                put(both[0], both[1], std::slice::from_mut(entry));
            }
        }
        return;
    }
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
        ScaleForm::Zero(ScalarType::F16, zero) if form.group == BLOCK => {
            for (unit, out) in section.chunks_exact(32).zip(out) {
                let scale = load16(ScalarType::F16, unit);
                let bias = scaled(scale, -f32::from(zero));
                put(scale, bias, std::slice::from_mut(out));
            }
        }
        _ => expand_scales_any(form, section, out),
    }
}

/// All lanes times `f`.
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
        ScaleForm::Points(ty) => {
            let size = if ty == ScalarType::F32 { 4 } else { 2 };
            let units = section.chunks_exact(N * (size + 1));
            for (unit, out) in units.zip(out.chunks_mut(covers)) {
                let scale = load16(ty, unit);
                let zero = load16_bytes(false, &unit[N * size..]);
                put(scale, times(scaled(scale, -1.0), zero), out);
            }
        }
        ScaleForm::Power => {
            for (unit, out) in section.chunks_exact(N).zip(out.chunks_mut(covers)) {
                put(powers(unit), [_mm256_setzero_ps(); 2], out);
            }
        }
        ScaleForm::Float8 => {
            for (unit, out) in section.chunks_exact(N).zip(out.chunks_mut(covers)) {
                put(floats8(unit), [_mm256_setzero_ps(); 2], out);
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

/// Scales are expanded to entries, a span's at a time.
pub const EXPANDED: u8 = 0;
/// f16 scale and bias for each group (Q4_1, Q5_1, MLX), from the section itself.
pub const STORED_F16: u8 = 1;
/// The same in bf16 (MLX).
pub const STORED_BF16: u8 = 2;
/// f16 scale for each group, fixed zero point (Q4_0, Q5_0, Q8_0), from the section itself.
pub const ZERO_F16: u8 = 3;
/// Scales and minima in units of a super-block's (Q4_K, Q5_K, Q2_K).
pub const SUPER_MIN: u8 = 4;
/// Scales in units of a super-block's, fixed zero point (Q6_K, Q3_K).
pub const SUPER_ZERO: u8 = 5;
/// A super-block is a span.
const _: () = assert!(SUPER == SPAN * BLOCK);

/// Where a form's scales come from.
pub fn scales_of(form: GroupForm) -> u8 {
    match (form.scale, form.bits) {
        (ScaleForm::Stored(ScalarType::F16), 4 | 5 | 8) => STORED_F16,
        (ScaleForm::Stored(ScalarType::BF16), 4 | 5 | 8) => STORED_BF16,
        (ScaleForm::Zero(ScalarType::F16, _), 4 | 5 | 8) => ZERO_F16,
        (ScaleForm::SuperMin, _) => SUPER_MIN,
        (ScaleForm::SuperZero(_), _) => SUPER_ZERO,
        _ => EXPANDED,
    }
}

/// How many blocks share a unit of the scale section (as a power of two), and its bytes; `entries`: groups
/// of a block.
pub fn units<const SCALES: u8>(group: usize, entries: usize) -> (u32, usize) {
    let shared = (group / BLOCK).max(1).ilog2();
    match SCALES {
        STORED_F16 | STORED_BF16 => (shared, 4 * TILE_ROWS),
        ZERO_F16 => (shared, 2 * TILE_ROWS),
        SUPER_MIN => (SPAN.ilog2(), 4 * TILE_ROWS + SPAN * entries * 2 * TILE_ROWS),
        SUPER_ZERO => (SPAN.ilog2(), 2 * TILE_ROWS + SPAN * entries * TILE_ROWS),
        _ => (0, 0),
    }
}

/// The scales of blocks `from..` of a tile, which begin a span, as entries.
#[target_feature(enable = "avx2,fma,f16c")]
pub fn expand_span(tile: &Tile<'_>, from: usize, entries: &mut [ScaleEntry]) {
    let at = scales_len(from * BLOCK, tile.form);
    expand_scales(tile.form, &tile.section[at..], entries);
}

/// Scales and biases of rows `8 · h..` for group `sub` of a super-block or for a whole unit.
///
/// # Safety
/// `unit` is a whole one.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
pub unsafe fn direct_scales<const SCALES: u8>(
    unit: *const u8,
    sub: usize,
    h: usize,
    zero: f32,
) -> (__m256, __m256) {
    // SAFETY: all places lie inside a unit of this kind, or are not read.
    unsafe {
        let at = unit.add(16 * h);
        let first = _mm_loadu_si128(at.cast());
        match SCALES {
            STORED_F16 => {
                let second = _mm_loadu_si128(at.add(32).cast());
                (_mm256_cvtph_ps(first), _mm256_cvtph_ps(second))
            }
            STORED_BF16 => {
                let second = _mm_loadu_si128(at.add(32).cast());
                (widen(first), widen(second))
            }
            ZERO_F16 => {
                let scale = _mm256_cvtph_ps(first);
                (scale, _mm256_mul_ps(scale, _mm256_set1_ps(zero)))
            }
            SUPER_MIN => {
                let least = _mm256_cvtph_ps(_mm_loadu_si128(at.add(32).cast()));
                let least = _mm256_mul_ps(least, _mm256_set1_ps(-1.0));
                let subs = unit.add(64 + 32 * sub + 8 * h);
                let factor = _mm256_cvtepu8_epi32(_mm_loadl_epi64(subs.cast()));
                let minimum = _mm256_cvtepu8_epi32(_mm_loadl_epi64(subs.add(16).cast()));
                (
                    _mm256_mul_ps(_mm256_cvtph_ps(first), _mm256_cvtepi32_ps(factor)),
                    _mm256_mul_ps(least, _mm256_cvtepi32_ps(minimum)),
                )
            }
            _ => {
                let subs = unit.add(32 + 16 * sub + 8 * h);
                let factor = _mm256_cvtepi8_epi32(_mm_loadl_epi64(subs.cast()));
                let scale = _mm256_mul_ps(_mm256_cvtph_ps(first), _mm256_cvtepi32_ps(factor));
                (scale, _mm256_mul_ps(scale, _mm256_set1_ps(zero)))
            }
        }
    }
}

/// bf16 to f32.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn widen(bf16: __m128i) -> __m256 {
    _mm256_castsi256_ps(_mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(bf16)))
}
