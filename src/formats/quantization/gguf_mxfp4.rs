//! GGUF MXFP4: 32 weights in 17 bytes, `w = 2^(e − 128)·v`, `v` twice a 4-bit float.
//!
//! The exponent `e`, 16 bytes of codes: the nibbles of byte `j` are weights `j` (low) and `j + 16` (high).

use super::RowGroups;
use super::Table;
use super::iq4_nl::unpack;
use super::scalar::bytes_at;
use super::values::e8m0;

/// Weights a block.
pub(super) const WEIGHTS: usize = 32;
/// Bytes a block.
pub(super) const BYTES: usize = 17;

/// `2^(e − 128)`.
fn half_scale(exponent: u8) -> f32 {
    match exponent {
        0 => f32::from_bits(1 << 21),
        exponent => e8m0(exponent - 1),
    }
}

/// One row, bit-exact.
pub(super) fn dequantize(row: &[u8], out: &mut [f32]) {
    let values = Table::E2M1.integers();
    let blocks = row.as_chunks::<BYTES>().0;
    for (block, out) in blocks.iter().zip(out.as_chunks_mut::<WEIGHTS>().0) {
        let d = half_scale(block[0]);
        *out = unpack(bytes_at::<1, 16, _>(block))
            .map(|code| d * f32::from(values[usize::from(code)]));
    }
}

/// One row in its group form.
pub(super) fn read_groups(row: &[u8], out: &mut RowGroups) {
    let blocks = row.as_chunks::<BYTES>().0;
    out.resize(blocks.len() * WEIGHTS, blocks.len(), 0);
    out.points.resize(blocks.len(), 0);
    let parts = (out.codes.as_chunks_mut::<WEIGHTS>().0.iter_mut())
        .zip(&mut out.scales)
        .zip(&mut out.points);
    for (block, ((codes, scale), point)) in blocks.iter().zip(parts) {
        *codes = unpack(bytes_at::<1, 16, _>(block));
        *point = block[0];
        *scale = e8m0(block[0]);
    }
}
