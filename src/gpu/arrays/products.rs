//! Products of matrices: `hip/ops/arrays/product*.hip`.

use super::matrices::{Batches, Extra, Product, Side, one_product, stacked, suffix};
use super::numbers::{CAST, is_float, is_known};
use super::run::THREADS;
use super::warpgroups::{MOST_BLOCKS, STEP};
use super::{Elements, Place};
use crate::Result;
use crate::driver::Platform;
use crate::gpu::Args;
use crate::gpu::constants::arrays_product_one_warps as warps;
use crate::ir::{Dtype, Layout, Op, QuantMode, Quantization};
use smallvec::SmallVec;
use std::sync::Arc;

/// The most rows that are made by `product_few.hip`.
pub(super) const FEW: usize = 16;
/// Most bytes of shared memory of `product_one_warps.hip`, beside what it has without asking.
const MOST_SHARED: usize = 200 << 10;
/// Threads of its blocks.
pub(super) const ROW_THREADS: u32 = 32 * warps::WARPS as u32;

impl Place {
    /// Products of the last two axes in all their forms.
    pub(super) fn matmul(
        self: &Arc<Self>,
        op: &Op,
        inputs: &[&Elements],
        sizes: &[usize],
    ) -> Result<Option<Elements>> {
        let mut extra = Extra::default();
        let (a, b) = match (op, inputs) {
            (Op::Matmul, [a, b]) => (a, b),
            (Op::AddMm { alpha, beta }, [c, a, b]) => {
                extra.plus = Some((c, beta.get()));
                extra.alpha = Some(alpha.get());
                (a, b)
            }
            (Op::GatherMm, [a, b, left, right]) => {
                extra.places = Some((left, right));
                (a, b)
            }
            (Op::SegmentedMm, [a, b, segments]) => {
                extra.segments = Some(segments);
                (a, b)
            }
            (
                Op::BlockMaskedMm {
                    block,
                    out,
                    operands,
                },
                inputs,
            ) => return self.masked_product(inputs, *block, (*out, *operands), sizes),
            _ => return Ok(None),
        };
        // Batches are counted through three axes: what has more is copied.
        let batch = &sizes[..sizes.len().saturating_sub(2)];
        let mut all = vec![*a, *b];
        all.extend(extra.plus.map(|(c, _)| c));
        let gathers = extra.places.is_some() || extra.segments.is_some();
        if gathers || batch.len() <= 3 || Batches::of(batch, &all).is_some() {
            return self.product(a, b, sizes, &extra);
        }
        let Some(rows) = self.all_rows(&all)? else {
            return Ok(None);
        };
        let (Some(a), Some(b)) = (rows.first(), rows.get(1)) else {
            return Ok(None);
        };
        let copied = Extra {
            plus: rows.get(2).zip(extra.plus.map(|(_, beta)| beta)),
            alpha: extra.alpha,
            ..Extra::default()
        };
        self.product(a, b, sizes, &copied)
    }

