//! Status codes.

use super::boundary::boundary_value;
use super::strings::tell_length;
use super::symbols::since_0_1;
use std::ffi::{CStr, c_char};

/// What a function returns: 0 is success, negative values are errors, positive values are expected
/// outcomes that are not errors. Numbers are stable: they are never reused.
pub type mlxrocm_status = i32;

/// Success.
pub const MLXROCM_OK: mlxrocm_status = 0;
/// Nothing happened within the timeout; call again.
pub const MLXROCM_PENDING: mlxrocm_status = 1;
/// Everything was given out; nothing follows.
pub const MLXROCM_END: mlxrocm_status = 2;
/// A parameter has a value outside its documented range, or a handle is not live.
pub const MLXROCM_ERROR_INVALID_ARGUMENT: mlxrocm_status = -1;
/// A pointer that must not be NULL is NULL.
pub const MLXROCM_ERROR_NULL_ARGUMENT: mlxrocm_status = -2;
/// The handle had an internal error before and can only be freed.
pub const MLXROCM_ERROR_POISONED: mlxrocm_status = -3;
/// An allocation failed or would exceed a limit.
pub const MLXROCM_ERROR_OUT_OF_MEMORY: mlxrocm_status = -4;
/// The operating system refused to open, read or map a file.
pub const MLXROCM_ERROR_IO: mlxrocm_status = -5;
/// A file's content is damaged or contradicts itself.
pub const MLXROCM_ERROR_INVALID_FILE: mlxrocm_status = -6;
/// The file or request is valid but asks for something this library does not do.
pub const MLXROCM_ERROR_UNSUPPORTED: mlxrocm_status = -7;
/// The caller's buffer is too small; `needed` says what would be enough.
pub const MLXROCM_ERROR_BUFFER_TOO_SMALL: mlxrocm_status = -8;
/// The prompt does not fit the context.
pub const MLXROCM_ERROR_CONTEXT_FULL: mlxrocm_status = -9;
/// No usable device.
pub const MLXROCM_ERROR_NO_DEVICE: mlxrocm_status = -10;
/// A device failed while it ran.
pub const MLXROCM_ERROR_DEVICE_FAILED: mlxrocm_status = -11;
/// The caller's progress callback ended the operation.
pub const MLXROCM_ERROR_CANCELLED: mlxrocm_status = -12;
/// A defect in this library; the handle it happened in is poisoned.
pub const MLXROCM_ERROR_INTERNAL: mlxrocm_status = -13;
/// The device stopped working and takes no more work in this process.
pub const MLXROCM_ERROR_DEVICE_LOST: mlxrocm_status = -14;
/// The time given for a wait is over; the work goes on.
pub const MLXROCM_ERROR_TIMEOUT: mlxrocm_status = -15;
/// A device gives wrong results: its self-test found them.
pub const MLXROCM_ERROR_SELFTEST_FAILED: mlxrocm_status = -16;

/// The name of a status, e.g. "MLXROCM_ERROR_IO".
///
/// - `status`: any number; one that is no status gives "MLXROCM_STATUS_UNKNOWN".
/// - `length`: nullable; receives the bytes of the text, its NUL not counted.
///
/// Returns a string that is borrowed until the process ends, never NULL. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_status_name(
    status: mlxrocm_status,
    length: *mut usize,
) -> *const c_char {
    boundary_value(c"MLXROCM_STATUS_UNKNOWN".as_ptr(), || {
        // SAFETY: the caller's number, as documented.
        unsafe { tell_length(length, name(status).count_bytes()) };
        Ok(name(status).as_ptr())
    })
}

since_0_1! { mlxrocm_status_name }

