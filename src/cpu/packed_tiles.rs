//! Whole tiles of the common formats, packed at the speed of memory: [`super::packed_rows`] says the same row by row,
//! for every format, and gives the same bytes.
//!
//! A tile's sixteen rows are read as 32-bit words, each is put where a lane of a vector of the tile begins, and then
//! the vectors, which lie in the cache, get their codes in the order of the planes. These are loops, not closures over
//! arrays, so that all of it is compiled for the SIMD level in use.

use super::arrays::{Level, Work};
use super::packed::{BLOCK, SUPER, TILE_ROWS};
use crate::formats::{Format, Weight};

/// A vector of a tile: a word of each row.
type Lanes = [u32; TILE_ROWS];

/// Bytes of vectors that are put in order while they are in the first cache.
const CACHED: usize = 16 << 10;

/// A tile to pack.
pub(super) struct WholeTile<'a> {
    pub(super) weight: &'a Weight,
    /// The first of its 16 rows, all inside the weight.
    pub(super) first: usize,
    pub(super) scales: &'a mut [u8],
    pub(super) codes: &'a mut [u8],
}

impl Work for WholeTile<'_> {
    /// Whether the format has such a form; if not, nothing was written.
    type Out = bool;

    #[inline(always)]
    fn run<L: Level>(self) -> bool {
        let format = self.weight.format;
        let has_form = match format {
            Format::Q4_0 | Format::Q4_1 | Format::Q8_0 | Format::Q4K | Format::Q6K => true,
            Format::Affine { bits, .. } => matches!(bits, 4 | 8),
            _ => false,
        };
        // Words are numbers and bytes at once.
        if !has_form || !cfg!(target_endian = "little") {
            return false;
        }
        let mut rows = [[&[][..]; 3]; TILE_ROWS];
        for (lane, row) in rows.iter_mut().enumerate() {
            match self.weight.row(self.first + lane) {
                Ok(bytes) => *row = bytes,
                Err(_) => return false,
            }
        }
        let Ok(vectors) = bytemuck::try_cast_slice_mut::<u8, Lanes>(self.codes) else {
            return false;
        };
        let data = part(&rows, 0);
        let scales = self.scales;
        match format {
            Format::Q4_0 => {
                put_codes::<4, 18, 2>(&data, vectors, halves);
                put_numbers::<2, 18, 0>(&data, 2 * TILE_ROWS, scales);
            }
            Format::Q4_1 => {
                put_codes::<4, 20, 4>(&data, vectors, halves);
                put_numbers::<2, 20, 0>(&data, 4 * TILE_ROWS, scales);
                put_numbers::<2, 20, 2>(&data, 4 * TILE_ROWS, tail(scales, 2 * TILE_ROWS));
            }
            Format::Q8_0 => {
                put_codes::<8, 34, 2>(&data, vectors, bytes::<0x8080_8080>);
                put_numbers::<2, 34, 0>(&data, 2 * TILE_ROWS, scales);
            }
            Format::Q4K => {
                put_codes::<32, 144, 16>(&data, vectors, pairs_of_halves);
                put_q4_k_scales(&data, scales);
            }
            Format::Q6K => {
                put_codes::<48, 210, 0>(&data, vectors, six_bits);
                put_q6_k_scales(&data, scales);
            }
            Format::Affine { bits, scale, .. } => {
                if bits == 4 {
                    put_codes::<4, 16, 0>(&data, vectors, nibbles);
                } else {
                    put_codes::<8, 32, 0>(&data, vectors, bytes::<0>);
                }
                let size = scale.bytes();
                for which in [1, 2] {
                    let numbers = part(&rows, which);
                    let out = tail(scales, (which - 1) * size * TILE_ROWS);
                    match size {
                        2 => put_numbers::<2, 2, 0>(&numbers, 4 * TILE_ROWS, out),
                        _ => put_numbers::<4, 4, 0>(&numbers, 8 * TILE_ROWS, out),
                    }
                }
            }
            _ => {}
        }
        true
    }
}

