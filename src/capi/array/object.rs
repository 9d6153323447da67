//! The array: made from data, asked about, read.

use super::functions::arrays_of;
use crate::array::{Array, eval, queue, wait};
use crate::capi::boundary::{boundary, boundary_free, boundary_on, boundary_value};
use crate::capi::callback::{UserData, mlxrocm_user_data_free};
use crate::capi::device::{DeviceObject, mlxrocm_device};
use crate::capi::error::mlxrocm_error;
use crate::capi::handle::{self, Object};
use crate::capi::status::mlxrocm_status;
use crate::capi::strings::{Buffer, Output, array, bytes_mut};
use crate::capi::symbols::since_0_1;
use crate::cpu::{Elements, Storage};
use crate::ir::{Dtype, Layout, Shape};
use crate::{Error, Result};
use std::ffi::c_void;
use std::sync::Arc;

/// Dtype: truth values, one byte of 0 or 1.
pub const MLXROCM_DTYPE_BOOL: u32 = 0;
/// Dtype: unsigned integers of 8 bits.
pub const MLXROCM_DTYPE_UINT8: u32 = 1;
/// Dtype: unsigned integers of 16 bits.
pub const MLXROCM_DTYPE_UINT16: u32 = 2;
/// Dtype: unsigned integers of 32 bits.
pub const MLXROCM_DTYPE_UINT32: u32 = 3;
/// Dtype: unsigned integers of 64 bits.
pub const MLXROCM_DTYPE_UINT64: u32 = 4;
/// Dtype: signed integers of 8 bits.
pub const MLXROCM_DTYPE_INT8: u32 = 5;
/// Dtype: signed integers of 16 bits.
pub const MLXROCM_DTYPE_INT16: u32 = 6;
/// Dtype: signed integers of 32 bits.
pub const MLXROCM_DTYPE_INT32: u32 = 7;
/// Dtype: signed integers of 64 bits.
pub const MLXROCM_DTYPE_INT64: u32 = 8;
/// Dtype: IEEE half precision.
pub const MLXROCM_DTYPE_FLOAT16: u32 = 9;
/// Dtype: IEEE single precision.
pub const MLXROCM_DTYPE_FLOAT32: u32 = 10;
/// Dtype: IEEE double precision.
pub const MLXROCM_DTYPE_FLOAT64: u32 = 11;
/// Dtype: bfloat16.
pub const MLXROCM_DTYPE_BFLOAT16: u32 = 12;
/// Dtype: complex numbers, two of single precision.
pub const MLXROCM_DTYPE_COMPLEX64: u32 = 13;
/// No dtype.
pub const MLXROCM_DTYPE_NONE: u32 = u32::MAX;
/// In place of an axis: none; the operation is on the array made flat.
pub const MLXROCM_AXIS_NONE: i64 = i64::MIN;

/// An n-dimensional array. Operations are lazy: a function checks shapes and dtypes and returns at
/// once, elements are computed by mlxrocm_array_eval or when they are read. Arrays never change: an
/// operation makes a new one. Each keeps what it is made from, so handles may be freed in any order.
/// Internally locked: any thread.
///
/// The functions of operations have MLX's names and meaning. They promote dtypes and broadcast shapes
/// as MLX does, and their messages name the operation and the shapes.
pub struct mlxrocm_array {
    _private: [u8; 0],
}

/// What an array handle refers to.
#[derive(Clone)]
pub(in crate::capi) struct ArrayObject(pub(in crate::capi) Array);

impl Object for ArrayObject {
    type Opaque = mlxrocm_array;
    const NOUN: &'static str = "mlxrocm_array";
}

/// The dtype of a number of C.
pub(in crate::capi) fn dtype_of(number: u32) -> Result<Dtype> {
    Dtype::from_number(number).ok_or_else(|| {
        Error::InvalidArgument(format!(
            "dtype is {number}, it must be one of MLXROCM_DTYPE_BOOL (0) to MLXROCM_DTYPE_COMPLEX64 (13)"
        ))
    })
}

/// The dtype of a number, or none for a negative one.
pub(in crate::capi) fn optional_dtype(number: i64) -> Result<Option<Dtype>> {
    match u32::try_from(number) {
        Ok(number) => dtype_of(number).map(Some),
        Err(_) if number < 0 => Ok(None),
        Err(_) => dtype_of(u32::MAX).map(Some),
    }
}

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

