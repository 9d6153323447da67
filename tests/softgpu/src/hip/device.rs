//! Devices: the modelled chips, the thread's current one, names and memory totals.

use std::ffi::{c_char, c_int, c_uint};
use std::sync::Arc;

use super::allocation::Place;
use super::config::Config;
use super::entry::{current_device, hip_functions, last_error, set_current_device, write_out};
use super::error::{Error, Outcome, name_pointer, text_pointer};
use super::facts::{ChipFacts, chip_facts};
use super::runtime::runtime;
use super::state::State;
use super::stream::Stream;
use crate::memory::Memory;

/// One modelled device.
pub struct Device {
    /// What the chip is.
    pub facts: &'static ChipFacts,
    /// Compute units, as the chip's data sheet counts them.
    pub compute_units: i32,
    /// Host and device share one memory.
    pub integrated: bool,
    /// Bytes of device memory.
    pub total: u64,
    /// What its kernels may touch.
    pub memory: Arc<Memory>,
    /// Handle of its null stream.
    pub null_stream: u64,
    /// A kernel fault that a wait has not yet returned, or that stays.
    pub fault: Option<Error>,
    /// The device is gone.
    pub lost: bool,
}

impl Device {
    /// Device `ordinal` of a configuration.
    ///
    /// # Errors
    /// The name of a chip that is not modelled.
    pub fn new(config: &Config, ordinal: usize, null_stream: u64) -> Result<Device, String> {
        let name = config.devices.get(ordinal).map_or("", String::as_str);
        let facts = chip_facts(name).ok_or_else(|| format!("device '{name}' is not modelled"))?;
        Ok(Device {
            facts,
            compute_units: match config.compute_units {
                0 => facts.compute_units,
                units => units,
            },
            integrated: config.is_integrated(ordinal).unwrap_or(facts.integrated),
            total: config.memory_bytes(ordinal),
            memory: Arc::new(Memory::new()),
            null_stream,
            fault: None,
            lost: false,
        })
    }
}

impl State {
    /// The device with this ordinal.
    ///
    /// # Errors
    /// `hipErrorInvalidDevice`, or the configured code when there are no devices.
    pub fn device_at(&self, ordinal: c_int) -> Outcome<&Device> {
        if self.devices.is_empty() {
            return Err(Error(self.config.absent));
        }
        usize::try_from(ordinal)
            .ok()
            .and_then(|index| self.devices.get(index))
            .ok_or(Error::INVALID_DEVICE)
    }

    /// Frees everything that belongs to a device and clears its fault; a lost one stays lost.
    fn reset_device(&mut self, ordinal: usize) {
        self.discard_work(ordinal);
        let null_stream = self.devices.get(ordinal).map(|device| device.null_stream);
        self.streams
            .retain(|handle, stream| stream.device != ordinal || Some(*handle) == null_stream);
        self.events.retain(|_, event| event.device != ordinal);
        let modules: Vec<u64> = self
            .modules
            .iter()
            .filter(|(_, module)| module.device == ordinal)
            .map(|(handle, _)| *handle)
            .collect();
        self.modules.retain(|_, module| module.device != ordinal);
        self.functions
            .retain(|_, function| !modules.contains(&function.module));
        let memory: Vec<u64> = self
            .allocations
            .live()
            .filter(|found| found.place == Place::Device(ordinal))
            .map(|found| found.start)
            .collect();
        for start in memory {
            self.allocations.mark_freed(start);
            if let Some(device) = self.devices.get(ordinal) {
                // The registry has just said that the allocation is live.
                let _ = device.memory.free(start);
            }
        }
        if let Some(device) = self.devices.get_mut(ordinal) {
            device.fault = None;
        }
        if let Some(null) = null_stream {
            self.streams.insert(null, Stream::null_of(ordinal));
        }
    }
}

/// Copies text into a C buffer of `capacity` bytes, cut and ended by a NUL.
///
/// # Errors
/// [`Error::INVALID_VALUE`] for a null or empty buffer.
fn write_text(buffer: *mut c_char, capacity: usize, text: &str) -> Outcome {
    if buffer.is_null() || capacity == 0 {
        return Err(Error::INVALID_VALUE);
    }
    let length = text.len().min(capacity - 1);
    // SAFETY: the HIP contract gives `capacity` bytes at `buffer`; length + 1 <= capacity.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), buffer.cast::<u8>(), length);
        buffer.add(length).write(0);
    }
    Ok(())
}

/// PCI address of a device: bus number, from the ordinal.
pub fn pci_bus(ordinal: usize) -> i32 {
    3 + 4 * ordinal as i32
}