    /// `a · b` of the last two axes, and what `extra` says; `None` if kernels do not take it.
    pub(super) fn product(
        self: &Arc<Self>,
        a: &Elements,
        b: &Elements,
        sizes: &[usize],
        extra: &Extra<'_>,
    ) -> Result<Option<Elements>> {
        let dtype = a.dtype();
        let [batch @ .., m, n] = sizes else {
            return Ok(None);
        };
        let gathers = extra.places.is_some() || extra.segments.is_some();
        let plus = extra.plus.map(|(c, _)| c);
        if !gathers && let Some(([a, b], c)) = one_product([a, b], plus) {
            let extra = Extra {
                plus: c.as_ref().zip(extra.plus.map(|(_, beta)| beta)),
                alpha: extra.alpha,
                ..Extra::default()
            };
            let rows = batch.iter().product::<usize>() * m;
            let made = self.product(&a, &b, &[rows, *n], &extra)?;
            return made
                .map(|made| made.with(dtype, Layout::rows(sizes)))
                .transpose();
        }
        if dtype == Dtype::C64 && b.dtype() == dtype {
            return self.complex_product(a, b, sizes, extra);
        }
        if dtype == Dtype::F64 {
            return self.f64_product(a, b, sizes, extra);
        }
        let others = [Some(b), plus];
        if !is_float(dtype) || others.iter().flatten().any(|x| x.dtype() != dtype) {
            return Ok(None);
        }
        // Warpgroups and products of rounded numbers take rows along k: copying them is little beside the product.
        let turned = a.layout().strides.last() != Some(&1);
        let inner = a.layout().sizes.last().copied().unwrap_or(0);
        let by_parts = dtype == Dtype::F32 && self.takes_parts(*m, *n, inner);
        let by_halves = self.takes_halves(dtype, *m, *n, inner);
        let by_warpgroups = self.has_warpgroups(dtype) && *m > STEP && *n > STEP;
        let a = match turned && (by_warpgroups || by_parts || by_halves) {
            true => self.rows(a)?,
            false => self.sided(a)?,
        };
        let (Some(a), Some(b)) = (a, self.sided(b)?) else {
            return Ok(None);
        };
        // Matrices that are chosen by number lie in one step from each other.
        let by_number = |x: Elements| match gathers && stacked(&x).is_none() {
            true => self.rows(&x),
            false => Ok(Some(x)),
        };
        let (Some(a), Some(b)) = (by_number(a)?, by_number(b)?) else {
            return Ok(None);
        };
        let k = a.layout().sizes.last().copied().unwrap_or(0);
        let mut all: SmallVec<[&Elements; 3]> = SmallVec::new();
        if !gathers {
            all.extend([&a, &b]);
        }
        all.extend(plus);
        let Some(batches) = Batches::of(batch, &all) else {
            return Ok(None);
        };
        let (of_a, of_b) = match gathers {
            false => (Some((batches.strides[0], 1)), Some((batches.strides[1], 1))),
            true => (stacked(&a), stacked(&b)),
        };
        let (Some((a_steps, a_count)), Some((b_steps, b_count))) = (of_a, of_b) else {
            return Ok(None);
        };
        let (Some(left), Some(right)) = (
            Side::of(a.clone(), false, a_steps, a_count),
            Side::of(b.clone(), true, b_steps, b_count),
        ) else {
            return Ok(None);
        };
        let mut strides = [0; 5];
        if let Some(c) = plus {
            strides[..3].copy_from_slice(&batches.strides[all.len() - 1]);
            for (to, &step) in strides[3..]
                .iter_mut()
                .zip(&c.layout().strides[batch.len()..])
            {
                *to = step as i64;
            }
        }
        let Some(words) = self.words(extra)? else {
            return Ok(None);
        };
        let product = Product {
            left,
            right,
            batches: batches.sizes,
            m: *m,
            n: *n,
            k,
            extra,
            plus: strides,
            words,
            codes: None,
            turned: false,
        };
        self.multiply(product, sizes, dtype)
    }

    /// `(a, b, [mask of the result], [masks of a and b])`.
    pub(super) fn masked_product(
        self: &Arc<Self>,
        inputs: &[&Elements],
        block: usize,
        (out, operands): (bool, bool),
        sizes: &[usize],
    ) -> Result<Option<Elements>> {
        let [a, b, masks @ ..] = inputs else {
            return Ok(None);
        };
        let mut masks = masks.iter();
        let of_out = out.then(|| masks.next()).flatten();
        let (mut a, mut b) = ((*a).clone(), (*b).clone());
        if operands {
            let (Some(of_a), Some(of_b)) = (masks.next(), masks.next()) else {
                return Ok(None);
            };
            let (Some(x), Some(y)) = (self.masked(&a, of_a, block)?, self.masked(&b, of_b, block)?)
            else {
                return Ok(None);
            };
            (a, b) = (x, y);
        }
        let made = self.product(&a, &b, sizes, &Extra::default())?;
        match (made, of_out) {
            (Some(made), Some(mask)) => self.masked(&made, mask, block),
            (made, _) => Ok(made),
        }
    }

    fn masked(
        self: &Arc<Self>,
        x: &Elements,
        mask: &Elements,
        block: usize,
    ) -> Result<Option<Elements>> {
        let sizes = x.layout().sizes.clone();
        let [.., rows, columns] = sizes.as_slice() else {
            return Ok(None);
        };
        let fits = mask.dtype() == Dtype::Bool || mask.dtype() == x.dtype();
        let (Some(x), Some(mask)) = (self.rows(x)?, self.rows(mask)?) else {
            return Ok(None);
        };
        let Some((out, count)) = self.new_rows(&sizes, x.dtype())? else {
            return Ok(None);
        };
        if !fits || !is_float(x.dtype()) || count == 0 {
            return Ok((fits && count == 0).then_some(out));
        }
        let args = Args::new()
            .buffer("x", x.buffer(), x.offset())
            .buffer("mask", mask.buffer(), mask.offset())
            .buffer("out", out.buffer(), 0)
            .u32("count", count)
            .u32("rows", *rows as u32)
            .u32("columns", *columns as u32)
            .u32("block", block as u32)
            .u32("dtype", x.dtype() as u32)
            .u32("mask_dtype", mask.dtype() as u32);
        let grid = [count.div_ceil(super::run::THREADS), 1, 1];
        self.launch("mlxrocm_array_mask_blocks", grid, &args)?;
        Ok(Some(out))
    }

