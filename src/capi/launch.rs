//! Launches: a kernel's geometry and its typed arguments.

use super::boundary::boundary_value;
use super::buffer::{BufferObject, mlxrocm_buffer};
use super::handle;
use super::options::{self, SizedStruct};
use super::strings::array;
use super::symbols::since_0_1;
use crate::gpu::{Args, DeviceBuffer, Range, UNNAMED};
use crate::{Error, Result};
use std::ptr::null;

/// Argument kind: an address in device memory.
pub const MLXROCM_ARG_BUFFER: u32 = 1;
/// Argument kind: a number of 32 bits.
pub const MLXROCM_ARG_32: u32 = 2;
/// Argument kind: a number of 64 bits, or an address that the application keeps valid.
pub const MLXROCM_ARG_64: u32 = 3;

/// Access: the kernel reads the buffer's part.
pub const MLXROCM_ACCESS_READ: u32 = 1;
/// Access: the kernel writes the buffer's part.
pub const MLXROCM_ACCESS_WRITE: u32 = 2;

/// One argument of a kernel: a pointer or a number of 32 or 64 bits; kernels take no others. The
/// functions mlxrocm_arg_... make them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_arg {
    /// One of MLXROCM_ARG_...
    pub kind: u32,
    /// BUFFER: MLXROCM_ACCESS_READ, MLXROCM_ACCESS_WRITE or both; programs order their launches by
    /// it.
    pub access: u32,
    /// BUFFER: the byte offset that the address begins at. Numbers: their bits, the upper 32 of a
    /// 32-bit number being 0.
    pub value: u64,
    /// BUFFER: device memory; borrowed for the call that gets the argument.
    pub buffer: *const mlxrocm_buffer,
    /// BUFFER: bytes from `value` on that the kernel touches; 0: all to the buffer's end.
    pub size: u64,
}

/// How to launch a kernel.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_launch {
    /// Set by the caller to sizeof(mlxrocm_launch).
    pub struct_size: u32,
    /// Bytes of local memory beyond what the kernel declares.
    pub dynamic_lds: u32,
    /// Blocks in x, y and z; with 0 in x nothing is launched, 0 in y or z is 1.
    pub grid: [u32; 3],
    /// Work items of a block in x, y and z; 0 in y or z is 1.
    pub block: [u32; 3],
    /// The kernel's arguments in its order, `arg_count` of them.
    pub args: *const mlxrocm_arg,
    /// Elements of `args`, at most 48.
    pub arg_count: usize,
    /// Arguments of kind BUFFER that the kernel does not take but reaches otherwise, through an
    /// address in memory; `touched_count` of them.
    pub touched: *const mlxrocm_arg,
    /// Elements of `touched`.
    pub touched_count: usize,
}

// SAFETY: repr(C), size first, numbers and pointers, no padding (a test checks).
unsafe impl SizedStruct for mlxrocm_launch {
    const NAME: &'static str = "mlxrocm_launch";
    const FIRST_SIZE: usize = size_of::<Self>();
}

/// A launch as the engine takes it.
pub(super) struct Launch {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_lds: u32,
    pub args: Args,
    pub reads: Vec<Range>,
    pub writes: Vec<Range>,
    /// Buffers that are touched without being arguments.
    pub touched: Vec<DeviceBuffer>,
}

/// Reads the caller's struct.
///
/// # Safety
/// `launch` is NULL or points to a struct as its first field says, whose pointers are as documented.
pub(super) unsafe fn read(launch: *const mlxrocm_launch) -> Result<Launch> {
    if launch.is_null() {
        return Err(Error::NullArgument("launch".into()));
    }
    // SAFETY: the caller's promise.
    let given = unsafe { options::read(launch) }?;
    // SAFETY: as above.
    let args = unsafe { array(given.args, given.arg_count, "launch.args") }?;
    // SAFETY: as above.
    let touched = unsafe { array(given.touched, given.touched_count, "launch.touched") }?;
    let [bx, by, bz] = given.block;
    if bx == 0 {
        return Err(Error::InvalidArgument(
            "launch.block[0] is 0: set it to the work items of a block".into(),
        ));
    }
    let [gx, gy, gz] = given.grid;
    let mut launch = Launch {
        grid: [gx, gy.max(1), gz.max(1)],
        block: [bx, by.max(1), bz.max(1)],
        dynamic_lds: given.dynamic_lds,
        args: Args::new(),
        reads: Vec::new(),
        writes: Vec::new(),
        touched: Vec::new(),
    };
    for (place, arg) in args.iter().enumerate() {
        launch
            .add(arg, true)
            .map_err(|error| at("args", place, error))?;
    }
    for (place, arg) in touched.iter().enumerate() {
        launch
            .add(arg, false)
            .map_err(|error| at("touched", place, error))?;
    }
    Ok(launch)
}

