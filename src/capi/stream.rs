//! Streams: queues of work for a GPU.

use super::boundary::{boundary_free, boundary_on, boundary_status};
use super::buffer::{BufferObject, Memory, mlxrocm_buffer};
use super::device::{DeviceObject, mlxrocm_device};
use super::error::mlxrocm_error;
use super::gpu_event::{EventObject, mlxrocm_gpu_event};
use super::handle::{self, Object};
use super::kernel::{KernelObject, mlxrocm_kernel};
use super::launch::{self, mlxrocm_launch};
use super::outputs::Output;
use super::status::{MLXROCM_OK, MLXROCM_PENDING, mlxrocm_status};
use super::strings::{array, bytes_mut, timeout};
use super::symbols::since_0_1;
use crate::Error;
use crate::array::Home;
use crate::gpu::Stream;
use std::ffi::c_void;
use std::sync::{Arc, OnceLock};

/// A queue of work that a GPU does in order; different streams run side by side. Internally locked:
/// any thread.
///
/// Work is queued and not waited for, unless a function says so. What fails while it runs comes out
/// of the next mlxrocm_stream_wait, once, or of a wait for arrays that were given to the stream
/// (mlxrocm_array_to_stream).
pub struct mlxrocm_stream {
    _private: [u8; 0],
}

pub(super) struct StreamObject {
    pub(super) stream: Arc<Stream>,
    /// Where its arrays are, kept for the graphs that are recorded there.
    home: OnceLock<Home>,
}

impl StreamObject {
    /// The stream as a home of arrays.
    pub(super) fn home(&self) -> &Home {
        self.home.get_or_init(|| Home::on(&self.stream))
    }
}

impl Object for StreamObject {
    type Opaque = mlxrocm_stream;
    const NOUN: &'static str = "mlxrocm_stream";
}

/// Makes a stream.
///
/// - `device`: borrowed; a GPU. The stream keeps it alive.
/// - `stream`: receives the stream, owned: free it with mlxrocm_stream_free.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU), OUT_OF_MEMORY, DEVICE_FAILED,
/// DEVICE_LOST. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_stream_new(
    device: *const mlxrocm_device,
    stream: *mut *mut mlxrocm_stream,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(device, "device", error, |object: &DeviceObject| {
        // SAFETY: the caller's pointer, as documented.
        let output = unsafe { Output::new(stream, "stream") }?;
        let stream = Arc::new(object.gpu()?.device.stream()?);
        let home = OnceLock::new();
        output.write(handle::publish(StreamObject { stream, home }));
        Ok(())
    })
}

/// Sleeps until all work queued so far is done.
///
/// - `stream`: borrowed.
/// - `timeout_ns`: nanoseconds to wait at most; 0: only look; negative: as long as it takes.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, TIMEOUT (the work goes on: wait again), DEVICE_FAILED (the
/// first fault of the queued work; mlxrocm_error_vendor_code has the driver's number), DEVICE_LOST.
/// Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_stream_wait(
    stream: *const mlxrocm_stream,
    timeout_ns: i64,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(stream, "stream", error, |object: &StreamObject| {
        object.stream.wait(timeout(timeout_ns))
    })
}

/// Asks whether all work queued so far is done. A fault of it is kept for the next wait.
///
/// - `stream`: borrowed.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Returns MLXROCM_OK when it is done, MLXROCM_PENDING when it is not.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, DEVICE_LOST. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_stream_query(
    stream: *const mlxrocm_stream,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_status(error, || {
        let idle = handle::get::<StreamObject>(stream, "stream")?.run(|o| o.stream.is_idle())?;
        Ok(if idle { MLXROCM_OK } else { MLXROCM_PENDING })
    })
}

/// Marks this point of the queue with an event; an earlier mark of the event is forgotten.
///
/// - `stream`: borrowed.
/// - `event`: borrowed.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (of another driver's device), DEVICE_FAILED, DEVICE_LOST.
/// Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_stream_record(
    stream: *const mlxrocm_stream,
    event: *const mlxrocm_gpu_event,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(stream, "stream", error, |object: &StreamObject| {
        handle::get::<EventObject>(event, "event")?.run(|event| object.stream.record(&event.event))
    })
}

/// Work queued from now on starts after the work before the event's last record, on whatever stream
/// that was. An event that was never recorded is not waited for.
///
/// - `stream`: borrowed.
/// - `event`: borrowed.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (of another driver's device), DEVICE_FAILED, DEVICE_LOST.
/// Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_stream_wait_for(
    stream: *const mlxrocm_stream,
    event: *const mlxrocm_gpu_event,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(stream, "stream", error, |object: &StreamObject| {
        let event = handle::get::<EventObject>(event, "event")?;
        event.run(|event| object.stream.wait_for(&event.event))
    })
}

/// Queues a write of host bytes to device memory. The bytes are taken before this returns.
///
/// - `stream`: borrowed.
/// - `buffer`: borrowed; device memory.
/// - `offset`: byte of the buffer to begin at.
/// - `bytes`: `size` bytes, borrowed for the call.
/// - `size`: bytes to write; 0 is fine.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside the buffer, pinned memory, memory of an array,
/// another device), OUT_OF_MEMORY, DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_stream_write(
    stream: *const mlxrocm_stream,
    buffer: *const mlxrocm_buffer,
    offset: u64,
    bytes: *const c_void,
    size: usize,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(stream, "stream", error, |object: &StreamObject| {
        // SAFETY: the caller's bytes, as documented.
        let bytes = unsafe { array(bytes.cast::<u8>(), size, "bytes") }?;
        handle::get::<BufferObject>(buffer, "buffer")?.run(|buffer| {
            buffer.writable("buffer")?;
            let target = buffer.device("buffer")?;
            object.stream.copy_to_device(target, offset, bytes)
        })
    })
}

