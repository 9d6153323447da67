//! Arrays put together, cut, repeated, surrounded and turned.

use super::invalid;
use crate::Result;
use crate::array::Array;
use crate::cpu::Elements;
use crate::ir::{Dim, Dtype, Op, Shape};
use smallvec::SmallVec;

/// What is put around an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PadMode {
    /// A value.
    Constant,
    /// The outermost elements.
    Edge,
    /// The array mirrored at its outermost elements.
    Reflect,
    /// The array mirrored behind its outermost elements.
    Symmetric,
}

impl Array {
    /// Arrays one after the other along an axis.
    ///
    /// # Errors
    /// `InvalidArgument` for no arrays, or other sizes along other axes.
    pub fn concatenate(arrays: &[Array], axis: i64) -> Result<Array> {
        let Some(first) = arrays.first() else {
            return Err(invalid("concatenate", "there are no arrays"));
        };
        let axis = first.shape().axis("concatenate", axis)?;
        let mut shape = first.shape().clone();
        let mut dtype = first.dtype();
        let mut size = 0usize;
        for array in arrays {
            let mut other = array.shape().clone();
            let mut fits = other.rank() == shape.rank();
            if fits {
                size += other.dims()[axis].number().unwrap_or(0);
                other.dims_mut()[axis] = shape.dims()[axis];
                fits = other == shape;
            }
            if !fits {
                let what = format!(
                    "shapes {} and {} on axis {axis}",
                    first.shape(),
                    array.shape()
                );
                return Err(invalid("concatenate", what));
            }
            dtype = dtype.promote(array.dtype());
        }
        shape.dims_mut()[axis] = Dim::fixed(size);
        if arrays.len() == 1 {
            return Ok(first.clone());
        }
        let inputs = arrays.iter().map(|array| array.astype(dtype));
        Ok(Array::one(Op::Concatenate(axis), inputs, dtype, shape))
    }

    /// Arrays of one shape along a new axis.
    ///
    /// # Errors
    /// `InvalidArgument` for no arrays, or other shapes.
    pub fn stack(arrays: &[Array], axis: i64) -> Result<Array> {
        let other = arrays
            .iter()
            .find(|array| array.shape() != arrays[0].shape());
        if let Some(other) = other {
            let what = format!("shapes {} and {}", arrays[0].shape(), other.shape());
            return Err(invalid("stack", what));
        }
        let place = arrays.first().map_or(0, |first| first.rank() + 1);
        let place = crate::ir::axis_of("stack", axis, place)? as i64;
        let expanded: Result<Vec<_>> = arrays.iter().map(|a| a.expand_dims(&[place])).collect();
        Array::concatenate(&expanded?, place)
    }

    /// Cut before these places of an axis.
    ///
    /// # Errors
    /// `InvalidArgument` for an axis that is not there.
    pub fn split(&self, places: &[i64], axis: i64) -> Result<Vec<Array>> {
        let axis = self.shape().axis("split", axis)?;
        let size = self.shape().dims()[axis].number().unwrap_or(0) as i64;
        let place = |at: i64| if at < 0 { at + size } else { at }.clamp(0, size);
        let mut from = 0;
        let ends = places.iter().map(|&at| place(at)).chain([size]);
        ends.map(|to| {
            let part = self.run_of_axis(axis, from as usize, (to - from).max(0) as usize);
            from = to;
            part
        })
        .collect()
    }

    /// Cut into equal parts.
    ///
    /// # Errors
    /// `InvalidArgument` if the axis does not divide.
    pub fn split_parts(&self, parts: i64, axis: i64) -> Result<Vec<Array>> {
        let place = self.shape().axis("split", axis)?;
        let size = self.shape().dims()[place].number().unwrap_or(0) as i64;
        if parts <= 0 || size % parts != 0 {
            let what = format!("axis {axis} of shape {} into {parts} parts", self.shape());
            return Err(invalid("split", what));
        }
        let places: Vec<i64> = (1..parts).map(|part| part * (size / parts)).collect();
        self.split(&places, axis)
    }

