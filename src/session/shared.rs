//! What handles and the scheduler thread share, and the thread's life.
//!
//! # Locks
//! `Shared::inbox`, the queue of a `Channel`, the answer of a `LogitsTicket` and `Worker::thread`
//! are all leaves (an event's file descriptor is written to under its queue's, and never blocks): no thread ever holds two of them, and none is held while the model runs or a
//! caller's code is called. There is therefore no order to keep.
//!
//! # The thread's end
//! The scheduler thread ends when no [`Session`](super::Session) handle is left and no request lives,
//! or after a panic. `Session` and `Generation` handles share one [`Worker`]; dropping the last of
//! them joins the thread (every request is cancelled by then, so that takes one step of the model at
//! most), except on that thread itself.

use super::sequence::Sequence;
use crate::{Error, Result};
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::thread::JoinHandle;

/// What handles tell the scheduler.
#[derive(Default)]
pub(super) struct Inbox {
    pub new: Vec<Sequence>,
    /// Something else changed: a cancellation, room in a queue, the last handle.
    pub poked: bool,
    /// The session's handle is gone.
    pub closed: bool,
    /// The panic that ended the scheduler.
    pub failed: Option<String>,
    last_id: u64,
    /// As the scheduler wrote them last, plus what it has received since.
    counts: Counts,
}

/// Counts for [`SessionStatus`](super::SessionStatus).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub running: usize,
    pub waiting: usize,
    pub pages_used: usize,
    pub pages_cached: usize,
}

/// What handles and the scheduler thread share. Internally locked: any thread.
#[derive(Default)]
pub(super) struct Shared {
    inbox: Mutex<Inbox>,
    wake: Condvar,
}

impl Shared {
    /// Hands a request over; it gets its number, which is its age.
    pub fn submit(&self, mut sequence: Sequence) -> Result<()> {
        let mut inbox = self.inbox.lock();
        if let Some(panic) = &inbox.failed {
            let error = Error::Poisoned(format!(
                "the session failed earlier ({panic}); free it and make a new one"
            ));
            drop(inbox);
            return Err(error);
        }
        inbox.last_id += 1;
        sequence.id = inbox.last_id;
        inbox.new.push(sequence);
        drop(inbox);
        self.wake.notify_one();
        Ok(())
    }

    /// Makes the scheduler look around.
    pub fn poke(&self) {
        self.inbox.lock().poked = true;
        self.wake.notify_one();
    }

    fn close(&self) {
        self.inbox.lock().closed = true;
        self.wake.notify_one();
    }

    /// Moves new requests to `new`. Where `idle`, sleeps until there is something to look at: for a
    /// closed session on which no request is `live`, its end. Returns (poked, closed).
    pub fn receive(&self, idle: bool, live: bool, new: &mut Vec<Sequence>) -> (bool, bool) {
        let mut inbox = self.inbox.lock();
        while idle && inbox.new.is_empty() && !inbox.poked && (live || !inbox.closed) {
            self.wake.wait(&mut inbox);
        }
        inbox.counts.waiting += inbox.new.len();
        new.append(&mut inbox.new);
        (std::mem::take(&mut inbox.poked), inbox.closed)
    }

    /// The counts as of now: who has seen the end of a request does not find it here any more.
    pub fn counts(&self) -> Counts {
        let inbox = self.inbox.lock();
        Counts {
            waiting: inbox.counts.waiting + inbox.new.len(),
            ..inbox.counts
        }
    }

    /// Writes the counts; the scheduler does so before it tells of a request's end.
    pub fn set_counts(&self, counts: Counts) {
        self.inbox.lock().counts = counts;
    }

    /// Refuses requests from now on; returns those that were still on their way.
    pub fn fail(&self, panic: String) -> Vec<Sequence> {
        let mut inbox = self.inbox.lock();
        inbox.failed = Some(panic);
        inbox.counts = Counts::default();
        std::mem::take(&mut inbox.new)
    }
}

/// The session's own handle: closes the session when dropped.
pub(super) struct Open(pub Arc<Shared>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// The scheduler thread; its last handle waits for its end.
pub(super) struct Worker {
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Worker {
    pub fn new(thread: JoinHandle<()>) -> Worker {
        Worker {
            thread: Mutex::new(Some(thread)),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let thread = self.thread.get_mut().take();
        if let Some(thread) = thread
            && thread.thread().id() != std::thread::current().id()
        {
            // The thread catches its own panics; there is nothing to learn from the result.
            let _ = thread.join();
        }
    }
}
