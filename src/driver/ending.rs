//! The end of the process while a chain is compiled. The exit handlers of a run-time compiler take apart what a thread in it
//! works with: programs that ended within half a second of their first chain died of SIGSEGV or SIGABRT (NVRTC 13.0 and
//! 13.5). So the process waits for the one that is under way, and no other begins.

use super::facts::Platform;
use parking_lot::{Mutex, MutexGuard};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// Held by who compiles: not many at once, as the application has work to do, too.
static ONE: Mutex<()> = Mutex::new(());
static IS_ENDING: AtomicBool = AtomicBool::new(false);
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// The longest wait: a compiler that hangs does not keep the process.
const PATIENCE: Duration = Duration::from_secs(30);

/// The turn to compile; `None` if the process ends.
pub fn turn() -> Option<MutexGuard<'static, ()>> {
    let one = ONE.lock();
    (!IS_ENDING.load(Ordering::SeqCst)).then_some(one)
}

/// Lets the process end only while nothing is compiled. For when the platform's compiler is loaded: handlers run in reverse
/// order, so this one runs before those of the compiler.
pub fn wait_at_exit(platform: Platform) {
    static KNOWN: [Once; 2] = [const { Once::new() }; 2];
    let [hip, cuda] = &KNOWN;
    let once = match platform {
        Platform::Hip => hip,
        Platform::Cuda => cuda,
    };
    once.call_once(|| {
        PROCESS.store(std::process::id(), Ordering::SeqCst);
        // SAFETY: the handler is a function without arguments of a library that is never unloaded; one that is refused leaves
        // things as they are.
        unsafe { libc::atexit(wait) };
    });
}

extern "C" fn wait() {
    // A fork's child has no thread that compiles, maybe the lock of one.
    if PROCESS.load(Ordering::SeqCst) != std::process::id() {
        return;
    }
    IS_ENDING.store(true, Ordering::SeqCst);
    std::mem::forget(ONE.try_lock_for(PATIENCE));
}
