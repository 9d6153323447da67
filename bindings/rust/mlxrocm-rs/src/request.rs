//! Requests: a prompt and how to continue it.

use crate::error::field;
use crate::model::{Message, borrowed};
use mlxrocm_sys as sys;
use std::any::Any;
use std::ffi::c_void;
use std::fmt;
use std::mem::zeroed;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null;
use std::slice;
use std::sync::{Arc, Mutex, PoisonError};

/// A prompt and how to continue it. The usual way is greedy, until the model stops.
#[derive(Clone)]
pub struct Request {
    // All pointers in it are null.
    numbers: sys::mlxrocm_request,
    tokens: Vec<u32>,
    text: Option<String>,
    messages: Vec<Message>,
    chat_json: Option<String>,
    json_schema: Option<String>,
    regex: Option<String>,
    grammar: Option<String>,
    stop: Vec<String>,
    stop_tokens: Vec<u32>,
    bias: Vec<(u32, f32)>,
    processor: Option<Arc<Processor>>,
}

type Processor = dyn Fn(&[u32], &mut [f32]) -> bool + Send + Sync;

/// What a logits processor panicked with.
pub(crate) type Panicked = Arc<Mutex<Option<Box<dyn Any + Send>>>>;

/// What the library keeps of a logits processor, until it says that it needs it no more.
struct Lent {
    processor: Arc<Processor>,
    panicked: Panicked,
}

unsafe extern "C" fn process(
    tokens: *const u32,
    token_count: usize,
    logits: *mut f32,
    vocab_size: usize,
    lent: *mut c_void,
) -> i32 {
    // SAFETY: `with` gave it, and it lives until `free`; only this reads it.
    let lent = unsafe { &*lent.cast::<Lent>() };
    // SAFETY: the library lends so many tokens for this call.
    let tokens = unsafe { slice::from_raw_parts(tokens, token_count) };
    // SAFETY: the library lends so many numbers for this call, to be changed.
    let logits = unsafe { slice::from_raw_parts_mut(logits, vocab_size) };
    // No panic goes through the library.
    match catch_unwind(AssertUnwindSafe(|| (lent.processor)(tokens, logits))) {
        Ok(go_on) => i32::from(!go_on),
        Err(panicked) => {
            *lent.panicked.lock().unwrap_or_else(PoisonError::into_inner) = Some(panicked);
            1
        }
    }
}

unsafe extern "C" fn free(lent: *mut c_void) {
    // SAFETY: `with` made a box of it, and the library calls this once.
    let lent = unsafe { Box::from_raw(lent.cast::<Lent>()) };
    // What the processor owns may panic when it goes, and whoever else has the processor may be gone.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(lent)));
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("tokens", &self.tokens)
            .field("text", &self.text)
            .field("messages", &self.messages)
            .field("chat_json", &self.chat_json)
            .field("max_tokens", &self.numbers.max_tokens)
            .finish_non_exhaustive()
    }
}

// SAFETY: its pointers are null.
unsafe impl Send for Request {}
// SAFETY: as above.
unsafe impl Sync for Request {}

/// Functions that set one field.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident: $type:ty,)*) => {
        $($(#[$doc])*
        #[must_use]
        pub fn $name(mut self, $name: $type) -> Request {
            self.numbers.$name = $name;
            self
        })*
    };
}

impl Request {
    /// Calls `run` with the request as C has it, which borrows from this one, and with where the panic of its processor
    /// will be. It must give it to the library, which frees the processor in any case.
    pub(crate) fn with<T>(&self, run: impl FnOnce(&sys::mlxrocm_request, Option<Panicked>) -> T) -> T {
        let messages = borrowed(&self.messages);
        let (stop, stop_lengths): (Vec<_>, Vec<_>) = self.stop.iter().map(|stop| field(stop)).unzip();
        let (bias_tokens, bias_values): (Vec<u32>, Vec<f32>) = self.bias.iter().copied().unzip();
        let mut c = self.numbers;
        c.struct_size = size_of_val(&c) as u32;
        (c.tokens, c.token_count) = (self.tokens.as_ptr(), self.tokens.len());
        (c.text, c.text_length) = self.text.as_deref().map_or((null(), 0), field);
        (c.chat_json, c.chat_json_length) = self.chat_json.as_deref().map_or((null(), 0), field);
        (c.json_schema, c.json_schema_length) = self.json_schema.as_deref().map_or((null(), 0), field);
        (c.regex, c.regex_length) = self.regex.as_deref().map_or((null(), 0), field);
        (c.grammar, c.grammar_length) = self.grammar.as_deref().map_or((null(), 0), field);
        (c.messages, c.message_count) = (messages.as_ptr(), messages.len());
        (c.stop, c.stop_lengths, c.stop_count) = (stop.as_ptr(), stop_lengths.as_ptr(), stop.len());
        (c.stop_tokens, c.stop_token_count) = (self.stop_tokens.as_ptr(), self.stop_tokens.len());
        (c.bias_tokens, c.bias_values, c.bias_count) = (bias_tokens.as_ptr(), bias_values.as_ptr(), bias_tokens.len());
        let Some(processor) = &self.processor else {
            return run(&c, None);
        };
        let panicked = Panicked::default();
        let lent = Box::new(Lent { processor: processor.clone(), panicked: panicked.clone() });
        c.logits_processor = Some(process);
        c.user_data_free = Some(free);
        c.user_data = Box::into_raw(lent).cast();
        run(&c, Some(panicked))
    }

