//! The array: asked about, computed, read.

use super::data::sizes_of;
use super::dtype::MLXROCM_DTYPE_NONE;
use super::functions::arrays_of;
use crate::array::{Array, eval, queue, wait};
use crate::capi::boundary::{boundary, boundary_free, boundary_on, boundary_value};
use crate::capi::device::{DeviceObject, mlxrocm_device};
use crate::capi::error::mlxrocm_error;
use crate::capi::handle::{self, Object};
use crate::capi::outputs::{Buffer, Output};
use crate::capi::status::mlxrocm_status;
use crate::capi::strings::bytes_mut;
use crate::capi::symbols::since_0_1;
use crate::ir::Dtype;
use crate::{Error, Result};
use std::ffi::c_void;

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
    mlxrocm_array_clone mlxrocm_array_to_device mlxrocm_array_dtype mlxrocm_array_rank mlxrocm_array_size
    mlxrocm_array_bytes mlxrocm_array_shape mlxrocm_array_eval mlxrocm_array_eval_async mlxrocm_array_wait
    mlxrocm_array_read mlxrocm_array_item_f64 mlxrocm_array_item_i64 mlxrocm_array_free
}
