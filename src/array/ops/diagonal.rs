//! Diagonals and products of every element with every other.

use super::invalid;
use crate::Result;
use crate::array::Array;
use crate::ir::{Dim, Dtype, Reduce, Shape};

use super::join::PadMode;

impl Array {
    /// Diagonals of the matrices of two axes, as a last axis.
    ///
    /// # Errors
    /// `InvalidArgument` for axes that are not there or the same.
    pub fn diagonal(&self, offset: i64, axis1: i64, axis2: i64) -> Result<Array> {
        let places = self.shape().axes("diagonal", &[axis1, axis2])?;
        let kept = (0..self.rank()).filter(|axis| !places.contains(axis));
        let order: Vec<i64> = kept
            .chain(places.iter().copied())
            .map(|a| a as i64)
            .collect();
        let turned = self.transpose(&order)?;
        let sizes = turned.shape().numbers().unwrap_or_default();
        let [outer @ .., rows, columns] = &sizes[..] else {
            return Err(invalid("diagonal", "an array of fewer than two axes"));
        };
        let (rows, columns) = (*rows as i64, *columns as i64);
        let offset = offset.clamp(-rows, columns);
        let start = if offset < 0 {
            -offset * columns
        } else {
            offset
        };
        let count = (rows + offset.min(0)).min(columns - offset.max(0)).max(0);
        // Each element of a diagonal is a row and a column behind the one before.
        let flat = turned.flatten(-2, -1)?;
        let zeros = vec![0i64; outer.len()];
        let ends: Vec<i64> = outer.iter().map(|&size| size as i64).collect();
        let list = |head: &[i64], last: i64| [head, &[last]].concat();
        let stop = match count {
            0 => start,
            count => start + (count - 1) * (columns + 1) + 1,
        };
        let ones = vec![1i64; outer.len()];
        flat.slice(
            &list(&zeros, start),
            &list(&ends, stop),
            &list(&ones, columns + 1),
        )
    }

    /// A matrix with this vector on its `k`th diagonal, or that diagonal of this matrix.
    ///
    /// # Errors
    /// `InvalidArgument` if it is neither.
    pub fn diag(&self, k: i64) -> Result<Array> {
        match self.rank() {
            1 => {}
            2 => return self.diagonal(k, 0, 1),
            _ => {
                let what = format!("shape {} is neither a vector nor a matrix", self.shape());
                return Err(invalid("diag", what));
            }
        }
        let count = self.shape().count().unwrap_or(0) as i64;
        let size = i64::try_from(k.unsigned_abs())
            .ok()
            .and_then(|k| k.checked_add(count));
        let Some(size) = size.filter(|&size| size < 1 << 28) else {
            return Err(invalid("diag", format!("diagonal {k} is too far away")));
        };
        let zero = Array::number(0.0, self.dtype())?;
        let matrix = Shape::new([size as usize, size as usize]);
        if count == 0 {
            return Array::full(matrix, &zero, self.dtype());
        }
        // Each element with a row of zeros behind it: one row and one column further each time.
        let column = self.reshape(Shape::new([Dim::fixed(count as usize), Dim::fixed(1)]))?;
        let spread = column
            .pad(&[0, 0], &[0, size], PadMode::Constant, &zero)?
            .flat()?;
        let before = if k < 0 { -k * size } else { k };
        let all = spread.pad(&[before], &[size * size], PadMode::Constant, &zero)?;
        all.run_of_axis(0, 0, (size * size) as usize)?
            .reshape(matrix)
    }

    /// Sum of a diagonal.
    ///
    /// # Errors
    /// As [`Array::diagonal`].
    pub fn trace_of(&self, offset: i64, axis1: i64, axis2: i64, dtype: Dtype) -> Result<Array> {
        let diagonal = self.diagonal(offset, axis1, axis2)?.astype(dtype);
        Ok(diagonal
            .reduce(Reduce::Sum, Some(&[-1]), false)?
            .astype(dtype))
    }
}
