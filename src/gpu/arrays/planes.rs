//! The faster forms of single elements: `hip/ops/arrays/vectors.h` and `copies.hip`, where arrays lie well enough.

use super::run::{THREADS, names_of};
use super::walk::merged;
use super::{Elements, Place};
use crate::Result;
use crate::gpu::Args;
use crate::gpu::constants::arrays_elementwise as functions;
use crate::gpu::constants::arrays_unary_vectors_f32::F32_GROUPS;
use crate::ir::{Dtype, Layout};
use std::sync::Arc;

/// Units (elements or groups of them) of a block that copies rows.
const UNITS: u32 = 1024;

/// Inputs of out's sizes seen as rows of out: `Plane` of `vectors.h`.
pub(super) struct Plane {
    columns: u32,
    /// Of each input: elements between rows, and whether (1) or not (0) elements of a row lie side by side.
    steps: Vec<(i32, u32)>,
}

impl Plane {
    /// `None` if an input lies otherwise, or groups of `width` elements are not whole and aligned.
    pub(super) fn of(inputs: &[&Elements], width: usize) -> Option<Plane> {
        let layouts: Vec<&Layout> = inputs.iter().map(|x| x.layout()).collect();
        let axes = merged(&layouts.first()?.sizes, &layouts);
        let (rows, last) = match axes.as_slice() {
            [last] => (None, last),
            [rows, last] => (Some(rows), last),
            _ => return None,
        };
        let whole = match rows {
            None => last.0 >= width,
            Some(_) => last.0.is_multiple_of(width),
        };
        let mut steps = Vec::with_capacity(inputs.len());
        for (at, input) in inputs.iter().enumerate() {
            let row = rows.map_or(0, |rows| rows.1[at]);
            let group = width * input.dtype().size();
            let aligned = |elements: isize| {
                (elements * input.dtype().size() as isize)
                    .unsigned_abs()
                    .is_multiple_of(group)
            };
            steps.push(match last.1[at] {
                0 => (i32::try_from(row).ok()?, 0),
                1 if aligned(row) && input.is_aligned(group) => (i32::try_from(row).ok()?, 1),
                _ => return None,
            });
        }
        let columns = u32::try_from(last.0).ok()?;
        whole.then_some(Plane { columns, steps })
    }

    /// Which inputs are one number for all of out: a bit each.
    pub(super) fn numbers(&self) -> u32 {
        let bits = self.steps.iter().enumerate();
        bits.fold(0, |bits, (at, step)| {
            bits | u32::from(*step == (0, 0)) << at
        })
    }

    /// Elements of a row of `count` elements of out.
    pub(super) fn columns(&self, count: u32) -> u32 {
        self.columns.min(count)
    }

    /// Steps as arguments; `names` are what the kernel calls the arrays.
    pub(super) fn add(&self, args: Args, names: impl IntoIterator<Item = &'static str>) -> Args {
        let arrays = names.into_iter().zip(&self.steps);
        arrays.fold(args, |args, (name, &(row, step))| {
            args.i32((name, "_row"), row).u32((name, "_step"), step)
        })
    }
}

/// Functions that `unary_vectors.h` has a form of.
fn unary_kernel(function: u32, from: Dtype, to: Dtype) -> Option<(&'static str, u32)> {
    use functions::*;
    const HAS: [u32; 12] = [
        ABS, COS, ERF, EXP, LOG, NEGATIVE, RSQRT, SIGMOID, SIN, SQRT, SQUARE, TANH,
    ];
    let float = |dtype| matches!(dtype, Dtype::F32 | Dtype::F16 | Dtype::Bf16);
    if function == super::numbers::CAST && from != to && float(from) && float(to) {
        return Some(("mlxrocm_array_cast", from as u32 * 16 + to as u32));
    }
    let kernel = match from {
        Dtype::F32 => "mlxrocm_array_unary_f32",
        Dtype::F16 => "mlxrocm_array_unary_f16",
        Dtype::Bf16 => "mlxrocm_array_unary_bf16",
        _ => return None,
    };
    (from == to && HAS.contains(&function)).then_some((kernel, function))
}

