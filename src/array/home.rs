//! Where arrays are: the CPU or a GPU.

use crate::gpu::Device;
use crate::gpu::arrays::{self, Place};
use crate::{Result, cpu};
use std::sync::Arc;

/// Where arrays are computed and kept. Two are equal if they are the same device.
#[derive(Clone, Default)]
pub enum Home {
    /// Host memory.
    #[default]
    Cpu,
    /// A GPU's memory.
    Gpu(Arc<Place>),
}

impl Home {
    /// The home of arrays on a GPU.
    ///
    /// # Errors
    /// `OutOfMemory`, `DeviceLost`.
    pub fn of(device: &Arc<Device>) -> Result<Home> {
        Place::of(device).map(Home::Gpu)
    }
}

impl PartialEq for Home {
    fn eq(&self, other: &Home) -> bool {
        match (self, other) {
            (Home::Cpu, Home::Cpu) => true,
            (Home::Gpu(a), Home::Gpu(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

/// An array's elements, wherever they are. Immutable: any thread.
#[derive(Clone)]
pub(super) enum Data {
    Host(cpu::Elements),
    Device(arrays::Elements),
}

impl Data {
    /// The elements in host memory; what makes them is waited for.
    ///
    /// # Errors
    /// The first fault of the work that makes them; `OutOfMemory`, `DeviceLost`.
    pub fn to_host(&self) -> Result<cpu::Elements> {
        match self {
            Data::Host(elements) => Ok(elements.clone()),
            Data::Device(elements) => {
                let (bytes, layout) = elements.place().download(elements)?;
                let storage = Arc::new(cpu::Storage::Kept(Box::new(bytes)));
                cpu::Elements::new(storage, elements.dtype(), layout)
            }
        }
    }

    /// The elements on a GPU. A copy from another one goes by way of the host.
    ///
    /// # Errors
    /// As [`Data::to_host`].
    pub fn to_device(&self, place: &Arc<Place>) -> Result<arrays::Elements> {
        if let Data::Device(elements) = self
            && let Some(here) = place.join(elements)?
        {
            return Ok(here.into_owned());
        }
        let host = self.to_host()?;
        place.upload(host.bytes(), host.dtype(), host.layout())
    }
}
