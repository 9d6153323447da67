//! Matrix instructions: what WMMA and MFMA share, reading operands into plain matrices.

use super::convert::{bf8, fp8};
use super::decode::Target;
use super::disassembly::Text;
use super::half::{bf16_to_f32, f16_to_f32};
use super::lanes::fast;
use super::operand::Src;
use super::wave::{Run, Wave};
use super::{mfma, wmma};

/// Element types of the factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    F32,
    F16,
    Bf16,
    Fp8,
    Bf8,
    I8,
    U8,
    I4,
    U4,
}

impl Element {
    pub fn bits(self) -> usize {
        match self {
            Element::F32 => 32,
            Element::F16 | Element::Bf16 => 16,
            Element::I4 | Element::U4 => 4,
            _ => 8,
        }
    }

    pub fn is_integer(self) -> bool {
        matches!(self, Element::I8 | Element::U8 | Element::I4 | Element::U4)
    }

    fn float(self, raw: u32, fnuz: bool) -> f32 {
        match self {
            Element::F32 => f32::from_bits(raw),
            Element::F16 => f16_to_f32(raw),
            Element::Bf16 => bf16_to_f32(raw),
            Element::Fp8 => fp8(raw, fnuz),
            Element::Bf8 => bf8(raw, fnuz),
            other => other.integer(raw) as f32,
        }
    }

    fn integer(self, raw: u32) -> i32 {
        match self {
            Element::I8 => i32::from(raw as i8),
            Element::I4 => (raw << 28) as i32 >> 28,
            _ => raw as i32,
        }
    }
}

/// Raw element `j` that a lane holds in registers from `src` on.
#[inline(always)]
pub fn raw(w: &Wave, src: u16, lane: usize, j: usize, bits: usize) -> u32 {
    let per = 32 / bits;
    let word = w.lane(Src::V(src + (j / per) as u16), lane);
    if bits == 32 {
        word
    } else {
        word >> (j % per * bits) & ((1 << bits) - 1)
    }
}

/// One product `D = A B + C` as plain row-major matrices; `b` is [k][n].
pub struct Product {
    pub n: usize,
    pub k: usize,
    pub a: Vec<f32>,
    pub b: Vec<f32>,
}

impl Product {
    pub fn new(m: usize, n: usize, k: usize) -> Product {
        Product {
            n,
            k,
            a: vec![0.0; m * k],
            b: vec![0.0; k * n],
        }
    }

    /// Adds the product to `c`, in f32, k ascending.
    pub fn add_to(&self, c: &mut [f32]) {
        #[inline(always)]
        fn body(p: &Product, c: &mut [f32]) {
            for (row, a) in c.chunks_exact_mut(p.n).zip(p.a.chunks_exact(p.k)) {
                for (x, b) in a.iter().zip(p.b.chunks_exact(p.n)) {
                    for (c, b) in row.iter_mut().zip(b) {
                        *c = x.mul_add(*b, *c);
                    }
                }
            }
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma")]
        fn wide(p: &Product, c: &mut [f32]) {
            body(p, c);
        }
        #[cfg(target_arch = "x86_64")]
        if fast() {
            // SAFETY: the host has these features.
            return unsafe { wide(self, c) };
        }
        body(self, c);
    }
}

/// Reads one factor: `place(lane, j)` says which row (or column) and k the lane's element j is.
pub fn read_factor(
    w: &Wave,
    src: u16,
    element: Element,
    per_lane: usize,
    fnuz: bool,
    mut put: impl FnMut(usize, usize, f32),
) {
    for lane in 0..w.lanes {
        for j in 0..per_lane {
            put(
                lane,
                j,
                element.float(raw(w, src, lane, j, element.bits()), fnuz),
            );
        }
    }
}

/// The same as integers.
pub fn read_integers(
    w: &Wave,
    src: u16,
    element: Element,
    per_lane: usize,
    mut put: impl FnMut(usize, usize, i32),
) {
    for lane in 0..w.lanes {
        for j in 0..per_lane {
            put(
                lane,
                j,
                element.integer(raw(w, src, lane, j, element.bits())),
            );
        }
    }
}

/// Decodes a matrix instruction, or None.
pub fn decode(t: &Text, target: &Target) -> Result<Option<Run>, String> {
    if t.name.starts_with("v_wmma_") {
        return wmma::decode(t, target).map(Some);
    }
    if t.name.starts_with("v_mfma_") {
        return mfma::decode(t, target).map(Some);
    }
    Ok(None)
}
