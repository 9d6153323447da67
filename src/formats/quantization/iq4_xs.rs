//! GGUF IQ4_XS: 256 weights in 136 bytes, `w = (d·(s − 32))·v`, groups of 32, `v` one of 16 values.
//!
//! `d` f16, 16 bits with two high bits of each group's 6-bit scale `s`, 4 bytes with its low nibbles
//! (the low one first), 128 bytes of codes: for each group 16, as in IQ4_NL.

use super::RowGroups;
use super::Table;
use super::iq4_nl::unpack;
use super::scalar::{bytes_at, f16_at};

/// Weights a block.
pub(super) const WEIGHTS: usize = 256;
/// Bytes a block.
pub(super) const BYTES: usize = 136;
const GROUP: usize = 32;
const GROUPS: usize = WEIGHTS / GROUP;

/// `s − 32` of each group.
#[inline(always)]
fn scales(block: &[u8; BYTES]) -> [i8; GROUPS] {
    let high = u16::from_le_bytes(*bytes_at::<2, 2, _>(block));
    let low = bytes_at::<4, 4, _>(block);
    std::array::from_fn(|g| {
        let low = low[g / 2] >> (4 * (g % 2)) & 15;
        let high = (high >> (2 * g) & 3) as u8;
        (low | high << 4) as i8 - 32
    })
}

/// One row, bit-exact.
pub(super) fn dequantize(row: &[u8], out: &mut [f32]) {
    let values = Table::Iq4.integers();
    let blocks = row.as_chunks::<BYTES>().0;
    for (block, out) in blocks.iter().zip(out.as_chunks_mut::<WEIGHTS>().0) {
        let d = f16_at::<0, _>(block);
        let packed = bytes_at::<8, 128, _>(block).as_chunks::<16>().0;
        let groups = packed.iter().zip(scales(block));
        for (out, (packed, sub)) in out.as_chunks_mut::<GROUP>().0.iter_mut().zip(groups) {
            let scale = d * f32::from(sub);
            *out = unpack(packed).map(|code| scale * f32::from(values[usize::from(code)]));
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
        let packed = bytes_at::<8, 128, _>(block).as_chunks::<16>().0;
        for (codes, packed) in codes.as_chunks_mut::<GROUP>().0.iter_mut().zip(packed) {
            *codes = unpack(packed);
        }
        *sub_scales = scales(block);
        *scale = f16_at::<0, _>(block);
    }
}
