//! Kernels of one's own on a GPU: memory, streams, compiled modules and recorded programs.

use crate::array::Element;
use crate::device::Device;
use crate::error::{Result, call, field, filled_text, handle, owned};
use mlxrocm_sys as sys;
use std::marker::PhantomData;
use std::mem::zeroed;
use std::time::Duration;

handle!(BufferHandle, mlxrocm_buffer, mlxrocm_buffer_free);
handle!(ModuleHandle, mlxrocm_module, mlxrocm_module_free);
handle!(KernelHandle, mlxrocm_kernel, mlxrocm_kernel_free);
handle!(StreamHandle, mlxrocm_stream, mlxrocm_stream_free);
handle!(ProgramHandle, mlxrocm_program, mlxrocm_program_free);

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
        // What the buffer does not hold is refused by the library; no more is allocated for it than that.
        let size = count.saturating_mul(size_of::<T>());
        let mut bytes = vec![0u8; size.min(self.size.saturating_add(1))];
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe {
            let (handle, place) = (self.handle.get(), bytes.as_mut_ptr().cast());
            sys::mlxrocm_buffer_read(handle, offset as u64, place, bytes.len(), error)
        })?;
        Ok(bytes.chunks_exact(size_of::<T>()).map(T::from_bytes).collect())
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

/// Code on a GPU.
#[derive(Debug)]
pub struct Module(ModuleHandle);

impl Module {
    /// Compiles a source in HIP's language, `extern "C"`, with the compiler's options; `name` is what messages call it.
    /// If it does not compile, the error's details are the compiler's log.
    pub fn compile(device: &Device, name: &str, source: &str, flags: &[&str]) -> Result<Module> {
        let (name, name_length) = field(name);
        let (flags, flag_lengths): (Vec<_>, Vec<_>) = flags.iter().map(|flag| field(flag)).unzip();
        let options = sys::mlxrocm_compile_options {
            struct_size: size_of::<sys::mlxrocm_compile_options>() as u32,
            flag_count: flags.len() as u32,
            flags: flags.as_ptr(),
            flag_lengths: flag_lengths.as_ptr(),
            name,
            name_length,
        };
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        ModuleHandle::make(|out, error| unsafe {
            sys::mlxrocm_module_compile(device.0.get(), source.as_ptr().cast(), source.len(), &options, out, error)
        })
        .map(Module)
    }

    /// A kernel of the module.
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        KernelHandle::make(|out, error| unsafe {
            sys::mlxrocm_module_get_kernel(self.0.get(), name.as_ptr().cast(), name.len(), out, error)
        })
        .map(Kernel)
    }
}

/// Facts about a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelInfo {
    pub name: String,
    /// Vector registers of a work item.
    pub registers: u32,
    /// Bytes of private memory of a work item.
    pub scratch_bytes: u32,
    /// Bytes of local memory that it declares.
    pub lds_bytes: u32,
    /// Work items that a block may have.
    pub max_block_threads: u32,
    /// Work items of a wave.
    pub wave_size: u32,
}

/// A function that a GPU runs.
#[derive(Debug)]
pub struct Kernel(KernelHandle);

impl Kernel {
    /// Tells facts about the kernel.
    pub fn info(&self) -> Result<KernelInfo> {
        // SAFETY: zero is a value of each field: numbers, and pointers that are null.
        let mut info: sys::mlxrocm_kernel_info = unsafe { zeroed() };
        info.struct_size = size_of_val(&info) as u32;
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_kernel_get_info(self.0.get(), &mut info, error) })?;
        Ok(KernelInfo {
            name: owned(info.name),
            registers: info.registers,
            scratch_bytes: info.scratch_bytes,
            lds_bytes: info.lds_bytes,
            max_block_threads: info.max_block_threads,
            wave_size: info.wave_size,
        })
    }
}

/// Blocks, work items of a block (x, y and z; 0 in y or z is 1), and bytes of local memory beyond what is declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grid {
    pub blocks: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_lds: u32,
}

impl Grid {
    /// Blocks of so many work items in x.
    pub fn line(blocks: u32, block: u32) -> Grid {
        Grid { blocks: [blocks, 1, 1], block: [block, 1, 1], dynamic_lds: 0 }
    }

