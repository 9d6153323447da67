//! Linear algebra that is made of other operations: systems of equations, determinants, cross products.

use super::{invalid, known};
use crate::Result;
use crate::array::Array;
use crate::ir::{Binary, Dtype, Op, Reduce, Shape, Unary};

impl Array {
    /// Rows in the order of `L·U`, L and U of `self`.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays that are no matrices of f32 or f64; so for those below.
    pub fn lu(&self) -> Result<[Array; 3]> {
        let [both, _, rows] = self.lu_parts("lu")?;
        let sizes = known("lu", self)?;
        let (m, n) = (sizes[sizes.len() - 2] as i64, sizes[sizes.len() - 1] as i64);
        let k = m.min(n);
        let lower = both.triangle(-1, true)?.corner(m, k)?;
        let lower = lower.plus(&Array::eye(m, k, 0, self.dtype())?)?;
        let upper = both.triangle(0, false)?.corner(k, n)?;
        Ok([rows, lower, upper])
    }

    /// L and U in one array, and the row that each step changed places with.
    ///
    /// # Errors
    /// As [`Array::lu`].
    pub fn lu_factor(&self) -> Result<[Array; 2]> {
        let [both, pivots, _] = self.lu_parts("lu_factor")?;
        Ok([both, pivots])
    }

    /// The first rows and columns of the last two axes.
    fn corner(&self, rows: i64, columns: i64) -> Result<Array> {
        let mut stop: Vec<i64> = known("slice", self)?.iter().map(|&n| n as i64).collect();
        let rank = stop.len();
        (stop[rank - 2], stop[rank - 1]) = (rows, columns);
        self.slice(&vec![0; rank], &stop, &vec![1; rank])
    }

    /// Checks `self · x = b`.
    fn solves(&self, name: &str, b: &Array) -> Result<()> {
        let sizes = known(name, self)?;
        let of_b = known(name, b)?;
        let dtype = self.dtype().promote(b.dtype());
        let rows = match of_b[..] {
            [] => None,
            [rows] | [.., rows, _] => Some(rows),
        };
        let square = matches!(sizes[..], [.., m, n] if m == n && Some(n) == rows);
        match square && matches!(dtype, Dtype::F32 | Dtype::F64) {
            true => Ok(()),
            false => Err(invalid(name, format!("{self:?} · x = {b:?}"))),
        }
    }

    /// x of `self · x = b`.
    ///
    /// # Errors
    /// As [`Array::lu`]; when evaluated, for singular matrices.
    pub fn solve(&self, b: &Array) -> Result<Array> {
        self.solves("solve", b)?;
        let dtype = self.dtype().promote(b.dtype());
        let [rows, lower, upper] = self.astype(dtype).lu()?;
        let order = rows.argsort(Some(-1))?;
        let b = b.astype(dtype);
        let b = match b.rank() {
            1 => {
                let n = b.shape().dims()[0];
                let whole =
                    Shape::new(super::matmul::outer(self).dims().iter().copied().chain([n]));
                b.in_order(&order, whole, true)?
            }
            _ => {
                let outer = super::matmul::outer(self);
                let outer = outer.broadcast(&super::matmul::outer(&b), "solve")?;
                let whole = super::matmul::ended(&outer, &b);
                b.in_order(&order.expand_dims(&[-1])?, whole, false)?
            }
        };
        let y = lower.solve_triangular(&b, false)?;
        upper.solve_triangular(&y, true)
    }

    /// Rows (elements of a `vector`) in another order, both repeated to a common shape.
    fn in_order(&self, order: &Array, whole: Shape, vector: bool) -> Result<Array> {
        let axis = whole.rank() - if vector { 1 } else { 2 };
        if order.shape().broadcast(&whole, "solve")? != whole {
            return Err(invalid("solve", format!("{order:?} rows of {self:?}")));
        }
        let inputs = vec![self.spread(&whole), order.spread(&whole)];
        Ok(Array::one(
            Op::GatherAxis(axis),
            inputs,
            self.dtype(),
            whole,
        ))
    }

    /// x of `self · x = b` with a triangular self.
    ///
    /// # Errors
    /// As [`Array::solve`].
    pub fn solve_triangular(&self, b: &Array, upper: bool) -> Result<Array> {
        self.solves("solve_triangular", b)?;
        let dtype = self.dtype().promote(b.dtype());
        self.astype(dtype).tri_inv(upper)?.matmul(b)
    }

