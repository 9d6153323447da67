//! Slices read and written where indices say: `hip/ops/arrays/scatter.hip`.

mod rows;

use super::numbers::{is_float, is_known};
use super::run::THREADS;
use super::walk::{Walk, parts};
use super::wide::of_its_own;
use super::{Elements, Place};
use crate::Result;
use crate::gpu::Args;
use crate::gpu::constants::arrays_scatter as meetings;
use crate::ir::{Dtype, Layout, Op, Scan, ScatterReduce, Type};
use smallvec::SmallVec;
use std::sync::Arc;

/// `enum Meeting`.
fn meeting(reduce: ScatterReduce) -> u32 {
    match reduce {
        ScatterReduce::None => meetings::REPLACE,
        ScatterReduce::Sum => meetings::SUM,
        ScatterReduce::Prod => meetings::PROD,
        ScatterReduce::Max => meetings::MAX,
        ScatterReduce::Min => meetings::MIN,
    }
}

/// Updates of slices, one behind the other.
struct Updates<'a> {
    elements: &'a Elements,
    /// Where each begins, in elements of the result.
    places: &'a Elements,
    /// Sizes of a slice.
    slice: &'a [usize],
    reduce: ScatterReduce,
}

/// A kernel that is told the dtype, or that of a dtype which has its own.
fn of_dtype(kernel: &str, args: Args, dtype: Dtype) -> (String, Args) {
    match of_its_own(dtype) {
        Some(of) => (format!("mlxrocm_array_{of}_{kernel}"), args),
        None => (
            format!("mlxrocm_array_{kernel}"),
            args.u32("dtype", dtype as u32),
        ),
    }
}

pub(super) fn grid(count: u32) -> [u32; 3] {
    [count.div_ceil(THREADS), 1, 1]
}

impl Place {
    /// Writes to, and reads from, places that arrays name.
    pub(super) fn scattered(
        self: &Arc<Self>,
        op: &Op,
        inputs: &[&Elements],
        ty: &Type,
    ) -> Result<Option<Elements>> {
        let (Some(&x), Some(sizes)) = (inputs.first(), ty.shape.numbers()) else {
            return Ok(None);
        };
        let rank = x.layout().sizes.len();
        let rows = Layout::rows(&x.layout().sizes);
        match (op, inputs) {
            (Op::Gather { axes, sizes: slice }, [_, indices @ ..]) => {
                let Some(places) = self.places(x.layout(), axes, slice, indices)? else {
                    return Ok(None);
                };
                self.gather(x, &places, slice, &sizes, ty.dtype)
            }
            (Op::Scatter(axes, reduce), [_, indices @ .., updates]) => {
                let of_updates = &updates.layout().sizes;
                let Some(slice) = of_updates.get(of_updates.len().saturating_sub(rank)..) else {
                    return Ok(None);
                };
                // Slices are the same or apart.
                let apart = |axis: &usize| slice[*axis] == 1 || slice[*axis] == rows.sizes[*axis];
                if !axes.iter().all(apart) {
                    return Ok(None);
                }
                let Some(places) = self.places(&rows, axes, slice, indices)? else {
                    return Ok(None);
                };
                let reduce = *reduce;
                self.write(x, updates, &places, slice, reduce)
            }
            (Op::ScatterAxis(axis, reduce), [_, index, updates]) => {
                let Some(places) = self.places_along(&rows, *axis, index)? else {
                    return Ok(None);
                };
                let slice: SmallVec<[usize; 4]> = SmallVec::from_elem(1, rank);
                self.write(x, updates, &places, &slice, *reduce)
            }
            (Op::DynamicSlice(axes), [_, start]) => {
                let Some(places) = self.start(x.layout(), axes, &sizes, start)? else {
                    return Ok(None);
                };
                self.gather(x, &places, &sizes, &sizes, ty.dtype)
            }
            (Op::DynamicSliceUpdate(axes), [_, updates, start]) => {
                let slice = updates.layout().sizes.clone();
                if let Some(made) = self.replace_at(x, updates, axes, start)? {
                    return Ok(Some(made));
                }
                let Some(places) = self.start(&rows, axes, &slice, start)? else {
                    return Ok(None);
                };
                self.write(x, updates, &places, &slice, ScatterReduce::None)
            }
            (Op::SliceUpdate(spec, reduce), [_, update]) => {
                let shape = crate::ir::Shape::new(update.layout().sizes.iter().copied());
                let Some(at) = rows.view(&Op::Slice(spec.clone()), &shape) else {
                    return Ok(None);
                };
                self.combine(x, update, &at, *reduce)
            }
            (Op::MaskedScatter, [_, mask, source]) => self.masked_scatter(x, mask, source),
            _ => Ok(None),
        }
    }

