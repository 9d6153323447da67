//! Streaming decode: text as tokens arrive, never a split UTF-8 character.

use super::Tokenizer;
use crate::Result;
use std::sync::Arc;

/// Decodes one token at a time. One thread at a time.
#[derive(Debug)]
pub struct DecodeStream {
    _tokenizer: Arc<Tokenizer>,
}

impl DecodeStream {
    /// A stream that starts after `prompt` (its last tokens may decide about a leading space).
    pub fn new(tokenizer: Arc<Tokenizer>, _prompt: &[u32], _skip_special: bool) -> DecodeStream {
        DecodeStream {
            _tokenizer: tokenizer,
        }
    }
    /// Adds a token; returns the text that is now complete (empty while a character is unfinished).
    pub fn push(&mut self, _id: u32) -> Result<String> {
        Ok(String::new())
    }
    /// The rest; unfinished bytes become U+FFFD.
    pub fn finish(&mut self) -> String {
        String::new()
    }
}