/// Reads device memory to the host, after the work queued so far, and waits for it.
///
/// - `stream`: borrowed.
/// - `buffer`: borrowed; device memory.
/// - `offset`: byte of the buffer to begin at.
/// - `bytes`: receives `size` bytes; on failure their content is undefined.
/// - `size`: bytes to read; 0 is fine.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside the buffer, pinned memory, another device),
/// OUT_OF_MEMORY, and as mlxrocm_stream_wait. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_stream_read(
    stream: *const mlxrocm_stream,
    buffer: *const mlxrocm_buffer,
    offset: u64,
    bytes: *mut c_void,
    size: usize,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(stream, "stream", error, |object: &StreamObject| {
        // SAFETY: the caller's bytes, as documented.
        let bytes = unsafe { bytes_mut(bytes, size, "bytes") }?;
        handle::get::<BufferObject>(buffer, "buffer")?.run(|buffer| {
            let source = buffer.device("buffer")?;
            object.stream.copy_to_host(source, offset, bytes)
        })
    })
}

/// Queues a copy between two buffers: from device to device, from pinned to device or from device to
/// pinned memory. The application leaves pinned memory alone until the copy is done.
///
/// - `stream`: borrowed.
/// - `target`: borrowed.
/// - `target_offset`: byte of the target to begin at.
/// - `source`: borrowed; may be the target, if the two parts do not overlap.
/// - `source_offset`: byte of the source to begin at.
/// - `size`: bytes to copy; 0 is fine.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside a buffer, overlapping parts, both pinned, a target that is
/// memory of an array, another device), DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_stream_copy(
    stream: *const mlxrocm_stream,
    target: *const mlxrocm_buffer,
    target_offset: u64,
    source: *const mlxrocm_buffer,
    source_offset: u64,
    size: u64,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(stream, "stream", error, |object: &StreamObject| {
        let target = handle::get::<BufferObject>(target, "target")?;
        let source = handle::get::<BufferObject>(source, "source")?;
        let stream = &object.stream;
        target.run(|target| {
            target.writable("target")?;
            source.run(|source| match (&target.memory, &source.memory) {
                (Memory::Device(to), Memory::Device(from)) => {
                    stream.copy_on_device(from, source_offset, to, target_offset, size)
                }
                (Memory::Device(to), Memory::Pinned(from)) => {
                    stream.copy_from_pinned(to, target_offset, from, source_offset, size)
                }
                (Memory::Pinned(to), Memory::Device(from)) => {
                    stream.copy_to_pinned(from, source_offset, to, target_offset, size)
                }
                (Memory::Pinned(_), Memory::Pinned(_)) => Err(Error::InvalidArgument(
                    "target and source are both pinned host memory: copy with memcpy".into(),
                )),
            })
        })
    })
}

/// Queues a fill of device memory with one byte value.
///
/// - `stream`: borrowed.
/// - `buffer`: borrowed; device memory.
/// - `offset`: byte of the buffer to begin at.
/// - `size`: bytes to fill; 0 is fine.
/// - `value`: each byte's value.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside the buffer, pinned memory, memory of an array,
/// another device), DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_stream_fill(
    stream: *const mlxrocm_stream,
    buffer: *const mlxrocm_buffer,
    offset: u64,
    size: u64,
    value: u8,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(stream, "stream", error, |object: &StreamObject| {
        handle::get::<BufferObject>(buffer, "buffer")?.run(|buffer| {
            buffer.writable("buffer")?;
            let target = buffer.device("buffer")?;
            object.stream.fill(target, offset, size, value)
        })
    })
}

/// Queues one launch of a kernel. A program of many launches runs faster than these.
///
/// - `stream`: borrowed.
/// - `kernel`: borrowed; of the same device.
/// - `launch`: borrowed for the call.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (a block or grid too large, too much local memory, an
/// argument that is wrong, missing or too much, a write to memory of an array, another device),
/// DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_stream_launch(
    stream: *const mlxrocm_stream,
    kernel: *const mlxrocm_kernel,
    launch: *const mlxrocm_launch,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(stream, "stream", error, |object: &StreamObject| {
        handle::get::<KernelObject>(kernel, "kernel")?.run(|kernel| {
            // SAFETY: the caller's struct and what it points to, as documented.
            let launch = unsafe { launch::read(launch) }?;
            object.stream.launch(
                &kernel.kernel,
                launch.grid,
                launch.block,
                launch.dynamic_lds,
                &launch.args,
            )?;
            launch
                .touched
                .iter()
                .for_each(|buffer| object.stream.note_use(buffer));
            Ok(())
        })
    })
}

/// Frees a stream. Work that was queued on it still runs, and arrays that were given to it stay usable.
///
/// - `stream`: consumed; NULL is fine.
///
/// Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_stream_free(stream: *mut mlxrocm_stream) {
    boundary_free::<StreamObject>(stream)
}

since_0_1! {
    mlxrocm_stream_new mlxrocm_stream_wait mlxrocm_stream_query mlxrocm_stream_record
    mlxrocm_stream_wait_for mlxrocm_stream_write mlxrocm_stream_read mlxrocm_stream_copy
    mlxrocm_stream_fill mlxrocm_stream_launch mlxrocm_stream_free
}
