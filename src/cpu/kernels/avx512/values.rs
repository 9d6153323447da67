//! Codes that stand for other numbers, to integers: in 16-bit pairs, or in bytes for the product with one
//! token row; `avx2::values` says how.

use crate::cpu::activations::Bytes;
use crate::cpu::kernels::Words;
use crate::cpu::kernels::avx2::POWERS;
use crate::cpu::packed::{BLOCK, GridBlock, TILE_ROWS, block_bytes};
use crate::formats::{Grid, GroupForm, Table, Values};
use std::arch::x86_64::*;

/// The integers of a block of codes that are not the numbers themselves. Of 8-bit floats, which take
/// more than 16 bits, `high`: in units of 256, or what is left.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
pub fn integers(form: GroupForm, high: bool, block: &[u8], words: &mut Words) {
    assert!(block.len() >= block_bytes(form));
    match form.values {
        Values::Code => {}
        Values::E4M3 => from_floats(high, block, words),
        Values::Table(table) => Planes::<0, 0, false>::new(form, table).put(block, words),
        Values::Grid(grid) => {
            let table = grid.table();
            match grid {
                Grid::Iq2Xxs => Planes::<8, 0, false>::new(form, table).put(block, words),
                Grid::Iq2Xs => Planes::<8, 1, false>::new(form, table).put(block, words),
                Grid::Iq2S => Planes::<8, 2, false>::new(form, table).put(block, words),
                Grid::Iq3Xxs => Planes::<4, 0, false>::new(form, table).put(block, words),
                Grid::Iq3S => Planes::<4, 1, false>::new(form, table).put(block, words),
                Grid::Iq1 => Planes::<8, 4, true>::new(form, table).put(block, words),
            }
        }
    }
}

/// 16 bytes in all quarters of a vector.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
#[inline]
fn in_register<T>(bytes: &[T; 16]) -> __m512i {
    const { assert!(size_of::<T>() == 1) };
    // SAFETY: 16 bytes.
    unsafe { _mm512_broadcast_i32x4(_mm_loadu_si128(bytes.as_ptr().cast())) }
}

/// The integers of four pairs of 4-bit codes, those of a plane's vector.
///
/// # Safety
/// `to` is the first pair's place in words; the pairs after it exist.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
#[inline]
unsafe fn put_four(plane: __m512i, table: __m512i, to: *mut i16) {
    let high_bytes = _mm512_set1_epi32(0x0f00_0f00);
    let codes = [
        _mm512_slli_epi32::<8>(plane),
        _mm512_slli_epi32::<4>(plane),
        plane,
        _mm512_srli_epi32::<4>(plane),
    ];
    for (pair, codes) in codes.into_iter().enumerate() {
        let found = _mm512_shuffle_epi8(table, _mm512_and_si512(codes, high_bytes));
        // SAFETY: by contract; a pair's 16 rows lie 64-byte aligned.
        unsafe { _mm512_store_si512(to.add(pair * 32).cast(), _mm512_srai_epi16::<8>(found)) };
    }
}

/// Where the 4-bit codes of a block come from: a plane of codes (`COLUMNS` is 0) or a grid, whose block
/// has `COLUMNS` of an entry, `HIGH` bits of an entry and `ONE_SIGN`.
pub struct Planes<const COLUMNS: usize, const HIGH: usize, const ONE_SIGN: bool> {
    /// The integers of the codes, in all quarters.
    table: __m512i,
    entries: &'static [u32],
    layout: GridBlock,
    index_mask: __m512i,
    size: usize,
}

