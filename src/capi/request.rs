//! Requests: a prompt and how to continue it.

use super::callback::{UserData, mlxrocm_user_data_free};
use super::chat_template::{self, mlxrocm_message, read_messages};
use super::options::{self, SizedStruct};
use super::strings::{array, field_length, optional_utf8, text, texts};
use super::tokenizer::check_flags;
use crate::model::Model;
use crate::session::{LogitsProcessor, Request, Sampling};
use crate::text::{Grammar, GrammarSource};
use crate::{Error, Result};
use std::ffi::{c_char, c_void};

/// Request flag: go on past the model's own stop tokens.
pub const MLXROCM_REQUEST_IGNORE_EOS: u32 = 1;

/// Edits the logits of a request's next token before one is chosen, for a grammar, a watermark, guidance.
///
/// - `tokens`: the tokens so far, the prompt's and the generated ones; borrowed for the call.
/// - `token_count`: elements of `tokens`.
/// - `logits`: `vocab_size` numbers, all finite, to be changed in place. −INFINITY bans a token.
/// - `vocab_size`: columns of the model's logits (mlxrocm_model_info). Those that are no token of the tokenizer are
///   never chosen, whatever is written there.
/// - `user_data`: from the request.
///
/// Returns 0 to go on. Another number ends the generation with MLXROCM_FINISH_ERROR and MLXROCM_ERROR_CANCELLED;
/// NaN or +INFINITY in `logits`, or no token left, with MLXROCM_ERROR_INVALID_ARGUMENT.
///
/// Called on the session's own thread, of one session never twice at a time; no step of the model begins meanwhile. In
/// it, nothing may be called that waits for this session: not mlxrocm_session_logits, _logits_at and _embed, and
/// mlxrocm_generation_next only with timeout 0. Freeing and cancelling generations is fine.
///
/// On GPUs the logits of such requests alone come to the host; the device chooses the others' tokens. If callbacks take
/// a large part of a step's time, the others do not wait for them: a step without such requests is queued before and
/// runs meanwhile, and they are in every second step.
pub type mlxrocm_logits_processor = Option<
    unsafe extern "C" fn(
        tokens: *const u32,
        token_count: usize,
        logits: *mut f32,
        vocab_size: usize,
        user_data: *mut c_void,
    ) -> i32,
>;

