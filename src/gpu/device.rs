//! Devices.

mod memory;
mod waits;

use super::allocator::{Policy, Pool, Source};
use super::blas::BlasState;
use super::buffer::DeviceBuffer;
use super::encoder::Encoder;
use super::event::Event;
use super::graveyard::Graveyard;
use super::kernels::Registry;
use super::module::{BuiltIns, Kernel};
use super::policy::{Policy as ExpertPolicy, PolicyCell};
use super::probation::Graphs;
use super::program::Program;
use super::selftest::Health;
use super::stream::{Stream, StreamCore};
use super::upload::Uploader;
use super::uses::{Mark, Marks};
use crate::driver::{self, Api, Code, Context, DeviceFacts, EventHandle, Platform};
use crate::{Error, Result, log};
use memory::{DeviceSource, PinnedSource};
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

/// What was found on this machine.
#[derive(Debug, Clone)]
pub struct Devices {
    /// The devices; a device's place here is its ordinal.
    pub found: Vec<DeviceFacts>,
    /// Why a platform has none.
    pub missing: Vec<(Platform, Error)>,
}

/// An open device. Internally locked: any thread.
pub struct Device {
    pub(super) api: &'static Api,
    pub(super) context: Context,
    facts: DeviceFacts,
    policy: Policy,
    memory: Mutex<Pool>,
    pinned: Mutex<Pool>,
    streams: RwLock<HashMap<u64, Arc<StreamCore>>>,
    next_stream: AtomicU64,
    /// Events without timing that are not in use.
    events: Mutex<Vec<EventHandle>>,
    /// Set once, when the device stops working.
    lost: OnceLock<String>,
    /// Milliseconds that a step of a model may take.
    step_patience: AtomicU64,
    pub(super) graveyard: Graveyard,
    registry: Registry,
    pub(super) built_ins: BuiltIns,
    pub(super) graphs: Graphs,
    /// Whether the CPU computes experts in host memory.
    host_experts: PolicyCell,
    pub(super) blas: BlasState,
    /// What the short self-test found.
    pub(super) health: Mutex<Option<Health>>,
}

/// How long the end of a device waits for queued work before it leaves the driver's objects behind.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// A step of a model takes seconds at most; a device that needs this many milliseconds hangs.
const STEP_PATIENCE: u64 = 600_000;

impl Device {
    /// All GPUs of this machine: AMD's first.
    pub fn list() -> Devices {
        let mut devices = Devices {
            found: Vec::new(),
            missing: Vec::new(),
        };
        for platform in [Platform::Hip, Platform::Cuda] {
            let facts = driver::open(platform)
                .and_then(|api| (0..api.device_count()?).map(|i| api.facts(i)).collect());
            match facts {
                Ok(facts) => devices.found.extend::<Vec<_>>(facts),
                Err(error) => devices.missing.push((platform, error)),
            }
        }
        devices
    }

    /// Opens a device by its place in [`Self::list`]. While it is open, opening it again gives the
    /// same one.
    ///
    /// # Errors
    /// `NoDevice` with the reason and the remedy; `DeviceLost` if it stopped working earlier.
    pub fn open(ordinal: usize) -> Result<Arc<Device>> {
        static OPEN: Mutex<Vec<Weak<Device>>> = Mutex::new(Vec::new());
        let devices = Self::list();
        let Some(facts) = devices.found.get(ordinal) else {
            return Err(Error::NoDevice(if devices.found.is_empty() {
                let reasons = devices.missing.iter().map(|(_, error)| error.to_string());
                reasons.collect::<Vec<_>>().join("; ")
            } else {
                format!(
                    "there is no GPU {ordinal}: this machine has {}",
                    devices.found.len()
                )
            }));
        };
        let mut open = OPEN.lock();
        open.retain(|device| device.strong_count() > 0);
        let same = |device: &Arc<Device>| {
            device.facts.platform == facts.platform
                && device.facts.driver_ordinal == facts.driver_ordinal
        };
        if let Some(device) = open.iter().filter_map(Weak::upgrade).find(same) {
            return Ok(device);
        }
        let device = Arc::new(Self::create(driver::open(facts.platform)?, facts.clone())?);
        open.push(Arc::downgrade(&device));
        Ok(device)
    }

    fn create(api: &'static Api, facts: DeviceFacts) -> Result<Device> {
        let context = api.context(facts.driver_ordinal)?;
        let policy = Policy::of(&facts);
        log::write(log::Level::Info, || {
            format!(
                "GPU {}: {} ({}), wave size {}, {} compute units, {} MiB{}",
                facts.driver_ordinal,
                facts.name,
                facts.target,
                facts.wave_size,
                facts.compute_units,
                facts.memory_total >> 20,
                if facts.integrated { " shared" } else { "" }
            )
        });
        Ok(Device {
            api,
            context,
            policy,
            memory: Mutex::new(Pool::new("device memory", policy.limit, facts.memory_total)),
            pinned: Mutex::new(Pool::new("pinned host memory", u64::MAX, u64::MAX)),
            streams: RwLock::default(),
            next_stream: AtomicU64::new(1),
            events: Mutex::default(),
            lost: OnceLock::new(),
            step_patience: AtomicU64::new(STEP_PATIENCE),
            graveyard: Graveyard::default(),
            registry: Registry::new(&facts.arch, facts.platform),
            built_ins: BuiltIns::default(),
            graphs: Graphs::new(&facts),
            host_experts: PolicyCell::from_environment("MLXROCM_HOST_EXPERTS"),
            blas: BlasState::new(facts.platform),
            health: Mutex::default(),
            facts,
        })
    }