/// Makes another handle of the same array.
///
/// - `array`: borrowed.
/// - `result`: receives the array, owned: free it with mlxrocm_array_free.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_clone(
    array: *const mlxrocm_array,
    result: *mut *mut mlxrocm_array,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(array, "array", error, |object: &ArrayObject| {
        // SAFETY: the caller's pointer, as documented.
        let output = unsafe { Output::new(result, "result") }?;
        output.write(handle::publish(ArrayObject(object.0.clone())));
        Ok(())
    })
}

/// Moves an array to a device: operations on what is there are computed there, and those of its results. Arrays of the
/// CPU that an operation has besides are moved too; arrays of two GPUs are refused when the elements are computed. What a
/// GPU has no form of is computed by the CPU in between. Indices outside of their axis, which are an error on the CPU, are
/// the nearest ones inside on a GPU.
///
/// - `array`: borrowed.
/// - `device`: borrowed; the CPU or a GPU.
/// - `result`: receives the array, owned: free it with mlxrocm_array_free.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY, DEVICE_LOST. Lazy as all operations. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_to_device(
    array: *const mlxrocm_array,
    device: *const mlxrocm_device,
    result: *mut *mut mlxrocm_array,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(array, "array", error, |object: &ArrayObject| {
        // SAFETY: the caller's pointer, as documented.
        let output = unsafe { Output::new(result, "result") }?;
        let device = handle::get::<DeviceObject>(device, "device")?;
        let home = device.value().home()?;
        output.write(handle::publish(ArrayObject(object.0.at(&home))));
        Ok(())
    })
}

/// Asks an array something; `otherwise` if it is none.
fn ask<R>(array: *const mlxrocm_array, otherwise: R, what: impl FnOnce(&Array) -> R) -> R {
    boundary_value(otherwise, || {
        let object = handle::get::<ArrayObject>(array, "array")?;
        Ok(what(&object.value().0))
    })
}

/// The dtype of an array.
///
/// - `array`: borrowed.
///
/// Returns an MLXROCM_DTYPE number, MLXROCM_DTYPE_NONE if `array` is NULL or not live. Any thread.
/// Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_dtype(array: *const mlxrocm_array) -> u32 {
    boundary_value(MLXROCM_DTYPE_NONE, || {
        Ok(ask(array, MLXROCM_DTYPE_NONE, |array| array.dtype() as u32))
    })
}

/// The number of dimensions of an array.
///
/// - `array`: borrowed.
///
/// Returns 0 also if `array` is NULL or not live. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_rank(array: *const mlxrocm_array) -> usize {
    boundary_value(0, || Ok(ask(array, 0, Array::rank)))
}

/// The number of elements of an array.
///
/// - `array`: borrowed.
///
/// Returns 0 also if `array` is NULL or not live. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_size(array: *const mlxrocm_array) -> usize {
    boundary_value(0, || {
        Ok(ask(array, 0, |array| array.shape().count().unwrap_or(0)))
    })
}

/// The number of bytes that mlxrocm_array_read writes.
///
/// - `array`: borrowed.
///
/// Returns 0 also if `array` is NULL or not live. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_bytes(array: *const mlxrocm_array) -> usize {
    boundary_value(0, || {
        let bytes = |array: &Array| array.shape().count().unwrap_or(0) * array.dtype().size();
        Ok(ask(array, 0, bytes))
    })
}

/// Tells the shape of an array.
///
/// - `array`: borrowed.
/// - `shape`: receives the sizes, outermost first.
/// - `capacity`: room of `shape`, in numbers; 0 only measures.
/// - `needed`: nullable unless `capacity` is 0; receives the number of dimensions.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, BUFFER_TOO_SMALL. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_shape(
    array: *const mlxrocm_array,
    shape: *mut i64,
    capacity: usize,
    needed: *mut usize,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(array, "array", error, |object: &ArrayObject| {
        if object.0.rank() == 0 && needed.is_null() {
            return Ok(());
        }
        // SAFETY: the caller's buffer, as documented.
        let buffer = unsafe { Buffer::new(shape, capacity, needed, "shape") }?;
        let sizes = object.0.shape().numbers().unwrap_or_default();
        let sizes: Vec<i64> = sizes.iter().map(|&size| size as i64).collect();
        buffer.fill(&sizes)
    })
}

/// Computes the elements of arrays, all of them in one go.
///
/// - `arrays`: `count` arrays, borrowed.
/// - `count`: number of arrays.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (also for values that an operation refuses; the message
/// names it), UNSUPPORTED, OUT_OF_MEMORY. What was not computed stays as it was. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_eval(
    arrays: *const *const mlxrocm_array,
    count: usize,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary(error, || {
        // SAFETY: the caller's handles, as documented.
        eval(&unsafe { arrays_of(arrays, count, "arrays") }?)
    })
}

