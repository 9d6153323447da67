//! Kernel launches: checking the geometry and packing the arguments.

use std::ffi::{c_uint, c_void};
use std::sync::Arc;

use super::attributes::{LDS_BYTES, MAX_GRID};
use super::entry::hip_functions;
use super::error::{Error, Outcome};
use super::faults::Site;
use super::host_read;
use super::operation::{KernelCall, What, Work};
use super::runtime::runtime;
use super::state::State;
use crate::isa::{Arg, ArgKind, Kernel};

/// `extra` tags: pointer to the packed arguments, pointer to their size, end.
const EXTRA_POINTER: u64 = 1;
const EXTRA_SIZE: u64 = 2;
const EXTRA_END: u64 = 3;

/// Blocks, threads and LDS of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Dynamic LDS bytes.
    pub dynamic_lds: u32,
}

impl Geometry {
    /// Checks the limits of a launch.
    ///
    /// # Errors
    /// `hipErrorInvalidConfiguration` for empty and too large launches, with the reason in words.
    pub fn check(&self, kernel: &Kernel) -> Result<(), String> {
        if self.grid.contains(&0) || self.block.contains(&0) {
            return Err(format!(
                "empty launch: grid {:?}, block {:?}",
                self.grid, self.block
            ));
        }
        let threads: u64 = self.block.iter().map(|side| u64::from(*side)).product();
        if threads > u64::from(kernel.max_workgroup.min(1024)) {
            return Err(format!(
                "block {:?} has {threads} threads, the kernel takes {}",
                self.block, kernel.max_workgroup
            ));
        }
        for ((blocks, side), limit) in self.grid.iter().zip(self.block).zip(MAX_GRID) {
            let total = u64::from(*blocks) * u64::from(side);
            if u64::from(*blocks) > limit as u64 || total > u64::from(u32::MAX) {
                return Err(format!(
                    "grid {:?} of blocks {:?} is too large",
                    self.grid, self.block
                ));
            }
        }
        let lds = u64::from(kernel.lds_bytes) + u64::from(self.dynamic_lds);
        if lds > LDS_BYTES as u64 {
            return Err(format!("{lds} bytes of LDS asked, a block has {LDS_BYTES}"));
        }
        Ok(())
    }
}

/// Explicit arguments of a kernel, in order.
fn explicit(kernel: &Kernel) -> impl Iterator<Item = &Arg> {
    kernel
        .args
        .iter()
        .filter(|arg| !matches!(arg.kind, ArgKind::Hidden(_)))
}

/// Bytes of the explicit arguments.
fn explicit_bytes(kernel: &Kernel) -> usize {
    explicit(kernel)
        .map(|arg| (arg.offset + arg.size) as usize)
        .max()
        .unwrap_or(0)
}

/// Packs arguments that an array of pointers at `params` gives.
///
/// # Errors
/// The argument that cannot be read, in words.
pub fn pack_params(kernel: &Kernel, params: u64) -> Result<Vec<u8>, String> {
    let mut packed = vec![0; explicit_bytes(kernel)];
    for (index, arg) in explicit(kernel).enumerate() {
        let place = (arg.offset as usize)..(arg.offset + arg.size) as usize;
        let pointer = host_read::read_u64(params + 8 * index as u64)
            .ok_or_else(|| format!("the argument array at {params:#x} is not readable"))?;
        let read = packed
            .get_mut(place)
            .is_some_and(|place| host_read::read(pointer, place));
        if !read {
            return Err(format!("argument {index} at {pointer:#x} is not readable"));
        }
    }
    Ok(packed)
}

