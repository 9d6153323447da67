//! Executing one piece of work, with no lock held.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::entry::as_host_function;
use super::error::Error;
use super::host_read;
use super::operation::{CopyCall, FillCall, HostCall, KernelCall, Source, Work};
use super::order;
use super::rocblas;
use super::runtime::runtime;
use crate::isa::{self, Checks, Footprint, Launch};
use crate::memory::Memory;

/// What a task does.
pub enum TaskKind {
    /// Device work.
    Work(Arc<Work>),
    /// A host function.
    Host(HostCall),
    /// Nothing (an event record, a wait).
    Nothing,
}

/// Everything that executing needs.
pub struct Task {
    /// What it does.
    pub kind: TaskKind,
    /// For messages.
    pub name: String,
    /// Memory of the stream's device.
    pub memory: Option<Arc<Memory>>,
    /// Memory of all devices.
    pub memories: Vec<Arc<Memory>>,
    /// Wave order; 0 is the natural one.
    pub seed: u64,
    /// Processor threads; 0: all.
    pub threads: usize,
    /// Checks while a kernel runs.
    pub checks: Checks,
    /// Report copies of uninitialised memory to the host.
    pub host_reads: bool,
    /// End in an illegal address (an injected fault).
    pub injected: bool,
    /// Corrupt one byte that is written (an injected fault).
    pub corrupt: bool,
    /// Extra time (an injected fault).
    pub slow: Duration,
    /// Which waits and fences of the kernel to leave out in turn.
    pub mutate: Option<(usize, usize)>,
}

/// What executing gave.
#[derive(Default)]
pub struct Outcome {
    /// The device fault that it ended in.
    pub failure: Option<Error>,
    /// Findings: kind and message.
    pub violations: Vec<(&'static str, String)>,
    /// Counters of a kernel.
    pub counters: Option<isa::Report>,
    /// What came of leaving out waits and fences.
    pub mutants: Vec<isa::Mutant>,
}

impl Task {
    /// A task that does nothing yet.
    pub fn new(name: String) -> Task {
        Task {
            kind: TaskKind::Nothing,
            name,
            memory: None,
            memories: Vec::new(),
            seed: 0,
            threads: 0,
            checks: Checks::default(),
            host_reads: false,
            injected: false,
            corrupt: false,
            slow: Duration::ZERO,
            mutate: None,
        }
    }

    /// The kind under which the report counts it.
    pub fn count_as(&self) -> &'static str {
        match &self.kind {
            TaskKind::Work(work) => work.kind(),
            TaskKind::Host(_) => "host_functions",
            TaskKind::Nothing => "marks",
        }
    }

    /// The memory that it touched, as far as `known` knows the addresses.
    pub fn touched(
        &self,
        counters: Option<isa::Report>,
        known: impl FnMut(u64) -> bool,
    ) -> Footprint {
        let mut footprint = match (&self.kind, counters) {
            (_, Some(counters)) => counters.touched,
            (TaskKind::Work(work), None) => order::footprint(work),
            _ => Footprint::default(),
        };
        footprint.retain(known);
        footprint
    }

    /// Does it.
    pub fn run(&self) -> Outcome {
        if !self.slow.is_zero() {
            std::thread::sleep(self.slow);
        }
        let work = match &self.kind {
            TaskKind::Work(work) => work,
            TaskKind::Host(call) => {
                // SAFETY: HIP's contract for host functions: callable from a runtime thread.
                as_host_function(|| unsafe { (call.function)(call.user_data) });
                return Outcome::default();
            }
            TaskKind::Nothing => return Outcome::default(),
        };
        if self.injected {
            return failed(Error::ILLEGAL_ADDRESS, "injected_fault", self.name.clone());
        }
        let outcome = match work.as_ref() {
            Work::Kernel(call) => self.kernel(call),
            Work::Copy(call) => self.copy(call),
            Work::Fill(call) => self.fill(*call),
            Work::Product(call) if call.fails => {
                return failed(Error::ILLEGAL_ADDRESS, "injected_fault", self.name.clone());
            }
            Work::Product(call) => match &self.memory {
                Some(memory) => rocblas::multiply(call, memory),
                None => Outcome::default(),
            },
            Work::Empty => Outcome::default(),
        };
        if self.corrupt && outcome.failure.is_none() {
            self.corrupt_result(work, &outcome);
        }
        outcome
    }

    fn kernel(&self, call: &KernelCall) -> Outcome {
        let Some(memory) = &self.memory else {
            return Outcome::default();
        };
        let all = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let launch = Launch {
            kernel: &call.kernel,
            grid_blocks: call.grid,
            block: call.block,
            dynamic_lds: call.dynamic_lds,
            kernarg: &call.kernarg,
            memory,
            seed: self.seed,
            threads: if self.threads == 0 {
                all()
            } else {
                self.threads
            },
            checks: self.checks,
            stop: Some(&runtime().stop),
            without: None,
        };
        let result = match self.mutate {
            None => isa::execute(&launch).map(|report| (report, Vec::new())),
            Some((first, of)) => {
                let kernel = &call.kernel.name;
                let known = |pc, text: &str| runtime().lock().report.mutant_found(kernel, pc, text);
                let known = &known;
                isa::mutants(&launch, &isa::Part { first, of, known })
            }
        };
        match result {
            Ok((counters, mutants)) => Outcome {
                counters: Some(counters),
                mutants,
                ..Outcome::default()
            },
            Err(_) if runtime().stop.load(Ordering::Relaxed) => Outcome::default(),
            Err(fault) => failed(
                fault_code(&fault.message),
                "kernel_fault",
                fault.to_string(),
            ),
        }
    }

