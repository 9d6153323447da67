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
    body: Arc<Body>,
    /// Nobody else has them: the operation that reads them may write into them.
    is_given: bool,
}

/// What clones share.
#[derive(Clone)]
struct Body {
    place: Arc<Place>,
    buffer: DeviceBuffer,
    dtype: Dtype,
    layout: Layout,
    /// The work after which they are there.
    ready: Marks,
    /// All elements in the same memory share this.
    memory: Arc<Memory>,
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
        let memory = Arc::default();
        Elements::of(Body {
            place,
            buffer,
            dtype,
            layout,
            ready,
            memory,
        })
    }

    /// New elements, which nobody was given.
    fn of(body: Body) -> Result<Elements> {
        let room = body.buffer.len() / body.dtype.size() as u64;
        match body.layout.reach() {
            Some(reach) if reach.to as u64 <= room => Ok(Elements {
                body: Arc::new(body),
                is_given: false,
            }),
            _ => Err(Error::InvalidArgument(format!(
                "an array of shape {:?} and strides {:?} from element {} does not lie within the {room} elements of \
                 its data",
                body.layout.sizes, body.layout.strides, body.layout.offset
            ))),
        }
    }

    /// The same bytes in another layout, or read as another dtype.
    ///
    /// # Errors
    /// `InvalidArgument` if the layout reaches beyond them.
    pub fn with(&self, dtype: Dtype, layout: Layout) -> Result<Elements> {
        Elements::of(Body {
            dtype,
            layout,
            ..Body::clone(&self.body)
        })
    }

    /// The same, whose memory others may see from now on who do not share it: nobody writes into it any more.
    pub(super) fn lent(self) -> Elements {
        self.body.memory.is_lent.store(true, Ordering::Relaxed);
        self
    }

    /// Gives them to the one operation that reads them: it may write into them. Not if more than so many elements share
    /// the memory, or others may see it.
    pub fn give(&mut self, sharers: usize) {
        let memory = &self.body.memory;
        let is_shared = Arc::strong_count(memory) > 1 || Arc::strong_count(&self.body) > sharers;
        self.is_given = !is_shared && !memory.is_lent.load(Ordering::Relaxed);
    }

    /// Whether an operation may write into them.
    pub fn is_given(&self) -> bool {
        self.is_given
    }

    /// The same, once the work that makes them is queued.
    pub fn queued(mut self) -> Elements {
        let ready = self.body.place.stream.end().into();
        Arc::make_mut(&mut self.body).ready = ready;
        self
    }

    /// The work after which they are there.
    pub(super) fn ready(&self) -> &Marks {
        &self.body.ready
    }

    /// Whether work of a stream that is queued now comes after what makes them.
    pub(super) fn is_ready_on(&self, stream: &Stream) -> bool {
        self.body
            .ready
            .iter()
            .all(|mark| mark.stream == stream.id())
    }

    /// The same memory, of which work at a place is ordered after what makes it.
    pub(super) fn moved(&self, place: &Arc<Place>) -> Elements {
        let mut here = Body::clone(&self.body);
        here.place = place.clone();
        let body = Arc::new(here);
        let is_given = false;
        Elements { body, is_given }.queued().lent()
    }

    /// Which GPU they are on.
    pub fn place(&self) -> &Arc<Place> {
        &self.body.place
    }

    /// Dtype.
    pub fn dtype(&self) -> Dtype {
        self.body.dtype
    }

    /// How they lie.
    pub fn layout(&self) -> &Layout {
        &self.body.layout
    }

    pub(super) fn buffer(&self) -> &DeviceBuffer {
        &self.body.buffer
    }

    /// Elements.
    pub fn count(&self) -> usize {
        self.body.layout.count()
    }
}
