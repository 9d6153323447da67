//! What every exported function shares: call counting, the panic barrier, the thread's current
//! device and its last error.

use std::cell::Cell;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::error::{Error, Outcome};
use super::runtime::runtime;

thread_local! {
    static CURRENT_DEVICE: Cell<usize> = const { Cell::new(0) };
    static LAST_ERROR: Cell<c_int> = const { Cell::new(0) };
    static IN_HOST_FUNCTION: Cell<bool> = const { Cell::new(false) };
}

/// The device that this thread's calls address (`hipSetDevice`), an ordinal.
pub fn current_device() -> usize {
    CURRENT_DEVICE.with(Cell::get)
}

/// Makes `device` this thread's current one; the caller has checked the ordinal.
pub fn set_current_device(device: usize) {
    CURRENT_DEVICE.with(|cell| cell.set(device));
}

/// The last error of this thread, cleared when `take`.
pub fn last_error(take: bool) -> c_int {
    LAST_ERROR.with(|cell| if take { cell.replace(0) } else { cell.get() })
}

/// Runs `function` as a stream's host function: HIP calls made inside it are reported.
pub fn as_host_function(function: impl FnOnce()) {
    IN_HOST_FUNCTION.with(|cell| cell.set(true));
    function();
    IN_HOST_FUNCTION.with(|cell| cell.set(false));
}

/// Runs the body of the exported function `name`: counts the call, turns a panic into
/// `hipErrorUnknown` with an entry in the report, remembers the error for `hipGetLastError`.
pub fn guard(name: &'static str, body: impl FnOnce() -> Outcome) -> c_int {
    let code = match catch_unwind(AssertUnwindSafe(|| {
        {
            let mut state = runtime().lock();
            state.report.count_call(name);
            if IN_HOST_FUNCTION.with(Cell::get) {
                state.report.violation(
                    "call_in_host_function",
                    format!(
                        "{name} called from a stream's host function, which HIP does not allow"
                    ),
                );
                return Err(Error::NOT_SUPPORTED);
            }
        }
        body()
    })) {
        Ok(Ok(())) => 0,
        Ok(Err(Error(code))) => code,
        Err(panic) => {
            runtime().lock().report.violation(
                "stand_in_panic",
                format!(
                    "{name} panicked inside the stand-in: {}",
                    panic_text(&panic)
                ),
            );
            Error::UNKNOWN.0
        }
    };
    // hipErrorNotReady is an answer, not a failure; HIP does not remember it either.
    if code != 0 && code != Error::NOT_READY.0 {
        LAST_ERROR.with(|cell| cell.set(code));
    }
    code
}

/// The message of a caught panic.
pub fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    if let Some(text) = panic.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text.clone()
    } else {
        "(no message)".to_owned()
    }
}

/// Defines exported functions that return `hipError_t`: the body yields an [`Outcome`].
macro_rules! hip_functions {
    ($($(#[$attribute:meta])* fn $name:ident($($argument:ident: $kind:ty),* $(,)?) $body:block)*) => {
        $(
            $(#[$attribute])*
            ///
            /// # Safety
            /// The pointers must be what the HIP manual asks for; handles may be anything.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $kind),*) -> std::ffi::c_int {
                $crate::hip::entry::guard(stringify!($name), || $body)
            }
        )*
    };
}
pub(crate) use hip_functions;

/// Writes an output of an exported function.
///
/// # Errors
/// [`Error::INVALID_VALUE`] for a null pointer.
pub fn write_out<T>(pointer: *mut T, value: T) -> Outcome {
    if pointer.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    // SAFETY: not null, and the HIP contract makes the caller pass a place for one `T`.
    unsafe { pointer.write(value) };
    Ok(())
}
