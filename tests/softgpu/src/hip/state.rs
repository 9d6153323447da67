//! All objects of the runtime, and the operations that are enqueued.

use super::allocation::Allocations;
use super::capture::Capture;
use super::config::Config;
use super::device::Device;
use super::entry::current_device;
use super::error::{Error, Outcome};
use super::event::Event;
use super::faults::{Faults, Site};
use super::graph::Graph;
use super::graph_exec::Executable;
use super::handles::{HANDLE_BASE, HandleKind};
use super::module::{Function, Module};
use super::operation::{Operation, OperationId, Use, What};
use super::order::{Accesses, Clock};
use super::random::Random;
use super::report::Report;
use super::rocblas::BlasHandle;
use super::runtime::runtime;
use super::stream::Stream;
use crate::memory::Memory;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

/// An operation, and what comes before its successor: it and all before it.
pub type Done = (OperationId, Arc<Clock>);

/// All objects of the runtime.
pub struct State {
    /// The configuration in force.
    pub config: Config,
    /// The devices, by ordinal.
    pub devices: Vec<Device>,
    /// Device and pinned memory.
    pub allocations: Allocations,
    /// Freed pinned blocks that are kept back, oldest first: start and bytes.
    pub freed_pinned: VecDeque<(u64, u64)>,
    /// Streams by handle, the devices' null streams among them.
    pub streams: BTreeMap<u64, Stream>,
    /// Events by handle.
    pub events: BTreeMap<u64, Event>,
    /// Modules by handle.
    pub modules: BTreeMap<u64, Module>,
    /// Functions by handle.
    pub functions: BTreeMap<u64, Function>,
    /// Graphs by handle.
    pub graphs: BTreeMap<u64, Graph>,
    /// Executable graphs by handle.
    pub executables: BTreeMap<u64, Executable>,
    /// Handles of the BLAS.
    pub blas_handles: BTreeMap<u64, BlasHandle>,
    pub lt_objects: BTreeMap<u64, super::hipblaslt::Object>,
    /// Stream captures under way, by number.
    pub captures: BTreeMap<u64, Capture>,
    /// Operations that are not done: the stream of each.
    pub pending: HashMap<OperationId, u64>,
    /// The operation being executed.
    pub running: Option<OperationId>,
    /// What the host has waited for.
    pub host_clock: Clock,
    /// What was touched, for the order check.
    pub accesses: Accesses,
    /// Source of every random choice.
    pub random: Random,
    /// Injected faults.
    pub faults: Faults,
    /// What was seen.
    pub report: Report,
    /// When something was enqueued last.
    pub last_enqueue: Instant,
    /// One operation may run although nobody waits (a query found work pending).
    pub nudged: bool,
    /// Counts resets; waits begun before one end with an error.
    pub generation: u64,
    pub(super) next: u64,
    pub(super) scheduler_started: bool,
}

impl State {
    /// A fresh runtime.
    ///
    /// # Errors
    /// The name of a device that is not modelled.
    pub fn new(config: Config) -> Result<State, String> {
        let mut state = State::empty(config);
        for ordinal in 0..state.config.devices.len() {
            let handle = state.new_handle(HandleKind::Stream);
            let device = Device::new(&state.config, ordinal, handle)?;
            state.streams.insert(handle, Stream::null_of(ordinal));
            state.devices.push(device);
        }
        Ok(state)
    }

    pub(super) fn empty(config: Config) -> State {
        State {
            random: Random::new(config.seed),
            config,
            devices: Vec::new(),
            allocations: Allocations::default(),
            freed_pinned: VecDeque::new(),
            streams: BTreeMap::new(),
            events: BTreeMap::new(),
            modules: BTreeMap::new(),
            functions: BTreeMap::new(),
            graphs: BTreeMap::new(),
            executables: BTreeMap::new(),
            blas_handles: BTreeMap::new(),
            lt_objects: BTreeMap::new(),
            captures: BTreeMap::new(),
            pending: HashMap::new(),
            running: None,
            host_clock: Clock::default(),
            accesses: Accesses::default(),
            faults: Faults::default(),
            report: Report::default(),
            last_enqueue: Instant::now(),
            nudged: false,
            generation: 0,
            next: 1,
            scheduler_started: false,
        }
    }

