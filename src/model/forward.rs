//! What the session needs of a model: run slices of sequences over a paged KV cache.

use super::{Choice, KvType, Slice};
use crate::cpu::CpuExecutor;
use crate::gpu::{self, model::GpuExecutor};
use crate::{Error, Result};

/// What the bytes of KV pages and recurrent states are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateForm {
    /// How the CPU (1) or GPUs (2) lay numbers out.
    pub layout: u32,
    /// What kind of numbers a page has.
    pub kv: KvType,
    /// Bytes of a page.
    pub page_bytes: usize,
    /// Bytes of a slot's recurrent state; 0: the model keeps no such state.
    pub slot_bytes: usize,
}

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
    /// Snapshots of slots that can be kept at once; they are numbered from 0.
    fn snapshots(&self) -> usize {
        0
    }
    /// Copies the state of a slot, as the last step that ran or was queued leaves it, to a snapshot. `false`: there is
    /// no memory for this one. Steps may be queued.
    fn keep(&mut self, slot: u32, snapshot: u32) -> Result<bool> {
        let _ = (slot, snapshot);
        Ok(false)
    }
    /// Gives a slot the state of a snapshot, to the bit: the next slice of the slot begins after its tokens. Steps may
    /// be queued.
    fn restore(&mut self, snapshot: u32, slot: u32) -> Result<()> {
        let _ = (snapshot, slot);
        Err(Error::Unsupported("no snapshots are kept".into()))
    }
    /// Rows of a step, up to which what one gives does not depend, to the bit, on the others and on how many there are;
    /// `None`: it never does.
    fn invariant_rows(&self) -> Option<usize> {
        None
    }
    /// Runs the slices; writes the wanted logits rows one after another, in slice order, to
    /// `logits` (resized). On error the pages written are undefined, the state is usable.
    fn forward(&mut self, slices: &[Slice], logits: &mut Vec<f32>) -> Result<()>;
    /// The form of its pages and slots; `None`: they cannot be read and written.
    fn state_form(&self) -> Option<StateForm> {
        None
    }
    /// Copies a page, of the form's size. No step is queued.
    fn read_page(&mut self, page: u32, to: &mut [u8]) -> Result<()> {
        let _ = (page, to);
        Err(Error::Unsupported("pages cannot be read".into()))
    }
    /// Writes a page that [`Forward::read_page`] gave, of this or another forward state of the same form. No step is
    /// queued.
    fn write_page(&mut self, page: u32, from: &[u8]) -> Result<()> {
        let _ = (page, from);
        Err(Error::Unsupported("pages cannot be written".into()))
    }
    /// Copies the state of a slot, of the form's size. No step is queued.
    fn read_slot(&mut self, slot: u32, to: &mut [u8]) -> Result<()> {
        let _ = (slot, to);
        Err(Error::Unsupported("slots cannot be read".into()))
    }
    /// Gives a slot the state that [`Forward::read_slot`] gave, of this or another forward state of the same form: the
    /// next slice of the slot begins after `tokens` tokens. No step is queued.
    fn write_slot(&mut self, slot: u32, tokens: usize, from: &[u8]) -> Result<()> {
        let _ = (slot, tokens, from);
        Err(Error::Unsupported("slots cannot be written".into()))
    }
    /// Columns of a hidden state; 0: this model gives none.
    fn hidden_size(&self) -> usize {
        0
    }
    /// Runs the slices too, but gives the hidden states of the wanted rows after the final norm: what logits are
    /// made of.
    fn hidden(&mut self, slices: &[Slice], rows: &mut Vec<f32>) -> Result<()> {
        let _ = slices;
        rows.clear();
        Err(Error::Unsupported(
            "this model gives no hidden states".into(),
        ))
    }
    /// Starts what [`Forward::forward`] does on a device that chooses tokens itself: one for each wanted row, as its choice
    /// says, or [`NO_TOKEN`](super::NO_TOKEN) where a logit is not finite and
    /// [`ALL_BANNED`](super::ALL_BANNED) where biases leave none. `false`, and nothing was started:
    /// this device leaves such choices to the caller.
    ///
    /// Queued steps run one after the other; [`Forward::collect`] gives their tokens in the same order.
    /// While one step is not collected, one more can be queued, and its slices can contain tokens of
    /// that step that nobody has seen yet, as [`CHOSEN`](super::CHOSEN)` + i`. Nothing else than
    /// [`Forward::keep`] and [`Forward::restore`] is called before all are collected. An error is that of the new step only.
    fn queue(&mut self, slices: &[Slice], choices: &[Choice]) -> Result<bool> {
        let _ = (slices, choices);
        Ok(false)
    }
    /// Whether a step can be queued while the one before runs; else queueing waits for most of a step.
    fn works_ahead(&self) -> bool {
        true
    }
    /// Waits for the oldest step that was queued; leaves its tokens in `tokens` (resized). An error is
    /// that of this step, which is over then too.
    fn collect(&mut self, tokens: &mut Vec<u32>) -> Result<()> {
        tokens.clear();
        Err(Error::Internal("no step was queued".into()))
    }
    /// The rows that choices of the step which was collected last asked for ([`Choice::rated`]), one after the other.
    /// Asked before another step is queued.
    fn rated(&mut self, rows: &mut Vec<f32>) {
        rows.clear();
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

    fn snapshots(&self) -> usize {
        CpuExecutor::snapshots(self)
    }

    fn keep(&mut self, slot: u32, snapshot: u32) -> Result<bool> {
        self.keep_slot(slot, snapshot)
    }

    fn restore(&mut self, snapshot: u32, slot: u32) -> Result<()> {
        self.restore_slot(snapshot, slot)
    }

    fn forward(&mut self, slices: &[Slice], logits: &mut Vec<f32>) -> Result<()> {
        self.run(slices, logits)
    }

    fn state_form(&self) -> Option<StateForm> {
        let (kv, page_bytes) = self.page_kind();
        Some(StateForm {
            layout: 1,
            kv,
            page_bytes,
            slot_bytes: self.slot_bytes(),
        })
    }

    fn read_page(&mut self, page: u32, to: &mut [u8]) -> Result<()> {
        self.copy_page_out(page, to)
    }

    fn write_page(&mut self, page: u32, from: &[u8]) -> Result<()> {
        self.copy_page_in(page, from)
    }

    fn read_slot(&mut self, slot: u32, to: &mut [u8]) -> Result<()> {
        self.copy_slot_out(slot, to)
    }

    fn write_slot(&mut self, slot: u32, tokens: usize, from: &[u8]) -> Result<()> {
        self.copy_slot_in(slot, tokens, from)
    }

    fn hidden_size(&self) -> usize {
        self.hidden_columns()
    }

    fn hidden(&mut self, slices: &[Slice], rows: &mut Vec<f32>) -> Result<()> {
        self.run_hidden(slices, rows)
    }
}

