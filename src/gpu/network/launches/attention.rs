//! Attention over the squares, and scores.

use super::super::{Precision, missing};
use super::{Batch, THREADS};
use crate::Result;
use crate::driver::Platform;
use crate::gpu::Args;
use crate::gpu::constants::network_attention;
use crate::step::{ItemAttention, ItemSource};

/// The widest heads that go through the matrix units.
const WIDEST: usize = 64;
/// Rows and keys of attention by the matrix units.
const ROWS: usize = network_attention::MOST_ROWS;

impl Batch<'_> {
    pub(super) fn attention(
        &mut self,
        of: &ItemAttention,
        rows_first: bool,
        out: usize,
    ) -> Result<()> {
        let sizes = &of.sizes;
        let mut args = Args::new();
        let names = [
            ("q", ["q_", "q_head", "q_row"]),
            ("k", ["k_", "k_head", "k_row"]),
            ("v", ["v_", "v_head", "v_row"]),
        ];
        for (side, (name, [item, of_head, of_row])) in of.sides.iter().zip(names) {
            let &[_, head, row, column] = side.layout.strides.as_slice() else {
                return Err(missing("attention of another rank"));
            };
            let negative = head < 0 || row < 0;
            if negative || (column != 1 && side.layout.sizes.last() != Some(&1)) {
                return Err(missing("attention over columns that are no neighbours"));
            }
            args = self.of_item(self.place(args, name, side.buffer), item, side);
            args = args.u32(of_head, head as u32).u32(of_row, row as u32);
        }
        if let Some(mask) = &of.mask {
            self.only_whole(mask)?;
        }
        let mask = of.mask.as_ref().map(|mask| mask.buffer);
        let args = self.place_or_null(args, "bias", mask);
        let args = self
            .place(args, "out", out)
            .u32("heads", sizes.heads as u32)
            .u32("kv_heads", sizes.kv_heads as u32)
            .u32("rows", sizes.rows as u32)
            .u32("keys", sizes.keys as u32)
            .u32("dim", sizes.dim as u32)
            .u32("width", sizes.width as u32)
            .u32("rows_first", rows_first.into());
        let args = args.f32("scale", sizes.scale);
        let widest = sizes.dim.max(sizes.width);
        let tiles = sizes.rows == ROWS && sizes.keys == ROWS && widest <= WIDEST;
        let device = &self.network.device;
        let (kernel, threads) = match tiles && self.network.precision == Precision::F16 {
            true => {
                let wide = if widest > 32 { 64 } else { 32 };
                let nvidia = device.facts().platform == Platform::Cuda;
                let whole = sizes.dim == wide && sizes.width == wide && self.are_pieces(&of.sides);
                let form = if nvidia && whole { "warps_" } else { "" };
                let kernel = device.kernel(&format!("mlxrocm_network_attention_{form}{wide}"))?;
                (kernel, 4 * device.facts().wave_size)
            }
            false => (self.kernel("attention")?, ROWS as u32),
        };
        let sources = of.sides.iter().chain(&of.mask);
        let reads: Vec<usize> = sources.map(|source| source.buffer).collect();
        let grid = [sizes.heads as u32, self.items as u32, 1];
        self.launch(&kernel, grid, (threads, 0), args, &reads, &[out])
    }

    /// Rows of heads begin at multiples of 8 numbers.
    fn are_pieces(&self, sides: &[ItemSource]) -> bool {
        sides.iter().all(|side| {
            let counts = [self.network.plan.counts[side.buffer], side.layout.offset];
            let strides = side.layout.strides.iter().take(3);
            let mut all = strides.map(|stride| stride.unsigned_abs()).chain(counts);
            all.all(|n| n.is_multiple_of(8))
        })
    }

    pub(super) fn scores(
        &mut self,
        (a, b): (&ItemSource, &ItemSource),
        [rows, columns, cols]: [usize; 3],
        scale: f32,
        out: usize,
    ) -> Result<()> {
        let item = |x: &ItemSource| self.network.plan.counts[x.buffer];
        let places = [
            cols,
            rows,
            columns,
            item(a),
            item(b),
            a.layout.offset,
            b.layout.offset,
        ];
        let tiles = places.iter().all(|n| n.is_multiple_of(16));
        let args = self.place(self.place(Args::new(), "a", a.buffer), "b", b.buffer);
        let args = self.place(args, "out", out);
        let nvidia = self.network.device.facts().platform == Platform::Cuda;
        let board = rows == ROWS && columns == ROWS && cols.is_multiple_of(64);
        if tiles && board && nvidia && self.network.precision == Precision::F16 {
            let args = args.u32("cols", cols as u32);
            let args = self.of_item(self.of_item(args, "a_", a), "b_", b);
            let args = args.f32("scale", scale);
            let kernel = self.network.device.kernel("mlxrocm_network_scores_warps")?;
            let grid = [1, self.items as u32, 1];
            return self.launch(&kernel, grid, (128, 0), args, &[a.buffer, b.buffer], &[out]);
        }
        let args = args
            .u32("rows", rows as u32)
            .u32("columns", columns as u32)
            .u32("cols", cols as u32);
        let args = self.of_item(self.of_item(args, "a_", a), "b_", b);
        let args = args.f32("scale", scale);
        let reads = [a.buffer, b.buffer];
        match tiles && self.network.precision == Precision::F16 {
            true => {
                let device = &self.network.device;
                let kernel = device.kernel("mlxrocm_network_scores_tiles")?;
                let waves = (rows / 16 * columns.div_ceil(64)) as u32;
                let of_block = THREADS / device.facts().wave_size.max(1);
                let grid = [waves.div_ceil(of_block), self.items as u32, 1];
                self.launch(&kernel, grid, (THREADS, 0), args, &reads, &[out])
            }
            false => {
                let kernel = self.kernel("scores")?;
                self.by_elements(&kernel, rows * columns, args, &reads, out)
            }
        }
    }
}