    /// `x` with a slice in place of another that begins along one axis where an array of one number says; `None` if it
    /// is not one for that.
    fn replace_at(
        self: &Arc<Self>,
        x: &Elements,
        update: &Elements,
        axes: &[usize],
        start: &Elements,
    ) -> Result<Option<Elements>> {
        let (&[axis], 1) = (axes, start.count()) else {
            return Ok(None);
        };
        let sizes = &update.layout().sizes;
        let part = Layout {
            sizes: sizes.clone(),
            ..Layout::rows(&x.layout().sizes)
        };
        let numbers = is_known(start.dtype()) && !is_float(start.dtype());
        let (Some(walk), Ok(count), true) = (
            Walk::of_layouts(&[update.layout(), &part]),
            u32::try_from(update.count()),
            numbers && sizes[axis] <= x.layout().sizes[axis],
        ) else {
            return Ok(None);
        };
        let Some(out) = self.copied(x)? else {
            return Ok(None);
        };
        if count == 0 {
            return Ok(Some(out));
        }
        let args = Args::new()
            .buffer("updates", update.buffer(), update.offset())
            .buffer("start", start.buffer(), start.offset())
            .buffer("out", out.buffer(), 0)
            .u32("count", count)
            .u32("size", out.dtype().size() as u32)
            .u32("dtype", start.dtype() as u32)
            .i64("limit", x.layout().sizes[axis] as i64)
            .i64("slice", sizes[axis] as i64)
            .i64("step", part.strides[axis] as i64);
        self.launch(
            "mlxrocm_array_replace_at",
            grid(count),
            &walk.add(args, ["u", "o"]),
        )?;
        Ok(Some(out))
    }

    /// A copy of `x` in memory of its own; `x` itself if it is given.
    pub(super) fn copied(self: &Arc<Self>, x: &Elements) -> Result<Option<Elements>> {
        if x.is_given() && x.offset() == 0 && x.layout().is_rows() {
            super::replay::note_written(x.buffer());
            return x.with(x.dtype(), x.layout().clone()).map(Some);
        }
        self.copy_of(x)
    }

    fn write(
        self: &Arc<Self>,
        x: &Elements,
        updates: &Elements,
        places: &Elements,
        slice: &[usize],
        reduce: ScatterReduce,
    ) -> Result<Option<Elements>> {
        if updates.count() != places.count() * slice.iter().product::<usize>() {
            return Ok(None);
        }
        let (Some(out), Some(updates)) = (self.copied(x)?, self.rows(updates)?) else {
            return Ok(None);
        };
        if updates.count() == 0 || out.count() == 0 {
            return Ok(Some(out));
        }
        let done = self.meet(
            &out,
            &Updates {
                elements: &updates,
                places,
                slice,
                reduce,
            },
        )?;
        Ok(done.then_some(out))
    }

    fn meet(self: &Arc<Self>, out: &Elements, updates: &Updates<'_>) -> Result<bool> {
        let Updates {
            elements,
            places,
            slice,
            reduce,
        } = updates;
        let part = Layout {
            sizes: (*slice).into(),
            ..Layout::rows(&out.layout().sizes)
        };
        let (Some(walk), Ok(count)) = (
            Walk::of_layouts(&[&Layout::rows(slice), &part]),
            u32::try_from(elements.count()),
        ) else {
            return Ok(false);
        };
        let slices = places.count() as u32;
        let size = part.count() as u32;
        let unit = rows::whole_rows(slice, &out.layout().sizes);
        if let Some(unit) = unit
            && self.meet_rows(out, updates, unit)?
        {
            return Ok(true);
        }
        let args = Args::new()
            .buffer("updates", elements.buffer(), elements.offset())
            .buffer("places", places.buffer(), 0);
        if *reduce == ScatterReduce::None {
            let claims = match slices {
                1 => None,
                _ => match self.claims(places, out.count(), 1)? {
                    Some(claims) => Some(claims),
                    None => return Ok(false),
                },
            };
            let args = args
                .buffer_or_null("claims", claims.as_ref().map(|claims| (claims.buffer(), 0)))
                .buffer("out", out.buffer(), 0)
                .u32("count", count)
                .u32("size", out.dtype().size() as u32)
                .u32("slice", size);
            self.launch(
                "mlxrocm_array_replace",
                grid(count),
                &walk.add(args, ["u", "o"]),
            )?;
            return Ok(true);
        }
        let flat = places.with(places.dtype(), Layout::rows(&[places.count()]))?;
        let Some(order) = self.sort(&flat, 0, Dtype::U32, true)? else {
            return Ok(false);
        };
        let args = args
            .buffer("order", order.buffer(), order.offset())
            .buffer("out", out.buffer(), 0)
            .u32("count", count)
            .u32("slices", slices);
        let (kernel, args) = of_dtype("meet", args, out.dtype());
        let args = args.u32("how", meeting(*reduce)).u32("slice", size);
        self.launch(&kernel, grid(count), &walk.add(args, ["u", "o"]))?;
        Ok(true)
    }

