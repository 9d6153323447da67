//! Where results go: single ones, and buffers of the caller.

use crate::{Error, Result};
use std::ffi::c_char;

/// Where a result goes; checked before the work, written after it.
pub(super) struct Output<T>(*mut T);

impl<T> Output<T> {
    /// # Safety
    /// `pointer` is NULL or points to memory that may hold a `T` until [`Output::write`].
    pub(super) unsafe fn new(pointer: *mut T, parameter: &'static str) -> Result<Output<T>> {
        if pointer.is_null() {
            return Err(Error::NullArgument(parameter.into()));
        }
        Ok(Output(pointer))
    }

    /// Writes the result.
    pub(super) fn write(self, value: T) {
        // SAFETY: `new`'s caller promised that the memory may hold a `T`.
        unsafe { self.0.write_unaligned(value) };
    }
}

/// A caller's buffer of `capacity` elements and the place for the count that is needed.
pub(super) struct Buffer<T> {
    pointer: *mut T,
    capacity: usize,
    needed: *mut usize,
}

impl<T: Copy> Buffer<T> {
    /// Capacity 0 measures: the pointer is ignored, and `needed` is what the call is for.
    ///
    /// # Safety
    /// `pointer` is NULL or points to `capacity` writable elements, `needed` is NULL or points to a
    /// writable number; both until [`Buffer::fill`].
    pub(super) unsafe fn new(
        pointer: *mut T,
        capacity: usize,
        needed: *mut usize,
        parameter: &'static str,
    ) -> Result<Buffer<T>> {
        if capacity == 0 && needed.is_null() {
            return Err(Error::NullArgument("needed (with capacity 0)".into()));
        }
        if capacity > 0 && pointer.is_null() {
            return Err(Error::NullArgument(parameter.into()));
        }
        Ok(Buffer {
            pointer,
            capacity,
            needed,
        })
    }

    /// Whether the call only asks for the size.
    pub(super) fn measures(&self) -> bool {
        self.capacity == 0
    }

    /// Writes `needed`, and says whether that many elements fit.
    pub(super) fn reserve(&self, needed: usize) -> Result<()> {
        if !self.needed.is_null() {
            // SAFETY: not NULL; `new`'s caller promised a writable number.
            unsafe { self.needed.write_unaligned(needed) };
        }
        if !self.measures() && needed > self.capacity {
            return Err(Error::BufferTooSmall { needed });
        }
        Ok(())
    }

    /// Writes `needed` and, unless the call measures, the elements.
    pub(super) fn fill(self, elements: &[T]) -> Result<()> {
        self.reserve(elements.len())?;
        if !self.measures() {
            // SAFETY: `reserve` checked that they fit; `new`'s caller promised a writable buffer,
            // which cannot overlap memory of this library. Bytes, so alignment does not matter.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    elements.as_ptr().cast::<u8>(),
                    self.pointer.cast::<u8>(),
                    size_of_val(elements),
                )
            };
        }
        Ok(())
    }
}

impl Buffer<c_char> {
    /// Writes text and its terminating NUL, which `needed` counts.
    pub(super) fn fill_text(self, bytes: &[u8]) -> Result<()> {
        let mut terminated = Vec::with_capacity(bytes.len() + 1);
        terminated.extend(bytes.iter().map(|&byte| byte as c_char));
        terminated.push(0);
        self.fill(&terminated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::null_mut;

    #[test]
    fn buffers_measure_fill_and_refuse() {
        let mut needed = 0;
        let mut room = [1 as c_char; 4];
        let new = |p, n, needed| unsafe { Buffer::<c_char>::new(p, n, needed, "text") };
        new(null_mut(), 0, &mut needed)
            .unwrap()
            .fill_text(b"abc")
            .unwrap();
        assert_eq!(needed, 4);
        needed = 0;
        let small = new(room.as_mut_ptr(), 3, &mut needed)
            .unwrap()
            .fill_text(b"abc");
        assert_eq!(
            (small, needed),
            (Err(Error::BufferTooSmall { needed: 4 }), 4)
        );
        assert_eq!(room, [1; 4], "nothing is written on failure");
        new(room.as_mut_ptr(), 4, null_mut())
            .unwrap()
            .fill_text(b"abc")
            .unwrap();
        assert_eq!(room, [b'a' as c_char, b'b' as c_char, b'c' as c_char, 0]);
        assert!(new(null_mut(), 4, &mut needed).is_err());
        assert!(new(null_mut(), 0, null_mut()).is_err());
    }
}
