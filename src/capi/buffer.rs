//! Buffers: device memory and pinned host memory.

use super::boundary::{boundary_free, boundary_on};
use super::device::{Copies, DeviceObject, mlxrocm_device};
use super::error::mlxrocm_error;
use super::handle::{self, Object};
use super::options::{OutputStruct, SizedStruct};
use super::outputs::Output;
use super::status::mlxrocm_status;
use super::strings::{array, bytes_mut};
use super::symbols::since_0_1;
use crate::gpu::{DeviceBuffer, PinnedBuffer};
use crate::{Error, Result};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;

/// Buffer kind: memory of the GPU.
pub const MLXROCM_BUFFER_DEVICE: u32 = 1;
/// Buffer kind: host memory that the GPU can reach, for copies that go on while the caller does
/// something else.
pub const MLXROCM_BUFFER_PINNED: u32 = 2;

/// Memory of a fixed size and address. Internally locked: any thread; its content is the
/// application's to guard. Work that was queued with a buffer keeps its memory, also after it is
/// freed.
pub struct mlxrocm_buffer {
    _private: [u8; 0],
}

/// Facts about a buffer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_buffer_info {
    /// Set by the caller to sizeof(mlxrocm_buffer_info).
    pub struct_size: u32,
    /// MLXROCM_BUFFER_DEVICE or MLXROCM_BUFFER_PINNED.
    pub kind: u32,
    /// Bytes, as asked for.
    pub size: u64,
    /// The address at which the GPU sees it. Device memory begins at a multiple of 256.
    pub address: u64,
    /// PINNED: where the application reads and writes it, after waiting for queued work that uses it;
    /// borrowed until the buffer is freed. DEVICE: NULL.
    pub data: *mut c_void,
}

// SAFETY: repr(C), size first, numbers and pointers, no padding (a test checks).
unsafe impl SizedStruct for mlxrocm_buffer_info {
    const NAME: &'static str = "mlxrocm_buffer_info";
    const FIRST_SIZE: usize = size_of::<Self>();
}

pub(super) enum Memory {
    Device(DeviceBuffer),
    Pinned(PinnedBuffer),
}

pub(super) struct BufferObject {
    pub(super) memory: Memory,
    /// Arrays see it: nothing may write to it.
    is_of_array: bool,
    copies: Arc<Copies>,
}

impl Object for BufferObject {
    type Opaque = mlxrocm_buffer;
    const NOUN: &'static str = "mlxrocm_buffer";
}

impl BufferObject {
    /// The device memory that it is; `parameter` names it in errors.
    pub(super) fn device(&self, parameter: &str) -> Result<&DeviceBuffer> {
        match &self.memory {
            Memory::Device(buffer) => Ok(buffer),
            Memory::Pinned(_) => Err(Error::InvalidArgument(format!(
                "{parameter} is pinned host memory, a buffer of MLXROCM_BUFFER_DEVICE is needed"
            ))),
        }
    }

    /// Memory that elements of an array lie in.
    pub(super) fn of_array(buffer: DeviceBuffer) -> BufferObject {
        BufferObject {
            copies: Arc::new(Copies::of(buffer.device())),
            memory: Memory::Device(buffer),
            is_of_array: true,
        }
    }

    /// What a write through this handle is refused with, if it is; `parameter` names it.
    pub(super) fn writable(&self, parameter: &str) -> Result<()> {
        match self.is_of_array {
            true => Err(Error::InvalidArgument(format!(
                "{parameter} is memory of an array (mlxrocm_array_buffer), which is read only: give it to kernels by \
                 mlxrocm_arg_input, and copy it to change it"
            ))),
            false => Ok(()),
        }
    }

    /// A part of pinned memory.
    fn host(buffer: &PinnedBuffer, offset: u64, size: usize) -> Result<*mut u8> {
        let end = offset.checked_add(size as u64);
        if end.is_none_or(|end| end > buffer.len()) {
            return Err(Error::InvalidArgument(format!(
                "{size} bytes from {offset} are outside a buffer of {} bytes",
                buffer.len()
            )));
        }
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        Ok(buffer.host().wrapping_add(offset))
    }
}

/// Allocates a buffer. Its content is undefined.
///
/// - `device`: borrowed; a GPU. The buffer keeps it alive.
/// - `kind`: MLXROCM_BUFFER_DEVICE or MLXROCM_BUFFER_PINNED.
/// - `size`: bytes; 0 is fine.
/// - `buffer`: receives the buffer, owned: free it with mlxrocm_buffer_free.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU), OUT_OF_MEMORY (everything stays
/// usable), DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_buffer_new(
    device: *const mlxrocm_device,
    kind: u32,
    size: u64,
    buffer: *mut *mut mlxrocm_buffer,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(device, "device", error, |object: &DeviceObject| {
        // SAFETY: the caller's pointer, as documented.
        let output = unsafe { Output::new(buffer, "buffer") }?;
        let gpu = object.gpu()?;
        let memory = match kind {
            MLXROCM_BUFFER_DEVICE => Memory::Device(gpu.device.alloc(size)?),
            MLXROCM_BUFFER_PINNED => Memory::Pinned(gpu.device.alloc_pinned(size)?),
            _ => {
                return Err(Error::InvalidArgument(format!(
                    "kind is {kind}, it must be MLXROCM_BUFFER_DEVICE (1) or MLXROCM_BUFFER_PINNED (2)"
                )));
            }
        };
        output.write(handle::publish(BufferObject {
            memory,
            is_of_array: false,
            copies: gpu.copies.clone(),
        }));
        Ok(())
    })
}

