//! Strings and arrays across the boundary.

use crate::{Error, Result};
use std::borrow::Cow;
use std::ffi::{CStr, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

/// In place of a length in bytes: the text ends at its NUL.
pub const MLXROCM_NUL: usize = usize::MAX;

/// A text that C borrows: its bytes, and a NUL that its length does not count.
#[derive(Debug)]
pub(super) struct Text(Vec<u8>);

impl Text {
    pub(super) fn new(text: &str) -> Text {
        let mut bytes = Vec::with_capacity(text.len() + 1);
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(0);
        Text(bytes)
    }

    /// Lives as long as `self`.
    pub(super) fn pointer(&self) -> *const c_char {
        self.0.as_ptr().cast()
    }

    pub(super) fn length(&self) -> usize {
        self.0.len() - 1
    }
}

impl Default for Text {
    fn default() -> Text {
        Text::new("")
    }
}

/// Writes the length of a text that a function returns.
///
/// # Safety
/// `length` is NULL or points to a writable number.
pub(super) unsafe fn tell_length(length: *mut usize, value: usize) {
    // SAFETY: the caller's promise.
    unsafe { tell(length, value) };
}

/// The bytes of a text.
///
/// # Safety
/// `text` is NULL or points to `length` bytes, if that is [`MLXROCM_NUL`] up to a NUL, that
/// live and do not change as long as the result is used.
unsafe fn bytes<'a>(
    text: *const c_char,
    length: usize,
    parameter: &'static str,
) -> Result<&'a [u8]> {
    if length != MLXROCM_NUL {
        // SAFETY: the caller promises what `array` asks for.
        return unsafe { array(text.cast::<u8>(), length, parameter) };
    }
    if text.is_null() {
        return Err(Error::NullArgument(parameter.into()));
    }
    // SAFETY: not NULL, and the caller promises the rest.
    Ok(unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// A text that must be UTF-8.
///
/// # Safety
/// As [`bytes`].
pub(super) unsafe fn utf8<'a>(
    text: *const c_char,
    length: usize,
    parameter: &'static str,
) -> Result<&'a str> {
    // SAFETY: the caller promises what `bytes` asks for.
    std::str::from_utf8(unsafe { bytes(text, length, parameter) }?).map_err(|e| {
        Error::InvalidArgument(format!(
            "{parameter} is not valid UTF-8 (byte {})",
            e.valid_up_to()
        ))
    })
}

/// A text that must be UTF-8, or `None` for NULL.
///
/// # Safety
/// As [`bytes`].
pub(super) unsafe fn optional_utf8<'a>(
    text: *const c_char,
    length: usize,
    parameter: &'static str,
) -> Result<Option<&'a str>> {
    match text.is_null() {
        true => Ok(None),
        // SAFETY: the caller promises what `utf8` asks for.
        false => unsafe { utf8(text, length, parameter) }.map(Some),
    }
}

/// A text; what is not UTF-8 in it becomes U+FFFD.
///
/// # Safety
/// As [`bytes`].
pub(super) unsafe fn text<'a>(
    text: *const c_char,
    length: usize,
    parameter: &'static str,
) -> Result<Cow<'a, str>> {
    // SAFETY: the caller promises what `bytes` asks for.
    Ok(String::from_utf8_lossy(unsafe {
        bytes(text, length, parameter)
    }?))
}

/// A path as the operating system spells it.
///
/// # Safety
/// As [`bytes`].
pub(super) unsafe fn path<'a>(
    path: *const c_char,
    length: usize,
    parameter: &'static str,
) -> Result<&'a Path> {
    // SAFETY: the caller promises what `bytes` asks for.
    let path = unsafe { bytes(path, length, parameter) }?;
    if path.is_empty() {
        return Err(Error::InvalidArgument(format!(
            "{parameter} is empty: no file is called so"
        )));
    }
    match path.iter().position(|&byte| byte == 0) {
        Some(at) => Err(Error::InvalidArgument(format!(
            "{parameter} has a NUL (byte {at}): no file is called so"
        ))),
        None => Ok(Path::new(OsStr::from_bytes(path))),
    }
}

/// `count` texts that must be UTF-8; without `lengths` each ends at its NUL.
///
/// # Safety
/// `texts` and `lengths` as [`array`] asks for, each text as [`bytes`].
pub(super) unsafe fn texts<'a>(
    texts: *const *const c_char,
    lengths: *const usize,
    count: usize,
    parameter: &'static str,
) -> Result<Vec<&'a str>> {
    // SAFETY: the caller promises the array.
    let texts = unsafe { array(texts, count, parameter) }?;
    let lengths = match lengths.is_null() {
        true => &[],
        // SAFETY: the caller promises the array.
        false => unsafe { array(lengths, count, parameter) }?,
    };
    let texts = texts.iter().enumerate().map(|(i, &text)| {
        let length = lengths.get(i).copied().unwrap_or(MLXROCM_NUL);
        // SAFETY: the caller promises the text.
        let text = unsafe { utf8(text, length, parameter) };
        text.map_err(|error| renamed(error, parameter, format!("{parameter}[{i}]")))
    });
    texts.collect()
}

