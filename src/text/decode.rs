//! Streaming decode: text as tokens arrive, never a split UTF-8 character.

use super::Tokenizer;
use crate::Result;
use std::sync::Arc;

/// Decodes one token at a time. One thread at a time.
///
/// With an empty prompt, the texts of all pushes and of `finish` together are exactly what
/// [`Tokenizer::decode`] gives for all the tokens at once.
#[derive(Debug)]
pub struct DecodeStream {
    tokenizer: Arc<Tokenizer>,
    skip_special: bool,
    /// The beginning of an unfinished character: at most three bytes between pushes.
    pending: Vec<u8>,
    /// Whether the next byte is the first of the text.
    at_start: bool,
}

impl DecodeStream {
    /// A stream that starts after `prompt`: a leading space is taken away only where the text
    /// begins, that is, where no token of the prompt gives text.
    pub fn new(tokenizer: Arc<Tokenizer>, prompt: &[u32], skip_special: bool) -> DecodeStream {
        let gives_text = |id: &u32| {
            !(skip_special && tokenizer.is_special(*id))
                && tokenizer.token_bytes(*id).is_some_and(|b| !b.is_empty())
        };
        let at_start = tokenizer.strips_space() && !prompt.iter().any(gives_text);
        DecodeStream {
            tokenizer,
            skip_special,
            pending: Vec::new(),
            at_start,
        }
    }

    /// Adds a token; returns the text that is now complete (empty while a character is unfinished).
    ///
    /// # Errors
    /// `InvalidArgument` for an id that has no token; the stream stays as it was.
    pub fn push(&mut self, id: u32) -> Result<String> {
        let old = self.pending.len();
        self.tokenizer
            .push_bytes(id, self.skip_special, &mut self.pending)?;
        if self.at_start && self.pending.len() > old {
            self.at_start = false;
            if self.pending.first() == Some(&b' ') {
                self.pending.remove(0);
            }
        }
        let complete = complete_length(&self.pending);
        let rest = self.pending.split_off(complete);
        let text = String::from_utf8_lossy(&self.pending).into_owned();
        self.pending = rest;
        Ok(text)
    }

    /// The rest; unfinished bytes become U+FFFD.
    pub fn finish(&mut self) -> String {
        let text = String::from_utf8_lossy(&self.pending).into_owned();
        self.pending.clear();
        text
    }
}

/// How many bytes are certain: all but an unfinished character at the end.
///
/// A lossy conversion replaces each longest beginning of a character by one U+FFFD, so a cut before
/// such a beginning does not change the whole.
fn complete_length(bytes: &[u8]) -> usize {
    let mut at = 0;
    loop {
        match std::str::from_utf8(bytes.get(at..).unwrap_or_default()) {
            Ok(_) => return bytes.len(),
            Err(error) => match error.error_len() {
                // Bytes that cannot become a character: replaced here and now.
                Some(len) => at += error.valid_up_to() + len,
                // The end came too early: more bytes may complete it.
                None => return at + error.valid_up_to(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::complete_length;

    #[test]
    fn only_an_unfinished_character_waits() {
        assert_eq!(complete_length(b""), 0);
        assert_eq!(complete_length(b"abc"), 3);
        assert_eq!(complete_length("é".as_bytes()), 2);
        assert_eq!(complete_length(&[b'a', 0xC3]), 1);
        assert_eq!(complete_length(&[0xF0, 0x9F, 0x98]), 0);
        // Can never become a character.
        assert_eq!(complete_length(&[0xFF]), 1);
        assert_eq!(complete_length(&[0x80, b'a']), 2);
        assert_eq!(complete_length(&[0xE0, 0x80]), 2);
        assert_eq!(complete_length(&[0xC3, 0xFF, 0xE4, 0xB8]), 2);
    }
}
