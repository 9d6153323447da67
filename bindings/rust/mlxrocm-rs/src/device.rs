//! Devices.

use crate::error::{Result, call, filled_text, handle, owned};
use mlxrocm_sys as sys;
use std::any::Any;
use std::ffi::{c_char, c_void};
use std::mem::zeroed;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::slice::from_raw_parts;

handle!(DeviceHandle, mlxrocm_device, mlxrocm_device_free);

/// What drives a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    Cpu,
    /// An AMD GPU.
    Hip,
    /// An NVIDIA GPU.
    Cuda,
}

/// Facts about a device; what a CPU has not is 0 or "".
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    pub kind: DeviceKind,
    pub name: String,
    /// Like "avx2", "gfx1151" or "sm_90".
    pub isa: String,
    pub compute_units: u64,
    pub memory_total: u64,
    pub memory_free: u64,
    /// Where the GPU is on the PCI bus.
    pub pci_id: String,
    /// Bytes of local memory that a block may use.
    pub lds_bytes: u32,
    /// Work items of a wave.
    pub wave_size: u32,
    /// Work items that a block may have.
    pub max_block_threads: u32,
}

/// A GPU's counters, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceMemory {
    /// Held by buffers that are alive.
    pub active: u64,
    /// The most that `active` ever was.
    pub peak: u64,
    /// Freed and kept for reuse.
    pub cache: u64,
    /// The most that `active + cache` may be.
    pub limit: u64,
    pub total: u64,
    /// What the driver says is free now.
    pub free: u64,
    pub pinned_active: u64,
    pub pinned_cache: u64,
}

/// When programs run as graphs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Graphs {
    /// Where a trial found that to be right and faster.
    #[default]
    Auto,
    On,
    Off,
}

/// How to test a GPU.
#[derive(Clone, Copy, Debug, Default)]
pub struct SelftestOptions {
    /// Measurements of small sizes and few rounds.
    pub quick: bool,
    pub no_measurements: bool,
    /// Of the random inputs; 0: a new one each time.
    pub seed: u64,
}

/// A report's function, and what it panicked with.
type Hears<'a> = (Box<dyn FnMut(&str) -> bool + 'a>, Option<Box<dyn Any + Send>>);

unsafe extern "C" fn hear(line: *const c_char, length: usize, data: *mut c_void) -> i32 {
    // SAFETY: so many bytes for the call, and what selftest gave, which nobody else uses meanwhile.
    let (line, (report, panicked)) = unsafe { (from_raw_parts(line.cast(), length), &mut *data.cast::<Hears>()) };
    match catch_unwind(AssertUnwindSafe(|| report(&String::from_utf8_lossy(line)))) {
        Ok(goes_on) => i32::from(!goes_on),
        Err(payload) => {
            *panicked = Some(payload);
            1
        }
    }
}

/// An open device.
#[derive(Debug)]
pub struct Device(pub(crate) DeviceHandle);

