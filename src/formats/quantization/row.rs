//! The two ways to read one row of a weight, for every format.

use super::{Format, RowGroups};
use super::{affine, dense, q2_k, q3_k, q4_0, q4_1, q4_k, q5_0, q5_1, q5_k, q6_k, q8_0};

/// Dequantizes a row in f32. `data` (and `scales`, `biases` for affine) are exactly the row's
/// bytes; `out` is exactly its weights.
pub(in crate::formats) fn dequantize(
    format: Format,
    data: &[u8],
    scales: &[u8],
    biases: &[u8],
    out: &mut [f32],
) {
    match format {
        Format::Dense(scalar) => dense::dequantize(scalar, data, out),
        Format::Affine { bits, group, scale } => {
            affine::dequantize(bits, group.into(), scale, data, scales, biases, out)
        }
        Format::Q4_0 => q4_0::dequantize(data, out),
        Format::Q4_1 => q4_1::dequantize(data, out),
        Format::Q5_0 => q5_0::dequantize(data, out),
        Format::Q5_1 => q5_1::dequantize(data, out),
        Format::Q8_0 => q8_0::dequantize(data, out),
        Format::Q2K => q2_k::dequantize(data, out),
        Format::Q3K => q3_k::dequantize(data, out),
        Format::Q4K => q4_k::dequantize(data, out),
        Format::Q5K => q5_k::dequantize(data, out),
        Format::Q6K => q6_k::dequantize(data, out),
    }
}

/// Takes a row apart; `false` for dense formats, which have no groups.
pub(in crate::formats) fn read_groups(
    format: Format,
    data: &[u8],
    scales: &[u8],
    biases: &[u8],
    out: &mut RowGroups,
) -> bool {
    match format {
        Format::Dense(_) => return false,
        Format::Affine { bits, group, scale } => {
            affine::read_groups(bits, group.into(), scale, data, scales, biases, out)
        }
        Format::Q4_0 => q4_0::read_groups(data, out),
        Format::Q4_1 => q4_1::read_groups(data, out),
        Format::Q5_0 => q5_0::read_groups(data, out),
        Format::Q5_1 => q5_1::read_groups(data, out),
        Format::Q8_0 => q8_0::read_groups(data, out),
        Format::Q2K => q2_k::read_groups(data, out),
        Format::Q3K => q3_k::read_groups(data, out),
        Format::Q4K => q4_k::read_groups(data, out),
        Format::Q5K => q5_k::read_groups(data, out),
        Format::Q6K => q6_k::read_groups(data, out),
    }
    true
}
