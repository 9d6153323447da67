//! Sessions: requests in, generations out.

use crate::error::{Result, call, handle};
use crate::generation::{Generation, GenerationHandle};
use crate::model::Model;
use crate::request::Request;
use mlxrocm_sys as sys;
use std::mem::zeroed;
use std::path::Path;
use std::ptr::{null, null_mut};

handle!(SessionHandle, mlxrocm_session, mlxrocm_session_free);

/// How the KV cache keeps keys and values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KvType {
    #[default]
    F16,
    Q8,
    Q4,
}

/// Limits of a session; zero is each default.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionOptions<'a> {
    /// Tokens of context of a request, its prompt included.
    pub context: u32,
    /// Requests that run at once; more wait for their turn.
    pub max_requests: u32,
    /// Prompt tokens that are run at once.
    pub prefill_chunk: u32,
    /// Tokens of KV cache that all requests share.
    pub kv_tokens: u64,
    pub kv_type: KvType,
    /// What a request gives never depends on what runs beside it, on GPUs too (slower with more than 16 requests or
    /// prompts beside them).
    pub batch_invariant: bool,
    /// Next tokens are guessed from what followed the same few earlier: the same text, sooner where guesses are right.
    pub prompt_lookup: bool,
    /// A smaller model with the same tokens that guesses.
    pub draft_model: Option<&'a Model>,
}

/// What makes one embedding of a text's tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pooling {
    /// The mean of all tokens.
    Mean,
    /// The first token.
    Cls,
    /// The last token.
    Last,
}

/// What a session is and does right now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionInfo {
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
    /// Of these, tokens in pages that are kept for prompts that begin alike.
    pub kv_cached: u64,
    /// Bytes of memory that the KV cache takes.
    pub kv_bytes: u64,
}

/// Several requests at once over one KV cache.
#[derive(Debug)]
pub struct Session(SessionHandle);

impl Session {
    /// A session with the usual limits.
    pub fn new(model: &Model) -> Result<Session> {
        Session::with_options(model, SessionOptions::default())
    }

    pub fn with_options(model: &Model, options: SessionOptions<'_>) -> Result<Session> {
        let options = sys::mlxrocm_session_options {
            struct_size: size_of::<sys::mlxrocm_session_options>() as u32,
            context: options.context,
            max_requests: options.max_requests,
            prefill_chunk: options.prefill_chunk,
            kv_tokens: options.kv_tokens,
            kv_type: match options.kv_type {
                KvType::F16 => sys::MLXROCM_KV_F16,
                KvType::Q8 => sys::MLXROCM_KV_Q8,
                KvType::Q4 => sys::MLXROCM_KV_Q4,
            },
            batch_invariant: options.batch_invariant.into(),
            prompt_lookup: options.prompt_lookup.into(),
            draft_model: options.draft_model.map_or(null(), |draft| draft.0.get()),
        };
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        let make = |out, error| unsafe { sys::mlxrocm_session_new(model.0.get(), &options, out, error) };
        SessionHandle::make(make).map(Session)
    }

