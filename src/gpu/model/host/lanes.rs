//! Sixteen lanes of 32 bits at each SIMD level of the CPU: what products with a GPU's tiles are written with. All levels give
//! the same bits.

use half::f16;

/// Which of sixteen numbers each lane takes.
#[derive(Clone, Copy)]
pub struct Pattern {
    pub index: [i32; 16],
    /// Where the four numbers begin among which all of them are; `None`: they lie further apart.
    start: Option<usize>,
}

impl Pattern {
    pub fn new(index: [i32; 16]) -> Pattern {
        let (least, most) = (index.iter().min(), index.iter().max());
        let (least, most) = (*least.unwrap_or(&0), *most.unwrap_or(&0));
        Pattern {
            index,
            start: (most - least < 4).then_some(least as usize),
        }
    }
}

/// The lanes of one level.
///
/// # Safety
/// Functions may only be called where the CPU has the level, and from functions that have its features on, into which all
/// of this is inlined; pointers are to as many bytes as the functions say, of any alignment.
pub unsafe trait Lanes {
    type Words: Copy;
    type Floats: Copy;
    /// A pattern.
    type Choice: Copy;

    /// 64 bytes.
    unsafe fn load(from: *const u8) -> Self::Words;
    unsafe fn zero() -> Self::Words;
    unsafe fn and(a: Self::Words, mask: u32) -> Self::Words;
    /// Logical, to the right.
    unsafe fn shift(a: Self::Words, bits: u32) -> Self::Words;
    /// To the left.
    unsafe fn shift_up(a: Self::Words, bits: u32) -> Self::Words;
    /// Adds the products of both pairs of signed 16-bit numbers of each lane.
    unsafe fn add_pairs(sum: Self::Words, a: Self::Words, b: Self::Words) -> Self::Words;
    /// A signed byte of the table for each byte, whose high four bits are 0.
    unsafe fn look_up(table: &[i8; 16], bytes: Self::Words) -> Self::Words;
    /// The signed bytes 0 and 2 of each lane as a pair.
    unsafe fn even_bytes(a: Self::Words) -> Self::Words;
    /// The signed bytes 1 and 3.
    unsafe fn odd_bytes(a: Self::Words) -> Self::Words;
    unsafe fn splat(x: f32) -> Self::Floats;
    /// Sixteen f16, as f32.
    unsafe fn halves(from: *const u8, to: &mut [f32; 16]);
    unsafe fn choice(pattern: &Pattern) -> Self::Choice;
    /// A number of sixteen for each lane; there are four more behind them.
    unsafe fn choose(from: *const f32, choice: Self::Choice) -> Self::Floats;
    /// `sum + ints · scale`, fused.
    unsafe fn add_scaled(sum: Self::Floats, ints: Self::Words, scale: Self::Floats)
    -> Self::Floats;
    /// Lanes i and i + 8, then i and i + 4, i + 2, i + 1.
    unsafe fn sum(a: Self::Floats) -> f32;
    /// Brings a line to the second cache.
    unsafe fn prefetch(at: *const u8);
}

/// Plain Rust.
pub struct Portable;

fn map(a: [u32; 16], f: impl Fn(u32) -> u32) -> [u32; 16] {
    a.map(f)
}

/// Two signed 16-bit numbers.
fn pair(word: u32) -> [i32; 2] {
    [
        i32::from(word as u16 as i16),
        i32::from((word >> 16) as u16 as i16),
    ]
}

fn byte(word: u32, at: u32) -> u32 {
    u32::from(i16::from((word >> (8 * at)) as u8 as i8) as u16)
}

// SAFETY: plain Rust runs everywhere.
unsafe impl Lanes for Portable {
    type Words = [u32; 16];
    type Floats = [f32; 16];
    type Choice = [i32; 16];

