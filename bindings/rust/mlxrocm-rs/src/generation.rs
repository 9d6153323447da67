//! Running requests and their events.

use crate::enums::Status;
use crate::error::{Error, Result, call, handle, owned};
use crate::request::{Panicked, Request};
use mlxrocm_sys as sys;
use std::any::Any;
use std::borrow::Borrow;
use std::mem::zeroed;
use std::panic::resume_unwind;
use std::slice;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

handle!(GenerationHandle, mlxrocm_generation, mlxrocm_generation_free);

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// So many prompt tokens have been run.
    Prompt { done: u64, total: u64 },
    /// A token was chosen.
    Token(Token),
    /// The end.
    Finished(Finished),
}

impl Event {
    /// The text that became complete; may be empty.
    pub fn text(&self) -> &str {
        match self {
            Event::Prompt { .. } => "",
            Event::Token(token) => &token.text,
            Event::Finished(finished) => &finished.text,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    pub token: u32,
    pub text: String,
    /// By the model, where the request asked for `logprobs`.
    pub logprob: Option<f32>,
    /// The most probable tokens, best first.
    pub top: Vec<(u32, f32)>,
}

#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Finished {
    pub text: String,
    pub reason: FinishReason,
    pub prompt_tokens: u64,
    pub cached_tokens: u64,
    pub generated_tokens: u64,
    pub prompt_seconds: f64,
    pub decode_seconds: f64,
    /// Tokens that were guessed…
    pub guessed_tokens: u64,
    /// …and of these the right ones: each saved a step.
    pub accepted_tokens: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FinishReason {
    StopToken,
    StopString,
    Length,
    Context,
    Cancelled,
    /// What the text must be is complete, and nothing may follow.
    Grammar,
    Other(u32),
}

/// A running request: an iterator over its events. Dropping one that runs cancels it.
#[derive(Debug)]
pub struct Generation {
    handle: Arc<GenerationHandle>,
    panicked: Option<Panicked>,
}

/// Cancels a generation from elsewhere.
#[derive(Clone, Debug)]
pub struct Canceller(Arc<GenerationHandle>);

impl Canceller {
    /// Ends the generation soon; its `Finished` still comes.
    pub fn cancel(&self) {
        // It fails for a bad handle only.
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        let _ = call(|error| unsafe { sys::mlxrocm_generation_cancel(self.0.get(), error) });
    }
}

impl Generation {
    pub(crate) fn new(handle: GenerationHandle, panicked: Option<Panicked>) -> Generation {
        Generation { handle: Arc::new(handle), panicked }
    }

    /// For other threads, to cancel it.
    pub fn canceller(&self) -> Canceller {
        Canceller(self.handle.clone())
    }

    /// Waits at most so long for the next event: `Ok(None)` if none came. After the end it is `None`.
    pub fn next_within(&mut self, timeout: Duration) -> Option<Result<Option<Event>>> {
        self.take(nanoseconds(Some(timeout)))
    }

    /// Goes on after the tokens whose events were taken, beside this one; `request` has no prompt ([`Request::more`]).
    pub fn fork(&self, request: &Request) -> Result<Generation> {
        request.with(|c, panicked| {
            // SAFETY: live handles, and pointers with the lengths of what they point to.
            let make = |out, error| unsafe { sys::mlxrocm_generation_fork(self.handle.get(), c, out, error) };
            GenerationHandle::make(make).map(|handle| Generation::new(handle, panicked))
        })
    }

    /// A descriptor for poll, epoll and event loops: readable while there is an event. It is the generation's, which
    /// closes it: neither read, write nor close it.
    pub fn fd(&self) -> Result<i32> {
        let mut fd = -1;
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_generation_get_fd(self.handle.get(), &mut fd, error) })?;
        Ok(fd)
    }

    /// Waits for the end: all text that is still to come.
    pub fn text(self) -> Result<String> {
        let mut all = String::new();
        for event in self {
            all.push_str(event?.text());
        }
        Ok(all)
    }

    fn take(&mut self, timeout_ns: i64) -> Option<Result<Option<Event>>> {
        // SAFETY: zero is a value of each field: numbers, and pointers that are null.
        let mut event: sys::mlxrocm_event = unsafe { zeroed() };
        event.struct_size = size_of_val(&event) as u32;
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        let next = |error| unsafe { sys::mlxrocm_generation_next(self.handle.get(), timeout_ns, &mut event, error) };
        match call(next) {
            Err(error) => Some(Err(error)),
            Ok(sys::MLXROCM_END) => None,
            Ok(sys::MLXROCM_PENDING) => Some(Ok(None)),
            Ok(_) => {
                // Only the last event has a reason.
                if event.finish_reason == sys::MLXROCM_FINISH_ERROR {
                    if let Some(panicked) = self.panicked() {
                        resume_unwind(panicked);
                    }
                }
                // SAFETY: `self` is borrowed mutably, so nothing has asked for another event.
                Some(unsafe { read(&event) }.map(Some))
            }
        }
    }

