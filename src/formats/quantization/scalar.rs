//! Reading little-endian 16- and 32-bit floats. Written with integer operations and one
//! subtraction of normal numbers, so that loops over them vectorise without F16C and give the same
//! bits on threads that flush denormals.

/// IEEE binary16 bits to f32, exact (NaN stays NaN).
#[inline(always)]
pub fn f16_to_f32(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let exponent = u32::from(bits & 0x7c00) << 13;
    let magnitude = u32::from(bits & 0x7fff) << 13;
    // 2^-14, the smallest normal: a subnormal's mantissa added to it is a normal f32 that differs
    // from it by exactly the subnormal's value.
    const SMALLEST_NORMAL: u32 = 113 << 23;
    let subnormal =
        (f32::from_bits(SMALLEST_NORMAL + magnitude) - f32::from_bits(SMALLEST_NORMAL)).to_bits();
    let normal = magnitude + (112 << 23);
    let special = magnitude | 0x7f80_0000;
    let value = if exponent == 0 {
        subnormal
    } else if exponent == 0x7c00 << 13 {
        special
    } else {
        normal
    };
    f32::from_bits(sign | value)
}

/// The binary16 bits of a number that came from one: [`f16_to_f32`] back. A NaN is quiet.
#[inline(always)]
pub fn exact_f16(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let magnitude = bits & 0x7fff_ffff;
    // The last bit of 1/2 is worth what the last of a subnormal is.
    let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits() - 0.5f32.to_bits();
    let normal = magnitude.wrapping_sub(112 << 23) >> 13;
    let special = 0x7c00 | magnitude >> 13 & 0x3ff | u32::from(magnitude > 0x7f80_0000) << 9;
    let size = if magnitude < 113 << 23 {
        subnormal
    } else if magnitude < 0x7f80_0000 {
        normal
    } else {
        special
    };
    sign | size as u16
}

/// bfloat16 bits to f32, exact.
#[inline(always)]
pub fn bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// The binary16 at byte `AT` of a block.
#[inline(always)]
pub(super) fn f16_at<const AT: usize, const N: usize>(block: &[u8; N]) -> f32 {
    const { assert!(AT + 2 <= N) };
    f16_to_f32(u16::from_le_bytes([block[AT], block[AT + 1]]))
}

/// `LEN` bytes of a block from byte `AT` on.
#[inline(always)]
pub(super) fn bytes_at<const AT: usize, const LEN: usize, const N: usize>(
    block: &[u8; N],
) -> &[u8; LEN] {
    const { assert!(AT + LEN <= N) };
    // The bounds are checked at compile time; the conversion cannot fail.
    match block.split_at(AT).1.first_chunk::<LEN>() {
        Some(bytes) => bytes,
        None => &[0; LEN],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_is_exact() {
        for bits in 0..=u16::MAX {
            let expected = half::f16::from_bits(bits).to_f32();
            let value = f16_to_f32(bits);
            if expected.is_nan() {
                assert!(value.is_nan());
            } else {
                assert_eq!(value.to_bits(), expected.to_bits(), "{bits:#06x}");
            }
            assert_eq!(exact_f16(value), half::f16::from_f32(value).to_bits());
            let expected = half::bf16::from_bits(bits).to_f32();
            let value = bf16_to_f32(bits);
            assert!(value.to_bits() == expected.to_bits() || expected.is_nan());
        }
    }
}