    /// Each element `count` times, one after the other, along an axis; of the array made flat without
    /// one.
    ///
    /// # Errors
    /// `InvalidArgument` for a negative count or an axis that is not there.
    pub fn repeat(&self, count: i64, axis: Option<i64>) -> Result<Array> {
        let (x, axis) = self.along("repeat", axis)?;
        let Ok(count) = usize::try_from(count) else {
            return Err(invalid("repeat", format!("{count} times")));
        };
        let x = x.expand_dims(&[axis as i64 + 1])?;
        let mut shape = x.shape().clone();
        shape.dims_mut()[axis + 1] = Dim::fixed(count);
        x.broadcast_to(shape)?.flatten(axis as i64, axis as i64 + 1)
    }

    /// The whole array this often along each axis.
    ///
    /// # Errors
    /// `InvalidArgument` for a negative count.
    pub fn tile(&self, counts: &[i64]) -> Result<Array> {
        let rank = self.rank().max(counts.len());
        let new: Vec<i64> = (0..(rank - self.rank()) as i64).collect();
        let x = self.expand_dims(&new)?;
        let mut split: SmallVec<[Dim; 8]> = SmallVec::new();
        let mut wide: SmallVec<[Dim; 8]> = SmallVec::new();
        let mut whole: SmallVec<[Dim; 4]> = SmallVec::new();
        for (axis, &dim) in x.shape().dims().iter().enumerate() {
            let count = (axis + counts.len())
                .checked_sub(rank)
                .map_or(1, |at| counts[at]);
            let count = usize::try_from(count).ok().map(Dim::fixed);
            let Some((count, size)) = count.and_then(|count| Some((count, dim.times(count)?)))
            else {
                return Err(invalid(
                    "tile",
                    format!("{counts:?} times {}", self.shape()),
                ));
            };
            split.extend([Dim::fixed(1), dim]);
            wide.extend([count, dim]);
            whole.push(size);
        }
        let x = x
            .reshape(Shape::new(split))?
            .broadcast_to(Shape::new(wide))?;
        x.reshape(Shape::new(whole))
    }

    /// With `low` elements before and `high` behind along each axis.
    ///
    /// # Errors
    /// `InvalidArgument` for lists of other lengths than the rank, negative numbers, or an axis without
    /// elements that should be mirrored.
    pub fn pad(&self, low: &[i64], high: &[i64], mode: PadMode, value: &Array) -> Result<Array> {
        let sizes = self.shape().numbers().unwrap_or_default();
        let all = low.iter().chain(high);
        if [low.len(), high.len(), sizes.len()] != [self.rank(); 3] || all.clone().any(|&n| n < 0) {
            let what = format!(
                "{low:?} before and {high:?} behind an array of {}",
                self.shape()
            );
            return Err(invalid("pad", what));
        }
        if all.into_iter().all(|&count| count == 0) {
            return Ok(self.clone());
        }
        if mode == PadMode::Constant {
            if value.shape().count() != Some(1) {
                let what = format!("a value of shape {} is no scalar", value.shape());
                return Err(invalid("pad", what));
            }
            let dims = sizes.iter().zip(low).zip(high);
            let dims = dims.map(|((&size, &low), &high)| size + (low + high) as usize);
            let op = Op::Pad(low.iter().map(|&low| low as usize).collect());
            let value = value.reshape(Shape::scalar())?.astype(self.dtype());
            let inputs = vec![self.clone(), value];
            return Ok(Array::one(op, inputs, self.dtype(), Shape::new(dims)));
        }
        let mut x = self.clone();
        for (axis, &size) in sizes.iter().enumerate() {
            let size = size as i64;
            if low[axis] + high[axis] == 0 {
                continue;
            }
            if size == 0 {
                let what = format!("axis {axis} of shape {} has no elements", self.shape());
                return Err(invalid("pad", what));
            }
            let place = |at: i64| match mode {
                PadMode::Symmetric => {
                    let at = at.rem_euclid(2 * size);
                    at.min(2 * size - 1 - at)
                }
                PadMode::Reflect if size > 1 => {
                    let at = at.rem_euclid(2 * size - 2);
                    at.min(2 * size - 2 - at)
                }
                _ => at.clamp(0, size - 1),
            };
            let places: Vec<i64> = (-low[axis]..size + high[axis]).map(place).collect();
            let places = Elements::from_slice(&places, Dtype::I64, &[places.len()])?;
            x = x.take(&Array::from_elements(places), axis as i64)?;
        }
        Ok(x)
    }

