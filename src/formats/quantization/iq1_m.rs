//! GGUF IQ1_M: 256 weights in 56 bytes, `w = d·(2s + 1)·(v ± 1/8)`, groups of 16.
//!
//! 32 bytes of entries (eight weights each), 16 bytes with a nibble for each entry (three high bits and
//! whether its values are moved down), four times 16 bits: four 3-bit scales `s` and, highest, four bits
//! of `d`, an f16.

use super::Grid;
use super::RowGroups;
use super::grid::{self, Parts};
use super::scalar::{bytes_at, f16_to_f32};

/// Weights a block.
pub(super) const WEIGHTS: usize = grid::WEIGHTS;
/// Bytes a block.
pub(super) const BYTES: usize = 56;
/// Weights that share a factor of `d`.
pub(super) const GROUP: usize = 16;

fn take(block: &[u8; BYTES]) -> Parts {
    let words = bytes_at::<48, 8, _>(block);
    let word = |i: usize| u16::from_le_bytes([words[2 * i], words[2 * i + 1]]);
    let d = (0..4).fold(0, |d, i| d | (word(i) >> 12) << (4 * i));
    let mut parts = Parts {
        d: f16_to_f32(d),
        ..Parts::default()
    };
    let high = bytes_at::<32, 16, _>(block);
    for (i, low) in bytes_at::<0, 32, _>(block).iter().enumerate() {
        let nibble = high[i / 2] >> (4 * (i % 2)) & 15;
        parts.indices[i] = u16::from(*low) | u16::from(nibble & 7) << 8;
        parts.signs[i] = if nibble & 8 != 0 { 0xff } else { 0 };
    }
    for (g, sub) in parts.subs.iter_mut().enumerate() {
        *sub = 2 * (word(g / 4) >> (3 * (g % 4)) & 7) as i8 + 1;
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
