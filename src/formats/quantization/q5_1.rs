//! GGUF Q5_1: 32 weights in 24 bytes, `w = d·q + m`.
//!
//! `d` f16, `m` f16, 32 fifth bits (weight i at bit i), then 16 bytes: low nibbles are weights
//! 0–15, high nibbles 16–31.

use super::RowGroups;
use super::q5_0::with_fifth;
use super::scalar::{bytes_at, f16_at};

/// Weights a block.
pub(super) const WEIGHTS: usize = 32;
/// Bytes a block.
pub(super) const BYTES: usize = 24;

#[inline(always)]
fn unpack(block: &[u8; BYTES]) -> [u8; WEIGHTS] {
    with_fifth(bytes_at::<8, 16, _>(block), bytes_at::<4, 4, _>(block))
}

/// One row, bit-exact.
pub(super) fn dequantize(row: &[u8], out: &mut [f32]) {
    let blocks = row.as_chunks::<BYTES>().0;
    for (block, out) in blocks.iter().zip(out.as_chunks_mut::<WEIGHTS>().0) {
        let (d, m) = (f16_at::<0, _>(block), f16_at::<2, _>(block));
        for (out, code) in out.iter_mut().zip(unpack(block)) {
            *out = d * f32::from(code) + m;
        }
    }
}

/// One row in its group form.
pub(super) fn read_groups(row: &[u8], out: &mut RowGroups) {
    let blocks = row.as_chunks::<BYTES>().0;
    out.resize(blocks.len() * WEIGHTS, blocks.len(), blocks.len());
    let scales = out.scales.iter_mut().zip(&mut out.biases);
    let codes = out.codes.as_chunks_mut::<WEIGHTS>().0;
    for ((block, codes), (scale, bias)) in blocks.iter().zip(codes).zip(scales) {
        *codes = unpack(block);
        *scale = f16_at::<0, _>(block);
        *bias = f16_at::<2, _>(block);
    }
}
