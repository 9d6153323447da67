//! Numbers of a few bits, and products with them: `hip/ops/arrays/codes.hip`, `product_codes.hip`.

use super::matrices::{Extra, mode_number};
use super::numbers::{CAST, is_float};
use super::products::FEW;
use super::run::THREADS;
use super::{Elements, Place};
use crate::Result;
use crate::gpu::Args;
use crate::ir::{Dtype, Fp8, Layout, Op, QuantMode, Quantization, Type};
use std::sync::Arc;

/// Rows of x from which on codes become numbers before, where warpgroups multiply these.
const MANY: usize = super::warpgroups::MOST_OF_CODES + 1;

impl Place {
    /// Products with quantized matrices: of all x, or by index, or with x quantized too.
    pub(super) fn quantized(
        self: &Arc<Self>,
        op: &Op,
        inputs: &[&Elements],
        sizes: &[usize],
    ) -> Result<Option<Elements>> {
        let (q, transpose, by_index, both) = match op {
            Op::QuantizedMatmul {
                quantization,
                transpose,
            } => (quantization, *transpose, false, false),
            Op::GatherQmm {
                quantization,
                transpose,
            } => (quantization, *transpose, true, false),
            Op::QqMatmul(quantization) => (quantization, true, false, true),
            Op::GatherQqmm(quantization) => (quantization, true, true, true),
            _ => return Ok(None),
        };
        let mut inputs = inputs.to_vec();
        let mut extra = Extra::default();
        if by_index {
            let (Some(right), Some(left)) = (inputs.pop(), inputs.pop()) else {
                return Ok(None);
            };
            extra.places = Some((left, right));
        }
        let [x, w, rest @ ..] = inputs.as_slice() else {
            return Ok(None);
        };
        let packed = w.dtype() == Dtype::U32;
        let (scales, rest) = match (packed, rest) {
            (true, [scales, rest @ ..]) => (Some(*scales), rest),
            (false, rest) if both => (None, rest),
            _ => return Ok(None),
        };
        let affine = q.mode == QuantMode::Affine;
        let (biases, globals) = match rest {
            [biases] if affine && !both => (Some(*biases), None),
            [of_x, of_w] if both => (None, Some((*of_x, *of_w))),
            [] if !affine => (None, None),
            _ => return Ok(None),
        };
        if !is_float(x.dtype()) {
            return Ok(None);
        }
        let (Some(mut x), Some(mut w)) = (self.rows(x)?, self.rows(w)?) else {
            return Ok(None);
        };
        if both {
            let Some(back) = self.requantized(&x, q, globals.map(|(of_x, _)| of_x))? else {
                return Ok(None);
            };
            x = back;
        }
        let Some(scales) = scales else {
            let Some(back) = self.requantized(&w, q, globals.map(|(_, of_w)| of_w))? else {
                return Ok(None);
            };
            w = back;
            return self.product(&x, &w.turned()?, sizes, &extra);
        };
        let rows: usize = sizes.iter().rev().skip(1).product();
        // Products of few rows take numbers of 32 bits with scales of 16.
        let halves = [scales.dtype(), biases.map_or(x.dtype(), Elements::dtype)];
        let as_they_are = rows <= FEW
            && transpose
            && x.dtype() == Dtype::F32
            && matches!(
                halves,
                [Dtype::F16, Dtype::F16] | [Dtype::Bf16, Dtype::Bf16]
            );
        let of_scales = match affine {
            true if as_they_are => scales.dtype(),
            true => x.dtype(),
            false => Dtype::U8,
        };
        let biases = match (biases, globals) {
            (Some(biases), _) => Some((biases, of_scales)),
            (None, globals) => globals.map(|(_, of_w)| (of_w, Dtype::F32)),
        };
        let Some(scales) = self.rows_of(scales, of_scales)? else {
            return Ok(None);
        };
        let biases = match biases {
            Some((biases, dtype)) => match self.rows_of(biases, dtype)? {
                Some(biases) => Some(biases),
                None => return Ok(None),
            },
            None => None,
        };
        if rows >= MANY && transpose && !by_index && !both && self.has_warpgroups(x.dtype()) {
            // What decoding takes is little beside that.
            let [.., n, words] = w.layout().sizes.as_slice() else {
                return Ok(None);
            };
            let mut of_w = w.layout().sizes.clone();
            let rank = of_w.len();
            of_w[rank - 2..].copy_from_slice(&[*n, words * 32 / q.bits]);
            let parts: Vec<&Elements> = [&w, &scales].into_iter().chain(&biases).collect();
            let Some(w) = self.dequantize(q, &parts, x.dtype(), &of_w)? else {
                return Ok(None);
            };
            let flat = x.flat_rows(sizes)?;
            let (x, of_product) = match rank {
                2 => (flat, vec![rows, sizes.last().copied().unwrap_or(0)]),
                _ => (x, sizes.to_vec()),
            };
            let made = self.product(&x, &w.turned()?, &of_product, &extra)?;
            return match made {
                Some(made) => made.with(made.dtype(), Layout::rows(sizes)).map(Some),
                None => Ok(None),
            };
        }
        let codes = (q, &scales, biases.as_ref());
        self.coded_product((&x, &w), codes, transpose, sizes, &extra)
    }

