//! The elements of an array in device memory.

use super::Place;
use crate::gpu::DeviceBuffer;
use crate::ir::{Dtype, Layout};
use crate::{Error, Result};
use std::sync::Arc;

/// An array's elements on a GPU: bytes, and how they lie. The work that makes them may still be queued. Immutable: any
/// thread.
#[derive(Clone)]
pub struct Elements {
    place: Arc<Place>,
    buffer: DeviceBuffer,
    dtype: Dtype,
    layout: Layout,
}

impl Elements {
    pub(super) fn new(
        place: Arc<Place>,
        buffer: DeviceBuffer,
        dtype: Dtype,
        layout: Layout,
    ) -> Result<Elements> {
        let elements = Elements {
            place,
            buffer,
            dtype,
            layout,
        };
        let room = elements.buffer.len() / dtype.size() as u64;
        match elements.layout.reach() {
            Some(reach) if reach.to as u64 <= room => Ok(elements),
            _ => Err(Error::InvalidArgument(format!(
                "an array of shape {:?} and strides {:?} from element {} does not lie within the {room} elements of \
                 its data",
                elements.layout.sizes, elements.layout.strides, elements.layout.offset
            ))),
        }
    }

    /// The same bytes in another layout, or read as another dtype.
    ///
    /// # Errors
    /// `InvalidArgument` if the layout reaches beyond them.
    pub fn with(&self, dtype: Dtype, layout: Layout) -> Result<Elements> {
        Elements::new(self.place.clone(), self.buffer.clone(), dtype, layout)
    }

    /// Which GPU they are on.
    pub fn place(&self) -> &Arc<Place> {
        &self.place
    }

    /// Dtype.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// How they lie.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(super) fn buffer(&self) -> &DeviceBuffer {
        &self.buffer
    }

    /// Elements.
    pub fn count(&self) -> usize {
        self.layout.count()
    }
}