/// An error about the parameter `from`, which is called `to`.
pub(super) fn renamed(error: Error, from: &str, to: String) -> Error {
    match error {
        Error::NullArgument(name) if name == from => Error::NullArgument(to),
        Error::InvalidArgument(message) => match message.strip_prefix(from) {
            Some(rest) => Error::InvalidArgument(to + rest),
            None => Error::InvalidArgument(message),
        },
        other => other,
    }
}

/// The length that a struct's field stands for: 0 is every field's default, so there an empty text is one
/// that begins with its NUL.
pub(super) fn field_length(length: usize) -> usize {
    match length {
        0 => MLXROCM_NUL,
        length => length,
    }
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
        return Err(Error::NullArgument(parameter.into()));
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
        return Err(Error::NullArgument(parameter.into()));
    }
    if length > isize::MAX as usize {
        return Err(Error::InvalidArgument(format!(
            "{parameter} cannot have {length} bytes"
        )));
    }
    // SAFETY: not NULL, of a possible size, bytes need no alignment; the caller promises the rest.
    Ok(unsafe { std::slice::from_raw_parts_mut(pointer.cast::<u8>(), length) })
}

/// Tells a number to whoever asks for it.
///
/// # Safety
/// `to` is NULL or points to memory that may hold a `T`.
pub(super) unsafe fn tell<T>(to: *mut T, value: T) {
    if !to.is_null() {
        // SAFETY: not NULL; the caller promises the rest.
        unsafe { to.write_unaligned(value) };
    }
}

/// How long to wait: negative nanoseconds are for ever.
pub(super) fn timeout(nanoseconds: i64) -> Option<Duration> {
    u64::try_from(nanoseconds).ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::null;

    #[test]
    fn arrays_are_checked() {
        let words = [1u32, 2, 3];
        unsafe {
            assert_eq!(array(words.as_ptr(), 3, "w").unwrap(), &words);
            assert_eq!(array::<u32>(null(), 0, "w").unwrap(), &[0u32; 0]);
            assert_eq!(
                array::<u32>(null(), 1, "w"),
                Err(Error::NullArgument("w".into()))
            );
            assert!(array(words.as_ptr(), usize::MAX / 4 + 2, "w").is_err());
            assert!(array(words.as_ptr(), usize::MAX / 4, "w").is_err());
            let odd = words.as_ptr().cast::<u8>().wrapping_add(1).cast::<u32>();
            assert!(array(odd, 1, "w").is_err());
        }
    }

    #[test]
    fn texts_end_at_their_length_or_their_nul() {
        const NUL: usize = MLXROCM_NUL;
        unsafe {
            assert_eq!(utf8(null(), NUL, "s"), Err(Error::NullArgument("s".into())));
            assert_eq!(utf8(null(), 1, "s"), Err(Error::NullArgument("s".into())));
            assert_eq!(utf8(null(), 0, "s"), Ok(""));
            assert_eq!(optional_utf8(null(), NUL, "s"), Ok(None));
            assert_eq!(optional_utf8(c"".as_ptr(), 0, "s"), Ok(Some("")));
            // Two texts, the second with the NUL behind the literal.
            let two = [*b"ok\0", *b"no\0"];
            let two = two.as_ptr().cast();
            assert_eq!(utf8(two, NUL, "s"), Ok("ok"));
            assert_eq!(utf8(two, field_length(0), "s"), Ok("ok"));
            assert_eq!(utf8(two, field_length(1), "s"), Ok("o"));
            assert_eq!(utf8(two, 5, "s"), Ok("ok\0no"));
            assert!(utf8(two, usize::MAX - 1, "s").is_err());
            assert_eq!(path(two, 2, "p"), Ok(Path::new("ok")));
            for length in [0, NUL] {
                let refused = path(c"".as_ptr(), length, "p").unwrap_err().to_string();
                assert_eq!(refused, "p is empty: no file is called so");
            }
            let refused = path(two, 5, "p").unwrap_err().to_string();
            assert!(refused.contains("NUL (byte 2)"), "{refused}");
            let bad = c"a\xff";
            let refused = utf8(bad.as_ptr(), NUL, "s").unwrap_err().to_string();
            assert!(refused.contains("byte 1"), "{refused}");
            assert_eq!(text(bad.as_ptr(), NUL, "s").unwrap(), "a\u{fffd}");
            let list = [two, c"x".as_ptr()];
            let of = |lengths| texts(list.as_ptr(), lengths, 2, "t");
            assert_eq!(of(null()), Ok(vec!["ok", "x"]));
            assert_eq!(of([4, NUL].as_ptr()), Ok(vec!["ok\0n", "x"]));
            let list = [two, null(), bad.as_ptr()];
            let of = |from| texts(list[from..].as_ptr(), null(), 2, "t").unwrap_err();
            assert_eq!(of(0), Error::NullArgument("t[1]".into()));
            assert_eq!(
                texts(list[2..].as_ptr(), null(), 1, "t")
                    .unwrap_err()
                    .to_string(),
                "t[0] is not valid UTF-8 (byte 1)"
            );
        }
        let kept = Text::new("a\0b");
        assert_eq!((kept.length(), kept.0.as_slice()), (3, &b"a\0b\0"[..]));
    }
}
