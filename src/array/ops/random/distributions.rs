//! Numbers of other distributions, made of evenly spread ones.

use super::super::{invalid, known};
use super::{floating, number, uniform};
use crate::Result;
use crate::array::Array;
use crate::ir::{Binary, Dtype, Shape, Unary};

/// Numbers between −1 and 1, f32, what the others begin with.
fn around_zero(shape: Shape, key: Option<&Array>) -> Result<Array> {
    let low = number(f64::from((-1f32).next_up()), Dtype::F32)?;
    uniform(&low, &number(1.0, Dtype::F32)?, shape, Dtype::F32, key)
}

/// Normally distributed numbers with this mean (`loc`) and deviation (`scale`).
///
/// # Errors
/// `InvalidArgument` for integers, and shapes that do not fit.
pub fn normal(
    shape: Shape,
    dtype: Dtype,
    loc: Option<&Array>,
    scale: Option<&Array>,
    key: Option<&Array>,
) -> Result<Array> {
    let name = "normal";
    if dtype == Dtype::C64 {
        let pairs = Shape::new(shape.dims().iter().copied().chain([2.into()]));
        let samples = around_zero(pairs, key)?.unary(Unary::ErfInv)?;
        let mut samples = samples.view(Dtype::C64)?.squeeze(&[-1])?;
        if let Some(scale) = scale {
            samples = scale.times(&samples)?;
        }
        return match loc {
            Some(loc) => loc.plus(&samples),
            None => Ok(samples),
        };
    }
    floating(name, dtype)?;
    let samples = around_zero(shape, key)?;
    let mut factor = number(std::f64::consts::SQRT_2, dtype)?;
    if let Some(scale) = scale {
        factor = factor.times(&scale.astype(dtype))?;
    }
    let samples = samples.unary(Unary::ErfInv)?.astype(dtype);
    let samples = factor.times(&samples)?;
    match loc {
        Some(loc) => loc.astype(dtype).plus(&samples),
        None => Ok(samples),
    }
}

/// Normally distributed vectors of this mean `[…, n]` and covariance `[…, n, n]`: `[shape…, n]` f32.
///
/// # Errors
/// `InvalidArgument` for other shapes and dtypes.
pub fn multivariate_normal(
    mean: &Array,
    covariance: &Array,
    shape: Shape,
    dtype: Dtype,
    key: Option<&Array>,
) -> Result<Array> {
    let name = "multivariate_normal";
    let (of_mean, sizes) = (known(name, mean)?, known(name, covariance)?);
    let (Some((&n, outer)), [inner @ .., rows, columns]) = (of_mean.split_last(), &sizes[..])
    else {
        return Err(invalid(name, format!("mean {mean:?} of {covariance:?}")));
    };
    if dtype != Dtype::F32 || *rows != n || *columns != n {
        let what = format!("mean {mean:?} with covariance {covariance:?} as {dtype}");
        return Err(invalid(name, what));
    }
    let inner = Shape::new(inner.iter().copied());
    let outer = inner.broadcast(&Shape::new(outer.iter().copied()), name)?;
    let mut out = outer.broadcast(&shape, name)?;
    out.dims_mut().push(n.into());
    // The root of the covariance.
    let parts = covariance.astype(Dtype::F32).svd(true)?;
    let [left, values, right] = &parts[..] else {
        return Err(crate::Error::Internal("svd without three parts".into()));
    };
    let values = values.unary(Unary::Sqrt)?.expand_dims(&[-2])?;
    let root = left.times(&values)?.matmul(right)?;
    let samples = normal(out, dtype, None, None, key)?.expand_dims(&[-2])?;
    mean.plus(&samples.matmul(&root)?.squeeze(&[-2])?)
}

/// Normally distributed numbers between `lower` and `upper`; their common shape if none is given.
///
/// # Errors
/// As [`uniform`].
pub fn truncated_normal(
    lower: &Array,
    upper: &Array,
    shape: Option<Shape>,
    dtype: Dtype,
    key: Option<&Array>,
) -> Result<Array> {
    let name = "truncated_normal";
    floating(name, dtype)?;
    let shape = match shape {
        Some(shape) => shape,
        None => lower.shape().broadcast(upper.shape(), name)?,
    };
    let root = number(std::f64::consts::SQRT_2, dtype)?;
    let (lower, upper) = (lower.astype(dtype), upper.astype(dtype));
    let bound = |x: &Array| x.binary(Binary::Divide, &root)?.unary(Unary::Erf);
    let numbers = uniform(&bound(&lower)?, &bound(&upper)?, shape, dtype, key)?;
    let numbers = root.times(&numbers.unary(Unary::ErfInv)?)?;
    let numbers = upper.binary(Binary::Minimum, &numbers)?;
    numbers.binary(Binary::Maximum, &lower)
}

/// Numbers of the standard Gumbel distribution.
///
/// # Errors
/// As [`uniform`].
pub fn gumbel(shape: Shape, dtype: Dtype, key: Option<&Array>) -> Result<Array> {
    let numbers = uniform(
        &number(0.0, dtype)?,
        &number(1.0, dtype)?,
        shape,
        dtype,
        key,
    )?;
    let minus_log = |x: Array| x.unary(Unary::Log)?.unary(Unary::Negative);
    minus_log(minus_log(numbers)?)
}

/// Laplace distributed numbers.
///
/// # Errors
/// `InvalidArgument` for dtypes that are not floating point.
pub fn laplace(
    shape: Shape,
    dtype: Dtype,
    loc: f64,
    scale: f64,
    key: Option<&Array>,
) -> Result<Array> {
    floating("laplace", dtype)?;
    let numbers = around_zero(shape, key)?;
    let size = number(-1.0, dtype)?.times(&numbers.unary(Unary::Abs)?)?;
    let sign = numbers.unary(Unary::Sign)?;
    let mut samples = sign.times(&size.unary(Unary::Log1p)?)?.astype(dtype);
    if scale != 1.0 {
        samples = number(scale, dtype)?.times(&samples)?;
    }
    if loc != 0.0 {
        samples = number(loc, dtype)?.plus(&samples)?;
    }
    Ok(samples)
}
