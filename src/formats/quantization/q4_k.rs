//! GGUF Q4_K: 256 weights in 144 bytes, `w = (d·s)·q − dmin·m`, groups of 32.
//!
//! `d` f16, `dmin` f16, 12 bytes of 6-bit scales, 128 bytes of codes: the nibbles of byte `32·j + l`
//! are weights `64·j + l` (low) and `64·j + 32 + l` (high).

use super::RowGroups;
use super::scalar::{bytes_at, f16_at};

/// Weights a block.
pub(super) const WEIGHTS: usize = 256;
/// Bytes a block.
pub(super) const BYTES: usize = 144;
/// Weights that share a second-level scale.
const GROUP: usize = 32;
const GROUPS: usize = WEIGHTS / GROUP;

#[inline(always)]
fn unpack(block: &[u8; BYTES]) -> [u8; WEIGHTS] {
    let packed = bytes_at::<16, 128, _>(block);
    let mut codes = [0; WEIGHTS];
    for (codes, packed) in codes
        .as_chunks_mut::<64>()
        .0
        .iter_mut()
        .zip(packed.as_chunks::<32>().0)
    {
        for (l, byte) in packed.iter().enumerate() {
            codes[l] = byte & 15;
            codes[l + 32] = byte >> 4;
        }
    }
    codes
}

/// Second-level scales and minimums, 6 bits each.
#[inline(always)]
fn scales(block: &[u8; BYTES]) -> ([i8; GROUPS], [u8; GROUPS]) {
    min_scales(bytes_at::<4, 12, _>(block))
}

/// The eight 6-bit scales and minimums of Q4_K and Q5_K: the first four of each in the low six bits
/// of bytes 0–3 and 4–7; the others have their low four bits in the nibbles of bytes 8–11 and their
/// high two in the top bits of bytes 0–7.
#[inline(always)]
pub(super) fn min_scales(packed: &[u8; 12]) -> ([i8; GROUPS], [u8; GROUPS]) {
    let (mut subs, mut mins) = ([0i8; GROUPS], [0u8; GROUPS]);
    for i in 0..4 {
        subs[i] = (packed[i] & 63) as i8;
        mins[i] = packed[i + 4] & 63;
        subs[i + 4] = (packed[i + 8] & 15 | packed[i] >> 6 << 4) as i8;
        mins[i + 4] = packed[i + 8] >> 4 | packed[i + 4] >> 6 << 4;
    }
    (subs, mins)
}

/// One row, bit-exact.
pub(super) fn dequantize(row: &[u8], out: &mut [f32]) {
    let blocks = row.as_chunks::<BYTES>().0;
    for (block, out) in blocks.iter().zip(out.as_chunks_mut::<WEIGHTS>().0) {
        let (d, dmin) = (f16_at::<0, _>(block), f16_at::<2, _>(block));
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
        *scale = f16_at::<0, _>(block);
        *bias = f16_at::<2, _>(block);
    }
}
