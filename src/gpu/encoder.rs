//! Recording launches into a program.

use super::args::Args;
use super::buffer::{DeviceBuffer, Range};
use super::module::Kernel;
use crate::{Error, Result};
use std::marker::PhantomData;

/// Settings of one launch.
#[derive(Debug, Clone, Copy, Default)]
pub struct LaunchOptions {
    /// The launch may begin while the one before drains; the kernel itself waits where it must
    /// (NVIDIA: programmatic dependent launch). Ignored elsewhere.
    pub overlap: bool,
}

/// Records launches; given to the closure of [`super::Device::record`].
pub struct Encoder<'a> {
    _device: PhantomData<&'a ()>,
}

impl Encoder<'_> {
    /// Records one launch. `reads` and `writes` are all that it touches on the device; a launch that
    /// declares none is ordered after everything before it and before everything after it. A grid or
    /// block with a zero is skipped.
    ///
    /// # Errors
    /// `InvalidArgument` for ranges outside their buffer, a block too large, too much local memory.
    pub fn launch(
        &mut self,
        kernel: &Kernel,
        grid: [u32; 3],
        block: [u32; 3],
        dynamic_lds: u32,
        args: Args,
        reads: &[Range],
        writes: &[Range],
    ) -> Result<()> {
        let options = LaunchOptions::default();
        self.launch_with(
            kernel,
            grid,
            block,
            dynamic_lds,
            args,
            reads,
            writes,
            options,
        )
    }

    /// [`Self::launch`] with options.
    #[allow(clippy::too_many_arguments)] // the launch's natural parameters
    pub fn launch_with(
        &mut self,
        _kernel: &Kernel,
        _grid: [u32; 3],
        _block: [u32; 3],
        _dynamic_lds: u32,
        _args: Args,
        _reads: &[Range],
        _writes: &[Range],
        _options: LaunchOptions,
    ) -> Result<()> {
        Err(missing())
    }

    /// Records a copy of `len` bytes between device buffers (which do not overlap).
    pub fn copy(
        &mut self,
        _source: &DeviceBuffer,
        _source_offset: u64,
        _target: &DeviceBuffer,
        _target_offset: u64,
        _len: u64,
    ) -> Result<()> {
        Err(missing())
    }

    /// Records a fill of `len` bytes with `value`.
    pub fn fill(
        &mut self,
        _target: &DeviceBuffer,
        _offset: u64,
        _len: u64,
        _value: u8,
    ) -> Result<()> {
        Err(missing())
    }

    /// Everything after this is ordered after everything before it.
    pub fn barrier(&mut self) {}

    /// Keeps `buffer` alive as long as the program, for one that only a pointer in memory refers to.
    pub fn keep(&mut self, _buffer: &DeviceBuffer) {}
}

fn missing() -> Error {
    Error::Unsupported("no GPU driver is bound yet".into())
}