    /// What its logits processor panicked with: written before the last event could be taken.
    fn panicked(&self) -> Option<Box<dyn Any + Send>> {
        self.panicked.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// As C has it; `None`: as long as it takes.
pub(crate) fn nanoseconds(timeout: Option<Duration>) -> i64 {
    timeout.map_or(-1, |timeout| i64::try_from(timeout.as_nanos()).unwrap_or(i64::MAX))
}

/// The place of one of several generations, of any sessions, that has an event; where several have, they take turns.
/// `Ok(None)` if none had within the timeout (`None`: as long as it takes). When all have given out their last event it
/// is `None`.
pub fn wait_any(generations: &[impl Borrow<Generation>], timeout: Option<Duration>) -> Option<Result<Option<usize>>> {
    let handles: Vec<_> = generations.iter().map(|one| one.borrow().handle.get().cast_const()).collect();
    let (list, count, within) = (handles.as_ptr(), handles.len(), nanoseconds(timeout));
    let mut index = 0;
    // SAFETY: live handles, and pointers with the lengths of what they point to.
    let wait = |error| unsafe { sys::mlxrocm_generation_wait_any(list, count, within, &mut index, error) };
    match call(wait) {
        Err(error) => Some(Err(error)),
        Ok(sys::MLXROCM_END) => None,
        Ok(sys::MLXROCM_PENDING) => Some(Ok(None)),
        Ok(_) => Some(Ok(Some(index))),
    }
}

/// Copies what the event points to, which must be alive.
unsafe fn read(event: &sys::mlxrocm_event) -> Result<Event> {
    if event.kind == sys::MLXROCM_EVENT_PROMPT {
        return Ok(Event::Prompt { done: event.prompt_done, total: event.prompt_total });
    }
    // SAFETY: the library gives the address with this length; alive until the next call on the generation.
    let bytes = unsafe { slice::from_raw_parts(event.text.cast::<u8>(), event.text_length) };
    let text = String::from_utf8_lossy(bytes).into_owned();
    if event.kind == sys::MLXROCM_EVENT_TOKEN {
        let top = match event.top_count {
            0 => &[],
            // SAFETY: the library gives the address with this length; alive until the next call on the generation.
            count => unsafe { slice::from_raw_parts(event.top, count) },
        };
        let logprob = (event.top_count > 0).then_some(event.logprob);
        let top = top.iter().map(|entry| (entry.token, entry.logprob)).collect();
        return Ok(Event::Token(Token { token: event.token, text, logprob, top }));
    }
    let reason = match event.finish_reason {
        sys::MLXROCM_FINISH_ERROR => {
            return Err(Error::new(Status::from(event.error_status), owned(event.error_message)));
        }
        sys::MLXROCM_FINISH_STOP_TOKEN => FinishReason::StopToken,
        sys::MLXROCM_FINISH_STOP_STRING => FinishReason::StopString,
        sys::MLXROCM_FINISH_LENGTH => FinishReason::Length,
        sys::MLXROCM_FINISH_CONTEXT => FinishReason::Context,
        sys::MLXROCM_FINISH_CANCELLED => FinishReason::Cancelled,
        sys::MLXROCM_FINISH_GRAMMAR => FinishReason::Grammar,
        other => FinishReason::Other(other),
    };
    Ok(Event::Finished(Finished {
        text,
        reason,
        prompt_tokens: event.prompt_tokens,
        cached_tokens: event.cached_tokens,
        generated_tokens: event.generated_tokens,
        prompt_seconds: event.prompt_seconds,
        decode_seconds: event.decode_seconds,
        guessed_tokens: event.guessed_tokens,
        accepted_tokens: event.accepted_tokens,
    }))
}

impl Iterator for Generation {
    type Item = Result<Event>;

    fn next(&mut self) -> Option<Result<Event>> {
        // Without a timeout there is always an event.
        self.take(-1).map(|event| event.map(|event| event.expect("an event")))
    }
}

impl Drop for Generation {
    fn drop(&mut self) {
        // A canceller may keep the handle.
        self.canceller().cancel();
    }
}