    /// A number that was never given before.
    pub fn new_number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// A handle that was never given before.
    pub fn new_handle(&mut self, kind: HandleKind) -> u64 {
        HANDLE_BASE | (kind as u64) << 40 | self.new_number() << 4
    }

    /// The error for a handle that names no live object, with an entry in the report.
    pub fn bad_handle(&mut self, kind: HandleKind, handle: u64) -> Error {
        let ours = handle & !((1 << 40) - 1) == HANDLE_BASE | (kind as u64) << 40;
        let words = if ours { "is destroyed" } else { "is not one" };
        self.report.violation(
            "bad_handle",
            format!("{kind:?} handle {handle:#x} was used but {words}"),
        );
        Error::INVALID_HANDLE
    }

    /// The calling thread's device.
    ///
    /// # Errors
    /// The configured code when there are no devices.
    pub fn device(&mut self) -> Outcome<&mut Device> {
        let absent = Error(self.config.absent);
        self.devices.get_mut(current_device()).ok_or(absent)
    }

    /// The calling thread's device ordinal, when work may be given to that device.
    ///
    /// # Errors
    /// No device, device lost, or an earlier kernel fault.
    pub fn usable_device(&mut self) -> Outcome<usize> {
        self.device()?;
        let ordinal = current_device();
        self.check_device(ordinal)?;
        Ok(ordinal)
    }

    /// Whether work may be given to a device.
    ///
    /// # Errors
    /// Device lost, or an earlier kernel fault that stays.
    pub fn check_device(&self, ordinal: usize) -> Outcome {
        match self.devices.get(ordinal) {
            None => Err(Error::INVALID_DEVICE),
            Some(device) if device.lost => Err(Error::CONTEXT_IS_DESTROYED),
            Some(Device {
                fault: Some(error), ..
            }) if self.config.sticky => Err(*error),
            Some(_) => Ok(()),
        }
    }