/// A prompt and how to continue it. Zero is each field's default: greedy, until the model stops.
///
/// The prompt is exactly one of `tokens`, `text` and a chat: `messages`, `chat_json` or both.
///
/// How a token is chosen, in this order, from the model's logits (of ids that the tokenizer has; padding of
/// the embedding is never chosen):
/// 1. `logits_processor` may change them, then the biases are added;
/// 2. logits of recent tokens get the repetition penalty, then lose the presence and frequency penalties;
/// 3. `json_schema`, `regex` or `grammar` leaves the tokens that may come next;
/// 4. `temperature` 0 or `top_k` 1: the largest logit, of equal ones the lowest id, and that is all;
/// 5. `top_k` keeps the k largest logits;
/// 6. `top_p` keeps the fewest of these that together have that share of their probability, the token that
///    reaches it included;
/// 7. `min_p` drops those whose probability is less than so much of the largest one;
/// 8. the rest is drawn from at `temperature`, which 6 and 7 do not look at: they take it as 1.
///
/// What the generated text must be (`json_schema`, `regex` or `grammar`) holds from its first token on. A token that
/// ends the generation is chosen only where the text is complete; where nothing may follow, the generation ends with
/// MLXROCM_FINISH_GRAMMAR. Texts that end otherwise (MLXROCM_FINISH_LENGTH, stop strings and stop tokens that are text
/// themselves, cancelling) are the beginning of one. What the field says is compiled in the call that takes the
/// request; the first such request of a model takes longer, as its tokens are sorted. What the model is asked for
/// should say the same: it knows nothing of the field. On GPUs such requests are as with a logits processor: their
/// tokens are chosen by the host. Control tokens are no text, and are chosen only where a grammar names them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_request {
    /// Set by the caller to sizeof(mlxrocm_request).
    pub struct_size: u32,
    /// MLXROCM_REQUEST_... together.
    pub flags: u32,
    /// The prompt as token ids, run as they are; `token_count` of them. NULL: none.
    pub tokens: *const u32,
    /// Ids in `tokens`; 0: none.
    pub token_count: usize,
    /// The prompt as plain text, UTF-8; encoded with MLXROCM_ENCODE_ADD_SPECIAL. NULL: none.
    pub text: *const c_char,
    /// Bytes of `text`; 0: it is NUL-terminated.
    pub text_length: usize,
    /// The prompt as a chat of `message_count` messages, which the model answers: written with the
    /// model's chat template. Special tokens spelled out in a message stay text. NULL: none.
    pub messages: *const mlxrocm_message,
    /// Messages in `messages`; 0: none.
    pub message_count: usize,
    /// Strings that end the generation and are not part of its text; UTF-8. Empty ones end nothing.
    pub stop: *const *const c_char,
    /// Bytes of each of `stop`; NULL: they are NUL-terminated.
    pub stop_lengths: *const usize,
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
    /// Nullable; called before each token is chosen. See mlxrocm_logits_processor.
    pub logits_processor: mlxrocm_logits_processor,
    /// Passed to `logits_processor`.
    pub user_data: *mut c_void,
    /// Nullable; called exactly once with `user_data` when it is not needed any more, on any thread: before the
    /// generation's MLXROCM_EVENT_FINISHED can be read, or before a call that fails with this request returns
    /// (unless struct_size cannot be read).
    pub user_data_free: mlxrocm_user_data_free,
    /// The prompt as a chat in JSON, UTF-8: an object of `messages`, `tools` and further
    /// variables of the template, as in mlxrocm_chat_template_render. Special tokens spelled out in its
    /// texts stay text. With `messages` it has none.
    pub chat_json: *const c_char,
    /// Bytes of `chat_json`; 0: it is NUL-terminated.
    pub chat_json_length: usize,
    /// A JSON schema, UTF-8: the generated text is JSON that fits it. `{"type": "object"}`: any object. Keywords of JSON
    /// schemas that llguidance cannot follow (`not`, `if`, `uniqueItems`, `contains` …) and formats that it does not know
    /// are an error that names them; other words say nothing. Between the parts are at most a space, or two new lines and
    /// 20 spaces or tabs, unless the schema has llguidance's `x-guidance`. NULL: none. At most one of this, `regex` and
    /// `grammar`.
    pub json_schema: *const c_char,
    /// Bytes of `json_schema`; 0: it is NUL-terminated.
    pub json_schema_length: usize,
    /// A regular expression that matches all of the generated text, UTF-8; Rust's syntax, but word boundaries
    /// are an error. NULL: none.
    pub regex: *const c_char,
    /// Bytes of `regex`; 0: it is NUL-terminated.
    pub regex_length: usize,
    /// A grammar whose rule `start` derives the generated text, UTF-8; Lark's notation, as llguidance reads it. NULL:
    /// none.
    pub grammar: *const c_char,
    /// Bytes of `grammar`; 0: it is NUL-terminated.
    pub grammar_length: usize,
}

// SAFETY: repr(C), size first, numbers and pointers, no padding (a test checks).
unsafe impl SizedStruct for mlxrocm_request {
    const NAME: &'static str = "mlxrocm_request";
    const FIRST_SIZE: usize = std::mem::offset_of!(Self, logits_processor);
}

/// A request as C gave it, and what is freed with it.
pub(super) struct GivenRequest {
    c: mlxrocm_request,
    user_data: UserData,
}

/// Takes a caller's struct: from here on its user data is freed.
///
/// # Safety
/// `request` is NULL or points to a struct of the size it says.
pub(super) unsafe fn take(request: *const mlxrocm_request) -> Result<GivenRequest> {
    if request.is_null() {
        return Err(Error::NullArgument("request".into()));
    }
    // SAFETY: the caller promises the struct.
    let c: mlxrocm_request = unsafe { options::read(request) }?;
    let user_data = UserData::new(c.user_data, c.user_data_free);
    Ok(GivenRequest { c, user_data })
}

/// The request's callback; without one its user data is freed.
fn processor(c: &mlxrocm_request, user_data: UserData) -> Option<LogitsProcessor> {
    let edit = c.logits_processor?;
    Some(LogitsProcessor::new(move |tokens, logits| {
        let (count, columns) = (tokens.len(), logits.len());
        let data = user_data.pointer();
        // SAFETY: the application's function, with what it is documented to be given.
        match unsafe { edit(tokens.as_ptr(), count, logits.as_mut_ptr(), columns, data) } {
            0 => Ok(()),
            code => Err(Error::Cancelled(format!(
                "the logits processor ended the generation: it returned {code}"
            ))),
        }
    }))
}