/// Takes packed arguments that an `extra` list at `extra` gives.
///
/// # Errors
/// What is wrong with the list, in words.
pub fn pack_extra(kernel: &Kernel, extra: u64) -> Result<Vec<u8>, String> {
    let needed = explicit_bytes(kernel);
    let (mut buffer, mut size) = (None, None);
    let mut at = extra;
    for _ in 0..8 {
        let unreadable = || format!("the extra list at {extra:#x} is not readable");
        let tag = host_read::read_u64(at).ok_or_else(unreadable)?;
        if tag == EXTRA_END {
            break;
        }
        let value = host_read::read_u64(at + 8).ok_or_else(unreadable)?;
        match tag {
            EXTRA_POINTER => buffer = Some(value),
            EXTRA_SIZE => size = host_read::read_u64(value),
            _ => {
                return Err(format!(
                    "the extra list at {extra:#x} has the unknown tag {tag}"
                ));
            }
        }
        at += 16;
    }
    let (Some(buffer), Some(size)) = (buffer, size) else {
        return Err(format!(
            "the extra list at {extra:#x} has no buffer or no size"
        ));
    };
    if (size as usize) < needed {
        return Err(format!(
            "{size} bytes of arguments given, the kernel takes {needed}"
        ));
    }
    let mut packed = vec![0; needed];
    if !host_read::read(buffer, &mut packed) {
        return Err(format!(
            "the argument buffer at {buffer:#x} is not readable"
        ));
    }
    Ok(packed)
}

/// Packs arguments from whichever form is given; a kernel without arguments needs neither.
///
/// # Errors
/// What cannot be read, in words.
pub fn pack(kernel: &Kernel, params: u64, extra: u64) -> Result<Vec<u8>, String> {
    match (params, extra) {
        (0, 0) if explicit_bytes(kernel) == 0 => Ok(Vec::new()),
        (0, 0) => Err("no arguments given".to_owned()),
        (0, extra) => pack_extra(kernel, extra),
        (params, 0) => pack_params(kernel, params),
        _ => Err("both kernelParams and extra given".to_owned()),
    }
}

impl State {
    /// Reports a launch that is refused.
    pub fn refuse_launch(&mut self, kernel: &Kernel, error: Error, message: &str) -> Error {
        self.report
            .violation("bad_launch", format!("kernel {}: {message}", kernel.name));
        error
    }

    /// Whether any of `kernels` is queued.
    pub fn kernels_queued(&self, kernels: &[Arc<Kernel>]) -> bool {
        let one = |work: &Work| match work {
            Work::Kernel(call) => kernels
                .iter()
                .any(|kernel| Arc::ptr_eq(kernel, &call.kernel)),
            _ => false,
        };
        self.streams
            .values()
            .flat_map(|stream| &stream.queue)
            .any(|operation| match &operation.what {
                What::Work(work) => one(work),
                What::Graph(run) => run.steps.iter().any(|work| one(work)),
                What::Record(_) | What::Wait | What::Host(_) => false,
            })
    }
}

fn launch(
    function: *mut c_void,
    geometry: Geometry,
    stream: *mut c_void,
    params: u64,
    extra: u64,
) -> Outcome {
    let mut state = runtime().lock();
    let stream = state.stream_handle(stream)?;
    let ordinal = state.stream_device(stream);
    state.check_device(ordinal)?;
    let kernel = state.function_kernel(function, Some(ordinal))?;
    if let Err(message) = geometry.check(&kernel) {
        return Err(state.refuse_launch(&kernel, Error::INVALID_CONFIGURATION, &message));
    }
    let kernarg = match pack(&kernel, params, extra) {
        Ok(kernarg) => kernarg,
        Err(message) => return Err(state.refuse_launch(&kernel, Error::INVALID_VALUE, &message)),
    };
    if state.faults.strikes(Site::Launch) {
        return Err(Error::LAUNCH_OUT_OF_RESOURCES);
    }
    let Geometry {
        grid,
        block,
        dynamic_lds,
    } = geometry;
    let work = Work::Kernel(KernelCall {
        kernel,
        grid,
        block,
        dynamic_lds,
        kernarg,
    });
    if state.capturing(stream)? {
        return state.capture_work(stream, work);
    }
    state
        .enqueue(stream, What::Work(Arc::new(work)), None)
        .map(|_| ())
}

hip_functions! {
    /// Launches a kernel: the grid counts blocks.
    #[allow(clippy::too_many_arguments)]
    fn hipModuleLaunchKernel(
        function: *mut c_void,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        dynamic_lds: c_uint,
        stream: *mut c_void,
        params: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) {
        let geometry = Geometry {
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            dynamic_lds,
        };
        launch(function, geometry, stream, params as u64, extra as u64)
    }
}
