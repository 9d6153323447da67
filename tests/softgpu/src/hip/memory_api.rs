//! Allocating and freeing device memory and pinned host memory.

use std::ffi::{c_uint, c_void};

use super::allocation::{Located, Place, give_pinned, take_pinned};
use super::entry::{hip_functions, write_out};
use super::error::{Error, Outcome};
use super::faults::Site;
use super::runtime::runtime;
use super::state::State;

/// `hipExtMallocWithFlags`: default, fine grained, signal, uncached, contiguous.
const MALLOC_FLAGS: c_uint = 0xF;
/// `hipHostMalloc`: portable, mapped, write combined, uncached, NUMA user, coherent, non-coherent.
const HOST_FLAGS: c_uint = 0xF000_0007;

/// Freed pinned bytes that are kept back before the oldest are released.
const PINNED_QUARANTINE: u64 = 32 << 20;

impl State {
    fn allocate(&mut self, bytes: usize) -> Outcome<u64> {
        let ordinal = self.usable_device()?;
        self.refuse_while_capturing("memory allocation")?;
        if self.faults.strikes(Site::Alloc) {
            return Err(Error::OUT_OF_MEMORY);
        }
        if bytes == 0 {
            return Ok(0);
        }
        let used = self.allocations.device_bytes(ordinal);
        let device = self.device()?;
        if (bytes as u64).next_multiple_of(4096) > device.total.saturating_sub(used) {
            return Err(Error::OUT_OF_MEMORY);
        }
        let label = format!("device {ordinal} allocation of {bytes} bytes");
        let start = device
            .memory
            .allocate(bytes, &label)
            .ok_or(Error::OUT_OF_MEMORY)?;
        self.allocations
            .insert(start, bytes as u64, Place::Device(ordinal));
        Ok(start)
    }

    fn allocate_pinned(&mut self, bytes: usize, flags: c_uint) -> Outcome<u64> {
        self.usable_device()?;
        self.refuse_while_capturing("pinned memory allocation")?;
        if flags & !HOST_FLAGS != 0 {
            return Err(Error::INVALID_VALUE);
        }
        if self.faults.strikes(Site::HostAlloc) {
            return Err(Error::OUT_OF_MEMORY);
        }
        if bytes == 0 {
            return Ok(0);
        }
        let start = take_pinned(bytes).ok_or(Error::OUT_OF_MEMORY)?;
        self.adopt_host(start, bytes, Place::Pinned);
        Ok(start)
    }

    /// Makes host memory known to every device.
    fn adopt_host(&mut self, start: u64, bytes: usize, place: Place) {
        self.allocations.insert(start, bytes as u64, place);
        for device in &self.devices {
            device.memory.import(start, bytes, "pinned host memory");
        }
    }

    /// What an address range is. Freed ranges that the host has given to something else meanwhile
    /// are forgotten.
    pub fn locate(&mut self, address: u64, bytes: u64) -> Located {
        loop {
            let found = match self.allocations.locate(address, bytes) {
                Located::Freed(found) => found,
                other => return other,
            };
            let held = match found.place {
                Place::Device(ordinal) => self.devices.get(ordinal).is_some_and(|device| {
                    device
                        .memory
                        .snapshot()
                        .find(found.start)
                        .is_some_and(|region| region.start() == found.start && region.is_freed())
                }),
                Place::Pinned => self
                    .freed_pinned
                    .iter()
                    .any(|(start, _)| *start == found.start),
                Place::Registered => false,
            };
            if held {
                return Located::Freed(found);
            }
            self.allocations.remove(found.start);
        }
    }

    /// Keeps a freed pinned block back, poisoned, so that late uses are seen; releases the oldest.
    fn quarantine_pinned(&mut self, start: u64, bytes: u64) {
        // SAFETY: the registry held it as a live block of this size, and no work remains.
        unsafe { (start as *mut u8).write_bytes(0xDF, bytes as usize) };
        self.freed_pinned.push_back((start, bytes));
        let mut kept: u64 = self.freed_pinned.iter().map(|(_, bytes)| bytes).sum();
        while kept > PINNED_QUARANTINE {
            let Some((start, bytes)) = self.freed_pinned.pop_front() else {
                break;
            };
            kept -= bytes;
            if self.allocations.at(start).is_none() {
                self.allocations.remove(start);
            }
            // SAFETY: taken by `take_pinned` with this size; it left the quarantine just now.
            unsafe { give_pinned(start, bytes as usize) };
        }
    }

    /// Reports queued work that uses `[start, start + bytes)`.
    fn report_uses_in_flight(&mut self, start: u64, bytes: u64, call: &str) {
        let inside = |address: u64| (start..start + bytes.max(1)).contains(&address);
        let mut found = Vec::new();
        for operation in self.streams.values().flat_map(|stream| &stream.queue) {
            for used in operation.uses.iter().filter(|used| inside(used.address)) {
                found.push(format!(
                    "{call} of {start:#x} ({bytes} bytes) while {} is queued: {}",
                    operation.name(),
                    used.role
                ));
            }
        }
        for message in found {
            self.report.violation("free_in_flight", message);
        }
    }
}

fn allocate(address: *mut *mut c_void, bytes: usize) -> Outcome {
    if address.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    let start = runtime().lock().allocate(bytes)?;
    write_out(address, start as *mut c_void)
}

fn allocate_pinned(address: *mut *mut c_void, bytes: usize, flags: c_uint) -> Outcome {
    if address.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    let start = runtime().lock().allocate_pinned(bytes, flags)?;
    write_out(address, start as *mut c_void)
}

