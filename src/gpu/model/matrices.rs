//! Matrices of a model on their way to the device, each once: which lie together, and how they get there.

use super::many::own_kernel;
use super::matmul::MatrixForm;
use super::pack::{BLOCK, FileForm, PackForm, Scales, TILE_ROWS};
use super::staging::{Launch, Part, Staging, Then};
use super::weights::GpuMatrix;
use crate::formats::{Bytes, Format, RowGroups, Weight};
use crate::gpu::{Args, Device, DeviceBuffer};
use crate::step::MatrixId;
use crate::{Error, Result};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Teams of a block of `hip/ops/pack/pack.h`.
const TEAMS: usize = 8;

/// Room that the parts of one launch take at most besides their bytes.
const PADDING: usize = 4 * 256;

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

pub struct Matrices<'a> {
    device: &'a Arc<Device>,
    weights: &'a [Weight],
    made: HashMap<Key, Arc<GpuMatrix>>,
    /// Has a bound of the absolute values for each weight.
    pub staging: Staging<'a>,
}

/// Bytes that a tile of a weight needs together in a piece.
pub fn tile_room(weight: &Weight) -> Result<usize> {
    let row: usize = weight.row_sizes()?.iter().sum();
    Ok(TILE_ROWS * weight.turns * row + PADDING)
}

