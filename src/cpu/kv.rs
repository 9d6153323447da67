//! The paged KV cache of the CPU: keys transposed within a page.
//!
//! `[page][layer][kv head]` of keys, then values, so that both products of attention read
//! consecutive lanes without a transpose. `columns` is `head_dim`, padded to whole groups of
//! [`KV_GROUP`] in quantized caches:
//!
//! | | keys | values | then, of both |
//! |---|---|---|---|
//! | F16 | `[columns][PAGE_TOKENS]` f16 | `[PAGE_TOKENS][columns]` f16 | |
//! | Q8 | `[columns][PAGE_TOKENS]` i8 | `[PAGE_TOKENS][columns]` i8 | `[groups][PAGE_TOKENS]` scales f16 |
//! | Q4 | `[columns / 2][PAGE_TOKENS]` | `[PAGE_TOKENS][columns / 2]` | `[groups][scale, minimum][PAGE_TOKENS]` f16 |
//!
//! A byte of Q4 has columns `c` (low) and `c + 16` of a group; a token's bytes are its own, so that
//! tokens of a page are written at once. What codes mean is at `kernels::kv`.

use super::huge::Buffer;
use super::kernels::KvGroup;
use crate::step::{Attention, KV_GROUP, KvType, PAGE_TOKENS};
use crate::{Error, Result};

/// The cache. Workers write disjoint (page, layer, head, token) places.
#[derive(Debug)]
pub struct KvCache {
    memory: Buffer,
    pages: usize,
    layers: Vec<Layer>,
    page_bytes: usize,
    kv: KvType,
}

/// A layer's place in a page.
#[derive(Debug)]
struct Layer {
    /// Bytes before it.
    offset: usize,
    shape: Attention,
}

/// A token of a head.
#[derive(Debug, Clone, Copy)]
pub struct KvPlace {
    pub page: u32,
    pub layer: usize,
    pub head: usize,
    /// Of the page.
    pub token: usize,
}

impl KvCache {
    /// Reserves `pages` pages of these layers; the system gives memory as they are first written.
    pub fn new(pages: usize, shapes: &[Attention], kv: KvType) -> Result<KvCache> {
        let mut page_bytes = 0;
        let layer = |shape: &Attention| {
            let offset = page_bytes;
            page_bytes += shape.layer_bytes(kv);
            Layer {
                offset,
                shape: *shape,
            }
        };
        let layers = shapes.iter().map(layer).collect();
        let bytes = page_bytes.checked_mul(pages).ok_or_else(|| {
            Error::OutOfMemory(format!("a KV cache of {pages} pages is too large"))
        })?;
        Ok(KvCache {
            memory: Buffer::new(bytes)?,
            pages,
            layers,
            page_bytes,
            kv,
        })
    }

    pub fn pages(&self) -> usize {
        self.pages
    }

    pub fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    /// A page's bytes. No worker runs meanwhile.
    pub fn whole_page(&mut self, page: u32) -> Option<&mut [u8]> {
        let start = (page as usize).checked_mul(self.page_bytes)?;
        if page as usize >= self.pages {
            return None;
        }
        debug_assert!(start + self.page_bytes <= self.memory.len());
        // SAFETY: the page lies inside the memory, which is initialised, and `self` is borrowed alone.
        let page = unsafe {
            std::slice::from_raw_parts_mut(self.memory.as_ptr().add(start), self.page_bytes)
        };
        Some(page)
    }

    pub fn kv(&self) -> KvType {
        self.kv
    }

    /// Bytes of a head's keys, or values, in a page.
    fn half(&self, layer: usize) -> usize {
        self.layers[layer].shape.tokens_bytes(self.kv)
    }

    fn start(&self, page: u32, layer: usize, head: usize) -> usize {
        let Layer { offset, shape } = &self.layers[layer];
        assert!((page as usize) < self.pages && head < shape.kv_heads);
        let half = self.half(layer);
        let start = page as usize * self.page_bytes + offset + head * 2 * half;
        debug_assert!(start + 2 * half <= self.memory.len());
        start
    }

    /// Keys and values, as 16-bit numbers.
    ///
    /// # Safety
    /// Nobody writes this (page, layer, head) meanwhile.
    pub unsafe fn page(&self, page: u32, layer: usize, head: usize) -> (&[u16], &[u16]) {
        let start = self.start(page, layer, head);
        // SAFETY: `start` plus a head's keys and values lies inside the memory, all sizes are
        // even; unwritten by contract.
        unsafe {
            let at = self.memory.as_ptr().add(start).cast::<u16>();
            let half = self.half(layer);
            std::slice::from_raw_parts(at, half).split_at(half / 2)
        }
    }

