//! The two ways to read one row of a weight, for every format.

use super::blocks8::{self, Blocks};
use super::floats::{MXFP4, MXFP8, NVFP4};
use super::transposed::Layout;
use super::{Format, RowGroups};
use super::{affine, dense, gguf_mxfp4, gguf_nvfp4, q2_k, q3_k, q4_0, q4_1, q4_k, q5_0};
use super::{iq1_m, iq1_s, iq2_s, iq2_xs, iq2_xxs, iq3_s, iq3_xxs, iq4_nl, iq4_xs};
use super::{q5_1, q5_k, q6_k, q8_0, q8_1, tq1_0, tq2_0};

/// The bytes of a matrix and its shape.
#[derive(Clone, Copy)]
pub(in crate::formats) struct Parts<'a> {
    pub(in crate::formats) rows: usize,
    pub(in crate::formats) cols: usize,
    pub(in crate::formats) data: &'a [u8],
    /// Empty where the format has none.
    pub(in crate::formats) scales: &'a [u8],
    /// Biases or zero points; empty where the format has none.
    pub(in crate::formats) biases: &'a [u8],
}

/// Bytes of data, scales and biases (or zero points) of a matrix; `None` when the format is not valid,
/// the shape does not fit it, or a product overflows.
pub(in crate::formats) fn sizes(format: Format, rows: usize, cols: usize) -> Option<[usize; 3]> {
    let data = rows.checked_mul(format.row_bytes(cols)?)?;
    let of = |group: u16, bytes: usize| {
        rows.checked_mul(cols / usize::from(group))?
            .checked_mul(bytes)
    };
    let packed = rows.is_multiple_of(8).then_some(());
    let (scales, biases) = match format {
        Format::Affine { group, scale, .. } => {
            (of(group, scale.bytes())?, of(group, scale.bytes())?)
        }
        Format::Mxfp4 | Format::Mxfp8 => (of(32, 1)?, 0),
        Format::Nvfp4 => (of(16, 1)?, 0),
        Format::Centered { group, scale, .. } => (of(group, scale.bytes())?, 0),
        Format::Gptq { group, .. } | Format::Awq { group } => {
            packed?;
            (of(group, 2)?, of(group, 1)? / 2)
        }
        Format::Float8 {
            rows: r,
            cols: c,
            scale,
        } => {
            let (r, c) = (usize::try_from(r).ok()?, usize::try_from(c).ok()?);
            let blocks = rows.div_ceil(r).checked_mul(cols.div_ceil(c))?;
            (blocks.checked_mul(scale.bytes())?, 0)
        }
        _ => (0, 0),
    };
    Some([data, scales, biases])
}

/// Row `row` of a part that holds `rows` rows of equal length.
fn row_of(bytes: &[u8], row: usize, rows: usize) -> Option<&[u8]> {
    let len = bytes.len() / rows;
    bytes.get(row * len..(row + 1) * len)
}

/// The bytes of one row of a format whose rows lie one after the other.
pub(in crate::formats) fn parts_of<'a>(
    matrix: &Parts<'a>,
    row: usize,
) -> Option<(&'a [u8], &'a [u8], &'a [u8])> {
    let Parts {
        rows,
        data,
        scales,
        biases,
        ..
    } = *matrix;
    Some((
        row_of(data, row, rows)?,
        row_of(scales, row, rows)?,
        row_of(biases, row, rows)?,
    ))
}

fn blocks(rows: u32, cols: u32, scale: super::ScalarType) -> Option<Blocks> {
    Some(Blocks {
        rows: usize::try_from(rows).ok()?,
        cols: usize::try_from(cols).ok()?,
        scale,
    })
}

/// Dequantizes a row in f32; `out` is exactly its weights. `None` when the parts are not those of
/// [`sizes`] (then `out` is unspecified).
pub(in crate::formats) fn dequantize(
    format: Format,
    matrix: &Parts<'_>,
    row: usize,
    out: &mut [f32],
) -> Option<()> {
    match format {
        Format::Gptq { group, plus } => {
            return Layout::Gptq(plus).dequantize(group.into(), matrix, row, out);
        }
        Format::Awq { group } => return Layout::Awq.dequantize(group.into(), matrix, row, out),
        Format::Float8 { rows, cols, scale } => {
            return blocks8::dequantize(blocks(rows, cols, scale)?, matrix, row, out);
        }
        _ => {}
    }
    let (data, scales, biases) = parts_of(matrix, row)?;
    match format {
        Format::Dense(scalar) => dense::dequantize(scalar, data, out),
        Format::Affine { bits, group, scale } => {
            affine::dequantize(bits, group.into(), scale, data, scales, biases, out)
        }
        Format::Centered { bits, group, scale } => {
            affine::dequantize_centered(bits, group.into(), scale, data, scales, out)
        }
        Format::Mxfp4 => MXFP4.dequantize(data, scales, out),
        Format::Mxfp8 => MXFP8.dequantize(data, scales, out),
        Format::Nvfp4 => NVFP4.dequantize(data, scales, out),
        Format::Q4_0 => q4_0::dequantize(data, out),
        Format::Q4_1 => q4_1::dequantize(data, out),
        Format::Q5_0 => q5_0::dequantize(data, out),
        Format::Q5_1 => q5_1::dequantize(data, out),
        Format::Q8_0 => q8_0::dequantize(data, out),
        Format::Q8_1 => q8_1::dequantize(data, out),
        Format::Q2K => q2_k::dequantize(data, out),
        Format::Q3K => q3_k::dequantize(data, out),
        Format::Q4K => q4_k::dequantize(data, out),
        Format::Q5K => q5_k::dequantize(data, out),
        Format::Q6K => q6_k::dequantize(data, out),
        Format::Iq1S => iq1_s::dequantize(data, out),
        Format::Iq1M => iq1_m::dequantize(data, out),
        Format::Iq2Xxs => iq2_xxs::dequantize(data, out),
        Format::Iq2Xs => iq2_xs::dequantize(data, out),
        Format::Iq2S => iq2_s::dequantize(data, out),
        Format::Iq3Xxs => iq3_xxs::dequantize(data, out),
        Format::Iq3S => iq3_s::dequantize(data, out),
        Format::Iq4Nl => iq4_nl::dequantize(data, out),
        Format::Iq4Xs => iq4_xs::dequantize(data, out),
        Format::Tq1_0 => tq1_0::dequantize(data, out),
        Format::Tq2_0 => tq2_0::dequantize(data, out),
        Format::GgufMxfp4 => gguf_mxfp4::dequantize(data, out),
        Format::GgufNvfp4 => gguf_nvfp4::dequantize(data, out),
        Format::Gptq { .. } | Format::Awq { .. } | Format::Float8 { .. } => return None,
    }
    Some(())
}

