//! f16 and bfloat16 conversions (round to nearest even, denormals kept).

/// f16 bits to f32.
#[inline(always)]
pub fn f16_to_f32(bits: u32) -> f32 {
    let sign = (bits & 0x8000) << 16;
    let magnitude = bits & 0x7fff;
    // Scaling by 2^112 moves the exponent bias and normalises denormals exactly.
    let scaled = f32::from_bits(magnitude << 13) * f32::from_bits(0x7780_0000);
    let special = 0x7f80_0000 | magnitude << 13;
    let bits = if magnitude >= 0x7c00 {
        special
    } else {
        scaled.to_bits()
    };
    f32::from_bits(bits | sign)
}

/// f32 to f16 bits, nearest even.
#[inline(always)]
pub fn f16_from_f32(value: f32) -> u32 {
    let bits = value.to_bits();
    let sign = (bits >> 16) & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    // Normal results: rebias and round in integers.
    let odd = (magnitude >> 13) & 1;
    let normal = magnitude.wrapping_sub(112 << 23).wrapping_add(0xfff + odd) >> 13;
    // Denormal results: adding 0.5 lines up the mantissa so that the addition itself rounds.
    let denormal = (f32::from_bits(magnitude) + 0.5)
        .to_bits()
        .wrapping_sub(0.5f32.to_bits());
    let nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
    let finite = if magnitude < 0x3880_0000 {
        denormal
    } else {
        normal.min(0x7c00)
    };
    sign | if magnitude > 0x7f80_0000 { nan } else { finite }
}

/// f64 to f16 bits, nearest even, one rounding.
#[inline(always)]
pub fn f16_from_f64(value: f64) -> u16 {
    // Round to odd in f32 first; f32 keeps more than two extra bits, so the second rounding is exact.
    let narrow = value as f32;
    let mut bits = narrow.to_bits();
    if f64::from(narrow) != value && value.is_finite() && narrow.is_finite() && bits & 1 == 0 {
        // The neighbour towards the true value is the odd one.
        let up = f64::from(narrow).abs() < value.abs();
        bits = if up { bits + 1 } else { bits.wrapping_sub(1) };
    }
    f16_from_f32(f32::from_bits(bits)) as u16
}

/// f32 to f16 bits, towards zero.
pub fn f16_from_f32_toward_zero(value: f32) -> u32 {
    let near = f16_from_f32(value);
    if near & 0x7fff > 0x7c00 || value.is_infinite() {
        return near;
    }
    if f16_to_f32(near).abs() > value.abs() {
        near - 1
    } else {
        near
    }
}

/// Zero of the same sign for what is below the least normal number.
#[inline(always)]
pub fn flush(value: f32, least_normal: f32) -> f32 {
    if value.abs() < least_normal {
        0f32.copysign(value)
    } else {
        value
    }
}

/// The least normal f16; bfloat16 has f32's.
pub const LEAST_F16: f32 = 1.0 / 16384.0;

/// bfloat16 bits to f32.
#[inline(always)]
pub fn bf16_to_f32(bits: u32) -> f32 {
    f32::from_bits(bits << 16)
}

/// f32 to bfloat16 bits, nearest even.
#[inline(always)]
pub fn bf16_from_f32(value: f32) -> u32 {
    let bits = value.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    if value.is_nan() {
        bits >> 16 | 0x40
    } else {
        rounded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_f16_survives_both_ways() {
        for bits in 0..0x1_0000u32 {
            let f = f16_to_f32(bits);
            if f.is_nan() {
                assert!(f16_to_f32(f16_from_f32(f)).is_nan());
            } else {
                assert_eq!(f16_from_f32(f), bits);
                assert_eq!(u32::from(f16_from_f64(f64::from(f))), bits);
            }
        }
    }

    #[test]
    fn rounding_is_to_nearest_even() {
        assert_eq!(f16_from_f32(1.0 + 1.0 / 2048.0), 0x3c00);
        assert_eq!(f16_from_f32(1.0 + 3.0 / 2048.0), 0x3c02);
        assert_eq!(f16_from_f32(65519.9), 0x7bff);
        assert_eq!(f16_from_f32(65520.0), 0x7c00);
        assert_eq!(f16_from_f32(2f32.powi(-25)), 0);
        assert_eq!(f16_from_f32(2f32.powi(-25) * 1.001), 1);
        assert_eq!(f16_from_f64(1.0 + 1.0 / 2048.0 + 1e-12), 0x3c01);
        assert_eq!(f16_from_f32_toward_zero(65519.0), 0x7bff);
        assert_eq!(f16_from_f32_toward_zero(1e9), 0x7bff);
        assert_eq!(bf16_from_f32(1.0 + 1.0 / 256.0), 0x3f80);
        assert_eq!(bf16_from_f32(1.0 + 3.0 / 256.0), 0x3f82);
    }
}
