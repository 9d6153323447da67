//! Quantized weights in the layout of the CPU kernels.
//!
//! The file's own codes and scales, only moved: nothing is re-quantized, and the bytes a token reads
//! stay what they are in the file (K-quant sub-scales take 8 bits instead of 6).
//!
//! Rows are taken in *tiles* of 16, columns in *blocks* of 32; lane `r` of a vector is row `r` of the
//! tile. A block holds 16 column pairs `j` (columns `2j`, `2j+1`). A *plane* of `b` bits packs
//! `16/b` pairs into each 32-bit lane: pair `j` is `(lane >> b·(j % (16/b))) & mask` of vector
//! `j / (16/b)`, its even column in the low, its odd column in the high 16 bits: ready for a
//! multiply of 16-bit pairs. Bits 2, 4 and 8 have one plane; 3 = 2+1, 5 = 4+1, 6 = 4+2.
//!
//! Codes that come from a grid stay indices: a block holds, 16 bytes (one a row) each, the low bytes of
//! its entries' indices in the order of the columns; for each eight columns the signs, even columns in
//! the low, odd ones in the high nibble (not of a grid whose entries have one sign); then the indices'
//! high bits and, above them, such a sign: the first entry's lowest, in as many bytes a row as it takes.
//!
//! A tile is `[scale section, padded to 64][block 0][block 1]…`; the scale section holds, for each
//! group (or 256-column super-group), 16 values of each kind, one a row. Rows past the matrix and
//! columns past its width have scale 0 and code 0.

use super::arrays::at_best;
use super::huge::Buffer;
use super::packed_rows::put_row;
use super::packed_tiles::WholeTile;
use super::threads::ThreadPool;
use crate::formats::{Grid, GroupForm, RowGroups, ScalarType, ScaleForm, Values, Weight};
use crate::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rows of a tile.
pub const TILE_ROWS: usize = 16;
/// Columns of a block.
pub const BLOCK: usize = 32;
/// Columns that share the `d` of a K-quant.
pub const SUPER: usize = 256;

/// Bytes of weights that are packed before their pages of the file are given back and progress is told.
const AT_A_TIME: usize = 16 << 20;
/// Bytes that a worker packs at a time, after its last ones: two workers are in one huge page at its ends only.
const BYTES_A_CHUNK: usize = 512 << 10;

/// A quantized weight `[rows, cols]` in tiles.
#[derive(Debug, Clone)]
pub struct PackedWeight {
    pub rows: usize,
    pub form: GroupForm,
    layout: Layout,
    buffer: Arc<Buffer>,
    offset: usize,
}

/// Sizes that follow from shape and form.
#[derive(Debug, Clone, Copy)]
struct Layout {
    tiles: usize,
    blocks: usize,
    scale_bytes: usize,
    tile_bytes: usize,
}

impl Layout {
    fn new(rows: usize, cols: usize, form: GroupForm) -> Layout {
        let blocks = cols.div_ceil(BLOCK);
        let scale_bytes = scales_len(cols, form).next_multiple_of(64);
        let tile_bytes = scale_bytes + blocks * block_bytes(form);
        Layout {
            tiles: rows.div_ceil(TILE_ROWS),
            blocks,
            scale_bytes,
            tile_bytes,
        }
    }
}

/// Bytes of the scales of a tile's columns.
pub fn scales_len(cols: usize, form: GroupForm) -> usize {
    let groups = cols.div_ceil(form.group);
    let supers = cols.div_ceil(SUPER);
    match form.scale {
        ScaleForm::Stored(ty) => groups * 2 * TILE_ROWS * scalar_bytes(ty),
        ScaleForm::Zero(ty, _) => groups * TILE_ROWS * scalar_bytes(ty),
        ScaleForm::Points(ty) => groups * TILE_ROWS * (scalar_bytes(ty) + 1),
        ScaleForm::Power | ScaleForm::Float8 => groups * TILE_ROWS,
        ScaleForm::SuperZero(_) => supers * TILE_ROWS * 2 + groups * TILE_ROWS,
        ScaleForm::SuperMin => 2 * (supers * TILE_ROWS * 2 + groups * TILE_ROWS),
    }
}

