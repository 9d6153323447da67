//! GGUF Q6_K: 256 weights in 210 bytes, `w = (d·s)·(q − 32)`, groups of 16, signed `s`.
//!
//! 128 bytes of low nibbles, 64 bytes of high bits, 16 signed scales, `d` f16. For each half of 128
//! weights: nibbles of bytes `l` and `32 + l` are weights `l`, `32 + l` (low) and `64 + l`, `96 + l`
//! (high); the 2-bit fields of byte `l` of the high bits go with them in that order.

use super::RowGroups;
use super::scalar::{bytes_at, f16_at};

/// Weights a block.
pub(super) const WEIGHTS: usize = 256;
/// Bytes a block.
pub(super) const BYTES: usize = 210;
/// Weights that share a second-level scale.
const GROUP: usize = 16;
const GROUPS: usize = WEIGHTS / GROUP;

#[inline(always)]
fn unpack(block: &[u8; BYTES]) -> [u8; WEIGHTS] {
    let low = bytes_at::<0, 128, _>(block).as_chunks::<64>().0;
    let high = bytes_at::<128, 64, _>(block).as_chunks::<32>().0;
    let mut codes = [0; WEIGHTS];
    for ((codes, low), high) in codes.as_chunks_mut::<128>().0.iter_mut().zip(low).zip(high) {
        for (l, high) in high.iter().enumerate() {
            codes[l] = low[l] & 15 | (high & 3) << 4;
            codes[l + 32] = low[l + 32] & 15 | (high >> 2 & 3) << 4;
            codes[l + 64] = low[l] >> 4 | (high >> 4 & 3) << 4;
            codes[l + 96] = low[l + 32] >> 4 | high >> 6 << 4;
        }
    }
    codes
}

/// Second-level scales.
#[inline(always)]
fn scales(block: &[u8; BYTES]) -> [i8; GROUPS] {
    bytes_at::<192, 16, _>(block).map(|byte| byte as i8)
}

/// One row, bit-exact.
pub(super) fn dequantize(row: &[u8], out: &mut [f32]) {
    let blocks = row.as_chunks::<BYTES>().0;
    for (block, out) in blocks.iter().zip(out.as_chunks_mut::<WEIGHTS>().0) {
        let d = f16_at::<208, _>(block);
        let codes = unpack(block);
        let parts = codes.as_chunks::<GROUP>().0.iter().zip(scales(block));
        for (out, (codes, sub)) in out.as_chunks_mut::<GROUP>().0.iter_mut().zip(parts) {
            let scale = d * f32::from(sub);
            for (out, code) in out.iter_mut().zip(codes) {
                *out = scale * (i32::from(*code) - 32) as f32;
            }
        }
    }
}

/// One row in its group form.
pub(super) fn read_groups(row: &[u8], out: &mut RowGroups) {
    let blocks = row.as_chunks::<BYTES>().0;
    let count = blocks.len();
    out.resize_super(count * WEIGHTS, count, 0, count * GROUPS, 0);
    let parts = (out.codes.as_chunks_mut::<WEIGHTS>().0.iter_mut())
        .zip(out.sub_scales.as_chunks_mut::<GROUPS>().0)
        .zip(&mut out.scales);
    for (block, ((codes, sub_scales), scale)) in blocks.iter().zip(parts) {
        *codes = unpack(block);
        *sub_scales = scales(block);
        *scale = f16_at::<208, _>(block);
    }
}
