//! Unquantized values: F32, F16, BF16, little-endian.

use super::ScalarType;
use super::scalar::{bf16_to_f32, f16_to_f32};

/// Converts `values` (exactly `out.len()` numbers of type `scalar`) to f32.
pub(super) fn dequantize(scalar: ScalarType, values: &[u8], out: &mut [f32]) {
    match scalar {
        ScalarType::F32 => {
            for (out, bytes) in out.iter_mut().zip(values.as_chunks::<4>().0) {
                *out = f32::from_le_bytes(*bytes);
            }
        }
        ScalarType::F16 => {
            for (out, bytes) in out.iter_mut().zip(values.as_chunks::<2>().0) {
                *out = f16_to_f32(u16::from_le_bytes(*bytes));
            }
        }
        ScalarType::BF16 => {
            for (out, bytes) in out.iter_mut().zip(values.as_chunks::<2>().0) {
                *out = bf16_to_f32(u16::from_le_bytes(*bytes));
            }
        }
    }
}
