//! Made by bindings/generate.py from include/mlxrocm.json. Do not edit.

/// What calls fail with, one for each status.
pub const Error = error{
    InvalidArgument,
    NullArgument,
    Poisoned,
    OutOfMemory,
    Io,
    InvalidFile,
    Unsupported,
    BufferTooSmall,
    ContextFull,
    NoDevice,
    DeviceFailed,
    Cancelled,
    Internal,
    DeviceLost,
    Timeout,
    SelftestFailed,
    /// A status of a newer library.
    Other,
};

pub fn ofStatus(status: i32) Error {
    return switch (status) {
        -1 => error.InvalidArgument,
        -2 => error.NullArgument,
        -3 => error.Poisoned,
        -4 => error.OutOfMemory,
        -5 => error.Io,
        -6 => error.InvalidFile,
        -7 => error.Unsupported,
        -8 => error.BufferTooSmall,
        -9 => error.ContextFull,
        -10 => error.NoDevice,
        -11 => error.DeviceFailed,
        -12 => error.Cancelled,
        -13 => error.Internal,
        -14 => error.DeviceLost,
        -15 => error.Timeout,
        -16 => error.SelftestFailed,
        else => error.Other,
    };
}
