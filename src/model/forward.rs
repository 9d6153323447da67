//! What the session needs of a model: run slices of sequences over a paged KV cache.

use super::{Choice, Slice};
use crate::cpu::CpuExecutor;
use crate::gpu::model::GpuExecutor;
use crate::{Error, Result};

/// A model's forward pass with its KV pages.
///
/// One thread at a time. Results for a slice do not depend on the other slices of the batch.
pub trait Forward: Send {
    /// Columns of a row of logits.
    fn vocab_size(&self) -> usize;
    /// The most tokens one call takes, all slices together.
    fn max_tokens(&self) -> usize;
    /// KV pages that exist.
    fn page_count(&self) -> usize;
    /// Slots for recurrent state: sequences that can have begun at once. `None`: the model keeps no such state, and
    /// nobody looks at [`Slice::slot`](super::Slice::slot).
    fn slots(&self) -> Option<usize> {
        None
    }
    /// Runs the slices; writes the wanted logits rows one after another, in slice order, to
    /// `logits` (resized). On error the pages written are undefined, the state is usable.
    fn forward(&mut self, slices: &[Slice], logits: &mut Vec<f32>) -> Result<()>;
    /// Starts the same on a device that chooses tokens itself: one for each wanted row, as its choice
    /// says, or [`NO_TOKEN`](super::NO_TOKEN) where a logit is not finite and
    /// [`ALL_BANNED`](super::ALL_BANNED) where biases leave none. `false`, and nothing was started:
    /// this device leaves such choices to the caller.
    ///
    /// Queued steps run one after the other; [`Forward::collect`] gives their tokens in the same order.
    /// While one step is not collected, one more can be queued, and its slices can contain tokens of
    /// that step that nobody has seen yet, as [`CHOSEN`](super::CHOSEN)` + i`. Nothing else is called
    /// before all are collected. An error is that of the new step only.
    fn queue(&mut self, slices: &[Slice], choices: &[Choice]) -> Result<bool> {
        let _ = (slices, choices);
        Ok(false)
    }
    /// Waits for the oldest step that was queued; leaves its tokens in `tokens` (resized). An error is
    /// that of this step, which is over then too.
    fn collect(&mut self, tokens: &mut Vec<u32>) -> Result<()> {
        tokens.clear();
        Err(Error::Internal("no step was queued".into()))
    }
}

impl Forward for CpuExecutor {
    fn vocab_size(&self) -> usize {
        CpuExecutor::vocab_size(self)
    }

    fn max_tokens(&self) -> usize {
        self.max_rows()
    }

    fn page_count(&self) -> usize {
        self.pages()
    }

    fn slots(&self) -> Option<usize> {
        CpuExecutor::slots(self)
    }

    fn forward(&mut self, slices: &[Slice], logits: &mut Vec<f32>) -> Result<()> {
        self.run(slices, logits)
    }
}

impl Forward for GpuExecutor {
    fn queue(&mut self, slices: &[Slice], choices: &[Choice]) -> Result<bool> {
        GpuExecutor::queue(self, slices, choices)
    }

    fn collect(&mut self, tokens: &mut Vec<u32>) -> Result<()> {
        GpuExecutor::collect(self, tokens)
    }

    fn vocab_size(&self) -> usize {
        GpuExecutor::vocab_size(self)
    }

    fn max_tokens(&self) -> usize {
        self.max_rows()
    }

    fn page_count(&self) -> usize {
        self.pages()
    }

    fn forward(&mut self, slices: &[Slice], logits: &mut Vec<f32>) -> Result<()> {
        self.run(slices, logits)
    }
}
