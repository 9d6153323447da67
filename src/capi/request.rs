//! Requests: a prompt and how to continue it.

use super::chat_template::{self, mlxrocm_message, read_messages};
use super::options::{self, SizedStruct};
use super::strings::{array, text, utf8};
use super::tokenizer::check_flags;
use crate::model::Model;
use crate::session::{Request, Sampling};
use crate::{Error, Result};
use std::ffi::c_char;

/// Request flag: go on past the model's own stop tokens.
pub const MLXROCM_REQUEST_IGNORE_EOS: u32 = 1;

/// A prompt and how to continue it. Zero is each field's default: greedy, until the model stops.
///
/// The prompt is exactly one of `tokens`, `text` and `messages`.
///
/// How a token is chosen, in this order, from the model's logits (of ids that the tokenizer has; padding of
/// the embedding is never chosen):
/// 1. the biases are added;
/// 2. logits of recent tokens get the repetition penalty, then lose the presence and frequency penalties;
/// 3. `temperature` 0 or `top_k` 1: the largest logit, of equal ones the lowest id, and that is all;
/// 4. `top_k` keeps the k largest logits;
/// 5. `top_p` keeps the fewest of these that together have that share of their probability, the token that
///    reaches it included;
/// 6. `min_p` drops those whose probability is less than so much of the largest one;
/// 7. the rest is drawn from at `temperature`, which 5 and 6 do not look at: they take it as 1.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_request {
    /// Set by the caller to sizeof(mlxrocm_request).
    pub struct_size: u32,
    /// MLXROCM_REQUEST_... together.
    pub flags: u32,
    /// The prompt as token ids, run as they are; `token_count` of them.
    pub tokens: *const u32,
    /// Ids in `tokens`; 0: none.
    pub token_count: usize,
    /// The prompt as plain text, NUL-terminated UTF-8; encoded with MLXROCM_ENCODE_ADD_SPECIAL.
    pub text: *const c_char,
    /// The prompt as a chat of `message_count` messages, which the model answers: written with the
    /// model's chat template. Special tokens spelled out in a message stay text.
    pub messages: *const mlxrocm_message,
    /// Messages in `messages`; 0: none.
    pub message_count: usize,
    /// Strings that end the generation and are not part of its text; NUL-terminated UTF-8.
    pub stop: *const *const c_char,
    /// Strings in `stop`.
    pub stop_count: usize,
    /// Tokens that end the generation besides the model's own.
    pub stop_tokens: *const u32,
    /// Ids in `stop_tokens`.
    pub stop_token_count: usize,
    /// Tokens whose logits are changed.
    pub bias_tokens: *const u32,
    /// What is added to the logit of the token of the same index; `bias_count` numbers.
    pub bias_values: *const f32,
    /// Elements of `bias_tokens` and of `bias_values`.
    pub bias_count: usize,
    /// Same seed, same tokens; for temperatures above 0.
    pub seed: u64,
    /// Tokens to generate at most; 0: until the context is full.
    pub max_tokens: u32,
    /// 0: greedy, the most probable token; else probabilities are sharpened below 1 and flattened
    /// above 1.
    pub temperature: f32,
    /// Only the most probable `top_k` tokens; 0: off.
    pub top_k: u32,
    /// Only the most probable tokens that together have this probability; 0 or 1: off.
    pub top_p: f32,
    /// Only tokens at least this times as probable as the most probable one; 0: off.
    pub min_p: f32,
    /// Divides positive and multiplies negative logits of recent tokens; 0 or 1: off.
    pub repetition_penalty: f32,
    /// Subtracted once from the logit of every recent token; 0: off.
    pub presence_penalty: f32,
    /// Subtracted from the logit of a token for each time it occurred recently; 0: off.
    pub frequency_penalty: f32,
    /// Tokens that count as recent, the prompt's included; 0: 64.
    pub penalty_window: u32,
    /// n above 0: events tell the log-probability of the token and the n most probable tokens; at
    /// most 20. They are the model's own: before biases, penalties, temperature and every filter, so that
    /// they do not depend on how tokens are chosen, and a chosen token may be none of the n.
    pub logprobs: u32,
}

