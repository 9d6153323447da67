//! GGUF Q8_1: 32 weights in 36 bytes, `w = d·q`, `q` signed.
//!
//! `d` f16, a sum that only products use (f16), 32 codes.

use super::RowGroups;
use super::scalar::{bytes_at, f16_at};

/// Weights a block.
pub(super) const WEIGHTS: usize = 32;
/// Bytes a block.
pub(super) const BYTES: usize = 36;

/// Codes, unsigned.
fn unpack(block: &[u8; BYTES]) -> [u8; WEIGHTS] {
    bytes_at::<4, 32, _>(block).map(|code| code ^ 0x80)
}

/// One row, bit-exact.
pub(super) fn dequantize(row: &[u8], out: &mut [f32]) {
    let blocks = row.as_chunks::<BYTES>().0;
    for (block, out) in blocks.iter().zip(out.as_chunks_mut::<WEIGHTS>().0) {
        let d = f16_at::<0, _>(block);
        *out = unpack(block).map(|code| d * (i32::from(code) - 128) as f32);
    }
}

/// One row in its group form.
pub(super) fn read_groups(row: &[u8], out: &mut RowGroups) {
    let blocks = row.as_chunks::<BYTES>().0;
    out.resize(blocks.len() * WEIGHTS, blocks.len(), 0);
    let codes = out.codes.as_chunks_mut::<WEIGHTS>().0;
    for ((block, codes), scale) in blocks.iter().zip(codes).zip(&mut out.scales) {
        *codes = unpack(block);
        *scale = f16_at::<0, _>(block);
    }
}