    fn empty() -> Request {
        // Zero is each field's default.
        // SAFETY: zero is a value of each field: numbers, and pointers that are null.
        let numbers = unsafe { zeroed() };
        Request {
            numbers,
            tokens: Vec::new(),
            text: None,
            messages: Vec::new(),
            chat_json: None,
            json_schema: None,
            regex: None,
            grammar: None,
            stop: Vec::new(),
            stop_tokens: Vec::new(),
            bias: Vec::new(),
            processor: None,
        }
    }

    /// Without a prompt: how a fork goes on.
    pub fn more() -> Request {
        Request::empty()
    }

    /// A chat that the model answers.
    pub fn chat(messages: &[Message]) -> Request {
        Request { messages: messages.to_vec(), ..Request::empty() }
    }

    /// A chat in JSON that the model answers: an object of `messages` and `tools` as OpenAI's API writes them,
    /// and further variables of the chat template.
    pub fn chat_json(object: impl Into<String>) -> Request {
        Request { chat_json: Some(object.into()), ..Request::empty() }
    }

    /// A plain text to continue.
    pub fn text(prompt: impl Into<String>) -> Request {
        Request { text: Some(prompt.into()), ..Request::empty() }
    }

    /// Tokens to continue.
    pub fn tokens(prompt: &[u32]) -> Request {
        Request { tokens: prompt.to_vec(), ..Request::empty() }
    }

    setters! {
        /// Tokens to generate at most; 0: until the context is full.
        max_tokens: u32,
        /// 0: greedy.
        temperature: f32,
        /// Only the most probable `top_k` tokens; 0: off.
        top_k: u32,
        /// Only the most probable tokens that together have this probability; 0 or 1: off.
        top_p: f32,
        /// Only tokens at least this times as probable as the most probable one; 0: off.
        min_p: f32,
        /// Divides positive and multiplies negative logits of recent tokens; 0 or 1: off.
        repetition_penalty: f32,
        /// Subtracted once from the logit of every recent token.
        presence_penalty: f32,
        /// Subtracted from the logit of a token for each time it occurred recently.
        frequency_penalty: f32,
        /// Tokens that count as recent; 0: 64.
        penalty_window: u32,
        /// Same seed, same tokens.
        seed: u64,
        /// n above 0: tokens tell their log-probability and the n most probable ones.
        logprobs: u32,
    }

    /// A string that ends the generation and is not part of its text.
    #[must_use]
    pub fn stop(mut self, stop: impl Into<String>) -> Request {
        self.stop.push(stop.into());
        self
    }

    /// A token that ends the generation besides the model's own.
    #[must_use]
    pub fn stop_token(mut self, token: u32) -> Request {
        self.stop_tokens.push(token);
        self
    }

    /// Adds to the logit of a token.
    #[must_use]
    pub fn bias(mut self, token: u32, value: f32) -> Request {
        self.bias.push((token, value));
        self
    }

    /// The generated text is JSON that fits this JSON schema. Of this, [`regex`](Request::regex) and
    /// [`grammar`](Request::grammar) at most one; see `mlxrocm_request`.
    #[must_use]
    pub fn json_schema(mut self, schema: impl Into<String>) -> Request {
        self.json_schema = Some(schema.into());
        self
    }

    /// This regular expression matches all of the generated text.
    #[must_use]
    pub fn regex(mut self, regex: impl Into<String>) -> Request {
        self.regex = Some(regex.into());
        self
    }

    /// The rule `start` of this grammar, in Lark's notation, derives the generated text.
    #[must_use]
    pub fn grammar(mut self, grammar: impl Into<String>) -> Request {
        self.grammar = Some(grammar.into());
        self
    }

    /// Called before each token is chosen, with the tokens so far and the logits of the next one, which it may change;
    /// it says whether to go on: `false` ends the generation with [`Status::Cancelled`](crate::Status::Cancelled). A
    /// panic comes out of the generation's events. It is called on the session's thread: nothing in it may wait for the
    /// session.
    #[must_use]
    pub fn logits_processor(
        mut self,
        processor: impl Fn(&[u32], &mut [f32]) -> bool + Send + Sync + 'static,
    ) -> Request {
        self.processor = Some(Arc::new(processor));
        self
    }

    /// Goes on past the model's own stop tokens.
    #[must_use]
    pub fn ignore_eos(mut self) -> Request {
        self.numbers.flags |= sys::MLXROCM_REQUEST_IGNORE_EOS;
        self
    }
}
