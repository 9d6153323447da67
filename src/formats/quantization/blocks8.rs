//! 8-bit floats (E4M3) with one scale for each block of rows and columns, as Hugging Face folders have
//! them: `w = scale·v` in f32.
//!
//! Scales are `[⌈rows / block rows⌉, ⌈cols / block columns⌉]`.

use super::format::float8_group;
use super::row::Parts;
use super::values::e4m3;
use super::{RowGroups, ScalarType, dense, floats};

/// Rows, columns and type of the blocks' scales.
#[derive(Clone, Copy)]
pub(super) struct Blocks {
    pub(super) rows: usize,
    pub(super) cols: usize,
    pub(super) scale: ScalarType,
}

/// The codes and the scales (one a block) of a row.
fn parts<'a>(blocks: Blocks, matrix: &Parts<'a>, row: usize) -> Option<(&'a [u8], &'a [u8])> {
    let codes = matrix
        .data
        .get(row * matrix.cols..(row + 1) * matrix.cols)?;
    let len = matrix.cols.div_ceil(blocks.cols) * blocks.scale.bytes();
    let at = row / blocks.rows * len;
    Some((codes, matrix.scales.get(at..at + len)?))
}

/// One row; `None` when the parts are too short.
pub(super) fn dequantize(
    blocks: Blocks,
    matrix: &Parts<'_>,
    row: usize,
    out: &mut [f32],
) -> Option<()> {
    let (codes, scales) = parts(blocks, matrix, row)?;
    let scales = scales.chunks_exact(blocks.scale.bytes());
    let columns = codes.chunks(blocks.cols).zip(scales);
    for (out, (codes, scale)) in out.chunks_mut(blocks.cols).zip(columns) {
        let mut value = [0.0];
        dense::dequantize(blocks.scale, scale, &mut value);
        for (out, code) in out.iter_mut().zip(codes) {
            *out = value[0] * e4m3(*code);
        }
    }
    Some(())
}

/// One row in its group form: `Some(false)` where a weight is no finite number, `None` when the parts
/// are too short.
pub(super) fn read_groups(
    blocks: Blocks,
    matrix: &Parts<'_>,
    row: usize,
    out: &mut RowGroups,
) -> Option<bool> {
    let (codes, _) = parts(blocks, matrix, row)?;
    let group = float8_group(u32::try_from(blocks.cols).ok()?);
    out.resize(matrix.cols, 0, 0);
    out.codes.copy_from_slice(codes);
    scales(blocks, matrix, row, group, &mut out.scales)?;
    let finite = out.scales.iter().all(|scale| scale.is_finite());
    Some(finite && !floats::holds_nan(codes))
}

/// The scales of a row, one for every `group` columns of a block; `None` when the parts are too short.
pub(super) fn scales(
    blocks: Blocks,
    matrix: &Parts<'_>,
    row: usize,
    group: usize,
    out: &mut Vec<f32>,
) -> Option<()> {
    let (_, bytes) = parts(blocks, matrix, row)?;
    let mut values = vec![0.0; matrix.cols.div_ceil(blocks.cols)];
    dense::dequantize(blocks.scale, bytes, &mut values);
    out.clear();
    for g in 0..matrix.cols.div_ceil(group) {
        out.push(*values.get(g * group / blocks.cols)?);
    }
    Some(())
}
