//! The grids of GGUF's I-quants: an index names four or eight codes at once.
//!
//! A code is 4 bits: a place among the magnitudes of the grid's [`Table`] and, as bit 3, a sign (of
//! IQ1: which way the value is moved), which is stored apart from the index.

use super::RowGroups;
use super::Table;
use super::grid_tables::{IQ1, IQ2_S, IQ2_XS, IQ2_XXS, IQ3_S, IQ3_XXS};

/// A grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Grid {
    /// 256 entries of 8 codes.
    Iq2Xxs,
    /// 512 entries of 8 codes.
    Iq2Xs,
    /// 1024 entries of 8 codes.
    Iq2S,
    /// 256 entries of 4 codes.
    Iq3Xxs,
    /// 512 entries of 4 codes.
    Iq3S,
    /// 2048 entries of 8 codes.
    Iq1,
}

static IQ2_XXS_WORDS: [u32; 256] = words(&IQ2_XXS, 8, 2);
static IQ2_XS_WORDS: [u32; 512] = words(&IQ2_XS, 8, 2);
static IQ2_S_WORDS: [u32; 1024] = words(&IQ2_S, 8, 2);
static IQ3_XXS_WORDS: [u32; 256] = words(&IQ3_XXS, 4, 3);
static IQ3_S_WORDS: [u32; 512] = words(&IQ3_S, 4, 3);
static IQ1_WORDS: [u32; 2048] = words(&IQ1, 8, 2);

/// Entries of `columns` codes of `bits` bits as words of 4-bit codes: the pair of columns `2j`,
/// `2j + 1` is bits `4j..` of the low and of the high half.
const fn words<const N: usize>(entries: &[u16; N], columns: usize, bits: usize) -> [u32; N] {
    let mut all = [0; N];
    let mut i = 0;
    while i < N {
        let mut k = 0;
        while k < columns {
            let code = entries[i] as u32 >> (bits * k) & ((1 << bits) - 1);
            all[i] |= code << (4 * (k / 2) + 16 * (k % 2));
            k += 1;
        }
        i += 1;
    }
    all
}

impl Grid {
    /// What codes stand for.
    pub const fn table(self) -> Table {
        match self {
            Grid::Iq2Xxs | Grid::Iq2Xs | Grid::Iq2S => Table::Iq2,
            Grid::Iq3Xxs => Table::Iq3Xxs,
            Grid::Iq3S => Table::Iq3S,
            Grid::Iq1 => Table::Iq1,
        }
    }

    /// Codes of an entry.
    pub const fn columns(self) -> usize {
        match self {
            Grid::Iq3Xxs | Grid::Iq3S => 4,
            _ => 8,
        }
    }

    /// Bits of an index.
    pub const fn index_bits(self) -> usize {
        match self {
            Grid::Iq2Xxs | Grid::Iq3Xxs => 8,
            Grid::Iq2Xs | Grid::Iq3S => 9,
            Grid::Iq2S => 10,
            Grid::Iq1 => 11,
        }
    }

    /// Whether all eight columns of an entry have the same sign.
    pub const fn one_sign(self) -> bool {
        matches!(self, Grid::Iq1)
    }

    /// The entries without signs, `2^index_bits` of them: the codes of columns `2j`, `2j + 1` are bits
    /// `4j..` of the low and of the high 16 bits.
    pub fn words(self) -> &'static [u32] {
        match self {
            Grid::Iq2Xxs => &IQ2_XXS_WORDS,
            Grid::Iq2Xs => &IQ2_XS_WORDS,
            Grid::Iq2S => &IQ2_S_WORDS,
            Grid::Iq3Xxs => &IQ3_XXS_WORDS,
            Grid::Iq3S => &IQ3_S_WORDS,
            Grid::Iq1 => &IQ1_WORDS,
        }
    }

    /// The codes of eight columns: their entries and the sign of each.
    fn codes(self, entries: &[u16], signs: u8) -> [u8; 8] {
        let words = self.words();
        let word = |entry: usize| {
            let index = usize::from(entries.get(entry).copied().unwrap_or(0));
            words.get(index).copied().unwrap_or(0)
        };
        let word = match self.columns() {
            8 => word(0),
            _ => word(0) | word(1) << 8,
        };
        std::array::from_fn(|k| {
            let code = word >> (4 * (k / 2) + 16 * (k % 2)) & 15;
            code as u8 | (signs >> k & 1) << 3
        })
    }
}

