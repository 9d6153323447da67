//! Matrices of a model on their way to the device, each once: which lie together, and how they get there.

use super::groups::weight;
use super::many::own_kernel;
use super::matmul::MatrixForm;
use super::pack::{BLOCK, FileForm, TILE_ROWS};
use super::parts::{
    PADDING, back, block_scales, column_bytes, column_step, form_of, is_transposed, not_finite,
    row_bytes, tables, tile_step,
};
use super::placement::Placement;
use super::product_outputs::outputs;
use super::staging::{Launch, Part, Staging, Then};
use super::weights::GpuMatrix;
use crate::formats::{Bytes, Format, Weight};
use crate::gpu::constants::pack_dense;
use crate::gpu::{Args, Device, DeviceBuffer};
use crate::step::MatrixId;
use crate::{Error, Result};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Teams of a block of `hip/ops/pack/pack.h`.
const TEAMS: usize = pack_dense::TEAMS;

/// Which matrices lie together: how, and in which order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    pub matrices: Vec<MatrixId>,
    /// Tile by tile; else one after the other.
    pub interleaved: bool,
}

/// A tile: `row` is the first of its rows in the matrix (a place in the key's list).
#[derive(Debug, Clone, Copy)]
pub struct Tile {
    pub matrix: usize,
    pub row: usize,
}

/// Matrices of a key whose rows lie in the same bytes, on their way to `data`.
struct Lot<'a> {
    key: &'a Key,
    form: MatrixForm,
    weights: &'a [&'a Weight],
    which: std::ops::Range<usize>,
    data: &'a DeviceBuffer,
}

/// What a launch takes: rows from `row` on, and the numbers that rows and columns have each of their own.
struct Cut {
    row: usize,
    rows: usize,
    tiles: usize,
    numbers: Vec<(&'static str, usize)>,
    /// What the kernel calls biases.
    biases: &'static str,
    blocks: usize,
}

pub struct Matrices<'a> {
    device: &'a Arc<Device>,
    weights: &'a [Weight],
    made: HashMap<Key, Arc<GpuMatrix>>,
    placement: &'a Placement,
    /// Has a bound of the absolute values for each weight.
    pub staging: Staging<'a>,
}

