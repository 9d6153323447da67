//! The one error type of the library and its status codes.

/// Shorthand for a result with [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong. Every message is one line of UTF-8 that says what failed, which object (file,
/// tensor, parameter) it was about, and what the caller can do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A parameter has a value outside its documented range.
    #[error("{0}")]
    InvalidArgument(String),
    /// A pointer that must not be NULL is NULL.
    #[error("{0} must not be NULL")]
    NullArgument(String),
    /// The handle was poisoned by an earlier internal error and can only be freed.
    #[error("{0}")]
    Poisoned(String),
    /// An allocation failed or would exceed a limit.
    #[error("{0}")]
    OutOfMemory(String),
    /// The operating system refused to open, read or map a file.
    #[error("{0}")]
    Io(String),
    /// A file's content is damaged or contradicts itself.
    #[error("{0}")]
    InvalidFile(String),
    /// The file or request is valid but asks for something this library does not do.
    #[error("{0}")]
    Unsupported(String),
    /// A caller's buffer is too small; `needed` is the size in the unit of the parameter.
    #[error("buffer too small: {needed} needed")]
    BufferTooSmall {
        /// The size that would have been enough.
        needed: usize,
    },
    /// The prompt and the tokens to generate do not fit the context.
    #[error("{0}")]
    ContextFull(String),
    /// No usable device.
    #[error("{0}")]
    NoDevice(String),
    /// A device failed while it ran.
    #[error("{0}")]
    DeviceFailed(String),
    /// A driver call failed; `code` is the driver's own number.
    #[error("{message}")]
    Driver {
        /// The vendor's error code.
        code: i32,
        /// What failed, and what to do.
        message: String,
    },
    /// The device stopped working and takes no more work in this process.
    #[error("{0}")]
    DeviceLost(String),
    /// The time given for a wait is over; the work goes on.
    #[error("{0}")]
    Timeout(String),
    /// A device gives wrong results: its self-test found them.
    #[error("{0}")]
    SelfTestFailed(String),
    /// The caller's progress callback or a cancel call ended the operation.
    #[error("{0}")]
    Cancelled(String),
    /// A defect in this library (a caught panic).
    #[error("internal error: {0}")]
    Internal(String),
}

impl Error {
    /// An error of the operating system about a file, without the number that `std` puts behind its text.
    pub fn of_file(path: &std::path::Path, error: &std::io::Error) -> Error {
        Error::Io(format!("{}: {}", path.display(), said(error)))
    }

    /// The C status code. Numbers are stable: they are never reused.
    pub fn status(&self) -> i32 {
        match self {
            Error::InvalidArgument(_) => -1,
            Error::NullArgument(_) => -2,
            Error::Poisoned(_) => -3,
            Error::OutOfMemory(_) => -4,
            Error::Io(_) => -5,
            Error::InvalidFile(_) => -6,
            Error::Unsupported(_) => -7,
            Error::BufferTooSmall { .. } => -8,
            Error::ContextFull(_) => -9,
            Error::NoDevice(_) => -10,
            Error::DeviceFailed(_) | Error::Driver { .. } => -11,
            Error::Cancelled(_) => -12,
            Error::Internal(_) => -13,
            Error::DeviceLost(_) => -14,
            Error::Timeout(_) => -15,
            Error::SelfTestFailed(_) => -16,
        }
    }

    /// The driver's own number for the failure; 0 where there is none.
    pub fn vendor_code(&self) -> i32 {
        match self {
            Error::Driver { code, .. } => *code,
            _ => 0,
        }
    }
}

/// What the operating system says, without the number that `std` puts behind it.
pub(crate) fn said(error: &std::io::Error) -> String {
    let text = error.to_string();
    let number = error
        .raw_os_error()
        .map(|code| format!(" (os error {code})"));
    match number.and_then(|number| text.strip_suffix(&number).map(str::to_string)) {
        Some(text) => text,
        None => text,
    }
}
