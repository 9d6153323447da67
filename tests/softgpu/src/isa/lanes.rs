//! Lane functions: an operation on one lane becomes a loop over 32 lanes, compiled twice
//! (with AVX2, FMA and F16C, and without) and chosen once by what the host has.

// Several rows are walked at one index; the plain loop is what the compiler vectorises best.
#![allow(clippy::needless_range_loop)]

use super::half::{f16_from_f32, f16_to_f32};
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

/// Makes `$name`, which turns a lane closure into a function over rows. Sources and result may be the
/// same row: all results are computed before the first is written.
macro_rules! rows {
    ($(#[$doc:meta])* $name:ident, $ty:ident, $fun:path, $($a:ident),*) => {
        $(#[$doc])*
        pub fn $name<F: $fun + Copy + 'static>(_: F) -> $ty {
            #[inline(always)]
            unsafe fn body<F: $fun + Copy + 'static>($($a: *const Row,)* out: *mut Row, mask: u32) {
                let f = conjure::<F>();
                let mut o: Row = [0; 32];
                for i in 0..32 {
                    // SAFETY: the caller's rows are valid.
                    o[i] = unsafe { f($((*$a)[i]),*) };
                }
                // SAFETY: as above.
                unsafe { write_row(out, &o, mask) }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,f16c")]
            unsafe fn wide<F: $fun + Copy + 'static>($($a: *const Row,)* out: *mut Row, mask: u32) {
                // SAFETY: passed on.
                unsafe { body::<F>($($a,)* out, mask) }
            }
            unsafe fn plain<F: $fun + Copy + 'static>($($a: *const Row,)* out: *mut Row, mask: u32) {
                // SAFETY: passed on.
                unsafe { body::<F>($($a,)* out, mask) }
            }
            #[cfg(target_arch = "x86_64")]
            if fast() {
                return wide::<F>;
            }
            plain::<F>
        }
    };
}

/// Names a closure bound so that the macro can take it as a path.
pub trait Fn1: Fn(u32) -> u32 {}
impl<T: Fn(u32) -> u32> Fn1 for T {}
pub trait Fn2: Fn(u32, u32) -> u32 {}
impl<T: Fn(u32, u32) -> u32> Fn2 for T {}
pub trait Fn3: Fn(u32, u32, u32) -> u32 {}
impl<T: Fn(u32, u32, u32) -> u32> Fn3 for T {}
pub trait FnD: Fn(u64, u64, u64) -> u64 {}
impl<T: Fn(u64, u64, u64) -> u64> FnD for T {}

rows!(
    /// One 32-bit source.
    l1, L1, Fn1, a);
rows!(
    /// Two 32-bit sources.
    l2, L2, Fn2, a, b);
rows!(
    /// Three 32-bit sources.
    l3, L3, Fn3, a, b, c);

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

// The same with float arguments; the inner closures again capture nothing but `f`, of no bytes.

pub fn f1<F: Fn(f32) -> f32 + Copy + 'static>(f: F) -> L1 {
    l1(move |a| f(f32::from_bits(a)).to_bits())
}

pub fn f2<F: Fn(f32, f32) -> f32 + Copy + 'static>(f: F) -> L2 {
    l2(move |a, b| f(f32::from_bits(a), f32::from_bits(b)).to_bits())
}

pub fn f3<F: Fn(f32, f32, f32) -> f32 + Copy + 'static>(f: F) -> L3 {
    l3(move |a, b, c| f(f32::from_bits(a), f32::from_bits(b), f32::from_bits(c)).to_bits())
}

pub fn h1<F: Fn(f32) -> f32 + Copy + 'static>(f: F) -> L1 {
    l1(move |a| f16_from_f32(f(f16_to_f32(a & 0xffff))))
}

pub fn h2<F: Fn(f32, f32) -> f32 + Copy + 'static>(f: F) -> L2 {
    l2(move |a, b| f16_from_f32(f(f16_to_f32(a & 0xffff), f16_to_f32(b & 0xffff))))
}

pub fn h3<F: Fn(f32, f32, f32) -> f32 + Copy + 'static>(f: F) -> L3 {
    l3(move |a, b, c| {
        f16_from_f32(f(
            f16_to_f32(a & 0xffff),
            f16_to_f32(b & 0xffff),
            f16_to_f32(c & 0xffff),
        ))
    })
}

/// Both f16 halves.
pub fn ph2<F: Fn(f32, f32) -> f32 + Copy + 'static>(f: F) -> L2 {
    l2(move |a, b| {
        let one =
            |s: u32| f16_from_f32(f(f16_to_f32(a >> s & 0xffff), f16_to_f32(b >> s & 0xffff)));
        one(0) | one(16) << 16
    })
}

/// Both 16-bit integer halves.
pub fn pi2<F: Fn(u16, u16) -> u16 + Copy + 'static>(f: F) -> L2 {
    l2(move |a, b| {
        u32::from(f(a as u16, b as u16)) | u32::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16
    })
}

pub fn pi3<F: Fn(u16, u16, u16) -> u16 + Copy + 'static>(f: F) -> L3 {
    l3(move |a, b, c| {
        let low = f(a as u16, b as u16, c as u16);
        let high = f((a >> 16) as u16, (b >> 16) as u16, (c >> 16) as u16);
        u32::from(low) | u32::from(high) << 16
    })
}

pub fn df3<F: Fn(f64, f64, f64) -> f64 + Copy + 'static>(f: F) -> D3 {
    d3(move |a, b, c| f(f64::from_bits(a), f64::from_bits(b), f64::from_bits(c)).to_bits())
}