/// Bytes of a block of 16 × 32 codes.
pub fn block_bytes(form: GroupForm) -> usize {
    match form.values {
        Values::Grid(grid) => GridBlock::new(grid).bytes(),
        _ => TILE_ROWS * BLOCK / 8 * usize::from(form.bits),
    }
}

/// How a block of a grid's codes is laid out.
#[derive(Debug, Default, Clone, Copy)]
pub struct GridBlock {
    /// Entries of a row.
    pub entries: usize,
    /// Bytes of signs of a row.
    pub signs: usize,
    /// High bits of an entry, the sign of all its columns included.
    pub high: usize,
}

impl GridBlock {
    pub const fn new(grid: Grid) -> GridBlock {
        let one_sign = grid.one_sign();
        GridBlock {
            entries: BLOCK / grid.columns(),
            signs: if one_sign { 0 } else { BLOCK / 8 },
            high: grid.index_bits() - 8 + one_sign as usize,
        }
    }

    /// Bytes of high bits of a row.
    pub const fn high_bytes(self) -> usize {
        (self.entries * self.high).div_ceil(8)
    }

    pub const fn bytes(self) -> usize {
        (self.entries + self.signs + self.high_bytes()) * TILE_ROWS
    }
}

pub(super) fn scalar_bytes(ty: ScalarType) -> usize {
    match ty {
        ScalarType::F32 => 4,
        ScalarType::F16 | ScalarType::BF16 => 2,
    }
}