/// One of the parts of the rows: data, scales or biases.
#[inline(always)]
fn part<'a>(rows: &[[&'a [u8]; 3]; TILE_ROWS], which: usize) -> [&'a [u8]; TILE_ROWS] {
    let mut part = [&[][..]; TILE_ROWS];
    for (part, row) in part.iter_mut().zip(rows) {
        *part = row[which];
    }
    part
}

/// Puts the codes of 16 rows, which are units of `BYTES` bytes with `WORDS` words of codes from byte `AT` on, into as
/// many vectors a unit, and hands each unit of vectors to `order`.
#[inline(always)]
fn put_codes<const WORDS: usize, const BYTES: usize, const AT: usize>(
    rows: &[&[u8]; TILE_ROWS],
    vectors: &mut [Lanes],
    order: impl Fn(&mut [Lanes; WORDS]),
) {
    const { assert!(AT + 4 * WORDS <= BYTES) };
    let cached = (CACHED / (WORDS * size_of::<Lanes>())).max(1);
    let units = vectors.as_chunks_mut::<WORDS>().0;
    for (i, units) in units.chunks_mut(cached).enumerate() {
        for (lane, row) in rows.iter().enumerate() {
            let row = row.as_chunks::<BYTES>().0.iter().skip(i * cached);
            for (unit, bytes) in units.iter_mut().zip(row) {
                for (vector, word) in unit.iter_mut().zip(bytes[AT..].as_chunks::<4>().0) {
                    vector[lane] = u32::from_le_bytes(*word);
                }
            }
        }
        for unit in units {
            order(unit);
        }
    }
}

/// Swaps the middle two of four parts of each word's halves or of the word: those of `mask` and their neighbours
/// `shift` bits above.
#[inline(always)]
fn swap(word: u32, mask: u32, shift: u32) -> u32 {
    let other = (word ^ word >> shift) & mask;
    word ^ other ^ other << shift
}

/// Eight nibbles in the order of the columns: the even columns' go to the low half.
#[inline(always)]
fn nibbles(unit: &mut [Lanes; 4]) {
    for word in unit.as_flattened_mut() {
        *word = swap(swap(*word, 0x00f0_00f0, 4), 0x0000_ff00, 8);
    }
}

/// Bytes in the order of the columns.
#[inline(always)]
fn bytes<const FLIP: u32>(unit: &mut [Lanes; 8]) {
    for word in unit.as_flattened_mut() {
        *word = swap(*word ^ FLIP, 0x0000_ff00, 8);
    }
}

/// The low nibbles of eight columns' bytes.
#[inline(always)]
fn eight(first: u32, second: u32) -> u32 {
    let both = first & 0x0f0f_0f0f | (second & 0x0f0f_0f0f) << 4;
    swap(swap(both, 0x0000_ff00, 8), 0x00f0_00f0, 4)
}

/// Sixteen bytes whose low nibbles are columns 0 to 15, their high ones 16 to 31.
#[inline(always)]
fn halves(unit: &mut [Lanes; 4]) {
    let words = *unit;
    for v in 0..2 {
        for lane in 0..TILE_ROWS {
            let (a, b) = (words[2 * v][lane], words[2 * v + 1][lane]);
            unit[v][lane] = eight(a, b);
            unit[2 + v][lane] = eight(a >> 4, b >> 4);
        }
    }
}

/// Four times 32 bytes whose low nibbles are one block, their high ones the next.
#[inline(always)]
fn pairs_of_halves(unit: &mut [Lanes; 32]) {
    for pair in unit.as_chunks_mut::<8>().0 {
        let words = *pair;
        for v in 0..4 {
            for lane in 0..TILE_ROWS {
                let (a, b) = (words[2 * v][lane], words[2 * v + 1][lane]);
                pair[v][lane] = eight(a, b);
                pair[4 + v][lane] = eight(a >> 4, b >> 4);
            }
        }
    }
}

