//! Products of matrices.

use super::{invalid, known};
use crate::Result;
use crate::array::Array;
use crate::ir::{Dtype, Kind, Number, Op, Shape};

/// Both sides of a product as matrices, and the axes that come in only for that.
struct Sides {
    a: Array,
    b: Array,
    dtype: Dtype,
    /// Whether a, b had one axis.
    vectors: (bool, bool),
}

impl Sides {
    /// Vectors become a row on the left and a column on the right; dtypes are promoted together.
    fn of(name: &str, a: &Array, b: &Array, dtype: Dtype, complex: bool) -> Result<Sides> {
        let (from, to) = (known(name, a)?, known(name, b)?);
        if from.is_empty() || to.is_empty() {
            return Err(invalid(name, "a scalar is no matrix"));
        }
        if !dtype.is_inexact() || (dtype == Dtype::C64 && !complex) {
            let (a, b) = (a.dtype(), b.dtype());
            let what =
                format!("{a} and {b} make {dtype}, of which there is no product: astype converts");
            return Err(invalid(name, what));
        }
        let vectors = (from.len() == 1, to.len() == 1);
        let (a, b) = (a.astype(dtype), b.astype(dtype));
        let a = match vectors.0 {
            true => a.reshape(Shape::new([1, from[0]]))?,
            false => a,
        };
        let b = match vectors.1 {
            true => b.reshape(Shape::new([to[0], 1]))?,
            false => b,
        };
        let (x, y) = (a.shape().dims(), b.shape().dims());
        if x[x.len() - 1] != y[y.len() - 2] {
            let what = format!("shapes {} and {}", a.shape(), b.shape());
            return Err(invalid(name, format!("{what} do not meet in one size")));
        }
        Ok(Sides {
            a,
            b,
            dtype,
            vectors,
        })
    }

    /// Both repeated to common outer sizes.
    fn spread(mut self, name: &str) -> Result<Sides> {
        let outer = outer(&self.a).broadcast(&outer(&self.b), name)?;
        self.a = self.a.spread(&ended(&outer, &self.a));
        self.b = self.b.spread(&ended(&outer, &self.b));
        Ok(self)
    }

    /// The shape of the product.
    fn shape(&self) -> Shape {
        let mut shape = self.a.shape().clone();
        let dims = self.b.shape().dims();
        if let (Some(to), Some(&columns)) = (shape.dims_mut().last_mut(), dims.last()) {
            *to = columns;
        }
        shape
    }

    /// A result without the axes that came in.
    fn squeezed(&self, result: Array) -> Result<Array> {
        match self.vectors {
            (false, false) => Ok(result),
            (true, false) => result.squeeze(&[-2]),
            (false, true) => result.squeeze(&[-1]),
            (true, true) => result.squeeze(&[-2, -1]),
        }
    }
}

/// All axes but the last two.
pub(super) fn outer(x: &Array) -> Shape {
    let dims = x.shape().dims();
    Shape::new(dims[..dims.len().saturating_sub(2)].iter().copied())
}

/// `outer` with the last two axes of `x`.
pub(super) fn ended(outer: &Shape, x: &Array) -> Shape {
    let dims = x.shape().dims();
    let last = dims[dims.len().saturating_sub(2)..].iter();
    Shape::new(outer.dims().iter().chain(last).copied())
}

/// Matrices' places of both sides of a gathered product: those that are not given are all of them, in order;
/// both as u32, broadcast together.
pub(super) fn gathered(
    name: &str,
    (a, left): (&Array, Option<&Array>),
    (b, right): (&Array, Option<&Array>),
) -> Result<(Array, Array)> {
    let places = |x: &Array, given: Option<&Array>| match given {
        Some(given) if given.dtype().is_integer() => Ok(given.clone()),
        Some(given) => Err(invalid(name, format!("indices of {}", given.dtype()))),
        None => {
            let shape = outer(x);
            let op = Op::Arange {
                start: Number::new(0.0),
                step: Number::new(1.0),
            };
            let count = shape.count().and_then(|count| u32::try_from(count).ok());
            let count = count.ok_or_else(|| invalid(name, format!("{shape} matrices")))?;
            let all = Array::one(op, Vec::new(), Dtype::U32, Shape::new([count as usize]));
            all.reshape(shape)
        }
    };
    let (left, right) = (places(a, left)?, places(b, right)?);
    let (left, right, _) = super::spread_both(name, Dtype::U32, &left, &right)?;
    Ok((left, right))
}