impl Forward for GpuExecutor {
    fn hidden_size(&self) -> usize {
        self.hidden_columns()
    }

    fn hidden(&mut self, slices: &[Slice], rows: &mut Vec<f32>) -> Result<()> {
        self.run_hidden(slices, rows)
    }

    fn slots(&self) -> Option<usize> {
        GpuExecutor::slots(self)
    }

    fn snapshots(&self) -> usize {
        GpuExecutor::snapshots(self)
    }

    fn keep(&mut self, slot: u32, snapshot: u32) -> Result<bool> {
        self.keep_slot(slot, snapshot)
    }

    fn restore(&mut self, snapshot: u32, slot: u32) -> Result<()> {
        self.restore_slot(snapshot, slot)
    }

    fn invariant_rows(&self) -> Option<usize> {
        Some(gpu::model::FEW_ROWS)
    }

    fn queue(&mut self, slices: &[Slice], choices: &[Choice]) -> Result<bool> {
        GpuExecutor::queue(self, slices, choices)
    }

    fn works_ahead(&self) -> bool {
        GpuExecutor::works_ahead(self)
    }

    fn collect(&mut self, tokens: &mut Vec<u32>) -> Result<()> {
        GpuExecutor::collect(self, tokens)
    }

    fn rated(&mut self, rows: &mut Vec<f32>) {
        self.collected_rows(rows);
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

    fn state_form(&self) -> Option<StateForm> {
        let (kv, page_bytes) = self.page_kind();
        Some(StateForm {
            layout: 2,
            kv,
            page_bytes,
            slot_bytes: self.slot_bytes(),
        })
    }

    fn read_page(&mut self, page: u32, to: &mut [u8]) -> Result<()> {
        self.copy_page_out(page, to)
    }

    fn write_page(&mut self, page: u32, from: &[u8]) -> Result<()> {
        self.copy_page_in(page, from)
    }

    fn read_slot(&mut self, slot: u32, to: &mut [u8]) -> Result<()> {
        self.copy_slot_out(slot, to)
    }

    fn write_slot(&mut self, slot: u32, tokens: usize, from: &[u8]) -> Result<()> {
        self.copy_slot_in(slot, tokens, from)
    }
}
