//! Whether a device works, and waits that end.

use super::Device;
use crate::driver::{Code, EventHandle};
use crate::gpu::event::Event;
use crate::gpu::stream::Stream;
use crate::{Error, Result, log};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Work that ends so soon is waited for awake.
const AWAKE: Duration = Duration::from_micros(100);

/// While it lives, this thread's sleeps end when they were to; without it Linux may add 50 us to each (`PR_SET_TIMERSLACK`).
struct Punctual {
    slack: libc::c_ulong,
}

impl Punctual {
    fn new() -> Punctual {
        // SAFETY: these only tell and set a number of this thread, in ns.
        let slack = unsafe { libc::prctl(libc::PR_GET_TIMERSLACK) };
        // SAFETY: as above.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
        // 0 would be the thread's default.
        let slack = libc::c_ulong::try_from(slack).unwrap_or(0);
        Punctual { slack }
    }
}

impl Drop for Punctual {
    fn drop(&mut self) {
        // SAFETY: as in `new`.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, self.slack) };
    }
}

impl Device {
    /// Makes the device current on this thread.
    ///
    /// # Errors
    /// `DeviceLost` if it stopped working.
    pub(in crate::gpu) fn enter(&self) -> Result<()> {
        if let Some(reason) = self.lost.get() {
            return Err(Error::DeviceLost(reason.clone()));
        }
        match self.api.enter(self.context) {
            Code::OK => Ok(()),
            code => Err(self.failed(code, "entering the device")),
        }
    }

    /// An error for every code but success.
    pub(in crate::gpu) fn check(&self, code: Code, what: impl FnOnce() -> String) -> Result<()> {
        match code {
            Code::OK => Ok(()),
            code => Err(self.failed(code, &what())),
        }
    }

    /// The error for a failed call; finds out whether the device still works.
    pub(in crate::gpu) fn failed(&self, code: Code, what: &str) -> Error {
        let error = self.api.error(code, what);
        if !code.is_lost() && self.still_works() {
            return error;
        }
        self.lose(&error)
    }

    /// The error for a call that the driver refused with `error`: a fault of queued work comes out of whichever call is next.
    pub(super) fn refused(&self, error: Error) -> Error {
        match error {
            Error::Driver { .. } if !self.still_works() => self.lose(&error),
            error => error,
        }
    }

    /// The device takes no more work from now on, because of `error`.
    fn lose(&self, error: &Error) -> Error {
        let reason = self.lost.get_or_init(|| {
            let name = &self.facts.name;
            let reason = format!(
                "GPU {name} stopped working ({error}); start the program again, and see the kernel \
                 log (dmesg) for the cause"
            );
            log::write(log::Level::Error, || reason.clone());
            reason
        });
        Error::DeviceLost(reason.clone())
    }

    /// Sleeps until all queued steps of a model are done. A device that does not end them hangs, and
    /// counts as lost: the next one would wait as long.
    pub(crate) fn wait_step(&self, stream: &Stream) -> Result<()> {
        self.in_time(stream.wait(Some(self.step_patience())))
    }

    /// The same for the steps up to a mark of the stream.
    pub(in crate::gpu) fn wait_step_until(&self, stream: &Stream, mark: &Event) -> Result<()> {
        self.in_time(stream.wait_until(mark, Some(self.step_patience())))
    }

    /// What a wait for work of the library's own came to: if that does not end in time, the device hangs.
    pub(crate) fn in_time<T>(&self, waited: Result<T>) -> Result<T> {
        waited.map_err(|error| match error {
            Error::Timeout(_) => self.lose(&error),
            error => error,
        })
    }

    pub(in crate::gpu) fn step_patience(&self) -> Duration {
        Duration::from_millis(self.step_patience.load(Ordering::Relaxed))
    }

    /// How long a step of a model may take.
    #[doc(hidden)] // for tests
    pub fn set_step_patience(&self, patience: Duration) {
        let milliseconds = u64::try_from(patience.as_millis()).unwrap_or(u64::MAX);
        self.step_patience.store(milliseconds, Ordering::Relaxed);
    }

    /// Whether the driver still gives out what work needs. After a fault that a driver does not
    /// recover from (CUDA's, most of HIP's), each of these fails.
    fn still_works(&self) -> bool {
        let api = self.api;
        let stream = match api.enter(self.context) {
            Code::OK => api.memory_info().and_then(|_| api.stream_create()),
            code => Err(api.error(code, "entering the device")),
        };
        match stream {
            // SAFETY: just made.
            Ok(stream) => unsafe { api.stream_destroy(stream) == Code::OK },
            // Full is not broken.
            Err(error) => matches!(error, Error::OutOfMemory(_)),
        }
    }

    /// Waits until `done` or the end; whether it was done. Sleeps after [`AWAKE`], and then looks less and less often:
    /// it oversleeps by about a thirtieth of the time that passed.
    pub(in crate::gpu) fn wait_until(&self, end: Instant, mut done: impl FnMut() -> bool) -> bool {
        let start = Instant::now();
        let mut punctual = None;
        loop {
            if done() {
                return true;
            }
            let now = Instant::now();
            let left = end.saturating_duration_since(now);
            if left.is_zero() {
                return false;
            }
            let passed = now - start;
            if passed < AWAKE {
                std::thread::yield_now();
                continue;
            }
            punctual.get_or_insert_with(Punctual::new);
            let pause = passed / 32;
            let pause = pause.clamp(Duration::from_micros(10), Duration::from_millis(2));
            std::thread::sleep(pause.min(left));
        }
    }

    /// Sleeps until a recorded event is done; its code, `None` when the time is over.
    pub(in crate::gpu) fn wait_event(
        &self,
        event: EventHandle,
        timeout: Option<Duration>,
    ) -> Option<Code> {
        let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let Some(end) = end else {
            // SAFETY: the caller's handle is live. The driver sleeps: the event is made for it.
            return Some(unsafe { self.api.event_synchronize(event) });
        };
        let mut code = Code::OK;
        let done = self.wait_until(end, || {
            // SAFETY: as above.
            code = unsafe { self.api.event_query(event) };
            !code.is_not_ready()
        });
        done.then_some(code)
    }
}

#[cfg(test)]
mod tests {
    use super::Punctual;

    fn slack() -> i32 {
        // SAFETY: it only tells a number of this thread.
        unsafe { libc::prctl(libc::PR_GET_TIMERSLACK) }
    }

    #[test]
    fn a_thread_gets_its_slack_back() {
        let before = slack();
        assert!(before > 1, "{before}");
        let punctual = Punctual::new();
        assert_eq!(slack(), 1);
        drop(punctual);
        assert_eq!(slack(), before);
    }
}
