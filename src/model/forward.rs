//! What the session needs of a model: run slices of sequences over a paged KV cache.

use super::Slice;
use crate::Result;
use crate::cpu::CpuExecutor;
use crate::gpu::model::GpuExecutor;

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
    /// Runs the slices; writes the wanted logits rows one after another, in slice order, to
    /// `logits` (resized). On error the pages written are undefined, the state is usable.
    fn forward(&mut self, slices: &[Slice], logits: &mut Vec<f32>) -> Result<()>;
    /// The same, but leaves in `tokens` (resized) for each wanted row only the first token with the
    /// largest logit, or [`NO_TOKEN`] where a logit is not finite. `false`, and nothing was run: this
    /// device leaves the choice to the caller.
    fn forward_greedy(&mut self, slices: &[Slice], tokens: &mut Vec<u32>) -> Result<bool> {
        let _ = (slices, tokens);
        Ok(false)
    }
}

/// No token: not all logits of a row were finite.
pub const NO_TOKEN: u32 = u32::MAX;

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

    fn forward(&mut self, slices: &[Slice], logits: &mut Vec<f32>) -> Result<()> {
        self.run(slices, logits)
    }
}

impl Forward for GpuExecutor {
    fn forward_greedy(&mut self, slices: &[Slice], tokens: &mut Vec<u32>) -> Result<bool> {
        self.run_greedy(slices, tokens)?;
        Ok(true)
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
