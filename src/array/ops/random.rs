//! Random numbers: Threefry bits of a key, and what MLX makes of them, step by step as MLX does, so that
//! the same key gives the same numbers.

use super::{invalid, known};
use crate::Result;
use crate::array::Array;
use crate::cpu::{Elements, ops::random_words};
use crate::ir::{ArgReduce, Binary, Dtype, Kind, Op, Reduce, Scan, Shape, Unary};
use parking_lot::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

/// The key that the next call without a key comes from.
static SEQUENCE: Mutex<Option<[u32; 2]>> = Mutex::new(None);

fn halves(seed: u64) -> [u32; 2] {
    [(seed >> 32) as u32, seed as u32]
}

/// Starts the process' own sequence of keys again. Any thread; so are all functions here.
pub fn seed(seed: u64) {
    *SEQUENCE.lock() = Some(halves(seed));
}

/// The key of a seed: `[2]` u32.
///
/// # Errors
/// `OutOfMemory`.
pub fn key(seed: u64) -> Result<Array> {
    let elements = Elements::from_slice(&halves(seed), Dtype::U32, &[2])?;
    Ok(Array::from_elements(elements))
}

/// The next key of the process' own sequence, which starts from the time unless it was seeded.
///
/// # Errors
/// `OutOfMemory`.
pub fn next_key() -> Result<Array> {
    let mut sequence = SEQUENCE.lock();
    let now = || {
        let time = SystemTime::now().duration_since(UNIX_EPOCH);
        halves(time.map_or(0, |time| time.as_nanos() as u64))
    };
    let words = random_words(sequence.unwrap_or_else(now), 4);
    *sequence = Some([words[0], words[1]]);
    let next = Elements::from_slice(&words[2..], Dtype::U32, &[2])?;
    Ok(Array::from_elements(next))
}

/// `count` keys of one: `[count, 2]`.
///
/// # Errors
/// As [`bits`].
pub fn split(key: &Array, count: usize) -> Result<Array> {
    bits(Shape::new([count, 2]), 4, Some(key))
}

/// Random bits: unsigned numbers of `width` bytes.
///
/// # Errors
/// `InvalidArgument` for other widths than 1, 2 and 4, and keys that are not `[2]` u32.
pub fn bits(shape: Shape, width: usize, key: Option<&Array>) -> Result<Array> {
    let dtype = match width {
        1 => Dtype::U8,
        2 => Dtype::U16,
        4 => Dtype::U32,
        _ => return Err(invalid("bits", format!("numbers of {width} bytes"))),
    };
    let key = match key {
        Some(key) => key.clone(),
        None => next_key()?,
    };
    if key.dtype() != Dtype::U32 || key.shape() != &Shape::new([2]) {
        return Err(invalid("bits", format!("key {key:?} is not [2] of uint32")));
    }
    if shape.count().is_none() {
        return Err(invalid("bits", format!("{shape} numbers are too many")));
    }
    Ok(Array::one(
        Op::RandomBits { width },
        vec![key],
        dtype,
        shape,
    ))
}

fn number(number: f64, dtype: Dtype) -> Result<Array> {
    Array::number(number, dtype)
}

/// Refuses dtypes that are not floating point.
fn floating(name: &str, dtype: Dtype) -> Result<()> {
    match dtype.kind() {
        Kind::Float => Ok(()),
        _ => Err(invalid(name, format!("numbers of {dtype}"))),
    }
}

/// Numbers evenly spread from `low` up to, but not, `high`; both are broadcast to `shape`.
///
/// # Errors
/// `InvalidArgument` for other dtypes than f32, f16 and bf16, and bounds that do not fit the shape.
pub fn uniform(
    low: &Array,
    high: &Array,
    shape: Shape,
    dtype: Dtype,
    key: Option<&Array>,
) -> Result<Array> {
    let name = "uniform";
    let below_one = match dtype {
        Dtype::F32 => f64::from(1f32.next_down()),
        Dtype::F16 => f64::from(half::f16::from_bits(half::f16::ONE.to_bits() - 1)),
        Dtype::Bf16 => f64::from(half::bf16::from_bits(half::bf16::ONE.to_bits() - 1)),
        _ => return Err(invalid(name, format!("numbers of {dtype}"))),
    };
    let (low, high) = (low.astype(dtype), high.astype(dtype));
    let range = high.binary(Binary::Subtract, &low)?;
    if range.shape().broadcast(&shape, name)? != shape {
        let what = format!("bounds of shape {} for numbers of {shape}", range.shape());
        return Err(invalid(name, what));
    }
    let bits = bits(shape, 4, key)?;
    let all = bits.binary(
        Binary::Divide,
        &number(f64::from(u32::MAX as f32), Dtype::F32)?,
    )?;
    let all = all.binary(Binary::Minimum, &number(below_one, Dtype::F32)?)?;
    range.times(&all.astype(dtype))?.plus(&low)
}

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

/// Integers from `low` up to, but not, `high`.
///
/// # Errors
/// `InvalidArgument` for floating point dtypes, and bounds that do not fit the shape.
pub fn randint(
    low: &Array,
    high: &Array,
    shape: Shape,
    dtype: Dtype,
    key: Option<&Array>,
) -> Result<Array> {
    if dtype.is_inexact() {
        return Err(invalid("randint", format!("integers of {dtype}")));
    }
    let numbers = uniform(low, high, shape, Dtype::F32, key)?;
    let numbers = numbers.unary(Unary::Floor)?.astype(dtype);
    // Bounds that f32 rounds are kept to.
    let last = high.binary(Binary::Subtract, &number(1.0, high.dtype())?)?;
    let numbers = numbers.binary(Binary::Minimum, &last.astype(dtype))?;
    numbers.binary(Binary::Maximum, &low.astype(dtype))
}

/// True with probability `p`; its own shape if none is given.
///
/// # Errors
/// `InvalidArgument` for a p that is not floating point or does not fit the shape.
pub fn bernoulli(p: &Array, shape: Option<Shape>, key: Option<&Array>) -> Result<Array> {
    let name = "bernoulli";
    floating(name, p.dtype())?;
    let shape = shape.unwrap_or_else(|| p.shape().clone());
    // One more than the largest word, so that 1 is always true.
    let words = number(f64::from((u32::MAX as f32).next_up()), Dtype::F32)?;
    let all = bits(shape.clone(), 4, key)?.binary(Binary::Less, &p.times(&words)?)?;
    match all.shape() == &shape {
        true => Ok(all),
        false => Err(invalid(name, format!("p {p:?} for a result of {shape}"))),
    }
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
