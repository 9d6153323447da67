//! Devices.

use super::allocator::{Block, MemoryCounters, Policy, Pool, Source};
use super::blas::BlasState;
use super::buffer::{DeviceBuffer, PinnedBuffer};
use super::encoder::Encoder;
use super::event::Event;
use super::graveyard::Graveyard;
use super::kernels::Registry;
use super::module::{BuiltIns, Kernel};
use super::probation::Graphs;
use super::program::Program;
use super::selftest::Health;
use super::stream::{Stream, StreamCore};
use super::upload::Uploader;
use super::uses::{Mark, Marks};
use crate::driver::{self, Api, Code, Context, DeviceFacts, EventHandle, Platform};
use crate::{Error, Result, log};
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
    pub(super) blas: BlasState,
    /// What the short self-test found.
    pub(super) health: Mutex<Option<Health>>,
}

/// How long the end of a device waits for queued work before it leaves the driver's objects behind.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// A step of a model takes seconds at most; a device that needs this many milliseconds hangs.
const STEP_PATIENCE: u64 = 600_000;

/// How long an allocation waits for queued work that holds cached memory.
const MEMORY_WAIT: Duration = Duration::from_secs(10);

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
            blas: BlasState::new(facts.platform),
            health: Mutex::default(),
            facts,
        })
    }

    /// What it is.
    pub fn facts(&self) -> &DeviceFacts {
        &self.facts
    }

    /// Memory counters.
    pub fn memory(&self) -> Result<MemoryCounters> {
        self.enter()?;
        let (mut free, _) = self.api.memory_info()?;
        if self.policy.system_memory {
            free = free.max(driver::system_memory("MemAvailable:").unwrap_or(0));
        }
        let counters = self.memory.lock().counters();
        Ok(MemoryCounters { free, ..counters })
    }

    /// Counters of pinned memory; it has no limit but the system's.
    pub fn pinned_memory(&self) -> MemoryCounters {
        self.pinned.lock().counters()
    }

    /// Sets the limit of `active + cache` in bytes and gives back what is over it.
    ///
    /// # Errors
    /// `OutOfMemory` if more than that is in use; the limit stays as it was.
    pub fn set_memory_limit(&self, bytes: u64) -> Result<()> {
        self.enter()?;
        self.memory.lock().set_limit(&DeviceSource(self), bytes)
    }

    /// Sets the peak counter to what is in use now.
    pub fn reset_peak_memory(&self) {
        self.memory.lock().reset_peak();
    }

    /// Gives all cached memory back to the driver, except what queued work still uses. May wait for
    /// the device.
    pub fn trim(&self) -> Result<()> {
        self.enter()?;
        self.sweep();
        self.memory.lock().shrink(&DeviceSource(self), 0);
        self.pinned.lock().shrink(&PinnedSource(self), 0);
        Ok(())
    }

    /// Allocates device memory; its content is undefined, its address a multiple of 256.
    ///
    /// # Errors
    /// `OutOfMemory`; everything stays usable.
    pub fn alloc(self: &Arc<Self>, bytes: u64) -> Result<DeviceBuffer> {
        self.alloc_device(bytes, None)
    }

    /// [`Self::alloc`] for use on `stream` first: may reuse memory that work queued on it still uses.
    pub fn alloc_for(self: &Arc<Self>, stream: &Stream, bytes: u64) -> Result<DeviceBuffer> {
        self.alloc_device(bytes, Some(stream.id()))
    }

    fn alloc_device(self: &Arc<Self>, bytes: u64, stream: Option<u64>) -> Result<DeviceBuffer> {
        self.enter()?;
        let source = DeviceSource(self);
        let end = Instant::now() + MEMORY_WAIT;
        loop {
            let (error, pending) = {
                let mut pool = self.memory.lock();
                match pool.take(&source, bytes, stream) {
                    Ok((block, marks)) => {
                        return Ok(DeviceBuffer::new(self.clone(), block, bytes, marks));
                    }
                    Err(error) => (error, pool.pending(&source)),
                }
            };
            // Freed memory that queued work still uses comes back when that work is done.
            let waits = matches!(error, Error::OutOfMemory(_)) && !pending.is_empty();
            if !waits || Instant::now() >= end {
                return Err(error);
            }
            self.wait_until(end, || !pending.iter().all(|mark| !self.is_done(*mark)));
        }
    }

    /// Allocates pinned host memory; its content is undefined.
    ///
    /// # Errors
    /// `OutOfMemory`; everything stays usable.
    pub fn alloc_pinned(self: &Arc<Self>, bytes: u64) -> Result<PinnedBuffer> {
        self.enter()?;
        let (block, _) = self.pinned.lock().take(&PinnedSource(self), bytes, None)?;
        // A class is at least as large as what it is for, and it was allocated.
        let len = usize::try_from(bytes).unwrap_or(0);
        Ok(PinnedBuffer::new(self.clone(), block, len))
    }

    /// Allocates pinned host memory for kernels, which read and write it over the bus.
    ///
    /// # Errors
    /// `OutOfMemory`; everything stays usable.
    pub fn alloc_mapped(self: &Arc<Self>, bytes: u64) -> Result<DeviceBuffer> {
        self.enter()?;
        let (block, _) = self.pinned.lock().take(&PinnedSource(self), bytes, None)?;
        Ok(DeviceBuffer::new(
            self.clone(),
            block,
            bytes,
            Marks::default(),
        ))
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

    /// Makes the device current on this thread.
    ///
    /// # Errors
    /// `DeviceLost` if it stopped working.
    pub(super) fn enter(&self) -> Result<()> {
        if let Some(reason) = self.lost.get() {
            return Err(Error::DeviceLost(reason.clone()));
        }
        match self.api.enter(self.context) {
            Code::OK => Ok(()),
            code => Err(self.failed(code, "entering the device")),
        }
    }

    /// An error for every code but success.
    pub(super) fn check(&self, code: Code, what: impl FnOnce() -> String) -> Result<()> {
        match code {
            Code::OK => Ok(()),
            code => Err(self.failed(code, &what())),
        }
    }

    /// The error for a failed call; finds out whether the device still works.
    pub(super) fn failed(&self, code: Code, what: &str) -> Error {
        let error = self.api.error(code, what);
        if !code.is_lost() && self.still_works() {
            return error;
        }
        self.lose(&error)
    }

    /// The device takes no more work from now on, because of `error`.
    fn lose(&self, error: &Error) -> Error {
        let reason = self.lost.get_or_init(|| {
            let name = &self.facts.name;
            let reason = format!(
                "GPU {name} stopped working ({error}); start the program again, and see the kernel \
                 log (dmesg) for the cause"
            );
            log::write(log::Level::Error, || reason.clone());
            reason
        });
        Error::DeviceLost(reason.clone())
    }

    /// Sleeps until all queued steps of a model are done. A device that does not end them hangs, and
    /// counts as lost: the next one would wait as long.
    pub(crate) fn wait_step(&self, stream: &Stream) -> Result<()> {
        self.in_time(stream.wait(Some(self.step_patience())))
    }

    /// The same for the steps up to a mark of the stream.
    pub(super) fn wait_step_until(&self, stream: &Stream, mark: &Event) -> Result<()> {
        self.in_time(stream.wait_until(mark, Some(self.step_patience())))
    }

    /// What a wait for work of the library's own came to: if that does not end in time, the device hangs.
    pub(crate) fn in_time<T>(&self, waited: Result<T>) -> Result<T> {
        waited.map_err(|error| match error {
            Error::Timeout(_) => self.lose(&error),
            error => error,
        })
    }

    pub(super) fn step_patience(&self) -> Duration {
        Duration::from_millis(self.step_patience.load(Ordering::Relaxed))
    }

    /// How long a step of a model may take.
    #[doc(hidden)] // for tests
    pub fn set_step_patience(&self, patience: Duration) {
        let milliseconds = u64::try_from(patience.as_millis()).unwrap_or(u64::MAX);
        self.step_patience.store(milliseconds, Ordering::Relaxed);
    }

    /// Whether the driver still gives out what work needs. After a fault that a driver does not
    /// recover from (CUDA's, most of HIP's), each of these fails.
    fn still_works(&self) -> bool {
        let api = self.api;
        let stream = match api.enter(self.context) {
            Code::OK => api.memory_info().and_then(|_| api.stream_create()),
            code => Err(api.error(code, "entering the device")),
        };
        match stream {
            // SAFETY: just made.
            Ok(stream) => unsafe { api.stream_destroy(stream) == Code::OK },
            // Full is not broken.
            Err(error) => matches!(error, Error::OutOfMemory(_)),
        }
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

    /// Sleeps until `done` or the end; whether it was done. Looks often at first and then less and less:
    /// it oversleeps by about a thirtieth of the time that passed.
    pub(super) fn wait_until(&self, end: Instant, mut done: impl FnMut() -> bool) -> bool {
        let start = Instant::now();
        loop {
            if done() {
                return true;
            }
            let now = Instant::now();
            let left = end.saturating_duration_since(now);
            if left.is_zero() {
                return false;
            }
            let pause = (now - start) / 32;
            let pause = pause.clamp(Duration::from_micros(10), Duration::from_millis(2));
            std::thread::sleep(pause.min(left));
        }
    }

    /// Sleeps until a recorded event is done; its code, `None` when the time is over.
    pub(super) fn wait_event(&self, event: EventHandle, timeout: Option<Duration>) -> Option<Code> {
        let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let Some(end) = end else {
            // SAFETY: the caller's handle is live. The driver sleeps: the event is made for it.
            return Some(unsafe { self.api.event_synchronize(event) });
        };
        let mut code = Code::OK;
        let done = self.wait_until(end, || {
            // SAFETY: as above.
            code = unsafe { self.api.event_query(event) };
            !code.is_not_ready()
        });
        done.then_some(code)
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

    pub(super) fn give_back(&self, block: Block, marks: Marks) {
        self.memory.lock().give_back(block, marks);
    }

    pub(super) fn give_back_pinned(&self, block: Block, marks: Marks) {
        self.pinned.lock().give_back(block, marks);
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

/// Device memory of a device. The device is current.
struct DeviceSource<'a>(&'a Device);

impl Source for DeviceSource<'_> {
    fn allocate(&self, size: u64) -> Result<Block> {
        let bytes = usize::try_from(size).unwrap_or(usize::MAX);
        let address = self.0.api.alloc(bytes)?;
        Ok(Block {
            address,
            host: 0,
            size,
        })
    }

    fn free(&self, block: Block) -> Code {
        // SAFETY: the block came from alloc; its owner and the work that used it are gone.
        unsafe { self.0.api.free(block.address) }
    }

    fn is_done(&self, mark: Mark) -> bool {
        self.0.is_done(mark)
    }
}

/// Pinned host memory of a device. The device is current.
struct PinnedSource<'a>(&'a Device);

impl Source for PinnedSource<'_> {
    fn allocate(&self, size: u64) -> Result<Block> {
        let bytes = usize::try_from(size).unwrap_or(usize::MAX);
        let (host, address) = self.0.api.host_alloc(bytes)?;
        // SAFETY: just allocated with this length. Initialised, for the slices given out.
        unsafe {
            std::ptr::write_bytes(std::ptr::with_exposed_provenance_mut::<u8>(host), 0, bytes);
        }
        Ok(Block {
            address,
            host,
            size,
        })
    }

    fn free(&self, block: Block) -> Code {
        // SAFETY: the block came from host_alloc; its owner and the work that used it are gone.
        unsafe { self.0.api.host_free(block.host) }
    }

    fn is_done(&self, mark: Mark) -> bool {
        self.0.is_done(mark)
    }
}
