//! The events of one generation on their way from the scheduler to the caller.

use super::ready::EventFd;
use super::{Event, Next};
use crate::Result;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// Events that wait for the caller before the generation pauses.
pub(super) const CAPACITY: usize = 256;
/// A paused generation goes on when no more than this many events wait, so that a slow reader does
/// not start and stop it for every token.
const RESUME: usize = CAPACITY / 2;
/// Events that one step adds at most, besides the end, which always has room, and tokens that were guessed.
const STEP_EVENTS: usize = 2;

#[derive(Debug, Default)]
struct Queue {
    events: VecDeque<Event>,
    /// `Finished` was added.
    ended: bool,
    /// The scheduler found no room and waits to be told.
    stalled: bool,
    /// The caller's handle is gone.
    abandoned: bool,
    /// Threads that wait for this queue among others.
    waiting: Vec<Thread>,
    /// Can be read from while there are events, once somebody asked for it.
    fd: Option<EventFd>,
}

/// What a thread that waits for several queues sees of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Event,
    /// None yet; the thread will be unparked.
    Waiting,
    /// There will be none any more.
    Ended,
}

/// The queue of one generation. Internally locked: any thread.
#[derive(Debug, Default)]
pub(super) struct Channel {
    queue: Mutex<Queue>,
    filled: Condvar,
    cancelled: AtomicBool,
}

impl Channel {
    /// Adds an event. After `Finished` nothing is added any more.
    pub fn push(&self, event: Event) {
        let mut queue = self.queue.lock();
        if queue.ended {
            return;
        }
        let end = matches!(event, Event::Finished { .. });
        queue.ended = end;
        if queue.abandoned {
            return;
        }
        queue.events.push_back(event);
        if let (Some(fd), 1) = (&queue.fd, queue.events.len()) {
            fd.raise();
        }
        let waiting = std::mem::take(&mut queue.waiting);
        drop(queue);
        waiting.iter().for_each(Thread::unpark);
        if end {
            // Those who find nothing after the end must wake up too.
            self.filled.notify_all();
        } else {
            self.filled.notify_one();
        }
    }

    /// Whether a step's events have room. If not, [`Channel::next`] will say when they do.
    pub fn has_room(&self) -> bool {
        let mut queue = self.queue.lock();
        let limit = if queue.stalled {
            RESUME
        } else {
            CAPACITY - STEP_EVENTS
        };
        queue.stalled = queue.events.len() > limit && !queue.abandoned;
        !queue.stalled
    }

    /// The next event, and whether the scheduler has to be told that there is room again.
    pub fn next(&self, timeout: Option<Duration>) -> (Next, bool) {
        // A time too far away to be represented is the same as none.
        let deadline = timeout.and_then(|t| Instant::now().checked_add(t));
        let mut queue = self.queue.lock();
        loop {
            if let Some(event) = queue.events.pop_front() {
                if let (Some(fd), true) = (&queue.fd, queue.events.is_empty()) {
                    fd.lower();
                }
                let room = queue.stalled && queue.events.len() <= RESUME;
                return (Next::Event(event), room);
            }
            if queue.ended {
                return (Next::End, false);
            }
            match (timeout, deadline) {
                (Some(_), Some(deadline)) => {
                    if self.filled.wait_until(&mut queue, deadline).timed_out()
                        && queue.events.is_empty()
                        && !queue.ended
                    {
                        return (Next::Pending, false);
                    }
                }
                _ => self.filled.wait(&mut queue),
            }
        }
    }

    /// Whether there is an event. If there may be one later, `thread` is unparked then, until
    /// [`Channel::leave`].
    pub fn look(&self, thread: &Thread) -> Look {
        let mut queue = self.queue.lock();
        match (queue.events.is_empty(), queue.ended) {
            (false, _) => return Look::Event,
            (true, true) => return Look::Ended,
            (true, false) => {}
        }
        if queue.waiting.iter().all(|other| other.id() != thread.id()) {
            queue.waiting.push(thread.clone());
        }
        Look::Waiting
    }

    /// The thread does not wait for this queue any more.
    pub fn leave(&self, thread: &Thread) {
        let mut queue = self.queue.lock();
        queue.waiting.retain(|other| other.id() != thread.id());
    }

    /// A descriptor that can be read from while there are events. It is closed with the queue.
    pub fn fd(&self) -> Result<RawFd> {
        let mut queue = self.queue.lock();
        if queue.fd.is_none() {
            let fd = EventFd::new()?;
            if !queue.events.is_empty() {
                fd.raise();
            }
            queue.fd = Some(fd);
        }
        Ok(queue.fd.as_ref().map_or(-1, EventFd::number))
    }

    /// Asks for the end. True where the scheduler has to be told.
    pub fn cancel(&self) -> bool {
        !self.cancelled.swap(true, Ordering::AcqRel)
    }

    /// The caller's handle is gone: asks for the end and drops what waits.
    pub fn abandon(&self) -> bool {
        let mut queue = self.queue.lock();
        queue.abandoned = true;
        let events = std::mem::take(&mut queue.events);
        let ended = queue.ended;
        drop(queue);
        drop(events);
        self.cancel() && !ended
    }

    /// Whether the end was asked for.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FinishReason, Usage};
    use super::*;

    fn token(token: u32) -> Event {
        Event::Token {
            token,
            text: String::new(),
            logprob: None,
            top: Vec::new(),
        }
    }

    fn finished() -> Event {
        Event::Finished {
            reason: FinishReason::Length,
            text: String::new(),
            usage: Usage::default(),
            error: None,
        }
    }

    #[test]
    fn events_come_in_order_and_end() {
        let channel = Channel::default();
        let now = Some(Duration::ZERO);
        assert_eq!(channel.next(now), (Next::Pending, false));
        channel.push(token(1));
        channel.push(token(2));
        channel.push(finished());
        channel.push(token(3));
        assert_eq!(channel.next(None), (Next::Event(token(1)), false));
        assert_eq!(channel.next(now), (Next::Event(token(2)), false));
        assert_eq!(
            channel.next(Some(Duration::MAX)),
            (Next::Event(finished()), false)
        );
        assert_eq!(channel.next(None), (Next::End, false));
        assert_eq!(channel.next(now), (Next::End, false));
    }

    #[test]
    fn room_comes_back_at_half() {
        let channel = Channel::default();
        let mut n = 0;
        while channel.has_room() {
            channel.push(token(n));
            n += 1;
        }
        assert_eq!(n as usize, CAPACITY - 1);
        for left in (0..CAPACITY - 1).rev() {
            let (_, room) = channel.next(None);
            assert_eq!(room, left <= RESUME, "{left} left");
            if left == RESUME + 1 {
                assert!(!channel.has_room());
            }
        }
        assert!(channel.has_room());
        assert!(!channel.next(Some(Duration::ZERO)).1);
    }

    #[test]
    fn nobody_reads() {
        let channel = Channel::default();
        while channel.has_room() {
            channel.push(token(0));
        }
        assert!(channel.abandon());
        assert!(channel.is_cancelled());
        assert!(channel.has_room());
        channel.push(finished());
        assert!(!channel.abandon());
        assert!(!channel.cancel());
    }

    #[test]
    fn all_waiters_see_the_end() {
        let channel = Channel::default();
        std::thread::scope(|scope| {
            let waiters: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| channel.next(None).0))
                .collect();
            std::thread::sleep(Duration::from_millis(20));
            channel.push(finished());
            let ends = waiters
                .into_iter()
                .filter(|_| true)
                .map(|w| w.join().unwrap())
                .filter(|n| *n == Next::End)
                .count();
            assert_eq!(ends, 3);
        });
    }
}
