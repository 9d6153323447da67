//! What of a GPU's tiles (`hip/common/quant.h`) the CPU has to know: where columns lie, and what scales say.

use super::lanes::{Lanes, Pattern};
use crate::gpu::model::pack::{BLOCK, PackForm, Scales, TILE_ROWS};

/// Columns of x that share a scale.
pub const SPAN: usize = 256;
/// Bytes of a line: what a plane has of two rows.
pub const LINE: usize = 64;
/// Lines of a vector of a plane.
pub const LINES: usize = TILE_ROWS / 2;
/// The most groups of a unit.
pub const MOST_GROUPS: usize = 16;

/// A number of each row of a tile: rows 0, 8, 1, 9, …, as they lie there.
pub type Rows = [f32; TILE_ROWS];

/// A plane of codes.
pub struct Plane {
    /// Of a code, and how far to the left they belong.
    pub bits: u32,
    pub up: u32,
    /// Where it begins in a unit.
    pub offset: usize,
    /// How many pieces of sixteen lines a unit has.
    pub vectors: usize,
    /// The unit's column of each number of x, in the order in which products take them.
    pub order: Vec<u16>,
    /// For each vector, of single bits for either half of its columns, the groups of the lanes.
    pub patterns: Vec<Pattern>,
    /// The lanes are of one group in each vector.
    pub is_plain: bool,
}

impl Plane {
    fn new(form: PackForm, bits: usize, up: usize, offset: usize) -> Plane {
        let vectors = form.unit_blocks() * bits / 4;
        let in_word = 16 / bits;
        // The block, step and place of a pair in the list of a lane.
        let place = |pair: usize| (pair / 16, pair / 4 % 4, pair % 4);
        let mut order = Vec::new();
        let sums = if bits == 1 { 2 } else { 1 };
        let mut patterns = Vec::new();
        for vector in 0..vectors {
            let pair = |lane: usize, at: usize| (4 * vector + lane % 4) * in_word + at;
            for at in (0..in_word).step_by(2) {
                for lane in 0..16 {
                    let (block, step, i) = place(pair(lane, at));
                    let column = block * BLOCK + 32 * (step / 2) + 8 * (lane / 4);
                    let column = (column + 4 * (step % 2) + 2 * (i / 2)) as u16;
                    order.extend([column, column + 1]);
                }
            }
            for sum in 0..sums {
                let group = |lane: usize| {
                    let (block, step, _) = place(pair(lane, sum * in_word / sums));
                    let column = block * BLOCK + 32 * (step / 2) + 8 * (lane / 4);
                    (column / form.group) as i32
                };
                patterns.push(Pattern::new(std::array::from_fn(group)));
            }
        }
        let one = |pattern: &Pattern| pattern.index.iter().all(|at| *at == pattern.index[0]);
        Plane {
            bits: bits as u32,
            up: up as u32,
            offset,
            vectors,
            order,
            is_plain: patterns.iter().all(one),
            patterns,
        }
    }
}

/// A form that the CPU multiplies.
pub struct HostForm {
    pub form: PackForm,
    pub planes: Vec<Plane>,
    /// Groups of a unit.
    pub groups: usize,
    /// What codes stand for, if not for themselves; `None` of tables that lie with each unit.
    pub table: Option<[i8; 16]>,
    /// Whether codes are places in a table.
    pub looks_up: bool,
    /// Whether there are biases.
    pub has_bias: bool,
}

/// Twice the numbers of e2m1.
const E2M1: [i8; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];

impl HostForm {
    /// `None`: the CPU has no kernels for it.
    pub fn new(form: PackForm) -> Option<HostForm> {
        let is_e2m1 = matches!(form.scales, Scales::Power | Scales::Float8);
        let looks_up = is_e2m1 || form.scales == Scales::Table16;
        let is_here = match form.scales {
            Scales::Single | Scales::Table8 => false,
            Scales::Power | Scales::Float8 | Scales::Table16 => form.bits == 4,
            _ => true,
        };
        let groups = form.unit_blocks() * BLOCK / form.group.max(1);
        if !is_here || groups > MOST_GROUPS || form.is_e4m3() {
            return None;
        }
        let first = form.first();
        let mut planes = vec![Plane::new(form, first, 0, 0)];
        if form.bits > first {
            let offset = form.unit_blocks() * BLOCK * TILE_ROWS / 8 * first;
            planes.push(Plane::new(form, form.bits - first, first, offset));
        }
        Some(HostForm {
            form,
            planes,
            groups,
            table: is_e2m1.then_some(E2M1),
            looks_up,
            has_bias: !looks_up,
        })
    }

    /// The table of a tile, whose first unit these bytes are.
    pub fn table(&self, unit: &[u8]) -> [i8; 16] {
        self.table.unwrap_or_else(|| {
            let end = unit.len().saturating_sub(16);
            std::array::from_fn(|i| unit.get(end + i).map_or(0, |byte| *byte as i8))
        })
    }

