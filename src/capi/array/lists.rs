//! Operations with several results, as many as the call asks for.

use super::functions::{array_of, arrays_of};
use super::object::{ArrayObject, mlxrocm_array};
use crate::array::Array;
use crate::capi::boundary::boundary;
use crate::capi::error::mlxrocm_error;
use crate::capi::handle;
use crate::capi::status::mlxrocm_status;
use crate::capi::strings;
use crate::capi::symbols::since_0_1;
use crate::{Error, Result};

/// Writes arrays to a list of `count` handles.
///
/// # Safety
/// `results` is NULL or points to room for `count` pointers.
unsafe fn write(arrays: Vec<Array>, results: *mut *mut mlxrocm_array, count: usize) -> Result<()> {
    if results.is_null() && count > 0 {
        return Err(Error::NullArgument("results".into()));
    }
    if arrays.len() != count {
        return Err(Error::Internal("another number of results".into()));
    }
    for (place, array) in arrays.into_iter().enumerate() {
        let handle = handle::publish(ArrayObject(array));
        // SAFETY: not NULL, and the caller promised room for `count` pointers.
        unsafe { results.add(place).write_unaligned(handle) };
    }
    Ok(())
}

/// Cuts an array before places of an axis.
///
/// - `x`: borrowed.
/// - `places`: `places_count` places, ascending, borrowed for the call; negative ones count from the
///   end.
/// - `places_count`: how many.
/// - `axis`: negative ones count from the end.
/// - `results`: receives `places_count` + 1 arrays, owned: free each with mlxrocm_array_free.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_split(
    x: *const mlxrocm_array,
    places: *const i64,
    places_count: usize,
    axis: i64,
    results: *mut *mut mlxrocm_array,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary(error, || {
        // SAFETY: the caller's numbers, as documented.
        let places = unsafe { strings::array(places, places_count, "places") }?;
        let parts = array_of(x, "x")?.split(places, axis)?;
        // SAFETY: the caller's room, as documented.
        unsafe { write(parts, results, places_count + 1) }
    })
}

/// Cuts an axis into equal parts.
///
/// - `x`: borrowed.
/// - `parts`: how many; the axis divides by it.
/// - `axis`: negative ones count from the end.
/// - `results`: receives `parts` arrays, owned: free each with mlxrocm_array_free.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_split_parts(
    x: *const mlxrocm_array,
    parts: usize,
    axis: i64,
    results: *mut *mut mlxrocm_array,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary(error, || {
        let count = i64::try_from(parts).unwrap_or(i64::MAX);
        let all = array_of(x, "x")?.split_parts(count, axis)?;
        // SAFETY: the caller's room, as documented.
        unsafe { write(all, results, parts) }
    })
}

/// Broadcasts arrays to the shape that all of them fit.
///
/// - `arrays`: `count` arrays, borrowed.
/// - `count`: how many.
/// - `results`: receives `count` arrays, owned: free each with mlxrocm_array_free.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_broadcast_arrays(
    arrays: *const *const mlxrocm_array,
    count: usize,
    results: *mut *mut mlxrocm_array,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary(error, || {
        // SAFETY: the caller's handles, as documented.
        let arrays = unsafe { arrays_of(arrays, count, "arrays") }?;
        let spread = Array::broadcast_arrays(&arrays)?;
        // SAFETY: the caller's room, as documented.
        unsafe { write(spread, results, count) }
    })
}

/// Coordinates of a grid: each vector along an axis of its own, repeated along the others.
///
/// - `arrays`: `count` vectors, borrowed.
/// - `count`: how many.
/// - `sparse`: not 0: of size 1 along the others instead.
/// - `swapped`: not 0: the first two axes change places (MLX's indexing "xy").
/// - `results`: receives `count` arrays, owned: free each with mlxrocm_array_free.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_meshgrid(
    arrays: *const *const mlxrocm_array,
    count: usize,
    sparse: i32,
    swapped: i32,
    results: *mut *mut mlxrocm_array,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary(error, || {
        // SAFETY: the caller's handles, as documented.
        let arrays = unsafe { arrays_of(arrays, count, "arrays") }?;
        let grid = Array::meshgrid(&arrays, sparse != 0, swapped != 0)?;
        // SAFETY: the caller's room, as documented.
        unsafe { write(grid, results, count) }
    })
}

since_0_1! {
    mlxrocm_array_split mlxrocm_array_split_parts mlxrocm_array_broadcast_arrays
    mlxrocm_array_meshgrid
}