    /// Row after row, of this dtype.
    pub(super) fn rows_of(
        self: &Arc<Self>,
        x: &Elements,
        dtype: Dtype,
    ) -> Result<Option<Elements>> {
        match x.dtype() == dtype {
            true => self.rows(x),
            false => self.unary(CAST, x, dtype),
        }
    }

    /// `(x, [scale of all])` to codes, scales and (affine) biases.
    pub(super) fn quantize(
        self: &Arc<Self>,
        q: &Quantization,
        inputs: &[&Elements],
        outputs: &[Type],
    ) -> Result<Option<Vec<Elements>>> {
        let [x, whole @ ..] = inputs else {
            return Ok(None);
        };
        let whole = whole.first().copied();
        if !is_float(x.dtype()) || whole.is_some_and(|whole| whole.dtype() != Dtype::F32) {
            return Ok(None);
        }
        let Some(x) = self.rows(x)? else {
            return Ok(None);
        };
        let mut made = Vec::with_capacity(outputs.len());
        for output in outputs {
            let Some(sizes) = output.shape.numbers() else {
                return Ok(None);
            };
            let Some((out, _)) = self.new_rows(&sizes, output.dtype)? else {
                return Ok(None);
            };
            made.push(out);
        }
        let Ok(groups) = u32::try_from(x.count() / q.group) else {
            return Ok(None);
        };
        if groups == 0 {
            return Ok(Some(made));
        }
        let mut args = Args::new().buffer("x", x.buffer(), x.offset());
        let affine = q.mode == QuantMode::Affine;
        if !affine {
            args = args.buffer_or_null("whole", whole.map(|x| (x.buffer(), x.offset())));
        }
        for (name, out) in ["codes", "scales", "biases"].into_iter().zip(&made) {
            args = args.buffer(name, out.buffer(), 0);
        }
        args = args
            .u32("groups", groups)
            .u32("group", q.group as u32)
            .u32("bits", q.bits as u32);
        if !affine {
            args = args.u32("mode", mode_number(q.mode));
        }
        let kernel = match affine {
            true => "mlxrocm_array_quantize_affine",
            false => "mlxrocm_array_quantize_float",
        };
        let grid = [groups.div_ceil(THREADS), 1, 1];
        self.launch(kernel, grid, &args.u32("dtype", x.dtype() as u32))?;
        Ok(Some(made))
    }

