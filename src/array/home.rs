//! Where arrays are: the CPU or a GPU.

use crate::gpu::arrays::{self, Place};
use crate::gpu::{Device, Stream};
use crate::{Result, cpu};
use std::borrow::Cow;
use std::sync::Arc;

/// Where arrays are computed and kept. Two are equal if they are the same device, and there the same stream.
#[derive(Clone, Default)]
pub enum Home {
    /// Host memory.
    #[default]
    Cpu,
    /// A GPU's memory, and the stream of their work.
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

    /// The home of arrays whose work is queued on a stream.
    pub fn on(stream: &Arc<Stream>) -> Home {
        Home::Gpu(Place::on(stream))
    }

    /// Where the result of an operation on arrays of two homes is: on the GPU, if one is the CPU, and of one GPU on the
    /// stream that an application chose.
    pub(super) fn or<'a>(&'a self, other: &'a Home) -> &'a Home {
        match (self, other) {
            (Home::Cpu, _) => other,
            (Home::Gpu(mine), Home::Gpu(theirs))
                if !mine.is_of_stream()
                    && theirs.is_of_stream()
                    && Arc::ptr_eq(mine.device(), theirs.device()) =>
            {
                other
            }
            _ => self,
        }
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
    pub fn to_device(&self, place: &Arc<Place>) -> Result<Cow<'_, arrays::Elements>> {
        if let Data::Device(elements) = self
            && let Some(here) = place.join(elements)?
        {
            return Ok(here);
        }
        let host = self.to_host()?;
        let here = place.upload(host.bytes(), host.dtype(), host.layout())?;
        Ok(Cow::Owned(here))
    }
}
