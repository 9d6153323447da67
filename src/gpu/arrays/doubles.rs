//! f64: `hip/ops/arrays/f64*.hip`.

use super::matrices::{Batches, Extra};
use super::run::{THREADS, names_of};
use super::walk::{Walk, has_many_axes};
use super::{Elements, Place};
use crate::Result;
use crate::gpu::Args;
use crate::gpu::constants::arrays_f64_product;
use crate::ir::{Binary, Dtype, Layout};
use smallvec::SmallVec;
use std::sync::Arc;

/// Rows and columns of a block of a product.
const SIDE: usize = arrays_f64_product::SIDE;

/// Whether there is such a function of two f64.
pub(super) fn is_of_f64(function: Binary) -> bool {
    use Binary::*;
    !matches!(
        function,
        BitwiseAnd | BitwiseOr | BitwiseXor | LeftShift | RightShift
    )
}

impl Place {
    /// A function of f64, or a cast from or to them.
    pub(super) fn f64_unary(
        self: &Arc<Self>,
        function: u32,
        x: &Elements,
        to: Dtype,
    ) -> Result<Option<Elements>> {
        let numbers = [
            ("function", function),
            ("from", x.dtype() as u32),
            ("to", to as u32),
        ];
        self.f64_elements("mlxrocm_array_f64_unary", &[x], to, &numbers)
    }

    /// A function of two f64 each.
    pub(super) fn f64_binary(
        self: &Arc<Self>,
        function: u32,
        a: &Elements,
        b: &Elements,
        to: Dtype,
    ) -> Result<Option<Elements>> {
        let numbers = [("function", function), ("to", to as u32)];
        self.f64_elements("mlxrocm_array_f64_binary", &[a, b], to, &numbers)
    }

    /// As [`Place::elementwise`], a thread an element.
    fn f64_elements(
        self: &Arc<Self>,
        kernel: &str,
        inputs: &[&Elements],
        to: Dtype,
        numbers: &[(&'static str, u32)],
    ) -> Result<Option<Elements>> {
        let layouts: SmallVec<[&Layout; 2]> = inputs.iter().map(|x| x.layout()).collect();
        if has_many_axes(&layouts) {
            let Some(rows) = self.all_rows(inputs)? else {
                return Ok(None);
            };
            return self.f64_elements(kernel, &rows.iter().collect::<Vec<_>>(), to, numbers);
        }
        let (Some(walk), Some((out, count))) = (
            Walk::of_layouts(&layouts),
            self.new_rows(&layouts[0].sizes, to)?,
        ) else {
            return Ok(None);
        };
        if count == 0 {
            return Ok(Some(out));
        }
        let names = names_of(inputs.len());
        let mut args = Args::new();
        for (input, name) in inputs.iter().zip(names) {
            args = args.buffer(*name, input.buffer(), input.offset());
        }
        args = args.buffer("out", out.buffer(), 0).u32("count", count);
        for &(name, number) in numbers {
            args = args.u32(name, number);
        }
        let grid = [count.div_ceil(THREADS), 1, 1];
        self.launch(kernel, grid, &walk.add(args, names.iter().copied()))?;
        Ok(Some(out))
    }

    /// `start + i · step`.
    pub(super) fn f64_arange(
        self: &Arc<Self>,
        start: f64,
        step: f64,
        sizes: &[usize],
    ) -> Result<Option<Elements>> {
        let Some((out, count)) = self.new_rows(sizes, Dtype::F64)? else {
            return Ok(None);
        };
        if count > 0 {
            let args = Args::new()
                .buffer("out", out.buffer(), 0)
                .u32("count", count)
                .u64("start_bits", start.to_bits())
                .u64("step_bits", step.to_bits());
            let grid = [count.div_ceil(THREADS), 1, 1];
            self.launch("mlxrocm_array_f64_arange", grid, &args)?;
        }
        Ok(Some(out))
    }

    /// As [`Place::product`]; neither places nor segments.
    pub(super) fn f64_product(
        self: &Arc<Self>,
        a: &Elements,
        b: &Elements,
        sizes: &[usize],
        extra: &Extra<'_>,
    ) -> Result<Option<Elements>> {
        let [batch @ .., m, n] = sizes else {
            return Ok(None);
        };
        let plus = extra.plus.map(|(c, _)| c);
        let others = [Some(b), plus];
        if extra.places.is_some()
            || extra.segments.is_some()
            || others.iter().flatten().any(|x| x.dtype() != Dtype::F64)
        {
            return Ok(None);
        }
        let Some((out, count)) = self.new_rows(sizes, Dtype::F64)? else {
            return Ok(None);
        };
        if count == 0 {
            return Ok(Some(out));
        }
        let mut all = vec![a, b];
        all.extend(plus);
        let Some(batches) = Batches::of(batch, &all) else {
            return Ok(None);
        };
        let across = n.div_ceil(SIDE);
        let blocks = u32::try_from(across * batches.sizes.iter().product::<usize>());
        let (Ok(blocks), down @ ..=65_535) = (blocks, m.div_ceil(SIDE)) else {
            return Ok(None);
        };
        if blocks > i32::MAX as u32 {
            return Ok(None);
        }
        let mut args = Args::new()
            .buffer("left", a.buffer(), a.offset())
            .buffer("right", b.buffer(), b.offset())
            .buffer_or_null("plus", plus.map(|c| (c.buffer(), c.offset())))
            .buffer("out", out.buffer(), 0);
        let k = a.layout().sizes.last().copied().unwrap_or(0);
        let [_, b1, b2] = batches.sizes;
        for (name, size) in [
            ("m", *m),
            ("n", *n),
            ("k", k),
            ("across", across),
            ("b1", b1),
            ("b2", b2),
        ] {
            args = args.u32(name, size as u32);
        }
        let names = [
            ["l0", "l1", "l2", "l3", "l4"],
            ["r0", "r1", "r2", "r3", "r4"],
            ["p0", "p1", "p2", "p3", "p4"],
        ];
        for (place, names) in names.into_iter().enumerate() {
            let mut strides = [0; 5];
            if let Some(x) = all.get(place) {
                strides[..3].copy_from_slice(&batches.strides[place]);
                for (to, &step) in strides[3..]
                    .iter_mut()
                    .zip(&x.layout().strides[batch.len()..])
                {
                    *to = step as i64;
                }
            }
            args = args.i64s(names, strides);
        }
        let beta = extra.plus.map_or(0.0, |(_, beta)| beta);
        let args = args
            .u64("alpha_bits", extra.alpha.unwrap_or(1.0).to_bits())
            .u64("beta_bits", beta.to_bits());
        self.launch("mlxrocm_array_f64_product", [blocks, down as u32, 1], &args)?;
        Ok(Some(out))
    }
}
