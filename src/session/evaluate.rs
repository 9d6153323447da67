//! What a session says about given tokens: logits and embeddings.

use super::Session;
use super::evaluation::{Evaluation, Output, Ticket, normalize};
use super::request::check_token;
use super::sequence::{Sequence, Work};
use crate::{Error, Result};
use std::sync::Arc;

pub use super::evaluation::Pooling;

/// What [`Session::embed`] gives. `Default`: the hidden state of every token.
#[derive(Debug, Clone, Default)]
pub struct Embedding {
    /// How the hidden states of tokens become one.
    pub pooling: Pooling,
    /// Without pooling: the tokens by their positions, which rise; empty: all.
    pub positions: Vec<u32>,
    /// Divides each row by its Euclidean length.
    pub normalize: bool,
}

impl Embedding {
    /// Rows that it gives for so many tokens.
    pub fn rows(&self, tokens: usize) -> usize {
        match (self.pooling, self.positions.len()) {
            (Pooling::None, 0) => tokens,
            (Pooling::None, positions) => positions,
            _ => 1,
        }
    }
}

impl Session {
    /// Logits of every position of `tokens`, `[tokens, vocab]`. Waits for its turn among the requests. Errors as
    /// [`Session::submit`], and [`Error::OutOfMemory`] where the result has no room.
    pub fn logits(&self, tokens: &[u32]) -> Result<Vec<f32>> {
        self.rows_of(tokens, None, Output::Logits)
    }

    /// The same of some positions, which rise: `[positions, vocab]`. What comes after the last one is not run.
    pub fn logits_at(&self, tokens: &[u32], positions: &[u32]) -> Result<Vec<f32>> {
        self.rows_of(tokens, Some(positions), Output::Logits)
    }

    /// Columns of a hidden state.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the model gives none.
    pub fn hidden_size(&self) -> Result<usize> {
        match self.hidden {
            0 => Err(Error::Unsupported(
                "the device gives no hidden states of this model; load it on the CPU".into(),
            )),
            columns => Ok(columns),
        }
    }

    /// Hidden states of `tokens` after the final norm, `[rows, hidden_size]`: what the head of the model makes
    /// logits of. Waits for its turn among the requests. Errors as [`Session::logits`], and
    /// [`Error::Unsupported`] where the model gives none.
    pub fn embed(&self, tokens: &[u32], how: &Embedding) -> Result<Vec<f32>> {
        self.hidden_size()?;
        if how.pooling != Pooling::None && !how.positions.is_empty() {
            return Err(Error::InvalidArgument(
                "positions are for embeddings without pooling".into(),
            ));
        }
        let last = tokens.len().saturating_sub(1) as u32;
        let mut rows = match (how.pooling, how.positions.as_slice()) {
            (Pooling::None, []) => self.rows_of(tokens, None, Output::Hidden),
            (Pooling::None, positions) => self.rows_of(tokens, Some(positions), Output::Hidden),
            (Pooling::Cls, _) => self.rows_of(tokens, Some(&[0]), Output::Hidden),
            (Pooling::Last, _) => self.rows_of(tokens, Some(&[last]), Output::Hidden),
            (Pooling::Mean, _) => {
                self.check_tokens(tokens)?;
                let ticket = Arc::new(Ticket::default());
                let work = Evaluation::of_mean(self.hidden, ticket.clone());
                self.run(tokens, work, &ticket)
            }
        }?;
        if how.normalize {
            normalize(&mut rows, self.hidden);
        }
        Ok(rows)
    }

    fn rows_of(
        &self,
        tokens: &[u32],
        positions: Option<&[u32]>,
        output: Output,
    ) -> Result<Vec<f32>> {
        self.check_tokens(tokens)?;
        check_positions(positions, tokens.len())?;
        // Tokens do not know of later ones.
        let end = positions
            .and_then(<[u32]>::last)
            .map_or(tokens.len(), |last| *last as usize + 1);
        let count = positions.map_or(tokens.len(), <[u32]>::len);
        let columns = match output {
            Output::Logits => self.vocab,
            Output::Hidden => self.hidden,
        };
        let mut rows: Vec<f32> = Vec::new();
        count
            .checked_mul(columns)
            .and_then(|n| rows.try_reserve_exact(n).ok())
            .ok_or_else(|| {
                Error::OutOfMemory(format!("no memory for {count} rows of {columns} columns"))
            })?;
        let ticket = Arc::new(Ticket::default());
        let positions = positions.map(<[u32]>::to_vec);
        let work = Evaluation::of_rows(output, positions, rows, ticket.clone());
        self.run(&tokens[..end], work, &ticket)
    }

    fn run(&self, tokens: &[u32], work: Evaluation, ticket: &Ticket<Vec<f32>>) -> Result<Vec<f32>> {
        let sequence = Sequence::new(tokens.to_vec(), Work::Evaluate(work));
        self.open.0.submit(sequence)?;
        ticket.wait()
    }

    /// Whether the session can run so many tokens: what their results would need is only told if so.
    pub(crate) fn check_count(&self, tokens: usize) -> Result<()> {
        match tokens {
            0 => Err(Error::InvalidArgument(
                "tokens is empty; it needs at least one token".into(),
            )),
            count if count > self.context => Err(Error::ContextFull(format!(
                "{count} tokens do not fit the session's context of {}",
                self.context
            ))),
            _ => Ok(()),
        }
    }

    /// Whether the session can run these tokens.
    pub(super) fn check_tokens(&self, tokens: &[u32]) -> Result<()> {
        self.check_count(tokens.len())?;
        for (i, &token) in tokens.iter().enumerate() {
            check_token("tokens", i, token, self.vocab)?;
        }
        Ok(())
    }
}

fn check_positions(positions: Option<&[u32]>, tokens: usize) -> Result<()> {
    let Some(positions) = positions else {
        return Ok(());
    };
    let mut before = None;
    for (i, &position) in positions.iter().enumerate() {
        if position as usize >= tokens {
            return Err(Error::InvalidArgument(format!(
                "positions[{i}] is {position}, there are {tokens} tokens"
            )));
        }
        if before.is_some_and(|before| before >= position) {
            return Err(Error::InvalidArgument(format!(
                "positions[{i}] is {position}, which is not after the one before: positions must rise"
            )));
        }
        before = Some(position);
    }
    match before {
        Some(_) => Ok(()),
        None => Err(Error::InvalidArgument(
            "positions is empty; it needs at least one".into(),
        )),
    }
}
