//! Whether hiprtc may be asked to compile for a target.
//!
//! ROCm's compiler library (comgr) ends the process by `abort` when it is given a target it does not
//! know (seen with ROCm 5.2). So its own list of targets is read first. Where that library is not to
//! be found (a static build, another vendor's stand-in), a trial compilation runs in a forked child,
//! which may die without harm.

use std::ffi::c_int;
use std::time::{Duration, Instant};

/// How long a trial may take before it counts as failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs `trial` in a forked child and says whether the child came to its end.
///
/// The child has only the calling thread. Should another thread have held a lock at that moment that
/// the trial needs, the child hangs and is ended after a time; the parent is not affected.
pub(super) fn survives(trial: impl FnOnce()) -> bool {
    let mut ends = [0; 2];
    // SAFETY: the array takes two descriptors.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return false;
    }
    let [reading, writing] = ends;
    // SAFETY: the child only runs the trial, writes one byte and leaves by _exit.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: plain system calls on this process' own descriptors and limits; the trial is the
        // caller's. No exit handler runs and no core file is written.
        unsafe {
            let none = libc::rlimit {
                rlim_cur: 0,
                rlim_max: 0,
            };
            libc::setrlimit(libc::RLIMIT_CORE, &none);
            libc::signal(libc::SIGABRT, libc::SIG_DFL);
            libc::signal(libc::SIGSEGV, libc::SIG_DFL);
            let null = libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY);
            libc::dup2(null, 1);
            libc::dup2(null, 2);
        }
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(trial));
        // SAFETY: one byte from a static; then the child ends.
        unsafe {
            libc::write(writing, c"y".as_ptr().cast(), 1);
            libc::_exit(0);
        }
    }
    // SAFETY: the descriptor is this function's.
    unsafe { libc::close(writing) };
    let answered = child > 0 && answer(reading);
    // SAFETY: the descriptor is this function's.
    unsafe { libc::close(reading) };
    if child > 0 {
        reap(child);
    }
    answered
}

/// Whether a byte comes before the end or the time is up. The pipe tells, not the exit status: the
/// application may reap children itself.
fn answer(reading: c_int) -> bool {
    let end = Instant::now() + PATIENCE;
    loop {
        let left = end.saturating_duration_since(Instant::now()).as_millis();
        let mut wait = libc::pollfd {
            fd: reading,
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one descriptor.
        let ready = unsafe { libc::poll(&mut wait, 1, c_int::try_from(left).unwrap_or(0)) };
        if ready < 0 && std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted {
            continue;
        }
        if ready <= 0 {
            return false;
        }
        let mut byte = 0u8;
        // SAFETY: one byte of room.
        let count = unsafe { libc::read(reading, (&raw mut byte).cast(), 1) };
        if count < 0 && std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted {
            continue;
        }
        return count == 1;
    }
}

/// Ends the child if it still runs and takes its status.
fn reap(child: libc::pid_t) {
    // A child that answered needs a moment to leave.
    for _ in 0..50 {
        // SAFETY: this function's own child; no status wanted.
        if unsafe { libc::waitpid(child, std::ptr::null_mut(), libc::WNOHANG) } != 0 {
            return;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    // SAFETY: waitpid said that it is still this process' running child.
    unsafe {
        libc::kill(child, libc::SIGKILL);
        libc::waitpid(child, std::ptr::null_mut(), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_that_ends_and_trials_that_die() {
        assert!(survives(|| {}));
        assert!(survives(|| panic!("caught in the child")));
        assert!(!survives(|| std::process::abort()));
        // SAFETY: the child leaves without an answer.
        assert!(!survives(|| unsafe { libc::_exit(0) }));
        // SAFETY: the child ends by a signal.
        assert!(!survives(|| unsafe {
            libc::raise(libc::SIGSEGV);
        }));
    }
}