/// Q6_K: 128 bytes of low nibbles and 64 of high bits, half of each for 128 columns, as eight blocks of a plane of
/// four and a plane of two bits.
#[inline(always)]
fn six_bits(unit: &mut [Lanes; 48]) {
    let words = *unit;
    for (b, block) in unit.as_chunks_mut::<6>().0.iter_mut().enumerate() {
        let (half, part) = (b / 4, b % 4);
        let low = &words[16 * half + 8 * (part % 2)..][..8];
        let high = &words[32 + 8 * half..][..8];
        let (low_shift, high_shift) = (4 * (part as u32 / 2), 2 * part as u32);
        for v in 0..4 {
            for lane in 0..TILE_ROWS {
                let (a, b) = (low[2 * v][lane], low[2 * v + 1][lane]);
                block[v][lane] = eight(a >> low_shift, b >> low_shift);
            }
        }
        for v in 0..2 {
            for lane in 0..TILE_ROWS {
                let mut all = 0;
                for w in 0..4 {
                    all |= (high[4 * v + w][lane] >> high_shift & 0x0303_0303) << (2 * w);
                }
                let nibbles = swap(swap(all, 0x0000_ff00, 8), 0x00f0_00f0, 4);
                block[4 + v][lane] = swap(nibbles, 0x0c0c_0c0c, 2);
            }
        }
    }
}

/// Puts a number of `SIZE` bytes of each unit of `BYTES` bytes of the rows, at byte `AT` of it, beside those of the
/// other rows, `stride` bytes from unit to unit.
#[inline(always)]
fn put_numbers<const SIZE: usize, const BYTES: usize, const AT: usize>(
    rows: &[&[u8]; TILE_ROWS],
    stride: usize,
    out: &mut [u8],
) {
    const { assert!(AT + SIZE <= BYTES) };
    for (lane, row) in rows.iter().enumerate() {
        for (out, unit) in out.chunks_mut(stride).zip(row.as_chunks::<BYTES>().0) {
            if let Some(to) = out.as_chunks_mut::<SIZE>().0.get_mut(lane) {
                to.copy_from_slice(&unit[AT..AT + SIZE]);
            }
        }
    }
}

#[inline(always)]
fn put_q4_k_scales(rows: &[&[u8]; TILE_ROWS], out: &mut [u8]) {
    const N: usize = TILE_ROWS;
    const STRIDE: usize = 4 * N + SUPER / BLOCK * 2 * N;
    put_numbers::<2, 144, 0>(rows, STRIDE, out);
    put_numbers::<2, 144, 2>(rows, STRIDE, tail(out, 2 * N));
    for (lane, row) in rows.iter().enumerate() {
        let units = out.as_chunks_mut::<STRIDE>().0.iter_mut();
        for (out, block) in units.zip(row.as_chunks::<144>().0) {
            let groups = out[4 * N..].as_chunks_mut::<{ 2 * N }>().0;
            let packed = &block[4..16];
            for i in 0..4 {
                // The eight 6-bit scales and minimums as `formats::quantization::q4_k` says.
                groups[i][lane] = packed[i] & 63;
                groups[i][N + lane] = packed[i + 4] & 63;
                groups[i + 4][lane] = packed[i + 8] & 15 | packed[i] >> 6 << 4;
                groups[i + 4][N + lane] = packed[i + 8] >> 4 | packed[i + 4] >> 6 << 4;
            }
        }
    }
}

#[inline(always)]
fn put_q6_k_scales(rows: &[&[u8]; TILE_ROWS], out: &mut [u8]) {
    const N: usize = TILE_ROWS;
    const STRIDE: usize = 2 * N + SUPER / 16 * N;
    put_numbers::<2, 210, 208>(rows, STRIDE, out);
    for (lane, row) in rows.iter().enumerate() {
        let units = out.as_chunks_mut::<STRIDE>().0.iter_mut();
        for (out, block) in units.zip(row.as_chunks::<210>().0) {
            let groups = out[2 * N..].as_chunks_mut::<N>().0;
            for (group, sub) in groups.iter_mut().zip(&block[192..208]) {
                group[lane] = *sub;
            }
        }
    }
}

/// What follows `at` bytes.
#[inline(always)]
fn tail(out: &mut [u8], at: usize) -> &mut [u8] {
    out.get_mut(at..).unwrap_or_default()
}
