//! Events of generations, and what they point to.

use super::options::SizedStruct;
use super::status::{MLXROCM_OK, mlxrocm_status};
use super::strings::Text;
use crate::session::{Event, FinishReason, Usage};
use std::ffi::c_char;
use std::ptr::null;

/// Event kind: `prompt_done` of `prompt_total` prompt tokens have been run.
pub const MLXROCM_EVENT_PROMPT: u32 = 1;
/// Event kind: a token was chosen.
pub const MLXROCM_EVENT_TOKEN: u32 = 2;
/// Event kind: the generation ended; nothing follows.
pub const MLXROCM_EVENT_FINISHED: u32 = 3;

/// Finish reason: a stop token of the model or of the request.
pub const MLXROCM_FINISH_STOP_TOKEN: u32 = 1;
/// Finish reason: a stop string.
pub const MLXROCM_FINISH_STOP_STRING: u32 = 2;
/// Finish reason: max_tokens were generated.
pub const MLXROCM_FINISH_LENGTH: u32 = 3;
/// Finish reason: the context is full.
pub const MLXROCM_FINISH_CONTEXT: u32 = 4;
/// Finish reason: mlxrocm_generation_cancel was called.
pub const MLXROCM_FINISH_CANCELLED: u32 = 5;
/// Finish reason: it failed; `error_status` and `error_message` say why.
pub const MLXROCM_FINISH_ERROR: u32 = 6;
/// Finish reason: by the request's `json_schema`, `regex` or `grammar` the text is complete and nothing may follow.
pub const MLXROCM_FINISH_GRAMMAR: u32 = 7;

/// A token and its natural-log probability. This struct never grows.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_token_logprob {
    /// The token.
    pub token: u32,
    /// ln p: the natural logarithm of the softmax of the model's logits, as they are before biases,
    /// penalties, temperature and filters (see mlxrocm_request).
    pub logprob: f32,
}

/// Something that happened. Fields that do not belong to its kind are zero. What the pointers point
/// to is borrowed until the next mlxrocm_generation_next on the same generation or until that is
/// freed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_event {
    /// Set by the caller to sizeof(mlxrocm_event).
    pub struct_size: u32,
    /// One of MLXROCM_EVENT_...
    pub kind: u32,
    /// TOKEN, FINISHED: text that became complete, NUL-terminated UTF-8; may be empty. Never NULL.
    /// All texts of a generation together are its text.
    pub text: *const c_char,
    /// Bytes of `text` without the NUL.
    pub text_length: usize,
    /// TOKEN: the id.
    pub token: u32,
    /// TOKEN: its natural-log probability by the model (see mlxrocm_token_logprob), where the request
    /// asked for it.
    pub logprob: f32,
    /// TOKEN: the most probable tokens, best first; `top_count` of them.
    pub top: *const mlxrocm_token_logprob,
    /// TOKEN: elements of `top`; 0 where the request did not ask for them.
    pub top_count: usize,
    /// PROMPT: prompt tokens run so far.
    pub prompt_done: u64,
    /// PROMPT: prompt tokens to run.
    pub prompt_total: u64,
    /// FINISHED: one of MLXROCM_FINISH_...
    pub finish_reason: u32,
    /// FINISHED with MLXROCM_FINISH_ERROR: the error's status.
    pub error_status: mlxrocm_status,
    /// FINISHED with MLXROCM_FINISH_ERROR: the error's message; else NULL.
    pub error_message: *const c_char,
    /// Bytes of `error_message` without the NUL.
    pub error_message_length: usize,
    /// FINISHED: tokens of the prompt.
    pub prompt_tokens: u64,
    /// FINISHED: prompt tokens that were in the KV cache already.
    pub cached_tokens: u64,
    /// FINISHED: tokens generated, a stop token included.
    pub generated_tokens: u64,
    /// FINISHED: seconds from the start of the prompt to the first token.
    pub prompt_seconds: f64,
    /// FINISHED: seconds from the first token to the last.
    pub decode_seconds: f64,
    /// FINISHED: tokens that were guessed (mlxrocm_session_options.prompt_lookup).
    pub guessed_tokens: u64,
    /// FINISHED: of these, the ones that the model chose too: each saved a step.
    pub accepted_tokens: u64,
}

// SAFETY: repr(C), size first, numbers and pointers, no padding (a test checks).
unsafe impl SizedStruct for mlxrocm_event {
    const NAME: &'static str = "mlxrocm_event";
    const FIRST_SIZE: usize = std::mem::offset_of!(Self, guessed_tokens);
}

/// What the last event that was given out points to.
#[derive(Default)]
pub(super) struct Held {
    /// NUL-terminated.
    text: Vec<u8>,
    top: Vec<mlxrocm_token_logprob>,
    error: Text,
}

const EMPTY: mlxrocm_event = mlxrocm_event {
    struct_size: 0,
    kind: 0,
    text: c"".as_ptr(),
    text_length: 0,
    token: 0,
    logprob: 0.0,
    top: null(),
    top_count: 0,
    prompt_done: 0,
    prompt_total: 0,
    finish_reason: 0,
    error_status: MLXROCM_OK,
    error_message: null(),
    error_message_length: 0,
    prompt_tokens: 0,
    cached_tokens: 0,
    generated_tokens: 0,
    prompt_seconds: 0.0,
    decode_seconds: 0.0,
    guessed_tokens: 0,
    accepted_tokens: 0,
};

