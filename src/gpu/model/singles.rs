//! How single queries are attended to: by which kernel, and in how many parts.

use super::attention::suffix;
use super::wide::{MAX_DIM, is_wide, wide_form};
use crate::driver::Platform;
use crate::gpu::Device;
use crate::gpu::constants::{attention_paged, attention_paged_warps};
use crate::step::{Attention, KvType, PAGE_TOKENS};
use std::sync::Arc;

/// The fewest positions of one part.
const SPLIT: usize = attention_paged::SPLIT;
/// Multiprocessors that parts are counted for, whatever the device has: their number decides bits of results.
const UNITS: usize = attention_paged_warps::MOST_PARTS;
/// No less than the shared memory that `paged_warps.hip` declares.
const DECLARED_BYTES: usize = 12 << 10;
/// The most blocks that wait to add parts, of a query's head group.
const ADDERS: usize = 8;
const _: () = assert!(PAGE_TOKENS == attention_paged::PAGE_TOKENS);

/// The kernel for an attention's single queries.
pub struct Singles {
    pub kernel: String,
    pub threads: u32,
    /// Bytes of shared memory besides what the kernel declares.
    pub shared: usize,
    /// Blocks that the heads of one query take, for one part.
    pub groups: usize,
    /// The most parts.
    pub most: usize,
    /// Whether it is `paged_warps.hip`: several blocks of a group add up its parts.
    pub is_shared: bool,
    /// Numbers that a part of a group leaves for the blocks that add up.
    numbers: usize,
}

impl Singles {
    pub fn of(shape: &Attention, kv: KvType, device: &Arc<Device>) -> Singles {
        let platform = device.facts().platform;
        let of_key_head = shape.heads / shape.kv_heads;
        let groups = |heads: usize| shape.kv_heads * of_key_head.div_ceil(heads);
        let numbers = |heads: usize, columns: usize| heads * (2 + columns);
        let most = attention_paged::PARTS.of(platform);
        if is_wide(shape) {
            let form = wide_form(shape.head_dim);
            return Singles {
                kernel: format!("mlxrocm_attention_{}{}", form.name, suffix(kv)),
                threads: super::wide::THREADS,
                shared: 0,
                groups: groups(form.heads),
                most,
                is_shared: false,
                numbers: numbers(form.heads, form.columns),
            };
        }
        let columns = shape.head_dim.next_power_of_two().clamp(32, MAX_DIM);
        let is_grouped =
            columns == MAX_DIM || (columns == 128 && of_key_head > attention_paged::HEADS);
        let kernel = format!("mlxrocm_attention_paged_warps_{columns}");
        let shared = attention_paged_warps::TILE_BYTES * columns;
        if platform == Platform::Cuda
            && kv == KvType::F16
            && is_grouped
            && shared + DECLARED_BYTES <= device.facts().lds_bytes_opt_in as usize
            && device.kernel(&kernel).is_ok()
        {
            let groups = groups(attention_paged_warps::GROUP_HEADS);
            return Singles {
                kernel,
                threads: attention_paged_warps::WARP_THREADS as u32,
                shared,
                groups,
                // One wave of blocks, each of which has a multiprocessor.
                most: (UNITS / groups).max(1),
                is_shared: true,
                numbers: numbers(attention_paged_warps::GROUP_HEADS, columns),
            };
        }
        Singles {
            kernel: format!("mlxrocm_attention_paged_{columns}{}", suffix(kv)),
            threads: 256,
            shared: 0,
            groups: groups(attention_paged::HEADS),
            most,
            is_shared: false,
            numbers: numbers(attention_paged::HEADS, columns),
        }
    }

    /// The most parts of a query over so many pages.
    pub fn parts(&self, pages: usize) -> usize {
        let positions = pages * PAGE_TOKENS;
        let split = match self.is_shared {
            true if positions <= attention_paged_warps::ONE_PART => attention_paged_warps::ONE_PART,
            true if positions <= attention_paged_warps::LONG_PARTS => 2 * SPLIT,
            _ => SPLIT,
        };
        positions.div_ceil(split).min(self.most)
    }

    /// Bytes that a query over so many pages leaves for the blocks that add up.
    pub fn part_bytes(&self, pages: usize) -> usize {
        self.groups * self.parts(pages) * self.numbers * 4
    }

    /// How many blocks of each group add up its parts in a launch of so many queries. All but the last wait for others,
    /// a multiprocessor each: a quarter of the device at most, since these others have to run beside them.
    pub fn adders(&self, queries: usize, device: &Device) -> usize {
        let waiting = device.facts().compute_units as usize / 4;
        (1 + waiting / (queries * self.groups).max(1)).min(ADDERS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last part of a query at `position`, as `paged_warps.hip` counts.
    fn last_part(position: usize, most: usize) -> usize {
        let least = if position < attention_paged_warps::ONE_PART {
            attention_paged_warps::ONE_PART
        } else if position < attention_paged_warps::LONG_PARTS {
            2 * SPLIT
        } else {
            SPLIT
        };
        position / least.max(SPLIT * (position / (SPLIT * most) + 1))
    }

    #[test]
    fn launches_have_a_block_for_every_part() {
        for most in [1, 2, 8, 33, 66, 132] {
            let singles = Singles {
                kernel: String::new(),
                threads: 0,
                shared: 0,
                groups: 1,
                most,
                is_shared: true,
                numbers: 1,
            };
            let mut parts = 0;
            for position in 0..40_000 {
                parts = parts.max(last_part(position, most) + 1);
                if (position + 1) % PAGE_TOKENS == 0 {
                    let there = singles.parts((position + 1) / PAGE_TOKENS);
                    assert!(parts <= there, "{position} {most}: {parts} of {there}");
                }
            }
            assert!(parts <= most);
        }
    }
}
