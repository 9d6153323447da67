//! The elements of an array in device memory.

use super::Place;
use crate::gpu::uses::{Mark, Marks};
use crate::gpu::{DeviceBuffer, Stream};
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
    /// The work after which they are there.
    ready: Marks,
}

impl Elements {
    pub(super) fn new(
        place: Arc<Place>,
        buffer: DeviceBuffer,
        dtype: Dtype,
        layout: Layout,
    ) -> Result<Elements> {
        // What makes them is queued there next.
        let ready = Marks::from(Mark {
            stream: place.stream.id(),
            ticket: u64::MAX,
        });
        Elements::ready_after(ready, place, buffer, dtype, layout)
    }

    /// Elements that are there after marked work.
    pub(super) fn ready_after(
        ready: Marks,
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
            ready,
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
        let (place, buffer) = (self.place.clone(), self.buffer.clone());
        Elements::ready_after(self.ready.clone(), place, buffer, dtype, layout)
    }

    /// The same, once the work that makes them is queued.
    pub fn queued(mut self) -> Elements {
        self.ready = self.place.stream.end().into();
        self
    }

    /// The work after which they are there.
    pub(super) fn ready(&self) -> &Marks {
        &self.ready
    }

    /// Whether work of a stream that is queued now comes after what makes them.
    pub(super) fn is_ready_on(&self, stream: &Stream) -> bool {
        self.ready.iter().all(|mark| mark.stream == stream.id())
    }

    /// The same memory, of which work at a place is ordered after what makes it.
    pub(super) fn moved(&self, place: &Arc<Place>) -> Elements {
        Elements {
            place: place.clone(),
            ..self.clone()
        }
        .queued()
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