/// Says which argument an error is about.
fn at(list: &str, place: usize, error: Error) -> Error {
    match error {
        Error::InvalidArgument(message) => {
            Error::InvalidArgument(format!("launch.{list}[{place}]: {message}"))
        }
        Error::NullArgument(name) => Error::NullArgument(format!("launch.{list}[{place}]: {name}")),
        other => other,
    }
}

impl Launch {
    fn add(&mut self, arg: &mlxrocm_arg, is_taken: bool) -> Result<()> {
        let args = std::mem::take(&mut self.args);
        self.args = match arg.kind {
            MLXROCM_ARG_BUFFER => {
                let object = handle::get::<BufferObject>(arg.buffer, "the argument's buffer")?;
                let buffer = object.value().device("buffer")?;
                if arg.access & MLXROCM_ACCESS_WRITE != 0 {
                    object.value().writable("buffer")?;
                }
                let Some(rest) = buffer.len().checked_sub(arg.value) else {
                    return Err(Error::InvalidArgument(format!(
                        "the offset {} is past the end of a buffer of {} bytes",
                        arg.value,
                        buffer.len()
                    )));
                };
                let size = if arg.size == 0 { rest } else { arg.size };
                if size > rest {
                    return Err(Error::InvalidArgument(format!(
                        "{size} bytes from {} are outside a buffer of {} bytes",
                        arg.value,
                        buffer.len()
                    )));
                }
                let both = MLXROCM_ACCESS_READ | MLXROCM_ACCESS_WRITE;
                if arg.access == 0 || arg.access & !both != 0 {
                    return Err(Error::InvalidArgument(format!(
                        "access is {}, it must be MLXROCM_ACCESS_READ (1), WRITE (2) or both (3)",
                        arg.access
                    )));
                }
                let range = buffer.range(arg.value, size);
                if arg.access & MLXROCM_ACCESS_READ != 0 {
                    self.reads.push(range.clone());
                }
                if arg.access & MLXROCM_ACCESS_WRITE != 0 {
                    self.writes.push(range);
                }
                if is_taken {
                    args.buffer(UNNAMED, buffer, arg.value)
                } else {
                    self.touched.push(buffer.clone());
                    args
                }
            }
            MLXROCM_ARG_32 if is_taken => {
                let wrong = || {
                    Error::InvalidArgument(format!(
                        "value is {:#x}, a number of 32 bits has no more",
                        arg.value
                    ))
                };
                args.u32(UNNAMED, u32::try_from(arg.value).map_err(|_| wrong())?)
            }
            MLXROCM_ARG_64 if is_taken => args.u64(UNNAMED, arg.value),
            MLXROCM_ARG_32 | MLXROCM_ARG_64 => {
                return Err(Error::InvalidArgument(
                    "a number: only buffers can be touched".into(),
                ));
            }
            kind => {
                return Err(Error::InvalidArgument(format!(
                    "kind is {kind}, it must be one of MLXROCM_ARG_BUFFER (1), 32 (2), 64 (3)"
                )));
            }
        };
        Ok(())
    }
}

fn of_buffer(buffer: *const mlxrocm_buffer, offset: u64, access: u32) -> mlxrocm_arg {
    mlxrocm_arg {
        kind: MLXROCM_ARG_BUFFER,
        access,
        value: offset,
        buffer,
        size: 0,
    }
}

fn of_number(kind: u32, value: u64) -> mlxrocm_arg {
    mlxrocm_arg {
        kind,
        access: 0,
        value,
        buffer: null(),
        size: 0,
    }
}

