//! A model's weights on a GPU, grouped as its schedule multiplies with them.

use super::matmul::MatrixForm;
use super::matrices::{Key, Matrices};
use super::pack::{Scales, TILE_ROWS};
use super::parts::{device_bytes, expanded, tile_room};
use super::plain::refusal;
use super::staging::{Load, Staging};
use super::wide::WIDEST_DIM;
use crate::driver::DeviceFacts;
use crate::formats::Weight;
use crate::gpu::{Device, DeviceBuffer};
use crate::step::{Epilogue, ExpertProducts, MatrixId, Product, Schedule, Step};
use crate::{Error, Result, log};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// One or more matrices of the same columns and form, one after the other or (gate and up)
/// interleaved tile by tile.
#[derive(Clone)]
pub struct GpuMatrix {
    pub form: MatrixForm,
    pub data: DeviceBuffer,
    pub cols: usize,
    /// Tiles of all matrices.
    pub tiles: usize,
    /// See [`GpuMatrix::back`]; known when the weights are on the device.
    pub(super) back: OnceLock<f32>,
}

impl GpuMatrix {
    /// A power of two: weights divided by it stay below 8192.
    pub(super) fn back(&self) -> f32 {
        self.back.get().copied().unwrap_or(1.0)
    }

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

struct Loader<'a> {
    matrices: Matrices<'a>,
    vectors: &'a [Vec<f32>],
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

    /// Takes the weights that `schedule` uses to the device. The places in `matrices` and `vectors` are
    /// the ids of the schedule. `progress(bytes)` is called for each weight. `threads` read: 0 means one
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
        if let Some(what) = expanded(matrices)? {
            log::write(log::Level::Info, || {
                format!("codes out of grids take more memory on GPUs: {what}")
            });
        }
        with_staging(device, matrices, vectors, threads, progress, |staging| {
            let mut loader = Loader {
                matrices: Matrices::new(device, matrices, staging),
                vectors,
            };
            let on_device = vectors.iter().map(|v| loader.vector(v));
            let on_device = on_device.collect::<Result<_>>()?;
            let mut launches = Vec::with_capacity(schedule.steps.len());
            let mut tables = HashMap::new();
            for step in &schedule.steps {
                launches.push(loader.step(step)?);
                if let Step::Embed { table, .. } = step {
                    let key = Key {
                        matrices: vec![*table],
                        interleaved: false,
                    };
                    tables.insert(*table, loader.matrices.matrix(key)?);
                }
            }
            // The same matrices: nothing is copied twice.
            let hidden = schedule.hidden.as_deref();
            let hidden = hidden.filter(|hidden| refusal(hidden).is_none());
            let hidden = hidden.map(|hidden| {
                let steps = hidden.steps.iter().map(|step| loader.step(step));
                steps.collect::<Result<Vec<_>>>()
            });
            let hidden = hidden.transpose()?;
            loader.matrices.finish()?;
            Ok(GpuWeights {
                device: device.clone(),
                vectors: on_device,
                norm_scales: vectors.iter().map(|v| norm_scale(v)).collect(),
                launches,
                hidden,
                tables,
            })
        })
    }
}

/// Gives `body` a staging for these weights; its threads end with it.
fn with_staging<'a, R>(
    device: &'a Arc<Device>,
    matrices: &[Weight],
    vectors: &[Vec<f32>],
    threads: usize,
    progress: &'a mut dyn FnMut(u64) -> Result<()>,
    body: impl FnOnce(Staging<'a>) -> Result<R>,
) -> Result<R> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let rooms = matrices.iter().map(tile_room);
    let rooms = rooms.collect::<Result<Vec<_>>>()?;
    let load = Load {
        threads: if threads == 0 { cpus } else { threads },
        total: matrices.iter().map(Weight::byte_len).sum::<usize>()
            + vectors.iter().map(|vector| vector.len() * 4).sum::<usize>(),
        largest: rooms.into_iter().max().unwrap_or(0),
        peaks: matrices.len(),
    };
    std::thread::scope(|scope| body(Staging::new(scope, device, load, progress)?))
}

/// What lies in device memory of these matrices together, and the power of two of their bound: for tests.
#[doc(hidden)]
pub fn packed(
    device: &Arc<Device>,
    weights: &[Weight],
    interleaved: bool,
    threads: usize,
) -> Result<(Vec<u8>, f32)> {
    let matrix = with_staging(device, weights, &[], threads, &mut |_| Ok(()), |staging| {
        let mut matrices = Matrices::new(device, weights, staging);
        let key = Key {
            matrices: (0..weights.len()).map(MatrixId).collect(),
            interleaved,
        };
        let matrix = matrices.matrix(key)?;
        matrices.finish()?;
        Ok(matrix)
    })?;
    let mut bytes = vec![0; usize::try_from(matrix.data.len()).unwrap_or(0)];
    device.stream()?.copy_to_host(&matrix.data, 0, &mut bytes)?;
    Ok((bytes, matrix.back()))
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
    let bytes = matrices.iter().map(device_bytes);
    let needed = bytes.sum::<Result<usize>>()? as u64;
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
    /// The launches of a step: products of one form together, at most three.
    fn step(&mut self, step: &Step) -> Result<Vec<Launch>> {
        let (products, epilogue) = match step {
            Step::Matmul {
                products, epilogue, ..
            } => (products, epilogue),
            Step::Experts(step) => return self.experts(step),
            _ => return Ok(Vec::new()),
        };
        let forms = products.iter().map(|p| self.matrices.form(p.weight));
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
            let bias = self.bias(&key, part)?;
            launches.push(Launch {
                matrix: self.matrices.matrix(key)?,
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
    fn experts(&mut self, step: &ExpertProducts) -> Result<Vec<Launch>> {
        let matrices: Vec<MatrixId> = step.products.iter().map(|p| p.weight).collect();
        let forms = matrices.iter().map(|id| self.matrices.form(*id));
        let forms: Vec<MatrixForm> = forms.collect::<Result<_>>()?;
        let name = |id: &MatrixId| self.matrices.weight(*id).map(|weight| weight.name.clone());
        let names = matrices.iter().map(name).collect::<Result<Vec<_>>>()?;
        let refused = |what: &str| {
            let names = names.join(", ");
            Error::Unsupported(format!("{names}: on GPUs {what}; use the CPU"))
        };
        if !forms.windows(2).all(|pair| pair[0] == pair[1]) {
            return Err(refused("gate and up of experts must be in the same format"));
        }
        for id in &matrices {
            let rows = self.matrices.weight(*id)?.rows / step.experts.max(1);
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
        let bias = self.bias(&key, &step.products)?;
        Ok(vec![Launch {
            matrix: self.matrices.matrix(key)?,
            first: 0,
            count,
            bias,
            silu,
        }])
    }

    fn vector(&mut self, vector: &[f32]) -> Result<DeviceBuffer> {
        let bytes: &[u8] = bytemuck::cast_slice(vector);
        let device = self.matrices.device();
        let buffer = device.alloc(bytes.len().max(4) as u64)?;
        self.matrices.staging.fill(&buffer, bytes)?;
        Ok(buffer)
    }

    /// The biases of products, if they have any, in the places of their tiles' rows.
    fn bias(&mut self, key: &Key, products: &[Product]) -> Result<Option<DeviceBuffer>> {
        let bias = |p: &Product| p.bias.and_then(|id| self.vectors.get(id.0));
        let biases: Vec<Option<&Vec<f32>>> = products.iter().map(bias).collect();
        if biases.iter().all(Option::is_none) {
            return Ok(None);
        }
        let tiles = self.matrices.tiles(key)?;
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