// SAFETY: repr(C), size first, numbers and pointers, no padding (a test checks).
unsafe impl SizedStruct for mlxrocm_request {
    const NAME: &'static str = "mlxrocm_request";
    const FIRST_SIZE: usize = size_of::<Self>();
}

/// A request from C, with the prompt as tokens of `model`.
///
/// # Safety
/// `request` points to a struct of the size it says, and its pointers to what they say.
pub(super) unsafe fn read(request: *const mlxrocm_request, model: &Model) -> Result<Request> {
    // SAFETY: the caller promises the struct.
    let c: mlxrocm_request = unsafe { options::read(request) }?;
    check_flags(
        c.flags,
        MLXROCM_REQUEST_IGNORE_EOS,
        "flags of mlxrocm_request",
    )?;
    // SAFETY: the caller promises the array.
    let stop = unsafe { array(c.stop, c.stop_count, "stop") }?
        .iter()
        // SAFETY: the caller promises the strings.
        .map(|&stop| Ok(unsafe { utf8(stop, "a string of stop") }?.to_string()))
        .collect::<Result<Vec<_>>>()?;
    // SAFETY: the caller promises the array.
    let stop_tokens = unsafe { array(c.stop_tokens, c.stop_token_count, "stop_tokens") }?;
    // SAFETY: the caller promises the array.
    let bias_tokens = unsafe { array(c.bias_tokens, c.bias_count, "bias_tokens") }?;
    // SAFETY: the caller promises the array.
    let bias_values = unsafe { array(c.bias_values, c.bias_count, "bias_values") }?;
    // 0 means the default for every field, also where the neutral value is 1.
    let or_one = |value: f32| if value == 0.0 { 1.0 } else { value };
    Ok(Request {
        // SAFETY: the caller promises the prompt's pointers.
        prompt: unsafe { read_prompt(&c, model) }?,
        sampling: Sampling {
            temperature: c.temperature,
            top_k: c.top_k,
            top_p: or_one(c.top_p),
            min_p: c.min_p,
            repetition_penalty: or_one(c.repetition_penalty),
            presence_penalty: c.presence_penalty,
            frequency_penalty: c.frequency_penalty,
            penalty_window: c.penalty_window,
            logit_bias: bias_tokens
                .iter()
                .copied()
                .zip(bias_values.iter().copied())
                .collect(),
            seed: c.seed,
            logprobs: c.logprobs,
        },
        max_tokens: c.max_tokens as usize,
        stop,
        stop_tokens: stop_tokens.to_vec(),
        ignore_eos: c.flags & MLXROCM_REQUEST_IGNORE_EOS != 0,
    })
}

/// The prompt as tokens.
///
/// # Safety
/// The prompt's pointers in `c` point to what they say.
unsafe fn read_prompt(c: &mlxrocm_request, model: &Model) -> Result<Vec<u32>> {
    match (c.token_count > 0, !c.text.is_null(), c.message_count > 0) {
        (true, false, false) => {
            // SAFETY: the caller promises the array.
            Ok(unsafe { array(c.tokens, c.token_count, "tokens") }?.to_vec())
        }
        (false, true, false) => {
            // SAFETY: the caller promises the string.
            let text = unsafe { text(c.text, "text") }?;
            model.tokenizer().encode(&text, true, false)
        }
        (false, false, true) => {
            // SAFETY: the caller promises the array and its strings.
            let messages = unsafe { read_messages(c.messages, c.message_count) }?;
            let template = chat_template::of(model)?;
            template.encode(model.tokenizer(), &messages, true, "")
        }
        (false, false, false) => Err(Error::InvalidArgument(
            "mlxrocm_request has no prompt: set tokens, text or messages".into(),
        )),
        _ => Err(Error::InvalidArgument(
            "mlxrocm_request has more than one prompt: set only one of tokens, text and messages"
                .into(),
        )),
    }
}
