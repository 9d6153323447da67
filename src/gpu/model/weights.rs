//! A model's weights on a GPU, grouped as its schedule multiplies with them.

use super::many::own_kernel;
use super::matmul::MatrixForm;
use super::pack::{PackForm, Scales, TILE_ROWS, pack_tile};
use super::plain::refusal;
use super::wide::WIDEST_DIM;
use crate::driver::DeviceFacts;
use crate::formats::{Format, RowGroups, ScalarType, Weight};
use crate::gpu::{Device, DeviceBuffer, Uploader};
use crate::step::{Epilogue, ExpertProducts, MatrixId, Product, Schedule, Step};
use crate::{Error, Result, log, panics};
use half::{bf16, f16};
use std::collections::HashMap;
use std::sync::Arc;

/// Bytes that are packed at a time, by all threads, before they are copied.
const PACK_BYTES: usize = 32 << 20;

/// One or more matrices of the same columns and form, one after the other or (gate and up)
/// interleaved tile by tile.
#[derive(Clone)]
pub struct GpuMatrix {
    pub form: MatrixForm,
    pub data: DeviceBuffer,
    pub cols: usize,
    /// Tiles of all matrices.
    pub tiles: usize,
    /// A power of two: weights divided by it stay below 8192.
    pub back: f32,
}

impl GpuMatrix {
    /// The most rows that one launch of the kernels for few rows takes; 0: none, those for many rows have to.
    pub(super) fn few_rows(&self, facts: &DeviceFacts) -> usize {
        self.form.rows_at_once(facts, self.cols, self.tiles)
    }
}

/// One launch of a matmul step.
#[derive(Clone)]
pub struct Launch {
    pub matrix: Arc<GpuMatrix>,
    /// First of the step's products that it computes.
    pub first: usize,
    /// How many of them.
    pub count: usize,
    /// `[tiles · 16]`.
    pub bias: Option<DeviceBuffer>,
    /// Gate and up in one.
    pub silu: bool,
}

/// A model's weights on a device. Immutable: any thread.
pub struct GpuWeights {
    pub(super) device: Arc<Device>,
    /// Norm weights and biases, f32.
    pub(super) vectors: Vec<DeviceBuffer>,
    /// What operands are divided by where each is a norm's weight (`norm_scale` of
    /// `hip/ops/matmul/operand.hip`).
    pub(super) norm_scales: Vec<f32>,
    /// Launches of each step of the schedule; empty for other steps.
    pub(super) launches: Vec<Vec<Launch>>,
    /// The same of the schedule for hidden states, if GPUs run it.
    pub(super) hidden: Option<Vec<Vec<Launch>>>,
    /// Tables that are gathered by token.
    pub(super) tables: HashMap<MatrixId, Arc<GpuMatrix>>,
}

/// Which matrices lie together: how, and in which order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    matrices: Vec<MatrixId>,
    interleaved: bool,
}

struct Loader<'a> {
    device: &'a Arc<Device>,
    matrices: &'a [Weight],
    made: HashMap<Key, Arc<GpuMatrix>>,
    uploader: Uploader,
    threads: usize,
    progress: &'a mut dyn FnMut(u64) -> Result<()>,
}

impl GpuWeights {
    /// The device's name and target.
    pub fn device_name(&self) -> String {
        let facts = self.device.facts();
        format!("{} ({})", facts.name, facts.arch)
    }

    /// Bytes that could be allocated on the device now.
    pub fn free_memory(&self) -> Option<u64> {
        let memory = self.device.memory().ok()?;
        let room = memory.limit.saturating_sub(memory.active);
        Some(memory.free.saturating_add(memory.cache).min(room))
    }

