//! Dtypes: their numbers.

use crate::ir::Dtype;
use crate::{Error, Result};

/// Dtype: truth values, one byte of 0 or 1.
pub const MLXROCM_DTYPE_BOOL: u32 = 0;
/// Dtype: unsigned integers of 8 bits.
pub const MLXROCM_DTYPE_UINT8: u32 = 1;
/// Dtype: unsigned integers of 16 bits.
pub const MLXROCM_DTYPE_UINT16: u32 = 2;
/// Dtype: unsigned integers of 32 bits.
pub const MLXROCM_DTYPE_UINT32: u32 = 3;
/// Dtype: unsigned integers of 64 bits.
pub const MLXROCM_DTYPE_UINT64: u32 = 4;
/// Dtype: signed integers of 8 bits.
pub const MLXROCM_DTYPE_INT8: u32 = 5;
/// Dtype: signed integers of 16 bits.
pub const MLXROCM_DTYPE_INT16: u32 = 6;
/// Dtype: signed integers of 32 bits.
pub const MLXROCM_DTYPE_INT32: u32 = 7;
/// Dtype: signed integers of 64 bits.
pub const MLXROCM_DTYPE_INT64: u32 = 8;
/// Dtype: IEEE half precision.
pub const MLXROCM_DTYPE_FLOAT16: u32 = 9;
/// Dtype: IEEE single precision.
pub const MLXROCM_DTYPE_FLOAT32: u32 = 10;
/// Dtype: IEEE double precision.
pub const MLXROCM_DTYPE_FLOAT64: u32 = 11;
/// Dtype: bfloat16.
pub const MLXROCM_DTYPE_BFLOAT16: u32 = 12;
/// Dtype: complex numbers, two of single precision.
pub const MLXROCM_DTYPE_COMPLEX64: u32 = 13;
/// No dtype.
pub const MLXROCM_DTYPE_NONE: u32 = u32::MAX;

/// The dtype of a number of C.
pub(in crate::capi) fn dtype_of(number: u32) -> Result<Dtype> {
    Dtype::from_number(number).ok_or_else(|| {
        Error::InvalidArgument(format!(
            "dtype is {number}, it must be one of MLXROCM_DTYPE_BOOL (0) to MLXROCM_DTYPE_COMPLEX64 (13)"
        ))
    })
}

/// The dtype of a number, or none for a negative one.
pub(in crate::capi) fn optional_dtype(number: i64) -> Result<Option<Dtype>> {
    match u32::try_from(number) {
        Ok(number) => dtype_of(number).map(Some),
        Err(_) if number < 0 => Ok(None),
        Err(_) => dtype_of(u32::MAX).map(Some),
    }
}
