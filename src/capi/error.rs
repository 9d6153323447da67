//! Error objects.

use super::boundary::{boundary_free, boundary_value};
use super::handle::{self, Object};
use super::status::{MLXROCM_ERROR_INVALID_ARGUMENT, MLXROCM_OK, mlxrocm_status};
use super::strings::{Text, tell_length};
use super::symbols::since_0_1;
use crate::Error;
use std::ffi::c_char;

/// What went wrong, in detail. A function that fails stores a new object where its last parameter
/// points, if that is not NULL. Immutable: any thread.
pub struct mlxrocm_error {
    _private: [u8; 0],
}

/// What an error handle refers to.
pub(super) struct ErrorObject {
    status: mlxrocm_status,
    message: Text,
    /// All lines, where there is more than one.
    details: Text,
    vendor_code: i32,
}

impl Object for ErrorObject {
    type Opaque = mlxrocm_error;
    const NOUN: &'static str = "mlxrocm_error";
}

impl ErrorObject {
    pub(super) fn new(error: &Error) -> ErrorObject {
        let text = error.to_string();
        let (message, details) = match one_line(&text) {
            Some(line) => (line, text),
            None => (text, String::new()),
        };
        ErrorObject {
            status: error.status(),
            message: Text::new(&message),
            details: Text::new(&details),
            vendor_code: error.vendor_code(),
        }
    }
}

/// What a text of several lines comes to: its first line and the first one that a compiler marks as
/// an error. `None` if the text is one line.
fn one_line(text: &str) -> Option<String> {
    let (first, rest) = text.split_once('\n')?;
    let lines = || rest.lines().map(str::trim).filter(|line| !line.is_empty());
    let error = lines().find(|line| line.contains("error"));
    let second = error.or_else(|| lines().next()).unwrap_or_default();
    Some(format!("{first} {second}").trim_end().to_string())
}

/// The status that the failed function returned.
///
/// - `error`: borrowed; NULL means no error.
///
/// Returns MLXROCM_OK for NULL. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_error_status(error: *const mlxrocm_error) -> mlxrocm_status {
    boundary_value(MLXROCM_ERROR_INVALID_ARGUMENT, || {
        if error.is_null() {
            return Ok(MLXROCM_OK);
        }
        Ok(handle::get::<ErrorObject>(error, "error")?.value().status)
    })
}

/// A text of an error and its length.
///
/// # Safety
/// `length` is NULL or points to a writable number.
unsafe fn boundary_text(
    error: *const mlxrocm_error,
    length: *mut usize,
    text: impl Fn(&ErrorObject) -> &Text,
) -> *const c_char {
    let (pointer, bytes) = boundary_value((c"".as_ptr(), 0), || {
        if error.is_null() {
            return Ok((c"".as_ptr(), 0));
        }
        // The handle's own reference keeps the text when this one is dropped.
        let object = handle::get::<ErrorObject>(error, "error")?;
        let text = text(object.value());
        Ok((text.pointer(), text.length()))
    });
    // SAFETY: the caller promises the number.
    unsafe { tell_length(length, bytes) };
    pointer
}

/// One line of UTF-8: what failed, which object it was about, and what to do.
///
/// - `error`: borrowed; NULL means no error.
/// - `length`: nullable; receives the bytes of the text, its NUL not counted.
///
/// Returns a string that is borrowed until `error` is freed; never NULL, "" for NULL. Any thread.
/// Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_error_message(
    error: *const mlxrocm_error,
    length: *mut usize,
) -> *const c_char {
    // SAFETY: the caller's number, as documented.
    unsafe { boundary_text(error, length, |object| &object.message) }
}

/// The long form of a message that has one: several lines of UTF-8, e.g. a compiler's log.
///
/// - `error`: borrowed; NULL means no error.
/// - `length`: nullable; receives the bytes of the text, its NUL not counted.
///
/// Returns a string that is borrowed until `error` is freed; never NULL, "" where the message says
/// everything. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_error_details(
    error: *const mlxrocm_error,
    length: *mut usize,
) -> *const c_char {
    // SAFETY: the caller's number, as documented.
    unsafe { boundary_text(error, length, |object| &object.details) }
}

/// The number that the vendor's driver gave for the failure (HIP or CUDA), where there is one.
///
/// - `error`: borrowed; NULL means no error.
///
/// Returns 0 where there is none. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_error_vendor_code(error: *const mlxrocm_error) -> i32 {
    boundary_value(0, || {
        if error.is_null() {
            return Ok(0);
        }
        Ok(handle::get::<ErrorObject>(error, "error")?
            .value()
            .vendor_code)
    })
}

/// Frees an error object.
///
/// - `error`: consumed; NULL is fine.
///
/// Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_error_free(error: *mut mlxrocm_error) {
    boundary_free::<ErrorObject>(error)
}

since_0_1! {
    mlxrocm_error_status mlxrocm_error_message mlxrocm_error_details mlxrocm_error_vendor_code
    mlxrocm_error_free
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_becomes_one_line_and_is_kept() {
        let log = "k does not compile:\nk:1: warning: x\n  k:2:3: error: no y\n ^\n";
        let object = ErrorObject::new(&Error::InvalidArgument(log.into()));
        let text = |text: &Text| {
            // SAFETY: a text lives as long as its object.
            let bytes = unsafe { std::slice::from_raw_parts(text.pointer().cast(), text.length()) };
            String::from_utf8(bytes.to_vec()).unwrap()
        };
        assert_eq!(
            text(&object.message),
            "k does not compile: k:2:3: error: no y"
        );
        assert_eq!(text(&object.details), log);
        let object = ErrorObject::new(&Error::Io("gone".into()));
        assert_eq!(text(&object.message), "gone");
        assert_eq!(object.details.length(), 0);
        assert_eq!(one_line("a:\n\nb\n"), Some("a: b".into()));
        assert_eq!(one_line("a\n"), Some("a".into()));
    }
}
