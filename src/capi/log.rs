//! The log callback.

use super::boundary::boundary;
use super::callback::{UserData, mlxrocm_user_data_free};
use super::error::mlxrocm_error;
use super::status::mlxrocm_status;
use super::strings::Text;
use super::symbols::since_0_1;
use crate::Error;
use crate::log::{self, Level};
use std::ffi::{c_char, c_void};
use std::sync::Arc;

/// Log level: something failed.
pub const MLXROCM_LOG_ERROR: u32 = 1;
/// Log level: something works worse than the user may expect.
pub const MLXROCM_LOG_WARN: u32 = 2;
/// Log level: what was chosen (device, kernels, formats).
pub const MLXROCM_LOG_INFO: u32 = 3;
/// Log level: details for a bug report.
pub const MLXROCM_LOG_DEBUG: u32 = 4;

/// Receives a log line without its newline; `message` has `length` bytes and a NUL behind them,
/// and is borrowed for the call.
///
/// It is called only on a thread that is in a call of this library, by several such threads at once;
/// never on a thread of the library: what those write waits for the next call that ends or logs
/// (1,024 lines at most). It may call this library, but must not throw, unwind or jump out.
pub type mlxrocm_log_callback = Option<
    unsafe extern "C" fn(level: u32, message: *const c_char, length: usize, user_data: *mut c_void),
>;

/// Sends the log lines of the whole process to a callback.
///
/// Without a callback nothing is written, unless the environment variable MLXROCM_LOG is error,
/// warn, info or debug: then lines go to stderr.
///
/// - `level`: one of MLXROCM_LOG_..., lines of that level and more severe ones are sent.
/// - `callback`: replaces the one before; NULL restores the default.
/// - `user_data`: nullable, passed to `callback`.
/// - `user_data_free`: nullable; called exactly once with `user_data`, when the callback is
///   replaced and no call of it is running any more, or at once when this call fails or `callback`
///   is NULL. A callback that is still set when the process ends is not freed.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: INVALID_ARGUMENT. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_log_set_callback(
    level: u32,
    callback: mlxrocm_log_callback,
    user_data: *mut c_void,
    user_data_free: mlxrocm_user_data_free,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary(error, || {
        let user_data = UserData::new(user_data, user_data_free);
        let level = match level {
            MLXROCM_LOG_ERROR => Level::Error,
            MLXROCM_LOG_WARN => Level::Warn,
            MLXROCM_LOG_INFO => Level::Info,
            MLXROCM_LOG_DEBUG => Level::Debug,
            _ => {
                return Err(Error::InvalidArgument(format!(
                    "level is {level}, it must be one of MLXROCM_LOG_ERROR (1) to MLXROCM_LOG_DEBUG (4)"
                )));
            }
        };
        let Some(callback) = callback else {
            log::set_sink(level, None);
            return Ok(());
        };
        log::set_sink(
            level,
            Some(Arc::new(move |level: Level, message: &str| {
                let message = Text::new(message);
                // SAFETY: the application gave the function for this user data and promised that
                // any thread may call it; the message lives until it returns.
                unsafe {
                    callback(
                        level as u32,
                        message.pointer(),
                        message.length(),
                        user_data.pointer(),
                    )
                };
            })),
        );
        Ok(())
    })
}

since_0_1! { mlxrocm_log_set_callback }
