//! Activations as the quantized product takes them: 16-bit integers with one scale per 256 columns.
//!
//! 16 bits keep the product at f32-level accuracy (8 bits do not: they change tokens), at twice the
//! rate of f32 multiplies. A scale covers a *span* of blocks, so that the products apply it once a
//! span instead of once a block; not a whole row, in which one large element would cost all others
//! their bits. Token rows are taken in *groups* of up to [`GROUP_ROWS`], which stay in L2
//! while the tiles of a chunk use them, and a group in *panels* of the SIMD level's width:
//! `ints[group][block][panel][pair][row of panel][2]`, `meta[group][block][row of group]`, so that
//! the inner loops read memory in order.

use super::packed::BLOCK;
use super::shared::SharedVec;
use std::marker::PhantomData;
use std::ptr::NonNull;

/// Token rows of a group; a multiple of every level's panel. More rows share the work of unpacking a
/// tile; a block of them, with its sums, must stay in L1.
pub const GROUP_ROWS: usize = 132;

/// Blocks of a row that share a scale.
pub const SPAN: usize = 8;

/// The largest int. The high byte of `int + 128` and the low byte, both signed, are then the int:
/// `int = 256·high + low`.
pub const LARGEST: f32 = 32639.0;

/// Whether block `b` of a row of `blocks` is the last of its span.
#[inline(always)]
pub fn ends_span(b: usize, blocks: usize) -> bool {
    b % SPAN == SPAN - 1 || b + 1 == blocks
}

/// Facts about one block of 32 columns of one token row.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct BlockMeta {
    /// x = scale · int; the same in all blocks of a span.
    pub scale: f32,
    /// Sum of the 32 ints.
    pub sum: f32,
    /// Sum of the first 16 ints.
    pub sum_low: f32,
    /// Sum of the last 16 ints.
    pub sum_high: f32,
}

impl BlockMeta {
    /// From the scale and the sums of both halves.
    pub fn new(scale: f32, low: i32, high: i32) -> BlockMeta {
        BlockMeta {
            scale,
            sum: low as f32 + high as f32,
            sum_low: low as f32,
            sum_high: high as f32,
        }
    }
}

/// Quantized activations `[rows, cols]`.
#[derive(Debug, Default)]
pub struct Activations {
    rows: usize,
    blocks: usize,
    panel: usize,
    ints: SharedVec<i16>,
    bytes: SharedVec<Bytes>,
    meta: SharedVec<BlockMeta>,
}

/// The ints of a block as bytes, in an order that is the SIMD level's own.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub struct Bytes(pub [i8; 2 * BLOCK]);

impl Default for Bytes {
    fn default() -> Bytes {
        Bytes([0; 2 * BLOCK])
    }
}

/// Where one token row goes. Its elements are interleaved with other rows', so it holds pointers.
#[derive(Clone, Copy)]
pub struct RowTarget<'a> {
    /// The row's first pair; pair `j` of block `b` is at `b·block_stride + j·pair_stride`.
    ints: *mut i16,
    /// The row's first block; block `b` is at `b·meta_stride`.
    meta: *mut BlockMeta,
    /// The row's first block as bytes, if it is the only row.
    bytes: Option<NonNull<Bytes>>,
    blocks: usize,
    block_stride: usize,
    pair_stride: usize,
    meta_stride: usize,
    owner: PhantomData<&'a Activations>,
}

impl RowTarget<'_> {
    /// Stores a block: pairs of ints (even column in the low half) and its facts.
    #[inline(always)]
    pub fn put(&mut self, block: usize, pairs: &[u32; BLOCK / 2], meta: BlockMeta) {
        assert!(block < self.blocks, "outside the row");
        // SAFETY: `row_target` checked that all places of a row exist; this row's are exclusive by
        // its contract.
        unsafe {
            let to = self.ints.add(block * self.block_stride);
            for (j, &pair) in pairs.iter().enumerate() {
                to.add(j * self.pair_stride)
                    .cast::<u32>()
                    .write_unaligned(pair);
            }
            self.meta.add(block * self.meta_stride).write(meta);
        }
    }

    /// Where the block's bytes belong, if the row is the only one.
    #[inline(always)]
    pub fn bytes(&mut self, block: usize) -> Option<&mut Bytes> {
        assert!(block < self.blocks, "outside the row");
        // SAFETY: as `put`.
        self.bytes.map(|to| unsafe { to.add(block).as_mut() })
    }
}