    /// Tells what the session is and does right now.
    pub fn info(&self) -> Result<SessionInfo> {
        // SAFETY: zero is a value of each field: numbers.
        let mut info: sys::mlxrocm_session_info = unsafe { zeroed() };
        info.struct_size = size_of_val(&info) as u32;
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_session_get_info(self.0.get(), &mut info, error) })?;
        Ok(SessionInfo {
            context: info.context,
            running: info.running,
            waiting: info.waiting,
            kv_tokens: info.kv_tokens,
            kv_used: info.kv_used,
            kv_cached: info.kv_cached,
            kv_bytes: info.kv_bytes,
        })
    }

    /// Queues a request and returns at once.
    pub fn submit(&self, request: &Request) -> Result<Generation> {
        request.with(|c, panicked| {
            // SAFETY: live handles, and pointers with the lengths of what they point to.
            let make = |out, error| unsafe { sys::mlxrocm_session_submit(self.0.get(), c, out, error) };
            GenerationHandle::make(make).map(|handle| Generation::new(handle, panicked))
        })
    }

    /// Runs all requests at once and waits: their texts in order. If one fails, the others are cancelled.
    pub fn batch(&self, requests: &[Request]) -> Result<Vec<String>> {
        let generations: Vec<Generation> =
            requests.iter().map(|request| self.submit(request)).collect::<Result<_>>()?;
        generations.into_iter().map(Generation::text).collect()
    }

    /// The embedding of a text's tokens: their hidden states, pooled; `normalize`: of length 1.
    pub fn embed(&self, tokens: &[u32], pooling: Pooling, normalize: bool) -> Result<Vec<f32>> {
        let options = sys::mlxrocm_embed_options {
            struct_size: size_of::<sys::mlxrocm_embed_options>() as u32,
            pooling: match pooling {
                Pooling::Mean => sys::MLXROCM_POOLING_MEAN,
                Pooling::Cls => sys::MLXROCM_POOLING_CLS,
                Pooling::Last => sys::MLXROCM_POOLING_LAST,
            },
            positions: null(),
            position_count: 0,
            flags: u64::from(normalize) * sys::MLXROCM_EMBED_NORMALIZE,
        };
        rows(|out, capacity, needed, error| {
            let (list, count) = (tokens.as_ptr(), tokens.len());
            // SAFETY: live handles, and pointers with the lengths of what they point to.
            unsafe { sys::mlxrocm_session_embed(self.0.get(), list, count, &options, out, capacity, needed, error) }
        })
    }

    /// Raw logits, a row for each token: row i is about the token that follows the first i + 1.
    pub fn logits(&self, tokens: &[u32]) -> Result<Vec<f32>> {
        rows(|logits, capacity, needed, error| {
            let (list, count) = (tokens.as_ptr(), tokens.len());
            // SAFETY: live handles, and pointers with the lengths of what they point to.
            unsafe { sys::mlxrocm_session_logits(self.0.get(), list, count, logits, capacity, needed, error) }
        })
    }

    /// The rows of some positions, which rise; of none: the last token's.
    pub fn logits_at(&self, tokens: &[u32], positions: &[u32]) -> Result<Vec<f32>> {
        rows(|logits, capacity, needed, error| {
            let (list, count, at, places) = (tokens.as_ptr(), tokens.len(), positions.as_ptr(), positions.len());
            let handle = self.0.get();
            // SAFETY: live handles, and pointers with the lengths of what they point to.
            unsafe { sys::mlxrocm_session_logits_at(handle, list, count, at, places, logits, capacity, needed, error) }
        })
    }

    /// What was computed of these tokens, to go on after them in another session of the model.
    pub fn save_state(&self, tokens: &[u32]) -> Result<Vec<u8>> {
        rows(|state, capacity, needed, error| {
            let (list, count) = (tokens.as_ptr(), tokens.len());
            // SAFETY: live handles, and pointers with the lengths of what they point to.
            unsafe { sys::mlxrocm_session_save_state(self.0.get(), list, count, state, capacity, needed, error) }
        })
    }

    /// The same to a file, which is there whole or not at all.
    pub fn save_state_file(&self, tokens: &[u32], path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref().as_os_str().as_encoded_bytes();
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        let save = |error| unsafe {
            let (list, count) = (tokens.as_ptr(), tokens.len());
            sys::mlxrocm_session_save_state_file(self.0.get(), list, count, path.as_ptr().cast(), path.len(), error)
        };
        call(save).map(drop)
    }

    /// Keeps a state for prompts that begin with its tokens.
    pub fn load_state(&self, state: &[u8]) -> Result<()> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        let load = |error| unsafe { sys::mlxrocm_session_load_state(self.0.get(), state.as_ptr(), state.len(), error) };
        call(load).map(drop)
    }

    /// The same from a file.
    pub fn load_state_file(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref().as_os_str().as_encoded_bytes();
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        let load = |error| unsafe {
            sys::mlxrocm_session_load_state_file(self.0.get(), path.as_ptr().cast(), path.len(), error)
        };
        call(load).map(drop)
    }
}

/// The tokens of a saved state.
pub fn state_tokens(state: &[u8]) -> Result<Vec<u32>> {
    rows(|tokens, capacity, needed, error| {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        unsafe { sys::mlxrocm_state_get_tokens(state.as_ptr(), state.len(), tokens, capacity, needed, error) }
    })
}

/// Numbers that a function measures, then fills.
fn rows<T: Copy + Default>(
    run: impl Fn(*mut T, usize, *mut usize, *mut *mut sys::mlxrocm_error) -> sys::mlxrocm_status,
) -> Result<Vec<T>> {
    let mut needed = 0;
    call(|error| run(null_mut(), 0, &mut needed, error))?;
    let mut numbers = vec![T::default(); needed];
    call(|error| run(numbers.as_mut_ptr(), numbers.len(), &mut needed, error))?;
    Ok(numbers)
}
