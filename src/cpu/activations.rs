//! Activations as the quantized product takes them: 16-bit integers with one scale per 32 columns.
//!
//! 16 bits keep the product at f32-level accuracy (8 bits do not: they change tokens), at twice the
//! rate of f32 multiplies. Token rows are taken in *groups* of up to [`GROUP_ROWS`], which stay in L2
//! while the tiles of a chunk use them, and a group in *panels* of the SIMD level's width:
//! `ints[group][block][panel][pair][row of panel][2]`, `meta[group][block][row of group]`, so that
//! the inner loops read memory in order.

use super::packed::BLOCK;

/// Token rows of a group; a multiple of every level's panel.
pub const GROUP_ROWS: usize = 96;

/// Facts about one block of 32 columns of one token row.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct BlockMeta {
    /// x = scale · int.
    pub scale: f32,
    /// scale · sum of the 32 ints.
    pub sum: f32,
    /// scale · sum of the first 16 ints.
    pub sum_low: f32,
    /// scale · sum of the last 16 ints.
    pub sum_high: f32,
}

impl BlockMeta {
    /// From the scale and the sums of both halves.
    pub fn new(scale: f32, low: i32, high: i32) -> BlockMeta {
        BlockMeta {
            scale,
            sum: scale * (low + high) as f32,
            sum_low: scale * low as f32,
            sum_high: scale * high as f32,
        }
    }
}

/// Quantized activations `[rows, cols]`.
#[derive(Debug, Default)]
pub struct Activations {
    rows: usize,
    blocks: usize,
    panel: usize,
    ints: Vec<i16>,
    meta: Vec<BlockMeta>,
}

/// Where one token row goes.
pub struct RowTarget<'a> {
    /// From the row's first pair: pair `j` of block `b` is at `b·block_stride + j·pair_stride`.
    pub ints: &'a mut [i16],
    /// From the row's first block: block `b` is at `b·meta_stride`.
    pub meta: &'a mut [BlockMeta],
    /// i16s between blocks.
    pub block_stride: usize,
    /// i16s between pairs.
    pub pair_stride: usize,
    /// Entries between blocks.
    pub meta_stride: usize,
}

/// Up to [`GROUP_ROWS`] token rows.
#[derive(Clone, Copy)]
pub struct Group<'a> {
    pub ints: &'a [i16],
    pub meta: &'a [BlockMeta],
    /// Token rows in it.
    pub rows: usize,
    /// Blocks of a row.
    pub blocks: usize,
}

impl Activations {
    /// Makes room for `rows × cols`, `panel` rows a panel.
    pub fn reset(&mut self, rows: usize, cols: usize, panel: usize) {
        self.rows = rows;
        self.panel = panel;
        self.blocks = cols.div_ceil(BLOCK);
        let ints = rows * self.blocks * BLOCK;
        if self.ints.len() < ints {
            self.ints.resize(ints, 0);
        }
        if self.meta.len() < rows * self.blocks {
            self.meta.resize(rows * self.blocks, BlockMeta::default());
        }
    }

    /// Groups of token rows.
    pub fn groups(&self) -> usize {
        self.rows.div_ceil(GROUP_ROWS)
    }

    fn rows_of(&self, group: usize) -> usize {
        GROUP_ROWS.min(self.rows - group * GROUP_ROWS)
    }

    /// A group to read.
    pub fn group(&self, group: usize) -> Group<'_> {
        let rows = self.rows_of(group);
        let first = group * GROUP_ROWS * self.blocks;
        Group {
            ints: &self.ints[first * BLOCK..(first + rows * self.blocks) * BLOCK],
            meta: &self.meta[first..first + rows * self.blocks],
            rows,
            blocks: self.blocks,
        }
    }

    /// The place of one row.
    ///
    /// # Safety
    /// No other reference to this row may exist meanwhile; different rows may be written by
    /// different threads.
    pub unsafe fn row_target(&self, row: usize) -> RowTarget<'_> {
        let (group, row) = (row / GROUP_ROWS, row % GROUP_ROWS);
        let rows = self.rows_of(group);
        assert!(row < rows, "outside the activations");
        let first = group * GROUP_ROWS * self.blocks;
        let panel = row / self.panel;
        let panel_rows = self.panel.min(rows - panel * self.panel);
        let in_block = panel * self.panel * BLOCK + row % self.panel * 2;
        let ints = &self.ints[first * BLOCK + in_block..(first + rows * self.blocks) * BLOCK];
        let meta = &self.meta[first + row..first + rows * self.blocks];
        // SAFETY: the slices exist; writers of other rows touch other elements of them, and this
        // row's are exclusive by contract.
        let (ints, meta) = unsafe {
            (
                std::slice::from_raw_parts_mut(ints.as_ptr().cast_mut(), ints.len()),
                std::slice::from_raw_parts_mut(meta.as_ptr().cast_mut(), meta.len()),
            )
        };
        RowTarget {
            ints,
            meta,
            block_stride: rows * BLOCK,
            pair_stride: panel_rows * 2,
            meta_stride: rows,
        }
    }
}
