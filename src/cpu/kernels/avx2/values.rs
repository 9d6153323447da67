//! Codes that stand for other numbers, to integers in 16-bit pairs: tables, grids, 8-bit floats.

use super::codes::shift;
use crate::cpu::kernels::Words;
use crate::cpu::packed::{GridBlock, TILE_ROWS, block_bytes};
use crate::formats::{Grid, GroupForm, Table, Values};
use std::arch::x86_64::*;

/// The integers of a block of codes that are not the numbers themselves. Of 8-bit floats, which take
/// more than 16 bits, `high`: in units of 256, or what is left.
#[target_feature(enable = "avx2,fma,f16c")]
pub fn integers(form: GroupForm, high: bool, block: &[u8], words: &mut Words) {
    assert!(block.len() >= block_bytes(form));
    match form.values {
        Values::Code => {}
        Values::Table(table) => from_table(table, block, words),
        Values::E4M3 => from_floats(high, block, words),
        Values::Grid(grid) => match grid {
            Grid::Iq2Xxs => from_grid::<8, 0, false>(grid, block, words),
            Grid::Iq2Xs => from_grid::<8, 1, false>(grid, block, words),
            Grid::Iq2S => from_grid::<8, 2, false>(grid, block, words),
            Grid::Iq3Xxs => from_grid::<4, 0, false>(grid, block, words),
            Grid::Iq3S => from_grid::<4, 1, false>(grid, block, words),
            Grid::Iq1 => from_grid::<8, 4, true>(grid, block, words),
        },
    }
}

/// A table in both halves of a vector.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn in_register(table: Table) -> __m256i {
    let integers = table.integers();
    // SAFETY: 16 bytes.
    unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(integers.as_ptr().cast())) }
}

/// The integers of four pairs of 4-bit codes, those of a plane's vector, of 8 rows.
///
/// # Safety
/// `to` is the first pair's place in words; the pairs after it exist.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
unsafe fn put_four(plane: __m256i, table: __m256i, to: *mut i16) {
    // A code is brought to the high byte of its word; what the low byte looks up is shifted out.
    let high_bytes = _mm256_set1_epi32(0x0f00_0f00);
    let codes = [
        _mm256_slli_epi32::<8>(plane),
        _mm256_slli_epi32::<4>(plane),
        plane,
        _mm256_srli_epi32::<4>(plane),
    ];
    for (pair, codes) in codes.into_iter().enumerate() {
        let found = _mm256_shuffle_epi8(table, _mm256_and_si256(codes, high_bytes));
        // SAFETY: by contract; rows 8 lie 32-byte aligned.
        unsafe { _mm256_store_si256(to.add(pair * 32).cast(), _mm256_srai_epi16::<8>(found)) };
    }
}

#[target_feature(enable = "avx2,fma,f16c")]
fn from_table(table: Table, block: &[u8], words: &mut Words) {
    assert!(block.len() >= 256);
    let table = in_register(table);
    for v in 0..4 {
        for h in 0..2 {
            // SAFETY: four vectors of 64 bytes; 16 pairs of 16 rows.
            unsafe {
                let plane = _mm256_loadu_si256(block.as_ptr().add(64 * v + 32 * h).cast());
                put_four(plane, table, words.0.as_mut_ptr().add(v * 128 + 16 * h));
            }
        }
    }
}