/// Computes the elements of arrays as mlxrocm_array_eval does, but what GPUs compute is only queued when the function
/// returns: the caller can go on, with operations on these arrays too. Work of the CPU is done by then.
///
/// - `arrays`: `count` arrays, borrowed.
/// - `count`: number of arrays.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED, OUT_OF_MEMORY, as mlxrocm_array_eval; a fault of queued work is
/// told by mlxrocm_array_wait and by what reads its results. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_eval_async(
    arrays: *const *const mlxrocm_array,
    count: usize,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary(error, || {
        // SAFETY: the caller's handles, as documented.
        queue(&unsafe { arrays_of(arrays, count, "arrays") }?)
    })
}

/// Waits until the elements of arrays are there that mlxrocm_array_eval_async queued. Arrays that nothing was queued for
/// stay as they are.
///
/// - `arrays`: `count` arrays, borrowed.
/// - `count`: number of arrays.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_wait(
    arrays: *const *const mlxrocm_array,
    count: usize,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary(error, || {
        // SAFETY: the caller's handles, as documented.
        wait(&unsafe { arrays_of(arrays, count, "arrays") }?)
    })
}

/// Reads an array's elements, computing them if they are not there yet.
///
/// - `array`: borrowed.
/// - `data`: receives `size` bytes, the elements row after row; undefined on failure.
/// - `size`: what mlxrocm_array_bytes says.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, BUFFER_TOO_SMALL, those of mlxrocm_array_eval. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_read(
    array: *const mlxrocm_array,
    data: *mut c_void,
    size: usize,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(array, "array", error, |object: &ArrayObject| {
        let (_, needed) = sizes_of(object.0.shape(), object.0.dtype())?;
        if size < needed {
            return Err(Error::BufferTooSmall { needed });
        }
        // SAFETY: the caller's buffer, as documented.
        let bytes = unsafe { bytes_mut(data, needed, "data") }?;
        object.0.read()?.copy_rows(bytes);
        Ok(())
    })
}

/// The one element of an array as a dtype, which `T` is the Rust type of.
fn item<T: bytemuck::Pod>(array: &Array, dtype: Dtype) -> Result<T> {
    if array.shape().count() != Some(1) {
        return Err(Error::InvalidArgument(format!(
            "item: an array of shape {} has not one element",
            array.shape()
        )));
    }
    if array.dtype() == Dtype::C64 {
        return Err(Error::InvalidArgument(
            "item: the element is complex, take its real or imaginary part".into(),
        ));
    }
    let element = Array::from_elements(array.read()?);
    let values = element.astype(dtype).read()?.to_vec::<T>();
    let value = values.first().copied();
    value.ok_or_else(|| Error::Internal("one element that is not there".into()))
}

/// The element of an array that has one, as a number of double precision.
///
/// - `array`: borrowed; of one element, not complex.
/// - `value`: receives the element.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, those of mlxrocm_array_eval. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_item_f64(
    array: *const mlxrocm_array,
    value: *mut f64,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(array, "array", error, |object: &ArrayObject| {
        // SAFETY: the caller's pointer, as documented.
        let output = unsafe { Output::new(value, "value") }?;
        output.write(item(&object.0, Dtype::F64)?);
        Ok(())
    })
}

/// The element of an array that has one, as an integer; fractions are cut off.
///
/// - `array`: borrowed; of one element, not complex.
/// - `value`: receives the element.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, those of mlxrocm_array_eval. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_item_i64(
    array: *const mlxrocm_array,
    value: *mut i64,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(array, "array", error, |object: &ArrayObject| {
        // SAFETY: the caller's pointer, as documented.
        let output = unsafe { Output::new(value, "value") }?;
        output.write(item(&object.0, Dtype::I64)?);
        Ok(())
    })
}

/// Frees a handle. Arrays made from this one keep what they need of it.
///
/// - `array`: consumed; NULL is fine.
///
/// Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_free(array: *mut mlxrocm_array) {
    boundary_free::<ArrayObject>(array)
}

since_0_1! {
    mlxrocm_array_from_data mlxrocm_array_from_borrowed mlxrocm_array_clone mlxrocm_array_to_device mlxrocm_array_dtype
    mlxrocm_array_rank mlxrocm_array_size mlxrocm_array_bytes mlxrocm_array_shape mlxrocm_array_eval
    mlxrocm_array_eval_async mlxrocm_array_wait
    mlxrocm_array_read mlxrocm_array_item_f64 mlxrocm_array_item_i64 mlxrocm_array_free
}