/// A request from C, with the prompt as tokens of `model`; `fork`: the prompt, where the request must have none.
///
/// # Safety
/// The pointers in `c` point to what they say.
pub(super) unsafe fn read(
    given: GivenRequest,
    model: &Model,
    fork: Option<Vec<u32>>,
) -> Result<Request> {
    let GivenRequest { c, user_data } = given;
    check_flags(
        c.flags,
        MLXROCM_REQUEST_IGNORE_EOS,
        "flags of mlxrocm_request",
    )?;
    // SAFETY: the caller promises the arrays and their texts.
    let stop = unsafe { texts(c.stop, c.stop_lengths, c.stop_count, "stop") }?;
    let stop = stop.into_iter().map(str::to_string).collect();
    // SAFETY: the caller promises the array.
    let stop_tokens = unsafe { array(c.stop_tokens, c.stop_token_count, "stop_tokens") }?;
    // SAFETY: the caller promises the array.
    let bias_tokens = unsafe { array(c.bias_tokens, c.bias_count, "bias_tokens") }?;
    // SAFETY: the caller promises the array.
    let bias_values = unsafe { array(c.bias_values, c.bias_count, "bias_values") }?;
    // 0 means the default for every field, also where the neutral value is 1.
    let or_one = |value: f32| if value == 0.0 { 1.0 } else { value };
    Ok(Request {
        prompt: match fork {
            Some(tokens) => no_prompt(&c).map(|()| tokens)?,
            // SAFETY: the caller promises the prompt's pointers.
            None => unsafe { read_prompt(&c, model) }?,
        },
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
        // SAFETY: the caller promises the texts.
        grammar: unsafe { grammar(&c, model) }?,
        logits_processor: processor(&c, user_data),
    })
}

/// What the text must be.
///
/// # Safety
/// The pointers of the three fields point to what they say.
unsafe fn grammar(c: &mlxrocm_request, model: &Model) -> Result<Option<Grammar>> {
    let fields = [
        (c.json_schema, c.json_schema_length, "json_schema"),
        (c.regex, c.regex_length, "regex"),
        (c.grammar, c.grammar_length, "grammar"),
    ];
    let fields = fields.map(|(text, length, name)| {
        // SAFETY: as above.
        unsafe { optional_utf8(text, field_length(length), name) }
    });
    let source = match fields {
        [Ok(None), Ok(None), Ok(None)] => return Ok(None),
        [Ok(Some(schema)), Ok(None), Ok(None)] => GrammarSource::JsonSchema(schema),
        [Ok(None), Ok(Some(regex)), Ok(None)] => GrammarSource::Regex(regex),
        [Ok(None), Ok(None), Ok(Some(grammar))] => GrammarSource::Lark(grammar),
        fields => {
            let wrong = fields.into_iter().find_map(Result::err);
            return Err(wrong.unwrap_or_else(|| {
                Error::InvalidArgument(
                    "mlxrocm_request says more than once what the text must be: set only one of json_schema, regex \
                     and grammar"
                        .into(),
                )
            }));
        }
    };
    model.tokenizer().grammars()?.compile(source).map(Some)
}

/// Errors where a request that goes on after other tokens has a prompt.
fn no_prompt(c: &mlxrocm_request) -> Result<()> {
    match (c.token_count, c.text.is_null() && c.chat_json.is_null(), c.message_count) {
        (0, true, 0) => Ok(()),
        _ => Err(Error::InvalidArgument(
            "mlxrocm_request has a prompt, but a fork goes on after its generation's tokens: leave tokens, text, \
             messages and chat_json unset"
                .into(),
        )),
    }
}

/// The prompt as tokens.
///
/// # Safety
/// The prompt's pointers in `c` point to what they say.
unsafe fn read_prompt(c: &mlxrocm_request, model: &Model) -> Result<Vec<u32>> {
    let chat = c.message_count > 0 || !c.chat_json.is_null();
    match (c.token_count > 0, !c.text.is_null(), chat) {
        (true, false, false) => {
            // SAFETY: the caller promises the array.
            Ok(unsafe { array(c.tokens, c.token_count, "tokens") }?.to_vec())
        }
        (false, true, false) => {
            // SAFETY: the caller promises the text.
            let text = unsafe { text(c.text, field_length(c.text_length), "text") }?;
            model.tokenizer().encode(&text, true, false)
        }
        (false, false, true) => {
            // SAFETY: the caller promises the array and its strings.
            let messages = unsafe { read_messages(c.messages, c.message_count) }?;
            let length = field_length(c.chat_json_length);
            // SAFETY: the caller promises the text.
            let chat_json = unsafe { optional_utf8(c.chat_json, length, "chat_json") }?;
            let (template, chat_json) = (chat_template::of(model)?, chat_json.unwrap_or_default());
            template.encode(model.tokenizer(), &messages, true, chat_json)
        }
        (false, false, false) => Err(Error::InvalidArgument(
            "mlxrocm_request has no prompt: set tokens, text, messages or chat_json".into(),
        )),
        _ => Err(Error::InvalidArgument(
            "mlxrocm_request has more than one prompt: set only one of tokens, text and messages (or chat_json)"
                .into(),
        )),
    }
}
