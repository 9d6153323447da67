//! Lane functions: an operation on one lane becomes a loop over 32 lanes, compiled twice
//! (with AVX2, FMA and F16C, and without) and chosen once by what the host has.

// Several rows are walked at one index; the plain loop is what the compiler vectorises best.
#![allow(clippy::needless_range_loop)]

use super::half::{f16_from_f32, f16_from_f64, f16_to_f32};
use super::wave::{Row, Row64};
use std::sync::LazyLock;

/// Sources, result and the lanes to write; the pointers may be equal.
///
/// Safety of all of these: valid rows, and the host features that the maker chose them by.
pub type L1 = unsafe fn(*const Row, *mut Row, u32);
pub type L2 = unsafe fn(*const Row, *const Row, *mut Row, u32);
pub type L3 = unsafe fn(*const Row, *const Row, *const Row, *mut Row, u32);
/// Sources, carry-in, result, lanes to write; gives the carry-out.
pub type Carry = unsafe fn(*const Row, *const Row, u32, *mut Row, u32) -> u32;
/// Sources, picking mask, result, lanes to write.
pub type Select = unsafe fn(*const Row, *const Row, u32, *mut Row, u32);
pub type D3 = unsafe fn(&Row64, &Row64, &Row64, &mut Row64);
pub type C2 = unsafe fn(*const Row, *const Row) -> u32;
pub type CD2 = unsafe fn(&Row64, &Row64) -> u32;

static FAST: LazyLock<bool> = LazyLock::new(|| {
    #[cfg(target_arch = "x86_64")]
    {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
});

/// Whether the host has AVX2, FMA and F16C.
pub fn fast() -> bool {
    *FAST
}

/// The value of a closure type that captures nothing.
#[inline(always)]
fn conjure<F: Copy + 'static>() -> F {
    const { assert!(size_of::<F>() == 0, "lane functions capture nothing") };
    // SAFETY: F has no bytes and is Copy, and a value of it was passed to the caller's caller.
    unsafe { std::mem::zeroed() }
}

/// Writes the lanes of `mask`.
///
/// # Safety
/// `out` must be valid for reads and writes.
#[inline(always)]
pub unsafe fn write_row(out: *mut Row, value: &Row, mask: u32) {
    // SAFETY: the caller vouches for `out`.
    let out = unsafe { &mut *out };
    if mask == u32::MAX {
        *out = *value;
    } else {
        for i in 0..32 {
            out[i] = if mask >> i & 1 != 0 { value[i] } else { out[i] };
        }
    }
}