    /// Packs and copies the weights that `schedule` uses. The places in `matrices` and `vectors` are
    /// the ids of the schedule. `progress(bytes)` is called for each weight. `threads`: 0 means one
    /// per CPU.
    ///
    /// # Errors
    /// `OutOfMemory` before anything is copied if the weights do not fit the device.
    pub fn new(
        device: &Arc<Device>,
        schedule: &Schedule,
        matrices: &[Weight],
        vectors: &[Vec<f32>],
        threads: usize,
        progress: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<GpuWeights> {
        if let Some(refusal) = refusal(schedule) {
            return Err(refusal);
        }
        check_heads(device, schedule)?;
        fits(device, matrices)?;
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let mut loader = Loader {
            device,
            matrices,
            made: HashMap::new(),
            uploader: device.uploader()?,
            threads: if threads == 0 { cpus } else { threads },
            progress,
        };
        let on_device = vectors.iter().map(|v| loader.vector(v));
        let on_device = on_device.collect::<Result<_>>()?;
        let mut launches = Vec::with_capacity(schedule.steps.len());
        let mut tables = HashMap::new();
        for step in &schedule.steps {
            launches.push(loader.step(step, vectors)?);
            if let Step::Embed { table, .. } = step {
                let key = Key {
                    matrices: vec![*table],
                    interleaved: false,
                };
                tables.insert(*table, loader.matrix(key)?);
            }
        }
        // The same matrices: nothing is copied twice.
        let hidden = schedule.hidden.as_deref();
        let hidden = hidden.filter(|hidden| refusal(hidden).is_none());
        let hidden = hidden.map(|hidden| {
            let steps = hidden.steps.iter().map(|step| loader.step(step, vectors));
            steps.collect::<Result<Vec<_>>>()
        });
        let hidden = hidden.transpose()?;
        loader.uploader.finish()?;
        Ok(GpuWeights {
            device: device.clone(),
            vectors: on_device,
            norm_scales: vectors.iter().map(|v| norm_scale(v)).collect(),
            launches,
            hidden,
            tables,
        })
    }
}

/// Whether there are kernels for the model's heads.
fn check_heads(device: &Arc<Device>, schedule: &Schedule) -> Result<()> {
    let dims = schedule.states.iter().map(|shape| shape.head_dim);
    let dim = dims.max().unwrap_or(0);
    if dim > WIDEST_DIM {
        return Err(Error::Unsupported(format!(
            "attention heads of {dim} columns: GPUs take at most {WIDEST_DIM}, so {} cannot run this model; use \
             the CPU",
            device.facts().name
        )));
    }
    Ok(())
}

/// Whether the device has room for the weights, about: under its limit and beside other programs.
fn fits(device: &Arc<Device>, matrices: &[Weight]) -> Result<()> {
    let needed: u64 = matrices.iter().map(|w| w.byte_len() as u64).sum();
    let memory = device.memory()?;
    let left = memory.limit.saturating_sub(memory.active);
    let free = memory.free.saturating_add(memory.cache);
    if needed > left.min(free) {
        return Err(Error::OutOfMemory(format!(
            "the weights need {} MiB, {} has {} MiB free and {} MiB of its limit of {} MiB left: use a \
             smaller model or quantization, or the CPU",
            needed >> 20,
            device.facts().name,
            free >> 20,
            left >> 20,
            memory.limit >> 20
        )));
    }
    Ok(())
}

impl Loader<'_> {
    fn weight(&self, id: MatrixId) -> Result<&Weight> {
        self.matrices
            .get(id.0)
            .ok_or_else(|| Error::Internal("a step names a matrix that was not bound".into()))
    }

