//! Evaluations: what the model makes of given tokens, as logits or hidden states of some of them.

use crate::model::Wanted;
use crate::{Error, Result};
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;

/// Rows of logits that a step gives at most: they are long.
const LOGITS_ROWS: usize = 128;

/// What a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Output {
    /// The logits of the next token.
    #[default]
    Logits,
    /// The hidden state after the final norm.
    Hidden,
}

/// How the hidden states of a text become its embedding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pooling {
    /// Not at all: each chosen token has one.
    #[default]
    None,
    /// The mean of all tokens'.
    Mean,
    /// The first token's.
    Cls,
    /// The last token's.
    Last,
}

/// What becomes of the rows.
enum Rows {
    Kept(Vec<f32>),
    Summed { sums: Vec<f64>, count: usize },
}

/// An evaluation. One thread at a time.
pub(super) struct Evaluation {
    output: Output,
    /// The tokens whose rows are wanted: their positions rise. `None`: all.
    positions: Option<Vec<u32>>,
    rows: Rows,
    ticket: Arc<Ticket<Vec<f32>>>,
}

impl Evaluation {
    /// The rows of these tokens, one after the other; `rows` is empty, with room for them.
    pub fn of_rows(
        output: Output,
        positions: Option<Vec<u32>>,
        rows: Vec<f32>,
        ticket: Arc<Ticket<Vec<f32>>>,
    ) -> Evaluation {
        Evaluation {
            output,
            positions,
            rows: Rows::Kept(rows),
            ticket,
        }
    }

    /// The mean of the hidden states of all tokens, of so many columns.
    pub fn of_mean(columns: usize, ticket: Arc<Ticket<Vec<f32>>>) -> Evaluation {
        Evaluation {
            output: Output::Hidden,
            positions: None,
            rows: Rows::Summed {
                sums: vec![0.0; columns],
                count: 0,
            },
            ticket,
        }
    }

    pub fn output(&self) -> Output {
        self.output
    }

    /// The most tokens to run from position `start` on, at most `limit`.
    pub fn chunk(&self, start: usize, limit: usize) -> usize {
        if self.output == Output::Hidden {
            return limit;
        }
        match &self.positions {
            None => limit.min(LOGITS_ROWS),
            Some(positions) => {
                let first = positions.partition_point(|p| (*p as usize) < start);
                let end = positions.get(first + LOGITS_ROWS);
                end.map_or(limit, |end| limit.min(*end as usize - start))
            }
        }
    }

    /// Which rows a run of `n` tokens from position `start` on must give.
    pub fn wanted(&self, start: usize, n: usize) -> Wanted<'_> {
        let Some(positions) = &self.positions else {
            return Wanted::All;
        };
        let first = positions.partition_point(|p| (*p as usize) < start);
        let end = positions.partition_point(|p| (*p as usize) < start + n);
        match &positions[first..end] {
            [] => Wanted::Nothing,
            own => Wanted::At(own),
        }
    }

    /// Takes the rows of a run.
    pub fn take(&mut self, new: &[f32]) {
        match &mut self.rows {
            Rows::Kept(rows) => rows.extend_from_slice(new),
            Rows::Summed { sums, count } => {
                for row in new.chunks_exact(sums.len().max(1)) {
                    *count += 1;
                    for (sum, &x) in sums.iter_mut().zip(row) {
                        *sum += f64::from(x);
                    }
                }
            }
        }
    }

    /// It begins again.
    pub fn restarted(&mut self) {
        match &mut self.rows {
            Rows::Kept(rows) => rows.clear(),
            Rows::Summed { sums, count } => {
                sums.fill(0.0);
                *count = 0;
            }
        }
    }

    pub fn finish(mut self, error: Option<Error>) {
        let rows = match std::mem::replace(&mut self.rows, Rows::Kept(Vec::new())) {
            Rows::Kept(rows) => rows,
            Rows::Summed { sums, count } => {
                let mean = |sum: f64| (sum / count.max(1) as f64) as f32;
                sums.into_iter().map(mean).collect()
            }
        };
        self.ticket.answer(match error {
            Some(error) => Err(error),
            None => Ok(rows),
        });
    }
}

impl Drop for Evaluation {
    fn drop(&mut self) {
        // Does nothing after `finish`; before it, somebody would wait forever.
        self.ticket.answer(Err(Error::Internal(
            "the scheduler dropped an evaluation".into(),
        )));
    }
}

/// What the caller of an evaluation waits on. Internally locked: any thread.
#[derive(Debug)]
pub(super) struct Ticket<T> {
    answer: Mutex<Answer<T>>,
    ready: Condvar,
}

#[derive(Debug)]
enum Answer<T> {
    Open,
    Given(Result<T>),
    Taken,
}

impl<T> Default for Ticket<T> {
    fn default() -> Self {
        Ticket {
            answer: Mutex::new(Answer::Open),
            ready: Condvar::new(),
        }
    }
}

impl<T> Ticket<T> {
    /// The first answer counts.
    pub fn answer(&self, answer: Result<T>) {
        let mut ticket = self.answer.lock();
        if matches!(*ticket, Answer::Open) {
            *ticket = Answer::Given(answer);
            drop(ticket);
            self.ready.notify_all();
        }
    }

    /// Waits for the answer; called once.
    pub fn wait(&self) -> Result<T> {
        let mut ticket = self.answer.lock();
        loop {
            match std::mem::replace(&mut *ticket, Answer::Taken) {
                Answer::Open => {
                    *ticket = Answer::Open;
                    self.ready.wait(&mut ticket);
                }
                Answer::Given(answer) => return answer,
                Answer::Taken => return Err(Error::Internal("an answer was taken twice".into())),
            }
        }
    }
}

/// Divides each row by its length; rows of zeros stay.
pub(super) fn normalize(rows: &mut [f32], columns: usize) {
    for row in rows.chunks_exact_mut(columns.max(1)) {
        let squares: f64 = row.iter().map(|x| f64::from(*x).powi(2)).sum();
        if squares > 0.0 {
            let length = squares.sqrt();
            row.iter_mut()
                .for_each(|x| *x = (f64::from(*x) / length) as f32);
        }
    }
}
