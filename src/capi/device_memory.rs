//! A device's memory and a GPU's graphs: counters, limits and settings.

use super::boundary::boundary_on;
use super::device::{DeviceObject, mlxrocm_device};
use super::error::mlxrocm_error;
use super::options::{OutputStruct, SizedStruct};
use super::status::mlxrocm_status;
use super::symbols::since_0_1;
use crate::gpu::GraphPolicy;
use crate::{Error, cpu};

/// Graphs: programs run as graphs where these were found right and faster on this device. The
/// default, unless the environment variable MLXROCM_GRAPHS is on or off.
pub const MLXROCM_GRAPHS_AUTO: u32 = 0;
/// Graphs: programs always run as graphs, where the driver builds them.
pub const MLXROCM_GRAPHS_ON: u32 = 1;
/// Graphs: programs are launched one kernel after another.
pub const MLXROCM_GRAPHS_OFF: u32 = 2;

/// Memory counters of a device, in bytes. Freed buffers are kept for reuse: `active + cache` stay at or
/// below `limit`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_device_memory {
    /// Set by the caller to sizeof(mlxrocm_device_memory).
    pub struct_size: u32,
    /// 1 if the device shares the processor's memory, as the CPU itself does.
    pub integrated: u32,
    /// Held by buffers that are alive.
    pub active: u64,
    /// The highest `active` since the device was opened or mlxrocm_device_reset_peak_memory.
    pub peak: u64,
    /// Freed and kept for reuse.
    pub cache: u64,
    /// The most that `active + cache` may be.
    pub limit: u64,
    /// All memory of the device.
    pub total: u64,
    /// What the driver says is free now.
    pub free: u64,
    /// Pinned host memory held by buffers that are alive.
    pub pinned_active: u64,
    /// Pinned host memory freed and kept for reuse.
    pub pinned_cache: u64,
}

// SAFETY: repr(C), size first, numbers, no padding (a test checks).
unsafe impl SizedStruct for mlxrocm_device_memory {
    const NAME: &'static str = "mlxrocm_device_memory";
    const FIRST_SIZE: usize = size_of::<Self>();
}

/// Those of the CPU.
fn of_cpu() -> mlxrocm_device_memory {
    let (active, peak) = cpu::array_memory();
    let facts = cpu::facts();
    mlxrocm_device_memory {
        struct_size: 0,
        integrated: 1,
        active,
        peak,
        cache: cpu::kept_memory(),
        limit: facts.memory_total,
        total: facts.memory_total,
        free: facts.memory_free,
        pinned_active: 0,
        pinned_cache: 0,
    }
}

/// Reads a device's memory counters. Of the CPU `active` and `peak` are those of the elements of arrays that are the
/// library's own, in all threads; `cache` is memory of arrays that are gone, kept for new ones (256 MiB at most).
/// Nothing but the machine's memory is a limit.
///
/// - `device`: borrowed.
/// - `memory`: receives the counters; its `struct_size` must be set.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_device_get_memory(
    device: *const mlxrocm_device,
    memory: *mut mlxrocm_device_memory,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(device, "device", error, |object: &DeviceObject| {
        // SAFETY: the caller's struct, as documented.
        let output = unsafe { OutputStruct::new(memory, "memory") }?;
        let Some(gpu) = object.gpu_or_cpu() else {
            output.write(of_cpu());
            return Ok(());
        };
        let device = &gpu.device;
        let counters = device.memory()?;
        let pinned = device.pinned_memory();
        output.write(mlxrocm_device_memory {
            struct_size: 0,
            integrated: u32::from(device.facts().integrated),
            active: counters.active,
            peak: counters.peak,
            cache: counters.cache,
            limit: counters.limit,
            total: counters.total,
            free: counters.free,
            pinned_active: pinned.active,
            pinned_cache: pinned.cache,
        });
        Ok(())
    })
}

/// Sets the most device memory that this process uses through the library, and gives back cached
/// memory that is over it.
///
/// - `device`: borrowed; a GPU.
/// - `bytes`: the limit of active and cached memory together. A device begins with 85 % of its
///   memory, or 80 % if it shares the processor's.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU), OUT_OF_MEMORY (more than that is in
/// use; the limit stays as it was), DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_device_set_memory_limit(
    device: *const mlxrocm_device,
    bytes: u64,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(device, "device", error, |object: &DeviceObject| {
        object.gpu()?.device.set_memory_limit(bytes)
    })
}

/// Sets a device's `peak` counter to what is in use now.
///
/// - `device`: borrowed.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_device_reset_peak_memory(
    device: *const mlxrocm_device,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(device, "device", error, |object: &DeviceObject| {
        match object.gpu_or_cpu() {
            Some(gpu) => gpu.device.reset_peak_memory(),
            None => cpu::reset_array_peak(),
        }
        Ok(())
    })
}

/// Gives a GPU's cached memory back to the driver, except what queued work still uses. May take
/// long: drivers wait for the device.
///
/// - `device`: borrowed; a GPU.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU), DEVICE_FAILED, DEVICE_LOST. Any
/// thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_device_trim(
    device: *const mlxrocm_device,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(device, "device", error, |object: &DeviceObject| {
        object.gpu()?.device.trim()
    })
}

/// Sets when programs run as graphs on a GPU; mlxrocm_program_get_info tells what was chosen.
///
/// - `device`: borrowed; a GPU.
/// - `graphs`: one of MLXROCM_GRAPHS_...
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU). Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_device_set_graphs(
    device: *const mlxrocm_device,
    graphs: u32,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(device, "device", error, |object: &DeviceObject| {
        let policy = match graphs {
            MLXROCM_GRAPHS_AUTO => GraphPolicy::Auto,
            MLXROCM_GRAPHS_ON => GraphPolicy::On,
            MLXROCM_GRAPHS_OFF => GraphPolicy::Off,
            _ => {
                return Err(Error::InvalidArgument(format!(
                    "graphs is {graphs}, it must be one of MLXROCM_GRAPHS_AUTO (0), ON (1), OFF (2)"
                )));
            }
        };
        object.gpu()?.device.set_graph_policy(policy);
        Ok(())
    })
}

since_0_1! {
    mlxrocm_device_get_memory mlxrocm_device_set_memory_limit mlxrocm_device_reset_peak_memory
    mlxrocm_device_trim mlxrocm_device_set_graphs
}