impl Array {
    /// `self · other` of the last two axes; the others are broadcast together. A vector is a row on the
    /// left, a column on the right, and that axis is not in the result.
    ///
    /// # Errors
    /// `InvalidArgument` for scalars, integers, and sizes that do not meet.
    pub fn matmul(&self, other: &Array) -> Result<Array> {
        let dtype = self.dtype().promote(other.dtype());
        let sides = Sides::of("matmul", self, other, dtype, true)?.spread("matmul")?;
        let inputs = vec![sides.a.clone(), sides.b.clone()];
        let product = Array::one(Op::Matmul, inputs, dtype, sides.shape());
        sides.squeezed(product)
    }

    /// `alpha · a·b + beta · self`; self is broadcast to the product.
    ///
    /// # Errors
    /// As [`Array::matmul`].
    pub fn addmm(&self, a: &Array, b: &Array, alpha: f64, beta: f64) -> Result<Array> {
        let name = "addmm";
        let dtype = self.dtype().promote(a.dtype()).promote(b.dtype());
        let sides = Sides::of(name, a, b, dtype, true)?.spread(name)?;
        let shape = sides.shape();
        let dims = shape.dims();
        let inner = match sides.vectors {
            (true, true) => &dims[..dims.len() - 2],
            (false, true) => &dims[..dims.len() - 1],
            _ => dims,
        };
        let mut seen = Shape::new(inner.iter().copied());
        if sides.vectors == (true, false) {
            let row = seen.dims().len() - 2;
            seen.dims_mut().remove(row);
        }
        if self.shape().broadcast(&seen, name)? != seen {
            let what = format!("c of shape {} for a product of {seen}", self.shape());
            return Err(invalid(name, what));
        }
        let c = self.astype(dtype).spread(&seen).reshape(shape.clone())?;
        let op = Op::AddMm {
            alpha: Number::new(f64::from(alpha as f32)),
            beta: Number::new(f64::from(beta as f32)),
        };
        let inputs = vec![c, sides.a.clone(), sides.b.clone()];
        sides.squeezed(Array::one(op, inputs, dtype, shape))
    }

    /// The product of matrices whose blocks of `block` rows and columns are multiplied by masks first (by 0
    /// or 1 of truth values): of the result, of self, of other.
    ///
    /// # Errors
    /// As [`Array::matmul`], and for blocks of other sizes than 32 and 64.
    pub fn block_masked_mm(
        &self,
        other: &Array,
        block: usize,
        of_result: Option<&Array>,
        of_self: Option<&Array>,
        of_other: Option<&Array>,
    ) -> Result<Array> {
        let name = "block_masked_mm";
        if of_result.is_none() && of_self.is_none() && of_other.is_none() {
            return self.matmul(other);
        }
        if block != 32 && block != 64 {
            return Err(invalid(name, format!("blocks of {block}, not 32 or 64")));
        }
        let dtype = self.dtype().promote(other.dtype());
        let sides = Sides::of(name, self, other, dtype, false)?.spread(name)?;
        let shape = sides.shape();
        let mut inputs = vec![sides.a.clone(), sides.b.clone()];
        let mask = |mask: &Array, of: &Shape, vectors: (bool, bool), dtype: Dtype| {
            let mut sizes = known(name, mask)?;
            if vectors.0 {
                let at = sizes.len() - usize::from(!vectors.1 && !sizes.is_empty());
                sizes.insert(at, 1);
            }
            if vectors.1 {
                sizes.push(1);
            }
            let mut blocks = of.clone();
            let last = blocks.rank() - 2;
            for dim in &mut blocks.dims_mut()[last..] {
                *dim = dim.multiple().div_ceil(block).into();
            }
            let mask = mask.reshape(Shape::new(sizes))?;
            if mask.shape().broadcast(&blocks, name)? != blocks {
                let what = format!("a mask of shape {} for {blocks} blocks", mask.shape());
                return Err(invalid(name, what));
            }
            Ok(mask.astype(dtype).spread(&blocks))
        };
        let truth = |mask: Option<&Array>| mask.is_none_or(|mask| mask.dtype() == Dtype::Bool);
        let dtype_of = |truth: bool| if truth { Dtype::Bool } else { dtype };
        if let Some(of) = of_result {
            inputs.push(mask(of, &shape, sides.vectors, dtype_of(truth(of_result)))?);
        }
        let operands = of_self.is_some() || of_other.is_some();
        if operands {
            let dtype = dtype_of(truth(of_self) && truth(of_other));
            let all = Array::from_elements(crate::cpu::Elements::from_slice(
                &[1u8],
                Dtype::Bool,
                &[1, 1],
            )?);
            let (left, right) = (sides.a.shape().clone(), sides.b.shape().clone());
            inputs.push(match of_self {
                Some(of) => mask(of, &left, (sides.vectors.0, false), dtype)?,
                None => mask(&all, &left, (false, false), dtype)?,
            });
            inputs.push(match of_other {
                Some(of) => mask(of, &right, (false, sides.vectors.1), dtype)?,
                None => mask(&all, &right, (false, false), dtype)?,
            });
        }
        let op = Op::BlockMaskedMm {
            block,
            out: of_result.is_some(),
            operands,
        };
        sides.squeezed(Array::one(op, inputs, dtype, shape))
    }