impl Held {
    /// The event for C, which points into `self`.
    pub(super) fn hold(&mut self, event: Event) -> mlxrocm_event {
        match event {
            Event::Prompt { done, total } => mlxrocm_event {
                kind: MLXROCM_EVENT_PROMPT,
                prompt_done: done as u64,
                prompt_total: total as u64,
                ..EMPTY
            },
            Event::Token {
                token,
                text,
                logprob,
                top,
            } => {
                let (text, text_length) = self.hold_text(text);
                self.top.clear();
                self.top.extend(top.iter().map(|top| mlxrocm_token_logprob {
                    token: top.token,
                    logprob: top.logprob,
                }));
                mlxrocm_event {
                    kind: MLXROCM_EVENT_TOKEN,
                    text,
                    text_length,
                    token,
                    logprob: logprob.unwrap_or(0.0),
                    top: if self.top.is_empty() {
                        null()
                    } else {
                        self.top.as_ptr()
                    },
                    top_count: self.top.len(),
                    ..EMPTY
                }
            }
            Event::Finished {
                reason,
                text,
                usage,
                error,
            } => {
                let (text, text_length) = self.hold_text(text);
                let mut event = mlxrocm_event {
                    kind: MLXROCM_EVENT_FINISHED,
                    text,
                    text_length,
                    finish_reason: reason_number(reason),
                    ..with_usage(usage)
                };
                if let Some(error) = error {
                    self.error = Text::new(&error.to_string());
                    event.error_status = error.status();
                    event.error_message = self.error.pointer();
                    event.error_message_length = self.error.length();
                }
                event
            }
        }
    }

    fn hold_text(&mut self, text: String) -> (*const c_char, usize) {
        let length = text.len();
        self.text = text.into_bytes();
        self.text.push(0);
        (self.text.as_ptr().cast(), length)
    }
}

fn with_usage(usage: Usage) -> mlxrocm_event {
    mlxrocm_event {
        prompt_tokens: usage.prompt_tokens as u64,
        cached_tokens: usage.cached_tokens as u64,
        generated_tokens: usage.generated_tokens as u64,
        prompt_seconds: usage.prompt_seconds,
        decode_seconds: usage.decode_seconds,
        guessed_tokens: usage.guessed_tokens as u64,
        accepted_tokens: usage.accepted_tokens as u64,
        ..EMPTY
    }
}

fn reason_number(reason: FinishReason) -> u32 {
    match reason {
        FinishReason::StopToken => MLXROCM_FINISH_STOP_TOKEN,
        FinishReason::StopString => MLXROCM_FINISH_STOP_STRING,
        FinishReason::Length => MLXROCM_FINISH_LENGTH,
        FinishReason::Context => MLXROCM_FINISH_CONTEXT,
        FinishReason::Cancelled => MLXROCM_FINISH_CANCELLED,
        FinishReason::Error => MLXROCM_FINISH_ERROR,
        FinishReason::Grammar => MLXROCM_FINISH_GRAMMAR,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use crate::session::TokenLogprob;
    use std::ffi::CStr;

    #[test]
    fn events_keep_what_they_point_to() {
        let mut held = Held::default();
        let event = held.hold(Event::Prompt { done: 3, total: 9 });
        assert_eq!(
            (event.kind, event.prompt_done, event.prompt_total),
            (MLXROCM_EVENT_PROMPT, 3, 9)
        );
        assert!(event.top.is_null() && !event.text.is_null() && event.error_message.is_null());

        let best = |token, logprob| TokenLogprob { token, logprob };
        let event = held.hold(Event::Token {
            token: 7,
            text: "a\0b".into(),
            logprob: Some(-0.5),
            top: vec![best(7, -0.5), best(8, -1.5)],
        });
        assert_eq!(
            (event.kind, event.token, event.logprob),
            (MLXROCM_EVENT_TOKEN, 7, -0.5)
        );
        let text =
            unsafe { std::slice::from_raw_parts(event.text.cast::<u8>(), event.text_length + 1) };
        assert_eq!(text, b"a\0b\0");
        let top = unsafe { std::slice::from_raw_parts(event.top, event.top_count) };
        assert_eq!((top.len(), top[1].token, top[1].logprob), (2, 8, -1.5));

        let event = held.hold(Event::Finished {
            reason: FinishReason::Error,
            text: String::new(),
            usage: Usage {
                prompt_tokens: 4,
                generated_tokens: 2,
                decode_seconds: 0.25,
                ..Usage::default()
            },
            error: Some(Error::Io("gone".into())),
        });
        assert_eq!(
            (event.kind, event.finish_reason),
            (MLXROCM_EVENT_FINISHED, MLXROCM_FINISH_ERROR)
        );
        assert_eq!((event.error_status, event.text_length), (-5, 0));
        assert_eq!(unsafe { CStr::from_ptr(event.error_message) }, c"gone");
        assert_eq!(
            (
                event.prompt_tokens,
                event.generated_tokens,
                event.decode_seconds
            ),
            (4, 2, 0.25)
        );
    }

    #[test]
    fn finish_reasons_have_the_numbers_of_the_session() {
        for reason in [
            FinishReason::StopToken,
            FinishReason::StopString,
            FinishReason::Length,
            FinishReason::Context,
            FinishReason::Cancelled,
            FinishReason::Error,
            FinishReason::Grammar,
        ] {
            assert_eq!(reason_number(reason), reason as u32);
        }
    }
}
