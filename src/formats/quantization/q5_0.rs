//! GGUF Q5_0: 32 weights in 22 bytes, `w = d·(q − 16)`.
//!
//! `d` f16, 32 fifth bits (weight i at bit i), then 16 bytes: low nibbles are weights 0–15, high
//! nibbles 16–31.

use super::RowGroups;
use super::scalar::{bytes_at, f16_at};
use super::spread::spread;

/// Weights a block.
pub(super) const WEIGHTS: usize = 32;
/// Bytes a block.
pub(super) const BYTES: usize = 22;

/// 32 codes of four bits with their fifth ones.
#[inline(always)]
pub(super) fn with_fifth(packed: &[u8; 16], fifth: &[u8; 4]) -> [u8; WEIGHTS] {
    let mut codes = [0; WEIGHTS];
    for (i, byte) in packed.iter().enumerate() {
        codes[i] = byte & 15;
        codes[i + 16] = byte >> 4;
    }
    for (codes, bits) in codes.as_chunks_mut::<8>().0.iter_mut().zip(fifth) {
        let high = spread::<1>(u64::from(*bits)) << 4;
        *codes = (u64::from_le_bytes(*codes) | high).to_le_bytes();
    }
    codes
}

#[inline(always)]
fn unpack(block: &[u8; BYTES]) -> [u8; WEIGHTS] {
    with_fifth(bytes_at::<6, 16, _>(block), bytes_at::<2, 4, _>(block))
}

/// One row, bit-exact.
pub(super) fn dequantize(row: &[u8], out: &mut [f32]) {
    let blocks = row.as_chunks::<BYTES>().0;
    for (block, out) in blocks.iter().zip(out.as_chunks_mut::<WEIGHTS>().0) {
        let d = f16_at::<0, _>(block);
        for (out, code) in out.iter_mut().zip(unpack(block)) {
            *out = d * (i32::from(code) - 16) as f32;
        }
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
