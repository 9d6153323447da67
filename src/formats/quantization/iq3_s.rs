//! GGUF IQ3_S: 256 weights in 110 bytes, `w = d·(2s + 1)·v`, groups of 32.
//!
//! `d` f16, 64 bytes of entries (four weights each), 8 bytes with a high bit of eight entries each,
//! 32 bytes of signs, 4 bytes of 4-bit scales `s`, the low nibble first.

use super::Grid;
use super::RowGroups;
use super::grid::{self, Parts};
use super::scalar::{bytes_at, f16_at};

/// Weights a block.
pub(super) const WEIGHTS: usize = grid::WEIGHTS;
/// Bytes a block.
pub(super) const BYTES: usize = 110;
/// Weights that share a factor of `d`.
pub(super) const GROUP: usize = 32;

fn take(block: &[u8; BYTES]) -> Parts {
    let mut parts = Parts {
        d: f16_at::<0, _>(block),
        signs: *bytes_at::<74, 32, _>(block),
        ..Parts::default()
    };
    let high = bytes_at::<66, 8, _>(block);
    for (i, low) in bytes_at::<2, 64, _>(block).iter().enumerate() {
        parts.indices[i] = u16::from(*low) | u16::from(high[i / 8] >> (i % 8) & 1) << 8;
    }
    for (i, byte) in bytes_at::<106, 4, _>(block).iter().enumerate() {
        parts.subs[2 * i] = 2 * (byte & 15) as i8 + 1;
        parts.subs[2 * i + 1] = 2 * (byte >> 4) as i8 + 1;
    }
    parts
}

/// One row, bit-exact.
pub(super) fn dequantize(row: &[u8], out: &mut [f32]) {
    grid::dequantize(Grid::Iq3S, GROUP, take, row, out);
}

/// One row in its group form.
pub(super) fn read_groups(row: &[u8], out: &mut RowGroups) {
    grid::read_groups(Grid::Iq3S, GROUP, take, row, out);
}
