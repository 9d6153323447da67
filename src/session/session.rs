//! The session: its scheduler thread, its KV pages, its requests.

use super::{Generation, Request};
use crate::model::Model;
use crate::{Error, Result};
use std::sync::Arc;

/// Limits of a session. `Default` is what most callers want.
#[derive(Debug, Clone, Default)]
pub struct SessionOptions {
    /// Tokens of context a request may use, prompt included; 0: the model's, at most 8192.
    pub context: usize,
    /// Requests that run at once; more wait. 0: 8.
    pub max_requests: usize,
    /// Prompt tokens that are run at once. 0: 512.
    pub prefill_chunk: usize,
}

/// Several requests at once over one KV cache. Internally locked: any thread.
pub struct Session {
    _private: (),
}

impl Session {
    /// Allocates the KV cache and starts the scheduler thread.
    pub fn new(_model: Arc<Model>, _options: SessionOptions) -> Result<Session> {
        Err(Error::Unsupported("session".into()))
    }
    /// Queues a request; errors are found here where they can be.
    pub fn submit(&self, _request: Request) -> Result<Generation> {
        Err(Error::Unsupported("submit".into()))
    }
    /// Logits of every position of `tokens`, `[tokens, vocab]`, for evaluation. Waits for its turn
    /// among the requests.
    pub fn logits(&self, _tokens: &[u32]) -> Result<Vec<f32>> {
        Err(Error::Unsupported("logits".into()))
    }
}