    /// `x · w` where w are codes, `[…, n, k]` or (not `transpose`) `[…, k, n]`; all elements lie row after row, x as
    /// `[…, m, k]`. Of `places`, or each batch its own matrix, or all one.
    pub(super) fn coded_product(
        self: &Arc<Self>,
        (x, w): (&Elements, &Elements),
        (q, scales, biases): (&Quantization, &Elements, Option<&Elements>),
        transpose: bool,
        sizes: &[usize],
        extra: &Extra<'_>,
    ) -> Result<Option<Elements>> {
        let ([batch @ .., m, n], [x_batch @ .., _, k]) = (sizes, x.layout().sizes.as_slice())
        else {
            return Ok(None);
        };
        let matrices: usize = w.layout().sizes.iter().rev().skip(2).product();
        let mut count: usize = batch.iter().product();
        let (mut m, k) = (*m, *k);
        let x_count: usize = x_batch.iter().product();
        let mut w_step = 1;
        if extra.places.is_none() {
            if x_count != count || (matrices != 1 && matrices != count) {
                return Ok(None);
            }
            if matrices == 1 {
                (m, count, w_step) = (m * count, 1, 0);
            }
        }
        let x_count = if extra.places.is_some() {
            x_count
        } else {
            count
        };
        let layout = Layout {
            offset: x.layout().offset,
            ..Layout::rows(&[x_count, m, k])
        };
        let rows = x.with(x.dtype(), layout);
        let step = (m * k) as i64;
        let Some(left) = Side::of(rows?, false, [0, 0, step], x_count) else {
            return Ok(None);
        };
        let right = Side {
            elements: w.clone(),
            batch: [0, 0, w_step],
            stride: 0,
            along: transpose,
            count: matrices,
            whole: true,
        };
        let Some(words) = self.words(extra)? else {
            return Ok(None);
        };
        let product = Product {
            left,
            right,
            batches: [1, 1, count],
            m,
            n: *n,
            k,
            extra,
            plus: [0; 5],
            words,
            codes: Some((q, scales, biases)),
            turned: false,
        };
        self.multiply(product, sizes, x.dtype())
    }

    /// Places and segments as kernels read them.
    fn words(self: &Arc<Self>, extra: &Extra<'_>) -> Result<Option<[Option<Elements>; 3]>> {
        let (left, right) = extra.places.unzip();
        let mut words = [None, None, None];
        for (to, from) in words.iter_mut().zip([left, right, extra.segments]) {
            let Some(x) = from else { continue };
            if !is_known(x.dtype()) || is_float(x.dtype()) {
                return Ok(None);
            }
            let x = match x.dtype() {
                Dtype::U32 => self.rows(x)?,
                _ => self.unary(CAST, x, Dtype::U32)?,
            };
            match x {
                Some(x) => *to = Some(x),
                None => return Ok(None),
            }
        }
        Ok(Some(words))
    }

    /// Elements of which one of the last two axes has steps of 1.
    fn sided(self: &Arc<Self>, x: &Elements) -> Result<Option<Elements>> {
        match Side::of(x.clone(), false, [0; 3], 1) {
            Some(_) => Ok(Some(x.clone())),
            None => self.rows(x),
        }
    }

