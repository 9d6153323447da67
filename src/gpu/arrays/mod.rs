//! Arrays on a GPU: where their elements are, and operations on them, one after the other on the stream of their place.

mod attention;
mod attention_step;
mod chains;
mod complex;
mod convolution;
mod custom;
mod doubles;
mod elements;
mod fourier;
mod halves;
mod indices;
mod joined;
mod joins;
mod layers;
mod matrices;
mod means;
mod numbers;
mod order;
mod places;
mod planes;
mod products;
mod quantized;
mod reduce;
mod replay;
mod results;
mod rope_update;
mod rows;
mod run;
mod scatter;
mod search;
mod several;
mod siblings;
pub(super) mod walk;
mod warpgroups;
mod wide;

pub use chains::{Chain, Chains, use_chains};
pub use custom::PRELUDE;
pub use elements::Elements;
pub use halves::use_tf32;
pub use joined::{Joined, Part, joined_counts};
pub use replay::{Leaf, Replay};

use super::{Device, DeviceBuffer, Kernel, Stream, constants};
use crate::ir::{Alike, Dtype, Layout, Met};
use crate::{Error, Result};
use parking_lot::Mutex;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock, Weak};

/// A GPU as a home of arrays: one for each open device, with a stream of the library's own, and one for each stream that
/// an application gives arrays to. All have their memory from the device, which knows what each stream still uses.
/// Internally locked: any thread.
pub struct Place {
    device: Arc<Device>,
    /// What runs for arrays: each operation after those that made its inputs.
    stream: Arc<Stream>,
    /// Whether the stream is the application's.
    is_of_stream: bool,
    /// Where elements are read by the host behind which other work is queued already.
    reader: OnceLock<Stream>,
    compiled: Arc<Compiled>,
    /// What Fourier transforms look up.
    roots: fourier::Tables,
    /// Of blocks that wait for one another (`attention_parts.hip`); all 0 between launches.
    counters: Mutex<Option<DeviceBuffer>>,
    /// Graphs that came here, and their recorded launches.
    graphs: Mutex<Alike<Met<Arc<Mutex<Replay>>>>>,
}

/// Kernels that were compiled for arrays of a device, for all its places.
#[derive(Default)]
struct Compiled {
    /// Kernels of the application by their sources.
    custom: Mutex<HashMap<String, Kernel>>,
    /// Kernels of chains of elementwise operations.
    chains: chains::Kernels,
}

/// The places that there are.
static OPEN: Mutex<Vec<Weak<Place>>> = Mutex::new(Vec::new());

/// Those of a device.
fn places_of(open: &mut Vec<Weak<Place>>, device: &Arc<Device>) -> Vec<Arc<Place>> {
    open.retain(|place| place.strong_count() > 0);
    let mut places: Vec<Arc<Place>> = open.iter().filter_map(Weak::upgrade).collect();
    places.retain(|place| Arc::ptr_eq(&place.device, device));
    places
}

impl Place {
    /// Where the arrays of a device are, unless they are given to a stream.
    ///
    /// # Errors
    /// `OutOfMemory`, `DeviceLost`.
    pub fn of(device: &Arc<Device>) -> Result<Arc<Place>> {
        let mut open = OPEN.lock();
        let places = places_of(&mut open, device);
        match places.iter().find(|place| !place.is_of_stream) {
            Some(place) => Ok(place.clone()),
            None => {
                let stream = Arc::new(device.stream()?);
                Ok(Place::open(&mut open, &places, stream, false))
            }
        }
    }

    /// Where the arrays are whose operations are queued on a stream of the application; it stays as long as they.
    pub fn on(stream: &Arc<Stream>) -> Arc<Place> {
        let mut open = OPEN.lock();
        let places = places_of(&mut open, stream.device());
        let same = |place: &&Arc<Place>| Arc::ptr_eq(&place.stream, stream);
        match places.iter().find(same) {
            Some(place) => place.clone(),
            None => Place::open(&mut open, &places, stream.clone(), true),
        }
    }

