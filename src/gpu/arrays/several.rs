//! Operations with several results or without inputs, and elements that a rule gives: `hip/ops/arrays/create.hip`.

use super::numbers::{CAST, binary_number, is_float, is_known};
use super::run::THREADS;
use super::{Elements, Place};
use crate::Result;
use crate::gpu::Args;
use crate::ir::{Binary, Dtype, Layout, Op, Type};
use std::sync::Arc;

impl Place {
    /// `None` if GPUs have no form of the operation.
    pub(super) fn several(
        self: &Arc<Self>,
        op: &Op,
        inputs: &[&Elements],
        outputs: &[Type],
    ) -> Result<Option<Vec<Elements>>> {
        match (op, inputs, outputs) {
            (Op::Quantize(q), ..) => self.quantize(q, inputs, outputs),
            (Op::DivMod, [a, b], [quotient, rest]) => {
                let mut made = Vec::with_capacity(2);
                let both = [(Binary::FloorDivide, quotient), (Binary::Remainder, rest)];
                for (function, ty) in both {
                    let Some(function) = binary_number(function) else {
                        return Ok(None);
                    };
                    let Some(result) = self.binary(function, a, b, ty.dtype)? else {
                        return Ok(None);
                    };
                    let sizes = result.layout().sizes.clone();
                    made.push(result.with(ty.dtype, Layout::rows(&sizes))?);
                }
                Ok(Some(made))
            }
            (Op::Arange { start, step }, [], [ty]) => {
                let made = self.arange(start.get(), step.get(), ty)?;
                Ok(made.map(|made| vec![made]))
            }
            _ => Ok(None),
        }
    }

    /// `start + i · step`.
    pub(super) fn arange(
        self: &Arc<Self>,
        start: f64,
        step: f64,
        ty: &Type,
    ) -> Result<Option<Elements>> {
        let Some(sizes) = ty.shape.numbers() else {
            return Ok(None);
        };
        if ty.dtype == Dtype::C64 {
            let real = Type {
                dtype: Dtype::F32,
                ..ty.clone()
            };
            return match self.arange(start, step, &real)? {
                Some(real) => self.unary(CAST, &real, Dtype::C64),
                None => Ok(None),
            };
        }
        if ty.dtype == Dtype::F64 {
            return self.f64_arange(start, step, &sizes);
        }
        if !is_known(ty.dtype) || ty.dtype == Dtype::Bool {
            return Ok(None);
        }
        let Some((out, count)) = self.new_rows(&sizes, ty.dtype)? else {
            return Ok(None);
        };
        if count == 0 {
            return Ok(Some(out));
        }
        // Both are numbers of the dtype first.
        let [start, step] = [start, step].map(|x| match ty.dtype {
            Dtype::F16 => half::f16::from_f64(x).to_f64(),
            Dtype::Bf16 => half::bf16::from_f64(x).to_f64(),
            Dtype::F32 => f64::from(x as f32),
            _ => x,
        });
        let whole = |x: f64| match ty.dtype {
            Dtype::U8 => i64::from(x as u8),
            Dtype::U16 => i64::from(x as u16),
            Dtype::U32 => i64::from(x as u32),
            Dtype::U64 => (x as u64).cast_signed(),
            Dtype::I8 => i64::from(x as i8),
            Dtype::I16 => i64::from(x as i16),
            Dtype::I32 => i64::from(x as i32),
            _ => x as i64,
        };
        let args = Args::new()
            .buffer("out", out.buffer(), 0)
            .u32("count", count)
            .u32("dtype", ty.dtype as u32)
            .i64("start", whole(start))
            .i64("step", whole(step))
            .u64("start_bits", start.to_bits())
            .u64("step_bits", step.to_bits());
        self.launch(
            "mlxrocm_array_arange",
            [count.div_ceil(THREADS), 1, 1],
            &args,
        )?;
        Ok(Some(out))
    }

    /// Threefry bits of keys.
    pub(super) fn random_bits(
        self: &Arc<Self>,
        keys: &Elements,
        width: usize,
        ty: &Type,
    ) -> Result<Option<Elements>> {
        let (Some(keys), Some(sizes)) = (self.rows(keys)?, ty.shape.numbers()) else {
            return Ok(None);
        };
        let Some((out, count)) = self.new_rows(&sizes, ty.dtype)? else {
            return Ok(None);
        };
        let number = (keys.count() / 2).max(1);
        let each = count as usize * width / number;
        let threads = u32::try_from(each.div_ceil(4).div_ceil(2) * number);
        let (Ok(threads), Ok(each)) = (threads, u32::try_from(each)) else {
            return Ok(None);
        };
        if keys.dtype() != Dtype::U32 || ty.dtype.size() != width || each == 0 {
            return Ok((each == 0).then_some(out));
        }
        let args = Args::new()
            .buffer("keys", keys.buffer(), keys.offset())
            .buffer("out", out.buffer(), 0)
            .u32("count", threads)
            .u32("bytes", each);
        let grid = [threads.div_ceil(THREADS), 1, 1];
        self.launch("mlxrocm_array_random_bits", grid, &args)?;
        Ok(Some(out))
    }

    /// A function of each element by a kernel that takes them row after row, a thread one; `float`: the dtype that it
    /// computes of or to.
    pub(super) fn each(
        self: &Arc<Self>,
        kernel: &str,
        x: &Elements,
        to: Dtype,
        float: Dtype,
    ) -> Result<Option<Elements>> {
        let Some(x) = self.rows(x)? else {
            return Ok(None);
        };
        let Some((out, count)) = self.new_rows(&x.layout().sizes, to)? else {
            return Ok(None);
        };
        if count == 0 {
            return Ok(Some(out));
        }
        let args = Args::new()
            .buffer("x", x.buffer(), x.offset())
            .buffer("out", out.buffer(), 0)
            .u32("count", count)
            .u32("dtype", float as u32);
        self.launch(kernel, [count.div_ceil(THREADS), 1, 1], &args)?;
        Ok(Some(out))
    }

    /// The inverse of the error function.
    pub(super) fn erf_inverse(
        self: &Arc<Self>,
        x: &Elements,
        to: Dtype,
    ) -> Result<Option<Elements>> {
        let kernel = match to {
            Dtype::F64 => "mlxrocm_array_f64_erf_inverse",
            to if is_float(to) => "mlxrocm_array_erf_inverse",
            _ => return Ok(None),
        };
        match self.rows_of(x, to)? {
            Some(x) => self.each(kernel, &x, to, to),
            None => Ok(None),
        }
    }

    /// How many elements there are along axes, or 1 over that.
    pub(super) fn number_of_elements(
        self: &Arc<Self>,
        x: &Elements,
        axes: &[usize],
        inverted: bool,
        ty: &Type,
    ) -> Result<Option<Elements>> {
        let count: usize = axes.iter().map(|&axis| x.layout().sizes[axis]).product();
        let number = if inverted {
            1.0 / count as f64
        } else {
            count as f64
        };
        self.arange(number, 0.0, ty)
    }
}
