//! From the driver's codes to errors.

use super::facts::Platform;
use super::sys::hip;
use crate::Error;

/// What a driver call returned. The two drivers share the numbers that matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code(pub i32);

impl Code {
    /// Success.
    pub const OK: Code = Code(0);

    /// The work is not done yet.
    pub fn is_not_ready(self) -> bool {
        self.is(hip::hipErrorNotReady)
    }

    /// Memory is used up.
    pub fn is_out_of_memory(self) -> bool {
        self.is(hip::hipErrorOutOfMemory)
    }

    /// There is no device. Drivers say it in two ways.
    pub fn is_no_device(self) -> bool {
        self.is(hip::hipErrorNoDevice) || self.is(hip::hipErrorInvalidDevice)
    }

    /// The device or its context is gone for good, whatever else still answers.
    pub fn is_lost(self) -> bool {
        [
            hip::hipErrorDeinitialized,
            hip::hipErrorECCNotCorrectable,
            hip::hipErrorContextIsDestroyed,
        ]
        .iter()
        .any(|code| self.is(*code))
    }

    fn is(self, code: u32) -> bool {
        u32::try_from(self.0) == Ok(code)
    }
}

/// The error for a failed call. `what` says what failed and about which object.
pub(super) fn error(platform: Platform, code: Code, name: &str, what: &str) -> Error {
    let message = format!("{what}: {} error {} ({name})", platform.name(), code.0);
    if code.is_out_of_memory() {
        Error::OutOfMemory(message)
    } else {
        Error::Driver {
            code: code.0,
            message,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::sys::cuda;

    /// `Code` reads both drivers' numbers by HIP's names.
    #[test]
    fn both_drivers_share_the_numbers_used() {
        assert_eq!(hip::hipErrorNotReady, cuda::CUDA_ERROR_NOT_READY);
        assert_eq!(hip::hipErrorOutOfMemory, cuda::CUDA_ERROR_OUT_OF_MEMORY);
        assert_eq!(hip::hipErrorNoDevice, cuda::CUDA_ERROR_NO_DEVICE);
        assert_eq!(
            (
                hip::hipErrorDeinitialized,
                hip::hipErrorECCNotCorrectable,
                hip::hipErrorContextIsDestroyed
            ),
            (
                cuda::CUDA_ERROR_DEINITIALIZED,
                cuda::CUDA_ERROR_ECC_UNCORRECTABLE,
                cuda::CUDA_ERROR_CONTEXT_IS_DESTROYED
            )
        );
        assert_eq!(hip::hipErrorInvalidDevice, cuda::CUDA_ERROR_INVALID_DEVICE);
        assert_eq!(
            (hip::hipHostMallocPortable, hip::hipHostMallocMapped),
            (
                cuda::CU_MEMHOSTALLOC_PORTABLE,
                cuda::CU_MEMHOSTALLOC_DEVICEMAP
            )
        );
        assert_eq!(
            (hip::hipEventBlockingSync, hip::hipEventDisableTiming),
            (cuda::CU_EVENT_BLOCKING_SYNC, cuda::CU_EVENT_DISABLE_TIMING)
        );
        assert_eq!(hip::hipStreamNonBlocking, cuda::CU_STREAM_NON_BLOCKING);
        for (one, other) in [
            (
                hip::HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                cuda::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
            ),
            (
                hip::HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
                cuda::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
            ),
            (
                hip::HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
                cuda::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
            ),
            (
                hip::HIP_FUNC_ATTRIBUTE_NUM_REGS,
                cuda::CU_FUNC_ATTRIBUTE_NUM_REGS,
            ),
        ] {
            assert_eq!(one, other);
        }
    }

    #[test]
    fn codes_become_errors() {
        let error = |code| error(Platform::Hip, Code(code), "name", "launching 'k'");
        assert_eq!(
            error(719).to_string(),
            "launching 'k': HIP error 719 (name)"
        );
        assert_eq!(error(719).vendor_code(), 719);
        assert!(matches!(error(2), Error::OutOfMemory(_)));
        assert!(Code(100).is_no_device() && Code(101).is_no_device() && !Code(102).is_no_device());
        assert!(Code(600).is_not_ready() && !Code::OK.is_not_ready());
    }
}
