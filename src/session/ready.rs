//! Waiting for events of several generations: in a call, or by a file descriptor in an event loop.

use super::Generation;
use super::channel::{Channel, Look};
use crate::error::said;
use crate::{Error, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What [`wait_any`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ready {
    /// The generation at this place has an event.
    At(usize),
    /// None had one within the timeout.
    Pending,
    /// All ended, and their events were given out.
    End,
}

/// Waits until one of the generations has an event, at most `timeout` (`None`: as long as it takes). Where several
/// have one, they take turns. Any thread, also several at once.
pub fn wait_any(generations: &[&Generation], timeout: Option<Duration>) -> Ready {
    static TURN: AtomicUsize = AtomicUsize::new(0);
    // A time too far away to be represented is the same as none.
    let deadline = timeout.and_then(|t| Instant::now().checked_add(t));
    let channels: Vec<&Channel> = generations.iter().map(|g| &*g.channel).collect();
    let turn = TURN.fetch_add(1, Ordering::Relaxed) % channels.len().max(1);
    let me = std::thread::current();
    let found = loop {
        let mut alive = false;
        let order = (turn..channels.len()).chain(0..turn);
        let ready = order
            .map(|place| (place, channels[place].look(&me)))
            .find(|(_, look)| {
                alive |= *look == Look::Waiting;
                *look == Look::Event
            });
        match (ready, deadline) {
            (Some((place, _)), _) => break Ready::At(place),
            (None, _) if !alive => break Ready::End,
            // An event that came since then has unparked this thread already.
            (None, None) => std::thread::park(),
            (None, Some(deadline)) => {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break Ready::Pending;
                }
                std::thread::park_timeout(left);
            }
        }
    };
    channels.iter().for_each(|channel| channel.leave(&me));
    found
}

/// A file descriptor that can be read from while something is there.
#[derive(Debug)]
pub(super) struct EventFd(OwnedFd);

impl EventFd {
    pub fn new() -> Result<EventFd> {
        // SAFETY: no pointers.
        let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if fd < 0 {
            let cause = std::io::Error::last_os_error();
            return Err(Error::Io(format!(
                "no file descriptor for events: {}",
                said(&cause)
            )));
        }
        // SAFETY: it was made just now, and nobody else has it.
        Ok(EventFd(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    pub fn number(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// From now on it can be read from.
    pub fn raise(&self) {
        let one = 1u64.to_ne_bytes();
        // It fails only where the count is full, and then it can be read from already.
        // SAFETY: eight bytes of a local.
        let _ = unsafe { libc::write(self.number(), one.as_ptr().cast(), one.len()) };
    }

    /// From now on it cannot.
    pub fn lower(&self) {
        let mut count = [0u8; 8];
        // It fails only where nothing is there.
        // SAFETY: eight bytes of a local.
        let _ = unsafe { libc::read(self.number(), count.as_mut_ptr().cast(), count.len()) };
    }
}