    /// The inverse of `L·Lᵀ` (`Uᵀ·U` if `upper`).
    ///
    /// # Errors
    /// As [`Array::inv`].
    pub fn cholesky_inv(&self, upper: bool) -> Result<Array> {
        let inverse = self.tri_inv(upper)?;
        let turned = inverse.swapaxes(-1, -2)?;
        match upper {
            true => inverse.matmul(&turned),
            false => turned.matmul(&inverse),
        }
    }

    /// The pseudoinverse of Moore and Penrose.
    ///
    /// # Errors
    /// As [`Array::svd`], real ones only.
    pub fn pinv(&self) -> Result<Array> {
        let sizes = self.matrices("pinv", false, false)?;
        let dtype = self.dtype();
        if sizes.contains(&0) {
            let mut shape = self.shape().clone();
            let rank = shape.rank();
            shape.dims_mut().swap(rank - 2, rank - 1);
            return Array::zeros(shape, dtype);
        }
        let (m, n) = (sizes[sizes.len() - 2], sizes[sizes.len() - 1]);
        let k = m.min(n) as i64;
        let parts = self.svd(true)?;
        let [u, s, v] = &parts[..] else {
            return Err(crate::Error::Internal("svd without three parts".into()));
        };
        let u = u.corner(m as i64, k)?.swapaxes(-1, -2)?;
        let v = v.corner(k, n as i64)?.swapaxes(-1, -2)?;
        let s = s.expand_dims(&[-2])?;
        let epsilon = match dtype {
            Dtype::F64 => f64::EPSILON,
            _ => f64::from(f32::EPSILON),
        };
        let least = Array::number(10.0 * m.max(n) as f64 * epsilon, dtype)?;
        let least = least.times(&s.reduce(Reduce::Max, Some(&[-1]), true)?)?;
        let counts = s.binary(Binary::Greater, &least)?;
        let inverse = counts.select(&s.reciprocal()?, &Array::number(0.0, dtype)?)?;
        v.times(&inverse)?.matmul(&u)
    }

    /// Sign and logarithm of the size of the determinant.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays that are no square matrices, and complex ones.
    pub fn slogdet(&self) -> Result<[Array; 2]> {
        let x = self.astype(self.dtype().inexact());
        let sizes = x.matrices("slogdet", true, false)?;
        let dtype = x.dtype();
        if sizes[sizes.len() - 1] <= 3 {
            let det = x.small_det(sizes[sizes.len() - 1])?;
            return Ok([
                det.unary(Unary::Sign)?,
                det.unary(Unary::Abs)?.unary(Unary::Log)?,
            ]);
        }
        let n = sizes[sizes.len() - 1] as f64;
        let [both, pivots] = x.lu_factor()?;
        let zero = Array::number(0.0, dtype)?;
        let size = n as i64;
        let diagonal = Array::eye(size, size, 0, Dtype::Bool)?.select(&both, &zero)?;
        let diagonal = diagonal.reduce(Reduce::Sum, Some(&[-1]), false)?;
        let places = Array::arange(0.0, n, 1.0, Dtype::U32)?;
        let count = |x: Array| -> Result<Array> {
            Ok(x.reduce(Reduce::Sum, Some(&[-1]), false)?
                .astype(Dtype::I32))
        };
        let swaps = count(pivots.binary(Binary::NotEqual, &places)?)?;
        let below = count(diagonal.binary(Binary::Less, &zero)?)?;
        let integer = |n: f64| Array::number(n, Dtype::I32);
        let odd = swaps
            .plus(&below)?
            .binary(Binary::Remainder, &integer(2.0)?)?;
        let sign = integer(1.0)?.binary(Binary::Subtract, &integer(2.0)?.times(&odd)?)?;
        let logs = diagonal.unary(Unary::Abs)?.unary(Unary::Log)?;
        let logs = logs.reduce(Reduce::Sum, Some(&[-1]), false)?;
        let singular = diagonal.binary(Binary::Equal, &zero)?;
        let singular = singular.reduce(Reduce::Any, Some(&[-1]), false)?;
        let nothing = Array::number(f64::NEG_INFINITY, dtype)?;
        Ok([
            singular.select(&zero, &sign.astype(dtype))?,
            singular.select(&nothing, &logs)?,
        ])
    }

