// Made by bindings/generate.py from include/mlxrocm.json. Do not edit.

/// What a call failed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// A parameter has a value outside its documented range, or a handle is not live.
    InvalidArgument,
    /// A pointer that must not be NULL is NULL.
    NullArgument,
    /// The handle had an internal error before and can only be freed.
    Poisoned,
    /// An allocation failed or would exceed a limit.
    OutOfMemory,
    /// The operating system refused to open, read or map a file.
    Io,
    /// A file's content is damaged or contradicts itself.
    InvalidFile,
    /// The file or request is valid but asks for something this library does not do.
    Unsupported,
    /// The caller's buffer is too small; `needed` says what would be enough.
    BufferTooSmall,
    /// The prompt does not fit the context.
    ContextFull,
    /// No usable device.
    NoDevice,
    /// A device failed while it ran.
    DeviceFailed,
    /// The caller's progress callback ended the operation.
    Cancelled,
    /// A defect in this library; the handle it happened in is poisoned.
    Internal,
    /// The device stopped working and takes no more work in this process.
    DeviceLost,
    /// The time given for a wait is over; the work goes on.
    Timeout,
    /// A device gives wrong results: its self-test found them.
    SelftestFailed,
    /// A status of a newer library.
    Other(i32),
}

impl From<i32> for Status {
    fn from(number: i32) -> Status {
        match number {
            -1 => Status::InvalidArgument,
            -2 => Status::NullArgument,
            -3 => Status::Poisoned,
            -4 => Status::OutOfMemory,
            -5 => Status::Io,
            -6 => Status::InvalidFile,
            -7 => Status::Unsupported,
            -8 => Status::BufferTooSmall,
            -9 => Status::ContextFull,
            -10 => Status::NoDevice,
            -11 => Status::DeviceFailed,
            -12 => Status::Cancelled,
            -13 => Status::Internal,
            -14 => Status::DeviceLost,
            -15 => Status::Timeout,
            -16 => Status::SelftestFailed,
            other => Status::Other(other),
        }
    }
}

/// The dtype of an array's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
#[non_exhaustive]
pub enum DType {
    /// Dtype: truth values, one byte of 0 or 1.
    Bool = 0,
    /// Dtype: unsigned integers of 8 bits.
    Uint8 = 1,
    /// Dtype: unsigned integers of 16 bits.
    Uint16 = 2,
    /// Dtype: unsigned integers of 32 bits.
    Uint32 = 3,
    /// Dtype: unsigned integers of 64 bits.
    Uint64 = 4,
    /// Dtype: signed integers of 8 bits.
    Int8 = 5,
    /// Dtype: signed integers of 16 bits.
    Int16 = 6,
    /// Dtype: signed integers of 32 bits.
    Int32 = 7,
    /// Dtype: signed integers of 64 bits.
    Int64 = 8,
    /// Dtype: IEEE half precision.
    Float16 = 9,
    /// Dtype: IEEE single precision.
    Float32 = 10,
    /// Dtype: IEEE double precision.
    Float64 = 11,
    /// Dtype: bfloat16.
    Bfloat16 = 12,
    /// Dtype: complex numbers, two of single precision.
    Complex64 = 13,
}

impl DType {
    pub(crate) fn from_number(number: u32) -> Option<DType> {
        Some(match number {
            0 => DType::Bool,
            1 => DType::Uint8,
            2 => DType::Uint16,
            3 => DType::Uint32,
            4 => DType::Uint64,
            5 => DType::Int8,
            6 => DType::Int16,
            7 => DType::Int32,
            8 => DType::Int64,
            9 => DType::Float16,
            10 => DType::Float32,
            11 => DType::Float64,
            12 => DType::Bfloat16,
            13 => DType::Complex64,
            _ => return None,
        })
    }
}