/// An argument that is never valid: for a body that failed, which none of these does.
const NONE: mlxrocm_arg = mlxrocm_arg {
    kind: 0,
    access: 0,
    value: 0,
    buffer: null(),
    size: 0,
};

/// An argument: device memory that the kernel reads and writes. Set `size` of the result if the
/// kernel touches only a part.
///
/// - `buffer`: borrowed until the call that gets the argument returns.
/// - `offset`: byte of the buffer that the address begins at.
///
/// Returns the argument; what is wrong with it is reported by the launch. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_arg_buffer(
    buffer: *const mlxrocm_buffer,
    offset: u64,
) -> mlxrocm_arg {
    boundary_value(NONE, || {
        let both = MLXROCM_ACCESS_READ | MLXROCM_ACCESS_WRITE;
        Ok(of_buffer(buffer, offset, both))
    })
}

/// An argument: device memory that the kernel only reads. Set `size` of the result if the kernel
/// touches only a part.
///
/// - `buffer`: borrowed until the call that gets the argument returns.
/// - `offset`: byte of the buffer that the address begins at.
///
/// Returns the argument; what is wrong with it is reported by the launch. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_arg_input(
    buffer: *const mlxrocm_buffer,
    offset: u64,
) -> mlxrocm_arg {
    boundary_value(NONE, || Ok(of_buffer(buffer, offset, MLXROCM_ACCESS_READ)))
}

/// An argument: device memory that the kernel only writes. Set `size` of the result if the kernel
/// touches only a part.
///
/// - `buffer`: borrowed until the call that gets the argument returns.
/// - `offset`: byte of the buffer that the address begins at.
///
/// Returns the argument; what is wrong with it is reported by the launch. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_arg_output(
    buffer: *const mlxrocm_buffer,
    offset: u64,
) -> mlxrocm_arg {
    boundary_value(NONE, || Ok(of_buffer(buffer, offset, MLXROCM_ACCESS_WRITE)))
}

/// An argument: a number of 32 bits.
///
/// - `value`: the number.
///
/// Returns the argument. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub extern "C" fn mlxrocm_arg_u32(value: u32) -> mlxrocm_arg {
    boundary_value(NONE, || Ok(of_number(MLXROCM_ARG_32, u64::from(value))))
}

/// An argument: a signed number of 32 bits.
///
/// - `value`: the number.
///
/// Returns the argument. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub extern "C" fn mlxrocm_arg_i32(value: i32) -> mlxrocm_arg {
    boundary_value(NONE, || {
        Ok(of_number(MLXROCM_ARG_32, u64::from(value.cast_unsigned())))
    })
}

/// An argument: a float of 32 bits.
///
/// - `value`: the number.
///
/// Returns the argument. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub extern "C" fn mlxrocm_arg_f32(value: f32) -> mlxrocm_arg {
    boundary_value(NONE, || {
        Ok(of_number(MLXROCM_ARG_32, u64::from(value.to_bits())))
    })
}

/// An argument: a number of 64 bits, or an address that the application keeps valid.
///
/// - `value`: the number.
///
/// Returns the argument. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub extern "C" fn mlxrocm_arg_u64(value: u64) -> mlxrocm_arg {
    boundary_value(NONE, || Ok(of_number(MLXROCM_ARG_64, value)))
}

/// An argument: a signed number of 64 bits.
///
/// - `value`: the number.
///
/// Returns the argument. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub extern "C" fn mlxrocm_arg_i64(value: i64) -> mlxrocm_arg {
    boundary_value(NONE, || {
        Ok(of_number(MLXROCM_ARG_64, value.cast_unsigned()))
    })
}

/// An argument: a float of 64 bits.
///
/// - `value`: the number.
///
/// Returns the argument. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub extern "C" fn mlxrocm_arg_f64(value: f64) -> mlxrocm_arg {
    boundary_value(NONE, || Ok(of_number(MLXROCM_ARG_64, value.to_bits())))
}

since_0_1! {
    mlxrocm_arg_buffer mlxrocm_arg_input mlxrocm_arg_output mlxrocm_arg_u32 mlxrocm_arg_i32
    mlxrocm_arg_f32 mlxrocm_arg_u64 mlxrocm_arg_i64 mlxrocm_arg_f64
}