impl<const COLUMNS: usize, const HIGH: usize, const ONE_SIGN: bool>
    Planes<COLUMNS, HIGH, ONE_SIGN>
{
    /// Of codes of a form with a table.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
    pub fn new(form: GroupForm, table: Table) -> Self {
        let (entries, layout, index_bits) = match form.values {
            Values::Grid(grid) => {
                let layout = GridBlock::new(grid);
                assert!(grid.columns() == COLUMNS && layout.high == HIGH);
                assert!(grid.one_sign() == ONE_SIGN);
                assert!(grid.words().len() >= 1 << grid.index_bits());
                (grid.words(), layout, grid.index_bits() - 8)
            }
            _ => {
                assert!(COLUMNS == 0 && form.bits == 4);
                (&[][..], GridBlock::default(), 0)
            }
        };
        Planes {
            table: in_register(&table.integers()),
            entries,
            layout,
            index_mask: _mm512_set1_epi32((1 << index_bits) - 1),
            size: block_bytes(form),
        }
    }

    /// The codes of eight columns, four pairs.
    ///
    /// # Safety
    /// `block` holds a block of the form; `octet` is below 4.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
    #[inline]
    unsafe fn plane(&self, block: *const u8, octet: usize) -> __m512i {
        let bytes = |at: usize| {
            // SAFETY: 16 bytes inside the block.
            _mm512_cvtepu8_epi32(unsafe { _mm_loadu_si128(block.add(at).cast()) })
        };
        if COLUMNS == 0 {
            // SAFETY: four vectors of 64 bytes.
            return unsafe { _mm512_loadu_si512(block.add(64 * octet).cast()) };
        }
        let signs_at = self.layout.entries * TILE_ROWS;
        let high_at = signs_at + self.layout.signs * TILE_ROWS;
        let high = match HIGH * BLOCK / COLUMNS {
            0 => _mm512_setzero_si512(),
            1..=8 => bytes(high_at),
            // SAFETY: 32 bytes at the block's end.
            _ => _mm512_cvtepu16_epi32(unsafe { _mm256_loadu_si256(block.add(high_at).cast()) }),
        };
        let bits_of =
            |entry: usize| _mm512_srlv_epi32(high, _mm512_set1_epi32((entry * HIGH) as i32));
        let entry = |entry: usize| {
            let mut index = bytes(entry * TILE_ROWS);
            if HIGH > 0 {
                let bits = _mm512_and_si512(bits_of(entry), self.index_mask);
                index = _mm512_or_si512(index, _mm512_slli_epi32::<8>(bits));
            }
            // SAFETY: the index has the grid's number of bits, and so many entries there are.
            unsafe { _mm512_i32gather_epi32::<4>(index, self.entries.as_ptr().cast()) }
        };
        let magnitudes = if COLUMNS == 8 {
            entry(octet)
        } else {
            let last = _mm512_slli_epi32::<8>(entry(2 * octet + 1));
            _mm512_or_si512(entry(2 * octet), last)
        };
        let signs = if ONE_SIGN {
            let sign = _mm512_test_epi32_mask(bits_of(octet), _mm512_set1_epi32(8));
            _mm512_maskz_set1_epi32(sign, 0x8888_8888u32 as i32)
        } else {
            spread(bytes(signs_at + octet * TILE_ROWS))
        };
        _mm512_or_si512(magnitudes, signs)
    }

    /// The integers of a block in pairs.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
    fn put(&self, block: &[u8], words: &mut Words) {
        assert!(block.len() >= self.size);
        for octet in 0..4 {
            // SAFETY: the length was checked; 16 pairs of 16 rows.
            unsafe {
                let plane = self.plane(block.as_ptr(), octet);
                put_four(plane, self.table, words.0.as_mut_ptr().add(octet * 128));
            }
        }
    }

    /// Half a block (`from` is 0 or 2) or more (`OCTETS`) times one token row's bytes, as in
    /// `few_rows::four_bits`, but with all integers greater by 128, so that they are unsigned.
    ///
    /// # Safety
    /// `block` holds a block of the form.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
    #[inline]
    pub unsafe fn dot<const OCTETS: usize>(
        &self,
        block: *const u8,
        x: &Bytes,
        from: usize,
    ) -> __m512i {
        let mask = _mm512_set1_epi8(15);
        let table = _mm512_xor_si512(self.table, _mm512_set1_epi8(-128));
        let mut low = [_mm512_setzero_si512(); 2];
        let mut high = low;
        for v in from..from + OCTETS {
            // SAFETY: by contract; 16 bytes of `x` for each vector.
            unsafe {
                let plane = self.plane(block, v);
                let nibbles = [
                    _mm512_and_si512(plane, mask),
                    _mm512_and_si512(_mm512_srli_epi32::<4>(plane), mask),
                ];
                let x = x.0.as_ptr().add(16 * v).cast::<i32>();
                for (n, &codes) in nibbles.iter().enumerate() {
                    let integers = _mm512_shuffle_epi8(table, codes);
                    let (x_low, x_high) = (x.add(n).read(), x.add(2 + n).read());
                    low[n] = _mm512_dpbusd_epi32(low[n], integers, _mm512_set1_epi32(x_low));
                    high[n] = _mm512_dpbusd_epi32(high[n], integers, _mm512_set1_epi32(x_high));
                }
            }
        }
        let low = _mm512_add_epi32(low[0], low[1]);
        let high = _mm512_add_epi32(high[0], high[1]);
        _mm512_add_epi32(_mm512_slli_epi32::<8>(high), low)
    }
}

