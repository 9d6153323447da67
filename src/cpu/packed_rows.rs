//! One row of a quantized weight, written into its lane of a tile ([`super::packed`] says what lies where).

use super::packed::{BLOCK, GridBlock, SUPER, TILE_ROWS, block_bytes, scalar_bytes};
use crate::formats::{Grid, GroupForm, RowGroups, ScalarType, ScaleForm, Values, exact_f16};
use half::bf16;

/// Writes one row into its lane of a tile of so many blocks.
pub(super) fn put_row(
    form: GroupForm,
    blocks: usize,
    row: &mut RowGroups,
    lane: usize,
    scales: &mut [u8],
    codes: &mut [u8],
) {
    put_scales(form, row, lane, scales);
    if let Values::Grid(grid) = form.values {
        let blocks = codes.chunks_exact_mut(block_bytes(form));
        put_grid(grid, row, lane, blocks);
        return;
    }
    row.codes.resize(blocks * BLOCK, 0);
    match form.bits {
        2 => put_codes::<2, 0, 128>(&row.codes, lane, codes),
        3 => put_codes::<2, 1, 192>(&row.codes, lane, codes),
        4 => put_codes::<4, 0, 256>(&row.codes, lane, codes),
        5 => put_codes::<4, 1, 320>(&row.codes, lane, codes),
        6 => put_codes::<4, 2, 384>(&row.codes, lane, codes),
        _ => put_codes::<8, 0, 512>(&row.codes, lane, codes),
    }
}

/// Writes a row's codes into its lane of blocks of `BYTES` bytes, whose planes have `FIRST` and `SECOND` bits.
fn put_codes<const FIRST: usize, const SECOND: usize, const BYTES: usize>(
    codes: &[u8],
    lane: usize,
    out: &mut [u8],
) {
    const { assert!(BYTES == (FIRST + SECOND) * TILE_ROWS * BLOCK / 8) };
    let lane = lane % TILE_ROWS;
    let blocks = out.as_chunks_mut::<BYTES>().0;
    for (codes, block) in codes.as_chunks::<BLOCK>().0.iter().zip(blocks) {
        put_plane::<FIRST, 0, BYTES>(codes, 0, lane, block);
        match SECOND {
            1 => put_plane::<1, FIRST, BYTES>(codes, FIRST, lane, block),
            2 => put_plane::<2, FIRST, BYTES>(codes, FIRST, lane, block),
            _ => {}
        }
    }
}

/// Writes a row of a grid's indices and signs into its lane of the blocks.
fn put_grid<'a>(
    grid: Grid,
    row: &RowGroups,
    lane: usize,
    blocks: impl Iterator<Item = &'a mut [u8]>,
) {
    let layout = GridBlock::new(grid);
    let rows = row
        .indices
        .chunks(layout.entries)
        .zip(row.signs.chunks(BLOCK / 8));
    for (block, (indices, signs)) in blocks.zip(rows) {
        let mut high = 0u32;
        for (e, &index) in indices.iter().enumerate() {
            block[e * TILE_ROWS + lane] = index as u8;
            let mut bits = u32::from(index >> 8);
            if grid.one_sign() {
                // An entry is eight columns, as are the signs.
                bits |= u32::from(signs[e] & 1) << (layout.high - 1);
            }
            high |= bits << (e * layout.high);
        }
        if layout.signs > 0 {
            for (o, &signs) in signs.iter().enumerate() {
                let nibble =
                    |from: u8| (0..4).fold(0, |all, i| all | (signs >> (2 * i + from) & 1) << i);
                block[(layout.entries + o) * TILE_ROWS + lane] = nibble(0) | nibble(1) << 4;
            }
        }
        let bytes = layout.high_bytes();
        let at = (layout.entries + layout.signs) * TILE_ROWS + lane * bytes;
        block[at..at + bytes].copy_from_slice(&high.to_le_bytes()[..bytes]);
    }
}

/// Writes `BITS` bits (from bit `shift`) of a row's 32 codes into its lane of the plane that follows others of
/// `BEFORE` bits.
#[inline(always)]
fn put_plane<const BITS: usize, const BEFORE: usize, const BYTES: usize>(
    codes: &[u8; BLOCK],
    shift: usize,
    lane: usize,
    block: &mut [u8; BYTES],
) {
    let vectors = block.as_chunks_mut::<64>().0;
    let vectors = vectors.iter_mut().skip(BEFORE).take(BITS);
    let mut lanes = vectors.filter_map(|vector| vector.as_chunks_mut::<4>().0.get_mut(lane));
    if BITS == 8 {
        for (to, [a, b, c, d]) in lanes.zip(codes.as_chunks::<4>().0) {
            *to = [*a, *c, *b, *d];
        }
        return;
    }
    let mask = ((1u64 << BITS) - 1) * 0x0101_0101_0101_0101;
    let eights = codes.as_chunks::<8>().0;
    for eights in eights.chunks((4 / BITS).max(1)) {
        let mut word = 0;
        for (i, eight) in eights.iter().enumerate() {
            let codes = u64::from_le_bytes(*eight) >> shift & mask;
            word |= pairs::<BITS>(codes) << (4 * BITS * i);
        }
        if let Some(to) = lanes.next() {
            *to = word.to_le_bytes();
        }
    }
}

