//! A tile as it lies for a GPU times a row of x on the CPU: sums of 16-bit numbers, exact within a line, each scaled in f32.
//! A line of a plane has the same columns of two rows, so that a lane is some columns of a row; lanes are summed at the end.

use super::form::{HostForm, LINE, LINES, MOST_GROUPS, Plane, Rows, SPAN};
use super::lanes::{Lanes, Portable};
use crate::cpu::{SimdLevel, kernels, simd_level};
use crate::gpu::model::pack::{BLOCK, TILE_ROWS};

/// The largest number of a row of x as 16-bit integers.
const LARGEST: f32 = 32639.0;

/// A row of x for tiles of a form.
#[derive(Default)]
pub struct Input {
    /// For each plane what its products take, unit after unit.
    numbers: [Vec<i16>; 2],
    /// Of each span.
    scales: Vec<f32>,
    /// The sum of each group's integers.
    sums: Vec<f32>,
}

/// What a product keeps between calls.
#[derive(Default)]
pub struct Scratch {
    scales: Vec<Rows>,
    biases: Vec<Rows>,
    /// The scales times those of x: of each group the rows', and of each row the groups'.
    scaled: Vec<Rows>,
    turned: Vec<f32>,
}

/// The functions of a level.
#[derive(Clone, Copy)]
pub struct HostKernels {
    quantize: unsafe fn(&HostForm, &[f32], &mut Input),
    tile: unsafe fn(&HostForm, &[u8], &[&Input], &mut Scratch, &mut [Rows]),
}

impl HostKernels {
    /// Those of the level in use.
    pub fn new() -> HostKernels {
        HostKernels::of(simd_level())
    }

    /// Those of a level, which this CPU has.
    fn of(level: SimdLevel) -> HostKernels {
        match level {
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => HostKernels {
                quantize: x86::quantize_512,
                tile: x86::tile_512,
            },
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => HostKernels {
                quantize: x86::quantize_2,
                tile: x86::tile_2,
            },
            _ => HostKernels {
                quantize: quantize_portable,
                tile: tile_portable,
            },
        }
    }

    /// Makes a row of x an input.
    pub fn quantize(self, form: &HostForm, x: &[f32], input: &mut Input) {
        // SAFETY: the level is this CPU's.
        unsafe { (self.quantize)(form, x, input) }
    }

    /// `out[i][r] = Σ_c w[r][c] · x[i][c]` for the tile's rows in the order 0, 1, 2, …
    pub fn tile(
        self,
        form: &HostForm,
        tile: &[u8],
        inputs: &[&Input],
        scratch: &mut Scratch,
        out: &mut [Rows],
    ) {
        // SAFETY: the level is this CPU's.
        unsafe { (self.tile)(form, tile, inputs, scratch, out) }
    }
}

#[inline(always)]
fn quantize(form: &HostForm, x: &[f32], input: &mut Input) {
    let units = form.form.units(x.len());
    let columns = form.form.unit_blocks() * BLOCK;
    let group = columns / form.groups;
    input.scales.clear();
    input.sums.clear();
    for numbers in &mut input.numbers {
        numbers.clear();
    }
    let spans = (units * columns).div_ceil(SPAN);
    for number in 0..spans {
        let start = (number * SPAN).min(x.len());
        let part = &x[start..(start + SPAN).min(x.len())];
        let mut span = [0.0f32; SPAN];
        span[..part.len()].copy_from_slice(part);
        let most = span.iter().fold(0.0f32, |most, v| most.max(v.abs()));
        // What is not finite shows in every result.
        let poison: f32 = span.iter().map(|v| v * 0.0).sum();
        let inverse = if most > 0.0 { LARGEST / most } else { 0.0 };
        let ints = span.map(|v| (v * inverse).round_ties_even() as i16);
        input.scales.push(most / LARGEST + poison);
        // The last span may have fewer units.
        let here = (SPAN / columns).min(units - number * (SPAN / columns));
        for unit in ints.chunks_exact(columns).take(here) {
            for (plane, numbers) in form.planes.iter().zip(&mut input.numbers) {
                numbers.extend(plane.order.iter().map(|at| unit[usize::from(*at)]));
            }
            let sum = |group: &[i16]| group.iter().map(|int| i32::from(*int)).sum::<i32>() as f32;
            input.sums.extend(unit.chunks_exact(group).map(sum));
        }
    }
}

