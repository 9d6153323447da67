//! What the session needs to turn tokens into text.

use crate::Result;
use crate::text::{DecodeStream, Tokenizer};
use std::sync::Arc;

/// Makes a text stream for each generation.
pub trait Detokenizer: Send + Sync {
    /// A stream that continues `prompt`.
    fn stream(&self, prompt: &[u32]) -> Box<dyn TextStream>;
}

/// The text of one generation, token by token. One thread at a time.
pub trait TextStream: Send {
    /// Adds a token; returns the text that is now complete.
    fn push(&mut self, token: u32) -> Result<String>;
    /// The rest, at the end.
    fn finish(&mut self) -> String;
}

/// A model's tokenizer; special tokens give no text.
pub(super) struct ModelText(pub Arc<Tokenizer>);

impl Detokenizer for ModelText {
    fn stream(&self, prompt: &[u32]) -> Box<dyn TextStream> {
        Box::new(DecodeStream::new(self.0.clone(), prompt, true))
    }
}

impl TextStream for DecodeStream {
    fn push(&mut self, token: u32) -> Result<String> {
        DecodeStream::push(self, token)
    }
    fn finish(&mut self) -> String {
        DecodeStream::finish(self)
    }
}
