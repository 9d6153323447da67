//! Activations as the quantized product takes them: 16-bit integers with one scale per 32 columns.
//!
//! 16 bits keep the product at f32-level accuracy (8 bits do not: they change tokens), at twice the
//! rate of f32 multiplies. Token rows are grouped in *panels* of up to `panel` rows, interleaved so
//! that the inner loop reads them in order: `ints[block][pair][row][2]`, `meta[block][row]`.

use super::packed::BLOCK;

/// Facts about one block of 32 columns of one token row.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct BlockMeta {
    /// x = scale · int.
    pub scale: f32,
    /// Sum of the 32 ints.
    pub sum: f32,
    /// Sum of the first 16 ints.
    pub sum_low: f32,
    /// Sum of the last 16 ints.
    pub sum_high: f32,
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
pub struct PanelRow<'a> {
    /// From the row's first pair; pairs lie `stride` pairs apart.
    pub ints: &'a mut [i16],
    /// From the row's first block; blocks lie `stride` entries apart.
    pub meta: &'a mut [BlockMeta],
    /// Rows of the panel.
    pub stride: usize,
}

/// A panel: up to `panel` token rows.
#[derive(Clone, Copy)]
pub struct Panel<'a> {
    pub ints: &'a [i16],
    pub meta: &'a [BlockMeta],
    /// Token rows in it.
    pub rows: usize,
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

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn panels(&self) -> usize {
        self.rows.div_ceil(self.panel)
    }

    /// Token rows before panel `panel`.
    pub fn first_row(&self, panel: usize) -> usize {
        panel * self.panel
    }

    fn rows_of(&self, panel: usize) -> usize {
        self.panel.min(self.rows - panel * self.panel)
    }

    /// A panel to read.
    pub fn panel(&self, panel: usize) -> Panel<'_> {
        let rows = self.rows_of(panel);
        let first = panel * self.panel * self.blocks;
        Panel {
            ints: &self.ints[first * BLOCK..(first + rows * self.blocks) * BLOCK],
            meta: &self.meta[first..first + rows * self.blocks],
            rows,
        }
    }

    /// The rows of a panel to write, one after another.
    ///
    /// # Safety
    /// No other reference to this panel may exist meanwhile; different panels may be written by
    /// different threads.
    pub unsafe fn write_panel(&self, panel: usize, mut row: impl FnMut(usize, PanelRow<'_>)) {
        let rows = self.rows_of(panel);
        let first = panel * self.panel * self.blocks;
        for r in 0..rows {
            let ints = self.ints[first * BLOCK..].as_ptr().cast_mut();
            let meta = self.meta[first..].as_ptr().cast_mut();
            // SAFETY: inside the panel's part of the vectors (`reset` sized them); exclusive by
            // this function's contract.
            let (ints, meta) = unsafe {
                (
                    std::slice::from_raw_parts_mut(
                        ints.add(2 * r),
                        rows * self.blocks * BLOCK - 2 * r,
                    ),
                    std::slice::from_raw_parts_mut(meta.add(r), rows * self.blocks - r),
                )
            };
            row(
                panel * self.panel + r,
                PanelRow {
                    ints,
                    meta,
                    stride: rows,
                },
            );
        }
    }
}