    /// The launch as C has it; it borrows the arguments.
    fn of(self, args: &[Arg]) -> sys::mlxrocm_launch {
        sys::mlxrocm_launch {
            struct_size: size_of::<sys::mlxrocm_launch>() as u32,
            dynamic_lds: self.dynamic_lds,
            grid: self.blocks,
            block: self.block,
            // An Arg is C's struct and nothing else.
            args: args.as_ptr().cast(),
            arg_count: args.len(),
            // SAFETY: zero is a value of each field: numbers, and pointers that are null.
            ..unsafe { zeroed() }
        }
    }
}

/// A queue of work that a GPU does in order. What fails while it runs comes out of the next wait.
#[derive(Debug)]
pub struct Stream(StreamHandle);

impl Stream {
    pub fn new(device: &Device) -> Result<Stream> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        StreamHandle::make(|out, error| unsafe { sys::mlxrocm_stream_new(device.0.get(), out, error) }).map(Stream)
    }

    /// Queues a kernel with its arguments.
    ///
    /// # Safety
    /// The kernel touches no memory but its arguments', within their sizes, and nothing else uses that meanwhile.
    pub unsafe fn launch(&self, kernel: &Kernel, grid: Grid, args: &[Arg]) -> Result<()> {
        let launch = grid.of(args);
        // SAFETY: live handles, and a struct for the call; the caller answers for the kernel.
        call(|error| unsafe { sys::mlxrocm_stream_launch(self.0.get(), kernel.0.get(), &launch, error) }).map(drop)
    }

    /// Queues a copy of bytes from an offset of one buffer to one of another.
    pub fn copy(&self, target: (&Buffer, u64), source: (&Buffer, u64), size: u64) -> Result<()> {
        let ((target, to), (source, from)) = (target, source);
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe {
            sys::mlxrocm_stream_copy(self.0.get(), target.handle.get(), to, source.handle.get(), from, size, error)
        })
        .map(drop)
    }

    /// Queues a fill of bytes of a buffer.
    pub fn fill(&self, buffer: &Buffer, offset: u64, size: u64, value: u8) -> Result<()> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_stream_fill(self.0.get(), buffer.handle.get(), offset, size, value, error) })
            .map(drop)
    }

    /// Queues a run of a program.
    pub fn run(&self, program: &Program) -> Result<()> {
        // SAFETY: live handles; who recorded the launches answers for them.
        call(|error| unsafe { sys::mlxrocm_program_run(program.0.get(), self.0.get(), error) }).map(drop)
    }

    /// Waits for all queued work.
    pub fn wait(&self) -> Result<()> {
        self.wait_ns(-1)
    }

    /// The same for a while; then [`Status::Timeout`](crate::Status::Timeout), and the work goes on.
    pub fn wait_within(&self, timeout: Duration) -> Result<()> {
        self.wait_ns(timeout.as_nanos().try_into().unwrap_or(i64::MAX))
    }

    fn wait_ns(&self, timeout: i64) -> Result<()> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_stream_wait(self.0.get(), timeout, error) }).map(drop)
    }
}

/// Launches that are recorded once, ordered by what each reads and writes, and run often.
#[derive(Debug)]
pub struct Program(ProgramHandle);

impl Program {
    /// Begins to record.
    pub fn new(device: &Device) -> Result<Program> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        ProgramHandle::make(|out, error| unsafe { sys::mlxrocm_program_new(device.0.get(), out, error) }).map(Program)
    }

    /// Records a kernel with its arguments.
    ///
    /// # Safety
    /// As for [`Stream::launch`], in each run.
    pub unsafe fn launch(&self, kernel: &Kernel, grid: Grid, args: &[Arg]) -> Result<()> {
        let launch = grid.of(args);
        // SAFETY: live handles, and a struct for the call; the caller answers for the kernel.
        call(|error| unsafe { sys::mlxrocm_program_launch(self.0.get(), kernel.0.get(), &launch, error) }).map(drop)
    }

    /// Ends the recording; from then on it can be run.
    pub fn end(&self) -> Result<()> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_program_end(self.0.get(), error) }).map(drop)
    }

    /// How the next run goes, and why.
    pub fn explain(&self) -> Result<String> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        filled_text(|text, capacity, needed, error| unsafe {
            sys::mlxrocm_program_explain(self.0.get(), text, capacity, needed, error)
        })
    }
}