impl Device {
    /// Devices of this machine: the CPU, then GPUs.
    pub fn count() -> Result<usize> {
        let mut count = 0;
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_device_count(&mut count, error) })?;
        Ok(count)
    }

    /// Why there is no GPU of a kind, and what to do about it; "" if there is one.
    pub fn why_none(kind: DeviceKind) -> Result<String> {
        let kind = match kind {
            DeviceKind::Cpu => sys::MLXROCM_DEVICE_CPU,
            DeviceKind::Hip => sys::MLXROCM_DEVICE_HIP,
            DeviceKind::Cuda => sys::MLXROCM_DEVICE_CUDA,
        };
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        filled_text(|text, capacity, needed, error| unsafe {
            sys::mlxrocm_device_why_none(kind, text, capacity, needed, error)
        })
    }

    /// Opens a device: 0 is the CPU, GPUs follow from 1.
    pub fn open(index: usize) -> Result<Device> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        DeviceHandle::make(|out, error| unsafe { sys::mlxrocm_device_open(index, out, error) }).map(Device)
    }

    /// Tells facts about the device.
    pub fn info(&self) -> Result<DeviceInfo> {
        // SAFETY: zero is a value of each field: numbers, and pointers that are null.
        let mut info: sys::mlxrocm_device_info = unsafe { zeroed() };
        info.struct_size = size_of_val(&info) as u32;
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_device_get_info(self.0.get(), &mut info, error) })?;
        Ok(DeviceInfo {
            kind: match info.kind {
                sys::MLXROCM_DEVICE_HIP => DeviceKind::Hip,
                sys::MLXROCM_DEVICE_CUDA => DeviceKind::Cuda,
                _ => DeviceKind::Cpu,
            },
            name: owned(info.name),
            isa: owned(info.isa),
            compute_units: info.compute_units,
            memory_total: info.memory_total,
            memory_free: info.memory_free,
            pci_id: owned(info.pci_id),
            lds_bytes: info.lds_bytes,
            wave_size: info.wave_size,
            max_block_threads: info.max_block_threads,
        })
    }

    /// Reads a GPU's counters.
    pub fn memory(&self) -> Result<DeviceMemory> {
        // SAFETY: zero is a value of each field, which are numbers.
        let mut memory: sys::mlxrocm_device_memory = unsafe { zeroed() };
        memory.struct_size = size_of_val(&memory) as u32;
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_device_get_memory(self.0.get(), &mut memory, error) })?;
        Ok(DeviceMemory {
            active: memory.active,
            peak: memory.peak,
            cache: memory.cache,
            limit: memory.limit,
            total: memory.total,
            free: memory.free,
            pinned_active: memory.pinned_active,
            pinned_cache: memory.pinned_cache,
        })
    }

    /// Sets the most memory of a GPU that this process uses through the library.
    pub fn set_memory_limit(&self, bytes: u64) -> Result<()> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_device_set_memory_limit(self.0.get(), bytes, error) }).map(drop)
    }

    /// Sets the `peak` counter to what is in use now.
    pub fn reset_peak_memory(&self) -> Result<()> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_device_reset_peak_memory(self.0.get(), error) }).map(drop)
    }

    /// Sets when programs run as graphs on a GPU.
    pub fn set_graphs(&self, graphs: Graphs) -> Result<()> {
        let graphs = match graphs {
            Graphs::Auto => sys::MLXROCM_GRAPHS_AUTO,
            Graphs::On => sys::MLXROCM_GRAPHS_ON,
            Graphs::Off => sys::MLXROCM_GRAPHS_OFF,
        };
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_device_set_graphs(self.0.get(), graphs, error) }).map(drop)
    }

    /// Compares the built-in kernels of a GPU with plain forms: [`Status::SelftestFailed`](crate::Status::SelftestFailed)
    /// if it computes wrong results. `report` hears lines of a text to attach to a bug, and says whether to go on: `false`
    /// ends it with [`Status::Cancelled`](crate::Status::Cancelled). Takes from seconds to a minute.
    pub fn selftest(&self, options: SelftestOptions, report: impl FnMut(&str) -> bool) -> Result<()> {
        let mut hears: Hears<'_> = (Box::new(report), None);
        let how = sys::mlxrocm_selftest_options {
            struct_size: size_of::<sys::mlxrocm_selftest_options>() as u32,
            flags: (if options.quick { sys::MLXROCM_SELFTEST_QUICK } else { 0 })
                | (if options.no_measurements { sys::MLXROCM_SELFTEST_NO_MEASUREMENTS } else { 0 }),
            seed: options.seed,
            report: Some(hear),
            user_data: (&raw mut hears).cast(),
            user_data_free: None,
        };
        // SAFETY: live handles, and data that outlives the call.
        let tested = call(|error| unsafe { sys::mlxrocm_device_selftest(self.0.get(), &how, error) });
        match hears.1 {
            Some(panicked) => resume_unwind(panicked),
            None => tested.map(drop),
        }
    }

    /// Gives a GPU's freed memory back to the driver.
    pub fn trim(&self) -> Result<()> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_device_trim(self.0.get(), error) }).map(drop)
    }
}
