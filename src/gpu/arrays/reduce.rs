//! Reductions: `hip/ops/arrays/reduce.hip`.

mod one_launch;

use super::numbers::{is_float, is_known, place_number, suffix};
use super::run::THREADS;
use super::walk::merged;
use super::wide::of_its_own;
use super::{Elements, Place};
use crate::Result;
use crate::gpu::Args;
use crate::gpu::constants::arrays_reduce_rows as reductions;
use crate::ir::{ArgReduce, Dtype, Layout, Type};
use std::sync::Arc;

/// Blocks that keep any GPU busy.
const BUSY: usize = 2048;
/// Bytes of a row up to which a wave takes it, not a block: where waves alone keep a GPU busy, too.
const WAVE_BYTES: usize = 4096;
const BUSY_WAVE_BYTES: usize = 8192;
/// Bytes of a row that a thread of `reduce_rows.hip` takes at a time.
const EACH: usize = 64;
/// The first and last reductions that are arithmetic.
const SUM: u32 = reductions::SUM;
const MAX: u32 = reductions::MAX;

impl Place {
    /// Sums of floats are divided by a divisor, if it is not 0, by the last launch.
    pub(super) fn reduce(
        self: &Arc<Self>,
        reduction: u32,
        x: &Elements,
        axes: &[usize],
        ty: &Type,
        divisor: f32,
    ) -> Result<Option<Elements>> {
        let own = of_its_own(x.dtype());
        if own.is_none() && (!is_known(x.dtype()) || !is_known(ty.dtype)) {
            return Ok(None);
        }
        let x = match Halves::of(x, axes) {
            Some(_) => Some(x.clone()),
            None => self.rows(x)?,
        };
        let Some(x) = x else {
            return Ok(None);
        };
        let Some(halves) = Halves::of(&x, axes) else {
            return self.reduce_turned(reduction, &x, axes, ty, divisor);
        };
        let kept = (0..x.layout().sizes.len()).filter(|axis| !axes.contains(axis));
        let kept: Vec<usize> = kept.map(|axis| x.layout().sizes[axis]).collect();
        let outputs: usize = kept.iter().product();
        if let Some(form) = Form::of(&x, &halves, reduction) {
            return self.reduce_well(&form, reduction, &x, &kept, ty, divisor);
        }
        let outer = halves.kept.1;
        // A thread an output reads side by side where outputs lie so.
        let by_lanes = halves.count <= 32
            || (outer[2].abs() == 1 && halves.joined.1[2].abs() != 1 && outputs >= 64);
        let blocks = if by_lanes {
            outputs.div_ceil(THREADS as usize)
        } else {
            outputs
        };
        // Much that becomes little is cut into pieces, so that there is work for all of a GPU.
        let (wanted, least) = (
            BUSY.div_ceil(blocks.max(1)),
            if by_lanes { 64 } else { 4096 },
        );
        let pieces = wanted.min(halves.count as usize / least).min(1024);
        let cut = pieces > 1 && reduction < place_number(ArgReduce::Min);
        let (mut sizes, mut to, pieces) = (kept.clone(), ty.dtype, if cut { pieces } else { 1 });
        if cut {
            sizes.push(pieces);
            to = match to {
                Dtype::F16 | Dtype::Bf16 => Dtype::F32,
                to => to,
            };
        }
        let Some((out, _)) = self.new_rows(&sizes, to)? else {
            return Ok(None);
        };
        if outputs == 0 {
            return Ok(Some(out));
        }
        let ([_, s1, s2], outer) = halves.kept;
        let ([_, r1, r2], inner) = halves.joined;
        let args = Args::new()
            .buffer("x", x.buffer(), x.offset())
            .buffer("out", out.buffer(), 0)
            .u32("outputs", outputs as u32)
            .u32("joined", halves.count)
            .u32("pieces", pieces as u32)
            .u32("reduction", reduction);
        let args = match own {
            Some(_) => args,
            None => args
                .u32("from", x.dtype() as u32)
                .u32("to", to as u32)
                .f32("divisor", if cut { 0.0 } else { divisor }),
        };
        let strides = |args: Args, name, strides: [i32; 3]| {
            let strides = ["0", "1", "2"].into_iter().zip(strides);
            strides.fold(args, |args, (axis, step)| args.i32((name, axis), step))
        };
        let args = strides(args.u32("s1", s1).u32("s2", s2), "o", outer);
        let args = strides(args.u32("r1", r1).u32("r2", r2), "i", inner);
        let own = own.map(|of| format!("{of}_")).unwrap_or_default();
        let by_lanes = if by_lanes { "_lanes" } else { "" };
        let kernel = format!("mlxrocm_array_{own}reduce{by_lanes}");
        self.launch(&kernel, [blocks as u32, pieces as u32, 1], &args)?;
        match cut {
            true => self.reduce(reduction, &out, &[kept.len()], ty, divisor),
            false => Ok(Some(out)),
        }
    }
}