    /// Whether the CPU computes experts that lie in host memory: always, never, or where that was measured to be faster.
    pub fn host_experts(&self) -> ExpertPolicy {
        self.host_experts.get()
    }

    /// Sets it for models that are loaded from now on.
    pub fn set_host_experts(&self, policy: ExpertPolicy) {
        self.host_experts.set(policy);
    }

    /// What it is.
    pub fn facts(&self) -> &DeviceFacts {
        &self.facts
    }

    /// A new stream.
    pub fn stream(self: &Arc<Self>) -> Result<Stream> {
        self.enter()?;
        self.sweep();
        let handle = self.api.stream_create()?;
        let id = self.next_stream.fetch_add(1, Ordering::Relaxed);
        let core = Arc::new(StreamCore::new(id, handle));
        self.streams.write().insert(id, core.clone());
        Ok(Stream::new(self.clone(), core))
    }

    /// A new event that also measures time.
    pub fn event(self: &Arc<Self>) -> Result<Event> {
        self.enter()?;
        let handle = self.new_event(true)?;
        Ok(Event::new(self.clone(), handle))
    }

    /// A new event for marks that many steps are waited for at: it measures no time, which costs less.
    pub(super) fn mark(self: &Arc<Self>) -> Result<Event> {
        self.enter()?;
        let handle = self.new_event(false)?;
        Ok(Event::new(self.clone(), handle))
    }

    /// A built-in kernel by name.
    ///
    /// # Errors
    /// `Unsupported` if there is none of this name for this device.
    pub fn kernel(self: &Arc<Self>, name: &str) -> Result<Kernel> {
        Kernel::built_in(self, name)
    }

    /// The code of built-in kernels for this device.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Records a program: `body` encodes its launches.
    pub fn record(
        self: &Arc<Self>,
        body: impl FnOnce(&mut Encoder) -> Result<()>,
    ) -> Result<Program> {
        let mut encoder = self.encoder()?;
        body(&mut encoder)?;
        Ok(encoder.finish())
    }

    /// An encoder that outlives a closure; [`Encoder::finish`] makes the program.
    pub fn encoder(self: &Arc<Self>) -> Result<Encoder> {
        self.enter()?;
        self.sweep();
        Ok(Encoder::new(self))
    }

    /// An uploader, for filling many buffers.
    pub fn uploader(self: &Arc<Self>) -> Result<Uploader> {
        Uploader::new(self)
    }

    /// Fills all of `target` and waits: see [`Uploader::write`].
    pub fn upload(
        self: &Arc<Self>,
        target: &DeviceBuffer,
        fill: impl FnMut(&mut [u8]) -> Result<()>,
    ) -> Result<()> {
        let mut uploader = self.uploader()?;
        uploader.write(target, 0, target.len(), fill)?;
        uploader.finish()
    }

    /// Whether marked work is over.
    pub(super) fn is_done(&self, mark: Mark) -> bool {
        if self.lost.get().is_some() {
            return true;
        }
        let core = self.streams.read().get(&mark.stream).cloned();
        // A stream that is not listed was done before it was destroyed.
        core.is_none_or(|core| core.reached(self, mark.ticket))
    }

    pub(super) fn all_done(&self, marks: &Marks) -> bool {
        marks.iter().all(|mark| self.is_done(mark))
    }

    pub(super) fn core(&self, stream: u64) -> Option<Arc<StreamCore>> {
        self.streams.read().get(&stream).cloned()
    }

    /// An event without timing.
    pub(super) fn take_event(&self) -> Result<EventHandle> {
        let event = self.events.lock().pop();
        event.map_or_else(|| self.new_event(false), Ok)
    }

    /// A fault of queued work may come out here first.
    fn new_event(&self, timing: bool) -> Result<EventHandle> {
        let event = self.api.event_create(timing);
        event.map_err(|code| self.failed(code, "creating an event"))
    }

    pub(super) fn give_back_event(&self, event: EventHandle) {
        self.events.lock().push(event);
    }

    /// Destroys what was dropped while queued work used it and is not used any more.
    pub(super) fn sweep(&self) {
        self.graveyard.sweep(self);
        let closed: Vec<_> = {
            let streams = self.streams.read();
            streams
                .values()
                .filter(|s| s.is_closed())
                .cloned()
                .collect()
        };
        for core in closed {
            if core.is_drained(self) {
                self.streams.write().remove(&core.id());
                core.destroy(self);
            }
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let alive = self.lost.get().is_none() && self.api.enter(self.context) == Code::OK;
        let end = Instant::now() + LAST_WAIT;
        let cores: Vec<_> = self.streams.read().values().cloned().collect();
        let drained = |device: &Device| cores.iter().all(|core| core.is_drained(device));
        if !alive || !self.wait_until(end, || drained(self)) {
            // Freeing what a hung device uses would hang this thread too.
            log::write(log::Level::Warn, || {
                format!("GPU {} is closed with work unfinished", self.facts.name)
            });
            return;
        }
        self.sweep();
        self.built_ins.unload(self);
        for event in self.events.get_mut().drain(..) {
            // SAFETY: the events are the device's, and nothing is queued any more.
            unsafe { self.api.event_destroy(event) };
        }
        for block in self.memory.get_mut().drain() {
            DeviceSource(self).free(block);
        }
        for block in self.pinned.get_mut().drain() {
            PinnedSource(self).free(block);
        }
        // SAFETY: everything of the device is gone.
        unsafe { self.api.leave(self.context) };
    }
}