/// Tells facts about a buffer.
///
/// - `buffer`: borrowed.
/// - `info`: receives the facts; its `struct_size` must be set.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_buffer_get_info(
    buffer: *const mlxrocm_buffer,
    info: *mut mlxrocm_buffer_info,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(buffer, "buffer", error, |object: &BufferObject| {
        // SAFETY: the caller's struct, as documented.
        let output = unsafe { OutputStruct::new(info, "info") }?;
        let (kind, size, address, data) = match &object.memory {
            Memory::Device(buffer) => {
                let (size, address) = (buffer.len(), buffer.address());
                (MLXROCM_BUFFER_DEVICE, size, address, null_mut())
            }
            Memory::Pinned(buffer) => {
                let (size, address) = (buffer.len(), buffer.address());
                (MLXROCM_BUFFER_PINNED, size, address, buffer.host())
            }
        };
        output.write(mlxrocm_buffer_info {
            struct_size: 0,
            kind,
            size,
            address,
            data: data.cast(),
        });
        Ok(())
    })
}

/// Writes host bytes to a buffer and waits until they are there. It does not wait for work on
/// streams: where such work uses the same part, wait for it first, or use mlxrocm_stream_write.
///
/// - `buffer`: borrowed.
/// - `offset`: byte of the buffer to begin at.
/// - `bytes`: `size` bytes, borrowed for the call.
/// - `size`: bytes to write; 0 is fine.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside the buffer, memory of an array), OUT_OF_MEMORY,
/// DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_buffer_write(
    buffer: *const mlxrocm_buffer,
    offset: u64,
    bytes: *const c_void,
    size: usize,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(buffer, "buffer", error, |object: &BufferObject| {
        // SAFETY: the caller's bytes, as documented.
        let bytes = unsafe { array(bytes.cast::<u8>(), size, "bytes") }?;
        match &object.memory {
            Memory::Device(buffer) => {
                object.writable("buffer")?;
                let stream = object.copies.stream()?;
                stream.copy_to_device(buffer, offset, bytes)?;
                object.copies.device.wait_step(&stream)
            }
            Memory::Pinned(buffer) => {
                let to = BufferObject::host(buffer, offset, size)?;
                // SAFETY: the part is inside the buffer; the bytes may be of the same buffer.
                unsafe { std::ptr::copy(bytes.as_ptr(), to, size) };
                Ok(())
            }
        }
    })
}

/// Reads bytes of a buffer to the host. It does not wait for work on streams: where such work writes
/// the same part, wait for it first, or use mlxrocm_stream_read.
///
/// - `buffer`: borrowed.
/// - `offset`: byte of the buffer to begin at.
/// - `bytes`: receives `size` bytes; on failure their content is undefined.
/// - `size`: bytes to read; 0 is fine.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (outside the buffer), OUT_OF_MEMORY, DEVICE_FAILED,
/// DEVICE_LOST. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_buffer_read(
    buffer: *const mlxrocm_buffer,
    offset: u64,
    bytes: *mut c_void,
    size: usize,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(buffer, "buffer", error, |object: &BufferObject| {
        match &object.memory {
            Memory::Device(buffer) => {
                // SAFETY: the caller's bytes, as documented.
                let bytes = unsafe { bytes_mut(bytes, size, "bytes") }?;
                let stream = object.copies.stream()?;
                let copied = stream.copy_to_host(buffer, offset, bytes);
                object.copies.device.in_time(copied)
            }
            Memory::Pinned(buffer) => {
                let from = BufferObject::host(buffer, offset, size)?;
                if size > 0 && bytes.is_null() {
                    return Err(Error::NullArgument("bytes".into()));
                }
                if size > 0 {
                    // SAFETY: the part is inside the buffer, the caller's bytes are not NULL and may
                    // be of the same buffer.
                    unsafe { std::ptr::copy(from, bytes.cast::<u8>(), size) };
                }
                Ok(())
            }
        }
    })
}

/// Frees a buffer. Work that was queued with it still has its memory.
///
/// - `buffer`: consumed; NULL is fine.
///
/// Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_buffer_free(buffer: *mut mlxrocm_buffer) {
    boundary_free::<BufferObject>(buffer)
}

since_0_1! {
    mlxrocm_buffer_new mlxrocm_buffer_get_info mlxrocm_buffer_write mlxrocm_buffer_read
    mlxrocm_buffer_free
}