/// Makes `$name`, which turns a closure into a function over rows; the expression says what a lane does with it. It is
/// written out in the loop, where a closure around a closure might stay a call. Sources and result may be the same row:
/// all results are computed before the first is written.
macro_rules! rows {
    ($(#[$doc:meta])* $name:ident, $ty:ident, $fun:path, |$f:ident, $($a:ident),*| $lane:expr) => {
        rows!(@ {$(#[$doc])* pub fn $name} (F: $fun + Copy + 'static) (F) (_: F)
            $ty, {let $f = conjure::<F>();}, |$($a),*| $lane);
    };
    ($(#[$doc:meta])* $name:ident, $ty:ident, |$($a:ident),*| $lane:expr) => {
        rows!(@ {$(#[$doc])* pub fn $name} () () () $ty, {}, |$($a),*| $lane);
    };
    (@ {$($head:tt)*} ($($generic:tt)*) ($($with:tt)*) ($($closure:tt)*)
        $ty:ident, {$($before:tt)*}, |$($a:ident),*| $lane:expr) => {
        $($head)*<$($generic)*>($($closure)*) -> $ty {
            #[inline(always)]
            unsafe fn body<$($generic)*>($($a: *const Row,)* out: *mut Row, mask: u32) {
                $($before)*
                let mut o: Row = [0; 32];
                for i in 0..32 {
                    // SAFETY: the caller's rows are valid.
                    $(let $a = unsafe { (*$a)[i] };)*
                    o[i] = $lane;
                }
                // SAFETY: as above.
                unsafe { write_row(out, &o, mask) }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,f16c")]
            unsafe fn wide<$($generic)*>($($a: *const Row,)* out: *mut Row, mask: u32) {
                // SAFETY: passed on.
                unsafe { body::<$($with)*>($($a,)* out, mask) }
            }
            unsafe fn plain<$($generic)*>($($a: *const Row,)* out: *mut Row, mask: u32) {
                // SAFETY: passed on.
                unsafe { body::<$($with)*>($($a,)* out, mask) }
            }
            #[cfg(target_arch = "x86_64")]
            if fast() {
                return wide::<$($with)*>;
            }
            plain::<$($with)*>
        }
    };
}

/// Names closure bounds so that the macro can take them as a path.
macro_rules! bound {
    ($name:ident, $($arg:ty),* => $out:ty) => {
        pub trait $name: Fn($($arg),*) -> $out {}
        impl<T: Fn($($arg),*) -> $out> $name for T {}
    };
}
bound!(Fn1, u32 => u32);
bound!(Fn2, u32, u32 => u32);
bound!(Fn3, u32, u32, u32 => u32);
bound!(FnD, u64, u64, u64 => u64);
bound!(Float1, f32 => f32);
bound!(Float2, f32, f32 => f32);
bound!(Float3, f32, f32, f32 => f32);
bound!(Short2, u16, u16 => u16);
bound!(Short3, u16, u16, u16 => u16);

/// One half of `v_pk_fma_f16`; the product and nearly all sums are exact in f64.
#[inline(always)]
fn fma16(a: u32, b: u32, c: u32) -> u32 {
    let (a, b, c) = (f16_to_f32(a), f16_to_f32(b), f16_to_f32(c));
    u32::from(f16_from_f64(f64::from(a) * f64::from(b) + f64::from(c)))
}

/// The low half of a register as f16.
#[inline(always)]
fn low(v: u32) -> f32 {
    f16_to_f32(v & 0xffff)
}

#[inline(always)]
fn high(v: u32) -> f32 {
    f16_to_f32(v >> 16)
}

rows!(
    /// One 32-bit source.
    l1, L1, Fn1, |f, a| f(a));
rows!(
    /// Two 32-bit sources.
    l2, L2, Fn2, |f, a, b| f(a, b));
rows!(
    /// Three 32-bit sources.
    l3, L3, Fn3, |f, a, b, c| f(a, b, c));
rows!(
    /// One f32.
    f1, L1, Float1, |f, a| f(f32::from_bits(a)).to_bits());
rows!(
    /// Two f32.
    f2, L2, Float2, |f, a, b| f(f32::from_bits(a), f32::from_bits(b)).to_bits());
rows!(
    /// Three f32.
    f3, L3, Float3, |f, a, b, c| f(f32::from_bits(a), f32::from_bits(b), f32::from_bits(c)).to_bits());
rows!(
    /// One f16.
    h1, L1, Float1, |f, a| f16_from_f32(f(low(a))));
rows!(
    /// Two f16.
    h2, L2, Float2, |f, a, b| f16_from_f32(f(low(a), low(b))));
rows!(
    /// Three f16.
    h3, L3, Float3, |f, a, b, c| f16_from_f32(f(low(a), low(b), low(c))));
rows!(
    /// Both f16 halves.
    ph2, L2, Float2,
    |f, a, b| f16_from_f32(f(low(a), low(b))) | f16_from_f32(f(high(a), high(b))) << 16);
rows!(
    /// Both 16-bit integer halves.
    pi2, L2, Short2,
    |f, a, b| u32::from(f(a as u16, b as u16)) | u32::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16);
rows!(
    /// Both 16-bit integer halves.
    pi3, L3, Short3,
    |f, a, b, c| u32::from(f(a as u16, b as u16, c as u16))
        | u32::from(f((a >> 16) as u16, (b >> 16) as u16, (c >> 16) as u16)) << 16);

rows!(
    /// Multiply-add of both f16 halves.
    pk_fma, L3,
    |a, b, c| fma16(a & 0xffff, b & 0xffff, c & 0xffff) | fma16(a >> 16, b >> 16, c >> 16) << 16);
rows!(
    /// The products of both f16 halves added to an f32, the low one first.
    dot2_f16, L3,
    |a, b, c| high(a).mul_add(high(b), low(a).mul_add(low(b), f32::from_bits(c))).to_bits());

/// Sources or result of 64 bits (32-bit sources come zero-extended).
pub fn d3<F: FnD + Copy + 'static>(_: F) -> D3 {
    #[inline(always)]
    fn body<F: FnD + Copy + 'static>(a: &Row64, b: &Row64, c: &Row64, out: &mut Row64) {
        let f = conjure::<F>();
        for i in 0..32 {
            out[i] = f(a[i], b[i], c[i]);
        }
    }
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,f16c")]
    fn wide<F: FnD + Copy + 'static>(a: &Row64, b: &Row64, c: &Row64, out: &mut Row64) {
        body::<F>(a, b, c, out);
    }
    unsafe fn plain<F: FnD + Copy + 'static>(a: &Row64, b: &Row64, c: &Row64, out: &mut Row64) {
        body::<F>(a, b, c, out);
    }
    #[cfg(target_arch = "x86_64")]
    if fast() {
        return wide::<F>;
    }
    plain::<F>
}

/// A sum or difference with carries: `f(a, b, carry-in)` gives a 33-bit result in 64 bits.
pub fn carry<F: Fn(u64, u64, u64) -> u64 + Copy + 'static>(_: F) -> Carry {
    #[inline(always)]
    unsafe fn body<F: Fn(u64, u64, u64) -> u64 + Copy + 'static>(
        a: *const Row,
        b: *const Row,
        carry: u32,
        out: *mut Row,
        mask: u32,
    ) -> u32 {
        let f = conjure::<F>();
        let mut o: Row = [0; 32];
        let mut carries = 0;
        for i in 0..32 {
            // SAFETY: the caller's rows are valid.
            let wide = unsafe {
                f(
                    u64::from((*a)[i]),
                    u64::from((*b)[i]),
                    u64::from(carry >> i & 1),
                )
            };
            o[i] = wide as u32;
            // Bit 32 is the carry; a borrow wraps and sets it too.
            carries |= ((wide >> 32) as u32 & 1) << i;
        }
        // SAFETY: as above.
        unsafe { write_row(out, &o, mask) };
        carries
    }
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn wide<F: Fn(u64, u64, u64) -> u64 + Copy + 'static>(
        a: *const Row,
        b: *const Row,
        carry: u32,
        out: *mut Row,
        mask: u32,
    ) -> u32 {
        // SAFETY: passed on.
        unsafe { body::<F>(a, b, carry, out, mask) }
    }
    unsafe fn plain<F: Fn(u64, u64, u64) -> u64 + Copy + 'static>(
        a: *const Row,
        b: *const Row,
        carry: u32,
        out: *mut Row,
        mask: u32,
    ) -> u32 {
        // SAFETY: passed on.
        unsafe { body::<F>(a, b, carry, out, mask) }
    }
    #[cfg(target_arch = "x86_64")]
    if fast() {
        return wide::<F>;
    }
    plain::<F>
}

