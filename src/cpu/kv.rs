//! The paged KV cache of the CPU: f16, keys transposed within a page.
//!
//! `[page][layer][kv head]` of `K [head_dim][PAGE_TOKENS]` then `V [PAGE_TOKENS][head_dim]`: both
//! products of attention read consecutive lanes without a transpose.

use super::packed::Buffer;
use crate::step::{Attention, PAGE_TOKENS};
use crate::{Error, Result};

/// The cache. Workers write disjoint (page, layer, head, token) places.
#[derive(Debug)]
pub struct KvCache {
    memory: Buffer,
    pages: usize,
    layers: usize,
    kv_heads: usize,
    head_dim: usize,
}

impl KvCache {
    /// Reserves `pages` pages; the system gives memory as they are first written.
    pub fn new(pages: usize, layers: usize, shape: &Attention) -> Result<KvCache> {
        let bytes = Self::page_bytes(layers, shape)
            .checked_mul(pages)
            .ok_or_else(|| {
                Error::OutOfMemory(format!("a KV cache of {pages} pages is too large"))
            })?;
        Ok(KvCache {
            memory: Buffer::new(bytes)?,
            pages,
            layers,
            kv_heads: shape.kv_heads,
            head_dim: shape.head_dim,
        })
    }

    /// Bytes of one page, all layers.
    pub fn page_bytes(layers: usize, shape: &Attention) -> usize {
        layers * shape.kv_heads * shape.head_dim * PAGE_TOKENS * 2 * 2
    }

    pub fn pages(&self) -> usize {
        self.pages
    }

    fn head_len(&self) -> usize {
        self.head_dim * PAGE_TOKENS
    }

    fn start(&self, page: u32, layer: usize, head: usize) -> usize {
        assert!((page as usize) < self.pages && layer < self.layers && head < self.kv_heads);
        let head = (page as usize * self.layers + layer) * self.kv_heads + head;
        debug_assert!((head + 1) * 4 * self.head_len() <= self.memory.len());
        head * 2 * self.head_len()
    }

    /// Keys `[head_dim][PAGE_TOKENS]` and values `[PAGE_TOKENS][head_dim]`, f16 bits.
    ///
    /// # Safety
    /// Nobody writes this (page, layer, head) meanwhile.
    pub unsafe fn page(&self, page: u32, layer: usize, head: usize) -> (&[u16], &[u16]) {
        let start = self.start(page, layer, head);
        // SAFETY: `start` plus a head's keys and values lies inside the memory; unwritten by
        // contract.
        unsafe {
            let at = self.memory.as_ptr().cast::<u16>().add(start);
            std::slice::from_raw_parts(at, 2 * self.head_len()).split_at(self.head_len())
        }
    }

    /// Stores one token's key and value.
    ///
    /// # Safety
    /// Nobody else may use this (page, layer, head) token meanwhile.
    pub unsafe fn write(
        &self,
        page: u32,
        layer: usize,
        head: usize,
        token: usize,
        key: &[u16],
        value: &[u16],
    ) {
        assert!(token < PAGE_TOKENS && key.len() == self.head_dim && value.len() == self.head_dim);
        let start = self.start(page, layer, head);
        let base = self.memory.as_ptr().cast::<u16>();
        // SAFETY: `start` plus a head's keys and values lies inside the memory; this token's places
        // are ours by contract.
        unsafe {
            let keys = base.add(start);
            for (d, &k) in key.iter().enumerate() {
                keys.add(d * PAGE_TOKENS + token).write(k);
            }
            let values = keys.add(self.head_len() + token * self.head_dim);
            std::ptr::copy_nonoverlapping(value.as_ptr(), values, self.head_dim);
        }
    }
}
