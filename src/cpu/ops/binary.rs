//! Functions of pairs of elements.

use super::arithmetic::{Arithmetic, holds};
use super::{Out, View, input, output, with_type};
use crate::ir::{Binary, Dtype, Op};
use crate::{Error, Result};

fn refused(op: &Op, dtype: Dtype) -> Error {
    Error::Unsupported(format!(
        "{}: there is no such function of {dtype}",
        op.name()
    ))
}

/// Runs a binary operation.
pub fn run(op: &Op, kind: Binary, inputs: &[View<'_>], outputs: &mut [Out<'_>]) -> Result<()> {
    let (a, b) = (input(op, inputs, 0)?, input(op, inputs, 1)?);
    let out = output(op, outputs)?;
    if let Binary::LogicalAnd | Binary::LogicalOr = kind {
        let both = kind == Binary::LogicalAnd;
        let (a, b) = (a.values::<u8>(), b.values::<u8>());
        for (to, (&a, &b)) in out.values::<u8>().iter_mut().zip(a.iter().zip(b.iter())) {
            let (a, b) = (a != 0, b != 0);
            *to = u8::from(if both { a && b } else { a || b });
        }
        return Ok(());
    }
    if kind.is_comparison() {
        with_type!(a.dtype(), T => {
            let (a, b) = (a.values::<T>(), b.values::<T>());
            for (to, (&a, &b)) in out.values::<u8>().iter_mut().zip(a.iter().zip(b.iter())) {
                *to = u8::from(holds(kind, a, b));
            }
        });
        return Ok(());
    }
    let truths = a.dtype() == Dtype::Bool;
    with_type!(a.dtype(), T => {
        let function = T::function(kind).ok_or_else(|| refused(op, a.dtype()))?;
        let (a, b) = (a.values::<T>(), b.values::<T>());
        for (to, (&a, &b)) in out.values::<T>().iter_mut().zip(a.iter().zip(b.iter())) {
            *to = function(a, b);
        }
    });
    if truths {
        out.truths();
    }
    Ok(())
}

/// Quotient, rounded down, and remainder.
pub fn divmod(op: &Op, inputs: &[View<'_>], outputs: &mut [Out<'_>]) -> Result<()> {
    let (a, b) = (input(op, inputs, 0)?, input(op, inputs, 1)?);
    let [quotients, remainders] = outputs else {
        return Err(Error::Internal("divmod without two results".into()));
    };
    let truths = a.dtype() == Dtype::Bool;
    with_type!(a.dtype(), T => {
        let divide = T::function(Binary::FloorDivide).ok_or_else(|| refused(op, a.dtype()))?;
        let remainder = T::function(Binary::Remainder).ok_or_else(|| refused(op, a.dtype()))?;
        let (a, b) = (a.values::<T>(), b.values::<T>());
        let to = quotients.values::<T>().iter_mut().zip(remainders.values::<T>());
        for ((quotient, rest), (&a, &b)) in to.zip(a.iter().zip(b.iter())) {
            *quotient = divide(a, b);
            *rest = remainder(a, b);
        }
    });
    if truths {
        quotients.truths();
        remainders.truths();
    }
    Ok(())
}
