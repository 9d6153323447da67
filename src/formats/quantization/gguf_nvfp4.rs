//! GGUF NVFP4: 64 weights in 36 bytes, `w = s·v`, groups of 16, `v` a 4-bit float.
//!
//! Four scales (E4M3 without a sign; the NaN pattern is 0), then for each group 8 bytes of codes: the
//! nibbles of byte `j` are weights `j` (low) and `j + 8` (high).

use super::RowGroups;
use super::Table;
use super::scalar::bytes_at;
use super::values::Values;

/// Weights a block.
pub(super) const WEIGHTS: usize = 64;
/// Bytes a block.
pub(super) const BYTES: usize = 36;
const GROUP: usize = 16;
const GROUPS: usize = WEIGHTS / GROUP;

fn unpack(packed: &[u8; 8]) -> [u8; GROUP] {
    std::array::from_fn(|k| packed[k % 8] >> (4 * (k / 8)) & 15)
}

/// The byte of a scale as E4M3 that is never NaN or negative.
fn scale_byte(byte: u8) -> u8 {
    if byte == 0x7f { 0 } else { byte & 0x7f }
}

/// One row, bit-exact.
pub(super) fn dequantize(row: &[u8], out: &mut [f32]) {
    let values = Table::E2M1.integers();
    let blocks = row.as_chunks::<BYTES>().0;
    for (block, out) in blocks.iter().zip(out.as_chunks_mut::<WEIGHTS>().0) {
        let groups = (bytes_at::<0, GROUPS, _>(block).iter())
            .zip(bytes_at::<4, 32, _>(block).as_chunks::<8>().0);
        for (out, (byte, packed)) in out.as_chunks_mut::<GROUP>().0.iter_mut().zip(groups) {
            let half = Values::E4M3.value(scale_byte(*byte)) * 0.5;
            *out = unpack(packed).map(|code| half * f32::from(values[usize::from(code)]));
        }
    }
}

/// One row in its group form.
pub(super) fn read_groups(row: &[u8], out: &mut RowGroups) {
    let blocks = row.as_chunks::<BYTES>().0;
    let groups = blocks.len() * GROUPS;
    out.resize(blocks.len() * WEIGHTS, groups, 0);
    out.points.resize(groups, 0);
    let parts = (out.codes.as_chunks_mut::<WEIGHTS>().0.iter_mut())
        .zip(out.scales.as_chunks_mut::<GROUPS>().0)
        .zip(out.points.as_chunks_mut::<GROUPS>().0);
    for (block, ((codes, scales), points)) in blocks.iter().zip(parts) {
        let packed = bytes_at::<4, 32, _>(block).as_chunks::<8>().0;
        for (codes, packed) in codes.as_chunks_mut::<GROUP>().0.iter_mut().zip(packed) {
            *codes = unpack(packed);
        }
        *points = bytes_at::<0, GROUPS, _>(block).map(scale_byte);
        *scales = points.map(|byte| Values::E4M3.value(byte));
    }
}
