//! The log of the process.

use crate::error::{Result, call};
use mlxrocm_sys as sys;
use std::ffi::{c_char, c_void};
use std::ptr::null_mut;
use std::slice;

/// How severe a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
}

type Line = Box<dyn Fn(LogLevel, &str) + Send + Sync>;

/// Sends the process' log lines of a level and more severe ones to a function; `None` restores the default. It is called
/// on threads that are in a call of the library, by several at once. If it panics, the process aborts.
pub fn set_log(level: LogLevel, line: Option<Line>) -> Result<()> {
    let level = match level {
        LogLevel::Error => sys::MLXROCM_LOG_ERROR,
        LogLevel::Warn => sys::MLXROCM_LOG_WARN,
        LogLevel::Info => sys::MLXROCM_LOG_INFO,
        LogLevel::Debug => sys::MLXROCM_LOG_DEBUG,
    };
    let (callback, free): (sys::mlxrocm_log_callback, sys::mlxrocm_user_data_free) =
        if line.is_some() { (Some(hear), Some(forget)) } else { (None, None) };
    let data = line.map_or(null_mut(), |line| Box::into_raw(Box::new(line)).cast());
    // SAFETY: the library frees the data once, when no call of the function runs any more.
    call(|error| unsafe { sys::mlxrocm_log_set_callback(level, callback, data, free, error) })?;
    Ok(())
}

unsafe extern "C" fn hear(level: u32, message: *const c_char, length: usize, line: *mut c_void) {
    let level = match level {
        sys::MLXROCM_LOG_ERROR => LogLevel::Error,
        sys::MLXROCM_LOG_WARN => LogLevel::Warn,
        sys::MLXROCM_LOG_INFO => LogLevel::Info,
        _ => LogLevel::Debug,
    };
    // SAFETY: so many bytes for the call, and the function that set_log gave.
    let (message, line) = unsafe { (slice::from_raw_parts(message.cast(), length), &*line.cast::<Line>()) };
    line(level, &String::from_utf8_lossy(message));
}

unsafe extern "C" fn forget(line: *mut c_void) {
    // SAFETY: set_log made it so.
    drop(unsafe { Box::from_raw(line.cast::<Line>()) });
}
