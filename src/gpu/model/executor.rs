//! The executor of a planned program on a GPU, one recorded program a bucket of sizes: its state. `execute.rs` runs it.

use super::experts_memory::ExpertMemory;
use super::programs::Programs;
use super::record::Memory;
use super::recurrent_memory::RecurrentMemory;
use super::state_bytes::StateBytes;
use super::turns::Turns;
use super::weights::GpuWeights;
use crate::gpu::{DeviceBuffer, PinnedBuffer, Stream};
use crate::step::{Rope, Schedule, StateSize};
use crate::{Error, Result};
use std::sync::Arc;

/// A model's forward state on a GPU: activations, KV cache, recorded programs. One thread at a time.
pub struct GpuExecutor {
    pub(super) weights: Arc<GpuWeights>,
    pub(super) schedule: Schedule,
    pub(super) stream: Stream,
    pub(super) memory: Memory,
    pub(super) inputs: DeviceBuffer,
    pub(super) turns: Turns,
    /// Logits on the host.
    pub(super) results: PinnedBuffer,
    pub(super) programs: Programs,
    pub(super) size: StateSize,
    pub(super) token_end: usize,
}

impl GpuExecutor {
    /// A forward state of this size.
    ///
    /// # Errors
    /// `OutOfMemory` if it does not fit beside the weights.
    pub fn new(
        weights: Arc<GpuWeights>,
        schedule: Schedule,
        size: StateSize,
    ) -> Result<GpuExecutor> {
        let device = weights.device.clone();
        let stream = device.stream()?;
        let size = StateSize {
            tokens: size.tokens.max(1),
            ..size
        };
        let bytes = StateBytes::new(&device, &schedule, &size, weights.up_columns)?;
        let most = bytes.most;
        let buffer = |bytes: usize| device.alloc(bytes.max(4) as u64);
        let counters = buffer(bytes.counters)?;
        stream.fill(&counters, 0, counters.len(), 0)?;
        let memory = Memory {
            arena: buffer(bytes.arena)?,
            max_rows: most.rows,
            logits: buffer(bytes.logits)?,
            tokens: buffer(bytes.tokens)?,
            cache: buffer(bytes.cache)?,
            ropes: schedule
                .ropes
                .iter()
                .zip(&bytes.ropes)
                .map(|(rope, bytes)| rope_table(rope, size.context, buffer(*bytes)?))
                .collect::<Result<_>>()?,
            parts: buffer(bytes.parts)?,
            counters,
            sampler: buffer(bytes.sampler)?,
            operand: buffer(bytes.operand)?,
            scales: buffer(bytes.scales)?,
            experts: ExpertMemory::new(&device, &schedule, most.rows)?,
            recurrent: RecurrentMemory::new(&device, &schedule, &size, most.rows)?,
            scratch: None,
            up: match bytes.up {
                0 => None,
                up => Some(buffer(up)?),
            },
            host: match weights.host.as_ref().map(|host| host.bytes(&schedule)) {
                None | Some(0) => None,
                Some(bytes) => Some(device.alloc_mapped(bytes)?),
            },
        };
        if let Some(experts) = &memory.experts {
            stream.fill(&experts.slots, 0, experts.slots.len(), 0)?;
        }
        let inputs = buffer(bytes.inputs)?;
        let turns = Turns::new(&device, most)?;
        let results = device.alloc_pinned((schedule.vocab_size * 4) as u64)?;
        device.wait_step(&stream)?;
        Ok(GpuExecutor {
            token_end: schedule.vocab_size,
            weights,
            schedule,
            stream,
            memory,
            inputs,
            turns,
            results,
            programs: Programs::default(),
            size,
        })
    }

    /// Columns of the logits from this one on are no tokens and are not chosen. Before the first step.
    pub fn choose_below(&mut self, token_end: usize) {
        self.token_end = token_end.min(self.schedule.vocab_size);
    }

    /// Columns of the logits.
    pub fn vocab_size(&self) -> usize {
        self.schedule.vocab_size
    }

    /// The most tokens a call takes.
    pub fn max_rows(&self) -> usize {
        self.size.tokens
    }

    /// Sequences that a model with recurrent layers has room for.
    pub fn slots(&self) -> Option<usize> {
        let recurrent = self.memory.recurrent.as_ref();
        recurrent.map(RecurrentMemory::slots)
    }

    /// Copies of a slot that can be kept.
    pub fn snapshots(&self) -> usize {
        let recurrent = self.memory.recurrent.as_ref();
        recurrent.map_or(0, RecurrentMemory::snapshots)
    }

    /// Queues a copy of the state that the steps before leave in a slot; `false` if there is no memory for it.
    pub fn keep_slot(&mut self, slot: u32, snapshot: u32) -> Result<bool> {
        match &mut self.memory.recurrent {
            Some(recurrent) => recurrent.keep(&self.stream, slot, snapshot),
            None => Ok(false),
        }
    }

    /// Queues a copy of a snapshot to a slot.
    pub fn restore_slot(&mut self, snapshot: u32, slot: u32) -> Result<()> {
        match &mut self.memory.recurrent {
            Some(recurrent) => recurrent.restore(&self.stream, snapshot, slot),
            None => Err(Error::Unsupported("no snapshots are kept".into())),
        }
    }

    /// KV pages.
    pub fn pages(&self) -> usize {
        self.size.pages
    }

    /// Whether a step can be queued while the one before runs: not where the CPU computes a part of each.
    pub fn works_ahead(&self) -> bool {
        self.memory.host.is_none()
    }

    /// Columns of a hidden state; 0: this device gives none of this model.
    pub fn hidden_columns(&self) -> usize {
        match self.weights.hidden {
            Some(_) => self.schedule.hidden_size(),
            None => 0,
        }
    }
}

/// Batch sizes that share a program: 1, 2, 4, … 64, 128, 192, …
pub(super) fn bucket_rows(rows: usize) -> usize {
    match rows {
        0..=64 => rows.next_power_of_two(),
        _ => rows.next_multiple_of(64),
    }
}

/// Sequence lengths that share a program: 4, 8, 16, … pages.
pub(super) fn bucket_pages(pages: usize) -> usize {
    pages.max(4).next_power_of_two()
}

/// (cos, sin) of every position and pair, computed in f64 as positions times frequencies lose digits
/// in f32.
fn rope_table(rope: &Rope, positions: usize, table: DeviceBuffer) -> Result<DeviceBuffer> {
    let pairs = rope.inv_freq.len();
    let mut at = 0;
    let mut fill = |piece: &mut [u8]| {
        // Pieces are multiples of 8 bytes, as the table is.
        for entry in piece.chunks_exact_mut(8) {
            let (position, pair) = (at / pairs, at % pairs);
            let angle = position as f64 * f64::from(rope.inv_freq[pair]);
            let (sin, cos) = angle.sin_cos();
            let (low, high) = entry.split_at_mut(4);
            low.copy_from_slice(&(cos as f32 * rope.magnitude).to_le_bytes());
            high.copy_from_slice(&(sin as f32 * rope.magnitude).to_le_bytes());
            at += 1;
        }
        Ok(())
    };
    if positions * pairs > 0 {
        let mut uploader = table.device().uploader()?;
        uploader.write(&table, 0, (positions * pairs * 8) as u64, &mut fill)?;
        uploader.finish()?;
    }
    Ok(table)
}
