//! GGUF IQ1_S: 256 weights in 50 bytes, `w = d·(2s + 1)·(v ± 1/8)`, groups of 32.
//!
//! `d` f16, 32 bytes of entries (eight weights each), then for each group 16 bits: three high bits of
//! four entries, the 3-bit scale `s` and whether values are moved down.

use super::Grid;
use super::RowGroups;
use super::grid::{self, Parts};
use super::scalar::{bytes_at, f16_at};

/// Weights a block.
pub(super) const WEIGHTS: usize = grid::WEIGHTS;
/// Bytes a block.
pub(super) const BYTES: usize = 50;
/// Weights that share a factor of `d`.
pub(super) const GROUP: usize = 32;

fn take(block: &[u8; BYTES]) -> Parts {
    let mut parts = Parts {
        d: f16_at::<0, _>(block),
        ..Parts::default()
    };
    let low = bytes_at::<2, 32, _>(block);
    for (g, word) in bytes_at::<34, 16, _>(block)
        .as_chunks::<2>()
        .0
        .iter()
        .enumerate()
    {
        let word = u16::from_le_bytes(*word);
        for i in 0..4 {
            parts.indices[4 * g + i] = u16::from(low[4 * g + i]) | (word >> (3 * i) & 7) << 8;
            parts.signs[4 * g + i] = if word >> 15 != 0 { 0xff } else { 0 };
        }
        parts.subs[g] = 2 * (word >> 12 & 7) as i8 + 1;
    }
    parts
}

/// One row, bit-exact.
pub(super) fn dequantize(row: &[u8], out: &mut [f32]) {
    grid::dequantize(Grid::Iq1, GROUP, take, row, out);
}

/// One row in its group form.
pub(super) fn read_groups(row: &[u8], out: &mut RowGroups) {
    grid::read_groups(Grid::Iq1, GROUP, take, row, out);
}