    /// Numbers as they come back from a floating point mode.
    fn requantized(
        self: &Arc<Self>,
        x: &Elements,
        q: &Quantization,
        whole: Option<&Elements>,
    ) -> Result<Option<Elements>> {
        let Some((out, count)) = self.new_rows(&x.layout().sizes, x.dtype())? else {
            return Ok(None);
        };
        let groups = count / q.group as u32;
        if groups == 0 {
            return Ok(Some(out));
        }
        let args = Args::new()
            .buffer("x", x.buffer(), x.offset())
            .buffer_or_null("whole", whole.map(|x| (x.buffer(), x.offset())))
            .buffer("out", out.buffer(), 0)
            .u32("groups", groups)
            .u32("group", q.group as u32)
            .u32("bits", q.bits as u32)
            .u32("mode", mode_number(q.mode))
            .u32("dtype", x.dtype() as u32);
        let grid = [groups.div_ceil(THREADS), 1, 1];
        self.launch("mlxrocm_array_requantize", grid, &args)?;
        Ok(Some(out))
    }

    /// `(codes, scales, [biases], [scale of all])` to numbers.
    pub(super) fn dequantize(
        self: &Arc<Self>,
        q: &Quantization,
        inputs: &[&Elements],
        to: Dtype,
        sizes: &[usize],
    ) -> Result<Option<Elements>> {
        let [codes, scales, more @ ..] = inputs else {
            return Ok(None);
        };
        let biases = more.first().copied();
        let affine = q.mode == QuantMode::Affine;
        if !is_float(to) || affine != is_float(scales.dtype()) || (affine && biases.is_none()) {
            return Ok(None);
        }
        let (Some(codes), Some(scales)) = (self.rows(codes)?, self.rows(scales)?) else {
            return Ok(None);
        };
        let biases = match biases {
            Some(biases) if is_float(biases.dtype()) => match self.rows(biases)? {
                Some(biases) => Some(biases),
                None => return Ok(None),
            },
            Some(_) => return Ok(None),
            None => None,
        };
        let Some((out, count)) = self.new_rows(sizes, to)? else {
            return Ok(None);
        };
        if count == 0 {
            return Ok(Some(out));
        }
        let of_biases = biases.as_ref().map_or(Dtype::F32, Elements::dtype);
        let args = Args::new()
            .buffer("codes", codes.buffer(), codes.offset())
            .buffer("scales", scales.buffer(), scales.offset())
            .buffer_or_null("biases", biases.as_ref().map(|x| (x.buffer(), x.offset())))
            .buffer("out", out.buffer(), 0)
            .u32("count", count)
            .u32("group", q.group as u32)
            .u32("bits", q.bits as u32)
            .u32("mode", mode_number(q.mode))
            .u32("scale_dtype", scales.dtype() as u32)
            .u32("bias_dtype", of_biases as u32)
            .u32("sum_dtype", scales.dtype().promote(of_biases) as u32)
            .u32("dtype", to as u32);
        let grid = [count.div_ceil(8).div_ceil(THREADS), 1, 1];
        self.launch("mlxrocm_array_dequantize", grid, &args)?;
        Ok(Some(out))
    }

    /// To and from E4M3.
    pub(super) fn fp8(
        self: &Arc<Self>,
        way: Fp8,
        x: &Elements,
        to: Dtype,
    ) -> Result<Option<Elements>> {
        let (kernel, float) = match way {
            Fp8::To => ("mlxrocm_array_to_fp8", x.dtype()),
            Fp8::From => ("mlxrocm_array_from_fp8", to),
        };
        if !is_float(float) {
            return Ok(None);
        }
        self.each(kernel, x, to, float)
    }
}

impl Elements {
    /// Elements that lie row after row as one matrix for a product of these sizes.
    fn flat_rows(&self, sizes: &[usize]) -> Result<Elements> {
        let rows: usize = sizes.iter().rev().skip(1).product();
        let columns = self.layout().sizes.last().copied().unwrap_or(1);
        let layout = Layout {
            offset: self.layout().offset,
            ..Layout::rows(&[rows, columns])
        };
        self.with(self.dtype(), layout)
    }

    /// The last two axes changed.
    pub(super) fn turned(&self) -> Result<Elements> {
        let mut layout = self.layout().clone();
        let rank = layout.sizes.len();
        if rank >= 2 {
            layout.sizes.swap(rank - 2, rank - 1);
            layout.strides.swap(rank - 2, rank - 1);
        }
        self.with(self.dtype(), layout)
    }
}