    /// Elements moved round along axes; those that leave at an end come in at the other. Without axes
    /// the array made flat.
    ///
    /// # Errors
    /// `InvalidArgument` for axes that are not there, or another number of shifts.
    pub fn roll(&self, shifts: &[i64], axes: Option<&[i64]>) -> Result<Array> {
        let Some(axes) = axes else {
            let shift = shifts.iter().fold(0, |sum: i64, &s| sum.wrapping_add(s));
            let rolled = self.flat()?.roll(&[shift], Some(&[0]))?;
            return rolled.reshape(self.shape().clone());
        };
        if shifts.len() != axes.len() && shifts.len() != 1 {
            let what = format!("{} shifts for {} axes", shifts.len(), axes.len());
            return Err(invalid("roll", what));
        }
        let mut x = self.clone();
        for (place, &axis) in axes.iter().enumerate() {
            let axis = self.shape().axis("roll", axis)?;
            let size = self.shape().dims()[axis].number().unwrap_or(0) as i64;
            let shift = shifts.get(place).unwrap_or(&shifts[0]);
            if size == 0 || shift % size == 0 {
                continue;
            }
            let mut parts = x.split(&[size - shift.rem_euclid(size)], axis as i64)?;
            parts.reverse();
            x = Array::concatenate(&parts, axis as i64)?;
        }
        Ok(x)
    }

    /// Axes turned round: the last element first.
    ///
    /// # Errors
    /// `InvalidArgument` for axes that are not there.
    pub fn flip(&self, axes: Option<&[i64]>) -> Result<Array> {
        let axes = self.axes_or_all("flip", axes)?;
        let (mut start, mut stop, mut step) = (vec![], vec![], vec![]);
        for (axis, dim) in self.shape().dims().iter().enumerate() {
            let size = dim.number().unwrap_or(0) as i64;
            let back = axes.contains(&axis);
            start.push(if back { size - 1 } else { 0 });
            stop.push(if back { -size - 1 } else { size });
            step.push(if back { -1 } else { 1 });
        }
        self.slice(&start, &stop, &step)
    }

    /// All arrays broadcast to the shape that they fit.
    ///
    /// # Errors
    /// `InvalidArgument` if there is none.
    pub fn broadcast_arrays(arrays: &[Array]) -> Result<Vec<Array>> {
        let mut shape = Shape::scalar();
        for array in arrays {
            shape = shape.broadcast(array.shape(), "broadcast_arrays")?;
        }
        Ok(arrays.iter().map(|array| array.spread(&shape)).collect())
    }

    /// Each vector along an axis of its own, repeated along the others unless `sparse`; `swapped`: the
    /// first two axes change places.
    ///
    /// # Errors
    /// `InvalidArgument` for what is no vector.
    pub fn meshgrid(arrays: &[Array], sparse: bool, swapped: bool) -> Result<Vec<Array>> {
        let rank = arrays.len();
        let mut grid = Vec::with_capacity(rank);
        for (place, array) in arrays.iter().enumerate() {
            if array.rank() > 1 {
                let what = format!("shape {} is no vector", array.shape());
                return Err(invalid("meshgrid", what));
            }
            let place = match place {
                0 | 1 if swapped && rank > 1 => 1 - place,
                place => place,
            };
            let others = (0..rank).filter(|&axis| axis != place);
            let others: Vec<i64> = others.map(|axis| axis as i64).collect();
            grid.push(array.flat()?.expand_dims(&others)?);
        }
        match sparse {
            true => Ok(grid),
            false => Array::broadcast_arrays(&grid),
        }
    }
}