    /// The device memory that has `address`, or none for host memory.
    fn memory_of(&self, address: u64) -> Option<&Arc<Memory>> {
        // Pinned memory is imported into every device's memory and always initialised.
        self.memories
            .iter()
            .find(|memory| memory.find(address).is_some())
    }

    fn copy(&self, call: &CopyCall) -> Outcome {
        let bytes = call.bytes as usize;
        if bytes == 0 {
            return Outcome::default();
        }
        let mut outcome = Outcome::default();
        let to = self.memory_of(call.to);
        match &call.from {
            Source::Staged(data) => {
                let length = bytes.min(data.len());
                // SAFETY: the destination was checked against the live allocations when the task
                // began, and freeing waits for the work that uses them.
                unsafe {
                    std::ptr::copy_nonoverlapping(data.as_ptr(), call.to as *mut u8, length);
                }
                if let Some(memory) = to {
                    memory.mark_initialised(call.to, length);
                }
            }
            Source::Address(address) => {
                let from = self.memory_of(*address);
                let overlap = *address < call.to + call.bytes && call.to < *address + call.bytes;
                if overlap {
                    let message = format!("{}: source and destination overlap", self.name);
                    outcome.violations.push(("overlapping_copy", message));
                }
                if from.is_none() && !readable(*address, bytes) {
                    let message = format!("{}: the host memory at {address:#x} is gone", self.name);
                    return failed(Error::ILLEGAL_ADDRESS, "use_after_free", message);
                }
                // SAFETY: both ranges are live allocations (checked when the task began) or host
                // memory that has just been read; `copy` allows overlap.
                unsafe { std::ptr::copy(*address as *const u8, call.to as *mut u8, bytes) };
                match (from, to) {
                    (Some(from), Some(to)) if Arc::ptr_eq(from, to) => {
                        to.copy_initialised(call.to, *address, bytes);
                    }
                    (_, Some(to)) => to.mark_initialised(call.to, bytes),
                    (Some(from), None)
                        if self.host_reads && !from.check_initialised(*address, bytes) =>
                    {
                        let message = format!("{}: not all of it was written before", self.name);
                        outcome
                            .violations
                            .push(("uninitialised_copy_to_host", message));
                    }
                    _ => {}
                }
            }
        }
        outcome
    }

    fn fill(&self, call: FillCall) -> Outcome {
        let element = call.element.clamp(1, 4) as usize;
        let value = call.value.to_le_bytes();
        for index in 0..call.count {
            let place = (call.to + index * call.element) as *mut u8;
            // SAFETY: the whole range was checked against the live allocations when the task began.
            unsafe { std::ptr::copy_nonoverlapping(value.as_ptr(), place, element) };
        }
        if let Some(memory) = self.memory_of(call.to) {
            memory.mark_initialised(call.to, (call.count * call.element) as usize);
        }
        Outcome::default()
    }

    /// Flips one bit of what the work wrote: the `graph_wrong` and `wrong` faults.
    fn corrupt_result(&self, work: &Work, outcome: &Outcome) {
        let address = match work {
            Work::Kernel(_) => outcome
                .counters
                .as_ref()
                .map_or(0, |counters| counters.last_store),
            Work::Copy(call) if call.bytes > 0 => call.to,
            Work::Fill(call) if call.count > 0 => call.to,
            Work::Product(call) => call.c,
            Work::Copy(_) | Work::Fill(_) | Work::Empty => 0,
        };
        if address != 0 {
            // SAFETY: the byte lies in a live allocation that this work has just written.
            unsafe { *(address as *mut u8) ^= 1 };
        }
    }
}

/// The code for a kernel fault: bad addresses are told apart from everything else.
fn fault_code(message: &str) -> Error {
    let others = [
        "not implemented",
        "race",
        "missing wait",
        "uninitialised",
        "divergent",
        "instructions",
        "stopped",
    ];
    if others.iter().any(|word| message.contains(word)) {
        Error::LAUNCH_FAILURE
    } else {
        Error::ILLEGAL_ADDRESS
    }
}

fn readable(address: u64, bytes: usize) -> bool {
    let mut scratch = [0; 4096];
    (0..bytes).step_by(scratch.len()).all(|offset| {
        let length = scratch.len().min(bytes - offset);
        host_read::read(address + offset as u64, &mut scratch[..length])
    })
}

fn failed(error: Error, kind: &'static str, message: String) -> Outcome {
    Outcome {
        failure: Some(error),
        violations: vec![(kind, message)],
        ..Outcome::default()
    }
}
