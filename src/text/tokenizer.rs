//! The tokenizer: text to token ids and back.

use crate::formats::gguf::Gguf;
use crate::{Error, Result};
use std::path::Path;

/// Text to token ids and back. Immutable: any thread.
#[derive(Debug)]
pub struct Tokenizer {
    _private: (),
}

impl Tokenizer {
    /// Reads `tokenizer.json` (+ `tokenizer_config.json`) of a model folder.
    pub fn from_folder(_folder: &Path) -> Result<Tokenizer> {
        Err(Error::Unsupported("tokenizer".into()))
    }
    /// Builds the tokenizer that a GGUF file's metadata describes.
    pub fn from_gguf(_gguf: &Gguf) -> Result<Tokenizer> {
        Err(Error::Unsupported("tokenizer".into()))
    }
    /// Text to ids. `add_special` adds what the model wants around a raw prompt (BOS…);
    /// `parse_special` reads special tokens spelled out in the text as those tokens.
    pub fn encode(
        &self,
        _text: &str,
        _add_special: bool,
        _parse_special: bool,
    ) -> Result<Vec<u32>> {
        Err(Error::Unsupported("tokenizer".into()))
    }
    /// Ids to text; bytes that are not UTF-8 become U+FFFD. Unknown ids are an error.
    pub fn decode(&self, _ids: &[u32], _skip_special: bool) -> Result<String> {
        Err(Error::Unsupported("tokenizer".into()))
    }
    /// The raw bytes one token stands for (`None`: no such id; special tokens give their spelling).
    pub fn token_bytes(&self, _id: u32) -> Option<Vec<u8>> {
        None
    }
    /// The id of a token by its exact spelling in the vocabulary.
    pub fn token_to_id(&self, _token: &str) -> Option<u32> {
        None
    }
    /// The spelling of a token in the vocabulary.
    pub fn id_to_token(&self, _id: u32) -> Option<String> {
        None
    }
    /// Ids are `0..vocab_size`.
    pub fn vocab_size(&self) -> usize {
        0
    }
    /// Whether the id is a control token that ordinary text never contains.
    pub fn is_special(&self, _id: u32) -> bool {
        false
    }
    /// Begin-of-text token, where the model has one.
    pub fn bos(&self) -> Option<u32> {
        None
    }
    /// End-of-text token, where the model has one.
    pub fn eos(&self) -> Option<u32> {
        None
    }
}
