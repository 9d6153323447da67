//! Weight binding: one set of names over model folders and GGUF files.

use super::Config;
use crate::formats::Weight;
use crate::{Error, Result};
use std::path::Path;

/// A linear layer `y = W·x + b`, `W` `[out, in]`.
#[derive(Debug, Clone)]
pub struct Linear {
    /// `[out, in]`.
    pub weight: Weight,
    /// `[out]`.
    pub bias: Option<Vec<f32>>,
}

/// An opened model file or folder: its config and its weights by Hugging Face path
/// (`model.layers.0.self_attn.q_proj`).
#[derive(Debug)]
pub struct Source {
    _private: (),
}

impl Source {
    /// Opens a `.gguf` file or a model folder.
    pub fn open(_path: &Path) -> Result<Source> {
        Err(Error::Unsupported("open".into()))
    }
    /// The architecture's numbers, validated (no zero sizes, products that fit, heads that divide).
    pub fn config(&self) -> &Config {
        unimplemented!()
    }
    /// The linear layer at `path`, of exactly `[rows, cols]`; bias where the file has one.
    pub fn linear(&self, _path: &str, _rows: usize, _cols: usize) -> Result<Linear> {
        Err(Error::Unsupported("linear".into()))
    }
    /// The embedding table at `path`.
    pub fn embedding(&self, _path: &str, _rows: usize, _cols: usize) -> Result<Weight> {
        Err(Error::Unsupported("embedding".into()))
    }
    /// A norm weight (a vector of exactly `len` numbers) at `path` + `.weight`.
    pub fn norm(&self, _path: &str, _len: usize) -> Result<Vec<f32>> {
        Err(Error::Unsupported("norm".into()))
    }
    /// The tokenizer.
    pub fn tokenizer(&self) -> Result<crate::text::Tokenizer> {
        Err(Error::Unsupported("tokenizer".into()))
    }
    /// The chat template's source, where there is one.
    pub fn chat_template(&self) -> Option<&str> {
        None
    }
}
