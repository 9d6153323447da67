//! What a forward state takes of a device's memory, buffer by buffer.

use super::attention::PARTS_BYTES;
use super::delta_chunks::ChunkMemory;
use super::executor::{bucket_pages, bucket_rows};
use super::experts_memory::ExpertMemory;
use super::few::Prepared;
use super::inputs::{Bucket, Output};
use super::matmul::{BLOCK_ROWS, operand_stride};
use super::recurrent_memory::RecurrentMemory;
use super::singles::Singles;
use super::split::{split_bytes, split_counters};
use crate::gpu::Device;
use crate::gpu::allocator::size_class;
use crate::gpu::constants::rows_sample;
use crate::step::{PAGE_TOKENS, Schedule, StateSize};
use crate::{Error, Result};
use std::sync::Arc;

/// The most rows whose tokens are drawn at a time.
const MOST_SAMPLED: usize = 64;

/// Bytes of the buffers of a forward state; those of experts and of recurrent layers are asked of their own types.
pub struct StateBytes {
    /// The sizes that no step exceeds.
    pub most: Bucket,
    pub arena: usize,
    /// Of one row.
    pub logits: usize,
    pub tokens: usize,
    pub cache: usize,
    pub ropes: Vec<usize>,
    pub parts: usize,
    pub counters: usize,
    /// Of what is known of rows while their tokens are drawn.
    pub sampler: usize,
    pub operand: usize,
    pub scales: usize,
    pub inputs: usize,
    /// Of up projections that are not fused with their gate; 0: there are none.
    pub up: usize,
}

impl StateBytes {
    /// For a state of this size; up projections that are not fused with their gate have `up` columns at most.
    ///
    /// # Errors
    /// `OutOfMemory` if the cache is larger than any memory.
    pub fn new(
        device: &Arc<Device>,
        schedule: &Schedule,
        size: &StateSize,
        up: usize,
    ) -> Result<StateBytes> {
        let facts = device.facts();
        let rows = bucket_rows(size.tokens);
        let most = Bucket {
            turn: None,
            rows,
            slots: size.sequences.min(rows),
            wanted: rows,
            pages: bucket_pages(size.context.div_ceil(PAGE_TOKENS)),
            tiled: true,
            singles: rows,
            decode: false,
            recurrent: !schedule.recurrent.is_empty(),
            output: Output::Sampled,
        };
        let pages = size.pages;
        let cache = schedule.page_bytes(size.kv).checked_mul(pages);
        let cache = cache.ok_or_else(|| {
            Error::OutOfMemory(format!("a KV cache of {pages} pages is too large"))
        })?;
        // One row always fits; more rows in as many launches as it takes.
        let shapes = schedule.states.iter();
        let singles: Vec<_> = shapes
            .map(|shape| Singles::of(shape, size.kv, device))
            .collect();
        let part_bytes = singles.iter().map(|s| s.part_bytes(most.pages)).max();
        let groups = singles.iter().map(|s| s.groups).max().unwrap_or(0);
        let widest = schedule.buffers.iter().map(|b| b.width).max().unwrap_or(0);
        let operand = rows.next_multiple_of(BLOCK_ROWS) * operand_stride(widest) * 2;
        let (of_experts, inputs_of_experts) = ExpertMemory::operand(facts, schedule, rows);
        let ropes = schedule.ropes.iter();
        Ok(StateBytes {
            arena: schedule.widest() * rows * 4,
            logits: schedule.vocab_size * 4,
            tokens: most.wanted * 4,
            cache,
            ropes: ropes
                .map(|rope| size.context * rope.inv_freq.len() * 8)
                .collect(),
            parts: PARTS_BYTES
                .max(part_bytes.unwrap_or(0))
                .max(split_bytes(facts)),
            counters: (rows * groups).max(split_counters(facts)) * 4,
            sampler: most.slots.min(MOST_SAMPLED) * rows_sample::ROW_BYTES,
            operand: operand.max(Prepared::most(rows, widest)).max(of_experts),
            scales: rows.max(inputs_of_experts) * 4,
            inputs: most.bytes() as usize,
            up: rows * up * 4,
            most,
        })
    }

    /// Bytes that the allocator gives for a new state: for all of it but the cache, and for the cache.
    ///
    /// # Errors
    /// `OutOfMemory` if recurrent states are larger than any memory.
    pub fn totals(
        &self,
        device: &Arc<Device>,
        schedule: &Schedule,
        size: &StateSize,
    ) -> Result<(u64, u64)> {
        let (rows, slots) = (self.most.rows, size.sequences);
        let own = [
            self.arena,
            self.tokens,
            self.parts,
            self.counters,
            self.sampler,
            self.operand,
            self.scales,
            self.inputs,
            self.logits,
        ];
        let mut all: Vec<u64> = own.iter().map(|bytes| *bytes as u64).collect();
        all.extend(self.ropes.iter().map(|bytes| *bytes as u64));
        all.extend(Some(self.up as u64).filter(|up| *up > 0));
        let experts = ExpertMemory::bytes(device.facts(), schedule, rows);
        all.extend(experts.into_iter().flatten().map(|bytes| bytes as u64));
        if !schedule.recurrent.is_empty() {
            let chunks = ChunkMemory::bytes(device, schedule, rows, slots);
            all.extend(chunks.into_iter().flatten().map(|bytes| bytes as u64));
            all.push(RecurrentMemory::bytes(schedule, slots)?);
        }
        let taken = |bytes: u64| size_class(bytes).unwrap_or(u64::MAX);
        let sum = all
            .iter()
            .fold(0u64, |sum, bytes| sum.saturating_add(taken(*bytes)));
        Ok((sum, taken(self.cache as u64)))
    }

    /// What logits of a row of each of so many sequences take, while those of half as many are still there.
    pub fn more_logits(&self, sequences: usize) -> u64 {
        let rows = bucket_rows(sequences);
        let taken = |rows: usize| size_class((self.logits * rows) as u64).unwrap_or(u64::MAX);
        taken(rows).saturating_add(taken(rows / 2))
    }
}
