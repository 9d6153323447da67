//! The targets that ROCm's compiler library (comgr) knows: what hiprtc may be asked for.

use libloading::os::unix::{Library, Symbol};
use std::ffi::{CStr, c_char, c_int};

/// The targets that the loaded comgr library knows ("gfx1100"), or none if no such library is
/// loaded in this process.
pub fn known_targets() -> Option<Vec<String>> {
    ["libamd_comgr.so.3", "libamd_comgr.so.2", "libamd_comgr.so"]
        .iter()
        .find_map(|name| {
            // SAFETY: RTLD_NOLOAD only finds what is loaded already; nothing is run.
            let library =
                unsafe { Library::open(Some(name), libc::RTLD_LAZY | libc::RTLD_NOLOAD) }.ok()?;
            targets_of(&library)
        })
}

fn targets_of(library: &Library) -> Option<Vec<String>> {
    type Count = unsafe extern "C" fn(*mut usize) -> c_int;
    type Name = unsafe extern "C" fn(usize, *mut *const c_char) -> c_int;
    // SAFETY: the types are those of amd_comgr.h, the same in all releases of versions 2 and 3.
    let count: Symbol<Count> = unsafe { library.get(b"amd_comgr_get_isa_count") }.ok()?;
    // SAFETY: as above.
    let name: Symbol<Name> = unsafe { library.get(b"amd_comgr_get_isa_name") }.ok()?;
    let mut length = 0;
    // SAFETY: the number is written.
    if unsafe { count(&mut length) } != 0 {
        return None;
    }
    let mut targets = Vec::new();
    for index in 0..length.min(4096) {
        let mut text: *const c_char = std::ptr::null();
        // SAFETY: the index is below the count; the pointer is written.
        if unsafe { name(index, &mut text) } != 0 || text.is_null() {
            return None;
        }
        // SAFETY: a C string that belongs to the library.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
        // "amdgcn-amd-amdhsa--gfx1100"
        let target = text.rsplit("--").next().unwrap_or_default();
        targets.push(target.split(':').next().unwrap_or_default().to_owned());
    }
    Some(targets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_of_targets_if_there_is_one() {
        for target in known_targets().unwrap_or_default() {
            assert!(target.starts_with("gfx"), "{target}");
        }
    }
}
