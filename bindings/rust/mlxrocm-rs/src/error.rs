//! Errors, and what all calls need.

use crate::enums::Status;
use mlxrocm_sys as sys;
use std::ffi::{CStr, c_char};
use std::fmt;
use std::ptr::null_mut;

/// A failed call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What kind of failure.
    pub status: Status,
    /// One line: what failed, on which object, and what to do.
    pub message: String,
    /// The long form, like a compiler's log, or "".
    pub details: String,
    /// What HIP or CUDA said, or 0.
    pub vendor_code: i32,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// What calls that can fail return.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(status: Status, message: String) -> Error {
        Error { status, message, details: String::new(), vendor_code: 0 }
    }

    pub(crate) fn invalid(message: String) -> Error {
        Error::new(Status::InvalidArgument, message)
    }
}

/// Makes a call with a place for its error; gives its status, which is not negative.
pub(crate) fn call(function: impl FnOnce(*mut *mut sys::mlxrocm_error) -> sys::mlxrocm_status) -> Result<i32> {
    let mut error = null_mut();
    let status = function(&mut error);
    if status >= 0 {
        return Ok(status);
    }
    // The library stored an error of its own.
    // SAFETY: live handles, and pointers with the lengths of what they point to.
    unsafe {
        let made = Error {
            status: Status::from(status),
            message: owned(sys::mlxrocm_error_message(error, null_mut())),
            details: owned(sys::mlxrocm_error_details(error, null_mut())),
            vendor_code: sys::mlxrocm_error_vendor_code(error),
        };
        sys::mlxrocm_error_free(error);
        Err(made)
    }
}

/// A copy of a string of the library's, which is NUL-terminated.
pub(crate) fn owned(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the library gives strings that end with a NUL.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// A text as structs have it: where it lies, and its bytes; 0 is up to a NUL there.
pub(crate) fn field(text: &str) -> (*const c_char, usize) {
    match text.len() {
        0 => (c"".as_ptr(), 0),
        bytes => (text.as_ptr().cast(), bytes),
    }
}

/// A text that a function measures, then fills.
pub(crate) fn filled_text(
    fill: impl Fn(*mut c_char, usize, *mut usize, *mut *mut sys::mlxrocm_error) -> sys::mlxrocm_status,
) -> Result<String> {
    Ok(String::from_utf8_lossy(&filled(fill)?).into_owned())
}

/// Bytes with a NUL behind them that a function measures, then fills; without the NUL.
pub(crate) fn filled(
    fill: impl Fn(*mut c_char, usize, *mut usize, *mut *mut sys::mlxrocm_error) -> sys::mlxrocm_status,
) -> Result<Vec<u8>> {
    let mut needed = 0;
    call(|error| fill(null_mut(), 0, &mut needed, error))?;
    let mut bytes = vec![0u8; needed];
    call(|error| fill(bytes.as_mut_ptr().cast(), bytes.len(), &mut needed, error))?;
    bytes.truncate(needed.saturating_sub(1));
    Ok(bytes)
}

/// An owned handle type: freed once, used by any thread.
macro_rules! handle {
    ($name:ident, $type:ident, $free:ident) => {
        pub(crate) struct $name(*mut mlxrocm_sys::$type);

        // SAFETY: the library's objects belong to no thread.
        unsafe impl Send for $name {}
        // SAFETY: they are immutable or internally locked; a generation's events need `&mut`.
        unsafe impl Sync for $name {}

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(&self.0, f)
            }
        }

        impl $name {
            /// Makes an object with a call that stores it.
            pub(crate) fn make(
                function: impl FnOnce(
                    *mut *mut mlxrocm_sys::$type,
                    *mut *mut mlxrocm_sys::mlxrocm_error,
                ) -> mlxrocm_sys::mlxrocm_status,
            ) -> crate::Result<$name> {
                let mut handle = std::ptr::null_mut();
                crate::error::call(|error| function(&mut handle, error))?;
                Ok($name(handle))
            }

            pub(crate) fn get(&self) -> *mut mlxrocm_sys::$type {
                self.0
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: it is owned, and dropped once.
                unsafe { mlxrocm_sys::$free(self.0) }
            }
        }
    };
}
pub(crate) use handle;
