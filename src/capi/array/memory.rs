//! Arrays beside an application's own work on a GPU: streams and memory that both use.

use super::data::{shape_of, sizes_of};
use super::dtype::dtype_of;
use super::object::{ArrayObject, mlxrocm_array};
use crate::array::Array;
use crate::capi::boundary::boundary_on;
use crate::capi::buffer::{BufferObject, mlxrocm_buffer};
use crate::capi::error::mlxrocm_error;
use crate::capi::handle;
use crate::capi::outputs::Output;
use crate::capi::status::mlxrocm_status;
use crate::capi::stream::{StreamObject, mlxrocm_stream};
use crate::capi::symbols::since_0_1;

/// Gives an array to a stream of a GPU: operations on the result are queued on that stream, in order with the launches and
/// copies that the application queues there, and so are those of what they give. Streams run side by side. Without one, a
/// GPU's arrays have a stream of the library's own (mlxrocm_array_to_device gives them back to it).
///
/// An operation may have arrays of several streams of one GPU: it is queued on the stream of the first that was given to
/// one, and starts after what makes the others is done; nobody else waits, and no elements are copied. Results are the
/// same to the bit on every stream. mlxrocm_array_eval, _wait and _read wait for the streams of their arrays, and for
/// what the application queued there before. A graph of operations on several streams is computed operation by
/// operation: one that comes again is faster on a single stream.
///
/// On the CPU there are no streams: its operations run on the threads that ask for their results.
///
/// - `array`: borrowed; one of the CPU or of another GPU is moved to the stream's GPU.
/// - `stream`: borrowed. The array, and what is computed of it, keeps what it needs of it.
/// - `result`: receives the array, owned: free it with mlxrocm_array_free.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Lazy as all operations. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_to_stream(
    array: *const mlxrocm_array,
    stream: *const mlxrocm_stream,
    result: *mut *mut mlxrocm_array,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(array, "array", error, |object: &ArrayObject| {
        // SAFETY: the caller's pointer, as documented.
        let output = unsafe { Output::new(result, "result") }?;
        let stream = handle::get::<StreamObject>(stream, "stream")?;
        let moved = stream.run(|stream| Ok(object.0.at(stream.home())))?;
        output.write(handle::publish(ArrayObject(moved)));
        Ok(())
    })
}

/// Makes an array whose elements are a part of a buffer, without a copy, on the buffer's device. Operations on it start
/// after the work that was queued with the buffer before this call, on whatever stream: launches that have it among
/// their arguments or say that they touch it, runs of programs, copies and fills. The caller does not wait. A kernel that
/// reaches the buffer by an address that no argument names has to be waited for before.
///
/// The memory stays as long as an array sees it, also when the buffer is freed. Until then nothing may write the part:
/// not before this array and the views made from it are freed, and what was computed of them is waited for
/// (mlxrocm_array_eval).
///
/// - `buffer`: borrowed; device memory.
/// - `offset`: byte of the buffer at which the elements begin; a multiple of an element's size.
/// - `shape`: `rank` sizes, outermost first, borrowed for the call. The elements lie row after row; truth values are 0
///   or 1.
/// - `rank`: number of dimensions; 0 makes a scalar.
/// - `dtype`: an MLXROCM_DTYPE number.
/// - `result`: receives the array, owned: free it with mlxrocm_array_free.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside the buffer, an offset that is not aligned, pinned memory),
/// OUT_OF_MEMORY, DEVICE_LOST. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_from_buffer(
    buffer: *const mlxrocm_buffer,
    offset: u64,
    shape: *const i64,
    rank: usize,
    dtype: u32,
    result: *mut *mut mlxrocm_array,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(buffer, "buffer", error, |object: &BufferObject| {
        // SAFETY: the caller's pointer, as documented.
        let output = unsafe { Output::new(result, "result") }?;
        let dtype = dtype_of(dtype)?;
        // SAFETY: the caller's sizes, as documented.
        let shape = unsafe { shape_of(shape, rank, "shape") }?;
        let (sizes, _) = sizes_of(&shape, dtype)?;
        let array = Array::from_buffer(object.device("buffer")?, offset, dtype, &sizes)?;
        output.write(handle::publish(ArrayObject(array)));
        Ok(())
    })
}

/// Gives the device memory that an array's elements lie in, row after row, for kernels of the application. What is not
/// computed yet is queued; elements that lie otherwise (of a transposition, say) are copied row after row, others are not
/// copied. The memory may only be read: launches take it by mlxrocm_arg_input, everything that would write it is refused.
///
/// - `array`: borrowed; on a GPU.
/// - `stream`: nullable; borrowed; of the same device. Work that is queued on it from now on starts after the elements are
///   there. NULL: they are there when this function returns.
/// - `buffer`: receives the buffer, owned: free it with mlxrocm_buffer_free. It may be larger than the array, and keeps
///   the memory also when the array is freed.
/// - `offset`: receives the byte of the buffer at which the elements begin.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (a stream of another device), UNSUPPORTED (an array of the CPU), those of
/// mlxrocm_array_eval. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_array_buffer(
    array: *const mlxrocm_array,
    stream: *const mlxrocm_stream,
    buffer: *mut *mut mlxrocm_buffer,
    offset: *mut u64,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(array, "array", error, |object: &ArrayObject| {
        // SAFETY: the caller's pointer, as documented.
        let output = unsafe { Output::new(buffer, "buffer") }?;
        // SAFETY: the caller's pointer, as documented.
        let begin = unsafe { Output::new(offset, "offset") }?;
        let (memory, first) = match stream.is_null() {
            true => object.0.buffer(None)?,
            false => handle::get::<StreamObject>(stream, "stream")?
                .run(|stream| object.0.buffer(Some(&stream.stream)))?,
        };
        output.write(handle::publish(BufferObject::of_array(memory)));
        begin.write(first);
        Ok(())
    })
}

since_0_1! {
    mlxrocm_array_to_stream mlxrocm_array_from_buffer mlxrocm_array_buffer
}
