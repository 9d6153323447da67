//! Speculation: the next tokens of a sequence are guessed, run in one step with its last one, and kept as far as the
//! model would have chosen them itself.
//!
//! Weights are read once a step, however few rows it has, so a step that checks some tokens takes hardly longer than one
//! that gives a token. What is generated does not change: each token is chosen by its own row, with the random number
//! of its place, and a guess only decides which rows are there. Steps have at most [`MOST_ROWS`] rows, up to which what a
//! row gives does not depend, to the bit, on the others.

mod draft;
mod lookup;
mod worth;

pub(super) use draft::Draft;
pub(super) use lookup::Lookup;
pub(super) use worth::{Likely, Worth};

/// Rows of a step that checks guesses.
pub(super) const MOST_ROWS: usize = 16;
/// Tokens of a sequence that are guessed at once: devices run 16 of one sequence as a prompt.
pub const MOST_GUESSED: usize = 14;

/// Tokens that may come next.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Guess {
    pub tokens: Vec<u32>,
    /// How many they are, or will be where they are still to be written.
    pub length: usize,
    pub likely: Likely,
}

impl Guess {
    /// Whether nothing better is to be expected of a draft model.
    pub fn is_sure(&self) -> bool {
        self.length > 0 && matches!(self.likely, Likely::Long | Likely::Longest)
    }
}

/// Where a session's guesses come from.
#[derive(Default)]
pub(super) struct Guessers {
    /// From the sequence's own tokens, where a match is found.
    pub lookup: bool,
    /// Else from a smaller model.
    pub draft: Option<Draft>,
}

impl Guessers {
    pub fn are_none(&self) -> bool {
        !self.lookup && self.draft.is_none()
    }
}