impl PackedWeight {
    /// Packs all `weights` (in the order given, which should be the order of use) into one buffer,
    /// releasing the file's pages on the way. `progress` is called for each weight, after some of them,
    /// with its bytes in the file and may refuse to go on.
    pub fn pack_all(
        weights: &[&Weight],
        pool: &mut ThreadPool,
        progress: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<Vec<PackedWeight>> {
        let mut plan = Vec::with_capacity(weights.len());
        let mut total = 0usize;
        for weight in weights {
            let form = weight.format.group_form().ok_or_else(|| {
                Error::Internal(format!(
                    "{} is not quantized and cannot be packed",
                    weight.name
                ))
            })?;
            let layout = Layout::new(weight.rows, weight.cols, form);
            plan.push((form, layout, total));
            total = layout
                .tiles
                .checked_mul(layout.tile_bytes)
                .and_then(|bytes| total.checked_add(bytes.next_multiple_of(4096)))
                .ok_or_else(|| Error::OutOfMemory(format!("{}: too large", weight.name)))?;
        }
        let buffer = Buffer::new(total)?;
        let mut done = 0;
        while done < plan.len() {
            // Several weights at a time: most are so small that workers would wait for each other.
            let start = plan[done].2;
            let several = plan[done..].partition_point(|(.., at)| at - start < AT_A_TIME);
            let part = done..done + several;
            pack_several(&weights[part.clone()], &plan[part.clone()], &buffer, pool)?;
            for weight in &weights[part] {
                weight.release();
                progress(weight.byte_len() as u64)?;
            }
            done += several;
        }
        let buffer = Arc::new(buffer);
        Ok(weights
            .iter()
            .zip(plan)
            .map(|(weight, (form, layout, offset))| PackedWeight {
                rows: weight.rows,
                form,
                layout,
                buffer: buffer.clone(),
                offset,
            })
            .collect())
    }

    /// The scale section and the codes of a tile.
    #[inline]
    pub fn tile(&self, tile: usize) -> (&[u8], &[u8]) {
        let start = self.offset + tile * self.layout.tile_bytes;
        self.buffer.as_slice()[start..start + self.layout.tile_bytes]
            .split_at(self.layout.scale_bytes)
    }
}

/// A pointer that workers use for disjoint tiles.
struct TilesPtr(*mut u8);
// SAFETY: each worker writes only the tiles it claimed.
unsafe impl Sync for TilesPtr {}

/// Packs weights to their places in the buffer.
fn pack_several(
    weights: &[&Weight],
    plan: &[(GroupForm, Layout, usize)],
    buffer: &Buffer,
    pool: &mut ThreadPool,
) -> Result<()> {
    let mut chunks = Vec::new();
    for (weight, (form, layout, start)) in weights.iter().zip(plan) {
        let tiles = (BYTES_A_CHUNK / layout.tile_bytes).max(1);
        for first in (0..layout.tiles).step_by(tiles) {
            let end = (first + tiles).min(layout.tiles);
            chunks.push((*weight, *form, *layout, *start, first..end));
        }
    }
    let base = TilesPtr(buffer.as_ptr());
    let base = &base;
    let failed = parking_lot::Mutex::new(None);
    let stop = AtomicUsize::new(0);
    pool.run(chunks.len(), &|_, chunk| {
        if stop.load(Ordering::Relaxed) != 0 {
            return;
        }
        let Some((weight, form, layout, start, tiles)) = chunks.get(chunk).cloned() else {
            return;
        };
        let mut groups = RowGroups::default();
        for tile in tiles {
            // SAFETY: the plan has room for `tiles · tile_bytes` bytes of each weight, and this chunk owns this tile
            // of them.
            let bytes = unsafe {
                std::slice::from_raw_parts_mut(
                    base.0.add(start + tile * layout.tile_bytes),
                    layout.tile_bytes,
                )
            };
            if let Err(error) = pack_tile(weight, form, layout, tile, &mut groups, bytes) {
                *failed.lock() = Some(error);
                stop.store(1, Ordering::Relaxed);
                return;
            }
        }
    });
    match failed.into_inner() {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

fn pack_tile(
    weight: &Weight,
    form: GroupForm,
    layout: Layout,
    tile: usize,
    groups: &mut RowGroups,
    out: &mut [u8],
) -> Result<()> {
    let (scales, codes) = out.split_at_mut(layout.scale_bytes);
    let first = tile * TILE_ROWS;
    if first + TILE_ROWS <= weight.rows {
        let whole = WholeTile {
            weight,
            first,
            scales,
            codes,
        };
        if at_best(whole) {
            return Ok(());
        }
    }
    put_rows(weight, form, layout.blocks, first, groups, scales, codes)
}

/// A tile of any format, row by row.
fn put_rows(
    weight: &Weight,
    form: GroupForm,
    blocks: usize,
    first: usize,
    groups: &mut RowGroups,
    scales: &mut [u8],
    codes: &mut [u8],
) -> Result<()> {
    for lane in 0..TILE_ROWS.min(weight.rows - first) {
        weight.read_groups(first + lane, groups)?;
        put_row(form, blocks, groups, lane, scales, codes);
    }
    Ok(())
}

/// One tile of these rows.
#[cfg(test)]
pub fn pack_one_for_tests(form: GroupForm, cols: usize, rows: &[RowGroups]) -> PackedWeight {
    let layout = Layout::new(rows.len(), cols, form);
    assert_eq!(layout.tiles, 1);
    let mut buffer = Buffer::new(layout.tile_bytes).unwrap();
    let (scales, codes) = buffer.as_mut_slice().split_at_mut(layout.scale_bytes);
    for (lane, row) in rows.iter().enumerate() {
        put_row(form, layout.blocks, &mut row.clone(), lane, scales, codes);
    }
    PackedWeight {
        rows: rows.len(),
        form,
        layout,
        buffer: Arc::new(buffer),
        offset: 0,
    }
}

#[cfg(test)]
#[path = "packed_tests.rs"]
mod tests;
