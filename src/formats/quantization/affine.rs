//! MLX affine: `w = scale·q + bias` in f32, the product rounded before the sum; and compressed-tensors'
//! integers, `w = scale·(q − 2^(bits − 1))`.
//!
//! Each row is one little-endian bit stream, least significant bit first: code `k` occupies bits
//! `[k·bits, (k+1)·bits)`. Scales and biases lie apart, one pair per group of a row.

use super::spread::spread;
use super::{RowGroups, ScalarType, dense};

/// Unpacks as many codes as `codes` holds, a multiple of eight. `packed` is `codes.len()·bits/8` bytes.
fn unpack(bits: u8, packed: &[u8], codes: &mut [u8]) {
    match bits {
        2 => unpack_eights::<2, 2>(packed, codes),
        3 => unpack_eights::<3, 3>(packed, codes),
        4 => {
            for (codes, byte) in codes.as_chunks_mut::<2>().0.iter_mut().zip(packed) {
                *codes = [byte & 15, byte >> 4];
            }
        }
        5 => unpack_eights::<5, 5>(packed, codes),
        6 => unpack_eights::<6, 6>(packed, codes),
        _ => {
            for (code, byte) in codes.iter_mut().zip(packed) {
                *code = *byte;
            }
        }
    }
}

/// Unpacks runs of eight codes, which take as many bytes as a code has bits.
#[inline(always)]
fn unpack_eights<const BITS: u32, const BYTES: usize>(packed: &[u8], codes: &mut [u8]) {
    let runs = packed.as_chunks::<BYTES>().0;
    for (codes, run) in codes.as_chunks_mut::<8>().0.iter_mut().zip(runs) {
        let mut bytes = [0; 8];
        bytes[..BYTES].copy_from_slice(run);
        *codes = spread::<BITS>(u64::from_le_bytes(bytes)).to_le_bytes();
    }
}

/// One row: `packed` codes, `scales` and `biases` of type `scalar`, `group` weights each.
pub(super) fn dequantize(
    bits: u8,
    group: usize,
    scalar: ScalarType,
    packed: &[u8],
    scales: &[u8],
    biases: &[u8],
    out: &mut [f32],
) {
    let width = scalar.bytes();
    let group_bytes = group * usize::from(bits) / 8;
    let parts = scales
        .chunks_exact(width)
        .zip(biases.chunks_exact(width))
        .zip(packed.chunks_exact(group_bytes));
    let mut pair = [0f32; 2];
    let mut codes = [0u8; 128];
    for (out, ((scale, bias), packed)) in out.chunks_exact_mut(group).zip(parts) {
        dense::dequantize(scalar, scale, &mut pair[..1]);
        dense::dequantize(scalar, bias, &mut pair[1..]);
        let [scale, bias] = pair;
        let codes = &mut codes[..group];
        unpack(bits, packed, codes);
        for (out, code) in out.iter_mut().zip(codes) {
            *out = scale * f32::from(*code) + bias;
        }
    }
}

/// One row of integers around 2^(bits − 1): `packed` codes (4 or 8 bits), `scales` of type `scalar`.
pub(super) fn dequantize_centered(
    bits: u8,
    group: usize,
    scalar: ScalarType,
    packed: &[u8],
    scales: &[u8],
    out: &mut [f32],
) {
    let middle = 1 << (bits - 1);
    let parts = scales
        .chunks_exact(scalar.bytes())
        .zip(packed.chunks_exact(group * usize::from(bits) / 8));
    let mut codes = [0u8; 128];
    let codes = &mut codes[..group];
    for (out, (bytes, packed)) in out.chunks_exact_mut(group).zip(parts) {
        let mut scale = [0f32];
        dense::dequantize(scalar, bytes, &mut scale);
        unpack(bits, packed, codes);
        for (out, code) in out.iter_mut().zip(&*codes) {
            *out = scale[0] * (i32::from(*code) - middle) as f32;
        }
    }
}

/// One row in its group form; without biases where `biases` is empty.
pub(super) fn read_groups(
    bits: u8,
    group: usize,
    scalar: ScalarType,
    packed: &[u8],
    scales: &[u8],
    biases: &[u8],
    out: &mut RowGroups,
) {
    let cols = packed.len() * 8 / usize::from(bits);
    let count = if biases.is_empty() { 0 } else { cols / group };
    out.resize(cols, cols / group, count);
    unpack(bits, packed, &mut out.codes);
    dense::dequantize(scalar, scales, &mut out.scales);
    dense::dequantize(scalar, biases, &mut out.biases);
}
