//! GGUF TQ1_0: 256 weights −1, 0 or 1 times `d` in 54 bytes.
//!
//! 48 bytes of five ternary digits, 4 bytes of four, `d` f16. A byte is `⌈n·256/243⌉` of the number `n`
//! whose digits are, highest first: of bytes 0–31, weights `32·i + j`; of bytes 32–47, weights
//! `160 + 16·i + j`; of the last four, weights `240 + 4·i + j`.

use super::RowGroups;
use super::scalar::{bytes_at, f16_at};

/// Weights a block.
pub(super) const WEIGHTS: usize = 256;
/// Bytes a block.
pub(super) const BYTES: usize = 54;

/// Digits of the bytes of one part: digit `i` of byte `j` is weight `bytes·i + j`.
fn digits(packed: &[u8], codes: &mut [u8]) {
    let mut power = 1u8;
    for codes in codes.chunks_exact_mut(packed.len()) {
        for (code, byte) in codes.iter_mut().zip(packed) {
            *code = ((u16::from(byte.wrapping_mul(power)) * 3) >> 8) as u8;
        }
        power = power.wrapping_mul(3);
    }
}

fn unpack(block: &[u8; BYTES]) -> [u8; WEIGHTS] {
    let mut codes = [0; WEIGHTS];
    let (first, rest) = codes.split_at_mut(160);
    let (second, third) = rest.split_at_mut(80);
    digits(bytes_at::<0, 32, _>(block), first);
    digits(bytes_at::<32, 16, _>(block), second);
    digits(bytes_at::<48, 4, _>(block), third);
    codes
}

/// One row, bit-exact.
pub(super) fn dequantize(row: &[u8], out: &mut [f32]) {
    let blocks = row.as_chunks::<BYTES>().0;
    for (block, out) in blocks.iter().zip(out.as_chunks_mut::<WEIGHTS>().0) {
        let d = f16_at::<52, _>(block);
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
        *scale = f16_at::<52, _>(block);
    }
}
