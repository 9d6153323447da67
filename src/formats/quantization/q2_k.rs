//! GGUF Q2_K: 256 weights in 84 bytes, `w = (d·s)·q − dmin·m`, groups of 16.
//!
//! 16 bytes of scale (low nibble `s`, high nibble `m`), 64 bytes of codes, `d` f16, `dmin` f16. The
//! four 2-bit fields of byte `32·h + l` are weights `128·h + l`, `+ 32`, `+ 64`, `+ 96`.

use super::RowGroups;
use super::scalar::{bytes_at, f16_at};

/// Weights a block.
pub(super) const WEIGHTS: usize = 256;
/// Bytes a block.
pub(super) const BYTES: usize = 84;
/// Weights that share a second-level scale.
const GROUP: usize = 16;
const GROUPS: usize = WEIGHTS / GROUP;

#[inline(always)]
fn unpack(block: &[u8; BYTES]) -> [u8; WEIGHTS] {
    let packed = bytes_at::<16, 64, _>(block);
    let mut codes = [0; WEIGHTS];
    for (half, packed) in packed.as_chunks::<32>().0.iter().enumerate() {
        for field in 0..4 {
            for (l, byte) in packed.iter().enumerate() {
                codes[128 * half + 32 * field + l] = byte >> (2 * field) & 3;
            }
        }
    }
    codes
}

/// Second-level scales and minimums.
#[inline(always)]
fn scales(block: &[u8; BYTES]) -> ([i8; GROUPS], [u8; GROUPS]) {
    let packed = bytes_at::<0, 16, _>(block);
    (
        packed.map(|byte| (byte & 15) as i8),
        packed.map(|byte| byte >> 4),
    )
}

/// One row, bit-exact.
pub(super) fn dequantize(row: &[u8], out: &mut [f32]) {
    let blocks = row.as_chunks::<BYTES>().0;
    for (block, out) in blocks.iter().zip(out.as_chunks_mut::<WEIGHTS>().0) {
        let (d, dmin) = (f16_at::<80, _>(block), f16_at::<82, _>(block));
        let (subs, mins) = scales(block);
        let codes = unpack(block);
        let parts = codes.as_chunks::<GROUP>().0.iter().zip(subs).zip(mins);
        for (out, ((codes, sub), min)) in out.as_chunks_mut::<GROUP>().0.iter_mut().zip(parts) {
            let (scale, min) = (d * f32::from(sub), dmin * f32::from(min));
            for (out, code) in out.iter_mut().zip(codes) {
                *out = scale * f32::from(*code) - min;
            }
        }
    }
}

/// One row in its group form.
pub(super) fn read_groups(row: &[u8], out: &mut RowGroups) {
    let blocks = row.as_chunks::<BYTES>().0;
    let count = blocks.len();
    out.resize_super(
        count * WEIGHTS,
        count,
        count,
        count * GROUPS,
        count * GROUPS,
    );
    let parts = (out.codes.as_chunks_mut::<WEIGHTS>().0.iter_mut())
        .zip(out.sub_scales.as_chunks_mut::<GROUPS>().0)
        .zip(out.sub_mins.as_chunks_mut::<GROUPS>().0)
        .zip(out.scales.iter_mut().zip(&mut out.biases));
    for (block, (((codes, sub_scales), sub_mins), (scale, bias))) in blocks.iter().zip(parts) {
        *codes = unpack(block);
        (*sub_scales, *sub_mins) = scales(block);
        *scale = f16_at::<80, _>(block);
        *bias = f16_at::<82, _>(block);
    }
}
