//! Number formats by their definitions.

/// A small generator; the same seed gives the same values.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, n: usize) -> usize {
        ((self.next() >> 32) as usize) % n
    }
}

/// A binary format with a sign, `exponent` bits and `mantissa` bits, IEEE-like.
#[derive(Clone, Copy)]
pub struct Format {
    pub exponent: i32,
    pub mantissa: i32,
}

pub const F16: Format = Format {
    exponent: 5,
    mantissa: 10,
};
pub const BF16: Format = Format {
    exponent: 8,
    mantissa: 7,
};

impl Format {
    fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    fn infinity(self) -> u32 {
        ((1 << self.exponent) - 1) << self.mantissa
    }

    /// The value of these bits.
    pub fn decode(self, bits: u32) -> f64 {
        let sign = if bits >> (self.exponent + self.mantissa) & 1 != 0 {
            -1.0
        } else {
            1.0
        };
        let exponent = (bits >> self.mantissa) as i32 & ((1 << self.exponent) - 1);
        let fraction = f64::from(bits & ((1 << self.mantissa) - 1));
        let unit = |e: i32| 2f64.powi(e - self.bias() - self.mantissa);
        let one = 2f64.powi(self.mantissa);
        sign * if exponent == (1 << self.exponent) - 1 {
            if fraction == 0.0 {
                f64::INFINITY
            } else {
                f64::NAN
            }
        } else if exponent == 0 {
            fraction * unit(1)
        } else {
            (one + fraction) * unit(exponent)
        }
    }

    /// The bits of a value rounded by `round` (to an integer count of units in the last place).
    fn encode_by(self, v: f64, round: fn(f64) -> f64, saturate: bool) -> u32 {
        let sign = u32::from(v.is_sign_negative()) << (self.exponent + self.mantissa);
        if v.is_nan() {
            return self.infinity() | 1 << (self.mantissa - 1);
        }
        if v.is_infinite() {
            return sign | self.infinity();
        }
        let a = v.abs();
        let least = 1 - self.bias();
        // The exponent of the value, or of denormals; f64 has the range of all these formats.
        let e = ((a.to_bits() >> 52) as i32 - 1023).max(least);
        let count = round(a / 2f64.powi(e - self.mantissa)) as u32;
        // Counting on from the least denormal: an overflow of the fraction moves up the exponent.
        let bits = count + (((e - least) as u32) << self.mantissa);
        let top = self.infinity() - u32::from(saturate);
        sign | bits.min(top)
    }

    /// To nearest, ties to even.
    pub fn encode(self, v: f64) -> u32 {
        self.encode_by(v, f64::round_ties_even, false)
    }

    /// Towards zero: what is finite stays finite.
    pub fn encode_toward_zero(self, v: f64) -> u32 {
        self.encode_by(v, f64::trunc, v.is_finite())
    }
}

/// f16 bits to a number.
pub fn h(bits: u64) -> f64 {
    F16.decode(bits as u32 & 0xffff)
}

pub fn f(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

pub fn d(bits: u64) -> f64 {
    f64::from_bits(bits)
}

/// `a * b + c` of f16 bits with one rounding, exact in fixed point of 2^-48.
pub fn fma16(a: u64, b: u64, c: u64) -> u32 {
    let (x, y, z) = (h(a), h(b), h(c));
    let rough = x * y + z;
    if !rough.is_finite() {
        return F16.encode(rough);
    }
    let fixed = |v: f64| (v * 2f64.powi(24)) as i128;
    let sum = fixed(x) * fixed(y) + (fixed(z) << 24);
    if sum == 0 {
        // Exact zeros keep the signs' rule of IEEE additions.
        return F16.encode(rough);
    }
    // 64 significant bits, the last of them sticky, then 40 of them: both far more than f16 keeps.
    let mut magnitude = sum.unsigned_abs();
    let mut e = -48;
    while magnitude >> 40 != 0 {
        magnitude = magnitude >> 1 | magnitude & 1;
        e += 1;
    }
    let v = magnitude as f64 * 2f64.powi(e);
    F16.encode(if sum < 0 { -v } else { v })
}

pub use crate::values::{Kind, any, edge, edges, keys};