    /// Of each part of `unit` elements of the result, where slices begin, which slice is the last (from 1; 0: none).
    fn claims(
        self: &Arc<Self>,
        places: &Elements,
        room: usize,
        unit: usize,
    ) -> Result<Option<Elements>> {
        let Some((claims, count)) = self.new_rows(&[room], Dtype::U32)? else {
            return Ok(None);
        };
        let args = Args::new()
            .buffer("claims", claims.buffer(), 0)
            .u32("count", count);
        self.launch("mlxrocm_array_clear_claims", grid(count), &args)?;
        let slices = places.count() as u32;
        let args = Args::new()
            .buffer("places", places.buffer(), 0)
            .buffer("claims", claims.buffer(), 0)
            .u32("count", slices)
            .u32("unit", unit as u32);
        self.launch("mlxrocm_array_claim", grid(slices), &args)?;
        Ok(Some(claims))
    }

    /// `x` with the elements that lie at `at` joined with an update.
    fn combine(
        self: &Arc<Self>,
        x: &Elements,
        update: &Elements,
        at: &Layout,
        reduce: ScatterReduce,
    ) -> Result<Option<Elements>> {
        let Some(out) = self.copied(x)? else {
            return Ok(None);
        };
        for part in parts(&[update.layout(), at]) {
            let [from, to] = part.as_slice() else {
                return Ok(None);
            };
            let update = update.with(update.dtype(), from.clone())?;
            if !self.combine_part(&out, &update, to, reduce)? {
                return Ok(None);
            }
        }
        Ok(Some(out))
    }

    /// The same of elements that kernels can count through, into `out`.
    fn combine_part(
        self: &Arc<Self>,
        out: &Elements,
        update: &Elements,
        at: &Layout,
        reduce: ScatterReduce,
    ) -> Result<bool> {
        let (Some(walk), Ok(count)) = (
            Walk::of_layouts(&[update.layout(), at]),
            u32::try_from(update.count()),
        ) else {
            return Ok(false);
        };
        if count == 0 {
            return Ok(true);
        }
        let args = Args::new()
            .buffer("updates", update.buffer(), update.offset())
            .buffer("out", out.buffer(), (at.offset * out.dtype().size()) as u64)
            .u32("count", count);
        let (kernel, args) = of_dtype("combine", args, out.dtype());
        let args = args.u32("how", meeting(reduce));
        self.launch(&kernel, grid(count), &walk.add(args, ["u", "o"]))?;
        Ok(true)
    }

    fn masked_scatter(
        self: &Arc<Self>,
        x: &Elements,
        mask: &Elements,
        source: &Elements,
    ) -> Result<Option<Elements>> {
        let (Some(x), Some(mask), Some(source)) =
            (self.rows(x)?, self.rows(mask)?, self.rows(source)?)
        else {
            return Ok(None);
        };
        if mask.count() != x.count() || mask.dtype() != Dtype::Bool {
            return Ok(None);
        }
        let Some((out, count)) = self.new_rows(&x.layout().sizes, x.dtype())? else {
            return Ok(None);
        };
        if count == 0 {
            return Ok(Some(out));
        }
        let flat = Layout {
            offset: mask.layout().offset,
            ..Layout::rows(&[mask.count()])
        };
        let flat = mask.with(Dtype::Bool, flat)?;
        let Some(numbers) = self.unary(super::numbers::CAST, &flat, Dtype::U32)? else {
            return Ok(None);
        };
        let before = self.scan(&numbers, 0, Scan::Sum, (false, false), Dtype::U32)?;
        let Some(before) = before else {
            return Ok(None);
        };
        let args = Args::new()
            .buffer("x", x.buffer(), x.offset())
            .buffer("mask", mask.buffer(), mask.offset())
            .buffer("before", before.buffer(), before.offset())
            .buffer("source", source.buffer(), source.offset())
            .buffer("out", out.buffer(), 0)
            .u32("count", count)
            .u32("size", x.dtype().size() as u32)
            .u32("sources", source.count() as u32);
        self.launch("mlxrocm_array_masked", grid(count), &args)?;
        Ok(Some(out))
    }
}