impl<'a> Matrices<'a> {
    pub fn new(
        device: &'a Arc<Device>,
        weights: &'a [Weight],
        placement: &'a Placement,
        staging: Staging<'a>,
    ) -> Matrices<'a> {
        Matrices {
            device,
            weights,
            made: HashMap::new(),
            placement,
            staging,
        }
    }

    pub fn device(&self) -> &'a Arc<Device> {
        self.device
    }

    pub fn weights(&self) -> &'a [Weight] {
        self.weights
    }

    fn weight(&self, id: MatrixId) -> Result<&'a Weight> {
        weight(self.weights, id)
    }

    fn form(&self, id: MatrixId) -> Result<MatrixForm> {
        form_of(self.weight(id)?)
    }

    /// What each tile of the matrices together holds.
    pub fn tiles(&self, key: &Key) -> Result<Vec<Tile>> {
        let mut lists = Vec::new();
        for (matrix, id) in key.matrices.iter().enumerate() {
            let rows = (0..self.weight(*id)?.rows).step_by(TILE_ROWS);
            lists.push(rows.map(|row| Tile { matrix, row }).collect::<Vec<_>>());
        }
        if !key.interleaved {
            return Ok(lists.concat());
        }
        let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
        let places = (0..longest).flat_map(|i| lists.iter().map(move |list| list.get(i).copied()));
        places
            .map(|tile| tile.ok_or_else(|| Error::Internal("gate and up differ in rows".into())))
            .collect()
    }

    /// How many matrices a launch may take.
    pub fn outputs(&self) -> usize {
        outputs(self.device.facts())
    }

    /// The matrices of a key, which are on their way to the device afterwards.
    pub fn matrix(&mut self, key: Key) -> Result<Arc<GpuMatrix>> {
        if let Some(made) = self.made.get(&key) {
            return Ok(made.clone());
        }
        let weights = key.matrices.iter().map(|id| self.weight(*id));
        let weights: Vec<&Weight> = weights.collect::<Result<_>>()?;
        let (Some(first), Some(id)) = (weights.first(), key.matrices.first()) else {
            return Err(Error::Internal("a product without matrices".into()));
        };
        let (form, cols) = (self.form(*id)?, first.cols);
        let tiles = self.tiles(&key)?;
        let facts = self.device.facts();
        if form.rows_at_once(facts, cols, tiles.len()) == 0
            && own_kernel(self.device, form, cols).is_none()
        {
            return Err(Error::Unsupported(format!(
                "{}: {cols} columns need more local memory than the {} KiB of {}",
                first.name,
                facts.lds_bytes >> 10,
                facts.name
            )));
        }
        let bytes = (tiles.len() * form.tile_bytes(cols)) as u64;
        let data = match self.placement.is_in_host(&key) {
            true => self.device.alloc_mapped(bytes)?,
            false => self.device.alloc(bytes)?,
        };
        // Matrices whose rows lie by turns in the same bytes are copied once.
        let mut at = 0;
        while let Some(first) = weights.get(at) {
            let more = weights[at + 1..]
                .iter()
                .take_while(|w| are_together(first, w));
            let count = 1 + more.count();
            let lot = Lot {
                key: &key,
                form,
                weights: &weights,
                which: at..at + count,
                data: &data,
            };
            match is_transposed(first.format) {
                true => self.columns(&lot, first)?,
                false => {
                    self.rows(&lot, first, 0)?;
                    if let Some(more) = &first.more {
                        self.rows(&lot, more, first.own_rows())?;
                    }
                }
            }
            for weight in &weights[at..at + count] {
                self.staging.finished(weight.byte_len() as u64);
            }
            at += count;
        }
        let made = Arc::new(GpuMatrix {
            form,
            data,
            cols,
            tiles: tiles.len(),
            back: OnceLock::new(),
        });
        self.made.insert(key, made.clone());
        Ok(made)
    }

    /// Takes a lot to the device, some rows a piece; `weight` is its first, or the rows of it from `begin` on.
    fn rows(&mut self, lot: &Lot<'_>, weight: &Weight, begin: usize) -> Result<()> {
        let (sizes, turns, own) = (row_bytes(weight)?, weight.turns, tables(weight.format));
        let step = tile_step(weight);
        let step_bytes = step * TILE_ROWS * turns * sizes.iter().sum::<usize>();
        let blocks_of = |tiles: usize| match lot.form {
            MatrixForm::Quant(form) => (tiles * (form.padded(weight.cols) / BLOCK)).div_ceil(TEAMS),
            MatrixForm::Dense(_) => tiles * TILE_ROWS,
        };
        let (mut row, all) = (0, weight.own_rows());
        while row < all {
            let left = (all - row).div_ceil(TILE_ROWS);
            let tiles = (self.steps(step_bytes, own.len())? * step).min(left);
            let rows = (tiles * TILE_ROWS).min(all - row);
            let mut parts = [None; 3];
            for (place, (part, bytes)) in parts.iter_mut().zip(file_parts(weight)).enumerate() {
                let (start, len) = (row * turns * sizes[place], rows * turns * sizes[place]);
                let content = match (place, bytes) {
                    (1, _) if !own.is_empty() => Part::Own(own.clone()),
                    (1, _) if matches!(weight.format, Format::Float8 { .. }) => {
                        block_scales(weight, row..row + rows)?
                    }
                    (_, Some(bytes)) if len > 0 => Part::File(bytes.clone(), start, len),
                    _ => continue,
                };
                *part = Some(self.staging.add(content)?);
            }
            for place in lot.which.clone() {
                let Some(weight) = lot.weights.get(place) else {
                    continue;
                };
                let mut reads = [None; 3];
                for ((read, part), size) in reads.iter_mut().zip(parts).zip(sizes) {
                    *read = part.map(|part| (part, weight.turn * weight.run * size));
                }
                let cut = Cut {
                    row: begin + row,
                    rows,
                    tiles,
                    numbers: vec![
                        ("stride", sizes[0]),
                        ("scale_stride", sizes[1]),
                        ("run", weight.run),
                        ("jump", weight.run * turns),
                    ],
                    biases: "biases",
                    blocks: blocks_of(tiles),
                };
                self.launch(lot, place, reads, cut)?;
            }
            row += rows;
        }
        Ok(())
    }

    /// The same of a transposed matrix, some columns of all rows a piece.
    fn columns(&mut self, lot: &Lot<'_>, weight: &Weight) -> Result<()> {
        let step = column_step(weight);
        let step_bytes = column_bytes(weight, step).iter().sum();
        let mut column = 0;
        while column < weight.cols {
            let left = (weight.cols - column).div_ceil(step);
            let steps = self.steps(step_bytes, 0)?.min(left);
            let count = (steps * step).min(weight.cols - column);
            let (starts, lens) = (column_bytes(weight, column), column_bytes(weight, count));
            let mut reads = [None; 3];
            for (place, (read, bytes)) in reads.iter_mut().zip(file_parts(weight)).enumerate() {
                if let Some(bytes) = bytes {
                    let part = Part::File(bytes.clone(), starts[place], lens[place]);
                    *read = Some((self.staging.add(part)?, 0));
                }
            }
            let tiles = weight.rows.div_ceil(TILE_ROWS);
            let cut = Cut {
                row: 0,
                rows: weight.rows,
                tiles,
                numbers: vec![("first", column), ("count", count)],
                biases: "zeros",
                blocks: (tiles * count.div_ceil(BLOCK)).div_ceil(TEAMS),
            };
            self.launch(lot, lot.which.start, reads, cut)?;
            column += count;
        }
        Ok(())
    }

    /// How many steps of so many bytes, with `own` bytes besides, fit the piece that is being collected, or the next.
    fn steps(&mut self, bytes: usize, own: usize) -> Result<usize> {
        let room = |staging: &Staging| staging.room().saturating_sub(PADDING + own) / bytes.max(1);
        if room(&self.staging) == 0 {
            self.staging.next_piece()?;
        }
        match room(&self.staging) {
            0 => {
                let room = self.staging.room();
                Err(Error::Internal(format!(
                    "a tile of {bytes} bytes does not fit a piece of {room}"
                )))
            }
            steps => Ok(steps),
        }
    }

    /// Queues the kernel that makes tiles of a part of a matrix.
    fn launch(
        &mut self,
        lot: &Lot<'_>,
        place: usize,
        reads: [Option<(usize, usize)>; 3],
        cut: Cut,
    ) -> Result<()> {
        let (Some(weight), Some(id)) = (lot.weights.get(place), lot.key.matrices.get(place)) else {
            return Ok(());
        };
        let file = FileForm::of(weight.format, lot.form);
        let (first, step) = match lot.key.interleaved {
            true => (
                cut.row / TILE_ROWS * lot.weights.len() + place,
                lot.weights.len(),
            ),
            false => {
                let before = lot.weights[..place]
                    .iter()
                    .map(|w| w.rows.div_ceil(TILE_ROWS));
                (before.sum::<usize>() + cut.row / TILE_ROWS, 1)
            }
        };
        let out = (first * lot.form.tile_bytes(weight.cols)) as u64;
        let mut args = Args::new().buffer("out", lot.data, out);
        let numbers = [
            ("rows", cut.rows),
            ("cols", weight.cols),
            ("tiles", cut.tiles),
            ("step", step),
        ];
        for (name, number) in numbers.into_iter().chain(cut.numbers) {
            args = args.u32(name, u32_of(number)?);
        }
        let args = args
            .u32("kind", file.kind)
            .u32("group", u32_of(file.group)?);
        self.staging.then(Then::Launch(Box::new(Launch {
            kernel: self.device.kernel(file.kernel)?,
            blocks: u32_of(cut.blocks)?,
            reads,
            names: ["data", "scales", cut.biases],
            peak: id.0,
            args,
        })));
        Ok(())
    }

    /// Waits until everything is on the device.
    ///
    /// # Errors
    /// `InvalidFile` if a weight is no finite number that has to be one.
    pub fn finish(mut self) -> Result<()> {
        self.staging.flush()?;
        let peaks = self.staging.peaks()?;
        for (key, matrix) in &self.made {
            let mut peak = 0.0f32;
            for id in &key.matrices {
                let most = peaks.get(id.0).copied().unwrap_or(0.0);
                if !most.is_finite() {
                    not_finite(self.weight(*id)?, matrix.form)?;
                }
                peak = peak.max(most);
            }
            matrix.back.get_or_init(|| back(peak));
        }
        Ok(())
    }
}

/// Whether rows of the weights lie by turns in the same bytes.
fn are_together(a: &Weight, b: &Weight) -> bool {
    let place = |bytes: &Bytes| (bytes.as_ptr(), bytes.len());
    a.turns > 1
        && (a.turns, a.run, a.rows) == (b.turns, b.run, b.rows)
        && place(&a.data) == place(&b.data)
}

/// The bytes of a weight in its file.
fn file_parts(weight: &Weight) -> [Option<&Bytes>; 3] {
    [
        Some(&weight.data),
        weight.scales.as_ref(),
        weight.biases.as_ref(),
    ]
}

fn u32_of(number: usize) -> Result<u32> {
    u32::try_from(number)
        .map_err(|_| Error::Unsupported(format!("a matrix too large for a GPU: {number}")))
}
