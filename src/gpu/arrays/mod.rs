//! Arrays on a GPU: where their elements are, and operations on them, one after the other on one stream.

mod attention;
mod chains;
mod complex;
mod convolution;
mod custom;
mod elements;
mod fourier;
mod indices;
mod joins;
mod layers;
mod matrices;
mod numbers;
mod order;
mod places;
mod planes;
mod products;
mod quantized;
mod reduce;
mod replay;
mod rows;
mod run;
mod scatter;
mod search;
mod several;
pub(super) mod walk;
mod warpgroups;

pub use chains::{Chain, Chained, Chains, chain_counts, use_chains};
pub use custom::PRELUDE;
pub use elements::Elements;
pub use replay::{Leaf, Replay};

use super::{Device, DeviceBuffer, Kernel, Stream};
use crate::ir::{Alike, Dtype, Layout, Met};
use crate::{Error, Result};
use parking_lot::Mutex;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Weak};

/// A GPU as a home of arrays. There is one for each open device. Internally locked: any thread.
pub struct Place {
    device: Arc<Device>,
    /// What runs for arrays: each operation after those that made its inputs.
    stream: Stream,
    /// Kernels of the application by their sources.
    custom: Mutex<HashMap<String, Kernel>>,
    /// Kernels of chains of elementwise operations.
    chains: chains::Kernels,
    /// What Fourier transforms look up.
    roots: fourier::Tables,
    /// Graphs that came here, and their recorded launches.
    graphs: Mutex<Alike<Met<Arc<Mutex<Replay>>>>>,
}

impl Place {
    /// Where the arrays of a device are.
    ///
    /// # Errors
    /// `OutOfMemory`, `DeviceLost`.
    pub fn of(device: &Arc<Device>) -> Result<Arc<Place>> {
        static OPEN: Mutex<Vec<Weak<Place>>> = Mutex::new(Vec::new());
        let mut open = OPEN.lock();
        open.retain(|place| place.strong_count() > 0);
        let same = |place: &Arc<Place>| Arc::ptr_eq(&place.device, device);
        if let Some(place) = open.iter().filter_map(Weak::upgrade).find(same) {
            return Ok(place);
        }
        let place = Arc::new(Place {
            device: device.clone(),
            stream: device.stream()?,
            custom: Mutex::default(),
            chains: chains::Kernels::default(),
            roots: fourier::Tables::default(),
            graphs: Mutex::default(),
        });
        open.push(Arc::downgrade(&place));
        Ok(place)
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
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

    fn memory(&self, count: usize, dtype: Dtype) -> Result<DeviceBuffer> {
        let bytes = (count * dtype.size()) as u64;
        // Kernels are given no addresses of nothing.
        let allocated = self.device.alloc_for(&self.stream, bytes.max(16));
        let buffer = match allocated {
            Err(Error::OutOfMemory(_)) if self.forget() => {
                self.device.alloc_for(&self.stream, bytes.max(16))?
            }
            allocated => allocated?,
        };
        replay::note(&buffer)?;
        Ok(buffer)
    }

    /// Lets go of recorded graphs and their memory; whether there were any.
    fn forget(&self) -> bool {
        self.roots.lock().clear();
        // Dropped outside the lock: programs wait for what they still run.
        let had = std::mem::take(&mut *self.graphs.lock());
        !had.is_empty()
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
            let copied = self.stream.copy_to_host(x.buffer(), first, &mut bytes);
            self.device.in_time(copied)?;
        }
        let layout = Layout {
            offset: x.layout().offset.saturating_sub(reach.start),
            ..x.layout().clone()
        };
        Ok((bytes, layout))
    }
}
