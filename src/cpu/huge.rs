//! Memory in huge pages.

use crate::{Error, Result};

/// Anonymous memory in huge pages where the system gives them; zeroed.
#[derive(Debug)]
pub struct Buffer {
    start: *mut u8,
    len: usize,
}

// SAFETY: plain owned memory; shared references only read it.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// `len` zeroed bytes, 2 MiB-aligned when they are that many.
    pub fn new(len: usize) -> Result<Buffer> {
        if len == 0 {
            return Ok(Buffer {
                start: std::ptr::NonNull::<u64>::dangling().as_ptr().cast(),
                len,
            });
        }
        // SAFETY: a fresh anonymous private mapping.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(Error::OutOfMemory(format!(
                "cannot allocate {} MiB of memory: {}",
                len >> 20,
                std::io::Error::last_os_error()
            )));
        }
        // SAFETY: advice on our own mapping; refusal is harmless.
        unsafe { libc::madvise(start, len, libc::MADV_HUGEPAGE) };
        Ok(Buffer {
            start: start.cast(),
            len,
        })
    }

    /// The bytes.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: `start` is valid for `len` initialised bytes.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }

    /// The first byte, for writers of disjoint parts.
    pub fn as_ptr(&self) -> *mut u8 {
        self.start
    }

    /// Bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The bytes.
    #[cfg(test)]
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as `as_slice`, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.len > 0 {
            // SAFETY: the mapping of `new`.
            unsafe { libc::munmap(self.start.cast(), self.len) };
        }
    }
}
