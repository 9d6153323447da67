//! Whether this program can open libraries at all.

use std::ffi::{CStr, c_int, c_void};

/// Whether the program was linked statically (`cc -static`). The C library's `dlopen` brings a second
/// C library into such a program, and what is opened with it crashes.
pub(super) fn is_static() -> bool {
    // SAFETY: the function takes what the loader gives it and touches nothing else.
    unsafe { libc::dl_iterate_phdr(Some(is_library), std::ptr::null_mut()) == 0 }
}

/// 1, which ends the walk, for a library that the loader has loaded: these have a path. The program
/// itself has an empty name, the kernel's own page one without a folder.
unsafe extern "C" fn is_library(
    object: *mut libc::dl_phdr_info,
    _size: usize,
    _data: *mut c_void,
) -> c_int {
    // SAFETY: the loader gives a live object.
    let name = unsafe { (*object).dlpi_name };
    if name.is_null() {
        return 0;
    }
    // SAFETY: not NULL, and names are C strings that live during the call.
    let name = unsafe { CStr::from_ptr(name) };
    c_int::from(name.to_bytes().contains(&b'/'))
}

#[cfg(test)]
mod tests {
    #[test]
    fn tests_are_linked_dynamically() {
        assert!(!super::is_static());
    }
}
