//! Pages of the KV cache and recurrent states as bytes, for states that are saved and loaded.

use super::executor::GpuExecutor;
use super::recurrent_memory::RecurrentMemory;
use crate::gpu::DeviceBuffer;
use crate::step::KvType;
use crate::{Error, Result};

/// The most that is copied at once, through pinned memory.
const PIECE: usize = 4 << 20;

impl GpuExecutor {
    /// What a page of the cache holds, and its bytes.
    pub fn page_kind(&self) -> (KvType, usize) {
        (self.size.kv, self.schedule.page_bytes(self.size.kv))
    }

    /// Bytes of the state of a slot; 0: the model keeps none.
    pub fn slot_bytes(&self) -> usize {
        let recurrent = self.memory.recurrent.as_ref();
        recurrent.map_or(0, |recurrent| recurrent.slot_bytes())
    }

    /// Copies a page of the cache. No step is queued.
    pub fn copy_page_out(&mut self, page: u32, to: &mut [u8]) -> Result<()> {
        let at = self.page(page, to.len())?;
        self.copy_out(&self.memory.cache.clone(), at, to)
    }

    /// Writes a page of the cache. No step is queued.
    pub fn copy_page_in(&mut self, page: u32, from: &[u8]) -> Result<()> {
        let at = self.page(page, from.len())?;
        self.copy_in(&self.memory.cache.clone(), at, from)
    }

    /// Copies the state of a slot. No step is queued.
    pub fn copy_slot_out(&mut self, slot: u32, to: &mut [u8]) -> Result<()> {
        let (states, at) = self.slot(to.len())?.newer(slot)?;
        self.copy_out(&states, at, to)?;
        self.slot(to.len())?.clear_gaps(to);
        Ok(())
    }

    /// Gives a slot a state of so many tokens. No step is queued.
    pub fn copy_slot_in(&mut self, slot: u32, tokens: usize, from: &[u8]) -> Result<()> {
        let (states, at) = self.slot(from.len())?.replace(slot)?;
        self.copy_in(&states, at, from)?;
        self.slot(from.len())?.is_of(slot, tokens)
    }

    fn copy_out(&mut self, from: &DeviceBuffer, mut at: u64, to: &mut [u8]) -> Result<()> {
        self.make_room(to.len())?;
        for piece in to.chunks_mut(PIECE) {
            let (host, bytes) = (&self.results, piece.len() as u64);
            let queued = self.stream.copy_to_pinned(from, at, host, 0, bytes);
            let waited = self.weights.device.wait_step(&self.stream);
            queued.and(waited)?;
            piece.copy_from_slice(&self.results.as_slice()[..piece.len()]);
            at += bytes;
        }
        Ok(())
    }

    fn copy_in(&mut self, to: &DeviceBuffer, mut at: u64, from: &[u8]) -> Result<()> {
        self.make_room(from.len())?;
        for piece in from.chunks(PIECE) {
            self.results.as_mut_slice()[..piece.len()].copy_from_slice(piece);
            let (host, bytes) = (&self.results, piece.len() as u64);
            let queued = self.stream.copy_from_pinned(to, at, host, 0, bytes);
            let waited = self.weights.device.wait_step(&self.stream);
            queued.and(waited)?;
            at += bytes;
        }
        Ok(())
    }

    /// Makes room for a piece of so many bytes on the host.
    fn make_room(&mut self, bytes: usize) -> Result<()> {
        let bytes = bytes.min(PIECE) as u64;
        if bytes > self.results.len() {
            self.results = self.weights.device.alloc_pinned(bytes)?;
        }
        Ok(())
    }

    /// Where a page begins.
    fn page(&self, page: u32, bytes: usize) -> Result<u64> {
        if self.turns.last().is_some()
            || bytes != self.page_kind().1
            || page as usize >= self.size.pages
        {
            let what = format!("{bytes} bytes for page {page} of a cache, or a queued step");
            return Err(Error::Internal(what));
        }
        Ok(u64::from(page) * bytes as u64)
    }

    /// The states, where a slot has so many bytes.
    fn slot(&mut self, bytes: usize) -> Result<&mut RecurrentMemory> {
        let is_queued = self.turns.last().is_some();
        let states = self.memory.recurrent.as_mut();
        let states = states.filter(|states| !is_queued && states.slot_bytes() == bytes);
        states.ok_or_else(|| Error::Internal(format!("{bytes} bytes for a slot, or a queued step")))
    }
}