fn name(status: mlxrocm_status) -> &'static CStr {
    match status {
        MLXROCM_OK => c"MLXROCM_OK",
        MLXROCM_PENDING => c"MLXROCM_PENDING",
        MLXROCM_END => c"MLXROCM_END",
        MLXROCM_ERROR_INVALID_ARGUMENT => c"MLXROCM_ERROR_INVALID_ARGUMENT",
        MLXROCM_ERROR_NULL_ARGUMENT => c"MLXROCM_ERROR_NULL_ARGUMENT",
        MLXROCM_ERROR_POISONED => c"MLXROCM_ERROR_POISONED",
        MLXROCM_ERROR_OUT_OF_MEMORY => c"MLXROCM_ERROR_OUT_OF_MEMORY",
        MLXROCM_ERROR_IO => c"MLXROCM_ERROR_IO",
        MLXROCM_ERROR_INVALID_FILE => c"MLXROCM_ERROR_INVALID_FILE",
        MLXROCM_ERROR_UNSUPPORTED => c"MLXROCM_ERROR_UNSUPPORTED",
        MLXROCM_ERROR_BUFFER_TOO_SMALL => c"MLXROCM_ERROR_BUFFER_TOO_SMALL",
        MLXROCM_ERROR_CONTEXT_FULL => c"MLXROCM_ERROR_CONTEXT_FULL",
        MLXROCM_ERROR_NO_DEVICE => c"MLXROCM_ERROR_NO_DEVICE",
        MLXROCM_ERROR_DEVICE_FAILED => c"MLXROCM_ERROR_DEVICE_FAILED",
        MLXROCM_ERROR_CANCELLED => c"MLXROCM_ERROR_CANCELLED",
        MLXROCM_ERROR_INTERNAL => c"MLXROCM_ERROR_INTERNAL",
        MLXROCM_ERROR_DEVICE_LOST => c"MLXROCM_ERROR_DEVICE_LOST",
        MLXROCM_ERROR_TIMEOUT => c"MLXROCM_ERROR_TIMEOUT",
        MLXROCM_ERROR_SELFTEST_FAILED => c"MLXROCM_ERROR_SELFTEST_FAILED",
        _ => c"MLXROCM_STATUS_UNKNOWN",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn every_error_has_its_documented_number() {
        let text = String::new;
        let driver = Error::Driver {
            code: 719,
            message: text(),
        };
        assert_eq!(
            (driver.vendor_code(), Error::Io(text()).vendor_code()),
            (719, 0)
        );
        let cases = [
            (
                Error::InvalidArgument(text()),
                MLXROCM_ERROR_INVALID_ARGUMENT,
            ),
            (Error::NullArgument("x".into()), MLXROCM_ERROR_NULL_ARGUMENT),
            (Error::Poisoned(text()), MLXROCM_ERROR_POISONED),
            (Error::OutOfMemory(text()), MLXROCM_ERROR_OUT_OF_MEMORY),
            (Error::Io(text()), MLXROCM_ERROR_IO),
            (Error::InvalidFile(text()), MLXROCM_ERROR_INVALID_FILE),
            (Error::Unsupported(text()), MLXROCM_ERROR_UNSUPPORTED),
            (
                Error::BufferTooSmall { needed: 1 },
                MLXROCM_ERROR_BUFFER_TOO_SMALL,
            ),
            (Error::ContextFull(text()), MLXROCM_ERROR_CONTEXT_FULL),
            (Error::NoDevice(text()), MLXROCM_ERROR_NO_DEVICE),
            (Error::DeviceFailed(text()), MLXROCM_ERROR_DEVICE_FAILED),
            (driver, MLXROCM_ERROR_DEVICE_FAILED),
            (Error::Cancelled(text()), MLXROCM_ERROR_CANCELLED),
            (Error::Internal(text()), MLXROCM_ERROR_INTERNAL),
            (Error::DeviceLost(text()), MLXROCM_ERROR_DEVICE_LOST),
            (Error::Timeout(text()), MLXROCM_ERROR_TIMEOUT),
            (Error::SelfTestFailed(text()), MLXROCM_ERROR_SELFTEST_FAILED),
        ];
        for (error, status) in &cases {
            assert_eq!(error.status(), *status, "{error:?}");
        }
        // Names are total, and unique where the number means something.
        let mut named = std::collections::HashSet::new();
        for status in -100..100 {
            let name = name(status).to_str().unwrap();
            if name != "MLXROCM_STATUS_UNKNOWN" {
                assert!(named.insert(name), "{name} twice");
            }
        }
        // Three that are no errors; two errors share a number.
        assert_eq!(named.len(), cases.len() + 3 - 1);
    }
}
