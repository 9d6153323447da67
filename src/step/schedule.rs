//! A planned program.

use super::steps::{Attention, Buffer, KvType, Rope, Step};
use crate::ir::Turn;
use crate::{Error, Result};

/// A planned program: steps over an arena of `width · max_rows` floats.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// In order of execution.
    pub steps: Vec<Step>,
    /// All activations.
    pub buffers: Vec<Buffer>,
    /// Floats of arena a row.
    pub width: usize,
    /// The rotations of queries and keys.
    pub ropes: Vec<Rope>,
    /// What operations call each of them.
    pub turns: Vec<Turn>,
    /// Columns of the logits.
    pub vocab_size: usize,
    /// What outlives a step: keys and values of each layer, in the order in which they lie in a page.
    pub states: Vec<Attention>,
    /// What else outlives a step: numbers (f32) that each recurrent layer keeps for a sequence.
    pub recurrent: Vec<usize>,
    /// The same forward pass up to the final norm: it gives hidden states instead of logits, and its `vocab_size`
    /// is their width. Rotations and states are the same.
    pub hidden: Option<Box<Schedule>>,
}

impl Schedule {
    /// Floats of arena a row, whatever is asked for.
    pub fn widest(&self) -> usize {
        let hidden = self.hidden.as_ref().map_or(0, |hidden| hidden.width);
        self.width.max(hidden)
    }

    /// The program for logits or for hidden states.
    ///
    /// # Errors
    /// `Unsupported` if there is none.
    pub fn of(&self, hidden: bool) -> Result<&Schedule> {
        match (hidden, &self.hidden) {
            (false, _) => Ok(self),
            (true, Some(hidden)) => Ok(hidden),
            (true, None) => Err(Error::Unsupported(
                "this model gives no hidden states".into(),
            )),
        }
    }

    /// Columns of a hidden state; 0: it gives none.
    pub fn hidden_size(&self) -> usize {
        self.hidden.as_ref().map_or(0, |hidden| hidden.vocab_size)
    }

    /// Bytes of a page of the KV cache: all layers.
    pub fn page_bytes(&self, kv: KvType) -> usize {
        self.states.iter().map(|shape| shape.layer_bytes(kv)).sum()
    }

    /// Where a layer lies in a page.
    pub fn state_offset(&self, state: usize, kv: KvType) -> usize {
        let before = self.states.iter().take(state);
        before.map(|shape| shape.layer_bytes(kv)).sum()
    }

    /// Bytes of a sequence's recurrent state, however long the sequence is: all layers.
    pub fn slot_bytes(&self) -> usize {
        self.recurrent.iter().sum::<usize>() * size_of::<f32>()
    }
}