/// Functions that `binary_vectors.hip` and `choose_vectors.hip` have a form of.
fn binary_kernel(function: u32, from: Dtype, to: Dtype) -> Option<(&'static str, u32)> {
    // Bit 0: less, 1: equal, 2: greater, 3: not comparable.
    use functions::*;
    let holds = match function {
        EQUAL => 0b0010,
        GREATER => 0b0100,
        GREATER_EQUAL => 0b0110,
        LESS => 0b0001,
        LESS_EQUAL => 0b0011,
        NOT_EQUAL => 0b1101,
        _ => 0,
    };
    let arithmetic = matches!(function, ADD | MAXIMUM | MINIMUM | MULTIPLY | SUBTRACT);
    let kernel = match (from, to) {
        (Dtype::F32, Dtype::Bool) if holds != 0 => {
            return Some(("mlxrocm_array_compare_f32", holds));
        }
        (Dtype::F16, Dtype::Bool) if holds != 0 => {
            return Some(("mlxrocm_array_compare_f16", holds));
        }
        (Dtype::Bf16, Dtype::Bool) if holds != 0 => {
            return Some(("mlxrocm_array_compare_bf16", holds));
        }
        _ if from != to => return None,
        (Dtype::I32, _) if arithmetic => return Some(("mlxrocm_array_binary_i32", function)),
        (Dtype::F32, _) => "mlxrocm_array_binary_f32",
        (Dtype::F16, _) => "mlxrocm_array_binary_f16",
        (Dtype::Bf16, _) => "mlxrocm_array_binary_bf16",
        _ => return None,
    };
    (arithmetic || function == DIVIDE).then_some((kernel, function))
}

