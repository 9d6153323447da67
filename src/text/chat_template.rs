//! Chat templates (Jinja) with Python's string methods, bounded by fuel.

use crate::{Error, Result};

/// One message of a chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// `system`, `user`, `assistant`, `tool`…
    pub role: String,
    /// The text.
    pub content: String,
}

/// A compiled chat template. Immutable: any thread.
#[derive(Debug)]
pub struct ChatTemplate {
    _private: (),
}

impl ChatTemplate {
    /// Compiles `source`; `bos` and `eos` are the spellings of those tokens.
    pub fn new(_source: &str, _bos: &str, _eos: &str) -> Result<ChatTemplate> {
        Err(Error::Unsupported("chat template".into()))
    }
    /// The text of the prompt. `add_generation_prompt` opens the assistant's turn. `extra` is a
    /// JSON object of further template variables (e.g. `{"enable_thinking": false}`), or empty.
    pub fn render(
        &self,
        _messages: &[Message],
        _add_generation_prompt: bool,
        _extra: &str,
    ) -> Result<String> {
        Err(Error::Unsupported("chat template".into()))
    }
    /// The template's source.
    pub fn source(&self) -> &str {
        ""
    }
}