    fn multiply(
        self: &Arc<Self>,
        mut product: Product<'_>,
        sizes: &[usize],
        dtype: Dtype,
    ) -> Result<Option<Elements>> {
        let Some((out, count)) = self.new_rows(sizes, dtype)? else {
            return Ok(None);
        };
        if count == 0 {
            return Ok(Some(out));
        }
        if product.left.count == 0 || product.right.count == 0 {
            return Ok(None);
        }
        let batches: usize = product.batches.iter().product();
        if self.by_warpgroups(&product, &out, batches)?
            || self.by_halves(&mut product, &out, batches)?
            || self.by_parts(&mut product, &out, batches)?
            || self.by_codes(&product, &out, batches)?
        {
            return Ok(Some(out));
        }
        let coded = product.codes.is_some();
        if product.m > FEW && product.n <= FEW && !coded {
            product.turn();
        }
        if self.one_row(&product, &out, batches)? {
            return Ok(Some(out));
        }
        let few = product.m <= FEW && (!coded || product.right.along);
        let name = |form: &str| format!("mlxrocm_array_product_{form}{}", suffix(dtype));
        let (kernel, grid, across) = if few {
            let waves = THREADS / self.device.facts().wave_size.max(1);
            let (form, columns) = match (coded, product.right.along) {
                (true, _) => ("codes_", 2 * waves as usize),
                (false, true) => ("", 2 * waves as usize),
                (false, false) => ("across_", 32),
            };
            let (begin, rows) = if product.m == 1 {
                ("one_", 1)
            } else {
                ("few_", 4)
            };
            let across = product.n.div_ceil(columns);
            let blocks = product.m.div_ceil(rows) * across * batches;
            let mut kernel = name(&format!("{begin}{form}"));
            if let Some((_, scales, _)) = product.codes
                && is_float(scales.dtype())
                && scales.dtype() != dtype
            {
                kernel = format!("{kernel}_{}", suffix(scales.dtype()));
            }
            (kernel, [blocks, 1], across)
        } else {
            let blocks = |rows: usize| product.m.div_ceil(rows) * product.n.div_ceil(rows);
            let units = self.device.facts().compute_units as usize;
            let whole = product.left.whole && product.right.whole && product.words[2].is_none();
            let large = whole
                && product.m > 64
                && product.n > 64
                && blocks(128) * batches >= units
                && !(coded && dtype == Dtype::F32);
            let (rows, tail) = if large { (128, "") } else { (64, "_small") };
            let form = if coded { "codes_" } else { "" };
            let across = product.n.div_ceil(rows);
            let grid = [across * batches, product.m.div_ceil(rows)];
            (name(form) + tail, grid, across)
        };
        if grid[0] > MOST_BLOCKS || grid[1] > 65_535 {
            return Ok(None);
        }
        let args = product.args(&out, across);
        self.launch(&kernel, [grid[0] as u32, grid[1] as u32, 1], &args)?;
        Ok(Some(out))
    }

    /// One row with codes by `product_one_warps.hip`; false if it is not one for it.
    fn one_row(&self, product: &Product<'_>, out: &Elements, batches: usize) -> Result<bool> {
        let Some((q, scales, _)) = product.codes else {
            return Ok(false);
        };
        let codes = &product.right;
        let lies_well = codes.along && codes.elements.is_aligned(16) && product.left.along;
        let facts = self.device.facts();
        let shared = match warps_shared(q, product.k, scales.dtype()) {
            Some(shared) if product.m == 1 && lies_well && facts.platform == Platform::Cuda => {
                shared
            }
            _ => return Ok(false),
        };
        let mut kernel = format!("mlxrocm_array_product_warps_codes_{}", suffix(out.dtype()));
        if scales.dtype() != out.dtype() {
            kernel = format!("{kernel}_{}", suffix(scales.dtype()));
        }
        let Ok(kernel) = self.device.kernel(&kernel) else {
            return Ok(false);
        };
        let blocks = (facts.compute_units as usize).max(1);
        let across = product.n.div_ceil(16).min(blocks.div_ceil(batches.max(1)));
        if across * batches > MOST_BLOCKS {
            return Ok(false);
        }
        let grid = [(across * batches) as u32, 1, 1];
        let args = product.args(out, across);
        let block = ([ROW_THREADS, 1, 1], shared as u32);
        self.launch_blocks(&kernel, grid, block, &args)?;
        Ok(true)
    }
}

/// Bytes of shared memory of `product_one_warps.hip` for a row of k numbers; `None` if it does not take such codes.
pub(super) fn warps_shared(q: &Quantization, k: usize, of_scales: Dtype) -> Option<usize> {
    let affine = q.mode == QuantMode::Affine && q.bits == 4;
    let groups = k > 0 && k.is_multiple_of(32) && q.group >= 32 && q.group.is_power_of_two();
    let stage = match of_scales.size() {
        2 => warps::STAGE_16,
        _ => warps::STAGE_32,
    };
    let of_row = k.next_multiple_of(warps::DEPTH) / 32 * 136;
    let shared = warps::WARPS * warps::STAGES * stage + of_row;
    (affine && groups && shared <= MOST_SHARED).then_some(shared)
}
