//! The whole way of a text through byte-pair encoding: added tokens, normalizer, words, merges.

use super::added::{AddedTokens, Segment};
use super::merger::{Merger, Space};
use super::normalizer::Normalizer;
use super::vocabulary::Vocabulary;
use super::words::{self, Step};

/// The encoder. Immutable: any thread.
pub(super) struct Bpe {
    /// Added tokens found in the text as it is.
    pub(super) added: AddedTokens,
    pub(super) normalizer: Normalizer,
    /// Added tokens found in the normalized text.
    pub(super) normalized: Option<AddedTokens>,
    pub(super) steps: Vec<Step>,
    /// Whether words are spelled byte by byte with GPT-2's table.
    pub(super) byte_level: bool,
    pub(super) merger: Merger,
}

impl Bpe {
    /// Appends the tokens of the text.
    pub(super) fn encode(
        &self,
        vocabulary: &Vocabulary,
        text: &str,
        parse_special: bool,
        out: &mut Vec<u32>,
    ) -> tokenizers::Result<()> {
        let mut space = Space::default();
        let mut first = true;
        for segment in self.added.split(text, parse_special) {
            match segment {
                Segment::Token(id) => out.push(id),
                Segment::Text(text) => {
                    let normalized = self.normalizer.apply(text)?;
                    let text = normalized.as_deref().unwrap_or(text);
                    let mut first = first;
                    for segment in match &self.normalized {
                        Some(added) => added.split(text, parse_special),
                        None => vec![Segment::Text(text)],
                    } {
                        match segment {
                            Segment::Token(id) => out.push(id),
                            Segment::Text(text) => {
                                let mut word = |word: &str| {
                                    let merger = &self.merger;
                                    if self.byte_level {
                                        merger.encode_bytes(vocabulary, word, &mut space, out);
                                    } else {
                                        merger.encode_chars(vocabulary, word, &mut space, out);
                                    }
                                };
                                words::cut(&self.steps, text, first, &mut word)?;
                            }
                        }
                        first = false;
                    }
                }
            }
            first = false;
        }
        Ok(())
    }
}