hip_functions! {
    /// Starts the runtime.
    fn hipInit(flags: c_uint) {
        if flags != 0 {
            return Err(Error::INVALID_VALUE);
        }
        let state = runtime().lock();
        if state.devices.is_empty() { Err(Error(state.config.absent)) } else { Ok(()) }
    }

    /// Version of the driver.
    fn hipDriverGetVersion(version: *mut c_int) {
        let value = runtime().lock().config.version;
        write_out(version, value)
    }

    /// Version of the runtime.
    fn hipRuntimeGetVersion(version: *mut c_int) {
        let value = runtime().lock().config.version;
        write_out(version, value)
    }

    /// Number of devices; `hipErrorNoDevice` and 0 when there are none.
    fn hipGetDeviceCount(count: *mut c_int) {
        let devices = runtime().lock().devices.len();
        write_out(count, devices as c_int)?;
        if devices == 0 { Err(Error::NO_DEVICE) } else { Ok(()) }
    }

    /// Sets the thread's device.
    fn hipSetDevice(ordinal: c_int) {
        runtime().lock().device_at(ordinal)?;
        set_current_device(ordinal as usize);
        Ok(())
    }

    /// The thread's device.
    fn hipGetDevice(ordinal: *mut c_int) {
        runtime().lock().device()?;
        write_out(ordinal, current_device() as c_int)
    }

    /// A device handle, which is its ordinal.
    fn hipDeviceGet(device: *mut c_int, ordinal: c_int) {
        runtime().lock().device_at(ordinal)?;
        write_out(device, ordinal)
    }

    /// Marketing name.
    fn hipDeviceGetName(buffer: *mut c_char, capacity: c_int, ordinal: c_int) {
        let name = runtime().lock().device_at(ordinal)?.facts.name;
        write_text(buffer, usize::try_from(capacity).unwrap_or(0), name)
    }

    /// PCI address as text, `0000:03:00.0`.
    fn hipDeviceGetPCIBusId(buffer: *mut c_char, capacity: c_int, ordinal: c_int) {
        runtime().lock().device_at(ordinal)?;
        let text = format!("0000:{:02x}:00.0", pci_bus(ordinal as usize));
        write_text(buffer, usize::try_from(capacity).unwrap_or(0), &text)
    }

    /// Bytes of device memory.
    fn hipDeviceTotalMem(bytes: *mut usize, ordinal: c_int) {
        let total = runtime().lock().device_at(ordinal)?.total;
        write_out(bytes, total as usize)
    }

    /// Free and total bytes of the thread's device.
    fn hipMemGetInfo(free: *mut usize, total: *mut usize) {
        let mut state = runtime().lock();
        let bytes = state.device()?.total;
        let used = state.allocations.device_bytes(current_device());
        drop(state);
        write_out(free, bytes.saturating_sub(used) as usize)?;
        write_out(total, bytes as usize)
    }

    /// Waits for all work of the thread's device.
    fn hipDeviceSynchronize() {
        let mut state = runtime().lock();
        state.device()?;
        let ordinal = current_device();
        state.refuse_while_capturing("hipDeviceSynchronize")?;
        runtime().wait(&mut state, "hipDeviceSynchronize", |state| {
            let ended = state.check_device(ordinal).is_err() || !state.device_busy(ordinal);
            ended.then(|| state.take_fault(ordinal))
        })?;
        state.host_saw_device(ordinal);
        Ok(())
    }

    /// Destroys everything that belongs to the thread's device and clears its fault.
    fn hipDeviceReset() {
        let mut state = runtime().lock();
        state.device()?;
        let ordinal = current_device();
        state.discard_work(ordinal);
        runtime().stop.store(true, std::sync::atomic::Ordering::Relaxed);
        let ended = runtime().wait(&mut state, "hipDeviceReset", |state| {
            (!state.device_busy(ordinal)).then_some(Ok(()))
        });
        runtime().stop.store(false, std::sync::atomic::Ordering::Relaxed);
        ended?;
        state.reset_device(ordinal);
        if state.device()?.lost { Err(Error::CONTEXT_IS_DESTROYED) } else { Ok(()) }
    }

    /// Scheduling flags of the device; they change nothing here.
    fn hipSetDeviceFlags(_flags: c_uint) {
        runtime().lock().device()?;
        Ok(())
    }

    /// Whether two devices can read each other's memory: never, here.
    fn hipDeviceCanAccessPeer(answer: *mut c_int, ordinal: c_int, peer: c_int) {
        let state = runtime().lock();
        state.device_at(ordinal)?;
        state.device_at(peer)?;
        drop(state);
        write_out(answer, 0)
    }

    /// Fails, as `hipDeviceCanAccessPeer` said.
    fn hipDeviceEnablePeerAccess(peer: c_int, _flags: c_uint) {
        runtime().lock().device_at(peer)?;
        Err(Error::PEER_ACCESS_UNSUPPORTED)
    }
}

/// Name of an error code, static.
#[unsafe(no_mangle)]
pub extern "C" fn hipGetErrorName(code: c_int) -> *const c_char {
    name_pointer(code)
}

/// Description of an error code, static.
#[unsafe(no_mangle)]
pub extern "C" fn hipGetErrorString(code: c_int) -> *const c_char {
    text_pointer(code)
}

/// The thread's last error, which is cleared.
#[unsafe(no_mangle)]
pub extern "C" fn hipGetLastError() -> c_int {
    last_error(true)
}

/// The thread's last error, which stays.
#[unsafe(no_mangle)]
pub extern "C" fn hipPeekAtLastError() -> c_int {
    last_error(false)
}
