//! Products that are made of others: tensordot, inner, outer, kron.

use super::{invalid, known};
use crate::Result;
use crate::array::Array;
use crate::ir::Shape;

impl Array {
    /// Sums of products over pairs of axes.
    ///
    /// # Errors
    /// `InvalidArgument` if there are not as many axes of one as of the other, or their sizes differ.
    pub fn tensordot(&self, other: &Array, axes: &[i64], of_other: &[i64]) -> Result<Array> {
        let name = "tensordot";
        let (from, to) = (known(name, self)?, known(name, other)?);
        let left = self.shape().axes(name, axes)?;
        let right = other.shape().axes(name, of_other)?;
        let meet = left.iter().zip(&right).all(|(&a, &b)| from[a] == to[b]);
        if left.len() != right.len() || !meet {
            let what = format!(
                "axes {axes:?} of {} and {of_other:?} of {}",
                self.shape(),
                other.shape()
            );
            return Err(invalid(name, format!("{what} do not fit")));
        }
        let free = |sizes: &[usize], axes: &[usize]| -> Vec<usize> {
            (0..sizes.len())
                .filter(|axis| !axes.contains(axis))
                .collect()
        };
        let (free_left, free_right) = (free(&from, &left), free(&to, &right));
        let inner: usize = left.iter().map(|&axis| from[axis]).product();
        let order = |axes: Vec<usize>| axes.into_iter().map(|axis| axis as i64).collect::<Vec<_>>();
        let count =
            |sizes: &[usize], axes: &[usize]| axes.iter().map(|&axis| sizes[axis]).product();
        let (rows, columns): (usize, usize) = (count(&from, &free_left), count(&to, &free_right));
        let a = self.transpose(&order([&free_left[..], &left].concat()))?;
        let b = other.transpose(&order([&right[..], &free_right].concat()))?;
        let a = a.reshape(Shape::new([rows, inner]))?;
        let b = b.reshape(Shape::new([inner, columns]))?;
        let sizes = free_left.iter().map(|&axis| from[axis]);
        let sizes = sizes.chain(free_right.iter().map(|&axis| to[axis]));
        a.matmul(&b)?.reshape(Shape::new(sizes))
    }

    /// Sums of products over the last axes; of scalars the product.
    ///
    /// # Errors
    /// As [`Array::tensordot`].
    pub fn inner(&self, other: &Array) -> Result<Array> {
        match self.rank() == 0 || other.rank() == 0 {
            true => self.times(other),
            false => self.tensordot(other, &[-1], &[-1]),
        }
    }

    /// Products of all elements with all of the other: `[elements, elements]`.
    ///
    /// # Errors
    /// As [`Array::times`].
    pub fn outer(&self, other: &Array) -> Result<Array> {
        let count = |x: &Array| -> Result<usize> { Ok(known("outer", x)?.iter().product()) };
        let a = self.reshape(Shape::new([count(self)?, 1]))?;
        a.times(&other.reshape(Shape::new([count(other)?]))?)
    }

    /// Kronecker's product: every element of self times the whole other.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays without elements.
    pub fn kron(&self, other: &Array) -> Result<Array> {
        let (a, b) = (known("kron", self)?, known("kron", other)?);
        if a.contains(&0) || b.contains(&0) {
            return Err(invalid("kron", "an array without elements"));
        }
        let rank = a.len().max(b.len());
        let padded = |sizes: &[usize]| [&vec![1; rank - sizes.len()], sizes].concat();
        let (a, b) = (padded(&a), padded(&b));
        let between = |sizes: &[usize], at: usize| {
            let pair = |&size: &usize| if at == 0 { [size, 1] } else { [1, size] };
            Shape::new(sizes.iter().flat_map(pair))
        };
        let product = self.reshape(between(&a, 0))?;
        let product = product.times(&other.reshape(between(&b, 1))?)?;
        product.reshape(Shape::new(a.iter().zip(&b).map(|(a, b)| a * b)))
    }
}
