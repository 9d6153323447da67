//! Scale sections of packed tiles to f32.

use crate::cpu::kernels::{ScaleEntry, portable};
use crate::cpu::packed::{BLOCK, TILE_ROWS};
use crate::formats::{GroupForm, ScalarType, ScaleForm};
use std::arch::x86_64::*;

/// 16 stored scalars as f32.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
pub fn load16(ty: ScalarType, bytes: &[u8]) -> [__m256; 2] {
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
/// All lanes times `f`.
#[inline]
pub fn scaled(a: [__m256; 2], f: f32) -> [__m256; 2] {
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
