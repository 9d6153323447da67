//! GGUF IQ2_S: 256 weights in 82 bytes, `w = d·(2s + 1)/8·v`, groups of 16.
//!
//! `d` f16, 32 bytes of entries (eight weights each), 32 bytes of signs, 8 bytes with two high bits of
//! four entries each, 8 bytes of 4-bit scales `s`, the low nibble first.

use super::Grid;
use super::RowGroups;
use super::grid::{self, Parts};
use super::scalar::{bytes_at, f16_at};

/// Weights a block.
pub(super) const WEIGHTS: usize = grid::WEIGHTS;
/// Bytes a block.
pub(super) const BYTES: usize = 82;
/// Weights that share a factor of `d`.
pub(super) const GROUP: usize = 16;

fn take(block: &[u8; BYTES]) -> Parts {
    let mut parts = Parts {
        d: f16_at::<0, _>(block),
        signs: *bytes_at::<34, 32, _>(block),
        ..Parts::default()
    };
    let high = bytes_at::<66, 8, _>(block);
    for (i, low) in bytes_at::<2, 32, _>(block).iter().enumerate() {
        parts.indices[i] = u16::from(*low) | u16::from(high[i / 4] >> (2 * (i % 4)) & 3) << 8;
    }
    for (i, byte) in bytes_at::<74, 8, _>(block).iter().enumerate() {
        parts.subs[2 * i] = 2 * (byte & 15) as i8 + 1;
        parts.subs[2 * i + 1] = 2 * (byte >> 4) as i8 + 1;
    }
    parts
}

/// One row, bit-exact.
pub(super) fn dequantize(row: &[u8], out: &mut [f32]) {
    grid::dequantize(Grid::Iq2S, GROUP, take, row, out);
}

/// One row in its group form.
pub(super) fn read_groups(row: &[u8], out: &mut RowGroups) {
    grid::read_groups(Grid::Iq2S, GROUP, take, row, out);
}
