//! The elements of an array in device memory.

use super::Place;
use crate::gpu::uses::{Mark, Marks};
use crate::gpu::{DeviceBuffer, Stream};
use crate::ir::{Dtype, Layout};
use crate::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
    /// All elements in the same memory share this.
    memory: Arc<Memory>,
    /// Nobody else has them: the operation that reads them may write into them.
    is_given: bool,
}

/// Who may see some memory besides those who share this.
#[derive(Default)]
struct Memory {
    /// An application, or work on another stream.
    is_lent: AtomicBool,
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

    /// Elements in memory that no others are in, there after marked work.
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
            memory: Arc::default(),
            is_given: false,
        };
        elements.checked()
    }

    fn checked(self) -> Result<Elements> {
        let room = self.buffer.len() / self.dtype.size() as u64;
        match self.layout.reach() {
            Some(reach) if reach.to as u64 <= room => Ok(self),
            _ => Err(Error::InvalidArgument(format!(
                "an array of shape {:?} and strides {:?} from element {} does not lie within the {room} elements of \
                 its data",
                self.layout.sizes, self.layout.strides, self.layout.offset
            ))),
        }
    }

    /// The same bytes in another layout, or read as another dtype.
    ///
    /// # Errors
    /// `InvalidArgument` if the layout reaches beyond them.
    pub fn with(&self, dtype: Dtype, layout: Layout) -> Result<Elements> {
        let elements = Elements {
            dtype,
            layout,
            is_given: false,
            ..self.clone()
        };
        elements.checked()
    }

    /// The same, whose memory others may see from now on who do not share it: nobody writes into it any more.
    pub(super) fn lent(self) -> Elements {
        self.memory.is_lent.store(true, Ordering::Relaxed);
        self
    }

    /// Gives them to the one operation that reads them: it may write into them. Not if more than so many elements share
    /// the memory, or others may see it.
    pub fn give(&mut self, sharers: usize) {
        let is_shared = Arc::strong_count(&self.memory) > sharers;
        self.is_given = !is_shared && !self.memory.is_lent.load(Ordering::Relaxed);
    }

    /// Whether an operation may write into them.
    pub fn is_given(&self) -> bool {
        self.is_given
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
        let here = Elements {
            place: place.clone(),
            is_given: false,
            ..self.clone()
        };
        here.queued().lent()
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