    /// A new place beside the others of its device.
    fn open(
        open: &mut Vec<Weak<Place>>,
        places: &[Arc<Place>],
        stream: Arc<Stream>,
        is_of_stream: bool,
    ) -> Arc<Place> {
        let compiled = places.first().map(|place| place.compiled.clone());
        let place = Arc::new(Place {
            device: stream.device().clone(),
            stream,
            is_of_stream,
            reader: OnceLock::new(),
            compiled: compiled.unwrap_or_default(),
            roots: fourier::Tables::default(),
            counters: Mutex::default(),
            graphs: Mutex::default(),
        });
        open.push(Arc::downgrade(&place));
        place
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Whether an application gave its arrays to a stream.
    pub fn is_of_stream(&self) -> bool {
        self.is_of_stream
    }

    /// Graphs that came here, with what was made of them.
    pub fn graphs(&self) -> &Mutex<Alike<Met<Arc<Mutex<Replay>>>>> {
        &self.graphs
    }

    /// Waits for everything that was queued.
    ///
    /// # Errors
    /// The first fault of what was queued; `DeviceLost`, also if it does not end.
    pub fn wait(&self) -> Result<()> {
        self.device.wait_step(&self.stream)
    }

    /// Least bytes of memory: kernels are given no addresses of nothing.
    const LEAST: usize = 16;

    fn memory(&self, count: usize, dtype: Dtype) -> Result<DeviceBuffer> {
        let bytes = (count * dtype.size()).max(Place::LEAST) as u64;
        let buffer = match replay::room_of_result(bytes) {
            Some(room) => room,
            None => match self.device.alloc_for(&self.stream, bytes) {
                Err(Error::OutOfMemory(_)) if self.forget() => {
                    self.device.alloc_for(&self.stream, bytes)?
                }
                allocated => allocated?,
            },
        };
        replay::note(&buffer)?;
        Ok(buffer)
    }

    /// Counters for a launch, which writes them.
    fn counters(&self) -> Result<DeviceBuffer> {
        let mut counters = self.counters.lock();
        let counters = match &*counters {
            Some(there) => there.clone(),
            None => {
                let bytes = 4 * constants::arrays_attention_parts::MOST_GROUPS as u64;
                let new = self.device.alloc_for(&self.stream, bytes)?;
                self.stream.fill(&new, 0, bytes, 0)?;
                counters.insert(new).clone()
            }
        };
        replay::note_written(&counters);
        Ok(counters)
    }

    /// Lets go of recorded graphs of the device and their memory; whether there were any.
    fn forget(&self) -> bool {
        let places = places_of(&mut OPEN.lock(), &self.device);
        let mut had_some = false;
        for place in places {
            place.roots.lock().clear();
            // Dropped outside the lock: programs wait for what they still run.
            let had = std::mem::take(&mut *place.graphs.lock());
            had_some |= !had.is_empty();
        }
        had_some
    }

    /// Elements of the host, of which `bytes` are all that the layout refers to. The copy is queued.
    ///
    /// # Errors
    /// `OutOfMemory`, `DeviceLost`.
    pub fn upload(
        self: &Arc<Self>,
        bytes: &[u8],
        dtype: Dtype,
        layout: &Layout,
    ) -> Result<Elements> {
        let reach = layout
            .reach()
            .map_or((0, 0), |reach| (reach.from, reach.to));
        let (from, to) = (reach.0 * dtype.size(), reach.1 * dtype.size());
        let bytes = bytes.get(from..to).unwrap_or_default();
        let buffer = self.memory(reach.1 - reach.0, dtype)?;
        if !bytes.is_empty() {
            self.stream.copy_to_device(&buffer, 0, bytes)?;
        }
        let layout = Layout {
            offset: layout.offset.saturating_sub(reach.0),
            ..layout.clone()
        };
        Elements::new(self.clone(), buffer, dtype, layout)
    }

    /// Leaves a mark at the end of what is queued: who reads elements that are there by then does not wait for more.
    ///
    /// # Errors
    /// `DeviceLost`.
    pub fn note_end(&self) -> Result<()> {
        self.stream.note_end()
    }

    /// The stream on which elements of this place are read without waiting for what is queued behind a mark.
    fn reader_of(&self, x: &Elements) -> Result<Option<&Stream>> {
        let mut ready = x.ready().iter();
        let core = self.stream.core();
        if !ready.all(|mark| mark.stream == core.id() && core.is_noted(mark.ticket)) {
            return Ok(None);
        }
        if self.reader.get().is_none() {
            // Of two threads one makes it in vain.
            let _ = self.reader.set(self.device.stream()?);
        }
        let reader = self.reader.get();
        if let Some(reader) = reader {
            reader.follow(x.ready())?;
        }
        Ok(reader)
    }

    /// The bytes of the elements in host memory, and how they lie in them; waits for what makes them.
    ///
    /// # Errors
    /// The first fault of what was queued; `OutOfMemory`, `DeviceLost`.
    pub fn download(self: &Arc<Self>, x: &Elements) -> Result<(Vec<u8>, Layout)> {
        let x = self.join(x)?.unwrap_or(Cow::Borrowed(x));
        let x = self.rows(&x)?.map_or(x, Cow::Owned);
        let size = x.dtype().size();
        let reach = x
            .layout()
            .reach()
            .map_or(0..0, |reach| reach.from..reach.to);
        let mut bytes = vec![0; reach.len() * size];
        if !bytes.is_empty() {
            let first = (reach.start * size) as u64;
            let stream = self.reader_of(&x)?.unwrap_or(&self.stream);
            let copied = stream.copy_to_host(x.buffer(), first, &mut bytes);
            self.device.in_time(copied)?;
        }
        let layout = Layout {
            offset: x.layout().offset.saturating_sub(reach.start),
            ..x.layout().clone()
        };
        Ok((bytes, layout))
    }
}
