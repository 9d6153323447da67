//! Strings, arrays and outputs across the boundary.

use crate::{Error, Result};
use std::borrow::Cow;
use std::ffi::{CStr, CString, c_char, c_void};
use std::time::Duration;

/// A C string of `text`; it ends at the first NUL.
pub(super) fn c_string(text: &str) -> CString {
    let end = text
        .bytes()
        .position(|byte| byte == 0)
        .unwrap_or(text.len());
    CString::new(&text[..end]).unwrap_or_default()
}

/// The bytes of a NUL-terminated string.
///
/// # Safety
/// `string` is NULL or points to a NUL-terminated string that lives as long as the result is used.
pub(super) unsafe fn c_str<'a>(string: *const c_char, parameter: &'static str) -> Result<&'a CStr> {
    if string.is_null() {
        return Err(Error::NullArgument(parameter));
    }
    // SAFETY: not NULL, and the caller promises the rest.
    Ok(unsafe { CStr::from_ptr(string) })
}

/// A NUL-terminated string that must be UTF-8.
///
/// # Safety
/// As [`c_str`].
pub(super) unsafe fn utf8<'a>(string: *const c_char, parameter: &'static str) -> Result<&'a str> {
    // SAFETY: the caller promises what `c_str` asks for.
    unsafe { c_str(string, parameter) }?.to_str().map_err(|e| {
        Error::InvalidArgument(format!(
            "{parameter} is not valid UTF-8 (byte {})",
            e.valid_up_to()
        ))
    })
}

/// A NUL-terminated text; what is not UTF-8 in it becomes U+FFFD.
///
/// # Safety
/// As [`c_str`].
pub(super) unsafe fn text<'a>(
    string: *const c_char,
    parameter: &'static str,
) -> Result<Cow<'a, str>> {
    // SAFETY: the caller promises what `c_str` asks for.
    Ok(unsafe { c_str(string, parameter) }?.to_string_lossy())
}

/// An array of `length` elements; with length 0 the pointer is ignored.
///
/// # Safety
/// `pointer` is NULL or points to `length` initialised elements that nobody writes to as long as
/// the result is used.
pub(super) unsafe fn array<'a, T>(
    pointer: *const T,
    length: usize,
    parameter: &'static str,
) -> Result<&'a [T]> {
    if length == 0 {
        return Ok(&[]);
    }
    if pointer.is_null() {
        return Err(Error::NullArgument(parameter));
    }
    let bytes = length.checked_mul(size_of::<T>());
    if bytes.is_none_or(|bytes| bytes > isize::MAX as usize) {
        return Err(Error::InvalidArgument(format!(
            "{parameter} cannot have {length} elements"
        )));
    }
    if !pointer.is_aligned() {
        return Err(Error::InvalidArgument(format!(
            "{parameter} must be aligned to {} bytes",
            align_of::<T>()
        )));
    }
    // SAFETY: not NULL, aligned, of a possible size; the caller promises the rest.
    Ok(unsafe { std::slice::from_raw_parts(pointer, length) })
}

/// Bytes of the caller that are written; with length 0 the pointer is ignored.
///
/// # Safety
/// `pointer` is NULL or points to `length` bytes that nobody else uses as long as the result is.
pub(super) unsafe fn bytes_mut<'a>(
    pointer: *mut c_void,
    length: usize,
    parameter: &'static str,
) -> Result<&'a mut [u8]> {
    if length == 0 {
        return Ok(&mut []);
    }
    if pointer.is_null() {
        return Err(Error::NullArgument(parameter));
    }
    if length > isize::MAX as usize {
        return Err(Error::InvalidArgument(format!(
            "{parameter} cannot have {length} bytes"
        )));
    }
    // SAFETY: not NULL, of a possible size, bytes need no alignment; the caller promises the rest.
    Ok(unsafe { std::slice::from_raw_parts_mut(pointer.cast::<u8>(), length) })
}

/// How long to wait: negative nanoseconds are for ever.
pub(super) fn timeout(nanoseconds: i64) -> Option<Duration> {
    u64::try_from(nanoseconds).ok().map(Duration::from_nanos)
}

/// Where a result goes; checked before the work, written after it.
pub(super) struct Output<T>(*mut T);

impl<T> Output<T> {
    /// # Safety
    /// `pointer` is NULL or points to memory that may hold a `T` until [`Output::write`].
    pub(super) unsafe fn new(pointer: *mut T, parameter: &'static str) -> Result<Output<T>> {
        if pointer.is_null() {
            return Err(Error::NullArgument(parameter));
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
            return Err(Error::NullArgument("needed (with capacity 0)"));
        }
        if capacity > 0 && pointer.is_null() {
            return Err(Error::NullArgument(parameter));
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
    use std::ptr::{null, null_mut};

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

    #[test]
    fn arrays_are_checked() {
        let words = [1u32, 2, 3];
        unsafe {
            assert_eq!(array(words.as_ptr(), 3, "w").unwrap(), &words);
            assert_eq!(array::<u32>(null(), 0, "w").unwrap(), &[0u32; 0]);
            assert_eq!(array::<u32>(null(), 1, "w"), Err(Error::NullArgument("w")));
            assert!(array(words.as_ptr(), usize::MAX / 4 + 2, "w").is_err());
            assert!(array(words.as_ptr(), usize::MAX / 4, "w").is_err());
            let odd = words.as_ptr().cast::<u8>().wrapping_add(1).cast::<u32>();
            assert!(array(odd, 1, "w").is_err());
        }
    }

    #[test]
    fn strings_are_checked() {
        unsafe {
            assert_eq!(utf8(null(), "s"), Err(Error::NullArgument("s")));
            assert_eq!(utf8(c"ok".as_ptr(), "s"), Ok("ok"));
            let bad = c"a\xff";
            assert!(
                utf8(bad.as_ptr(), "s")
                    .unwrap_err()
                    .to_string()
                    .contains("byte 1")
            );
            assert_eq!(text(bad.as_ptr(), "s").unwrap(), "a\u{fffd}");
        }
        assert_eq!(c_string("a\0b").as_c_str(), c"a");
    }
}
