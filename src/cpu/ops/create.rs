//! Choices, constants, ranges, and bytes seen as another dtype.

use super::cast::{Element, Wide};
use super::{Out, View, input, missing, output, with_type};
use crate::Result;
use crate::ir::{Dtype, Layout, Op};

/// The bytes of a number as a dtype.
pub fn number_bytes(number: f64, dtype: Dtype) -> Vec<u8> {
    let number = match dtype {
        Dtype::Bool => f64::from(u8::from(number != 0.0)),
        _ => number,
    };
    with_type!(dtype, T => bytemuck::bytes_of(&T::narrow(Wide::Real(number))).to_vec())
}

/// Choices, constants, ranges, views of bytes.
pub fn run(op: &Op, inputs: &[View<'_>], outputs: &mut [Out<'_>]) -> Result<()> {
    let out = output(op, outputs)?;
    match op {
        Op::Select => {
            let conditions = input(op, inputs, 0)?.values::<u8>();
            let (a, b) = (input(op, inputs, 1)?, input(op, inputs, 2)?);
            with_type!(out.dtype(), T => {
                let (a, b) = (a.values::<T>(), b.values::<T>());
                let pairs = a.iter().zip(b.iter());
                let to = out.values::<T>().iter_mut().zip(conditions.iter());
                for ((to, &condition), (&a, &b)) in to.zip(pairs) {
                    *to = if condition != 0 { a } else { b };
                }
            });
        }
        Op::Full => {
            let x = input(op, inputs, 0)?;
            let missing = out.sizes().len().saturating_sub(x.sizes().len());
            let mut layout = Layout::rows(out.sizes());
            layout.offset = x.layout().offset;
            for (axis, stride) in layout.strides.iter_mut().enumerate() {
                *stride = match axis.checked_sub(missing) {
                    Some(at) if x.sizes()[at] != 1 => x.layout().strides[at],
                    _ => 0,
                };
            }
            super::copy::copy(&x.with(layout), out);
        }
        Op::Arange { start, step } => {
            let (start, step) = (start.get(), step.get());
            with_type!(out.dtype(), T => {
                let (start, step) = (T::narrow(Wide::Real(start)), T::narrow(Wide::Real(step)));
                for (i, to) in out.values::<T>().iter_mut().enumerate() {
                    *to = T::narrow(match (start.widen(), step.widen()) {
                        (Wide::Integer(a), Wide::Integer(b)) => Wide::Integer(a + i as i128 * b),
                        (Wide::Real(a), Wide::Real(b)) => Wide::Real(a + i as f64 * b),
                        (Wide::Complex(a), Wide::Complex(b)) => Wide::Complex(a + b * i as f32),
                        _ => return Err(missing(op)),
                    });
                }
            });
        }
        Op::View => {
            let bytes = input(op, inputs, 0)?.row_bytes();
            out.bytes().copy_from_slice(&bytes);
            if out.dtype() == Dtype::Bool {
                out.truths();
            }
        }
        op => return Err(missing(op)),
    }
    Ok(())
}