/// Where four token rows go that lie side by side in a panel.
pub struct FourRowsTarget<'a>(RowTarget<'a>);

impl<'a> FourRowsTarget<'a> {
    /// Stores a block: for each pair of columns the four rows' pairs, and the rows' facts.
    #[inline(always)]
    pub fn put(&mut self, block: usize, pairs: &[[u32; 4]; BLOCK / 2], meta: [BlockMeta; 4]) {
        let to = &mut self.0;
        assert!(block < to.blocks, "outside the rows");
        // SAFETY: as `RowTarget::put`; the rows' places are neighbours.
        unsafe {
            let ints = to.ints.add(block * to.block_stride);
            for (j, &pairs) in pairs.iter().enumerate() {
                let at = ints.add(j * to.pair_stride).cast::<[u32; 4]>();
                at.write_unaligned(pairs);
            }
            let at = to.meta.add(block * to.meta_stride);
            at.cast::<[BlockMeta; 4]>().write(meta);
        }
    }

    /// The rows one by one.
    pub fn rows(self) -> [RowTarget<'a>; 4] {
        std::array::from_fn(|r| RowTarget {
            // SAFETY: as `put`.
            ints: unsafe { self.0.ints.add(2 * r) },
            // SAFETY: as `put`.
            meta: unsafe { self.0.meta.add(r) },
            ..self.0
        })
    }
}

/// Up to [`GROUP_ROWS`] token rows.
#[derive(Clone, Copy)]
pub struct Group<'a> {
    pub ints: &'a [i16],
    /// The blocks as bytes, of a single token row whose SIMD level makes them.
    pub bytes: &'a [Bytes],
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
        self.ints.grow(rows * self.blocks * BLOCK);
        self.meta.grow(rows * self.blocks);
        if rows == 1 {
            self.bytes.grow(self.blocks);
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
    ///
    /// # Safety
    /// Nobody writes its rows meanwhile.
    pub unsafe fn group(&self, group: usize) -> Group<'_> {
        let rows = self.rows_of(group);
        let first = group * GROUP_ROWS * self.blocks;
        let end = first + rows * self.blocks;
        let bytes = if self.rows == 1 { self.blocks } else { 0 };
        // SAFETY: by contract.
        unsafe {
            Group {
                ints: self.ints.read(first * BLOCK..end * BLOCK),
                bytes: self.bytes.read(0..bytes),
                meta: self.meta.read(first..end),
                rows,
                blocks: self.blocks,
            }
        }
    }

    /// The place of one row.
    ///
    /// # Safety
    /// Nobody else uses this row meanwhile; different rows may be written by different threads.
    pub unsafe fn row_target(&self, row: usize) -> RowTarget<'_> {
        let (group, row) = (row / GROUP_ROWS, row % GROUP_ROWS);
        let rows = self.rows_of(group);
        assert!(row < rows, "outside the activations");
        let first = group * GROUP_ROWS * self.blocks;
        let panel = row / self.panel;
        let panel_rows = self.panel.min(rows - panel * self.panel);
        let in_block = panel * self.panel * BLOCK + row % self.panel * 2;
        let (ints, ints_left) = self.ints.from(first * BLOCK + in_block);
        let (meta, meta_left) = self.meta.from(first + row);
        let (bytes, bytes_left) = self.bytes.from(0);
        let bytes = NonNull::new(bytes).filter(|_| self.rows == 1);
        let (block_stride, pair_stride) = (rows * BLOCK, panel_rows * 2);
        let last = self.blocks.saturating_sub(1);
        assert!(self.blocks == 0 || ints_left >= last * block_stride + 15 * pair_stride + 2);
        assert!(self.blocks == 0 || meta_left > last * rows);
        assert!(bytes.is_none() || bytes_left >= self.blocks);
        RowTarget {
            ints,
            meta,
            bytes,
            blocks: self.blocks,
            block_stride,
            pair_stride,
            meta_stride: rows,
            owner: PhantomData,
        }
    }

    /// The place of a row and the three after it, if they lie side by side.
    ///
    /// # Safety
    /// As `row_target`, for all four.
    pub unsafe fn four_rows_target(&self, row: usize) -> Option<FourRowsTarget<'_>> {
        let in_group = row % GROUP_ROWS;
        let together = self
            .panel
            .min(self.rows_of(row / GROUP_ROWS) - in_group / self.panel * self.panel);
        // SAFETY: by contract.
        (in_group % self.panel + 4 <= together)
            .then(|| FourRowsTarget(unsafe { self.row_target(row) }))
    }
}