/// Lane select by mask bits: `b` where set.
pub fn select() -> Select {
    #[inline(always)]
    unsafe fn body(a: *const Row, b: *const Row, pick: u32, out: *mut Row, mask: u32) {
        let mut o: Row = [0; 32];
        for i in 0..32 {
            // SAFETY: the caller's rows are valid.
            o[i] = unsafe { if pick >> i & 1 != 0 { (*b)[i] } else { (*a)[i] } };
        }
        // SAFETY: as above.
        unsafe { write_row(out, &o, mask) };
    }
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn wide(a: *const Row, b: *const Row, pick: u32, out: *mut Row, mask: u32) {
        // SAFETY: passed on.
        unsafe { body(a, b, pick, out, mask) }
    }
    unsafe fn plain(a: *const Row, b: *const Row, pick: u32, out: *mut Row, mask: u32) {
        // SAFETY: passed on.
        unsafe { body(a, b, pick, out, mask) }
    }
    #[cfg(target_arch = "x86_64")]
    if fast() {
        return wide;
    }
    plain
}

/// A comparison of 32 lanes.
pub fn c2<F: Fn(u32, u32) -> bool + Copy + 'static>(_: F) -> C2 {
    #[inline(always)]
    unsafe fn body<F: Fn(u32, u32) -> bool + Copy + 'static>(a: *const Row, b: *const Row) -> u32 {
        let f = conjure::<F>();
        let mut mask = 0;
        for i in 0..32 {
            // SAFETY: the caller's rows are valid.
            mask |= u32::from(unsafe { f((*a)[i], (*b)[i]) }) << i;
        }
        mask
    }
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn wide<F: Fn(u32, u32) -> bool + Copy + 'static>(a: *const Row, b: *const Row) -> u32 {
        // SAFETY: passed on.
        unsafe { body::<F>(a, b) }
    }
    unsafe fn plain<F: Fn(u32, u32) -> bool + Copy + 'static>(a: *const Row, b: *const Row) -> u32 {
        // SAFETY: passed on.
        unsafe { body::<F>(a, b) }
    }
    #[cfg(target_arch = "x86_64")]
    if fast() {
        return wide::<F>;
    }
    plain::<F>
}

/// A comparison of 64-bit lanes.
pub fn cd2<F: Fn(u64, u64) -> bool + Copy + 'static>(_: F) -> CD2 {
    unsafe fn plain<F: Fn(u64, u64) -> bool + Copy + 'static>(a: &Row64, b: &Row64) -> u32 {
        let f = conjure::<F>();
        (0..32).fold(0, |mask, i| mask | u32::from(f(a[i], b[i])) << i)
    }
    plain::<F>
}

pub fn df3<F: Fn(f64, f64, f64) -> f64 + Copy + 'static>(f: F) -> D3 {
    d3(move |a, b, c| f(f64::from_bits(a), f64::from_bits(b), f64::from_bits(c)).to_bits())
}
