//! GGUF IQ4_NL: 32 weights in 18 bytes, `w = d·v`, `v` one of 16 values.
//!
//! `d` f16, 16 bytes of codes: the nibbles of byte `j` are weights `j` (low) and `j + 16` (high).

use super::RowGroups;
use super::Table;
use super::scalar::{bytes_at, f16_at};

/// Weights a block.
pub(super) const WEIGHTS: usize = 32;
/// Bytes a block.
pub(super) const BYTES: usize = 18;

#[inline(always)]
pub(super) fn unpack(packed: &[u8; 16]) -> [u8; WEIGHTS] {
    let mut codes = [0; WEIGHTS];
    for (j, byte) in packed.iter().enumerate() {
        codes[j] = byte & 15;
        codes[j + 16] = byte >> 4;
    }
    codes
}

/// One row, bit-exact.
pub(super) fn dequantize(row: &[u8], out: &mut [f32]) {
    let values = Table::Iq4.integers();
    let blocks = row.as_chunks::<BYTES>().0;
    for (block, out) in blocks.iter().zip(out.as_chunks_mut::<WEIGHTS>().0) {
        let d = f16_at::<0, _>(block);
        *out = unpack(bytes_at::<2, 16, _>(block))
            .map(|code| d * f32::from(values[usize::from(code)]));
    }
}

/// One row in its group form.
pub(super) fn read_groups(row: &[u8], out: &mut RowGroups) {
    let blocks = row.as_chunks::<BYTES>().0;
    out.resize(blocks.len() * WEIGHTS, blocks.len(), 0);
    let codes = out.codes.as_chunks_mut::<WEIGHTS>().0;
    for ((block, codes), scale) in blocks.iter().zip(codes).zip(&mut out.scales) {
        *codes = unpack(bytes_at::<2, 16, _>(block));
        *scale = f16_at::<0, _>(block);
    }
}
