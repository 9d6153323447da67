//! GGUF Q3_K: 256 weights in 110 bytes, `w = (d·s)·(q − 4)`, groups of 16, signed `s`.
//!
//! 32 bytes of third bits, 64 bytes of low bits, 12 bytes of 6-bit scales (offset 32), `d` f16. The
//! four 2-bit fields of byte `32·h + l` are weights `128·h + l`, `+ 32`, `+ 64`, `+ 96`; their third
//! bits are bits `4·h`, `4·h + 1`, … of byte `l`.

use super::RowGroups;
use super::scalar::{bytes_at, f16_at};

/// Weights a block.
pub(super) const WEIGHTS: usize = 256;
/// Bytes a block.
pub(super) const BYTES: usize = 110;
/// Weights that share a second-level scale.
const GROUP: usize = 16;
const GROUPS: usize = WEIGHTS / GROUP;

#[inline(always)]
fn unpack(block: &[u8; BYTES]) -> [u8; WEIGHTS] {
    let high = bytes_at::<0, 32, _>(block);
    let packed = bytes_at::<32, 64, _>(block);
    let mut codes = [0; WEIGHTS];
    for (half, packed) in packed.as_chunks::<32>().0.iter().enumerate() {
        for field in 0..4 {
            for (l, byte) in packed.iter().enumerate() {
                let third = high[l] >> (4 * half + field) & 1;
                codes[128 * half + 32 * field + l] = byte >> (2 * field) & 3 | third << 2;
            }
        }
    }
    codes
}

/// Second-level scales: low four bits in the first 8 bytes (nibbles), high two in the last 4.
#[inline(always)]
fn scales(block: &[u8; BYTES]) -> [i8; GROUPS] {
    let packed = bytes_at::<96, 12, _>(block);
    let mut scales = [0; GROUPS];
    for (i, scale) in scales.iter_mut().enumerate() {
        let low = packed[i % 8] >> (4 * (i / 8)) & 15;
        let high = packed[8 + i % 4] >> (2 * (i / 4)) & 3;
        *scale = (low | high << 4) as i8 - 32;
    }
    scales
}

/// One row, bit-exact.
pub(super) fn dequantize(row: &[u8], out: &mut [f32]) {
    let blocks = row.as_chunks::<BYTES>().0;
    for (block, out) in blocks.iter().zip(out.as_chunks_mut::<WEIGHTS>().0) {
        let d = f16_at::<108, _>(block);
        let codes = unpack(block);
        let parts = codes.as_chunks::<GROUP>().0.iter().zip(scales(block));
        for (out, (codes, sub)) in out.as_chunks_mut::<GROUP>().0.iter_mut().zip(parts) {
            let scale = d * f32::from(sub);
            for (out, code) in out.iter_mut().zip(codes) {
                *out = scale * (i32::from(*code) - 4) as f32;
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
        *scale = f16_at::<108, _>(block);
    }
}
