//! Lane functions: an operation on one lane becomes a loop over 32 lanes, compiled twice
//! (with AVX2, FMA and F16C, and without) and chosen once by what the host has.

use super::half::{f16_from_f32, f16_to_f32};
use super::wave::{Row, Row64};
use std::sync::LazyLock;

pub type L1 = unsafe fn(&Row, &mut Row);
pub type L2 = unsafe fn(&Row, &Row, &mut Row);
pub type L3 = unsafe fn(&Row, &Row, &Row, &mut Row);
pub type D3 = unsafe fn(&Row64, &Row64, &Row64, &mut Row64);
pub type C2 = unsafe fn(&Row, &Row) -> u32;
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

macro_rules! rows {
    ($(#[$doc:meta])* $name:ident, $ty:ident, ($($a:ident: $row:ty),*), |$i:ident, $f:ident, $out:ident| $body:expr, $fun:path, $o:ty) => {
        $(#[$doc])*
        pub fn $name<F: $fun + Copy + 'static>(_: F) -> $ty
        {
            #[inline(always)]
            fn body<F: $fun + Copy + 'static>($($a: &$row,)* $out: &mut $o) {
                let $f = conjure::<F>();
                for $i in 0..32 {
                    $body;
                }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,f16c")]
            fn wide<F: $fun + Copy + 'static>($($a: &$row,)* out: &mut $o) {
                body::<F>($($a,)* out);
            }
            unsafe fn plain<F: $fun + Copy + 'static>($($a: &$row,)* out: &mut $o) {
                body::<F>($($a,)* out);
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
    l1, L1, (a: Row), |i, f, out| out[i] = f(a[i]), Fn1, Row);
rows!(
    /// Two 32-bit sources.
    l2, L2, (a: Row, b: Row), |i, f, out| out[i] = f(a[i], b[i]), Fn2, Row);
rows!(
    /// Three 32-bit sources.
    l3, L3, (a: Row, b: Row, c: Row), |i, f, out| out[i] = f(a[i], b[i], c[i]), Fn3, Row);
rows!(
    /// Sources or result of 64 bits (32-bit sources come zero-extended).
    d3, D3, (a: Row64, b: Row64, c: Row64), |i, f, out| out[i] = f(a[i], b[i], c[i]), FnD, Row64);

/// A comparison of 32 lanes.
pub fn c2<F: Fn(u32, u32) -> bool + Copy + 'static>(_: F) -> C2 {
    #[inline(always)]
    fn body<F: Fn(u32, u32) -> bool + Copy + 'static>(a: &Row, b: &Row) -> u32 {
        let f = conjure::<F>();
        let mut mask = 0;
        for i in 0..32 {
            mask |= u32::from(f(a[i], b[i])) << i;
        }
        mask
    }
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn wide<F: Fn(u32, u32) -> bool + Copy + 'static>(a: &Row, b: &Row) -> u32 {
        body::<F>(a, b)
    }
    unsafe fn plain<F: Fn(u32, u32) -> bool + Copy + 'static>(a: &Row, b: &Row) -> u32 {
        body::<F>(a, b)
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