impl Place {
    /// A kernel of `vectors.h`; `groups`: how many groups of `width` elements a thread takes.
    fn vectors(
        self: &Arc<Self>,
        kernel: &str,
        inputs: &[&Elements],
        to: Dtype,
        number: Option<(&'static str, u32)>,
        (width, groups): (usize, usize),
    ) -> Result<Option<Elements>> {
        let Some(plane) = Plane::of(inputs, width) else {
            return Ok(None);
        };
        let Some((out, count)) = self.new_rows(&inputs[0].layout().sizes, to)? else {
            return Ok(None);
        };
        let mut args = Args::new();
        let names = names_of(inputs.len());
        for (input, name) in inputs.iter().zip(names) {
            args = args.buffer(*name, input.buffer(), input.offset());
        }
        args = args
            .buffer("out", out.buffer(), 0)
            .u32("count", count)
            .u32("columns", plane.columns(count));
        if let Some((name, number)) = number {
            args = args.u32(name, number);
        }
        let blocks = (count / width as u32).div_ceil(THREADS * groups as u32);
        self.launch(
            kernel,
            [blocks, 1, 1],
            &plane.add(args, names.iter().copied()),
        )?;
        Ok(Some(out))
    }

    pub(super) fn unary_vectors(
        self: &Arc<Self>,
        function: u32,
        x: &Elements,
        to: Dtype,
    ) -> Result<Option<Elements>> {
        let Some((kernel, number)) = unary_kernel(function, x.dtype(), to) else {
            return Ok(None);
        };
        let width = 16 / x.dtype().size().max(to.size());
        let groups = match (x.dtype(), to) {
            (Dtype::F32, Dtype::F32) => F32_GROUPS.of(self.device.facts().platform),
            _ => 16 / width,
        };
        let number = Some(("function", number));
        self.vectors(kernel, &[x], to, number, (width, groups))
    }

    pub(super) fn binary_vectors(
        self: &Arc<Self>,
        function: u32,
        a: &Elements,
        b: &Elements,
        to: Dtype,
    ) -> Result<Option<Elements>> {
        let Some((kernel, number)) = binary_kernel(function, a.dtype(), to) else {
            return Ok(None);
        };
        let width = 16 / a.dtype().size();
        let compares = to == Dtype::Bool;
        let name = if compares { "holds" } else { "function" };
        self.vectors(kernel, &[a, b], to, Some((name, number)), (width, 2))
    }

    pub(super) fn select_vectors(
        self: &Arc<Self>,
        c: &Elements,
        a: &Elements,
        b: &Elements,
    ) -> Result<Option<Elements>> {
        let kernel = match (c.dtype(), a.dtype().size()) {
            (Dtype::Bool, 4) => "mlxrocm_array_select_4",
            (Dtype::Bool, 2) => "mlxrocm_array_select_2",
            _ => return Ok(None),
        };
        let width = 16 / a.dtype().size();
        self.vectors(kernel, &[c, a, b], a.dtype(), None, (width, 2))
    }

    /// Elements of `x` to those of `out` that lie `at`, row by row or turned; whether they lie so.
    pub(super) fn copy_well(&self, x: &Elements, out: &Elements, at: &Layout) -> Result<bool> {
        let axes = merged(&x.layout().sizes, &[x.layout(), at]);
        let size = x.dtype().size();
        let from = x.offset();
        let to = (at.offset * size) as u64;
        match axes.as_slice() {
            [(columns, steps)] if steps[..] == [1, 1] => {
                self.copy_rows(x, out, (from, to), (1, *columns * size, 0, 0))
            }
            [(rows, outer), (columns, steps)] if steps[..] == [1, 1] => {
                let steps = (outer[0] * size as isize, outer[1] * size as isize);
                self.copy_rows(
                    x,
                    out,
                    (from, to),
                    (*rows, *columns * size, steps.0, steps.1),
                )
            }
            _ => self.turn(x, out, (from, to), &axes),
        }
    }

    /// One element everywhere; whether `x` is that.
    pub(super) fn copy_number(&self, x: &Elements, out: &Elements) -> Result<bool> {
        let layout = x.layout();
        let mut axes = layout.sizes.iter().zip(&layout.strides);
        let bytes = x.count() * x.dtype().size();
        if !axes.all(|(&size, &stride)| size == 1 || stride == 0) {
            return Ok(false);
        }
        let (Ok(units), rest) = (u32::try_from(bytes / 16), (bytes % 16) as u32) else {
            return Ok(false);
        };
        let args = Args::new()
            .buffer("x", x.buffer(), x.offset())
            .buffer("out", out.buffer(), 0)
            .u32("units", units)
            .u32("rest", rest)
            .u32("size", x.dtype().size() as u32);
        let blocks = units.div_ceil(UNITS).max(1);
        self.launch("mlxrocm_array_full", [blocks, 1, 1], &args)?;
        Ok(true)
    }

    /// Rows of bytes.
    fn copy_rows(
        &self,
        x: &Elements,
        out: &Elements,
        (from, to): (u64, u64),
        (rows, columns, x_row, out_row): (usize, usize, isize, isize),
    ) -> Result<bool> {
        let all = [
            from as usize,
            to as usize,
            columns,
            x_row.unsigned_abs(),
            out_row.unsigned_abs(),
        ];
        let (unit, kernel) = match all
            .iter()
            .fold(16, |unit, &bytes| unit | bytes)
            .trailing_zeros()
        {
            4.. => (16, "mlxrocm_array_copy_rows_16"),
            2 | 3 => (4, "mlxrocm_array_copy_rows_4"),
            _ => return Ok(false),
        };
        let (Ok(count), Ok(x_row), Ok(out_row)) = (
            u32::try_from(rows * columns / unit),
            i32::try_from(x_row / unit as isize),
            i32::try_from(out_row / unit as isize),
        ) else {
            return Ok(false);
        };
        let args = Args::new()
            .buffer("x", x.buffer(), from)
            .buffer("out", out.buffer(), to)
            .u32("count", count)
            .u32("columns", (columns / unit) as u32)
            .i32("x_row", x_row)
            .i32("out_row", out_row);
        self.launch(kernel, [count.div_ceil(UNITS), 1, 1], &args)?;
        Ok(true)
    }

    /// What lies side by side along another axis than the last.
    fn turn(
        &self,
        x: &Elements,
        out: &Elements,
        (from, to): (u64, u64),
        axes: &[super::walk::Axis],
    ) -> Result<bool> {
        let Some(((columns, steps), outer)) = axes.split_last() else {
            return Ok(false);
        };
        let Some(row) = outer.iter().position(|(_, steps)| steps[0] == 1) else {
            return Ok(false);
        };
        let others: Vec<&super::walk::Axis> = (0..outer.len())
            .filter(|&axis| axis != row)
            .map(|axis| &outer[axis])
            .collect();
        let none = (1, smallvec::smallvec![0, 0]);
        let (most, middle) = match others.as_slice() {
            [] => (&none, &none),
            [middle] => (&none, *middle),
            [most, middle] => (*most, *middle),
            _ => return Ok(false),
        };
        let (rows, row) = &outer[row];
        let even = |n: &isize| n % 2 == 0;
        let pairs = [
            most.1[0],
            most.1[1],
            middle.1[0],
            middle.1[1],
            steps[0],
            row[1],
        ];
        let pairs = pairs.iter().all(even)
            && (rows | columns).is_multiple_of(2)
            && from.is_multiple_of(4)
            && to.is_multiple_of(4);
        let (kernel, tile) = match x.dtype().size() {
            4 => ("mlxrocm_array_transpose_4", 32),
            2 if pairs => ("mlxrocm_array_transpose_2", 64),
            _ => return Ok(false),
        };
        let blocks = [columns.div_ceil(64), rows.div_ceil(tile), most.0 * middle.0];
        if steps[1] != 1 || *rows < 8 || *columns < 8 || blocks[1].max(blocks[2]) > 65_535 {
            return Ok(false);
        }
        let (Ok(height), Ok(width)) = (u32::try_from(*rows), u32::try_from(*columns)) else {
            return Ok(false);
        };
        let args = Args::new()
            .buffer("x", x.buffer(), from)
            .buffer("out", out.buffer(), to)
            .u32("rows", height)
            .u32("columns", width)
            .u32("inner", middle.0 as u32);
        let args = args
            .i64("x_outer", most.1[0] as i64)
            .i64("x_inner", middle.1[0] as i64)
            .i64("x_column", steps[0] as i64)
            .i64("out_outer", most.1[1] as i64)
            .i64("out_inner", middle.1[1] as i64)
            .i64("out_row", row[1] as i64);
        self.launch(kernel, blocks.map(|blocks| blocks as u32), &args)?;
        Ok(true)
    }
}