/// A block of 256 weights, taken apart.
pub(super) struct Parts {
    pub(super) d: f32,
    /// Factor of each group; the first ones of the format's number of groups.
    pub(super) subs: [i8; 16],
    /// Entries; the first 32 of grids with eight columns.
    pub(super) indices: [u16; 64],
    /// Fourth bits of each eight columns.
    pub(super) signs: [u8; 32],
}

impl Default for Parts {
    fn default() -> Parts {
        Parts {
            d: 0.0,
            subs: [0; 16],
            indices: [0; 64],
            signs: [0; 32],
        }
    }
}

/// Weights a block.
pub(super) const WEIGHTS: usize = 256;

/// One row, bit-exact: `d·sub` and its product with a value are exact in any order.
pub(super) fn dequantize<const BYTES: usize>(
    grid: Grid,
    group: usize,
    take: impl Fn(&[u8; BYTES]) -> Parts,
    row: &[u8],
    out: &mut [f32],
) {
    let values = grid.table().integers();
    let unit = grid.table().unit();
    let entries = 8 / grid.columns();
    let blocks = row.as_chunks::<BYTES>().0;
    for (block, out) in blocks.iter().zip(out.as_chunks_mut::<WEIGHTS>().0) {
        let parts = take(block);
        let octets = parts.indices.chunks_exact(entries).zip(parts.signs);
        for (o, (out, (entries, signs))) in out
            .as_chunks_mut::<8>()
            .0
            .iter_mut()
            .zip(octets)
            .enumerate()
        {
            let scale = parts.d * f32::from(parts.subs[8 * o / group]) * unit;
            let codes = grid.codes(entries, signs);
            *out = codes.map(|code| scale * f32::from(values[usize::from(code)]));
        }
    }
}

/// One row in its group form.
pub(super) fn read_groups<const BYTES: usize>(
    grid: Grid,
    group: usize,
    take: impl Fn(&[u8; BYTES]) -> Parts,
    row: &[u8],
    out: &mut RowGroups,
) {
    let blocks = row.as_chunks::<BYTES>().0;
    let (count, groups, entries) = (blocks.len(), WEIGHTS / group, 8 / grid.columns());
    out.resize_super(count * WEIGHTS, count, 0, count * groups, 0);
    out.indices.resize(count * 32 * entries, 0);
    out.signs.resize(count * 32, 0);
    let parts = (out.codes.as_chunks_mut::<WEIGHTS>().0.iter_mut())
        .zip(out.sub_scales.chunks_exact_mut(groups))
        .zip(out.indices.chunks_exact_mut(32 * entries))
        .zip(out.signs.as_chunks_mut::<32>().0)
        .zip(&mut out.scales);
    for (block, ((((codes, subs), indices), signs), scale)) in blocks.iter().zip(parts) {
        let parts = take(block);
        *scale = parts.d;
        *signs = parts.signs;
        subs.copy_from_slice(&parts.subs[..groups]);
        indices.copy_from_slice(&parts.indices[..32 * entries]);
        let octets = indices.chunks_exact(entries).zip(parts.signs);
        for (codes, (entries, signs)) in codes.as_chunks_mut::<8>().0.iter_mut().zip(octets) {
            *codes = grid.codes(entries, signs);
        }
    }
}

/// The eight signs that seven stored bits stand for: the number of negative ones is even.
pub(super) fn even_signs(bits: u8) -> u8 {
    let bits = bits & 127;
    bits | (bits.count_ones() as u8 & 1) << 7
}