impl Place {
    /// Axes that are joined by turns with others, behind these: more than kernels count through.
    fn reduce_turned(
        self: &Arc<Self>,
        reduction: u32,
        x: &Elements,
        axes: &[usize],
        ty: &Type,
        divisor: f32,
    ) -> Result<Option<Elements>> {
        let rank = x.layout().sizes.len();
        let kept: Vec<usize> = (0..rank).filter(|axis| !axes.contains(axis)).collect();
        let order: Vec<usize> = kept.iter().chain(axes).copied().collect();
        let layout = x.layout();
        let turned = Layout {
            sizes: order.iter().map(|&axis| layout.sizes[axis]).collect(),
            strides: order.iter().map(|&axis| layout.strides[axis]).collect(),
            offset: layout.offset,
        };
        let behind: Vec<usize> = (kept.len()..rank).collect();
        let ascending = axes.is_sorted();
        match self.rows(&x.with(x.dtype(), turned)?)? {
            Some(x) if ascending && Halves::of(&x, &behind).is_some() => {
                self.reduce(reduction, &x, &behind, ty, divisor)
            }
            _ => Ok(None),
        }
    }
}

/// What lies well enough for the kernels that read 16 bytes at a time.
enum Form {
    /// `reduce_rows.hip`, `reduce_places.hip`: elements between the rows.
    Rows(isize),
    /// `reduce_columns.hip`: columns, how often they are there, elements between those, and between rows.
    Columns {
        columns: usize,
        outer: usize,
        outer_step: isize,
        row_step: isize,
    },
}

impl Form {
    fn of(x: &Elements, halves: &Halves, reduction: u32) -> Option<Form> {
        let arithmetic = (SUM..=MAX).contains(&reduction);
        if !is_float(x.dtype()) || reduction < SUM || !x.is_aligned(16) {
            return None;
        }
        let width = 16 / x.dtype().size() as i32;
        let ([k0, k1, k2], [_, o1, o2]) = halves.kept;
        let ([r0, r1, r2], [.., inner]) = halves.joined;
        if (r0, r1) != (1, 1) || r2 < 2 {
            return None;
        }
        let whole = |step: i32| step % width == 0;
        if inner == 1 && (k0, k1) == (1, 1) && (k2 == 1 || whole(o2)) && r2 >= width as u32 {
            return Some(Form::Rows(o2 as isize));
        }
        let columns = k0 == 1 && o2 == 1 && whole(k2 as i32) && (k1 == 1 || whole(o1));
        (arithmetic && columns && whole(inner) && k1 <= 65_535).then_some(Form::Columns {
            columns: k2 as usize,
            outer: k1 as usize,
            outer_step: o1 as isize,
            row_step: inner as isize,
        })
    }
}

