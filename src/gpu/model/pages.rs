//! Pages of the KV cache as bytes, for states that are saved and loaded.

use super::executor::GpuExecutor;
use crate::step::KvType;
use crate::{Error, Result};

impl GpuExecutor {
    /// What a page of the cache holds, and its bytes.
    pub fn page_kind(&self) -> (KvType, usize) {
        (self.size.kv, self.schedule.page_bytes(self.size.kv))
    }

    /// Copies a page of the cache. No step is queued.
    pub fn copy_page_out(&mut self, page: u32, to: &mut [u8]) -> Result<()> {
        let at = self.page(page, to.len())?;
        let (cache, host) = (&self.memory.cache, &self.results);
        let queued = self
            .stream
            .copy_to_pinned(cache, at, host, 0, to.len() as u64);
        let waited = self.weights.device.wait_step(&self.stream);
        queued.and(waited)?;
        to.copy_from_slice(&self.results.as_slice()[..to.len()]);
        Ok(())
    }

    /// Writes a page of the cache. No step is queued.
    pub fn copy_page_in(&mut self, page: u32, from: &[u8]) -> Result<()> {
        let at = self.page(page, from.len())?;
        self.results.as_mut_slice()[..from.len()].copy_from_slice(from);
        let (cache, host) = (&self.memory.cache, &self.results);
        let queued = self
            .stream
            .copy_from_pinned(cache, at, host, 0, from.len() as u64);
        let waited = self.weights.device.wait_step(&self.stream);
        queued.and(waited)
    }

    /// Where a page begins; makes room for one on the host.
    fn page(&mut self, page: u32, bytes: usize) -> Result<u64> {
        if self.turns.last().is_some()
            || bytes != self.page_kind().1
            || page as usize >= self.size.pages
        {
            let what = format!("{bytes} bytes for page {page} of a cache, or a queued step");
            return Err(Error::Internal(what));
        }
        if (bytes as u64) > self.results.len() {
            self.results = self.weights.device.alloc_pinned(bytes as u64)?;
        }
        Ok(u64::from(page) * bytes as u64)
    }
}