    fn form(&self, id: MatrixId) -> Result<MatrixForm> {
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

    /// The launches of a step: products of one form together, at most three.
    fn step(&mut self, step: &Step, vectors: &[Vec<f32>]) -> Result<Vec<Launch>> {
        let (products, epilogue) = match step {
            Step::Matmul {
                products, epilogue, ..
            } => (products, epilogue),
            Step::Experts(step) => return self.experts(step, vectors),
            _ => return Ok(Vec::new()),
        };
        let forms = products.iter().map(|p| self.form(p.weight));
        let forms: Vec<MatrixForm> = forms.collect::<Result<_>>()?;
        let silu = *epilogue == Epilogue::SwiGlu && forms.windows(2).all(|f| f[0] == f[1]);
        let mut launches = Vec::new();
        let mut first = 0;
        while first < products.len() {
            let same = forms[first..].iter().take_while(|f| **f == forms[first]);
            let count = same.count().min(3);
            let part = &products[first..first + count];
            let key = Key {
                matrices: part.iter().map(|p| p.weight).collect(),
                interleaved: silu,
            };
            let bias = self.bias(&key, part, vectors)?;
            launches.push(Launch {
                matrix: self.matrix(key)?,
                first,
                count,
                bias,
                silu,
            });
            first += count;
        }
        Ok(launches)
    }

    /// The stacks of a step with experts: gate and up interleaved, or one.
    fn experts(&mut self, step: &ExpertProducts, vectors: &[Vec<f32>]) -> Result<Vec<Launch>> {
        let matrices: Vec<MatrixId> = step.products.iter().map(|p| p.weight).collect();
        let forms = matrices.iter().map(|id| self.form(*id));
        let forms: Vec<MatrixForm> = forms.collect::<Result<_>>()?;
        let name = |id: &MatrixId| self.weight(*id).map(|weight| weight.name.clone());
        let names = matrices.iter().map(name).collect::<Result<Vec<_>>>()?;
        let refused = |what: &str| {
            let names = names.join(", ");
            Error::Unsupported(format!("{names}: on GPUs {what}; use the CPU"))
        };
        if !forms.windows(2).all(|pair| pair[0] == pair[1]) {
            return Err(refused("gate and up of experts must be in the same format"));
        }
        for id in &matrices {
            let rows = self.weight(*id)?.rows / step.experts.max(1);
            if !rows.is_multiple_of(TILE_ROWS) {
                return Err(refused(&format!(
                    "the {rows} rows of a matrix of a stack must be a multiple of {TILE_ROWS}"
                )));
            }
        }
        // Only their kernels have biases and a limit.
        let is_full = |form: &MatrixForm| match form {
            MatrixForm::Quant(form) => form.scales == Scales::Power,
            MatrixForm::Dense(_) => true,
        };
        let full = step.limit.is_some() || step.products.iter().any(|p| p.bias.is_some());
        if full && !forms.iter().all(is_full) {
            let what = "experts with biases or a limit must be in mxfp4 or unquantized";
            return Err(refused(what));
        }
        let (count, silu) = (matrices.len(), matrices.len() == 2);
        let key = Key {
            matrices,
            interleaved: silu,
        };
        let bias = self.bias(&key, &step.products, vectors)?;
        Ok(vec![Launch {
            matrix: self.matrix(key)?,
            first: 0,
            count,
            bias,
            silu,
        }])
    }

    fn vector(&mut self, vector: &[f32]) -> Result<DeviceBuffer> {
        let buffer = self.device.alloc((vector.len().max(1) * 4) as u64)?;
        let mut rest = vector.iter().flat_map(|v| v.to_le_bytes());
        self.uploader
            .write(&buffer, 0, (vector.len() * 4) as u64, |piece| {
                piece.fill_with(|| rest.next().unwrap_or(0));
                Ok(())
            })?;
        Ok(buffer)
    }

    /// The biases of products, if they have any, in the places of their tiles' rows.
    fn bias(
        &mut self,
        key: &Key,
        products: &[Product],
        vectors: &[Vec<f32>],
    ) -> Result<Option<DeviceBuffer>> {
        let bias = |p: &Product| p.bias.and_then(|id| vectors.get(id.0));
        let biases: Vec<Option<&Vec<f32>>> = products.iter().map(bias).collect();
        if biases.iter().all(Option::is_none) {
            return Ok(None);
        }
        let tiles = self.tiles(key)?;
        let mut all = vec![0.0f32; tiles.len() * TILE_ROWS];
        for (tile, to) in tiles.iter().zip(all.chunks_exact_mut(TILE_ROWS)) {
            if let Some(Some(bias)) = biases.get(tile.matrix) {
                let from = &bias[tile.row.min(bias.len())..];
                for (to, from) in to.iter_mut().zip(from) {
                    *to = *from;
                }
            }
        }
        self.vector(&all).map(Some)
    }

    /// What each tile of the matrices together holds.
    fn tiles(&self, key: &Key) -> Result<Vec<Tile>> {
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

    fn matrix(&mut self, key: Key) -> Result<Arc<GpuMatrix>> {
        if let Some(made) = self.made.get(&key) {
            return Ok(made.clone());
        }
        let weights = key.matrices.iter().map(|id| self.weight(*id).cloned());
        let weights: Vec<Weight> = weights.collect::<Result<_>>()?;
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
        let tile_bytes = form.tile_bytes(cols);
        let data = self.device.alloc((tiles.len() * tile_bytes) as u64)?;
        let chunk = (PACK_BYTES / tile_bytes).max(1);
        let mut packed = vec![0u8; chunk.min(tiles.len()) * tile_bytes];
        let mut peak = 0.0f32;
        for (at, tiles) in tiles.chunks(chunk).enumerate() {
            let packed = &mut packed[..tiles.len() * tile_bytes];
            let most = pack_all(form, &weights, tiles, tile_bytes, packed, self.threads)?;
            peak = peak.max(most);
            let mut rest = &*packed;
            let offset = (at * chunk * tile_bytes) as u64;
            self.uploader
                .write(&data, offset, packed.len() as u64, |piece| {
                    let (now, later) = rest.split_at(piece.len().min(rest.len()));
                    piece.copy_from_slice(now);
                    rest = later;
                    Ok(())
                })?;
        }
        for weight in &weights {
            weight.release();
            (self.progress)(weight.byte_len() as u64)?;
        }
        let made = Arc::new(GpuMatrix {
            form,
            data,
            cols,
            tiles: tiles.len(),
            back: back(peak),
        });
        self.made.insert(key, made.clone());
        Ok(made)
    }
}

/// A tile: `row` is the first of its rows in the matrix (a place in the key's list).
#[derive(Debug, Clone, Copy)]
struct Tile {
    matrix: usize,
    row: usize,
}

/// The power of two that brings `peak` below 8192, so that weights are neither large nor denormal as f16.
fn back(peak: f32) -> f32 {
    if !peak.is_normal() {
        return 1.0;
    }
    let exponent = peak.log2().floor() - 12.0;
    exponent.clamp(-60.0, 60.0).exp2()
}

/// The power of two that brings the largest number that a norm with this weight can give below 2^15.
fn norm_scale(weight: &[f32]) -> f32 {
    let most = weight.iter().fold(0.0f32, |most, w| most.max(w.abs()));
    let most = most * (weight.len() as f32).sqrt();
    if !most.is_normal() {
        return 1.0;
    }
    (most.log2().floor() - 14.0).clamp(-60.0, 60.0).exp2()
}

/// Packs tiles, in parallel. Gives a bound of the weights' absolute values.
fn pack_all(
    form: MatrixForm,
    weights: &[Weight],
    tiles: &[Tile],
    tile_bytes: usize,
    out: &mut [u8],
    threads: usize,
) -> Result<f32> {
    let share = tiles.len().div_ceil(threads.max(1)).max(1);
    std::thread::scope(|scope| {
        let workers: Vec<_> = tiles
            .chunks(share)
            .zip(out.chunks_mut(share * tile_bytes))
            .map(|(tiles, out)| {
                let pack = move || {
                    let mut groups = RowGroups::default();
                    let mut peak = 0.0f32;
                    for (tile, out) in tiles.iter().zip(out.chunks_exact_mut(tile_bytes)) {
                        let weight = &weights[tile.matrix];
                        peak = peak.max(pack_one(form, weight, tile.row, &mut groups, out)?);
                    }
                    Ok(peak)
                };
                scope.spawn(|| log::on_worker(|| panics::caught(pack)))
            })
            .collect();
        workers.into_iter().try_fold(0.0, |peak: f32, worker| {
            let done = worker.join().unwrap_or_else(|_| Err(String::new()));
            let failed = |panic| Error::Internal(format!("packing weights panicked: {panic}"));
            let most: f32 = done.map_err(failed)??;
            Ok(peak.max(most))
        })
    })
}

fn pack_one(
    form: MatrixForm,
    weight: &Weight,
    row: usize,
    groups: &mut RowGroups,
    out: &mut [u8],
) -> Result<f32> {
    out.fill(0);
    let place = |i: usize| (row + i < weight.rows).then_some((weight, row + i));
    match form {
        MatrixForm::Quant(form) => pack_tile(form, place, groups, out),
        MatrixForm::Dense(ty) => {
            let row_bytes = weight.cols * ty.bytes();
            let rows = TILE_ROWS.min(weight.rows - row);
            let from = weight
                .data
                .get(row * row_bytes..(row + rows) * row_bytes)
                .ok_or_else(|| Error::InvalidFile(format!("{}: too short", weight.name)))?;
            out[..from.len()].copy_from_slice(from);
            let values = from
                .chunks_exact(ty.bytes())
                .map(|bytes| match (ty, bytes) {
                    (ScalarType::F32, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]),
                    (ScalarType::F16, &[a, b]) => f16::from_le_bytes([a, b]).to_f32(),
                    (ScalarType::BF16, &[a, b]) => bf16::from_le_bytes([a, b]).to_f32(),
                    _ => 0.0,
                });
            Ok(values.fold(0.0, |peak: f32, v| peak.max(v.abs())))
        }
    }
}
