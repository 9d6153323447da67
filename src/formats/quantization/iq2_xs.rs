//! GGUF IQ2_XS: 256 weights in 74 bytes, `w = d·(2s + 1)/8·v`, groups of 16.
//!
//! `d` f16, 32 times 16 bits (for eight weights: 9 of the entry, 7 signs), 8 bytes of 4-bit scales `s`,
//! the low nibble first.

use super::Grid;
use super::RowGroups;
use super::grid::{self, Parts, even_signs};
use super::scalar::{bytes_at, f16_at};

/// Weights a block.
pub(super) const WEIGHTS: usize = grid::WEIGHTS;
/// Bytes a block.
pub(super) const BYTES: usize = 74;
/// Weights that share a factor of `d`.
pub(super) const GROUP: usize = 16;

fn take(block: &[u8; BYTES]) -> Parts {
    let mut parts = Parts {
        d: f16_at::<0, _>(block),
        ..Parts::default()
    };
    for (i, word) in bytes_at::<2, 64, _>(block)
        .as_chunks::<2>()
        .0
        .iter()
        .enumerate()
    {
        let word = u16::from_le_bytes(*word);
        parts.indices[i] = word & 511;
        parts.signs[i] = even_signs((word >> 9) as u8);
    }
    for (i, byte) in bytes_at::<66, 8, _>(block).iter().enumerate() {
        parts.subs[2 * i] = 2 * (byte & 15) as i8 + 1;
        parts.subs[2 * i + 1] = 2 * (byte >> 4) as i8 + 1;
    }
    parts
}

/// One row, bit-exact.
pub(super) fn dequantize(row: &[u8], out: &mut [f32]) {
    grid::dequantize(Grid::Iq2Xs, GROUP, take, row, out);
}

/// One row in its group form.
pub(super) fn read_groups(row: &[u8], out: &mut RowGroups) {
    grid::read_groups(Grid::Iq2Xs, GROUP, take, row, out);
}