    /// Scale and bias of each group of a unit: `w = scale · code + bias`.
    ///
    /// # Safety
    /// The CPU has the level of `L`, and the caller its features on; the unit is whole.
    #[inline(always)]
    pub unsafe fn scales<L: Lanes>(&self, unit: &[u8], scale: &mut [Rows], bias: &mut [Rows]) {
        let form = self.form;
        let (common, own) = unit[form.code_bytes()..].split_at(form.super_bytes());
        let zero = match form.scales {
            Scales::Zero => (1 << (form.bits - 1)) as f32,
            _ if form.bits == 6 => 32.0,
            _ => 4.0,
        };
        let groups = own.chunks_exact(form.group_bytes()).zip(scale).zip(bias);
        let groups = groups.take(self.groups);
        let halves = |bytes: &[u8]| {
            let mut numbers = [0.0; TILE_ROWS];
            let bytes = &bytes[..2 * TILE_ROWS];
            // SAFETY: as above; sixteen numbers of two bytes.
            unsafe { L::halves(bytes.as_ptr(), &mut numbers) };
            numbers
        };
        // Two numbers of each row.
        let pairs = |bytes: &[u8]| {
            let (low, high) = (halves(bytes), halves(&bytes[2 * TILE_ROWS..]));
            let of = |at: usize| {
                if at < TILE_ROWS {
                    low[at]
                } else {
                    high[at - TILE_ROWS]
                }
            };
            let first: Rows = std::array::from_fn(|row| of(2 * row));
            let second: Rows = std::array::from_fn(|row| of(2 * row + 1));
            (first, second)
        };
        match form.scales {
            Scales::PairF16 => groups.for_each(|((group, scale), bias)| {
                (*scale, *bias) = pairs(group);
            }),
            Scales::Point => groups.for_each(|((group, scale), bias)| {
                let (scales, points) = pairs(group);
                *scale = scales;
                *bias = std::array::from_fn(|row| -scales[row] * points[row]);
            }),
            Scales::PairBf16 => groups.for_each(|((group, scale), bias)| {
                let words = group.as_chunks::<4>().0.iter().zip(scale).zip(bias);
                words.for_each(|((word, scale), bias)| {
                    let word = u32::from_le_bytes(*word);
                    *scale = f32::from_bits(word << 16);
                    *bias = f32::from_bits(word & 0xffff_0000);
                });
            }),
            Scales::PairF32 => groups.for_each(|((group, scale), bias)| {
                let words = group.as_chunks::<8>().0.iter().zip(scale).zip(bias);
                words.for_each(|((word, scale), bias)| {
                    let word = u64::from_le_bytes(*word);
                    *scale = f32::from_bits(word as u32);
                    *bias = f32::from_bits((word >> 32) as u32);
                });
            }),
            Scales::Zero => groups.for_each(|((group, scale), bias)| {
                *scale = halves(group);
                *bias = scale.map(|scale| -zero * scale);
            }),
            Scales::SuperZero => {
                let d = halves(common);
                groups.for_each(|((group, scale), bias)| {
                    *scale = std::array::from_fn(|row| d[row] * f32::from(group[row] as i8));
                    *bias = scale.map(|scale| -zero * scale);
                });
            }
            Scales::SuperMin => {
                let (d, least) = pairs(common);
                groups.for_each(|((group, scale), bias)| {
                    let pairs = group.as_chunks::<2>().0;
                    for row in 0..TILE_ROWS.min(pairs.len()) {
                        scale[row] = d[row] * f32::from(pairs[row][0]);
                        bias[row] = -least[row] * f32::from(pairs[row][1]);
                    }
                });
            }
            // Half of 2^(byte - 127), and 0 for the smallest.
            Scales::Power => groups.for_each(|((group, scale), _)| {
                let power = |byte: u8| f32::from_bits(u32::from(byte) << 23) * 0.5;
                *scale = std::array::from_fn(|row| power(group[row]));
            }),
            Scales::Float8 => groups.for_each(|((group, scale), _)| {
                *scale = std::array::from_fn(|row| 0.5 * e4m3(group[row]));
            }),
            Scales::Table16 => {
                let d = halves(common);
                groups.for_each(|((group, scale), _)| {
                    let own = halves(group);
                    *scale = std::array::from_fn(|row| d[row] * own[row]);
                });
            }
            Scales::Single | Scales::Table8 => {}
        }
    }
}

/// A number of four bits of exponent and three of mantissa, as the GPU's kernels take it: NaN is 480.
fn e4m3(byte: u8) -> f32 {
    let bits = u32::from(byte & 0x7f) << 20 | u32::from(byte & 0x80) << 24;
    f32::from_bits(bits) * 2f32.powi(120)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each column of a unit is once in a plane's order for each row of a line, and in the group that it is multiplied with.
    #[test]
    fn every_column_has_a_place_in_its_group() {
        for (bits, scales, group) in [
            (4, Scales::PairBf16, 64),
            (4, Scales::Zero, 32),
            (8, Scales::PairF16, 32),
            (2, Scales::SuperMin, 16),
            (3, Scales::SuperZero, 16),
            (5, Scales::SuperMin, 32),
            (6, Scales::SuperZero, 16),
        ] {
            let form = PackForm {
                bits,
                scales,
                group,
            };
            let host = HostForm::new(form).unwrap();
            let columns = form.unit_blocks() * BLOCK;
            for plane in &host.planes {
                let mut seen = plane.order.clone();
                seen.sort_unstable();
                let all: Vec<u16> = (0..columns as u16).collect();
                assert_eq!(seen, all, "{form:?}");
                // Numbers of a vector: for each pair of slots sixteen lanes of two columns.
                let numbers = plane.order.len() / plane.vectors;
                for (at, column) in plane.order.iter().enumerate() {
                    let (vector, within) = (at / numbers, at % numbers);
                    let sums = plane.patterns.len() / plane.vectors;
                    let sum = within * sums / numbers;
                    let lane = within / 2 % 16;
                    let group = plane.patterns[vector * sums + sum].index[lane];
                    assert_eq!(group, i32::from(*column) / form.group as i32, "{form:?}");
                }
            }
        }
    }
}
