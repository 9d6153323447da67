//! The version of the library and how it was built.

use super::boundary::boundary_value;
use super::strings::tell_length;
use super::symbols::since_0_1;
use std::ffi::{CStr, c_char};

/// Major version of this header: the binary interface changes with it.
pub const MLXROCM_VERSION_MAJOR: u32 = 0;
/// Minor version of this header: functions and fields are added with it.
pub const MLXROCM_VERSION_MINOR: u32 = 1;
/// Patch version of this header.
pub const MLXROCM_VERSION_PATCH: u32 = 0;
/// This header's version as one number, major * 10000 + minor * 100 + patch: compare it with
/// mlxrocm_version().
pub const MLXROCM_VERSION: u32 = 100;

const VERSION_TEXT: &CStr = text(concat!(env!("CARGO_PKG_VERSION"), "\0"));

const BUILD_INFO: &CStr = text(concat!(
    "mlxrocm ",
    env!("CARGO_PKG_VERSION"),
    " for ",
    env!("MLXROCM_TARGET"),
    ", ",
    env!("MLXROCM_PROFILE"),
    " build; devices: cpu, hip, cuda; formats: gguf, mlx\0"
));

const fn text(terminated: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(terminated.as_bytes()) {
        Ok(text) => text,
        Err(_) => c"",
    }
}

/// The version of the library that runs, as one number: major * 10000 + minor * 100 + patch.
///
/// Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub extern "C" fn mlxrocm_version() -> u32 {
    boundary_value(0, || Ok(MLXROCM_VERSION))
}

/// The version of the library that runs, as text: "major.minor.patch".
///
/// - `length`: nullable; receives the bytes of the text, its NUL not counted.
///
/// Returns a string that is borrowed until the process ends. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_version_string(length: *mut usize) -> *const c_char {
    boundary_value(c"".as_ptr(), || {
        // SAFETY: the caller's number, as documented.
        unsafe { tell_length(length, VERSION_TEXT.count_bytes()) };
        Ok(VERSION_TEXT.as_ptr())
    })
}

/// One line about how the library was built: version, target, devices and formats. For bug reports.
///
/// - `length`: nullable; receives the bytes of the text, its NUL not counted.
///
/// Returns a string that is borrowed until the process ends. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_build_info(length: *mut usize) -> *const c_char {
    boundary_value(c"".as_ptr(), || {
        // SAFETY: the caller's number, as documented.
        unsafe { tell_length(length, BUILD_INFO.count_bytes()) };
        Ok(BUILD_INFO.as_ptr())
    })
}

since_0_1! { mlxrocm_version mlxrocm_version_string mlxrocm_build_info }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_has_the_version_of_the_package() {
        let parts = [
            MLXROCM_VERSION_MAJOR,
            MLXROCM_VERSION_MINOR,
            MLXROCM_VERSION_PATCH,
        ];
        let text = parts.map(|part| part.to_string()).join(".");
        assert_eq!(text, env!("CARGO_PKG_VERSION"));
        assert_eq!(VERSION_TEXT.to_str(), Ok(text.as_str()));
        assert_eq!(
            MLXROCM_VERSION,
            parts[0] * 10000 + parts[1] * 100 + parts[2]
        );
        assert!(
            BUILD_INFO
                .to_str()
                .unwrap()
                .starts_with(&format!("mlxrocm {text} for "))
        );
    }
}
