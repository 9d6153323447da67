//! Sides of products as kernels read them: `hip/ops/arrays/product.h`.

use super::Elements;
use super::walk::{Axis, merged};
use crate::gpu::Args;
use crate::gpu::constants::arrays_codes as modes;
use crate::ir::{Dtype, Layout, QuantMode, Quantization};
use smallvec::SmallVec;

/// Which matrices a batch takes, and what else a product is made of.
#[derive(Default)]
pub(super) struct Extra<'a> {
    /// `(c, beta)`, c of the product's sizes.
    pub plus: Option<(&'a Elements, f64)>,
    /// The product is multiplied by this.
    pub alpha: Option<f64>,
    /// Places of left and right matrices, one each for every batch.
    pub places: Option<(&'a Elements, &'a Elements)>,
    /// First and last column of each batch.
    pub segments: Option<&'a Elements>,
}

/// A side that lies so that kernels read it.
pub(super) struct Side {
    pub elements: Elements,
    /// Steps from batch to batch, and of the axis that has other steps than 1.
    pub batch: [i64; 3],
    pub stride: i64,
    /// The axis with steps of 1 is k.
    pub along: bool,
    /// Matrices.
    pub count: usize,
    /// It is read in pieces of 16 bytes.
    pub whole: bool,
}

/// Batches as three axes: their sizes, and each array's strides.
pub(super) struct Batches {
    pub sizes: [usize; 3],
    pub strides: SmallVec<[[i64; 3]; 3]>,
}

impl Batches {
    pub fn of(sizes: &[usize], arrays: &[&Elements]) -> Option<Batches> {
        let outer = |x: &&Elements| {
            let strides = x.layout().strides.get(..sizes.len())?;
            (x.layout().sizes.get(..sizes.len())? == sizes).then(|| Layout {
                sizes: sizes.into(),
                strides: strides.into(),
                offset: 0,
            })
        };
        let layouts: Option<Vec<Layout>> = arrays.iter().map(outer).collect();
        let layouts = layouts?;
        let axes: SmallVec<[Axis; 6]> = merged(sizes, &layouts.iter().collect::<Vec<_>>());
        let front = 3usize.checked_sub(axes.len())?;
        let mut batches = Batches {
            sizes: [1; 3],
            strides: SmallVec::from_elem([0; 3], arrays.len()),
        };
        for (place, (size, strides)) in axes.iter().enumerate() {
            batches.sizes[front + place] = *size;
            for (to, &stride) in batches.strides.iter_mut().zip(strides) {
                to[front + place] = stride as i64;
            }
        }
        Some(batches)
    }
}

impl Side {
    /// `k_first`: k is the axis before the last.
    pub fn of(x: Elements, k_first: bool, batch: [i64; 3], count: usize) -> Option<Side> {
        let ([.., a, b], [.., a_step, b_step]) =
            (x.layout().sizes.as_slice(), x.layout().strides.as_slice())
        else {
            return None;
        };
        let (k, k_step, other, step) = match k_first {
            true => (*a, *a_step, *b, *b_step),
            false => (*b, *b_step, *a, *a_step),
        };
        let along = match (k_step == 1, step == 1) {
            (true, _) if k > 1 => true,
            (_, true) if other > 1 => false,
            _ if k <= 1 => true,
            _ if other <= 1 => false,
            _ => return None,
        };
        let (inner, stride) = if along { (k, step) } else { (other, k_step) };
        let piece = 16 / x.dtype().size();
        let pieces = |steps: i64| steps % piece as i64 == 0;
        let whole = inner.is_multiple_of(piece)
            && x.layout().offset.is_multiple_of(piece)
            && pieces(stride as i64)
            && batch.iter().all(|&step| pieces(step));
        Some(Side {
            batch,
            stride: stride as i64,
            along,
            count,
            whole,
            elements: x,
        })
    }
}

/// What kernels are told of one product.
pub(super) struct Product<'a> {
    pub left: Side,
    pub right: Side,
    pub batches: [usize; 3],
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub extra: &'a Extra<'a>,
    /// Strides of what is added: batches, rows, columns.
    pub plus: [i64; 5],
    /// Places and segments as u32, row after row.
    pub words: [Option<Elements>; 3],
    pub codes: Option<(&'a Quantization, &'a Elements, Option<&'a Elements>)>,
    /// Sides have changed: the result is written with rows as columns.
    pub turned: bool,
}