/// Four pairs of codes, a byte each, one after the other: the even columns' in the low, the odd columns' in the high
/// 16 bits.
#[inline(always)]
fn pairs<const BITS: usize>(codes: u64) -> u32 {
    // Up to 4 bits. Number k of four, 16 bits apart, is moved to bit 48 + BITS·k; what else a product has is outside of the bits
    // that are kept.
    let gather = |four: u64| {
        let factor = 1 << 48 | 1 << (32 + BITS) | 1 << (16 + 2 * BITS) | 1 << (3 * BITS);
        (four & 0x00ff_00ff_00ff_00ff).wrapping_mul(factor) >> 48
    };
    (gather(codes) | gather(codes >> 8) << 16) as u32
}

/// Writes a row's numbers of a type into its lane, `stride` bytes apart.
fn put_scalars(ty: ScalarType, values: &[f32], lane: usize, stride: usize, out: &mut [u8]) {
    // Exact: the values were read from this type.
    match ty {
        ScalarType::F32 => put_numbers(values, lane, stride, out, f32::to_le_bytes),
        ScalarType::F16 => {
            // Converted together, which vectors do.
            let mut bits = [0; 64];
            for (values, out) in values.chunks(64).zip(out.chunks_mut(64 * stride)) {
                for (bits, value) in bits.iter_mut().zip(values) {
                    *bits = exact_f16(*value);
                }
                put_numbers(&bits[..values.len()], lane, stride, out, u16::to_le_bytes);
            }
        }
        ScalarType::BF16 => {
            let bytes = |value| bf16::from_f32(value).to_le_bytes();
            put_numbers(values, lane, stride, out, bytes);
        }
    }
}

fn put_numbers<T: Copy, const SIZE: usize>(
    values: &[T],
    lane: usize,
    stride: usize,
    out: &mut [u8],
    bytes: impl Fn(T) -> [u8; SIZE],
) {
    for (out, value) in out.chunks_mut(stride).zip(values) {
        if let Some(to) = out.as_chunks_mut::<SIZE>().0.get_mut(lane) {
            *to = bytes(*value);
        }
    }
}

/// Writes a row's bytes into its lane, `stride` bytes apart.
fn put_bytes(values: impl Iterator<Item = u8>, lane: usize, stride: usize, out: &mut [u8]) {
    for (out, value) in out.chunks_mut(stride).zip(values) {
        if let Some(to) = out.get_mut(lane) {
            *to = value;
        }
    }
}

fn put_scales(form: GroupForm, row: &RowGroups, lane: usize, out: &mut [u8]) {
    const N: usize = TILE_ROWS;
    match form.scale {
        ScaleForm::Stored(ty) => {
            let size = N * scalar_bytes(ty);
            put_scalars(ty, &row.scales, lane, 2 * size, out);
            put_scalars(ty, &row.biases, lane, 2 * size, tail(out, size));
        }
        ScaleForm::Zero(ty, _) => {
            put_scalars(ty, &row.scales, lane, N * scalar_bytes(ty), out);
        }
        ScaleForm::Points(ty) => {
            let size = N * scalar_bytes(ty);
            put_scalars(ty, &row.scales, lane, size + N, out);
            put_bytes(row.points.iter().copied(), lane, size + N, tail(out, size));
        }
        ScaleForm::Power | ScaleForm::Float8 => put_bytes(row.points.iter().copied(), lane, N, out),
        ScaleForm::SuperZero(_) => {
            let per_super = SUPER / form.group;
            let stride = 2 * N + per_super * N;
            put_scalars(ScalarType::F16, &row.scales, lane, stride, out);
            let units = out.chunks_mut(stride);
            for (out, subs) in units.zip(row.sub_scales.chunks(per_super)) {
                let subs = subs.iter().map(|sub| sub.cast_unsigned());
                put_bytes(subs, lane, N, tail(out, 2 * N));
            }
        }
        ScaleForm::SuperMin => {
            let per_super = SUPER / form.group;
            let stride = 4 * N + per_super * 2 * N;
            put_scalars(ScalarType::F16, &row.scales, lane, stride, out);
            put_scalars(ScalarType::F16, &row.biases, lane, stride, tail(out, 2 * N));
            let subs = row
                .sub_scales
                .chunks(per_super)
                .zip(row.sub_mins.chunks(per_super));
            for (out, (subs, mins)) in out.chunks_mut(stride).zip(subs) {
                let subs = subs.iter().map(|sub| sub.cast_unsigned());
                put_bytes(subs, lane, 2 * N, tail(out, 4 * N));
                put_bytes(mins.iter().copied(), lane, 2 * N, tail(out, 5 * N));
            }
        }
    }
}

/// What follows `at` bytes.
fn tail(out: &mut [u8], at: usize) -> &mut [u8] {
    out.get_mut(at..).unwrap_or_default()
}
