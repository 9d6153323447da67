//! Panics that the library catches: they go to the log, in place of Rust's text on standard error.
//!
//! What Rust prints comes from the process's panic hook, which runs before anybody catches. The first call of
//! [`caught`] puts a hook before the one that is there: a panic inside `caught` is the library's and is logged, any
//! other one is handed on as it came. In a C program the hook is this library's alone (its copy of Rust's runtime
//! is); a Rust program that sets a hook later has that one called instead, as it asked for.

use crate::log::{self, Level};
use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    /// How many calls of [`caught`] this thread is in.
    static INSIDE: Cell<u32> = const { Cell::new(0) };
}

static INSTALLED: AtomicBool = AtomicBool::new(false);

/// Runs `body`; a panic is logged, and what it said is the error. What it left half done is the caller's concern.
pub fn caught<R>(body: impl FnOnce() -> R) -> Result<R, String> {
    install();
    INSIDE.set(INSIDE.get() + 1);
    let result = catch_unwind(AssertUnwindSafe(body));
    INSIDE.set(INSIDE.get() - 1);
    result.map_err(|payload| text(&*payload).to_string())
}

fn install() {
    // A thread that panics may not change hooks: the next call will.
    if INSTALLED.load(Ordering::Relaxed)
        || std::thread::panicking()
        || INSTALLED.swap(true, Ordering::Relaxed)
    {
        return;
    }
    let others = take_hook();
    set_hook(Box::new(move |panic| match INSIDE.get() {
        0 => others(panic),
        _ => write(panic),
    }));
}

/// One line: what was said, and where.
fn write(panic: &PanicHookInfo<'_>) {
    log::write(Level::Error, || {
        let place = panic.location().map(ToString::to_string);
        let place = place.unwrap_or_else(|| "an unknown place".into());
        let text = text(panic.payload()).replace(char::is_control, " ");
        format!("internal error: a panic at {place}: {text}")
    });
}

fn text(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_panic_says_comes_back() {
        assert_eq!(caught(|| 5), Ok(5));
        assert_eq!(caught(|| panic!("one")), Err::<(), _>("one".into()));
        assert_eq!(caught(|| panic!("{}", 2)), Err::<(), _>("2".into()));
        let odd = caught(|| std::panic::panic_any(3));
        assert_eq!(odd, Err::<(), _>("no message".into()));
        let nested = caught(|| caught(|| panic!("inner")));
        assert_eq!(nested, Ok(Err::<(), _>("inner".into())));
        assert_eq!(INSIDE.get(), 0);
    }
}
