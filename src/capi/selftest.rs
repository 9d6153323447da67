//! The self-test of a GPU.

use super::boundary::boundary_on;
use super::callback::{UserData, mlxrocm_user_data_free};
use super::device::{DeviceObject, mlxrocm_device};
use super::error::mlxrocm_error;
use super::options::{self, SizedStruct};
use super::status::mlxrocm_status;
use super::strings::Text;
use super::symbols::since_0_1;
use crate::gpu::selftest::{self, SelftestOptions};
use crate::{Error, Result};
use std::ffi::{c_char, c_void};

/// Self-test flag: measure with small sizes and few rounds.
pub const MLXROCM_SELFTEST_QUICK: u32 = 1;
/// Self-test flag: leave the measurements out.
pub const MLXROCM_SELFTEST_NO_MEASUREMENTS: u32 = 2;

/// Receives one line of a self-test's report without its newline; `line` has `length` bytes and a NUL
/// behind them, and is borrowed for the call. It is called from the thread that tests.
///
/// Returns 0 to go on, anything else to end the test with MLXROCM_ERROR_CANCELLED. It must not throw,
/// unwind or jump out.
pub type mlxrocm_selftest_callback =
    Option<unsafe extern "C" fn(line: *const c_char, length: usize, user_data: *mut c_void) -> i32>;

/// How to test a GPU. Zero is each field's default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_selftest_options {
    /// Set by the caller to sizeof(mlxrocm_selftest_options).
    pub struct_size: u32,
    /// MLXROCM_SELFTEST_... flags together.
    pub flags: u32,
    /// Seed of the random inputs; 0: a new one each time. The report names it.
    pub seed: u64,
    /// Nullable; hears the report, line by line.
    pub report: mlxrocm_selftest_callback,
    /// Nullable, passed to `report`.
    pub user_data: *mut c_void,
    /// Nullable; called exactly once with `user_data` before mlxrocm_device_selftest returns, unless
    /// this struct cannot be read (NULL, a wrong struct_size) or `device` is not a live device.
    pub user_data_free: mlxrocm_user_data_free,
}

// SAFETY: repr(C), size first, numbers and pointers, no padding (a test checks).
unsafe impl SizedStruct for mlxrocm_selftest_options {
    const NAME: &'static str = "mlxrocm_selftest_options";
    const FIRST_SIZE: usize = size_of::<Self>();
}

/// Tests a GPU: runs the built-in kernels on random inputs of odd sizes against plain forms on the
/// processor, compares graph replay with direct launches bit for bit, and measures copies, reads,
/// launches and allocations. The report is plain text to attach to a bug report. Takes from seconds to
/// a minute; other work of this process on the device is not disturbed, but makes the measurements
/// worse.
///
/// - `device`: borrowed; a GPU.
/// - `options`: borrowed for the call; NULL means defaults.
/// - `error`: nullable; receives an owned error object on failure. It names the cases that failed.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU), SELFTEST_FAILED (the device gives
/// wrong results), CANCELLED (by the callback), TIMEOUT (the device hangs), OUT_OF_MEMORY,
/// DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_device_selftest(
    device: *const mlxrocm_device,
    options: *const mlxrocm_selftest_options,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(device, "device", error, |object: &DeviceObject| {
        // SAFETY: the caller's struct, as documented.
        let options = unsafe { options::read(options) }?;
        let user_data = UserData::new(options.user_data, options.user_data_free);
        let known = MLXROCM_SELFTEST_QUICK | MLXROCM_SELFTEST_NO_MEASUREMENTS;
        if options.flags & !known != 0 {
            return Err(Error::InvalidArgument(format!(
                "flags is {:#x}, only MLXROCM_SELFTEST_... flags are known",
                options.flags
            )));
        }
        let device = &object.gpu()?.device;
        let mut line = |text: &str| -> Result<()> {
            let Some(report) = options.report else {
                return Ok(());
            };
            let text = Text::new(text);
            // SAFETY: the application gave the function for this user data, which is freed after the
            // test; the line lives until it returns.
            match unsafe { report(text.pointer(), text.length(), user_data.pointer()) } {
                0 => Ok(()),
                _ => Err(Error::Cancelled(
                    "the self-test was ended by its callback".into(),
                )),
            }
        };
        let how = SelftestOptions {
            seed: options.seed,
            quick: options.flags & MLXROCM_SELFTEST_QUICK != 0,
            no_measurements: options.flags & MLXROCM_SELFTEST_NO_MEASUREMENTS != 0,
        };
        selftest::run(device, how, &mut line)
    })
}

since_0_1! { mlxrocm_device_selftest }
