//! Which columns of the logits are tokens.

use crate::text::Tokenizer;

/// The columns of a row of logits that stand for tokens: an embedding may be padded to more rows than the
/// tokenizer has tokens, and the tokenizer may leave ids out. Immutable: any thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenSet {
    end: usize,
    holes: Vec<u32>,
}

impl TokenSet {
    /// All of `columns`.
    pub fn all(columns: usize) -> TokenSet {
        TokenSet {
            end: columns,
            holes: Vec::new(),
        }
    }

    /// Those of `columns` that the tokenizer has a token for.
    pub(super) fn of(tokenizer: &Tokenizer, columns: usize) -> TokenSet {
        // Ids are 32 bits; vocabularies are smaller.
        let mut holes: Vec<u32> = (0..columns as u32)
            .filter(|id| !tokenizer.has(*id))
            .collect();
        let mut end = columns;
        while end > 0 && holes.last().is_some_and(|id| *id as usize == end - 1) {
            holes.pop();
            end -= 1;
        }
        TokenSet { end, holes }
    }

    /// No column from this one on is a token.
    pub fn end(&self) -> usize {
        self.end
    }

    /// Columns before [`TokenSet::end`] that are none, rising.
    pub fn holes(&self) -> &[u32] {
        &self.holes
    }
}