impl<'a> Matrices<'a> {
    pub fn new(
        device: &'a Arc<Device>,
        weights: &'a [Weight],
        staging: Staging<'a>,
    ) -> Matrices<'a> {
        Matrices {
            device,
            weights,
            made: HashMap::new(),
            staging,
        }
    }

    pub fn device(&self) -> &'a Arc<Device> {
        self.device
    }

    pub fn weight(&self, id: MatrixId) -> Result<&'a Weight> {
        self.weights
            .get(id.0)
            .ok_or_else(|| Error::Internal("a step names a matrix that was not bound".into()))
    }

    pub fn form(&self, id: MatrixId) -> Result<MatrixForm> {
        let weight = self.weight(id)?;
        let format = weight.format;
        Ok(match (format, format.group_form()) {
            (_, Some(form)) => MatrixForm::Quant(PackForm::of(form).ok_or_else(|| {
                Error::Unsupported(format!(
                    "tensor {}: {format} weights run on the CPU only so far: choose it, or another \
                     quantization",
                    weight.name
                ))
            })?),
            (Format::Dense(ty), None) => MatrixForm::Dense(ty),
            (format, None) => {
                return Err(Error::Internal(format!(
                    "{format} has no form on the device"
                )));
            }
        })
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
        let data = self
            .device
            .alloc((tiles.len() * form.tile_bytes(cols)) as u64)?;
        // Matrices whose rows lie by turns in the same bytes are copied once.
        let mut at = 0;
        while let Some(first) = weights.get(at) {
            let more = weights[at + 1..]
                .iter()
                .take_while(|w| are_together(first, w));
            let count = 1 + more.count();
            self.rows(&key, form, &weights, at..at + count, &data)?;
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

    /// Takes some matrices of a key, whose rows lie in the same bytes, to `data`.
    fn rows(
        &mut self,
        key: &Key,
        form: MatrixForm,
        weights: &[&Weight],
        which: std::ops::Range<usize>,
        data: &DeviceBuffer,
    ) -> Result<()> {
        let Some(weight) = weights.get(which.start) else {
            return Ok(());
        };
        let none = || Error::Internal(format!("{} has no kernel that loads it", weight.format));
        let file = FileForm::of(weight.format, form).ok_or_else(none)?;
        let kernel = self.device.kernel(file.kernel)?;
        let (sizes, turns) = (weight.row_sizes()?, weight.turns);
        let tile_file_bytes = TILE_ROWS * turns * sizes.iter().sum::<usize>();
        let blocks_of = |tiles: usize| match form {
            MatrixForm::Quant(form) => (tiles * (form.padded(weight.cols) / BLOCK)).div_ceil(TEAMS),
            MatrixForm::Dense(_) => tiles * TILE_ROWS,
        };
        let mut row = 0;
        while row < weight.rows {
            let left = (weight.rows - row).div_ceil(TILE_ROWS);
            let room =
                |staging: &Staging| staging.room().saturating_sub(PADDING) / tile_file_bytes.max(1);
            if room(&self.staging) == 0 {
                self.staging.next_piece()?;
            }
            let tiles = room(&self.staging).min(left);
            if tiles == 0 {
                let room = self.staging.room();
                return Err(Error::Internal(format!(
                    "a tile of {tile_file_bytes} bytes does not fit a piece of {room}"
                )));
            }
            let rows = (tiles * TILE_ROWS).min(weight.rows - row);
            let mut parts = [None; 3];
            let bytes = [
                Some(&weight.data),
                weight.scales.as_ref(),
                weight.biases.as_ref(),
            ];
            for ((part, bytes), size) in parts.iter_mut().zip(bytes).zip(sizes) {
                if let Some(bytes) = bytes.filter(|_| size > 0) {
                    let (start, len) = (row * turns * size, rows * turns * size);
                    *part = Some(self.staging.add(Part::File(bytes.clone(), start, len))?);
                }
            }
            for place in which.clone() {
                let (Some(weight), Some(id)) = (weights.get(place), key.matrices.get(place)) else {
                    continue;
                };
                let (first, step) = match key.interleaved {
                    true => (row / TILE_ROWS * weights.len() + place, weights.len()),
                    false => {
                        let before = weights[..place].iter().map(|w| w.rows.div_ceil(TILE_ROWS));
                        (before.sum::<usize>() + row / TILE_ROWS, 1)
                    }
                };
                let mut reads = [None; 3];
                for ((read, part), size) in reads.iter_mut().zip(parts).zip(sizes) {
                    *read = part.map(|part| (part, weight.turn * size));
                }
                let numbers = [
                    rows,
                    weight.cols,
                    tiles,
                    step,
                    turns * sizes[0],
                    turns * sizes[1],
                ];
                let out = (first * form.tile_bytes(weight.cols)) as u64;
                let mut args = Args::new().buffer(data, out);
                for number in numbers {
                    args = args.u32(u32_of(number)?);
                }
                let args = args.u32(file.kind).u32(u32_of(file.group)?);
                self.staging.then(Then::Launch(Launch {
                    kernel: kernel.clone(),
                    blocks: u32_of(blocks_of(tiles))?,
                    reads,
                    peak: id.0,
                    args,
                }));
            }
            row += rows;
        }
        for weight in &weights[which] {
            self.staging.finished(weight.byte_len() as u64);
        }
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
                    all_finite(self.weight(*id)?, matrix.form)?;
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
    a.turns > 1 && a.turns == b.turns && a.rows == b.rows && place(&a.data) == place(&b.data)
}

/// Looks for a scale that is no finite number, where there must be none: powers of two have one byte that is none.
fn all_finite(weight: &Weight, form: MatrixForm) -> Result<()> {
    let is_power = matches!(form, MatrixForm::Quant(form) if form.scales == Scales::Power);
    let mut groups = RowGroups::default();
    let rows = if is_power { weight.rows } else { 0 };
    (0..rows).try_for_each(|row| weight.read_groups(row, &mut groups))
}

/// The power of two that brings `peak` below 8192, so that weights are neither large nor denormal as f16.
fn back(peak: f32) -> f32 {
    if !peak.is_normal() {
        return 1.0;
    }
    let exponent = peak.log2().floor() - 12.0;
    exponent.clamp(-60.0, 60.0).exp2()
}

fn u32_of(number: usize) -> Result<u32> {
    u32::try_from(number)
        .map_err(|_| Error::Unsupported(format!("a matrix too large for a GPU: {number}")))
}