/// Frees memory at `start`, which must be live and at one of `places`. Waits for all queued work
/// first, as HIP does, and reports queued work that uses it.
fn release(start: u64, call: &str, place: fn(Place) -> bool) -> Outcome {
    if start == 0 {
        return Ok(());
    }
    let mut state = runtime().lock();
    state.device()?;
    state.refuse_while_capturing(call)?;
    let Some(found) = state
        .allocations
        .at(start)
        .filter(|found| place(found.place))
        .cloned()
    else {
        let words = match state.allocations.containing(start) {
            Some(found) if found.freed => format!("freed twice: {}", found.describe()),
            Some(found) => format!("not what this call frees: {}", found.describe()),
            None => "not an allocation".to_owned(),
        };
        state
            .report
            .violation("bad_free", format!("{call} of {start:#x}: {words}"));
        return Err(Error::INVALID_VALUE);
    };
    state.report_uses_in_flight(start, found.bytes, call);
    let devices: Vec<usize> = match found.place {
        Place::Device(ordinal) => vec![ordinal],
        Place::Pinned | Place::Registered => (0..state.devices.len()).collect(),
    };
    for ordinal in devices {
        runtime().wait(&mut state, call, |state| {
            let ended = state.check_device(ordinal).is_err() && state.running.is_none();
            (ended || !state.device_busy(ordinal)).then_some(Ok(()))
        })?;
        state.host_saw_device(ordinal);
    }
    match found.place {
        Place::Device(ordinal) => {
            state.allocations.mark_freed(start);
            let freed = state
                .devices
                .get(ordinal)
                .map(|device| device.memory.free(start));
            if let Some(Err(message)) = freed {
                state.report.violation("bad_free", message);
            }
            // A lost device still lets go of its memory, but says that it is lost.
            state.check_device(ordinal)
        }
        Place::Pinned | Place::Registered => {
            for device in &state.devices {
                device.memory.forget(start);
            }
            if found.place == Place::Pinned {
                state.allocations.mark_freed(start);
                state.quarantine_pinned(start, found.bytes);
            } else {
                state.allocations.remove(start);
            }
            Ok(())
        }
    }
}

hip_functions! {
    /// Allocates device memory.
    fn hipMalloc(address: *mut *mut c_void, bytes: usize) {
        allocate(address, bytes)
    }

    /// Allocates device memory with flags.
    fn hipExtMallocWithFlags(address: *mut *mut c_void, bytes: usize, flags: c_uint) {
        if flags & !MALLOC_FLAGS != 0 {
            return Err(Error::INVALID_VALUE);
        }
        allocate(address, bytes)
    }

    /// Frees device memory after all work of its device.
    fn hipFree(address: *mut c_void) {
        release(address as u64, "hipFree", |place| matches!(place, Place::Device(_)))
    }

    /// Allocates pinned host memory, which every device can address.
    fn hipHostMalloc(address: *mut *mut c_void, bytes: usize, flags: c_uint) {
        allocate_pinned(address, bytes, flags)
    }

    /// Frees pinned host memory.
    fn hipHostFree(address: *mut c_void) {
        release(address as u64, "hipHostFree", |place| place == Place::Pinned)
    }

    /// Pins host memory of the program.
    fn hipHostRegister(address: *mut c_void, bytes: usize, _flags: c_uint) {
        if address.is_null() || bytes == 0 {
            return Err(Error::INVALID_VALUE);
        }
        let mut state = runtime().lock();
        state.usable_device()?;
        let start = address as u64;
        let overlaps = state.allocations.live().any(|found| {
            found.start < start + bytes as u64 && start < found.start + found.bytes
        });
        if overlaps {
            return Err(Error::HOST_MEMORY_ALREADY_REGISTERED);
        }
        if state.faults.strikes(Site::HostAlloc) {
            return Err(Error::OUT_OF_MEMORY);
        }
        state.adopt_host(start, bytes, Place::Registered);
        Ok(())
    }

    /// Takes back `hipHostRegister`.
    fn hipHostUnregister(address: *mut c_void) {
        let known = runtime().lock().allocations.at(address as u64).is_some();
        if !known {
            return Err(Error::HOST_MEMORY_NOT_REGISTERED);
        }
        release(address as u64, "hipHostUnregister", |place| place == Place::Registered)
    }

    /// Device address of pinned memory: the same address.
    fn hipHostGetDevicePointer(device: *mut *mut c_void, host: *mut c_void, flags: c_uint) {
        let mut state = runtime().lock();
        state.device()?;
        if flags != 0 {
            return Err(Error::INVALID_VALUE);
        }
        let known = state
            .allocations
            .containing(host as u64)
            .is_some_and(|found| !found.freed && !matches!(found.place, Place::Device(_)));
        drop(state);
        if !known {
            return Err(Error::INVALID_VALUE);
        }
        write_out(device, host)
    }

    /// Start and size of the device allocation that contains an address.
    fn hipMemGetAddressRange(start: *mut *mut c_void, bytes: *mut usize, address: *mut c_void) {
        let mut state = runtime().lock();
        state.device()?;
        let found = state.allocations.containing(address as u64).filter(|found| !found.freed).cloned();
        drop(state);
        let found = found.ok_or(Error::INVALID_DEVICE_POINTER)?;
        if !start.is_null() {
            write_out(start, found.start as *mut c_void)?;
        }
        if bytes.is_null() { Ok(()) } else { write_out(bytes, found.bytes as usize) }
    }
}
