//! The control functions of the stand-in, for tests; programs find them by `dlsym`.
//!
//! Kinds of violations in the report:
//!
//! | kind | what was seen |
//! |---|---|
//! | `kernel_fault` | what the execution of a kernel found: bad address, race, uninitialised read, … |
//! | `use_after_free` | freed memory, or a kernel of an unloaded module, in a call or in queued work |
//! | `free_in_flight` | memory freed, or a module unloaded, while queued work uses it |
//! | `bad_free` | freed twice, not an allocation, or by the wrong function |
//! | `unordered_access` | two operations, or two nodes of a graph, touch the same memory, one writes, and nothing orders them |
//! | `copy_out_of_bounds`, `copy_direction`, `overlapping_copy` | wrong ends of a copy or fill |
//! | `uninitialised_product` | a product of the BLAS with bytes that nothing has written |
//! | `uninitialised_copy_to_host` | with `host_reads=1`: bytes that nothing has written |
//! | `guard_damaged` | the host wrote beside a device allocation |
//! | `bad_handle`, `wrong_device` | a destroyed or foreign handle; an object of another device |
//! | `bad_launch`, `code_object` | a launch or an image that is refused |
//! | `graph_arguments` | arguments of a graph's kernel changed or freed after the node was made |
//! | `graph_pageable_copy` | a graph's copy node with an end in pageable memory |
//! | `graph_in_flight` | an executable updated or destroyed while a launch of it is not done |
//! | `child_graph_not_refreshed` | an update that would change a child graph |
//! | `capture` | a call that ends a stream capture |
//! | `call_in_host_function` | a HIP call inside a stream's host function |
//! | `host_wait_without_end` | a host wait that only a reset could end |
//! | `injected_fault` | the `kernel` fault came |
//! | `configuration`, `stand_in_panic` | mistakes of the test, or of the stand-in |

use std::ffi::{CStr, c_char, c_int};
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::allocation::Place;
use super::config::Config;
use super::report::{Report, quote};
use super::runtime::runtime;
use super::state::State;

/// Runs `body` with the text at `text`; 0, or -1 with an entry in the report.
fn with_text(text: *const c_char, body: impl FnOnce(&str) -> Result<(), String>) -> c_int {
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let text = if text.is_null() {
            String::new()
        } else {
            // SAFETY: not null; the caller gives a C string.
            unsafe { CStr::from_ptr(text) }
                .to_string_lossy()
                .into_owned()
        };
        body(&text)
    }));
    match outcome {
        Ok(Ok(())) => 0,
        Ok(Err(message)) => {
            eprintln!("softgpu: {message}");
            runtime().lock().report.violation("configuration", message);
            -1
        }
        Err(_) => -1,
    }
}

/// Throws all devices, objects, faults and counts away and starts with the configuration `text`
/// (see `config.rs`). Returns 0, or -1 for a text that is not understood (then nothing changes).
///
/// # Safety
/// `text` is null or a C string. Memory and handles given before must not be used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softgpu_configure(text: *const c_char) -> c_int {
    with_text(text, |text| runtime().restart(Config::parse(text)?))
}

/// Arms faults (see `faults.rs`). Returns 0, or -1 for a text that is not understood.
///
/// # Safety
/// `text` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softgpu_fault(text: *const c_char) -> c_int {
    with_text(text, |text| runtime().lock().faults.arm(text))
}

/// Starts again with the present configuration: everything is thrown away, hung and lost devices
/// are whole again. Ends host waits with an error.
#[unsafe(no_mangle)]
pub extern "C" fn softgpu_reset() -> c_int {
    with_text(std::ptr::null(), |_| {
        let config = runtime().lock().config.clone();
        runtime().restart(config)
    })
}

/// Clears counts and violations; objects, work and faults stay.
#[unsafe(no_mangle)]
pub extern "C" fn softgpu_clear() -> c_int {
    with_text(std::ptr::null(), |_| {
        runtime().lock().report = Report::default();
        Ok(())
    })
}

/// Writes the report, a JSON object, into a buffer of `capacity` bytes (cut, ended by a NUL) and
/// returns the bytes that the whole text takes with its NUL. A null buffer only measures.
///
/// # Safety
/// `buffer` is null or has `capacity` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softgpu_report(buffer: *mut c_char, capacity: usize) -> usize {
    let text = catch_unwind(AssertUnwindSafe(|| runtime().lock().report_json()))
        .unwrap_or_else(|_| "{}".to_owned());
    if !buffer.is_null() && capacity > 0 {
        let length = text.len().min(capacity - 1);
        // SAFETY: the caller gives `capacity` bytes; length + 1 <= capacity.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), buffer.cast::<u8>(), length);
            buffer.add(length).write(0);
        }
    }
    text.len() + 1
}

impl State {
    /// The whole report.
    fn report_json(&mut self) -> String {
        let mut damaged = Vec::new();
        for device in &self.devices {
            damaged.extend(device.memory.damaged_guards());
        }
        for label in damaged {
            let message = format!("bytes beside {label} were overwritten");
            self.report.violation("guard_damaged", message);
        }
        let mut out = format!("{{\"seed\":{},", self.config.seed);
        self.report.write_json(&mut out);
        let of_device =
            |found: &&super::allocation::Allocation| matches!(found.place, Place::Device(_));
        let device: Vec<_> = self.allocations.live().filter(of_device).collect();
        let host = self
            .allocations
            .live()
            .filter(|found| !of_device(found))
            .count();
        let bytes: u64 = device.iter().map(|found| found.bytes).sum();
        let streams = self
            .streams
            .values()
            .filter(|stream| !stream.null && !stream.destroyed)
            .count();
        let _ = write!(
            out,
            ",\"live\":{{\"device_allocations\":{},\"device_bytes\":{bytes},\"host_allocations\":{host},\"streams\":{streams},\"events\":{},\"modules\":{},\"graphs\":{},\"graph_executables\":{},\"programs\":{},\"blas_handles\":{}}}",
            device.len(),
            self.events.len(),
            self.modules.len(),
            self.graphs.len(),
            self.executables.len(),
            super::hiprtc::program_count(),
            self.blas_handles.len() + self.lt_objects.len(),
        );
        let hung = self
            .streams
            .values()
            .flat_map(|stream| &stream.queue)
            .filter(|operation| operation.hung);
        let _ = write!(
            out,
            ",\"pending\":{},\"hung\":{},\"faults_delivered\":[",
            self.pending.len(),
            hung.count()
        );
        for (index, name) in self.faults.delivered.iter().enumerate() {
            super::report::comma(&mut out, index);
            quote(&mut out, name);
        }
        out.push_str("],\"devices\":[");
        for (index, device) in self.devices.iter().enumerate() {
            super::report::comma(&mut out, index);
            let fault = device.fault.map_or(0, |error| error.0);
            let _ = write!(
                out,
                "{{\"arch\":\"{}\",\"integrated\":{},\"lost\":{},\"fault\":\"{}\"}}",
                device.facts.arch,
                device.integrated,
                device.lost,
                super::error::name(fault)
            );
        }
        out.push_str("]}");
        out
    }
}