    /// The determinant.
    ///
    /// # Errors
    /// As [`Array::slogdet`].
    pub fn det(&self) -> Result<Array> {
        let x = self.astype(self.dtype().inexact());
        let sizes = x.matrices("det", true, false)?;
        if sizes[sizes.len() - 1] <= 3 {
            return x.small_det(sizes[sizes.len() - 1]);
        }
        let [sign, log] = x.slogdet()?;
        sign.times(&log.unary(Unary::Exp)?)
    }

    fn small_det(&self, n: usize) -> Result<Array> {
        let at = |row: i64, column: i64| {
            let rank = self.rank();
            let mut start = vec![0; rank];
            let mut stop: Vec<i64> = known("det", self)?.iter().map(|&n| n as i64).collect();
            (start[rank - 2], start[rank - 1]) = (row, column);
            (stop[rank - 2], stop[rank - 1]) = (row + 1, column + 1);
            self.slice(&start, &stop, &vec![1; rank])?
                .squeeze(&[-2, -1])
        };
        let minor = |(a, b): ((i64, i64), (i64, i64)), (c, d): ((i64, i64), (i64, i64))| {
            let left = at(a.0, a.1)?.times(&at(b.0, b.1)?)?;
            left.binary(Binary::Subtract, &at(c.0, c.1)?.times(&at(d.0, d.1)?)?)
        };
        match n {
            0 => {
                let outer = super::matmul::outer(self);
                Array::ones(outer, self.dtype())
            }
            1 => at(0, 0),
            2 => minor(((0, 0), (1, 1)), ((0, 1), (1, 0))),
            _ => {
                let first = at(0, 0)?.times(&minor(((1, 1), (2, 2)), ((1, 2), (2, 1)))?)?;
                let second = at(0, 1)?.times(&minor(((1, 0), (2, 2)), ((1, 2), (2, 0)))?)?;
                let third = at(0, 2)?.times(&minor(((1, 0), (2, 1)), ((1, 1), (2, 0)))?)?;
                first.binary(Binary::Subtract, &second)?.plus(&third)
            }
        }
    }

    /// The vector product along an axis of 2 or 3 elements.
    ///
    /// # Errors
    /// `InvalidArgument` for other sizes, and shapes that do not fit.
    pub fn cross(&self, other: &Array, axis: i64) -> Result<Array> {
        let name = "cross";
        let dtype = self.dtype().promote(other.dtype());
        let parts = |x: &Array| -> Result<(Vec<Array>, Shape)> {
            let at = x.shape().axis(name, axis)?;
            let size = known(name, x)?[at] as i64;
            if size != 2 && size != 3 {
                let what = format!("axis {axis} of {x:?} has neither 2 nor 3 elements");
                return Err(invalid(name, what));
            }
            let mut shape = x.shape().clone();
            shape.dims_mut()[at] = 1.into();
            let x = x.astype(dtype);
            let index = |i: i64| {
                let place = Array::number(i as f64, Dtype::I32)?.reshape(Shape::new([1]))?;
                x.take(&place, at as i64)
            };
            Ok(((0..size).map(index).collect::<Result<_>>()?, shape))
        };
        let ((a, from), (b, to)) = (parts(self)?, parts(other)?);
        let shape = from.broadcast(&to, name)?;
        let at = shape.axis(name, axis)?;
        let product = |i: usize, j: usize| a[i].times(&b[j]);
        let minus = |x: Array, y: Array| x.binary(Binary::Subtract, &y);
        let negative = |x: Array| x.unary(Unary::Negative);
        let last = minus(product(0, 1)?, product(1, 0)?)?;
        let (first, second) = match (a.len(), b.len()) {
            (2, 2) => {
                let zeros = Array::zeros(shape.clone(), dtype)?;
                (zeros.clone(), zeros)
            }
            (_, 2) => (negative(product(2, 1)?)?, product(2, 0)?),
            (2, _) => (product(1, 2)?, negative(product(0, 2)?)?),
            _ => (
                minus(product(1, 2)?, product(2, 1)?)?,
                minus(product(2, 0)?, product(0, 2)?)?,
            ),
        };
        let mut shape = shape;
        shape.dims_mut()[at] = 3.into();
        let parts = vec![first, second, last];
        Ok(Array::one(Op::Concatenate(at), parts, dtype, shape))
    }
}
