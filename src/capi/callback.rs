//! The caller's data that comes with a callback.

use std::ffi::c_void;

/// Frees a callback's `user_data`.
pub type mlxrocm_user_data_free = Option<unsafe extern "C" fn(user_data: *mut c_void)>;

/// A callback's `user_data`; its destructor runs exactly once, when this is dropped.
pub(super) struct UserData {
    pointer: *mut c_void,
    free: mlxrocm_user_data_free,
}

impl UserData {
    pub(super) fn new(pointer: *mut c_void, free: mlxrocm_user_data_free) -> UserData {
        UserData { pointer, free }
    }

    pub(super) fn pointer(&self) -> *mut c_void {
        self.pointer
    }
}

impl Drop for UserData {
    fn drop(&mut self) {
        if let Some(free) = self.free {
            // SAFETY: the application gave the function for this pointer, to be called once.
            unsafe { free(self.pointer) };
        }
    }
}

// SAFETY: the pointer is only handed back to the application, which is told that its callback and
// destructor may run on any thread.
unsafe impl Send for UserData {}
// SAFETY: as above.
unsafe impl Sync for UserData {}