    /// What a wait on a device's work says: a fault found since the last one.
    ///
    /// # Errors
    /// Device lost, or a kernel fault (taken, unless faults stay).
    pub fn take_fault(&mut self, ordinal: usize) -> Outcome {
        self.check_device(ordinal)?;
        match self
            .devices
            .get_mut(ordinal)
            .and_then(|device| device.fault.take())
        {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// The device memory of every device, by ordinal.
    pub fn memories(&self) -> Vec<Arc<Memory>> {
        self.devices
            .iter()
            .map(|device| device.memory.clone())
            .collect()
    }

    /// Puts an operation at the end of a stream's queue.
    ///
    /// # Errors
    /// Device lost or faulted, launch failures injected here.
    pub fn enqueue(&mut self, stream: u64, what: What, after: Option<Done>) -> Outcome<Done> {
        let Some(ordinal) = self.streams.get(&stream).map(|found| found.device) else {
            return Err(self.bad_handle(HandleKind::Stream, stream));
        };
        self.check_device(ordinal)?;
        let launch = matches!(&what, What::Graph(_))
            || matches!(&what, What::Work(work) if work.kind() == "kernels");
        if matches!(what, What::Work(_) | What::Graph(_)) && self.faults.strikes(Site::Lost) {
            self.lose_device(ordinal);
            return Err(Error::CONTEXT_IS_DESTROYED);
        }
        let hung = launch && self.faults.strikes(Site::Hang);
        let mut clock = self.host_clock.clone();
        let mut wanted = Vec::new();
        for other in self.null_stream_order(stream, ordinal) {
            if let Some(found) = self.streams.get(&other) {
                clock.join(&found.clock);
                wanted.extend(found.last);
            }
        }
        if let Some((id, theirs)) = after {
            clock.join(&theirs);
            wanted.push(id);
        }
        wanted.retain(|id| self.pending.contains_key(id));
        let uses: Vec<Use> = match &what {
            What::Work(work) => work.uses(),
            What::Graph(run) => run.steps.iter().flat_map(|work| work.uses()).collect(),
            What::Record(_) | What::Wait | What::Host(_) => Vec::new(),
        };
        let id = self.new_number();
        let enqueued = Instant::now();
        if let Some(found) = self.streams.get_mut(&stream) {
            clock.join(&found.clock);
            found.last = Some(id);
            found.queue.push_back(Operation {
                id,
                after: wanted,
                what,
                uses,
                clock: Arc::new(clock.clone()),
                hung,
                enqueued,
            });
            clock.see(stream, id);
            found.clock = clock.clone();
        }
        self.pending.insert(id, stream);
        self.last_enqueue = enqueued;
        if !self.scheduler_started {
            self.scheduler_started = true;
            super::scheduler::start();
        }
        runtime().wake.notify_all();
        Ok((id, Arc::new(clock)))
    }

    /// HIP's legacy null stream: its work comes after all earlier work of the device's blocking
    /// streams, and their later work comes after it.
    fn null_stream_order(&self, stream: u64, ordinal: usize) -> Vec<u64> {
        let Some(device) = self.devices.get(ordinal) else {
            return Vec::new();
        };
        if stream == device.null_stream {
            let blocking = self
                .streams
                .iter()
                .filter(|(_, found)| found.device == ordinal && found.blocking);
            blocking.map(|(handle, _)| *handle).collect()
        } else if self
            .streams
            .get(&stream)
            .is_some_and(|found| found.blocking)
        {
            vec![device.null_stream]
        } else {
            Vec::new()
        }
    }

    /// The host waited for everything that comes before `clock`.
    pub fn host_saw(&mut self, clock: &Clock) {
        self.host_clock.join(clock);
    }

    /// The host waited for everything that is in a stream now.
    pub fn host_saw_stream(&mut self, stream: u64) {
        if let Some(found) = self.streams.get(&stream) {
            self.host_clock.join(&found.clock);
        }
    }

    /// The host waited for everything that is in a device's streams now.
    pub fn host_saw_device(&mut self, ordinal: usize) {
        for found in self
            .streams
            .values()
            .filter(|found| found.device == ordinal)
        {
            self.host_clock.join(&found.clock);
        }
    }

    /// Whether anything of `ordinal` is not done.
    pub fn device_busy(&self, ordinal: usize) -> bool {
        self.streams
            .values()
            .any(|stream| stream.device == ordinal && !stream.queue.is_empty())
    }

    /// Drops all queued work of a device; waits for it end. The running operation stays.
    pub fn discard_work(&mut self, ordinal: usize) {
        let running = self.running;
        let mut gone = Vec::new();
        for stream in self
            .streams
            .values_mut()
            .filter(|stream| stream.device == ordinal)
        {
            stream.queue.retain(|operation| {
                let keep = Some(operation.id) == running;
                if !keep {
                    let executable = match &operation.what {
                        What::Graph(run) => Some(run.executable),
                        _ => None,
                    };
                    gone.push((operation.id, executable));
                }
                keep
            });
        }
        for (id, executable) in gone {
            self.pending.remove(&id);
            if let Some(found) = executable.and_then(|handle| self.executables.get_mut(&handle)) {
                found.in_flight = found.in_flight.saturating_sub(1);
            }
        }
        runtime().done.notify_all();
    }

    /// The device is gone: its work is dropped and every later call on it fails.
    pub fn lose_device(&mut self, ordinal: usize) {
        if let Some(device) = self.devices.get_mut(ordinal) {
            device.lost = true;
        }
        self.discard_work(ordinal);
    }
}
