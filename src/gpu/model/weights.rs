//! A model's weights on a GPU, grouped as its schedule multiplies with them.

use super::groups::{groups, table_key};
use super::host::{HostExperts, HostForm, HostStack, choose};
use super::matmul::{FEW_ROWS, MatrixForm};
use super::matmul_memory::MOST_DENSE_ROWS;
use super::matrices::{Key, Matrices};
use super::pack::TILE_ROWS;
use super::parts::{expanded, tile_room};
use super::placement::Placement;
use super::plain::refusal;
use super::room::{Needs, Room};
use super::staging::{Load, Staging};
use super::wide::WIDEST_COLUMNS;
use crate::driver::{DeviceFacts, Platform};
use crate::formats::Weight;
use crate::gpu::{Device, DeviceBuffer};
use crate::step::{MatrixId, Product, Schedule, StateSize, Step};
use crate::{Error, Result, log};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Tiles of the largest dense matrix that NVIDIA's kernels for few rows take for more rows, too: a router.
const SMALL_TILES: usize = 32;

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

    /// Whether products of so many rows are by the kernels for few.
    pub(super) fn is_for_few(&self, facts: &DeviceFacts, rows: usize) -> bool {
        let is_dense = facts.platform == Platform::Cuda && self.form.is_in_pieces(self.cols);
        // Routers: too few rows for the matrix unit's blocks, and read again from the cache.
        let is_small = is_dense && self.tiles <= SMALL_TILES && rows <= MOST_DENSE_ROWS;
        (rows <= FEW_ROWS && self.few_rows(facts) > 0) || is_small
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
    /// Bytes of matrices in device memory.
    device_bytes: u64,
    /// The same in host memory.
    host_bytes: u64,
    /// The most columns of an up projection that is not fused with its gate.
    pub(super) up_columns: usize,
    /// Experts in host memory that the CPU computes.
    pub(super) host: Option<HostExperts>,
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

    /// Bytes of matrices in device memory and in host memory.
    pub fn placed(&self) -> (u64, u64) {
        (self.device_bytes, self.host_bytes)
    }

    /// Whether they are on an NVIDIA device.
    pub fn is_cuda(&self) -> bool {
        self.device.facts().platform == Platform::Cuda
    }

    /// Bytes that could be allocated on the device now.
    pub fn free_memory(&self) -> Option<u64> {
        Some(self.device.memory().ok()?.room())
    }

    /// Whether all of these weights fit on the device beside a forward state of this size, or none of them can be elsewhere.
    pub fn fit_beside(
        device: &Arc<Device>,
        schedule: &Schedule,
        matrices: &[Weight],
        vectors: &[Vec<f32>],
        threads: usize,
        state: &StateSize,
    ) -> Result<bool> {
        check(device, schedule)?;
        let load = load(matrices, vectors, threads)?;
        Needs::new(device, schedule, matrices, vectors, load)?.fit_beside(device, schedule, state)
    }

    /// Takes the weights that `schedule` uses to the device. The places in `matrices` and `vectors` are
    /// the ids of the schedule. `progress(bytes)` is called for each weight. `threads` read: 0 means one
    /// per CPU. What does not fit into `room` stays in host memory, where kernels read it over the bus.
    ///
    /// # Errors
    /// `OutOfMemory` before anything is copied if the weights that go to the device do not fit it.
    pub fn new(
        device: &Arc<Device>,
        schedule: &Schedule,
        matrices: &[Weight],
        vectors: &[Vec<f32>],
        threads: usize,
        room: Room,
        progress: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<GpuWeights> {
        check(device, schedule)?;
        let load = load(matrices, vectors, threads)?;
        let needs = Needs::new(device, schedule, matrices, vectors, load)?;
        let placement = needs.place(device, schedule, room)?;
        placement.tell(&device.facts().name, |key| {
            let first = key.matrices.first().and_then(|id| matrices.get(id.0));
            first.map_or(String::new(), |weight| weight.name.clone())
        });
        if let Some(what) = expanded(matrices)? {
            log::write(log::Level::Info, || {
                format!("codes out of grids take more memory on GPUs: {what}")
            });
        }
        with_staging(device, load, progress, |staging| {
            let mut loader = Loader {
                matrices: Matrices::new(device, matrices, &placement, staging),
                vectors,
            };
            let on_device = vectors.iter().map(|v| loader.vector(v));
            let on_device = on_device.collect::<Result<_>>()?;
            let mut launches = Vec::with_capacity(schedule.steps.len());
            let mut tables = HashMap::new();
            for step in &schedule.steps {
                launches.push(loader.step(step)?);
                if let Step::Embed { table, .. } = step {
                    tables.insert(*table, loader.matrices.matrix(table_key(*table))?);
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
            let (stacks, refused) = loader.in_host(schedule, &launches)?;
            loader.matrices.finish()?;
            Ok(GpuWeights {
                host: choose(device, schedule, stacks, refused, threads)?,
                device: device.clone(),
                vectors: on_device,
                norm_scales: vectors.iter().map(|v| norm_scale(v)).collect(),
                launches,
                hidden,
                tables,
                device_bytes: placement.device_bytes,
                host_bytes: placement.host_bytes,
                up_columns: needs.up_columns,
            })
        })
    }
}

/// What will come to the device, read by so many threads; 0: one per CPU.
fn load(matrices: &[Weight], vectors: &[Vec<f32>], threads: usize) -> Result<Load> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let rooms = matrices.iter().map(tile_room);
    let rooms = rooms.collect::<Result<Vec<_>>>()?;
    Ok(Load {
        threads: if threads == 0 { cpus } else { threads },
        total: matrices.iter().map(Weight::byte_len).sum::<usize>()
            + vectors.iter().map(|vector| vector.len() * 4).sum::<usize>(),
        largest: rooms.into_iter().max().unwrap_or(0),
        peaks: matrices.len(),
    })
}

/// Gives `body` a staging for these weights; its threads end with it.
fn with_staging<'a, R>(
    device: &'a Arc<Device>,
    load: Load,
    progress: &'a mut dyn FnMut(u64) -> Result<()>,
    body: impl FnOnce(Staging<'a>) -> Result<R>,
) -> Result<R> {
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
    let placement = Placement::default();
    let load = load(weights, &[], threads)?;
    let matrix = with_staging(device, load, &mut |_| Ok(()), |staging| {
        let mut matrices = Matrices::new(device, weights, &placement, staging);
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

/// Whether there are kernels for the model's steps and heads.
fn check(device: &Arc<Device>, schedule: &Schedule) -> Result<()> {
    if let Some(refusal) = refusal(schedule) {
        return Err(refusal);
    }
    let dims = schedule.states.iter().map(|shape| shape.head_dim);
    let dim = dims.max().unwrap_or(0);
    if dim > WIDEST_COLUMNS {
        return Err(Error::Unsupported(format!(
            "attention heads of {dim} columns: GPUs take at most {WIDEST_COLUMNS}, so {} cannot run this model; use \
             the CPU",
            device.facts().name
        )));
    }
    Ok(())
}

impl Loader<'_> {
    /// The launches of a step, one for each of its groups.
    fn step(&mut self, step: &Step) -> Result<Vec<Launch>> {
        let products: &[Product] = match step {
            Step::Matmul { products, .. } => products,
            Step::Experts(step) => &step.products,
            _ => return Ok(Vec::new()),
        };
        let mut launches = Vec::new();
        for group in groups(self.matrices.weights(), step, self.matrices.outputs())? {
            let part = products.get(group.first..group.first + group.count);
            let bias = self.bias(&group.key, part.unwrap_or_default())?;
            launches.push(Launch {
                matrix: self.matrices.matrix(group.key)?,
                first: group.first,
                count: group.count,
                bias,
                silu: group.silu,
            });
        }
        Ok(launches)
    }

    fn vector(&mut self, vector: &[f32]) -> Result<DeviceBuffer> {
        let bytes: &[u8] = bytemuck::cast_slice(vector);
        let device = self.matrices.device();
        let buffer = device.alloc(bytes.len().max(4) as u64)?;
        self.matrices.staging.fill(&buffer, bytes)?;
        Ok(buffer)
    }

    /// The stacks of experts in host memory that the CPU has kernels for, by step, and how many there are besides.
    fn in_host(
        &self,
        schedule: &Schedule,
        launches: &[Vec<Launch>],
    ) -> Result<(Vec<Option<HostStack>>, usize)> {
        let (mut stacks, mut refused) = (Vec::new(), 0);
        for (place, step) in schedule.steps.iter().enumerate() {
            stacks.push(None);
            let launch = launches.get(place).and_then(|all| all.first());
            let (Step::Experts(experts), Some(launch)) = (step, launch) else {
                continue;
            };
            let matrix = &launch.matrix;
            if matrix.data.host().is_none() {
                continue;
            }
            let form = match matrix.form {
                MatrixForm::Quant(form) => HostForm::new(form),
                MatrixForm::Dense(_) => None,
            };
            let Some(form) = form else {
                refused += 1;
                continue;
            };
            let group = groups(self.matrices.weights(), step, self.matrices.outputs())?
                .into_iter()
                .next();
            let bias = group.map(|group| self.bias_numbers(&group.key, &experts.products));
            let norm = experts.norm.and_then(|norm| {
                let weight = self.vectors.get(norm.weight.0)?;
                Some((weight.clone(), norm.eps))
            });
            stacks[place] = Some(HostStack {
                form,
                data: matrix.data.clone(),
                tiles: matrix.tiles / experts.experts.max(1),
                cols: matrix.cols,
                experts: experts.experts,
                is_gated: launch.silu,
                bias: bias.transpose()?.flatten(),
                norm,
                limit: experts.limit,
            });
        }
        Ok((stacks, refused))
    }

    /// The biases of products, if they have any, in the places of their tiles' rows.
    fn bias(&mut self, key: &Key, products: &[Product]) -> Result<Option<DeviceBuffer>> {
        match self.bias_numbers(key, products)? {
            Some(numbers) => self.vector(&numbers).map(Some),
            None => Ok(None),
        }
    }

    fn bias_numbers(&self, key: &Key, products: &[Product]) -> Result<Option<Vec<f32>>> {
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
        Ok(Some(all))
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
