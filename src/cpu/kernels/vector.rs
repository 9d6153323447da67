//! A vector of f32 lanes, of one SIMD level: what bodies are written with where the compiler does not find the
//! vectors by itself.

/// Lanes of f32.
///
/// # Safety
/// Functions may only be called where the CPU has the level's instructions, and from functions that have its
/// features on, into which all of this is inlined.
pub unsafe trait Vector: Copy {
    /// How many.
    const LANES: usize;
    /// The same number in all.
    unsafe fn splat(x: f32) -> Self;
    /// `LANES` numbers from a pointer of any alignment.
    unsafe fn load(from: *const f32) -> Self;
    /// The same to one.
    unsafe fn store(self, to: *mut f32);
    /// Asks for the line of an address, which may be any.
    #[inline(always)]
    fn prefetch(at: *const f32) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every x86-64 has it, and it reads nothing.
        unsafe {
            std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(at.cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = at;
    }
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn subtract(self, other: Self) -> Self;
    unsafe fn multiply(self, other: Self) -> Self;
    /// `self · a + b`, fused where the level has it.
    unsafe fn multiply_add(self, a: Self, b: Self) -> Self;

    /// `width` numbers, zeros behind them.
    #[inline(always)]
    unsafe fn load_some(from: *const f32, width: usize) -> Self {
        // SAFETY: the caller's promise; no level has more lanes.
        unsafe {
            if width >= Self::LANES {
                return Self::load(from);
            }
            let mut lanes = [0.0f32; 16];
            std::ptr::copy_nonoverlapping(from, lanes.as_mut_ptr(), width);
            Self::load(lanes.as_ptr())
        }
    }

    /// The first `width` lanes.
    #[inline(always)]
    unsafe fn store_some(self, to: *mut f32, width: usize) {
        // SAFETY: as above.
        unsafe {
            if width >= Self::LANES {
                return self.store(to);
            }
            let mut lanes = [0.0f32; 16];
            self.store(lanes.as_mut_ptr());
            std::ptr::copy_nonoverlapping(lanes.as_ptr(), to, width);
        }
    }
}

// SAFETY: plain Rust runs everywhere.
unsafe impl Vector for [f32; 8] {
    const LANES: usize = 8;
    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        [x; 8]
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller's promise.
        unsafe { *from.cast() }
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller's promise.
        unsafe { *to.cast() = self }
    }
    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i] + other[i])
    }
    #[inline(always)]
    unsafe fn subtract(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i] - other[i])
    }
    #[inline(always)]
    unsafe fn multiply(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i] * other[i])
    }
    #[inline(always)]
    unsafe fn multiply_add(self, a: Self, b: Self) -> Self {
        std::array::from_fn(|i| self[i] * a[i] + b[i])
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Vector;
    use std::arch::x86_64::*;

    macro_rules! of_level {
        ($vector:ident, $lanes:literal, $splat:ident, $load:ident, $store:ident, $add:ident, $subtract:ident,
         $multiply:ident, $multiply_add:ident) => {
            // SAFETY: the trait's contract.
            unsafe impl Vector for $vector {
                const LANES: usize = $lanes;
                #[inline(always)]
                unsafe fn splat(x: f32) -> Self {
                    // SAFETY: the caller has the level (as below).
                    unsafe { $splat(x) }
                }
                #[inline(always)]
                unsafe fn load(from: *const f32) -> Self {
                    // SAFETY: as above, and the caller's pointer.
                    unsafe { $load(from) }
                }
                #[inline(always)]
                unsafe fn store(self, to: *mut f32) {
                    // SAFETY: as above.
                    unsafe { $store(to, self) }
                }
                #[inline(always)]
                unsafe fn add(self, other: Self) -> Self {
                    // SAFETY: as above.
                    unsafe { $add(self, other) }
                }
                #[inline(always)]
                unsafe fn subtract(self, other: Self) -> Self {
                    // SAFETY: as above.
                    unsafe { $subtract(self, other) }
                }
                #[inline(always)]
                unsafe fn multiply(self, other: Self) -> Self {
                    // SAFETY: as above.
                    unsafe { $multiply(self, other) }
                }
                #[inline(always)]
                unsafe fn multiply_add(self, a: Self, b: Self) -> Self {
                    // SAFETY: as above.
                    unsafe { $multiply_add(self, a, b) }
                }
            }
        };
    }

    of_level!(
        __m256,
        8,
        _mm256_set1_ps,
        _mm256_loadu_ps,
        _mm256_storeu_ps,
        _mm256_add_ps,
        _mm256_sub_ps,
        _mm256_mul_ps,
        _mm256_fmadd_ps
    );
    of_level!(
        __m512,
        16,
        _mm512_set1_ps,
        _mm512_loadu_ps,
        _mm512_storeu_ps,
        _mm512_add_ps,
        _mm512_sub_ps,
        _mm512_mul_ps,
        _mm512_fmadd_ps
    );
}
