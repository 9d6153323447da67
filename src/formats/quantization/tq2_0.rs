//! GGUF TQ2_0: 256 weights in 66 bytes, `w = d·(q − 1)`.
//!
//! 64 bytes of codes, `d` f16. The four 2-bit fields of byte `32·h + l` are weights `128·h + l`, `+ 32`,
//! `+ 64`, `+ 96`.

use super::RowGroups;
use super::scalar::{bytes_at, f16_at};

/// Weights a block.
pub(super) const WEIGHTS: usize = 256;
/// Bytes a block.
pub(super) const BYTES: usize = 66;

fn unpack(block: &[u8; BYTES]) -> [u8; WEIGHTS] {
    let mut codes = [0; WEIGHTS];
    let packed = bytes_at::<0, 64, _>(block).as_chunks::<32>().0;
    for (codes, packed) in codes.as_chunks_mut::<128>().0.iter_mut().zip(packed) {
        for (field, codes) in codes.as_chunks_mut::<32>().0.iter_mut().enumerate() {
            *codes = packed.map(|byte| byte >> (2 * field) & 3);
        }
    }
    codes
}

/// One row, bit-exact.
pub(super) fn dequantize(row: &[u8], out: &mut [f32]) {
    let blocks = row.as_chunks::<BYTES>().0;
    for (block, out) in blocks.iter().zip(out.as_chunks_mut::<WEIGHTS>().0) {
        let d = f16_at::<64, _>(block);
        *out = unpack(block).map(|code| d * (f32::from(code) - 1.0));
    }
}

/// One row in its group form.
pub(super) fn read_groups(row: &[u8], out: &mut RowGroups) {
    let blocks = row.as_chunks::<BYTES>().0;
    out.resize(blocks.len() * WEIGHTS, blocks.len(), 0);
    let codes = out.codes.as_chunks_mut::<WEIGHTS>().0;
    for ((block, codes), scale) in blocks.iter().zip(codes).zip(&mut out.scales) {
        *codes = unpack(block);
        *scale = f16_at::<64, _>(block);
    }
}
