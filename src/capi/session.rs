//! Sessions: several requests at once over one KV cache.

use super::boundary::{boundary, boundary_free, boundary_on};
use super::error::mlxrocm_error;
use super::evaluate::numbers;
use super::generation::{GenerationObject, mlxrocm_generation};
use super::handle::{self, Object};
use super::model::{ModelObject, mlxrocm_model};
use super::options::{self, OutputStruct, SizedStruct};
use super::outputs::{Buffer, Output};
use super::request::{self, mlxrocm_request};
use super::status::mlxrocm_status;
use super::strings::array;
use super::symbols::since_0_1;
use crate::Error;
use crate::model::{KvType, Model, PAGE_TOKENS};
use crate::session::{Session, SessionOptions};
use std::sync::Arc;

/// A session: several requests at once over one KV cache. Internally locked: any thread.
/// Generations keep their session alive.
pub struct mlxrocm_session {
    _private: [u8; 0],
}

/// mlxrocm_session_options.kv_type: 16-bit floating point numbers.
pub const MLXROCM_KV_F16: u64 = 0;
/// mlxrocm_session_options.kv_type: integers of 8 bits with a scale for each 32 of them: 53 % of the
/// memory; hardly any difference in what is generated.
pub const MLXROCM_KV_Q8: u64 = 1;
/// mlxrocm_session_options.kv_type: integers of 4 bits with a scale and a minimum for each 32 of
/// them: 31 % of the memory; what is generated differs.
pub const MLXROCM_KV_Q4: u64 = 2;

/// Limits of a session. Zero is each field's default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_session_options {
    /// Set by the caller to sizeof(mlxrocm_session_options).
    pub struct_size: u32,
    /// Tokens of context that a request may use, its prompt included; 0: the model's, at most 8192. More
    /// than the model was trained for works, with a warning in the log: what is written beyond may be poor. Where its
    /// RoPE would follow each text's length there (`rope_scaling` `dynamic`), it is MLXROCM_ERROR_INVALID_ARGUMENT.
    pub context: u32,
    /// Requests that run at once, at most 1,024; more wait for their turn; 0: 8.
    pub max_requests: u32,
    /// Prompt tokens that are run at once; 0: 512, on GPUs 1,024, of mixtures of experts on NVIDIA 2,048.
    pub prefill_chunk: u32,
    /// Tokens of KV cache that all requests share; when it is full, requests wait for each other.
    /// 0: a context for each of `max_requests`, but no more bytes than the model's weights have (or 256 MiB,
    /// if that is more) and than a quarter of the free memory of the model's device; one context in any
    /// case.
    pub kv_tokens: u64,
    /// How the KV cache keeps keys and values: one of MLXROCM_KV_...; 0: MLXROCM_KV_F16.
    pub kv_type: u64,
    /// 1: what a request gives does not depend, to the bit, on what runs beside it (the same seed gives the same tokens)
    /// with any number of requests and beside any prompts, on GPUs too. 0: on GPUs so up to 16 requests that run, and
    /// not beside another request's prompt; faster with more of them. On the CPU it is always so. With 1 a GPU runs
    /// prompts one after the other, and single tokens of 16 requests at a time; a request waits until there is room for
    /// all tokens that it may have (set its max_tokens), also while the callers of those that run do not read; prompts that
    /// begin alike are computed each for itself; and states are neither saved nor loaded.
    pub batch_invariant: u64,
    /// 1: the next tokens of a request are guessed from what followed the same few tokens earlier in it, its prompt
    /// included, and checked in one step: faster where texts are repeated, as in code that is edited, quoted sources and
    /// lists. What is generated stays the same, to the token, wherever it does not depend on what runs beside it
    /// (`batch_invariant`). How many are guessed depends on how often guesses were right
    /// and on how long steps take. None are beside another request's prompt, and none in a batch-invariant session of a
    /// model with recurrent layers. 0: nothing is looked up.
    pub prompt_lookup: u64,
    /// A smaller model with the same tokens, on the same or another device, which writes guesses that are checked in the
    /// same way: faster where it is right often and much smaller. With `prompt_lookup` it does so where there is no long
    /// match. Borrowed for the call; the session keeps what it needs of it. NULL: none.
    pub draft_model: *const mlxrocm_model,
}