impl Product<'_> {
    /// Few columns become few rows.
    pub fn turn(&mut self) {
        std::mem::swap(&mut self.left, &mut self.right);
        std::mem::swap(&mut self.m, &mut self.n);
        self.words.swap(0, 1);
        self.plus.swap(3, 4);
        self.turned = true;
    }

    /// Whether these are two matrices as they are, left along k, that lie in pieces of eight numbers: copies of them in 16 bits
    /// lie in whole pieces of 16 bytes.
    pub fn lies_in_eights(&self) -> bool {
        let in_eights = |side: &Side| {
            let mut steps = side.batch.iter().chain([&side.stride]);
            side.whole && steps.all(|step| step % 8 == 0)
        };
        let plain = self.codes.is_none() && self.words.iter().all(Option::is_none);
        let sizes = self.n.is_multiple_of(8) && self.k.is_multiple_of(8);
        plain && sizes && self.left.along && in_eights(&self.left) && in_eights(&self.right)
    }

    pub fn args(&self, out: &Elements, across: usize) -> Args {
        let (scales, biases) = match &self.codes {
            Some((_, scales, biases)) => (Some(*scales), *biases),
            None => (None, None),
        };
        let mut args = Args::new()
            .buffer(
                "left",
                self.left.elements.buffer(),
                self.left.elements.offset(),
            )
            .buffer(
                "right",
                self.right.elements.buffer(),
                self.right.elements.offset(),
            );
        let [left_places, right_places, segments] = self.words.each_ref().map(Option::as_ref);
        for (name, x) in [
            ("scales", scales),
            ("biases", biases),
            ("plus", self.extra.plus.map(|(c, _)| c)),
            ("left_places", left_places),
            ("right_places", right_places),
            ("segments", segments),
        ] {
            args = args.buffer_or_null(name, x.map(|x| (x.buffer(), x.offset())));
        }
        args = args.buffer("out", out.buffer(), 0);
        let [_, b1, b2] = self.batches;
        for (name, size) in [
            ("m", self.m),
            ("n", self.n),
            ("k", self.k),
            ("across", across),
            ("b1", b1),
            ("b2", b2),
            ("left_count", self.left.count),
            ("right_count", self.right.count),
        ] {
            args = args.u32(name, size as u32);
        }
        let sides = [
            (&self.left, ["l0", "l1", "l2"], "left_stride"),
            (&self.right, ["r0", "r1", "r2"], "right_stride"),
        ];
        for (side, of_batch, stride) in sides {
            args = args.i64s(of_batch, side.batch).i64(stride, side.stride);
        }
        let of_plus = ["p0", "p1", "p2", "plus_row", "plus_column"];
        args = args.i64s(of_plus, self.plus);
        let (row, column) = match self.turned {
            true => (1, self.m as i64),
            false => (self.n as i64, 1),
        };
        let q = self.codes.as_ref().map(|(q, ..)| **q);
        let batches = self.batches.iter().product::<usize>();
        args.i64("out_row", row)
            .i64("out_column", column)
            .u32("left_along", self.left.along.into())
            .u32("right_along", self.right.along.into())
            .f32("alpha", self.extra.alpha.unwrap_or(1.0) as f32)
            .f32("beta", self.extra.plus.map_or(0.0, |(_, beta)| beta) as f32)
            .u32("group", q.map_or(batches as u32, |q| q.group as u32))
            .u32("bits", q.map_or(1, |q| q.bits as u32))
            .u32("mode", q.map_or(0, |q| mode_number(q.mode)))
    }
}

/// `enum Mode` of `hip/ops/arrays/codes.h`.
pub(super) fn mode_number(mode: QuantMode) -> u32 {
    match mode {
        QuantMode::Affine => modes::AFFINE,
        QuantMode::Mxfp4 => modes::MXFP4,
        QuantMode::Mxfp8 => modes::MXFP8,
        QuantMode::Nvfp4 => modes::NVFP4,
    }
}

pub(super) fn suffix(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::F16 => "f16",
        Dtype::Bf16 => "bf16",
        _ => "f32",
    }
}

/// The axes before the last as one, if they lie so.
fn as_rows(x: &Elements) -> Option<Elements> {
    let (&width, outer) = x.layout().sizes.split_last()?;
    let layout = x.layout().reshape(&[outer.iter().product(), width])?;
    x.with(x.dtype(), layout).ok()
}

/// Both sides and what is added as those of one product, where all batches (two at least) have the same right matrix.
pub(super) fn one_product(
    [a, b]: [&Elements; 2],
    plus: Option<&Elements>,
) -> Option<([Elements; 2], Option<Elements>)> {
    let (places, matrix) = b.layout().matrices()?;
    let mut axes = places.sizes.iter().zip(&places.strides);
    if places.count() < 2 || axes.any(|(&size, &step)| size != 1 && step != 0) {
        return None;
    }
    let plus = match plus {
        Some(c) => Some(as_rows(c)?),
        None => None,
    };
    Some(([as_rows(a)?, b.with(b.dtype(), matrix).ok()?], plus))
}

/// The step from matrix to matrix, and how many there are.
pub(super) fn stacked(x: &Elements) -> Option<([i64; 3], usize)> {
    let [batch @ .., _, _] = x.layout().sizes.as_slice() else {
        return None;
    };
    let batches = Batches::of(batch, &[x])?;
    (batches.sizes[..2] == [1, 1]).then_some((batches.strides[0], batches.sizes[2]))
}
