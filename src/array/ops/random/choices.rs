//! Random places and orders.

use super::super::{invalid, known};
use super::{bits, gumbel, number, uniform};
use crate::Result;
use crate::array::Array;
use crate::ir::{ArgReduce, Binary, Dtype, Reduce, Scan, Shape, Unary};

/// How many places [`categorical`] takes from each row.
#[derive(Debug, Clone)]
pub enum Draws {
    /// One.
    One,
    /// So many, as a new last axis.
    Count(usize),
    /// An array of this shape, which the logits without their axis are broadcast to.
    Of(Shape),
}

/// Places along an axis of `logits`, each with the probability of its softmax: u32.
///
/// # Errors
/// `InvalidArgument` for an axis that is not there, and shapes that do not fit.
pub fn categorical(logits: &Array, axis: i64, draws: Draws, key: Option<&Array>) -> Result<Array> {
    let name = "categorical";
    let axis = logits.shape().axis(name, axis)?;
    let mut rest = logits.shape().clone();
    rest.dims_mut().remove(axis);
    let (logits, shape) = match draws {
        Draws::One => (logits.clone(), rest),
        Draws::Count(count) => {
            rest.dims_mut().push(count.into());
            (logits.expand_dims(&[-1])?, rest)
        }
        Draws::Of(shape) => {
            if rest.broadcast(&shape, name)? != shape {
                let what = format!("logits of shape {} for draws of {shape}", logits.shape());
                return Err(invalid(name, what));
            }
            (logits.clone(), shape)
        }
    };
    let sizes = known(name, &logits)?;
    let n = sizes[axis];
    if n > 0 && sizes.iter().product::<usize>() == n && shape.rank() > 0 {
        return by_sums(&logits.reshape(Shape::new([n]))?, shape, key);
    }
    let place = axis + shape.rank() + 1 - logits.rank();
    let mut all = shape;
    all.dims_mut().insert(place, n.into());
    let sum = gumbel(all, Dtype::F32, key)?.plus(&logits)?;
    sum.arg_reduce(ArgReduce::Max, Some(place as i64), false)
}

/// Draws from one distribution: where a number falls among the running sums.
fn by_sums(logits: &Array, shape: Shape, key: Option<&Array>) -> Result<Array> {
    let x = logits.astype(logits.dtype().promote(Dtype::F32));
    let max = x.reduce(Reduce::Max, None, false)?;
    // Where the largest is infinite all of them are alike.
    let alike = x.binary(Binary::Equal, &max)?.astype(x.dtype());
    let weights = x.binary(Binary::Subtract, &max)?.unary(Unary::Exp)?;
    let weights = max.isinf()?.select(&alike, &weights)?;
    let sums = weights.scan(Scan::Sum, Some(0), false, false)?;
    let (low, high) = (number(0.0, Dtype::F32)?, number(1.0, Dtype::F32)?);
    let at = uniform(&low, &high, shape, Dtype::F32, key)?;
    let at = at.times(&weights.reduce(Reduce::Sum, None, false)?)?;
    let places = sums.searchsorted(&at, true)?;
    places.binary(Binary::Subtract, &number(1.0, Dtype::U32)?)
}

/// The numbers below `count` in random order: u32.
///
/// # Errors
/// As [`bits`].
pub fn permutation_of(count: usize, key: Option<&Array>) -> Result<Array> {
    bits(Shape::new([count]), 4, key)?.argsort(None)
}

/// Slices along an axis in random order.
///
/// # Errors
/// `InvalidArgument` for an axis that is not there.
pub fn permutation(x: &Array, axis: i64, key: Option<&Array>) -> Result<Array> {
    let at = x.shape().axis("permutation", axis)?;
    let count = known("permutation", x)?[at];
    x.take(&permutation_of(count, key)?, axis)
}