    /// Stores one token's key and value in a cache of f16.
    ///
    /// # Safety
    /// Nobody else may use this (page, layer, head) token meanwhile.
    pub unsafe fn write(&self, place: KvPlace, key: &[u16], value: &[u16]) {
        let (token, dim) = (place.token, self.layers[place.layer].shape.head_dim);
        assert!(token < PAGE_TOKENS && key.len() == dim && value.len() == dim);
        assert!(self.kv == KvType::F16);
        let start = self.start(place.page, place.layer, place.head);
        // SAFETY: `start` plus a head's keys and values lies inside the memory and is even; this
        // token's places are ours by contract.
        unsafe {
            let keys = self.memory.as_ptr().add(start).cast::<u16>();
            for (d, &k) in key.iter().enumerate() {
                keys.add(d * PAGE_TOKENS + token).write(k);
            }
            let values = keys.add(self.half(place.layer) / 2 + token * dim);
            std::ptr::copy_nonoverlapping(value.as_ptr(), values, dim);
        }
    }

    /// Stores a group of columns of one token's key (`which` 0) or value (1) in a quantized cache.
    ///
    /// # Safety
    /// Nobody else may use this (page, layer, head) token meanwhile.
    pub unsafe fn write_group(&self, place: KvPlace, which: usize, group: usize, from: &KvGroup) {
        let groups = self.layers[place.layer].shape.head_dim.div_ceil(KV_GROUP);
        assert!(place.token < PAGE_TOKENS && which < 2 && group < groups);
        let start =
            self.start(place.page, place.layer, place.head) + which * self.half(place.layer);
        let (bytes, numbers) = match self.kv {
            KvType::F16 => unreachable!("a cache of f16 has no groups"),
            KvType::Q8 => (KV_GROUP, 1),
            KvType::Q4 => (KV_GROUP / 2, 2),
        };
        // Codes of the group's first column, and from one to the next.
        let (first, step) = match which {
            0 => (group * bytes * PAGE_TOKENS + place.token, PAGE_TOKENS),
            _ => ((place.token * groups + group) * bytes, 1),
        };
        let scales = groups * bytes * PAGE_TOKENS;
        // SAFETY: codes and scales of a head's keys or values lie inside the memory, scales at an
        // even place; this token's are ours by contract.
        unsafe {
            let at = self.memory.as_ptr().add(start);
            for i in 0..bytes {
                let code = match self.kv {
                    KvType::Q4 => from.codes[i] | from.codes[i + bytes] << 4,
                    _ => from.codes[i],
                };
                at.add(first + i * step).write(code);
            }
            let scales = at.add(scales).cast::<u16>();
            for (i, &number) in [from.scale, from.least][..numbers].iter().enumerate() {
                let place = (group * numbers + i) * PAGE_TOKENS + place.token;
                scales.add(place).write(number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::kernels::{Kernels, available};
    use half::f16;

    /// Numbers that differ in size from group to group, new on every run.
    fn numbers(count: usize, state: &mut u64) -> Vec<f32> {
        let mut unit = || {
            *state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (*state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
        };
        let groups = count.div_ceil(7);
        let sizes: Vec<f32> = (0..groups).map(|_| (unit() * 8.0).exp2()).collect();
        (0..count).map(|i| unit() * sizes[i / 7] + 0.5).collect()
    }

    fn shape(dim: usize) -> Attention {
        Attention {
            heads: 2,
            kv_heads: 2,
            head_dim: dim,
            scale: 1.0,
            window: None,
            chunk: None,
            cap: None,
        }
    }

    /// Writes the keys and values (`[tokens][dim]` each) of page 1, layer 2, head 1.
    fn write(cache: &KvCache, kernels: &Kernels, both: [&[f32]; 2]) {
        let dim = cache.layers[2].shape.head_dim;
        for token in 0..PAGE_TOKENS {
            let place = KvPlace {
                page: 1,
                layer: 2,
                head: 1,
                token,
            };
            for (which, x) in both.iter().enumerate() {
                let x = &x[token * dim..][..dim];
                for (group, x) in x.chunks(KV_GROUP).enumerate() {
                    // SAFETY: one thread; `kernels` comes from `available`.
                    unsafe {
                        let codes = (kernels.kv_group)(cache.kv, x);
                        cache.write_group(place, which, group, &codes);
                    }
                }
            }
        }
    }

    /// What a page gives back, as `[tokens][dim]`.
    fn read(cache: &KvCache, kernels: &Kernels) -> [Vec<f32>; 2] {
        let dim = cache.layers[2].shape.head_dim;
        let (mut keys, mut values) = (vec![0.0; dim * PAGE_TOKENS], vec![0.0; dim * PAGE_TOKENS]);
        // SAFETY: one thread; `kernels` comes from `available`.
        unsafe {
            let (k, v) = cache.page(1, 2, 1);
            (kernels.kv_keys)(cache.kv, k, &mut keys);
            (kernels.kv_values)(cache.kv, v, &mut values);
        }
        let key = |i: usize| keys[i % dim * PAGE_TOKENS + i / dim];
        [(0..dim * PAGE_TOKENS).map(key).collect(), values]
    }

    /// What is wrong with the numbers that come back for a group.
    fn check(kv: KvType, x: &[f32], back: &[f32]) -> Result<(), String> {
        let largest = x.iter().copied().fold(f32::MIN, f32::max);
        let smallest = x.iter().copied().fold(f32::MAX, f32::min);
        let (scale, least, codes) = match kv {
            KvType::Q4 => {
                let least = f16::from_f32(smallest);
                let scale = f16::from_f32((largest - least.to_f32()) / 15.0);
                (scale, least, 0.0..=15.0)
            }
            _ => {
                let scale = f16::from_f32(largest.max(-smallest) / 127.0);
                (scale, f16::ZERO, -127.0..=127.0)
            }
        };
        for (&x, &back) in x.iter().zip(back) {
            let code = |x: f32| (f64::from(x) - least.to_f64()) / scale.to_f64();
            let (wanted, got) = (code(x), code(back));
            let whole = (got - got.round()).abs() < 1e-3 && codes.contains(&got.round());
            // A rounded scale or minimum leaves the ends of the range outside by a part of a code.
            let near = (got - wanted.clamp(*codes.start(), *codes.end())).abs() < 0.501;
            if !whole || !near {
                return Err(format!(
                    "{kv:?}: code {got} for {wanted}: {x} became {back}"
                ));
            }
        }
        Ok(())
    }

    #[test]
    fn quantized_pages_give_back_the_nearest_numbers() {
        let mut state = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(1, |t| t.as_nanos() as u64);
        for kv in [KvType::Q8, KvType::Q4] {
            for dim in [16, 64, 80, 128] {
                let keys = numbers(dim * PAGE_TOKENS, &mut state);
                let values = numbers(dim * PAGE_TOKENS, &mut state);
                let mut first: Option<[Vec<f32>; 2]> = None;
                for kernels in available() {
                    let cache = KvCache::new(2, &[shape(dim); 3], kv).unwrap();
                    write(&cache, kernels, [&keys, &values]);
                    let back = read(&cache, kernels);
                    for (x, back) in [&keys, &values].into_iter().zip(&back) {
                        for (x, back) in x.chunks(dim).zip(back.chunks(dim)) {
                            for (x, back) in x.chunks(KV_GROUP).zip(back.chunks(KV_GROUP)) {
                                check(kv, x, back).unwrap();
                            }
                        }
                    }
                    let first = first.get_or_insert_with(|| back.clone());
                    assert!(*first == back, "{:?} gives other bits", kernels.level);
                }
            }
        }
    }

    #[test]
    fn what_is_not_finite_shows_in_its_group() {
        for kv in [KvType::Q8, KvType::Q4] {
            for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                for kernels in available() {
                    let mut keys = vec![0.25; 64 * PAGE_TOKENS];
                    keys[5 * 64 + 40] = bad;
                    let cache = KvCache::new(2, &[shape(64); 3], kv).unwrap();
                    write(&cache, kernels, [&keys, &keys]);
                    for back in read(&cache, kernels) {
                        for (i, x) in back.iter().enumerate() {
                            let group = (5 * 64 + 32..6 * 64).contains(&i);
                            assert_eq!(!x.is_finite(), group, "{kv:?} {bad} {i}: {x}");
                        }
                    }
                }
            }
        }
    }
}
