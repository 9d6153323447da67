//! HIP result codes: the values of `hipError_t` that the stand-in returns, with their names.

use std::ffi::{c_char, c_int};

/// A HIP error code (never 0, which is success).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error(pub c_int);

/// What the body of an exported function yields.
pub type Outcome<T = ()> = Result<T, Error>;

macro_rules! codes {
    ($($constant:ident = $value:literal, $name:literal, $text:literal;)*) => {
        impl Error {
            $(#[doc = $text] pub const $constant: Error = Error($value);)*
        }

        /// Name and description of a code, both ended by a NUL; unknown codes answer as HIP does.
        fn describe(code: c_int) -> (&'static str, &'static str) {
            match code {
                0 => ("hipSuccess\0", "no error\0"),
                $($value => (concat!($name, "\0"), concat!($text, "\0")),)*
                _ => ("hipErrorUnknown\0", "unknown error\0"),
            }
        }
    };
}

codes! {
    INVALID_VALUE = 1, "hipErrorInvalidValue", "invalid argument";
    OUT_OF_MEMORY = 2, "hipErrorOutOfMemory", "out of memory";
    NOT_INITIALIZED = 3, "hipErrorNotInitialized", "initialization error";
    INVALID_CONFIGURATION = 9, "hipErrorInvalidConfiguration", "invalid configuration argument";
    INVALID_SYMBOL = 13, "hipErrorInvalidSymbol", "invalid device symbol";
    INVALID_DEVICE_POINTER = 17, "hipErrorInvalidDevicePointer", "invalid device pointer";
    INVALID_MEMCPY_DIRECTION = 21, "hipErrorInvalidMemcpyDirection", "invalid copy direction for memcpy";
    INSUFFICIENT_DRIVER = 35, "hipErrorInsufficientDriver", "driver version is insufficient for runtime version";
    INVALID_DEVICE_FUNCTION = 98, "hipErrorInvalidDeviceFunction", "invalid device function";
    NO_DEVICE = 100, "hipErrorNoDevice", "no ROCm-capable device is detected";
    INVALID_DEVICE = 101, "hipErrorInvalidDevice", "invalid device ordinal";
    INVALID_IMAGE = 200, "hipErrorInvalidImage", "device kernel image is invalid";
    INVALID_CONTEXT = 201, "hipErrorInvalidContext", "invalid device context";
    NO_BINARY_FOR_GPU = 209, "hipErrorNoBinaryForGpu", "no kernel image is available for execution on the device";
    INVALID_HANDLE = 400, "hipErrorInvalidHandle", "invalid resource handle";
    ILLEGAL_STATE = 401, "hipErrorIllegalState", "the operation cannot be performed in the present state";
    NOT_FOUND = 500, "hipErrorNotFound", "named symbol not found";
    NOT_READY = 600, "hipErrorNotReady", "device not ready";
    ILLEGAL_ADDRESS = 700, "hipErrorIllegalAddress", "an illegal memory access was encountered";
    LAUNCH_OUT_OF_RESOURCES = 701, "hipErrorLaunchOutOfResources", "too many resources requested for launch";
    LAUNCH_TIMEOUT = 702, "hipErrorLaunchTimeOut", "the launch timed out and was terminated";
    PEER_ACCESS_UNSUPPORTED = 217, "hipErrorPeerAccessUnsupported", "peer access is not supported between these two devices";
    CONTEXT_IS_DESTROYED = 709, "hipErrorContextIsDestroyed", "context is destroyed";
    HOST_MEMORY_ALREADY_REGISTERED = 712, "hipErrorHostMemoryAlreadyRegistered", "part or all of the requested memory range is already mapped";
    HOST_MEMORY_NOT_REGISTERED = 713, "hipErrorHostMemoryNotRegistered", "pointer does not correspond to a registered memory region";
    LAUNCH_FAILURE = 719, "hipErrorLaunchFailure", "unspecified launch failure";
    NOT_SUPPORTED = 801, "hipErrorNotSupported", "operation not supported";
    CAPTURE_UNSUPPORTED = 900, "hipErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing";
    CAPTURE_INVALIDATED = 901, "hipErrorStreamCaptureInvalidated", "operation failed due to a previous error during capture";
    CAPTURE_MERGE = 902, "hipErrorStreamCaptureMerge", "operation would result in a merge of separate capture sequences";
    CAPTURE_UNMATCHED = 903, "hipErrorStreamCaptureUnmatched", "capture was not ended in the same stream as it began";
    CAPTURE_UNJOINED = 904, "hipErrorStreamCaptureUnjoined", "capturing stream has unjoined work";
    CAPTURE_ISOLATION = 905, "hipErrorStreamCaptureIsolation", "dependency created on uncaptured work in another stream";
    CAPTURE_IMPLICIT = 906, "hipErrorStreamCaptureImplicit", "operation would make the legacy stream depend on a capturing blocking stream";
    CAPTURED_EVENT = 907, "hipErrorCapturedEvent", "operation not permitted on an event last recorded in a capturing stream";
    GRAPH_UPDATE_FAILURE = 910, "hipErrorGraphExecUpdateFailure", "the graph update was not performed because it included changes which violated constraints specific to instantiated graph update";
    UNKNOWN = 999, "hipErrorUnknown", "unknown error";
}

/// Name of a code (`hipErrorOutOfMemory`), for reports.
pub fn name(code: c_int) -> &'static str {
    describe(code).0.trim_end_matches('\0')
}

/// Address of a code's name as a C string, static.
pub fn name_pointer(code: c_int) -> *const c_char {
    describe(code).0.as_ptr().cast()
}

/// Address of a code's description as a C string, static.
pub fn text_pointer(code: c_int) -> *const c_char {
    describe(code).1.as_ptr().cast()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_values_of_the_headers() {
        for (code, expected) in [
            (0, "hipSuccess"),
            (2, "hipErrorOutOfMemory"),
            (100, "hipErrorNoDevice"),
            (600, "hipErrorNotReady"),
            (700, "hipErrorIllegalAddress"),
            (719, "hipErrorLaunchFailure"),
            (12345, "hipErrorUnknown"),
        ] {
            assert_eq!(name(code), expected);
        }
    }
}