/// The scales of a row of 8-bit floats, one for every `group` columns. `None` for other formats and when the
/// parts are too short.
pub(in crate::formats) fn block_scales(
    format: Format,
    matrix: &Parts<'_>,
    row: usize,
    group: usize,
    out: &mut Vec<f32>,
) -> Option<()> {
    let Format::Float8 { rows, cols, scale } = format else {
        return None;
    };
    blocks8::scales(blocks(rows, cols, scale)?, matrix, row, group, out)
}

/// What came of taking a row apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::formats) enum Taken {
    Done,
    /// Dense formats have no groups.
    NoGroups,
    /// An 8-bit float is not finite; the kernels count on finite ones.
    NotFinite,
}

/// Takes a row apart. `None` when the parts are not those of [`sizes`].
pub(in crate::formats) fn read_groups(
    format: Format,
    matrix: &Parts<'_>,
    row: usize,
    out: &mut RowGroups,
) -> Option<Taken> {
    let finite = |finite| {
        if finite {
            Taken::Done
        } else {
            Taken::NotFinite
        }
    };
    match format {
        Format::Gptq { group, plus } => {
            Layout::Gptq(plus).read_groups(group.into(), matrix, row, out)?;
            return Some(Taken::Done);
        }
        Format::Awq { group } => {
            Layout::Awq.read_groups(group.into(), matrix, row, out)?;
            return Some(Taken::Done);
        }
        Format::Float8 { rows, cols, scale } => {
            return blocks8::read_groups(blocks(rows, cols, scale)?, matrix, row, out).map(finite);
        }
        _ => {}
    }
    let (data, scales, biases) = parts_of(matrix, row)?;
    match format {
        Format::Dense(_) => return Some(Taken::NoGroups),
        Format::Affine { bits, group, scale } => {
            affine::read_groups(bits, group.into(), scale, data, scales, biases, out)
        }
        Format::Centered { bits, group, scale } => {
            affine::read_groups(bits, group.into(), scale, data, scales, &[], out)
        }
        Format::Mxfp4 => return Some(finite(MXFP4.read_groups(data, scales, out))),
        Format::Mxfp8 => return Some(finite(MXFP8.read_groups(data, scales, out))),
        Format::Nvfp4 => return Some(finite(NVFP4.read_groups(data, scales, out))),
        Format::Q4_0 => q4_0::read_groups(data, out),
        Format::Q4_1 => q4_1::read_groups(data, out),
        Format::Q5_0 => q5_0::read_groups(data, out),
        Format::Q5_1 => q5_1::read_groups(data, out),
        Format::Q8_0 => q8_0::read_groups(data, out),
        Format::Q8_1 => q8_1::read_groups(data, out),
        Format::Q2K => q2_k::read_groups(data, out),
        Format::Q3K => q3_k::read_groups(data, out),
        Format::Q4K => q4_k::read_groups(data, out),
        Format::Q5K => q5_k::read_groups(data, out),
        Format::Q6K => q6_k::read_groups(data, out),
        Format::Iq1S => iq1_s::read_groups(data, out),
        Format::Iq1M => iq1_m::read_groups(data, out),
        Format::Iq2Xxs => iq2_xxs::read_groups(data, out),
        Format::Iq2Xs => iq2_xs::read_groups(data, out),
        Format::Iq2S => iq2_s::read_groups(data, out),
        Format::Iq3Xxs => iq3_xxs::read_groups(data, out),
        Format::Iq3S => iq3_s::read_groups(data, out),
        Format::Iq4Nl => iq4_nl::read_groups(data, out),
        Format::Iq4Xs => iq4_xs::read_groups(data, out),
        Format::Tq1_0 => tq1_0::read_groups(data, out),
        Format::Tq2_0 => tq2_0::read_groups(data, out),
        Format::GgufMxfp4 => {
            gguf_mxfp4::read_groups(data, out);
            return Some(finite(out.scales.iter().all(|scale| scale.is_finite())));
        }
        Format::GgufNvfp4 => gguf_nvfp4::read_groups(data, out),
        Format::Gptq { .. } | Format::Awq { .. } | Format::Float8 { .. } => return None,
    }
    Some(Taken::Done)
}