/// # Safety
/// The CPU has the level of `L`, and the caller its features on.
#[inline(always)]
unsafe fn tile<L: Lanes>(
    form: &HostForm,
    tile: &[u8],
    inputs: &[&Input],
    scratch: &mut Scratch,
    out: &mut [Rows],
) {
    let bytes = form.form.unit_bytes();
    let (units, groups) = (tile.len() / bytes, form.groups);
    let Scratch {
        scales,
        biases,
        scaled,
        turned,
    } = scratch;
    let all = units * groups;
    for list in [&mut *scales, &mut *biases, &mut *scaled] {
        list.resize(all, [0.0; TILE_ROWS]);
    }
    let is_turned = form.planes.iter().any(|plane| !plane.is_plain);
    if is_turned {
        // Lanes choose among sixteen numbers, wherever they begin.
        turned.resize(all * TILE_ROWS + MOST_GROUPS + 4, 0.0);
    }
    let in_unit = scales.chunks_exact_mut(groups);
    let in_unit = in_unit.zip(biases.chunks_exact_mut(groups));
    for (unit, (scales, biases)) in tile.chunks_exact(bytes).zip(in_unit) {
        let own = unit[form.form.code_bytes()..].chunks(LINE);
        // SAFETY: the caller's promise.
        unsafe {
            own.for_each(|line| L::prefetch(line.as_ptr().wrapping_add(tile.len())));
            form.scales::<L>(unit, scales, biases);
        }
    }
    let table = form.table(&tile[..bytes.min(tile.len())]);
    let span_units = SPAN / (form.form.unit_blocks() * BLOCK);
    for (input, out) in inputs.iter().zip(out) {
        assert!(input.sums.len() >= all && input.scales.len() * span_units >= units);
        let mut biased = [0.0f32; TILE_ROWS];
        if form.has_bias {
            for (at, (bias, sum)) in biases.iter().zip(&input.sums).enumerate() {
                let x = sum * input.scales[at / groups / span_units];
                for (to, bias) in biased.iter_mut().zip(bias) {
                    *to += bias * x;
                }
            }
        }
        // SAFETY: the caller's promise.
        let mut sums = unsafe { [L::splat(0.0); TILE_ROWS] };
        let by_span = scales.chunks(groups * span_units).zip(&input.scales);
        let by_span = by_span.zip(scaled.chunks_mut(groups * span_units));
        for ((scales, x), scaled) in by_span {
            for (scale, scaled) in scales.iter().zip(scaled) {
                *scaled = scale.map(|scale| scale * x);
            }
        }
        if is_turned {
            // SAFETY: the table was chosen for this CPU.
            unsafe { (kernels().to_rows)(scaled, &mut turned[..all * TILE_ROWS]) };
        }
        for (plane, numbers) in form.planes.iter().zip(&input.numbers) {
            let length = plane.order.len();
            assert!(numbers.len() >= units * length);
            let work = Work {
                plane,
                tile,
                bytes,
                numbers,
                groups,
                scaled,
                turned,
                table,
            };
            // SAFETY: as above.
            unsafe {
                match (plane.bits, plane.up) {
                    (4, _) if form.looks_up => work.run::<L, 4, 0, true>(&mut sums),
                    (4, _) => work.run::<L, 4, 0, false>(&mut sums),
                    (8, _) => work.run::<L, 8, 0, false>(&mut sums),
                    (2, 0) => work.run::<L, 2, 0, false>(&mut sums),
                    (2, _) => work.run::<L, 2, 4, false>(&mut sums),
                    (_, 2) => work.run::<L, 1, 2, false>(&mut sums),
                    (_, _) => work.run::<L, 1, 4, false>(&mut sums),
                }
            }
        }
        for (at, (sum, bias)) in sums.iter().zip(biased).enumerate() {
            // SAFETY: as above.
            out[at / 2 + at % 2 * LINES] = unsafe { L::sum(*sum) } + bias;
        }
    }
}

/// A plane of a tile times a row.
struct Work<'a> {
    plane: &'a Plane,
    tile: &'a [u8],
    /// Of a unit.
    bytes: usize,
    numbers: &'a [i16],
    /// Of a unit.
    groups: usize,
    scaled: &'a [Rows],
    turned: &'a [f32],
    table: [i8; 16],
}

