//! Models: what a file describes, its weights, and its forward pass.

pub mod config;
pub mod families;
mod model;
pub mod weights;

pub use config::Config;
pub use model::{LoadOptions, Model, ModelInfo};

use crate::Result;

/// Tokens of one KV cache page.
pub const PAGE_TOKENS: usize = 32;

/// Which rows of a sequence's slice want logits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// None: prefill that is not finished.
    Nothing,
    /// The last token of the slice.
    Last,
    /// Every token (evaluation).
    All,
}

/// A run of consecutive tokens of one sequence.
#[derive(Debug, Clone)]
pub struct Slice<'a> {
    /// The tokens to run.
    pub tokens: &'a [u32],
    /// Position of the first of them in its sequence.
    pub start: usize,
    /// KV pages of the sequence, enough for `start + tokens.len()` positions. Page ids are below
    /// the page count the forward state was made with.
    pub pages: &'a [u32],
    /// Which rows want logits.
    pub wanted: Wanted,
}

/// What the session needs of a model: run slices of sequences over a paged KV cache.
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
    /// `logits` (cleared first). On error the pages written are undefined, the state is usable.
    fn forward(&mut self, slices: &[Slice], logits: &mut Vec<f32>) -> Result<()>;
}