    /// Products of matrices by index: result i is matrix `left[i]` of self by matrix `right[i]` of other.
    /// Indices not given are all matrices in order.
    ///
    /// # Errors
    /// As [`Array::matmul`]; when evaluated, for places that are not there.
    pub fn gather_mm(
        &self,
        other: &Array,
        left: Option<&Array>,
        right: Option<&Array>,
    ) -> Result<Array> {
        if left.is_none() && right.is_none() {
            return self.matmul(other);
        }
        let name = "gather_mm";
        let dtype = self.dtype().promote(other.dtype());
        let sides = Sides::of(name, self, other, dtype, false)?;
        let (left, right) = gathered(name, (&sides.a, left), (&sides.b, right))?;
        let dims = sides.shape();
        let last = &dims.dims()[dims.rank() - 2..];
        let shape = Shape::new(left.shape().dims().iter().chain(last).copied());
        let inputs = vec![sides.a.clone(), sides.b.clone(), left, right];
        sides.squeezed(Array::one(Op::GatherMm, inputs, sides.dtype, shape))
    }

    /// Products of parts of two matrices: `segments` `[…, 2]` are the first of the inner places of each and
    /// one past the last.
    ///
    /// # Errors
    /// `InvalidArgument` for other shapes and dtypes; when evaluated, for places that are not there.
    pub fn segmented_mm(&self, other: &Array, segments: &Array) -> Result<Array> {
        let name = "segmented_mm";
        if self.rank() != 2 || other.rank() != 2 {
            return Err(invalid(
                name,
                format!("{self:?} by {other:?}: not two matrices"),
            ));
        }
        let dtype = self.dtype().promote(other.dtype());
        let sides = Sides::of(name, self, other, dtype, false)?;
        let sizes = known(name, segments)?;
        let Some((2, outer)) = sizes.split_last().map(|(last, outer)| (*last, outer)) else {
            let what = format!("segments of shape {} are no pairs", segments.shape());
            return Err(invalid(name, what));
        };
        if !matches!(segments.dtype().kind(), Kind::Unsigned | Kind::Signed) {
            return Err(invalid(name, format!("segments of {}", segments.dtype())));
        }
        let last = [self.shape().dims()[0], other.shape().dims()[1]];
        let outer = outer.iter().map(|&size| size.into());
        let shape = Shape::new(outer.chain(last));
        let inputs = vec![sides.a, sides.b, segments.astype(Dtype::U32)];
        Ok(Array::one(Op::SegmentedMm, inputs, dtype, shape))
    }
}