    unsafe fn load(from: *const u8) -> [u32; 16] {
        // SAFETY: the caller's promise; any bits are numbers.
        let words = unsafe { from.cast::<[u32; 16]>().read_unaligned() };
        map(words, u32::from_le)
    }
    unsafe fn zero() -> [u32; 16] {
        [0; 16]
    }
    unsafe fn and(a: [u32; 16], mask: u32) -> [u32; 16] {
        map(a, |a| a & mask)
    }
    unsafe fn shift(a: [u32; 16], bits: u32) -> [u32; 16] {
        map(a, |a| a >> bits)
    }
    unsafe fn shift_up(a: [u32; 16], bits: u32) -> [u32; 16] {
        map(a, |a| a << bits)
    }
    unsafe fn add_pairs(sum: [u32; 16], a: [u32; 16], b: [u32; 16]) -> [u32; 16] {
        std::array::from_fn(|i| {
            let ([a, c], [b, d]) = (pair(a[i]), pair(b[i]));
            (sum[i] as i32).wrapping_add(a * b).wrapping_add(c * d) as u32
        })
    }
    unsafe fn look_up(table: &[i8; 16], bytes: [u32; 16]) -> [u32; 16] {
        let of = |byte: u8| table[usize::from(byte & 15)] as u8;
        map(bytes, |word| u32::from_le_bytes(word.to_le_bytes().map(of)))
    }
    unsafe fn even_bytes(a: [u32; 16]) -> [u32; 16] {
        map(a, |a| byte(a, 0) | byte(a, 2) << 16)
    }
    unsafe fn odd_bytes(a: [u32; 16]) -> [u32; 16] {
        map(a, |a| byte(a, 1) | byte(a, 3) << 16)
    }
    unsafe fn splat(x: f32) -> [f32; 16] {
        [x; 16]
    }
    unsafe fn halves(from: *const u8, to: &mut [f32; 16]) {
        // SAFETY: the caller's promise: 32 bytes.
        let numbers = unsafe { from.cast::<[[u8; 2]; 16]>().read_unaligned() };
        *to = numbers.map(|number| f16::from_le_bytes(number).to_f32_const());
    }
    unsafe fn choice(pattern: &Pattern) -> [i32; 16] {
        pattern.index
    }
    unsafe fn choose(from: *const f32, choice: [i32; 16]) -> [f32; 16] {
        // SAFETY: the caller's promise: sixteen numbers.
        let numbers = unsafe { from.cast::<[f32; 16]>().read_unaligned() };
        choice.map(|at| numbers[at as usize & 15])
    }
    unsafe fn add_scaled(sum: [f32; 16], ints: [u32; 16], scale: [f32; 16]) -> [f32; 16] {
        std::array::from_fn(|i| (ints[i] as i32 as f32).mul_add(scale[i], sum[i]))
    }
    unsafe fn sum(a: [f32; 16]) -> f32 {
        let a: [f32; 8] = std::array::from_fn(|i| a[i] + a[i + 8]);
        let a: [f32; 4] = std::array::from_fn(|i| a[i] + a[i + 4]);
        (a[0] + a[2]) + (a[1] + a[3])
    }
    unsafe fn prefetch(_: *const u8) {}
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Lanes, Pattern};
    use std::arch::x86_64::*;

    /// AVX2, FMA, F16C.
    pub struct Avx2;
    /// AVX-512 F, BW, VL and VNNI.
    pub struct Avx512;

    #[inline(always)]
    unsafe fn sum_of_eight(a: __m256) -> f32 {
        // SAFETY: the caller has AVX2 (as below).
        unsafe {
            let a = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps::<1>(a));
            let a = _mm_add_ps(a, _mm_movehl_ps(a, a));
            _mm_cvtss_f32(_mm_add_ss(a, _mm_movehdup_ps(a)))
        }
    }

    // SAFETY: the trait's contract; each function's instructions are of the level.
    unsafe impl Lanes for Avx2 {
        type Words = [__m256i; 2];
        type Floats = [__m256; 2];
        type Choice = ([__m256i; 2], Option<usize>);

        #[inline(always)]
        unsafe fn load(from: *const u8) -> [__m256i; 2] {
            // SAFETY: the caller has the level and 64 bytes (as below).
            unsafe {
                let from = from.cast::<__m256i>();
                [_mm256_loadu_si256(from), _mm256_loadu_si256(from.add(1))]
            }
        }
        #[inline(always)]
        unsafe fn zero() -> [__m256i; 2] {
            // SAFETY: as above.
            unsafe { [_mm256_setzero_si256(); 2] }
        }
        #[inline(always)]
        unsafe fn and(a: [__m256i; 2], mask: u32) -> [__m256i; 2] {
            // SAFETY: as above.
            unsafe {
                let mask = _mm256_set1_epi32(mask as i32);
                [_mm256_and_si256(a[0], mask), _mm256_and_si256(a[1], mask)]
            }
        }
        #[inline(always)]
        unsafe fn shift(a: [__m256i; 2], bits: u32) -> [__m256i; 2] {
            // SAFETY: as above.
            unsafe {
                let count = _mm_cvtsi32_si128(bits as i32);
                [_mm256_srl_epi32(a[0], count), _mm256_srl_epi32(a[1], count)]
            }
        }
        #[inline(always)]
        unsafe fn shift_up(a: [__m256i; 2], bits: u32) -> [__m256i; 2] {
            // SAFETY: as above.
            unsafe {
                let count = _mm_cvtsi32_si128(bits as i32);
                [_mm256_sll_epi32(a[0], count), _mm256_sll_epi32(a[1], count)]
            }
        }
        #[inline(always)]
        unsafe fn add_pairs(sum: [__m256i; 2], a: [__m256i; 2], b: [__m256i; 2]) -> [__m256i; 2] {
            // SAFETY: as above.
            unsafe {
                [
                    _mm256_add_epi32(sum[0], _mm256_madd_epi16(a[0], b[0])),
                    _mm256_add_epi32(sum[1], _mm256_madd_epi16(a[1], b[1])),
                ]
            }
        }
        #[inline(always)]
        unsafe fn look_up(table: &[i8; 16], bytes: [__m256i; 2]) -> [__m256i; 2] {
            // SAFETY: as above.
            unsafe {
                let table = _mm_loadu_si128(table.as_ptr().cast());
                let table = _mm256_broadcastsi128_si256(table);
                bytes.map(|bytes| _mm256_shuffle_epi8(table, bytes))
            }
        }
        #[inline(always)]
        unsafe fn even_bytes(a: [__m256i; 2]) -> [__m256i; 2] {
            // SAFETY: as above.
            unsafe { a.map(|a| _mm256_srai_epi16::<8>(_mm256_slli_epi16::<8>(a))) }
        }
        #[inline(always)]
        unsafe fn odd_bytes(a: [__m256i; 2]) -> [__m256i; 2] {
            // SAFETY: as above.
            unsafe { a.map(|a| _mm256_srai_epi16::<8>(a)) }
        }
        #[inline(always)]
        unsafe fn halves(from: *const u8, to: &mut [f32; 16]) {
            // SAFETY: as above, and 32 bytes.
            unsafe {
                let (from, to) = (from.cast::<__m128i>(), to.as_mut_ptr());
                _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128(from)));
                _mm256_storeu_ps(to.add(8), _mm256_cvtph_ps(_mm_loadu_si128(from.add(1))));
            }
        }
        #[inline(always)]
        unsafe fn splat(x: f32) -> [__m256; 2] {
            // SAFETY: as above.
            unsafe { [_mm256_set1_ps(x); 2] }
        }
        #[inline(always)]
        unsafe fn choice(pattern: &Pattern) -> ([__m256i; 2], Option<usize>) {
            // SAFETY: as above.
            unsafe {
                let index = pattern.index.as_ptr().cast::<__m256i>();
                let index = [_mm256_loadu_si256(index), _mm256_loadu_si256(index.add(1))];
                let start = _mm256_set1_epi32(pattern.start.unwrap_or(0) as i32);
                let index = index.map(|index| _mm256_sub_epi32(index, start));
                (index, pattern.start)
            }
        }
        #[inline(always)]
        unsafe fn choose(
            from: *const f32,
            (index, start): ([__m256i; 2], Option<usize>),
        ) -> [__m256; 2] {
            // SAFETY: as above, and the sixteen numbers with those behind them.
            unsafe {
                match start {
                    Some(start) => {
                        let four = _mm_loadu_ps(from.add(start));
                        let four = _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(four), four);
                        index.map(|index| _mm256_permutevar_ps(four, index))
                    }
                    None => index.map(|index| _mm256_i32gather_ps::<4>(from, index)),
                }
            }
        }
        #[inline(always)]
        unsafe fn add_scaled(
            sum: [__m256; 2],
            ints: [__m256i; 2],
            scale: [__m256; 2],
        ) -> [__m256; 2] {
            // SAFETY: as above.
            unsafe {
                [
                    _mm256_fmadd_ps(_mm256_cvtepi32_ps(ints[0]), scale[0], sum[0]),
                    _mm256_fmadd_ps(_mm256_cvtepi32_ps(ints[1]), scale[1], sum[1]),
                ]
            }
        }
        #[inline(always)]
        unsafe fn sum(a: [__m256; 2]) -> f32 {
            // SAFETY: as above.
            unsafe { sum_of_eight(_mm256_add_ps(a[0], a[1])) }
        }
        #[inline(always)]
        unsafe fn prefetch(at: *const u8) {
            // SAFETY: no address is wrong.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(at.cast()) }
        }
    }

    // SAFETY: as above.
    unsafe impl Lanes for Avx512 {
        type Words = __m512i;
        type Floats = __m512;
        type Choice = (__m512i, Option<usize>);

        #[inline(always)]
        unsafe fn load(from: *const u8) -> __m512i {
            // SAFETY: the caller has the level and 64 bytes (as below).
            unsafe { _mm512_loadu_si512(from.cast()) }
        }
        #[inline(always)]
        unsafe fn zero() -> __m512i {
            // SAFETY: as above.
            unsafe { _mm512_setzero_si512() }
        }
        #[inline(always)]
        unsafe fn and(a: __m512i, mask: u32) -> __m512i {
            // SAFETY: as above.
            unsafe { _mm512_and_si512(a, _mm512_set1_epi32(mask as i32)) }
        }
        #[inline(always)]
        unsafe fn shift(a: __m512i, bits: u32) -> __m512i {
            // SAFETY: as above.
            unsafe { _mm512_srl_epi32(a, _mm_cvtsi32_si128(bits as i32)) }
        }
        #[inline(always)]
        unsafe fn shift_up(a: __m512i, bits: u32) -> __m512i {
            // SAFETY: as above.
            unsafe { _mm512_sll_epi32(a, _mm_cvtsi32_si128(bits as i32)) }
        }
        #[inline(always)]
        unsafe fn add_pairs(sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
            // SAFETY: as above.
            unsafe { _mm512_dpwssd_epi32(sum, a, b) }
        }
        #[inline(always)]
        unsafe fn look_up(table: &[i8; 16], bytes: __m512i) -> __m512i {
            // SAFETY: as above.
            unsafe {
                let table = _mm_loadu_si128(table.as_ptr().cast());
                _mm512_shuffle_epi8(_mm512_broadcast_i32x4(table), bytes)
            }
        }
        #[inline(always)]
        unsafe fn even_bytes(a: __m512i) -> __m512i {
            // SAFETY: as above.
            unsafe { _mm512_srai_epi16::<8>(_mm512_slli_epi16::<8>(a)) }
        }
        #[inline(always)]
        unsafe fn odd_bytes(a: __m512i) -> __m512i {
            // SAFETY: as above.
            unsafe { _mm512_srai_epi16::<8>(a) }
        }
        #[inline(always)]
        unsafe fn halves(from: *const u8, to: &mut [f32; 16]) {
            // SAFETY: as above, and 32 bytes.
            unsafe {
                let numbers = _mm512_cvtph_ps(_mm256_loadu_si256(from.cast()));
                _mm512_storeu_ps(to.as_mut_ptr(), numbers);
            }
        }
        #[inline(always)]
        unsafe fn splat(x: f32) -> __m512 {
            // SAFETY: as above.
            unsafe { _mm512_set1_ps(x) }
        }
        #[inline(always)]
        unsafe fn choice(pattern: &Pattern) -> (__m512i, Option<usize>) {
            // SAFETY: as above.
            unsafe {
                let index = _mm512_loadu_si512(pattern.index.as_ptr().cast());
                let start = _mm512_set1_epi32(pattern.start.unwrap_or(0) as i32);
                (_mm512_sub_epi32(index, start), pattern.start)
            }
        }
        #[inline(always)]
        unsafe fn choose(from: *const f32, (index, start): (__m512i, Option<usize>)) -> __m512 {
            // SAFETY: as with AVX2.
            unsafe {
                match start {
                    Some(start) => {
                        let four = _mm512_broadcast_f32x4(_mm_loadu_ps(from.add(start)));
                        _mm512_permutevar_ps(four, index)
                    }
                    None => _mm512_permutexvar_ps(index, _mm512_loadu_ps(from)),
                }
            }
        }
        #[inline(always)]
        unsafe fn add_scaled(sum: __m512, ints: __m512i, scale: __m512) -> __m512 {
            // SAFETY: as above.
            unsafe { _mm512_fmadd_ps(_mm512_cvtepi32_ps(ints), scale, sum) }
        }
        #[inline(always)]
        unsafe fn sum(a: __m512) -> f32 {
            // SAFETY: as above.
            unsafe {
                let high = _mm512_extractf64x4_pd::<1>(_mm512_castps_pd(a));
                let low = _mm512_castps512_ps256(a);
                sum_of_eight(_mm256_add_ps(low, _mm256_castpd_ps(high)))
            }
        }
        #[inline(always)]
        unsafe fn prefetch(at: *const u8) {
            // SAFETY: no address is wrong.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(at.cast()) }
        }
    }
}
#[cfg(target_arch = "x86_64")]
pub use x86::{Avx2, Avx512};
