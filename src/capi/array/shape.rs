//! Other shapes of the same elements, and arrays put together.

use super::functions::array_functions;
use crate::array::Array;
use crate::array::ops::PadMode;
use crate::{Error, Result};

/// mlxrocm_array_pad.mode: a value around the array.
pub const MLXROCM_PAD_CONSTANT: i64 = 0;
/// mlxrocm_array_pad.mode: its outermost elements around the array.
pub const MLXROCM_PAD_EDGE: i64 = 1;
/// mlxrocm_array_pad.mode: its mirror image around the array, without the outermost elements.
pub const MLXROCM_PAD_REFLECT: i64 = 2;
/// mlxrocm_array_pad.mode: its mirror image around the array.
pub const MLXROCM_PAD_SYMMETRIC: i64 = 3;

fn pad_mode(mode: i64) -> Result<PadMode> {
    match mode {
        MLXROCM_PAD_CONSTANT => Ok(PadMode::Constant),
        MLXROCM_PAD_EDGE => Ok(PadMode::Edge),
        MLXROCM_PAD_REFLECT => Ok(PadMode::Reflect),
        MLXROCM_PAD_SYMMETRIC => Ok(PadMode::Symmetric),
        _ => Err(Error::InvalidArgument(format!(
            "pad: mode is {mode}, it must be one of MLXROCM_PAD_CONSTANT (0) to MLXROCM_PAD_SYMMETRIC (3)"
        ))),
    }
}

array_functions! {
    /// The same elements, row after row, in another shape; one size may be -1: what is left.
    fn mlxrocm_array_reshape(array x, ints shape[rank]) -> result = x.reshape_to(shape);
    /// Neighbouring axes as one.
    /// - `start`: the first of them.
    /// - `end`: the last of them.
    fn mlxrocm_array_flatten(array x, int start, int end) -> result = x.flatten(start, end);
    /// An axis as several; one size may be -1: what is left.
    /// - `axis`: negative ones count from the end.
    fn mlxrocm_array_unflatten(array x, int axis, ints shape[rank]) -> result
        = x.unflatten(axis, shape);
    /// New axes of size 1.
    /// - `axes`: `axes_count` places in the result's shape, borrowed for the call.
    fn mlxrocm_array_expand_dims(array x, ints axes[axes_count]) -> result = x.expand_dims(axes);
    /// Axes of size 1 taken away.
    /// - `axes`: `axes_count` axes, borrowed for the call; NULL: all of size 1.
    fn mlxrocm_array_squeeze(array x, axes axes[axes_count]) -> result
        = match axes {
            Some(axes) => x.squeeze(axes),
            None => x.squeeze_all(),
        };
    /// Repeated along axes of size 1, and along new ones in front.
    fn mlxrocm_array_broadcast_to(array x, shape shape[rank]) -> result = x.broadcast_to(shape);
    /// Axes in another order.
    /// - `axes`: `axes_count` axes, borrowed for the call; NULL: turned round.
    fn mlxrocm_array_transpose(array x, axes axes[axes_count]) -> result
        = match axes {
            Some(axes) => x.transpose(axes),
            None => x.transpose_all(),
        };
    /// Two axes in each other's place.
    /// - `axis1`: one.
    /// - `axis2`: the other.
    fn mlxrocm_array_swapaxes(array x, int axis1, int axis2) -> result = x.swapaxes(axis1, axis2);
    /// An axis at another place.
    /// - `source`: the axis.
    /// - `destination`: where it goes.
    fn mlxrocm_array_moveaxis(array x, int source, int destination) -> result
        = x.moveaxis(source, destination);
    /// At least one axis.
    fn mlxrocm_array_atleast_1d(array x) -> result = x.at_least(1);
    /// At least two axes.
    fn mlxrocm_array_atleast_2d(array x) -> result = x.at_least(2);
    /// At least three axes.
    fn mlxrocm_array_atleast_3d(array x) -> result = x.at_least(3);
    /// Elements from start to before stop by step. Negative places count from the end, those beyond
    /// the array are its ends; a negative step goes backwards.
    /// - `start`: `start_count` first places, one an axis, borrowed for the call.
    /// - `stop`: `stop_count` places that are not reached, borrowed for the call.
    /// - `step`: `step_count` steps, not 0, borrowed for the call.
    fn mlxrocm_array_slice(array x, ints start[start_count], ints stop[stop_count], ints step[step_count]) -> result
        = x.slice(start, stop, step);
    /// Elements at the places, among the array's elements row after row, that strides and an offset give.
    /// - `strides`: `strides_count` strides in elements, borrowed for the call.
    /// - `offset`: elements before the first.
    fn mlxrocm_array_as_strided(array x, shape shape[rank], ints strides[strides_count], int offset) -> result
        = x.as_strided(shape, strides, offset);
    /// Row after row in memory.
    fn mlxrocm_array_contiguous(array x) -> result = Ok(x.contiguous());
    /// The array, as one that derivatives do not pass.
    fn mlxrocm_array_stop_gradient(array x) -> result = Ok(x.stop_gradient());
    /// The array, computed after others.
    fn mlxrocm_array_depends(array x, arrays others[count]) -> result = Ok(x.depends(&others));
    /// Arrays one after the other along an axis.
    /// - `axis`: negative ones count from the end.
    fn mlxrocm_array_concatenate(arrays arrays[count], int axis) -> result
        = Array::concatenate(&arrays, axis);
    /// Arrays of one shape along a new axis.
    /// - `axis`: its place in the result's shape.
    fn mlxrocm_array_stack(arrays arrays[count], int axis) -> result = Array::stack(&arrays, axis);
    /// Each element several times, one after the other.
    /// - `repeats`: how often.
    fn mlxrocm_array_repeat(array x, int repeats, axis axis) -> result = x.repeat(repeats, axis);
    /// The whole array several times along each axis.
    /// - `reps`: `reps_count` numbers, for the last axes, borrowed for the call.
    fn mlxrocm_array_tile(array x, ints reps[reps_count]) -> result = x.tile(reps);
    /// Surrounded along every axis.
    /// - `low`: `low_count` numbers of elements before, one an axis, borrowed for the call.
    /// - `high`: `high_count` numbers of elements behind, borrowed for the call.
    /// - `mode`: an MLXROCM_PAD number.
    /// - `value`: borrowed; a scalar, for MLXROCM_PAD_CONSTANT; NULL: 0.
    fn mlxrocm_array_pad(array x, ints low[low_count], ints high[high_count], int mode, optional value) -> result
        = {
            let value = match value {
                Some(value) => value,
                None => Array::number(0.0, x.dtype())?,
            };
            x.pad(low, high, pad_mode(mode)?, &value)
        };
    /// Moved round; what leaves at an end comes in at the other.
    /// - `shifts`: `shifts_count` numbers of places, one an axis or one for all, borrowed for the call.
    /// - `axes`: `axes_count` axes, borrowed for the call; NULL: the array made flat.
    fn mlxrocm_array_roll(array x, ints shifts[shifts_count], axes axes[axes_count]) -> result
        = x.roll(shifts, axes);
    /// Axes turned round: the last element first.
    fn mlxrocm_array_flip(array x, axes axes[axes_count]) -> result = x.flip(axes);
}
