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
    tokens: PinnedBuffer,
    /// The tokens are there.
    ended: Event,
}

/// A queued step.
struct Queued {
    turn: usize,
    tokens: usize,
    /// What it came to, where that is known.
    result: Option<Result<()>>,
}

/// The turns, and the steps that were queued and not collected. One thread at a time.
pub struct Turns {
    turns: [Turn; TURNS],
    queued: VecDeque<Queued>,
    next: usize,
}

impl Turns {
    /// Room for every bucket up to `most`.
    pub fn new(device: &Arc<Device>, most: Bucket) -> Result<Turns> {
        let turn = || {
            Ok(Turn {
                inputs: device.alloc_pinned(most.bytes())?,
                tokens: device.alloc_pinned((most.wanted * 4) as u64)?,
                ended: device.mark()?,
            })
        };
        Ok(Turns {
            turns: [turn()?, turn()?],
            queued: VecDeque::with_capacity(TURNS),
            next: 0,
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

    /// The memory for the next step. Not full.
    pub fn spare(&mut self) -> &mut Turn {
        &mut self.turns[self.next]
    }

    /// Queues the copy of the next step's tokens, which its program leaves in `from`.
    pub fn push(&mut self, from: &DeviceBuffer, tokens: usize, stream: &Stream) -> Result<()> {
        let turn = &self.turns[self.next];
        if tokens > 0 {
            stream.copy_to_pinned(from, 0, &turn.tokens, 0, (tokens * 4) as u64)?;
        }
        stream.record(&turn.ended)?;
        self.queued.push_back(Queued {
            turn: self.next,
            tokens,
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
        match queued.result {
            Some(result) => result?,
            None => stream.device().wait_step_until(stream, &turn.ended)?,
        }
        let (numbers, _) = turn.tokens.as_slice().as_chunks::<4>();
        let numbers = numbers.iter().take(queued.tokens);
        tokens.extend(numbers.map(|bytes| u32::from_le_bytes(*bytes)));
        Ok(())
    }
}
