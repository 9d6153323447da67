//! Where C ends and Rust begins: panics are caught, results become a status and an error object.

use super::error::{ErrorObject, mlxrocm_error};
use super::handle::{self, Object};
use super::status::{MLXROCM_OK, mlxrocm_status};
use crate::{Error, Result, log, panics};

/// Runs `body`; a panic becomes [`Error::Internal`].
pub(super) fn guarded<R>(body: impl FnOnce() -> Result<R>) -> Result<R> {
    // Whatever the panic left half done lies behind a handle, which `Shared::run` poisons.
    panics::caught(body).unwrap_or_else(|panic| Err(Error::Internal(panic)))
}

/// [`guarded`], and at its end what the library's threads logged meanwhile or since the last call
/// is delivered, on the application's thread.
fn outermost<R>(body: impl FnOnce() -> Result<R>) -> Result<R> {
    let result = guarded(body);
    if log::is_waiting() {
        // A callback that panics (one of Rust's may) must not unwind into C either.
        let _ = panics::caught(log::deliver);
    }
    result
}

/// The body of a fallible function that returns a status of its own choice.
pub(super) fn boundary_status(
    error: *mut *mut mlxrocm_error,
    body: impl FnOnce() -> Result<mlxrocm_status>,
) -> mlxrocm_status {
    match outermost(body) {
        Ok(status) => status,
        Err(failure) => {
            let status = failure.status();
            if !error.is_null() {
                let object = handle::publish(ErrorObject::new(&failure));
                // SAFETY: not NULL; the caller promises that `error` points to a writable pointer.
                unsafe { error.write_unaligned(object) };
            }
            status
        }
    }
}

/// The body of a fallible function without an object.
pub(super) fn boundary(
    error: *mut *mut mlxrocm_error,
    body: impl FnOnce() -> Result<()>,
) -> mlxrocm_status {
    boundary_status(error, || body().map(|()| MLXROCM_OK))
}

/// The body of a fallible function on an object, which a panic poisons.
pub(super) fn boundary_on<T: Object>(
    object: *const T::Opaque,
    parameter: &'static str,
    error: *mut *mut mlxrocm_error,
    body: impl FnOnce(&T) -> Result<()>,
) -> mlxrocm_status {
    boundary(error, || handle::get::<T>(object, parameter)?.run(body))
}

/// The body of a function that cannot fail from C's point of view: `otherwise` stands for errors.
pub(super) fn boundary_value<R>(otherwise: R, body: impl FnOnce() -> Result<R>) -> R {
    outermost(body).unwrap_or(otherwise)
}

/// The body of a `_free` function.
pub(super) fn boundary_free<T: Object>(object: *mut T::Opaque) {
    boundary_value((), || {
        handle::free::<T>(object);
        Ok(())
    });
}
