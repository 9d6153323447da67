//! GGUF IQ2_XXS: 256 weights in 66 bytes, `w = d·(2s + 1)/8·v`, groups of 32.
//!
//! `d` f16, then for each group four bytes of entries (eight weights each) and 32 bits: four times
//! seven signs and, highest, the 4-bit scale `s`.

use super::Grid;
use super::RowGroups;
use super::grid::{self, Parts, even_signs};
use super::scalar::{bytes_at, f16_at};

/// Weights a block.
pub(super) const WEIGHTS: usize = grid::WEIGHTS;
/// Bytes a block.
pub(super) const BYTES: usize = 66;
/// Weights that share a factor of `d`.
pub(super) const GROUP: usize = 32;

fn take(block: &[u8; BYTES]) -> Parts {
    let mut parts = Parts {
        d: f16_at::<0, _>(block),
        ..Parts::default()
    };
    for (g, group) in bytes_at::<2, 64, _>(block)
        .as_chunks::<8>()
        .0
        .iter()
        .enumerate()
    {
        let [e0, e1, e2, e3, word @ ..] = *group;
        let word = u32::from_le_bytes(word);
        for (i, entry) in [e0, e1, e2, e3].into_iter().enumerate() {
            parts.indices[4 * g + i] = entry.into();
            parts.signs[4 * g + i] = even_signs((word >> (7 * i)) as u8);
        }
        parts.subs[g] = 2 * (word >> 28) as i8 + 1;
    }
    parts
}

/// One row, bit-exact.
pub(super) fn dequantize(row: &[u8], out: &mut [f32]) {
    grid::dequantize(Grid::Iq2Xxs, GROUP, take, row, out);
}

/// One row in its group form.
pub(super) fn read_groups(row: &[u8], out: &mut RowGroups) {
    grid::read_groups(Grid::Iq2Xxs, GROUP, take, row, out);
}
