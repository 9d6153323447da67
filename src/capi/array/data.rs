//! Arrays of an application's data: copied, or as they lie.

use super::dtype::dtype_of;
use super::object::{ArrayObject, mlxrocm_array};
use crate::array::Array;
use crate::capi::boundary::boundary;
use crate::capi::callback::{UserData, mlxrocm_user_data_free};
use crate::capi::error::mlxrocm_error;
use crate::capi::handle::{self};
use crate::capi::outputs::Output;
use crate::capi::status::mlxrocm_status;
use crate::capi::strings::array;
use crate::capi::symbols::since_0_1;
use crate::cpu::{Elements, Storage};
use crate::ir::{Dtype, Layout, Shape};
use crate::{Error, Result};
use std::ffi::c_void;
use std::sync::Arc;

/// A shape of C.
///
/// # Safety
/// As [`array`].
pub(in crate::capi) unsafe fn shape_of(
    shape: *const i64,
    rank: usize,
    parameter: &'static str,
) -> Result<Shape> {
    // SAFETY: the caller promises what `array` asks for.
    let sizes = unsafe { array(shape, rank, parameter) }?;
    let sizes = sizes.iter().map(|&size| usize::try_from(size).ok());
    let shape = sizes.collect::<Option<Vec<usize>>>().map(Shape::new);
    shape
        .filter(|shape| shape.count().is_some())
        .ok_or_else(|| {
            Error::InvalidArgument(format!(
                "{parameter} has a negative size, or more elements than an array can have"
            ))
        })
}

/// Sizes and bytes of an array of this shape.
pub(super) fn sizes_of(shape: &Shape, dtype: Dtype) -> Result<(Vec<usize>, usize)> {
    let sizes = shape.numbers().zip(shape.count());
    let (sizes, count) =
        sizes.ok_or_else(|| Error::InvalidArgument(format!("a shape {shape} without a size")))?;
    Ok((sizes.to_vec(), count * dtype.size()))
}

/// Makes an array of a copy of numbers.
///
/// - `data`: the elements row after row, borrowed for the call; NULL is fine if there are none.
/// - `shape`: `rank` sizes, outermost first, borrowed for the call.
/// - `rank`: number of dimensions; 0 makes a scalar.
/// - `dtype`: an MLXROCM_DTYPE number.
/// - `result`: receives the array, owned: free it with mlxrocm_array_free.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_from_data(
    data: *const c_void,
    shape: *const i64,
    rank: usize,
    dtype: u32,
    result: *mut *mut mlxrocm_array,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary(error, || {
        // SAFETY: the caller's pointer, as documented.
        let output = unsafe { Output::new(result, "result") }?;
        let dtype = dtype_of(dtype)?;
        // SAFETY: the caller's sizes, as documented.
        let shape = unsafe { shape_of(shape, rank, "shape") }?;
        let (sizes, size) = sizes_of(&shape, dtype)?;
        // SAFETY: the caller's elements, as documented.
        let bytes = unsafe { array(data.cast::<u8>(), size, "data") }?;
        let elements = match dtype {
            Dtype::Bool => {
                let truths: Vec<u8> = bytes.iter().map(|&byte| u8::from(byte != 0)).collect();
                Elements::from_slice(&truths, dtype, &sizes)?
            }
            dtype => Elements::from_slice(bytes, dtype, &sizes)?,
        };
        output.write(handle::publish(ArrayObject(Array::from_elements(elements))));
        Ok(())
    })
}

/// Bytes of the application.
struct Borrowed {
    data: *const u8,
    size: usize,
    /// Dropped with the last array that sees the bytes.
    _owner: UserData,
}

impl AsRef<[u8]> for Borrowed {
    fn as_ref(&self) -> &[u8] {
        if self.size == 0 {
            return &[];
        }
        // SAFETY: the application promised `size` bytes that stay and do not change until the
        // destructor is called, which the owner's drop does.
        unsafe { std::slice::from_raw_parts(self.data, self.size) }
    }
}

// SAFETY: the bytes are only read; the application promised that they do not change.
unsafe impl Send for Borrowed {}
// SAFETY: as above.
unsafe impl Sync for Borrowed {}

/// Makes an array of the application's own memory, without a copy.
///
/// - `data`: the elements row after row, borrowed until `free` is called; they must not change until
///   then. Truth values are 0 or 1.
/// - `shape`: `rank` sizes, outermost first, borrowed for the call.
/// - `rank`: number of dimensions; 0 makes a scalar.
/// - `dtype`: an MLXROCM_DTYPE number.
/// - `free`: nullable; called exactly once with `user_data` when no array needs the memory any more,
///   on any thread; also if this function fails.
/// - `user_data`: passed to `free`.
/// - `result`: receives the array, owned: free it with mlxrocm_array_free.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_from_borrowed(
    data: *const c_void,
    shape: *const i64,
    rank: usize,
    dtype: u32,
    free: mlxrocm_user_data_free,
    user_data: *mut c_void,
    result: *mut *mut mlxrocm_array,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary(error, || {
        let owner = UserData::new(user_data, free);
        // SAFETY: the caller's pointer, as documented.
        let output = unsafe { Output::new(result, "result") }?;
        let dtype = dtype_of(dtype)?;
        // SAFETY: the caller's sizes, as documented.
        let shape = unsafe { shape_of(shape, rank, "shape") }?;
        let (sizes, size) = sizes_of(&shape, dtype)?;
        // SAFETY: the caller's elements, as documented; checked here, kept below.
        let data = unsafe { array(data.cast::<u8>(), size, "data") }?.as_ptr();
        let borrowed = Borrowed {
            data,
            size,
            _owner: owner,
        };
        let storage = Arc::new(Storage::Kept(Box::new(borrowed)));
        let elements = Elements::new(storage, dtype, Layout::rows(&sizes))?;
        output.write(handle::publish(ArrayObject(Array::from_elements(elements))));
        Ok(())
    })
}

since_0_1! {
    mlxrocm_array_from_data mlxrocm_array_from_borrowed
}
