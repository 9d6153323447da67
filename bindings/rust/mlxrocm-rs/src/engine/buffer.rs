//! Memory, and arguments of kernels.

use crate::array::Element;
use crate::device::Device;
use crate::error::{Result, call, handle};
use mlxrocm_sys as sys;
use std::marker::PhantomData;
use std::mem::zeroed;
use std::ptr::NonNull;

handle!(BufferHandle, mlxrocm_buffer, mlxrocm_buffer_free);

/// Memory of a GPU, or host memory that it can reach. Work that was queued with it keeps its memory when it is dropped.
#[derive(Debug)]
pub struct Buffer {
    handle: BufferHandle,
    size: usize,
}

impl Buffer {
    /// Memory of a GPU; its content is undefined.
    pub fn new(device: &Device, size: usize) -> Result<Buffer> {
        Buffer::of_kind(device, sys::MLXROCM_BUFFER_DEVICE, size)
    }

    /// Pinned host memory, for copies that go on while the program does something else.
    pub fn pinned(device: &Device, size: usize) -> Result<Buffer> {
        Buffer::of_kind(device, sys::MLXROCM_BUFFER_PINNED, size)
    }

    fn of_kind(device: &Device, kind: u32, size: usize) -> Result<Buffer> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        let make = |out, error| unsafe { sys::mlxrocm_buffer_new(device.0.get(), kind, size as u64, out, error) };
        Ok(Buffer { handle: BufferHandle::make(make)?, size })
    }

    /// Bytes of it.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Copies elements to a byte offset, and waits until they are there.
    pub fn write<T: Element>(&self, offset: usize, elements: &[T]) -> Result<()> {
        let (handle, bytes) = (self.handle.get(), elements.as_ptr().cast());
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_buffer_write(handle, offset as u64, bytes, size_of_val(elements), error) })
            .map(drop)
    }

    /// Copies elements from a byte offset. It does not wait for work that is queued.
    pub fn read<T: Element>(&self, offset: usize, count: usize) -> Result<Vec<T>> {
        let mut bytes = self.room::<T>(count);
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe {
            let (handle, place) = (self.handle.get(), bytes.as_mut_ptr().cast());
            sys::mlxrocm_buffer_read(handle, offset as u64, place, bytes.len(), error)
        })?;
        Ok(elements(&bytes))
    }

    /// The address at which the GPU sees it. Memory of a GPU begins at a multiple of 256.
    pub fn address(&self) -> Result<u64> {
        self.info().map(|info| info.address)
    }

    /// Where the program reads and writes pinned memory, after waiting for queued work that uses it; `None` for memory of
    /// a GPU. It is there as long as the buffer.
    pub fn host_memory(&self) -> Result<Option<NonNull<u8>>> {
        self.info().map(|info| NonNull::new(info.data.cast()))
    }

    fn info(&self) -> Result<sys::mlxrocm_buffer_info> {
        // SAFETY: zero is a value of each field: numbers, and a pointer that is null.
        let mut info: sys::mlxrocm_buffer_info = unsafe { zeroed() };
        info.struct_size = size_of_val(&info) as u32;
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_buffer_get_info(self.handle.get(), &mut info, error) })?;
        Ok(info)
    }

    pub(super) fn get(&self) -> *mut sys::mlxrocm_buffer {
        self.handle.get()
    }

    /// Room for so many elements: what the buffer does not hold is refused by the library, and no more is allocated for
    /// it than that.
    pub(super) fn room<T: Element>(&self, count: usize) -> Vec<u8> {
        let size = count.saturating_mul(size_of::<T>());
        vec![0u8; size.min(self.size.saturating_add(1))]
    }

    /// The argument of a kernel that reads it.
    pub fn input(&self) -> Arg<'_> {
        // SAFETY: a live handle; the argument borrows the buffer.
        Arg(unsafe { sys::mlxrocm_arg_input(self.handle.get(), 0) }, PhantomData)
    }

    /// The argument of a kernel that writes it.
    pub fn output(&self) -> Arg<'_> {
        // SAFETY: a live handle; the argument borrows the buffer.
        Arg(unsafe { sys::mlxrocm_arg_output(self.handle.get(), 0) }, PhantomData)
    }

    /// The argument of a kernel that reads and writes it.
    pub fn both(&self) -> Arg<'_> {
        // SAFETY: a live handle; the argument borrows the buffer.
        Arg(unsafe { sys::mlxrocm_arg_buffer(self.handle.get(), 0) }, PhantomData)
    }
}

/// One argument of a kernel: a buffer's, or a number (`5u32.into()`).
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Arg<'a>(sys::mlxrocm_arg, PhantomData<&'a Buffer>);

impl Arg<'_> {
    /// The buffer from a byte on.
    pub fn from_byte(mut self, offset: u64) -> Self {
        if self.0.kind == sys::MLXROCM_ARG_BUFFER {
            self.0.value = offset;
        }
        self
    }
}

macro_rules! numbers {
    ($($type:ty: $function:ident,)*) => {
        $(impl From<$type> for Arg<'_> {
            fn from(value: $type) -> Self {
                // SAFETY: it only makes a struct.
                Arg(unsafe { sys::$function(value) }, PhantomData)
            }
        })*
    };
}
numbers! {
    u32: mlxrocm_arg_u32, i32: mlxrocm_arg_i32, f32: mlxrocm_arg_f32,
    u64: mlxrocm_arg_u64, i64: mlxrocm_arg_i64, f64: mlxrocm_arg_f64,
}

pub(super) fn elements<T: Element>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(size_of::<T>()).map(T::from_bytes).collect()
}