impl Work<'_> {
    /// # Safety
    /// As [`tile`]; of each unit of the tile there are numbers and scales.
    #[inline(always)]
    unsafe fn run<L: Lanes, const BITS: u32, const UP: u32, const TABLE: bool>(
        &self,
        sums: &mut [L::Floats; TILE_ROWS],
    ) {
        // SAFETY: as above.
        unsafe {
            match self.plane.is_plain {
                true => self.scaled_by::<L, BITS, UP, TABLE, true>(sums),
                false => self.scaled_by::<L, BITS, UP, TABLE, false>(sums),
            }
        }
    }

    /// # Safety
    /// As `run`.
    #[inline(always)]
    unsafe fn scaled_by<
        L: Lanes,
        const BITS: u32,
        const UP: u32,
        const TABLE: bool,
        const PLAIN: bool,
    >(
        &self,
        sums: &mut [L::Floats; TILE_ROWS],
    ) {
        let plane = self.plane;
        // Of its own, so that it stays in registers.
        let mut own = *sums;
        let slots = 16 / BITS as usize;
        let halves = if BITS == 1 { 2 } else { 1 };
        let mask = (1u32 << BITS) - 1;
        let mask = mask | mask << 16;
        for (unit, codes) in self.tile.chunks_exact(self.bytes).enumerate() {
            let first = unit * self.groups;
            let scaled = &self.scaled[first..first + self.groups];
            // Of the last row, too, there are as many as lanes choose among.
            let most = (TILE_ROWS - 1) * self.scaled.len() + first + MOST_GROUPS + 4;
            assert!(PLAIN || most <= self.turned.len());
            let turned = self.turned.as_ptr().wrapping_add(first);
            let numbers = &self.numbers[unit * plane.order.len()..][..plane.order.len()];
            for vector in 0..plane.vectors {
                let at = plane.offset + vector * LINES * LINE;
                let lines = &codes[at..at + LINES * LINE];
                let numbers = &numbers[vector * slots * 16..][..slots * 16];
                let patterns = &plane.patterns[vector * halves..][..halves];
                // SAFETY: as above; a line has 64 bytes, and x sixteen pairs for every two slots.
                unsafe {
                    let mut x = [L::zero(); 8];
                    for (at, x) in x.iter_mut().enumerate().take(slots / 2) {
                        *x = L::load(numbers[at * 32..at * 32 + 32].as_ptr().cast());
                    }
                    let mut choices = [L::choice(&patterns[0]); 2];
                    if halves == 2 {
                        choices[1] = L::choice(&patterns[1]);
                    }
                    for g in 0..LINES {
                        let line = lines[g * LINE..][..LINE].as_ptr();
                        L::prefetch(line.wrapping_add(self.tile.len()));
                        let line = L::load(line);
                        let ints = products::<L, BITS, TABLE>(line, &x, mask, &self.table);
                        for (half, ints) in ints.iter().enumerate().take(halves) {
                            for (h, ints) in ints.iter().enumerate() {
                                let row = 2 * g + h;
                                let ints = match UP {
                                    0 => *ints,
                                    _ => L::shift_up(*ints, UP),
                                };
                                let scale = match PLAIN {
                                    true => L::splat(scaled[patterns[half].index[0] as usize][row]),
                                    false => {
                                        let groups = turned.add(row * self.scaled.len());
                                        L::choose(groups, choices[half])
                                    }
                                };
                                own[row] = L::add_scaled(own[row], ints, scale);
                            }
                        }
                    }
                }
            }
        }
        *sums = own;
    }
}

/// The sums of a line's two rows; of single bits one for either half of the columns.
///
/// # Safety
/// As [`tile`].
#[inline(always)]
unsafe fn products<L: Lanes, const BITS: u32, const TABLE: bool>(
    line: L::Words,
    x: &[L::Words; 8],
    mask: u32,
    table: &[i8; 16],
) -> [[L::Words; 2]; 2] {
    // SAFETY: as above.
    unsafe {
        let zero = [L::zero(); 2];
        let mut sums = [zero; 2];
        let add = |sum: &mut L::Words, codes: L::Words, x: L::Words| {
            *sum = L::add_pairs(*sum, codes, x);
        };
        if TABLE {
            let codes = [
                L::and(line, 0x0f0f_0f0f),
                L::and(L::shift(line, 4), 0x0f0f_0f0f),
            ];
            for (sum, codes) in sums[0].iter_mut().zip(codes) {
                let values = L::look_up(table, codes);
                add(sum, L::even_bytes(values), x[0]);
                add(sum, L::odd_bytes(values), x[1]);
            }
            return sums;
        }
        // Slots by turns of the first and the second row.
        for slot in 0..16 / BITS as usize {
            let half = if BITS == 1 && slot >= 8 { 1 } else { 0 };
            let codes = L::and(L::shift(line, BITS * slot as u32), mask);
            add(&mut sums[half][slot % 2], codes, x[slot / 2]);
        }
        sums
    }
}

fn quantize_portable(form: &HostForm, x: &[f32], input: &mut Input) {
    quantize(form, x, input);
}

fn tile_portable(
    form: &HostForm,
    bytes: &[u8],
    inputs: &[&Input],
    scratch: &mut Scratch,
    out: &mut [Rows],
) {
    // SAFETY: every CPU has it.
    unsafe { tile::<Portable>(form, bytes, inputs, scratch, out) }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::super::lanes::{Avx2, Avx512};
    use super::*;

    #[target_feature(enable = "avx2,fma,f16c")]
    pub fn quantize_2(form: &HostForm, x: &[f32], input: &mut Input) {
        quantize(form, x, input);
    }

    #[target_feature(enable = "avx2,fma,f16c")]
    pub fn tile_2(
        form: &HostForm,
        bytes: &[u8],
        inputs: &[&Input],
        scratch: &mut Scratch,
        out: &mut [Rows],
    ) {
        // SAFETY: the features are on.
        unsafe { tile::<Avx2>(form, bytes, inputs, scratch, out) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
    pub fn quantize_512(form: &HostForm, x: &[f32], input: &mut Input) {
        quantize(form, x, input);
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
    pub fn tile_512(
        form: &HostForm,
        bytes: &[u8],
        inputs: &[&Input],
        scratch: &mut Scratch,
        out: &mut [Rows],
    ) {
        // SAFETY: the features are on.
        unsafe { tile::<Avx512>(form, bytes, inputs, scratch, out) }
    }
}

#[cfg(test)]
#[path = "tile_tests.rs"]
mod tests;
