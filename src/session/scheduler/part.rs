//! A sequence's part of a step.

use crate::model::Choice;
use crate::session::sequence::Sequence;
use crate::session::speculation::Likely;

/// What of a part comes here from a device that chooses tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Brings {
    /// The token that it chose, if a row is wanted.
    Token,
    /// The row too, for log-probabilities.
    Rated,
    /// The rows: here the token is chosen, or they are what was asked for.
    Rows,
}

/// A sequence's part of a step.
pub(super) struct Part {
    /// The sequence's.
    pub id: u64,
    /// Tokens to run, guessed ones included.
    pub tokens: usize,
    /// Rows that it gives.
    pub rows: usize,
    /// Tokens that may come after the sequence's; the last one's row is wanted then, and theirs.
    pub guess: Vec<u32>,
    pub likely: Likely,
    /// What the device gives; known when it is started.
    pub brings: Brings,
    /// Tokens that the sequence has computed then.
    pub end: usize,
    /// Where its state then is kept.
    pub snapshot: Option<u32>,
    /// Where its state before is kept, if its guess may spoil it.
    pub held: Option<u32>,
}

impl Part {
    /// The next tokens of a sequence.
    pub fn new(sequence: &Sequence, tokens: usize, rows: usize) -> Part {
        Part {
            id: sequence.id,
            tokens,
            rows,
            guess: Vec::new(),
            likely: Likely::default(),
            brings: Brings::Rows,
            end: sequence.computed + tokens,
            snapshot: None,
            held: None,
        }
    }

    /// These are its guess, instead of the one that it has.
    pub fn guess(&mut self, guess: Vec<u32>, likely: Likely) {
        self.tokens = self.known() + guess.len();
        self.rows = 1 + guess.len();
        (self.guess, self.likely) = (guess, likely);
    }

    /// Whether its guess is a draft model's.
    pub fn is_drafted(&self) -> bool {
        !self.guess.is_empty() && self.likely == Likely::Drafted
    }

    /// Tokens to run that are the sequence's.
    pub fn known(&self) -> usize {
        self.tokens - self.guess.len()
    }

    /// How a device has to choose for its rows. `own`: its token is one that is not known here yet.
    pub fn choose<'a>(&mut self, sequence: &'a Sequence, own: bool, choices: &mut Vec<Choice<'a>>) {
        let first = choices.len();
        for row in 0..self.rows {
            // Rows that are asked for by position have no token chosen, and no choice.
            let Some(choice) = sequence.choice(usize::from(own) + row) else {
                break;
            };
            choices.push(choice);
        }
        let rated = choices[first..].first().map(|choice| choice.rated);
        self.brings = match rated {
            _ if choices.len() < first + self.rows => Brings::Rows,
            Some(true) => Brings::Rated,
            Some(false) | None => Brings::Token,
        };
        if self.brings == Brings::Rows {
            choices.truncate(first);
            choices.extend(std::iter::repeat_n(Choice::ROW, self.rows));
        }
    }

    /// Rows that come here.
    pub fn brought(&self) -> usize {
        match self.brings {
            Brings::Token => 0,
            Brings::Rated | Brings::Rows => self.rows,
        }
    }
}