// SAFETY: repr(C), size first, numbers and a pointer, no padding (a test checks).
unsafe impl SizedStruct for mlxrocm_session_options {
    const NAME: &'static str = "mlxrocm_session_options";
    const FIRST_SIZE: usize = std::mem::offset_of!(Self, kv_type);
}

fn kv_type(number: u64) -> Result<KvType, Error> {
    match number {
        MLXROCM_KV_F16 => Ok(KvType::F16),
        MLXROCM_KV_Q8 => Ok(KvType::Q8),
        MLXROCM_KV_Q4 => Ok(KvType::Q4),
        other => Err(Error::InvalidArgument(format!(
            "kv_type is {other}; it is one of MLXROCM_KV_F16 (0), MLXROCM_KV_Q8 (1), \
             MLXROCM_KV_Q4 (2)"
        ))),
    }
}

fn switch(name: &str, value: u64) -> Result<bool, Error> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(Error::InvalidArgument(format!(
            "{name} is {other}; it is 0 or 1"
        ))),
    }
}

/// What a session is and does right now. A request counts from mlxrocm_session_submit until its
/// MLXROCM_EVENT_FINISHED can be read.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_session_info {
    /// Set by the caller to sizeof(mlxrocm_session_info).
    pub struct_size: u32,
    /// Tokens of context that a request may use, its prompt included.
    pub context: u32,
    /// Requests that run.
    pub running: u64,
    /// Requests that wait for their turn.
    pub waiting: u64,
    /// Tokens that the KV cache holds.
    pub kv_tokens: u64,
    /// Of these, tokens in pages that running requests hold.
    pub kv_used: u64,
    /// Of these, tokens in pages that are kept in case a prompt begins like an earlier one; they are
    /// given up when room is needed.
    pub kv_cached: u64,
    /// Bytes of memory that the KV cache takes.
    pub kv_bytes: u64,
}

// SAFETY: repr(C), size first, numbers, no padding (a test checks).
unsafe impl SizedStruct for mlxrocm_session_info {
    const NAME: &'static str = "mlxrocm_session_info";
    const FIRST_SIZE: usize = std::mem::offset_of!(Self, kv_bytes);
}

pub(super) struct SessionObject {
    pub(super) session: Arc<Session>,
    pub(super) model: Arc<Model>,
    kv_bytes_per_token: u64,
}

impl Object for SessionObject {
    type Opaque = mlxrocm_session;
    const NOUN: &'static str = "mlxrocm_session";
}

/// Makes a session: allocates its KV cache and starts its scheduler thread.
///
/// - `model`: borrowed; the session keeps what it needs of it.
/// - `options`: borrowed for the call; NULL means defaults.
/// - `session`: receives the session, owned: free it with mlxrocm_session_free.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, OUT_OF_MEMORY. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_session_new(
    model: *const mlxrocm_model,
    options: *const mlxrocm_session_options,
    session: *mut *mut mlxrocm_session,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(model, "model", error, |object: &ModelObject| {
        // SAFETY: the caller's struct, as documented.
        let options = unsafe { options::read(options) }?;
        // SAFETY: the caller's pointer, as documented.
        let output = unsafe { Output::new(session, "session") }?;
        let kv_type = kv_type(options.kv_type)?;
        let draft = match options.draft_model.is_null() {
            true => None,
            false => {
                let draft =
                    handle::get::<ModelObject>(options.draft_model, "options->draft_model")?;
                Some(draft.run(|draft| Ok(draft.model.clone()))?)
            }
        };
        let session = Session::new(
            object.model.clone(),
            SessionOptions {
                context: options.context as usize,
                max_requests: options.max_requests as usize,
                prefill_chunk: options.prefill_chunk as usize,
                // More than an address can count is refused like any other size that is too large.
                kv_tokens: usize::try_from(options.kv_tokens).unwrap_or(usize::MAX),
                kv_type,
                batch_invariant: switch("batch_invariant", options.batch_invariant)?,
                prompt_lookup: switch("prompt_lookup", options.prompt_lookup)?,
                draft,
            },
        )?;
        output.write(handle::publish(SessionObject {
            session: Arc::new(session),
            model: object.model.clone(),
            kv_bytes_per_token: object.model.kv_bytes_per_token(kv_type),
        }));
        Ok(())
    })
}

