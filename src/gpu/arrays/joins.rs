//! Elements that come from elsewhere on the same device: of another stream, of an application's buffer; and back.

use super::{Elements, Place};
use crate::gpu::{DeviceBuffer, Stream};
use crate::ir::{Dtype, Layout};
use crate::{Error, Result};
use std::borrow::Cow;
use std::sync::Arc;

impl Place {
    /// Elements of this device as elements of this place: the same memory, which work of this place uses after what
    /// makes it; nobody waits here. `None` if they are on another device.
    ///
    /// # Errors
    /// `DeviceLost`.
    pub fn join<'a>(self: &Arc<Self>, x: &'a Elements) -> Result<Option<Cow<'a, Elements>>> {
        let is_here = Arc::ptr_eq(x.place(), self);
        if is_here && x.is_ready_on(&self.stream) {
            return Ok(Some(Cow::Borrowed(x)));
        }
        if !Arc::ptr_eq(x.place().device(), &self.device) {
            return Ok(None);
        }
        self.stream.follow(x.ready())?;
        Ok(Some(Cow::Owned(x.moved(self))))
    }

    /// A part of a buffer of this device as elements row after row. They are there after the work that was queued with
    /// the buffer by now.
    ///
    /// # Errors
    /// `InvalidArgument` if the part is not aligned or not inside.
    pub fn of_buffer(
        self: &Arc<Self>,
        buffer: &DeviceBuffer,
        offset: u64,
        dtype: Dtype,
        sizes: &[usize],
    ) -> Result<Elements> {
        let size = dtype.size() as u64;
        if !offset.is_multiple_of(size) {
            return Err(Error::InvalidArgument(format!(
                "offset is {offset}: elements of {dtype} begin at multiples of {size} bytes"
            )));
        }
        let rows = Layout::rows(sizes);
        let bytes = (rows.count() as u64).checked_mul(size);
        let end = bytes.and_then(|bytes| bytes.checked_add(offset));
        if end.is_none_or(|end| end > buffer.len()) {
            return Err(Error::InvalidArgument(format!(
                "an array of shape {sizes:?} of {dtype} from byte {offset} on does not lie within a buffer of {} bytes",
                buffer.len()
            )));
        }
        let layout = Layout {
            offset: usize::try_from(offset / size).unwrap_or(usize::MAX),
            ..rows
        };
        let ready = buffer.uses().so_far();
        Elements::ready_after(ready, self.clone(), buffer.clone(), dtype, layout)
            .map(Elements::lent)
    }

    /// Memory in which elements of this place lie row after row, theirs if they do, and the byte at which they begin.
    /// They are there when this returns or, with a stream, for the work that is queued on it from now on.
    ///
    /// # Errors
    /// `InvalidArgument` for a stream of another device; `Unsupported` if they are too many to be copied; `OutOfMemory`,
    /// `DeviceLost`.
    pub fn to_buffer(
        self: &Arc<Self>,
        x: &Elements,
        stream: Option<&Stream>,
    ) -> Result<(DeviceBuffer, u64)> {
        if stream.is_some_and(|stream| !Arc::ptr_eq(stream.device(), &self.device)) {
            return Err(Error::InvalidArgument(
                "the stream is of another device than the array".into(),
            ));
        }
        let lost = || Error::Internal("elements are not where their place is".into());
        let many = || Error::Unsupported("too many elements to be copied row after row".into());
        let x = match x.layout().is_rows() {
            true => x.clone(),
            false => {
                let here = self.join(x)?.ok_or_else(lost)?;
                self.rows(&here)?.ok_or_else(many)?.queued()
            }
        };
        match stream {
            Some(stream) => stream.follow(x.ready())?,
            None => {
                self.join(&x)?;
                self.wait()?;
            }
        }
        let x = x.lent();
        Ok((x.buffer().clone(), x.offset()))
    }
}
