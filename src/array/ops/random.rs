//! Random numbers: Threefry bits of a key, and what MLX makes of them, step by step as MLX does, so that
//! the same key gives the same numbers.

mod choices;
mod distributions;

pub use choices::{Draws, categorical, permutation, permutation_of};
pub use distributions::{gumbel, laplace, multivariate_normal, normal, truncated_normal};

use super::invalid;
use crate::Result;
use crate::array::Array;
use crate::cpu::{Elements, ops::random_words};
use crate::ir::{Binary, Dtype, Kind, Op, Shape, Unary};
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
