//! Matrix instructions: what WMMA and MFMA share. Their matrices lie in registers so that runs of lanes hold
//! neighbours; a `Layout` says where, and whole runs are moved at once.

// Several rows are walked at one index; the plain loop is what the compiler vectorises best.
#![allow(clippy::needless_range_loop)]

use super::convert::{bf8, fp8};
use super::decode::Target;
use super::disassembly::Text;
use super::half::{bf16_to_f32, f16_to_f32};
use super::wave::{Row, Run, Wave};
use super::{mfma, wmma};

/// Elements of the largest factor, and of the largest result, of all blocks.
pub const FACTOR: usize = 512;
pub const RESULT: usize = 2048;

/// Element types of the factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    F32,
    F16,
    Bf16,
    Fp8,
    Bf8,
    I8,
    U8,
    I4,
    U4,
}

impl Element {
    pub fn bits(self) -> usize {
        match self {
            Element::F32 => 32,
            Element::F16 | Element::Bf16 => 16,
            Element::I4 | Element::U4 => 4,
            _ => 8,
        }
    }

    pub fn is_integer(self) -> bool {
        matches!(self, Element::I8 | Element::U8 | Element::I4 | Element::U4)
    }

    /// The elements that begin at bit `shift` of each lane's register.
    #[inline(always)]
    fn floats(self, row: &Row, shift: u32, fnuz: bool) -> [f32; 32] {
        let mut out = [0.0; 32];
        match self {
            Element::F16 => each(row, shift, &mut out, |v| f16_to_f32(v & 0xffff)),
            Element::Bf16 => each(row, shift, &mut out, bf16_to_f32),
            Element::Fp8 => each(row, shift, &mut out, |v| fp8(v & 0xff, fnuz)),
            Element::Bf8 => each(row, shift, &mut out, |v| bf8(v & 0xff, fnuz)),
            _ => each(row, 0, &mut out, f32::from_bits),
        }
        out
    }

    #[inline(always)]
    fn integers(self, row: &Row, shift: u32) -> [i32; 32] {
        let mut out = [0; 32];
        match self {
            Element::I8 => each(row, shift, &mut out, |v| i32::from(v as i8)),
            Element::U8 => each(row, shift, &mut out, |v| (v & 0xff) as i32),
            Element::I4 => each(row, shift, &mut out, |v| (v << 28) as i32 >> 28),
            _ => each(row, shift, &mut out, |v| (v & 15) as i32),
        }
        out
    }
}

#[inline(always)]
fn each<T>(row: &Row, shift: u32, out: &mut [T; 32], f: impl Fn(u32) -> T) {
    for i in 0..32 {
        out[i] = f(row[i] >> shift);
    }
}

/// Where the elements of a matrix lie: lanes in runs, each of which holds neighbours.
#[derive(Debug)]
pub struct Layout {
    run: usize,
    halves: usize,
    /// For each element of a lane and each run the place of the run's first lane in the matrix.
    starts: Vec<u16>,
}

/// In `starts`: the run holds copies of another.
const NOWHERE: u16 = u16::MAX;

impl Layout {
    /// `place(lane, element)` is asked for the first lane of each run.
    pub fn new(
        lanes: usize,
        run: usize,
        elements: usize,
        place: impl Fn(usize, usize) -> Option<usize>,
    ) -> Layout {
        let mut starts = Vec::new();
        for element in 0..elements {
            for lane in (0..lanes).step_by(run) {
                starts.push(place(lane, element).map_or(NOWHERE, |at| at as u16));
            }
        }
        Layout {
            run,
            halves: lanes / 32,
            starts,
        }
    }

    pub fn elements(&self) -> usize {
        self.starts.len() * self.run / 32 / self.halves
    }

    /// The places in the matrix of the runs of one half of the lanes.
    #[inline(always)]
    fn starts(&self, element: usize, half: usize) -> &[u16] {
        let count = 32 / self.run;
        &self.starts[(element * self.halves + half) * count..][..count]
    }

