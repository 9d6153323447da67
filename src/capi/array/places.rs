//! Elements by index, read and replaced.

use super::functions::array_functions;
use crate::ir::ScatterReduce;

array_functions! {
    /// Slices of one axis at indices, which take the axis' place. Negative indices count from the end.
    fn mlxrocm_array_take(array x, array indices, axis axis) -> result
        = match axis {
            Some(axis) => x.take(&indices, axis),
            None => x.take_flat(&indices),
        };
    /// The element at each index along an axis. Other axes are broadcast.
    fn mlxrocm_array_take_along_axis(array x, array indices, axis axis) -> result
        = x.take_along_axis(&indices, axis);
    /// Slices of given sizes that begin at indices along axes. The result has the indices' shape, then the sizes.
    /// - `axes`: `axes_count` axes, one for each index array, borrowed for the call.
    /// - `sizes`: `sizes_count` sizes of a slice, one for each axis of x, borrowed for the call.
    fn mlxrocm_array_gather(array x, arrays indices[count], ints axes[axes_count], ints sizes[sizes_count]) -> result
        = x.gather(&indices, axes, sizes);
    /// A slice of given sizes that begins at computed places.
    /// - `start`: borrowed; a vector of integers, one for each of the axes.
    /// - `axes`: `axes_count` axes, borrowed for the call; along others the slice begins at 0.
    /// - `sizes`: `sizes_count` sizes, one for each axis of x, borrowed for the call.
    fn mlxrocm_array_slice_dynamic(array x, array start, ints axes[axes_count], ints sizes[sizes_count]) -> result
        = x.dynamic_slice(&start, axes, sizes);
    /// With an update in place of the slice that begins at computed places.
    /// - `start`: borrowed; a vector of integers, one for each of the axes.
    /// - `axes`: `axes_count` axes, borrowed for the call; along others the slice begins at 0.
    fn mlxrocm_array_slice_update_dynamic(array x, array update, array start, ints axes[axes_count]) -> result
        = x.dynamic_slice_update(&update, &start, axes);
    /// With elements of source, in order, where the mask is not 0.
    /// - `mask`: borrowed; of x's shape, or without its last axes.
    fn mlxrocm_array_masked_scatter(array x, array mask, array source) -> result
        = x.masked_scatter(&mask, &source);
    /// With slices at indices along axes replaced by updates. Updates have the indices' shape, then that of slices
    /// of x's rank. Where places meet the last update stays.
    /// - `axes`: `axes_count` axes, one for each index array, borrowed for the call.
    fn mlxrocm_array_scatter(array x, arrays indices[count], array updates, ints axes[axes_count]) -> result
        = x.scatter(&indices, &updates, axes, ScatterReduce::None);
    /// With the elements of a slice replaced by an update, which is broadcast to it.
    /// - `start`: `start_count` first places, one an axis, borrowed for the call.
    /// - `stop`: `stop_count` places that are not reached, borrowed for the call.
    /// - `step`: `step_count` steps, not 0, borrowed for the call.
    fn mlxrocm_array_slice_update(array x, array update, ints start[start_count], ints stop[stop_count], ints step[step_count]) -> result
        = x.slice_update(&update, (start, stop, step), ScatterReduce::None);
    /// With slices at indices along axes joined by sum with updates. Updates have the indices' shape, then that of slices
    /// of x's rank.
    /// - `axes`: `axes_count` axes, one for each index array, borrowed for the call.
    fn mlxrocm_array_scatter_add(array x, arrays indices[count], array updates, ints axes[axes_count]) -> result
        = x.scatter(&indices, &updates, axes, ScatterReduce::Sum);
    /// With the elements of a slice joined by sum with an update, which is broadcast to it.
    /// - `start`: `start_count` first places, one an axis, borrowed for the call.
    /// - `stop`: `stop_count` places that are not reached, borrowed for the call.
    /// - `step`: `step_count` steps, not 0, borrowed for the call.
    fn mlxrocm_array_slice_update_add(array x, array update, ints start[start_count], ints stop[stop_count], ints step[step_count]) -> result
        = x.slice_update(&update, (start, stop, step), ScatterReduce::Sum);
    /// With slices at indices along axes joined by product with updates. Updates have the indices' shape, then that of slices
    /// of x's rank.
    /// - `axes`: `axes_count` axes, one for each index array, borrowed for the call.
    fn mlxrocm_array_scatter_prod(array x, arrays indices[count], array updates, ints axes[axes_count]) -> result
        = x.scatter(&indices, &updates, axes, ScatterReduce::Prod);
    /// With the elements of a slice joined by product with an update, which is broadcast to it.
    /// - `start`: `start_count` first places, one an axis, borrowed for the call.
    /// - `stop`: `stop_count` places that are not reached, borrowed for the call.
    /// - `step`: `step_count` steps, not 0, borrowed for the call.
    fn mlxrocm_array_slice_update_prod(array x, array update, ints start[start_count], ints stop[stop_count], ints step[step_count]) -> result
        = x.slice_update(&update, (start, stop, step), ScatterReduce::Prod);
    /// With slices at indices along axes joined by maximum with updates. Updates have the indices' shape, then that of slices
    /// of x's rank.
    /// - `axes`: `axes_count` axes, one for each index array, borrowed for the call.
    fn mlxrocm_array_scatter_max(array x, arrays indices[count], array updates, ints axes[axes_count]) -> result
        = x.scatter(&indices, &updates, axes, ScatterReduce::Max);
    /// With the elements of a slice joined by maximum with an update, which is broadcast to it.
    /// - `start`: `start_count` first places, one an axis, borrowed for the call.
    /// - `stop`: `stop_count` places that are not reached, borrowed for the call.
    /// - `step`: `step_count` steps, not 0, borrowed for the call.
    fn mlxrocm_array_slice_update_max(array x, array update, ints start[start_count], ints stop[stop_count], ints step[step_count]) -> result
        = x.slice_update(&update, (start, stop, step), ScatterReduce::Max);
    /// With slices at indices along axes joined by minimum with updates. Updates have the indices' shape, then that of slices
    /// of x's rank.
    /// - `axes`: `axes_count` axes, one for each index array, borrowed for the call.
    fn mlxrocm_array_scatter_min(array x, arrays indices[count], array updates, ints axes[axes_count]) -> result
        = x.scatter(&indices, &updates, axes, ScatterReduce::Min);
    /// With the elements of a slice joined by minimum with an update, which is broadcast to it.
    /// - `start`: `start_count` first places, one an axis, borrowed for the call.
    /// - `stop`: `stop_count` places that are not reached, borrowed for the call.
    /// - `step`: `step_count` steps, not 0, borrowed for the call.
    fn mlxrocm_array_slice_update_min(array x, array update, ints start[start_count], ints stop[stop_count], ints step[step_count]) -> result
        = x.slice_update(&update, (start, stop, step), ScatterReduce::Min);
    /// With values put at indices along an axis. Values are broadcast to the indices.
    fn mlxrocm_array_put_along_axis(array x, array indices, array values, axis axis) -> result
        = x.put_along_axis(&indices, &values, axis, ScatterReduce::None);
    /// With values added at indices along an axis. Values are broadcast to the indices.
    fn mlxrocm_array_scatter_add_axis(array x, array indices, array values, axis axis) -> result
        = x.put_along_axis(&indices, &values, axis, ScatterReduce::Sum);
}
