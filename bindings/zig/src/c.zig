//! The C interface as it is: include/mlxrocm.h is the manual.

pub const c = @cImport(@cInclude("mlxrocm.h"));