    /// Puts what a half of the lanes holds into the matrix.
    #[inline(always)]
    pub fn put<T: Copy>(&self, into: &mut [T], element: usize, half: usize, values: &[T; 32]) {
        let starts = self.starts(element, half).iter();
        for (at, values) in starts.zip(values.chunks_exact(self.run)) {
            if *at != NOWHERE {
                into[usize::from(*at)..][..self.run].copy_from_slice(values);
            }
        }
    }

    /// What a half of the lanes gets of the matrix.
    #[inline(always)]
    pub fn get<T: Copy + Default>(&self, from: &[T], element: usize, half: usize) -> [T; 32] {
        let mut values = [T::default(); 32];
        let starts = self.starts(element, half).iter();
        for (at, values) in starts.zip(values.chunks_exact_mut(self.run)) {
            if *at != NOWHERE {
                values.copy_from_slice(&from[usize::from(*at)..][..self.run]);
            }
        }
        values
    }
}

/// One factor: element `i` of a lane is a part of a register; the matrix is `[k][row of A, column of B]`.
#[derive(Debug)]
pub struct Factor {
    pub src: u16,
    pub element: Element,
    pub layout: Layout,
    /// The 8-bit types without negative zero.
    pub fnuz: bool,
}

impl Factor {
    /// Register and shift of a lane's element.
    #[inline(always)]
    fn place(&self, element: usize) -> (u16, u32) {
        let bits = self.element.bits();
        let per = 32 / bits;
        (
            self.src + (element / per) as u16,
            (element % per * bits) as u32,
        )
    }

    #[inline(always)]
    pub fn floats(&self, w: &Wave, into: &mut [f32]) {
        for element in 0..self.layout.elements() {
            let (r, shift) = self.place(element);
            for half in 0..w.halves {
                let row = &w.rows[w.at(r, half)];
                let values = self.element.floats(row, shift, self.fnuz);
                self.layout.put(into, element, half, &values);
            }
        }
    }

    #[inline(always)]
    pub fn integers(&self, w: &Wave, into: &mut [i32]) {
        for element in 0..self.layout.elements() {
            let (r, shift) = self.place(element);
            for half in 0..w.halves {
                let values = self.element.integers(&w.rows[w.at(r, half)], shift);
                self.layout.put(into, element, half, &values);
            }
        }
    }
}

/// Adds A B to C, `n` rows and columns, factors `[k][n]`: `add(a, b, c)` for each k in ascending order.
#[inline(always)]
pub fn multiply<T: Copy>(
    (a, b): (&[T], &[T]),
    c: &mut [T],
    n: usize,
    add: impl Fn(T, T, T) -> T + Copy,
) {
    if n == 4 {
        tiles::<T, 4>((a, b), c, n, add);
    } else {
        tiles::<T, 16>((a, b), c, n, add);
    }
}

/// Four rows of W columns at a time stay in registers.
#[inline(always)]
fn tiles<T: Copy, const W: usize>(
    (a, b): (&[T], &[T]),
    c: &mut [T],
    n: usize,
    add: impl Fn(T, T, T) -> T + Copy,
) {
    for row in (0..n).step_by(4) {
        for column in (0..n).step_by(W) {
            let at = |r: usize| (row + r) * n + column;
            let mut sums: [[T; W]; 4] =
                std::array::from_fn(|r| std::array::from_fn(|j| c[at(r) + j]));
            for (a, b) in a.chunks_exact(n).zip(b.chunks_exact(n)) {
                let (a, b) = (&a[row..row + 4], &b[column..column + W]);
                for r in 0..4 {
                    for j in 0..W {
                        sums[r][j] = add(a[r], b[j], sums[r][j]);
                    }
                }
            }
            for (r, sums) in sums.iter().enumerate() {
                c[at(r)..at(r) + W].copy_from_slice(sums);
            }
        }
    }
}

/// Decodes a matrix instruction, or None.
pub fn decode(t: &Text, target: &Target) -> Result<Option<Run>, String> {
    if t.name.starts_with("v_wmma_") {
        return wmma::decode(t, target).map(Some);
    }
    if t.name.starts_with("v_mfma_") {
        return mfma::decode(t, target).map(Some);
    }
    Ok(None)
}