/// The bits of a byte to the fourth bits of the codes of eight columns: its low nibble to the low half,
/// its high nibble to the high half.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
#[inline]
fn spread(signs: __m512i) -> __m512i {
    let and = |v, mask: u32| _mm512_and_si512(v, _mm512_set1_epi32(mask as i32));
    let both = _mm512_or_si512(signs, _mm512_slli_epi32::<12>(signs));
    let nibbles = and(both, 0x000f_000f);
    let pairs = and(
        _mm512_or_si512(nibbles, _mm512_slli_epi32::<6>(nibbles)),
        0x0303_0303,
    );
    let bits = and(
        _mm512_or_si512(pairs, _mm512_slli_epi32::<3>(pairs)),
        0x1111_1111,
    );
    _mm512_slli_epi32::<3>(bits)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
fn from_floats(high: bool, block: &[u8], words: &mut Words) {
    assert!(block.len() >= 512);
    let powers = in_register(&POWERS[usize::from(high)]);
    for v in 0..8 {
        // SAFETY: eight vectors of 64 bytes; 16 pairs of 16 rows.
        unsafe {
            let codes = _mm512_loadu_si512(block.as_ptr().add(64 * v).cast());
            let to = words.0.as_mut_ptr().add(v * 64);
            _mm512_store_si512(to.cast(), float_integers(codes, powers));
            let odd = float_integers(_mm512_srli_epi32::<8>(codes), powers);
            _mm512_store_si512(to.add(32).cast(), odd);
        }
    }
}

/// The integers of the floats in the low bytes of all words.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
#[inline]
fn float_integers(codes: __m512i, powers: __m512i) -> __m512i {
    let exponent = _mm512_and_si512(_mm512_srli_epi16::<3>(codes), _mm512_set1_epi16(15));
    let normal = _mm512_test_epi16_mask(exponent, exponent);
    let mantissa = _mm512_and_si512(codes, _mm512_set1_epi16(7));
    let eight = _mm512_maskz_set1_epi16(normal, 8);
    let mantissa = _mm512_or_si512(mantissa, eight);
    let negative = _mm512_test_epi16_mask(codes, _mm512_set1_epi16(0x80));
    let signed = _mm512_mask_sub_epi16(mantissa, negative, _mm512_setzero_si512(), mantissa);
    // A high byte with its highest bit set looks up zero.
    let at = _mm512_or_si512(exponent, _mm512_set1_epi16(0x8000u16 as i16));
    _mm512_mullo_epi16(signed, _mm512_shuffle_epi8(powers, at))
}
