//! Steps that choose their tokens themselves: one can be queued while the one before still runs, so
//! what the host writes for a step and reads of it is there twice.

use super::inputs::Bucket;
use crate::gpu::{Device, DeviceBuffer, Event, PinnedBuffer, Stream};
use crate::{Error, Result};
use std::collections::VecDeque;
use std::sync::Arc;

/// Steps that can be queued at once: one runs, one waits.
const TURNS: usize = 2;

/// The host's memory of one step.
pub struct Turn {
    /// The inputs.
    pub inputs: PinnedBuffer,
    /// The tokens that it chooses.
    pub tokens: PinnedBuffer,
    /// Rows of logits, if a step was asked for some.
    rows: Option<PinnedBuffer>,
    /// The tokens are there.
    ended: Event,
}

/// What a step leaves, and what of it the host reads.
pub struct Results<'a> {
    pub tokens: &'a DeviceBuffer,
    pub count: usize,
    /// Whether the step writes the tokens to its turn's memory itself.
    pub told: bool,
    pub logits: &'a DeviceBuffer,
    pub columns: usize,
    /// Rows of the logits.
    pub rated: &'a [usize],
}

/// A queued step.
struct Queued {
    turn: usize,
    tokens: usize,
    /// Logits.
    numbers: usize,
    /// What it came to, where that is known.
    result: Option<Result<()>>,
}

/// The turns, and the steps that were queued and not collected. One thread at a time.
pub struct Turns {
    turns: [Turn; TURNS],
    queued: VecDeque<Queued>,
    next: usize,
    /// The turn of the step that was collected last, and its logits.
    last: (usize, usize),
}

impl Turns {
    /// Room for every bucket up to `most`.
    pub fn new(device: &Arc<Device>, most: Bucket) -> Result<Turns> {
        let turn = || {
            Ok(Turn {
                inputs: device.alloc_pinned(most.bytes())?,
                tokens: device.alloc_pinned((most.wanted * 4) as u64)?,
                rows: None,
                ended: device.mark()?,
            })
        };
        Ok(Turns {
            turns: [turn()?, turn()?],
            queued: VecDeque::with_capacity(TURNS),
            next: 0,
            last: (0, 0),
        })
    }

    /// How many tokens the step queued last chooses, if it is not collected.
    pub fn last(&self) -> Option<usize> {
        self.queued.back().map(|queued| queued.tokens)
    }

    /// Whether no more can be queued now.
    pub fn is_full(&self) -> bool {
        self.queued.len() == TURNS
    }

    /// The turn of the next step.
    pub fn next(&self) -> usize {
        self.next
    }

    /// The memory of a turn.
    pub fn of(&self, turn: usize) -> &Turn {
        &self.turns[turn]
    }

    /// The memory for the next step. Not full.
    pub fn spare(&mut self) -> &mut Turn {
        &mut self.turns[self.next]
    }

    /// Queues the copies of the next step's results.
    pub fn push(&mut self, results: &Results<'_>, stream: &Stream) -> Result<()> {
        let turn = &mut self.turns[self.next];
        if results.count > 0 && !results.told {
            let bytes = (results.count * 4) as u64;
            stream.copy_to_pinned(results.tokens, 0, &turn.tokens, 0, bytes)?;
        }
        let row = (results.columns * 4) as u64;
        let needed = results.rated.len() as u64 * row;
        if needed > turn.rows.as_ref().map_or(0, PinnedBuffer::len) {
            turn.rows = Some(stream.device().alloc_pinned(needed)?);
        }
        let mut to = 0;
        for run in results.rated.chunk_by(|a, b| a + 1 == *b) {
            if let Some(rows) = &turn.rows {
                let bytes = run.len() as u64 * row;
                stream.copy_to_pinned(results.logits, run[0] as u64 * row, rows, to, bytes)?;
                to += bytes;
            }
        }
        stream.record(&turn.ended)?;
        self.queued.push_back(Queued {
            turn: self.next,
            tokens: results.count,
            numbers: results.rated.len() * results.columns,
            result: None,
        });
        self.next = (self.next + 1) % TURNS;
        Ok(())
    }

    /// Waits for all queued steps. What they came to is kept for [`Turns::pop`], apart from what is
    /// queued later.
    pub fn settle(&mut self, stream: &Stream) {
        for queued in &mut self.queued {
            let mark = &self.turns[queued.turn].ended;
            let wait = || stream.device().wait_step_until(stream, mark);
            queued.result.get_or_insert_with(wait);
        }
    }

    /// Waits for the oldest step; gives its tokens.
    pub fn pop(&mut self, stream: &Stream, tokens: &mut Vec<u32>) -> Result<()> {
        tokens.clear();
        let Some(queued) = self.queued.pop_front() else {
            return Err(Error::Internal("no step is queued".into()));
        };
        let turn = &self.turns[queued.turn];
        self.last = (queued.turn, 0);
        match queued.result {
            Some(result) => result?,
            None => stream.device().wait_step_until(stream, &turn.ended)?,
        }
        let (numbers, _) = turn.tokens.as_slice().as_chunks::<4>();
        let numbers = numbers.iter().take(queued.tokens);
        tokens.extend(numbers.map(|bytes| u32::from_le_bytes(*bytes)));
        self.last.1 = queued.numbers;
        Ok(())
    }

    /// The logits that were asked for of the step that was collected last. None is queued since.
    pub fn rows(&self, rows: &mut Vec<f32>) {
        rows.clear();
        let (turn, count) = self.last;
        if let Some(there) = &self.turns[turn].rows {
            let (numbers, _) = there.as_slice().as_chunks::<4>();
            let numbers = numbers.iter().take(count);
            rows.extend(numbers.map(|bytes| f32::from_le_bytes(*bytes)));
        }
    }
}
