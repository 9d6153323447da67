//! Work that is compiled for each SIMD level and runs at the best one of this processor.

use crate::cpu::kernels::{SimdLevel, simd_level};
use half::{bf16, f16};

/// What differs between levels besides what the compiler makes of a loop.
pub trait Level {
    /// A product and a sum are one instruction.
    const FUSED: bool;

    /// f16 bits to f32.
    ///
    /// # Safety
    /// The CPU has the level.
    unsafe fn widen(from: &[u16], to: &mut [f32]);

    /// f32 to the nearest f16, ties to even.
    ///
    /// # Safety
    /// The CPU has the level.
    unsafe fn narrow(from: &[f32], to: &mut [u16]);
}

/// Something that a level runs: `run` is inlined into a function that has the level's features on.
pub trait Work {
    /// What comes out.
    type Out;
    /// The work itself; mark it `#[inline(always)]`.
    fn run<L: Level>(self) -> Self::Out;
}

/// Runs work at the level in use.
pub fn at_best<W: Work>(work: W) -> W::Out {
    match simd_level() {
        // SAFETY: the level was found on this processor.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx512 => unsafe { x86::avx512(work) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        SimdLevel::Avx2 => unsafe { x86::avx2(work) },
        _ => work.run::<Portable>(),
    }
}

/// Plain Rust.
pub struct Portable;

impl Level for Portable {
    const FUSED: bool = false;
    #[inline(always)]
    unsafe fn widen(from: &[u16], to: &mut [f32]) {
        for (to, &x) in to.iter_mut().zip(from) {
            *to = f16::from_bits(x).to_f32_const();
        }
    }
    #[inline(always)]
    unsafe fn narrow(from: &[f32], to: &mut [u16]) {
        for (to, &x) in to.iter_mut().zip(from) {
            *to = f16::from_f32_const(x).to_bits();
        }
    }
}

/// A floating point dtype as blocks of f32.
pub trait Float: bytemuck::Pod + Send + Sync {
    /// To f32, without loss.
    fn widen<L: Level>(from: &[Self], to: &mut [f32]);
    /// The nearest, ties to even.
    fn narrow<L: Level>(from: &[f32], to: &mut [Self]);
    /// The elements themselves where they are f32.
    fn as_singles(_: &[Self]) -> Option<&[f32]> {
        None
    }
    /// The same to write.
    fn as_singles_mut(_: &mut [Self]) -> Option<&mut [f32]> {
        None
    }
}

impl Float for f32 {
    #[inline(always)]
    fn widen<L: Level>(from: &[f32], to: &mut [f32]) {
        to.copy_from_slice(from);
    }
    #[inline(always)]
    fn narrow<L: Level>(from: &[f32], to: &mut [f32]) {
        to.copy_from_slice(from);
    }
    #[inline(always)]
    fn as_singles(x: &[f32]) -> Option<&[f32]> {
        Some(x)
    }
    #[inline(always)]
    fn as_singles_mut(x: &mut [f32]) -> Option<&mut [f32]> {
        Some(x)
    }
}

impl Float for f16 {
    #[inline(always)]
    fn widen<L: Level>(from: &[f16], to: &mut [f32]) {
        // SAFETY: work runs at a level that the processor has.
        unsafe { L::widen(bytemuck::cast_slice(from), to) }
    }
    #[inline(always)]
    fn narrow<L: Level>(from: &[f32], to: &mut [f16]) {
        // SAFETY: as above.
        unsafe { L::narrow(from, bytemuck::cast_slice_mut(to)) }
    }
}

impl Float for bf16 {
    #[inline(always)]
    fn widen<L: Level>(from: &[bf16], to: &mut [f32]) {
        for (to, x) in to.iter_mut().zip(from) {
            *to = f32::from_bits(u32::from(x.to_bits()) << 16);
        }
    }
    #[inline(always)]
    fn narrow<L: Level>(from: &[f32], to: &mut [bf16]) {
        for (to, x) in to.iter_mut().zip(from) {
            let bits = x.to_bits();
            let nearest = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
            // A NaN stays one: quiet.
            let quiet = bits >> 16 | 0x40;
            *to = bf16::from_bits(if x.is_nan() { quiet } else { nearest } as u16);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Level, Portable, Work};
    use std::arch::x86_64::*;

    pub struct Avx2;
    pub struct Avx512;

    #[target_feature(enable = "avx2,fma,f16c")]
    pub unsafe fn avx2<W: Work>(work: W) -> W::Out {
        work.run::<Avx2>()
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
    pub unsafe fn avx512<W: Work>(work: W) -> W::Out {
        work.run::<Avx512>()
    }

    impl Level for Avx2 {
        const FUSED: bool = true;
        #[inline(always)]
        unsafe fn widen(from: &[u16], to: &mut [f32]) {
            let (x, rest) = from.as_chunks::<8>();
            let (y, rest_y) = to.as_chunks_mut::<8>();
            for (x, y) in x.iter().zip(y) {
                // SAFETY: eight elements each; the level has F16C.
                unsafe {
                    let x = _mm_loadu_si128(x.as_ptr().cast());
                    _mm256_storeu_ps(y.as_mut_ptr(), _mm256_cvtph_ps(x));
                }
            }
            // SAFETY: every CPU has it.
            unsafe { Portable::widen(rest, rest_y) }
        }
        #[inline(always)]
        unsafe fn narrow(from: &[f32], to: &mut [u16]) {
            let (x, rest) = from.as_chunks::<8>();
            let (y, rest_y) = to.as_chunks_mut::<8>();
            for (x, y) in x.iter().zip(y) {
                // SAFETY: as above.
                unsafe {
                    let x = _mm256_loadu_ps(x.as_ptr());
                    let x = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(x);
                    _mm_storeu_si128(y.as_mut_ptr().cast(), x);
                }
            }
            // SAFETY: as above.
            unsafe { Portable::narrow(rest, rest_y) }
        }
    }

    impl Level for Avx512 {
        const FUSED: bool = true;
        #[inline(always)]
        unsafe fn widen(from: &[u16], to: &mut [f32]) {
            let (x, rest) = from.as_chunks::<16>();
            let (y, rest_y) = to.as_chunks_mut::<16>();
            for (x, y) in x.iter().zip(y) {
                // SAFETY: sixteen elements each; the level has AVX-512 F.
                unsafe {
                    let x = _mm256_loadu_si256(x.as_ptr().cast());
                    _mm512_storeu_ps(y.as_mut_ptr(), _mm512_cvtph_ps(x));
                }
            }
            // SAFETY: every CPU has it.
            unsafe { Portable::widen(rest, rest_y) }
        }
        #[inline(always)]
        unsafe fn narrow(from: &[f32], to: &mut [u16]) {
            let (x, rest) = from.as_chunks::<16>();
            let (y, rest_y) = to.as_chunks_mut::<16>();
            for (x, y) in x.iter().zip(y) {
                // SAFETY: as above.
                unsafe {
                    let x = _mm512_loadu_ps(x.as_ptr());
                    let x = _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(x);
                    _mm256_storeu_si256(y.as_mut_ptr().cast(), x);
                }
            }
            // SAFETY: as above.
            unsafe { Portable::narrow(rest, rest_y) }
        }
    }
}