impl Place {
    /// By the kernels of [`Form`].
    fn reduce_well(
        self: &Arc<Self>,
        form: &Form,
        reduction: u32,
        x: &Elements,
        kept: &[usize],
        ty: &Type,
        divisor: f32,
    ) -> Result<Option<Elements>> {
        let outputs: usize = kept.iter().product();
        let width = 16 / x.dtype().size();
        let joined = x.count().checked_div(outputs).unwrap_or(0);
        let wave = self.device.facts().wave_size.max(1);
        if let Form::Rows(row_step) = form
            && reduction == reductions::LOG_SUM_EXP
            && let Some(out) = self.log_sum_exp(x, *row_step, joined, kept, ty)?
        {
            return Ok(Some(out));
        }
        if let Form::Columns { .. } = form
            && let Some(out) = self.thin_columns(form, reduction, x, kept, ty, divisor)?
        {
            return Ok(Some(out));
        }
        let (blocks, busy, (least, most), lanes) = match form {
            Form::Rows(_) => {
                let rows_of_waves = (THREADS / wave) as usize;
                let bytes = joined * x.dtype().size();
                let busy = outputs >= BUSY * rows_of_waves / 2;
                // What is left behind whole groups is one a thread.
                let left = joined % width;
                let wanted = bytes.div_ceil(EACH).max(left).max(reductions::FEWEST_LANES);
                let lanes = match bytes {
                    _ if bytes <= WAVE_BYTES || (busy && bytes <= BUSY_WAVE_BYTES) => {
                        wave.min(wanted.next_power_of_two() as u32)
                    }
                    _ => THREADS,
                };
                let rows = (THREADS / lanes) as usize;
                (outputs.div_ceil(rows), BUSY, (8192, 1024), lanes)
            }
            // Fewer, as another launch reads the pieces again, which does not cut these.
            Form::Columns { columns, outer, .. } => {
                let blocks = columns.div_ceil(32 * width) * outer;
                (blocks, BUSY / 2, (128, 255), THREADS)
            }
        };
        let wanted = busy.div_ceil(blocks.max(1)).min(joined / least).min(most);
        let (cut, is_place) = (wanted > 1, reduction >= place_number(ArgReduce::Min));
        // So that the parts lie well, too.
        let pieces = if cut { wanted.next_multiple_of(4) } else { 1 };
        // Pieces of rows lie side by side, those of columns one after the other.
        let (mut sizes, mut to, mut axis) = (kept.to_vec(), ty.dtype, kept.len());
        if cut {
            if let Form::Columns { columns, outer, .. } = form {
                sizes = vec![*outer, *columns];
                axis = 1;
            }
            sizes.insert(axis, pieces);
            to = if is_place { ty.dtype } else { Dtype::F32 };
        }
        let Some((out, _)) = self.new_rows(&sizes, to)? else {
            return Ok(None);
        };
        if outputs == 0 {
            return Ok(Some(out));
        }
        let piece = joined.div_ceil(pieces).next_multiple_of(width) as u32;
        let divisor_here = if cut { 0.0 } else { divisor };
        let args = Args::new()
            .buffer("x", x.buffer(), x.offset())
            .buffer("out", out.buffer(), 0);
        let (kernel, grid, args) = match form {
            Form::Rows(row_step) => {
                let places = reduction > MAX;
                let kernel = if places {
                    "reduce_places"
                } else {
                    "reduce_rows"
                };
                let args = args
                    .u32("outputs", outputs as u32)
                    .u32("joined", joined as u32)
                    .u32("pieces", pieces as u32)
                    .u32("piece", piece)
                    .u32("reduction", reduction)
                    .u32("to", to as u32)
                    .u32("lanes", lanes)
                    .i64("row_step", *row_step as i64);
                let args = match places {
                    true => args,
                    false => args.f32("divisor", divisor_here),
                };
                (kernel, [blocks as u32, pieces as u32, 1], args)
            }
            Form::Columns {
                columns,
                outer,
                outer_step,
                row_step,
            } => {
                let args = args
                    .u32("columns", *columns as u32)
                    .u32("rows", joined as u32)
                    .u32("pieces", pieces as u32)
                    .u32("piece", piece)
                    .u32("reduction", reduction)
                    .u32("to", to as u32)
                    .f32("divisor", divisor_here)
                    .i64("outer_step", *outer_step as i64)
                    .i64("row_step", *row_step as i64);
                let across = columns.div_ceil(32 * width) as u32;
                (
                    "reduce_columns",
                    [across, *outer as u32, pieces as u32],
                    args,
                )
            }
        };
        let kernel = format!("mlxrocm_array_{kernel}_{}", suffix(x.dtype()));
        self.launch(&kernel, grid, &args)?;
        match (cut, form) {
            (true, Form::Rows(row_step)) if is_place => {
                self.join_places(reduction, x, *row_step, &out, kept)
            }
            (true, _) => self.reduce(reduction, &out, &[axis], ty, divisor),
            (false, _) => Ok(Some(out)),
        }
    }
}

/// Up to three axes: sizes and strides.
type Three = ([u32; 3], [i32; 3]);

/// The axes that a reduction keeps and those that it joins.
struct Halves {
    kept: Three,
    joined: Three,
    /// Elements that become one.
    count: u32,
}

impl Halves {
    fn of(x: &Elements, axes: &[usize]) -> Option<Halves> {
        let layout = x.layout();
        let half = |is_joined: bool| {
            let axes: Vec<usize> = (0..layout.sizes.len())
                .filter(|axis| axes.contains(axis) == is_joined)
                .collect();
            let part = Layout {
                sizes: axes.iter().map(|&axis| layout.sizes[axis]).collect(),
                strides: axes.iter().map(|&axis| layout.strides[axis]).collect(),
                offset: 0,
            };
            three(&part)
        };
        let count: usize = axes.iter().map(|&axis| layout.sizes[axis]).product();
        Some(Halves {
            kept: half(false)?,
            joined: half(true)?,
            count: u32::try_from(count).ok()?,
        })
    }
}

fn three(layout: &Layout) -> Option<Three> {
    let axes = merged(&layout.sizes, &[layout]);
    let front = 3usize.checked_sub(axes.len())?;
    let mut three: Three = ([1; 3], [0; 3]);
    for (place, (size, strides)) in axes.iter().enumerate() {
        // Nothing is divided by 0.
        three.0[front + place] = u32::try_from((*size).max(1)).ok()?;
        three.1[front + place] = i32::try_from(strides[0]).ok()?;
    }
    Some(three)
}
