//! Reading host memory that the program may have freed: answers instead of a crash.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set when the kernel refuses `process_vm_readv` to this process.
static USE_PIPE: AtomicBool = AtomicBool::new(false);

/// Reads `into.len()` bytes at `address`; false when any of them is not readable.
pub fn read(address: u64, into: &mut [u8]) -> bool {
    if into.is_empty() {
        return true;
    }
    if address == 0 {
        return false;
    }
    if !USE_PIPE.load(Ordering::Relaxed) {
        let local = libc::iovec {
            iov_base: into.as_mut_ptr().cast(),
            iov_len: into.len(),
        };
        let remote = libc::iovec {
            iov_base: address as *mut c_void,
            iov_len: into.len(),
        };
        // SAFETY: `local` is ours; the kernel checks `remote` and answers EFAULT.
        let got = unsafe {
            libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0)
        };
        if got >= 0 {
            return got as usize == into.len();
        }
        let error = std::io::Error::last_os_error().raw_os_error();
        if !matches!(error, Some(libc::EPERM | libc::ENOSYS)) {
            return false;
        }
        USE_PIPE.store(true, Ordering::Relaxed);
    }
    read_by_pipe(address, into)
}

/// Reads a plain value.
pub fn read_u64(address: u64) -> Option<u64> {
    let mut bytes = [0; 8];
    read(address, &mut bytes).then(|| u64::from_ne_bytes(bytes))
}

/// `write(2)` answers EFAULT for memory that is not readable; a pipe takes what it reads.
fn read_by_pipe(address: u64, into: &mut [u8]) -> bool {
    let mut ends = [0; 2];
    // SAFETY: an array of two descriptors is what pipe2 fills.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC | libc::O_NONBLOCK) } != 0 {
        return false;
    }
    let mut complete = true;
    for (index, chunk) in into.chunks_mut(4096).enumerate() {
        let from = (address + (index * 4096) as u64) as *const c_void;
        // SAFETY: the kernel checks `from`; `chunk` is ours.
        let moved = unsafe {
            let written = libc::write(ends[1], from, chunk.len());
            written == chunk.len() as isize
                && libc::read(ends[0], chunk.as_mut_ptr().cast(), chunk.len()) == written
        };
        if !moved {
            complete = false;
            break;
        }
    }
    for end in ends {
        // SAFETY: both descriptors are ours and open.
        unsafe { libc::close(end) };
    }
    complete
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readable_memory_is_read_and_the_rest_refused() {
        let bytes: Vec<u8> = (0..10_000).map(|i| (i % 251) as u8).collect();
        for way in [read as fn(u64, &mut [u8]) -> bool, read_by_pipe] {
            let mut copy = vec![0; bytes.len()];
            assert!(way(bytes.as_ptr() as u64, &mut copy));
            assert_eq!(copy, bytes);
            assert!(!way(0x10, &mut copy));
            assert!(!way(0x5347_0000_0000_0000, &mut copy));
        }
    }
}
