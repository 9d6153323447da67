//! A loaded model: config, weights, tokenizer, chat template.

use super::{Config, Forward};
use crate::text::{ChatTemplate, Tokenizer};
use crate::{Error, Result};
use std::path::Path;
use std::sync::Arc;

/// How to load a model. `Default` is what most callers want.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// CPU threads; 0: one per CPU this process may run on.
    pub threads: usize,
}

/// Facts about a loaded model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelInfo {
    /// `llama`, `qwen2`, `qwen3`.
    pub family: String,
    /// The name the file gives itself, or the file's name.
    pub name: String,
    /// Weights in all tensors used.
    pub parameters: u64,
    /// Bytes of the file(s) that hold them.
    pub weight_bytes: u64,
    /// Tokens of context the model was trained for.
    pub context_length: usize,
    /// Rows of the embedding table; logits have this many columns.
    pub vocab_size: usize,
    /// Transformer blocks.
    pub layers: usize,
    /// Width of the residual stream.
    pub hidden_size: usize,
    /// What most of the weights are stored as, e.g. `Q4_1` or `affine 4-bit g64`.
    pub quantization: String,
    /// KV cache bytes of one token.
    pub kv_bytes_per_token: u64,
    /// Seconds that loading took.
    pub load_seconds: f64,
}

/// A loaded model. Immutable: any thread.
pub struct Model {
    _private: (),
}

impl Model {
    /// Loads a GGUF file or a model folder. `progress(done, total)` in bytes is called from this
    /// thread; returning `false` ends loading with [`Error::Cancelled`].
    pub fn load(
        _path: &Path,
        _options: &LoadOptions,
        _progress: Option<&mut dyn FnMut(u64, u64) -> bool>,
    ) -> Result<Arc<Model>> {
        Err(Error::Unsupported("load".into()))
    }
    /// Facts.
    pub fn info(&self) -> &ModelInfo {
        unimplemented!()
    }
    /// The architecture's numbers.
    pub fn config(&self) -> &Config {
        unimplemented!()
    }
    /// The tokenizer.
    pub fn tokenizer(&self) -> &Arc<Tokenizer> {
        unimplemented!()
    }
    /// The chat template, where the file has one.
    pub fn chat_template(&self) -> Option<&Arc<ChatTemplate>> {
        None
    }
    /// Tokens that end a generation (EOS, end of turn).
    pub fn stop_tokens(&self) -> &[u32] {
        &[]
    }
    /// New forward state with `page_count` KV pages of [`super::PAGE_TOKENS`] tokens and at most
    /// `max_tokens` tokens a call. Memory is allocated here or an error is returned.
    pub fn new_forward(
        self: &Arc<Self>,
        _page_count: usize,
        _max_tokens: usize,
    ) -> Result<Box<dyn Forward>> {
        Err(Error::Unsupported("forward".into()))
    }
}
