//! Elements as the numbers that plain forms compute with: f64, complex f64, places.

use super::cast::{Element, Wide};
use super::{Out, View, with_type};
use crate::ir::{Dtype, Kind, Layout, Op};
use crate::{Error, Result};
use half::{bf16, f16};
use num_complex::Complex;

/// A complex number as plain forms compute with it.
pub type C = Complex<f64>;

/// What a sum of products is taken of.
pub trait Number:
    Copy
    + Default
    + PartialEq
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::Neg<Output = Self>
    + std::ops::AddAssign
    + std::ops::SubAssign
{
    /// The elements row after row.
    fn read(view: &View<'_>) -> Vec<Self>;
    /// Writes from element `at` on.
    fn write(out: &mut Out<'_>, at: usize, values: &[Self]);
    /// A real number.
    fn real(x: f64) -> Self;
    /// The complex conjugate.
    fn conj(self) -> Self;
    /// Its absolute value.
    fn size(self) -> f64;
    /// The real part.
    fn re(self) -> f64;
    /// Neither NaN nor infinite.
    fn is_finite(self) -> bool;
}

impl Number for f64 {
    fn read(view: &View<'_>) -> Vec<f64> {
        reals(view)
    }
    fn write(out: &mut Out<'_>, at: usize, values: &[f64]) {
        write(out, at, values.iter().map(|&x| Wide::Real(x)));
    }
    fn real(x: f64) -> f64 {
        x
    }
    fn conj(self) -> f64 {
        self
    }
    fn size(self) -> f64 {
        self.abs()
    }
    fn re(self) -> f64 {
        self
    }
    fn is_finite(self) -> bool {
        f64::is_finite(self)
    }
}

impl Number for C {
    fn read(view: &View<'_>) -> Vec<C> {
        let wide = |wide| match wide {
            Wide::Integer(i) => C::new(i as f64, 0.0),
            Wide::Real(x) => C::new(x, 0.0),
            Wide::Complex(z) => C::new(z.re.into(), z.im.into()),
        };
        with_type!(view.dtype(), T => {
            view.values::<T>().iter().map(|x| wide(x.widen())).collect()
        })
    }
    fn write(out: &mut Out<'_>, at: usize, values: &[C]) {
        let narrow = |z: &C| Wide::Complex(Complex::new(z.re as f32, z.im as f32));
        write(out, at, values.iter().map(narrow));
    }
    fn real(x: f64) -> C {
        C::new(x, 0.0)
    }
    fn conj(self) -> C {
        Complex::conj(&self)
    }
    fn size(self) -> f64 {
        self.norm()
    }
    fn re(self) -> f64 {
        self.re
    }
    fn is_finite(self) -> bool {
        self.re.is_finite() && self.im.is_finite()
    }
}

fn write(out: &mut Out<'_>, at: usize, values: impl Iterator<Item = Wide>) {
    with_type!(out.dtype(), T => {
        for (to, value) in out.values::<T>()[at..].iter_mut().zip(values) {
            *to = T::narrow(value);
        }
    });
}

/// The elements row after row; of complex numbers the real part.
pub fn reals(view: &View<'_>) -> Vec<f64> {
    let real = |wide| match wide {
        Wide::Integer(i) => i as f64,
        Wide::Real(x) => x,
        Wide::Complex(z) => z.re.into(),
    };
    with_type!(view.dtype(), T => {
        view.values::<T>().iter().map(|x| real(x.widen())).collect()
    })
}

/// The elements row after row as f32.
pub fn singles(view: &View<'_>) -> Vec<f32> {
    match view.dtype() {
        Dtype::F32 => view.values::<f32>().into_owned(),
        _ => reals(view).into_iter().map(|x| x as f32).collect(),
    }
}

/// Writes f32 numbers from element `at` on.
pub fn put(out: &mut Out<'_>, at: usize, values: impl Iterator<Item = f32>) {
    write(out, at, values.map(|x| Wide::Real(x.into())));
}

/// The nearest number of a floating point dtype, as f32 (of f64: as it is).
pub fn round(dtype: Dtype, x: f32) -> f32 {
    match dtype {
        Dtype::F16 => f16::from_f32(x).to_f32(),
        Dtype::Bf16 => bf16::from_f32(x).to_f32(),
        _ => x,
    }
}

/// Places that an array of unsigned numbers names, each below `limit`.
///
/// # Errors
/// `InvalidArgument` naming the place and what it is `of`.
pub fn places(op: &Op, view: &View<'_>, of: &str, limit: usize) -> Result<Vec<usize>> {
    if !matches!(view.dtype().kind(), Kind::Unsigned | Kind::Signed) {
        let what = format!("{}: places of {}", op.name(), view.dtype());
        return Err(Error::Internal(what));
    }
    let place = |x: f64| match x >= 0.0 && x < limit as f64 {
        true => Ok(x as usize),
        false => Err(Error::InvalidArgument(format!(
            "{}: there is no {of} {x} among {limit}",
            op.name()
        ))),
    };
    reals(view).into_iter().map(place).collect()
}

/// One matrix of an array of them: the last two axes, at place `batch` of the others.
pub fn matrix<'a>(view: &View<'a>, batch: usize) -> View<'a> {
    let layout = view.layout();
    let outer = layout.sizes.len() - 2;
    let mut left = batch;
    let mut offset = layout.offset as isize;
    for axis in (0..outer).rev() {
        let size = layout.sizes[axis].max(1);
        offset += (left % size) as isize * layout.strides[axis];
        left /= size;
    }
    view.with(Layout {
        sizes: layout.sizes[outer..].into(),
        strides: layout.strides[outer..].into(),
        offset: offset.max(0) as usize,
    })
}

/// Matrices in an array of them.
pub fn batches(sizes: &[usize]) -> usize {
    sizes[..sizes.len().saturating_sub(2)].iter().product()
}

/// The last two sizes.
///
/// # Errors
/// `Internal` if there are fewer.
pub fn last_two(op: &Op, sizes: &[usize]) -> Result<(usize, usize)> {
    match sizes {
        [.., rows, columns] => Ok((*rows, *columns)),
        _ => Err(Error::Internal(format!(
            "{}: an array of shape {sizes:?} is no matrix",
            op.name()
        ))),
    }
}