/// `COLUMNS`, `HIGH` (bits of an entry) and `ONE_SIGN` are those of the grid's block.
#[target_feature(enable = "avx2,fma,f16c")]
fn from_grid<const COLUMNS: usize, const HIGH: usize, const ONE_SIGN: bool>(
    grid: Grid,
    block: &[u8],
    words: &mut Words,
) {
    let layout = GridBlock::new(grid);
    let (entries, table) = (grid.words(), in_register(grid.table()));
    assert!(grid.columns() == COLUMNS && layout.high == HIGH && grid.one_sign() == ONE_SIGN);
    assert!(block.len() >= layout.bytes() && entries.len() >= 1 << grid.index_bits());
    let index_bits = if ONE_SIGN { HIGH - 1 } else { HIGH };
    let index_mask = _mm256_set1_epi32((1 << index_bits) - 1);
    let signs_at = layout.entries * TILE_ROWS;
    let high_at = signs_at + layout.signs * TILE_ROWS;
    for h in 0..2 {
        // SAFETY: all places lie inside the block, whose length was checked: 16 bytes an entry and a
        // byte of signs, 0, 16 or 32 of high bits; indices have the grid's number of bits; `words` holds
        // 16 pairs of 16 rows.
        unsafe {
            let bytes = |at: usize| {
                _mm256_cvtepu8_epi32(_mm_loadl_epi64(block.as_ptr().add(at + 8 * h).cast()))
            };
            let high = match layout.high_bytes() {
                0 => _mm256_setzero_si256(),
                1 => bytes(high_at),
                _ => _mm256_cvtepu16_epi32(_mm_loadu_si128(
                    block.as_ptr().add(high_at + 16 * h).cast(),
                )),
            };
            let bits_of =
                |entry: usize| _mm256_srlv_epi32(high, _mm256_set1_epi32((entry * HIGH) as i32));
            let entry = |entry: usize| {
                let mut index = bytes(entry * TILE_ROWS);
                if HIGH > 0 {
                    let bits = _mm256_and_si256(bits_of(entry), index_mask);
                    index = _mm256_or_si256(index, _mm256_slli_epi32::<8>(bits));
                }
                _mm256_i32gather_epi32::<4>(entries.as_ptr().cast(), index)
            };
            for octet in 0..4 {
                let magnitudes = if COLUMNS == 8 {
                    entry(octet)
                } else {
                    let last = _mm256_slli_epi32::<8>(entry(2 * octet + 1));
                    _mm256_or_si256(entry(2 * octet), last)
                };
                let signs = if ONE_SIGN {
                    // The sign is an entry's highest bit.
                    let bit = _mm256_srli_epi32::<3>(bits_of(octet));
                    let bit = _mm256_and_si256(bit, _mm256_set1_epi32(1));
                    let all = _mm256_sub_epi32(_mm256_setzero_si256(), bit);
                    _mm256_and_si256(all, _mm256_set1_epi32(0x8888_8888u32 as i32))
                } else {
                    spread(bytes(signs_at + octet * TILE_ROWS))
                };
                let plane = _mm256_or_si256(magnitudes, signs);
                put_four(plane, table, words.0.as_mut_ptr().add(octet * 128 + 16 * h));
            }
        }
    }
}

/// The bits of a byte to the fourth bits of the codes of eight columns: its low nibble to the low half,
/// its high nibble to the high half.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn spread(signs: __m256i) -> __m256i {
    let and = |v, mask: u32| _mm256_and_si256(v, _mm256_set1_epi32(mask as i32));
    let both = _mm256_or_si256(signs, _mm256_slli_epi32::<12>(signs));
    let nibbles = and(both, 0x000f_000f);
    let pairs = and(
        _mm256_or_si256(nibbles, _mm256_slli_epi32::<6>(nibbles)),
        0x0303_0303,
    );
    let bits = and(
        _mm256_or_si256(pairs, _mm256_slli_epi32::<3>(pairs)),
        0x1111_1111,
    );
    _mm256_slli_epi32::<3>(bits)
}

/// Powers of two by exponent that a mantissa of four bits is multiplied with: of the numbers below 2^11
/// in units of the smallest, then of the others in units of 256.
pub const POWERS: [[u8; 16]; 2] = [
    [1, 1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64],
];

#[target_feature(enable = "avx2,fma,f16c")]
fn from_floats(high: bool, block: &[u8], words: &mut Words) {
    assert!(block.len() >= 512);
    let powers = &POWERS[usize::from(high)];
    // SAFETY: 16 bytes.
    let powers = unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(powers.as_ptr().cast())) };
    for v in 0..8 {
        for h in 0..2 {
            // SAFETY: eight vectors of 64 bytes; 16 pairs of 16 rows.
            unsafe {
                let codes = _mm256_loadu_si256(block.as_ptr().add(64 * v + 32 * h).cast());
                let to = words.0.as_mut_ptr().add(v * 64 + 16 * h);
                _mm256_store_si256(to.cast(), float_integers(codes, powers));
                let odd = float_integers(shift::<8>(codes), powers);
                _mm256_store_si256(to.add(32).cast(), odd);
            }
        }
    }
}

/// The integers of the floats in the low bytes of all words.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn float_integers(codes: __m256i, powers: __m256i) -> __m256i {
    let codes = _mm256_and_si256(codes, _mm256_set1_epi16(0xff));
    let exponent = _mm256_and_si256(_mm256_srli_epi16::<3>(codes), _mm256_set1_epi16(15));
    let normal = _mm256_cmpgt_epi16(exponent, _mm256_setzero_si256());
    let mantissa = _mm256_or_si256(
        _mm256_and_si256(codes, _mm256_set1_epi16(7)),
        _mm256_and_si256(normal, _mm256_set1_epi16(8)),
    );
    // Negative where the code's highest bit is set; zero, which it is already, where the code is zero.
    let signed = _mm256_sign_epi16(mantissa, _mm256_slli_epi16::<8>(codes));
    // A high byte with its highest bit set looks up zero.
    let at = _mm256_or_si256(exponent, _mm256_set1_epi16(0x8000u16 as i16));
    _mm256_mullo_epi16(signed, _mm256_shuffle_epi8(powers, at))
}