/// Tells what a session is and does right now.
///
/// - `session`: borrowed.
/// - `info`: receives the facts; its `struct_size` must be set.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_session_get_info(
    session: *const mlxrocm_session,
    info: *mut mlxrocm_session_info,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(session, "session", error, |object: &SessionObject| {
        // SAFETY: the caller's struct, as documented.
        let output = unsafe { OutputStruct::new(info, "info") }?;
        let status = object.session.status();
        let tokens = |pages: usize| (pages as u64).saturating_mul(PAGE_TOKENS as u64);
        output.write(mlxrocm_session_info {
            struct_size: 0,
            context: u32::try_from(object.session.context()).unwrap_or(u32::MAX),
            running: status.running as u64,
            waiting: status.waiting as u64,
            kv_tokens: tokens(status.pages),
            kv_used: tokens(status.pages_used),
            kv_cached: tokens(status.pages_cached),
            kv_bytes: tokens(status.pages).saturating_mul(object.kv_bytes_per_token),
        });
        Ok(())
    })
}

/// Queues a request and returns at once; its events come out of mlxrocm_generation_next.
///
/// - `session`: borrowed; the generation keeps it alive.
/// - `request`: borrowed for the call: everything it points to is copied.
/// - `generation`: receives the generation, owned: free it with mlxrocm_generation_free.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (a value out of range, a token that the model does not
/// have, no prompt), CONTEXT_FULL (the prompt is longer than the context), UNSUPPORTED (messages,
/// but no chat template). Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_session_submit(
    session: *const mlxrocm_session,
    request: *const mlxrocm_request,
    generation: *mut *mut mlxrocm_generation,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary(error, || {
        // SAFETY: the caller's struct, as documented.
        let given = unsafe { request::take(request) }?;
        handle::get::<SessionObject>(session, "session")?.run(|object| {
            // SAFETY: the caller's pointer, as documented.
            let output = unsafe { Output::new(generation, "generation") }?;
            // SAFETY: what the caller's struct points to, as documented.
            let request = unsafe { request::read(given, &object.model, None) }?;
            let generation = object.session.submit(request)?;
            let (session, model) = (object.session.clone(), object.model.clone());
            let made = GenerationObject::new(generation, session, model);
            output.write(handle::publish(made));
            Ok(())
        })
    })
}

/// Runs a sequence of tokens and gives the raw logits of every position, for evaluation. It waits
/// for its turn among the requests, and takes as long as a prompt of that length.
///
/// - `session`: borrowed.
/// - `tokens`: `count` ids, borrowed for the call; at least 1, at most the session's context.
/// - `count`: tokens.
/// - `logits`: receives rows of vocab_size numbers (mlxrocm_model_info), one row for each token: row
///   i is about the token that follows the first i + 1.
/// - `capacity`: room in `logits`, in numbers; 0: only measure, nothing is run. Whatever it is, more tokens than
///   the context are CONTEXT_FULL.
/// - `needed`: receives count * vocab_size, also when they do not fit; nullable unless measuring.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, CONTEXT_FULL, OUT_OF_MEMORY, BUFFER_TOO_SMALL. Any
/// thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_session_logits(
    session: *const mlxrocm_session,
    tokens: *const u32,
    count: usize,
    logits: *mut f32,
    capacity: usize,
    needed: *mut usize,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(session, "session", error, |object: &SessionObject| {
        // SAFETY: the caller's array, as documented.
        let tokens = unsafe { array(tokens, count, "tokens") }?;
        // SAFETY: the caller's buffer, as documented.
        let buffer = unsafe { Buffer::new(logits, capacity, needed, "logits") }?;
        object.session.check_count(count)?;
        buffer.reserve(numbers(count, object.model.info().vocab_size)?)?;
        if buffer.measures() {
            return Ok(());
        }
        buffer.fill(&object.session.logits(tokens)?)
    })
}

/// Frees a session. Its generations go on until they are freed.
///
/// - `session`: consumed; NULL is fine.
///
/// Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_session_free(session: *mut mlxrocm_session) {
    boundary_free::<SessionObject>(session)
}

since_0_1! {
    mlxrocm_session_new mlxrocm_session_get_info mlxrocm_session_submit mlxrocm_session_logits mlxrocm_session_free
}
