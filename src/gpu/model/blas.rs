//! Which products of a model go to the vendor's BLAS: where it was timed to be faster on this device,
//! what goes before and after it counted in.

use super::executor::GpuExecutor;
use super::inputs::Bucket;
use super::many::{Outputs, own_kernel};
use super::matmul::{MatrixForm, operand_stride, scalar_name};
use super::pack::TILE_ROWS;
use super::record::Recorder;
use super::recorded::Recorded;
use super::weights::{GpuMatrix, GpuWeights, Launch};
use crate::formats::ScalarType;
use crate::gpu::blas::{Choice, WRONG};
use crate::gpu::{BlasPolicy as Policy, Device, DeviceBuffer, Program, ProgramMode};
use crate::step::{BufferId, Rows, Schedule, Step};
use crate::{Error, Result, log};
use half::f16;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Products of fewer rows are not worth the decoding of a matrix, nor looking for a library.
const BLAS_ROWS: usize = 128;

/// Runs of each way; the fastest counts.
const RUNS: usize = 3;

/// About so many rows of a product are compared.
const COMPARED: usize = 64;

/// f16 numbers between -1 and 1, as bytes: those of other rows are others.
fn f16_numbers() -> impl Iterator<Item = [u8; 2]> {
    let mut state = 0x2545_F491u32;
    std::iter::from_fn(move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let number = (state >> 8) as f32 / 8_388_608.0 - 1.0;
        Some(f16::from_f32(number).to_le_bytes())
    })
}

/// Whether a BLAS gave what our own kernel gave: products of f16 summed in f32 differ by the order of the sums only.
fn agree(found: &[f32], expected: &[f32]) -> bool {
    let squares: f64 = expected.iter().map(|&x| f64::from(x).powi(2)).sum();
    let size = (squares / expected.len().max(1) as f64).sqrt();
    let near = |(found, expected): (&f32, &f32)| f64::from(found - expected).abs() <= 2e-3 * size;
    // Neither is what is not a number.
    found.len() == expected.len() && found.iter().zip(expected).all(near)
}

/// What lies between our kernels and the BLAS. Shared by all products of a state.
pub struct Scratch {
    /// A matrix as rows of f16.
    pub weights: DeviceBuffer,
    /// `[rows][tiles · 16]` f32.
    pub sums: DeviceBuffer,
}

impl Scratch {
    /// Room for each of the products with `rows` rows: a quarter of the memory that is left at most.
    fn new(device: &Arc<Device>, products: &Products, rows: usize) -> Result<Scratch> {
        let matrices = || products.values();
        let outs = |matrix: &Arc<GpuMatrix>| matrix.tiles * TILE_ROWS;
        let weights = matrices()
            .filter(|matrix| matrix.form != MatrixForm::Dense(ScalarType::F16))
            .map(|matrix| outs(matrix) * matrix.cols * 2);
        let weights = weights.max().unwrap_or(0).max(4) as u64;
        let sums = (matrices().map(outs).max().unwrap_or(0) * rows * 4) as u64;
        let left = device.memory()?.room();
        if weights + sums > left / 4 {
            return Err(Error::OutOfMemory(format!(
                "it needs {} MiB beside the model, of {} MiB that are left",
                (weights + sums) >> 20,
                left >> 20
            )));
        }
        Ok(Scratch {
            weights: device.alloc(weights)?,
            sums: device.alloc(sums)?,
        })
    }
}

/// Products that a BLAS can compute, a matrix for each name.
type Products = BTreeMap<String, Arc<GpuMatrix>>;

/// What is kept about products is kept by this: their form and shape, and about how many rows.
fn name(matrix: &GpuMatrix, rows: usize) -> String {
    let form = match matrix.form {
        MatrixForm::Quant(form) => form.name(),
        MatrixForm::Dense(ty) => scalar_name(ty).into(),
    };
    let (cols, outs) = (matrix.cols, matrix.tiles * TILE_ROWS);
    format!("{form} {cols}x{outs} rows {}", rows.next_power_of_two())
}

/// Whether a BLAS can compute a launch's product. Not for the rows that logits are wanted of: they are few,
/// but where they are not, the vocabulary's matrix, the largest by far, would have to be decoded.
fn is_possible(schedule: &Schedule, launch: &Launch, x: BufferId) -> bool {
    let tokens = matches!(schedule.buffers[x.0].rows, Rows::Tokens);
    tokens && launch.matrix.cols.is_multiple_of(8)
}

fn products(weights: &GpuWeights, schedule: &Schedule, rows: usize) -> Products {
    let mut products = Products::new();
    for (step, launches) in schedule.steps.iter().zip(&weights.launches) {
        let Step::Matmul { x, .. } = step else {
            continue;
        };
        for launch in launches.iter().filter(|l| is_possible(schedule, l, *x)) {
            // Where there is no kernel to compare with, few rows at a time are multiplied.
            if own_kernel(&weights.device, launch.matrix.form, launch.matrix.cols).is_some() {
                products.insert(name(&launch.matrix, rows), launch.matrix.clone());
            }
        }
    }
    products
}

impl Recorder<'_> {
    /// Whether the BLAS computes a launch's product.
    pub(super) fn is_by_blas(&self, launch: &Launch, x: BufferId) -> bool {
        let (device, rows) = (&self.weights.device, self.rows(x));
        if rows < BLAS_ROWS || self.memory.scratch.is_none() {
            return false;
        }
        is_possible(self.schedule, launch, x)
            && device.blas().is_some()
            && device.blas_choice(&name(&launch.matrix, rows)) == Some(true)
    }
}

impl GpuExecutor {
    /// Before a bucket is recorded: finds out which of its products go to the BLAS, and gets the memory for
    /// them. May wait for the stream, and for the library to load.
    pub(super) fn prepare_blas(&mut self, bucket: Bucket) -> Result<()> {
        if bucket.rows < BLAS_ROWS {
            return Ok(());
        }
        let device = self.weights.device.clone();
        let products = products(&self.weights, &self.schedule, bucket.rows);
        if products.is_empty() {
            return Ok(());
        }
        let choice = |name: &String| device.blas_choice(name);
        let is_own = || products.keys().all(|name| choice(name) == Some(false));
        // Before the library is opened, and then about the one that was.
        if is_own() {
            return Ok(());
        }
        // What is not known is not tried everywhere.
        let is_known = || products.keys().any(|name| choice(name) == Some(true));
        if device.blas_policy() == Policy::Auto && !is_known() && !device.tries_blas() {
            return Ok(());
        }
        let Some(blas) = device.blas() else {
            return Ok(());
        };
        if is_own() {
            return Ok(());
        }
        let is_unknown = |name: &String| choice(name).is_none() && device.tries_blas();
        let unknown = products.iter().filter(|(name, _)| is_unknown(name));
        let unknown: Vec<_> = unknown.collect();
        let prepared = match unknown[..] {
            [] => self.get_scratch(&device, &products),
            _ => device.on_trial(blas, || {
                self.get_scratch(&device, &products)?;
                unknown.iter().try_for_each(|(name, matrix)| {
                    let choice = self.try_both(bucket, matrix)?;
                    device.choose_blas(blas, name, choice);
                    Ok(())
                })
            }),
        };
        let in_use = self.programs.values().any(Recorded::multiplies);
        if !in_use && (prepared.is_err() || products.keys().all(|name| choice(name) != Some(true)))
        {
            self.memory.scratch = None;
        }
        match prepared {
            Err(Error::OutOfMemory(reason)) => {
                log::write(log::Level::Info, || {
                    format!("BLAS: not for prompts of {} tokens: {reason}", bucket.rows)
                });
                Ok(())
            }
            // It failed, which is logged, and is not used any more.
            Err(_) if device.blas().is_none() => Ok(()),
            prepared => prepared,
        }
    }

    fn get_scratch(&mut self, device: &Arc<Device>, products: &Products) -> Result<()> {
        if self.memory.scratch.is_none() {
            let scratch = Scratch::new(device, products, self.memory.max_rows)?;
            self.stream.open_blas()?;
            self.memory.scratch = Some(scratch);
        }
        Ok(())
    }

    /// Computes a product both ways, compares what comes out, and times them.
    fn try_both(&mut self, bucket: Bucket, matrix: &GpuMatrix) -> Result<Choice> {
        // Waits for the stream, and would take what a step that is queued came to.
        self.turns.settle(&self.stream);
        let (rows, memory) = (bucket.rows, &self.memory);
        let Some(scratch) = &memory.scratch else {
            return Err(Error::Internal("a BLAS has no memory".into()));
        };
        // Steps leave nothing in these for each other.
        self.stream
            .fill(&memory.scales, 0, memory.scales.len(), 0x3C)?;
        let operand = (rows * operand_stride(matrix.cols) * 2) as u64;
        let numbers: Vec<u8> = f16_numbers()
            .take((operand / 2) as usize)
            .flatten()
            .collect();
        self.stream.copy_to_device(&memory.operand, 0, &numbers)?;
        let device = &self.weights.device;
        let own = device.record(|encoder| {
            let Some((kernel, operand)) = own_kernel(device, matrix.form, matrix.cols) else {
                return Err(Error::Internal("a product without a kernel".into()));
            };
            let to = Outputs::plain(&scratch.sums, matrix, rows);
            let mut recorder = self.recorder(encoder, bucket)?;
            recorder.matmul_kernel(matrix, rows, &kernel, operand, to)
        })?;
        let blas = device.record(|encoder| {
            let to = Outputs::plain(&scratch.sums, matrix, rows);
            self.recorder(encoder, bucket)?
                .matmul_blas(matrix, rows, to)
        })?;
        let expected = self.results(&own, matrix, rows)?;
        let found = self.results(&blas, matrix, rows)?;
        // Sums that come in any order are another result each time.
        let is_steady = self.results(&blas, matrix, rows)? == found;
        let own = self.fastest(&own)?;
        Ok(match is_steady && agree(&found, &expected) {
            true => Choice {
                own,
                blas: self.fastest(&blas)?,
            },
            false => Choice { own, blas: WRONG },
        })
    }

    /// Some rows of what a program makes of a product, where nothing was before.
    fn results(&self, program: &Program, matrix: &GpuMatrix, rows: usize) -> Result<Vec<f32>> {
        let Some(scratch) = &self.memory.scratch else {
            return Err(Error::Internal("a BLAS has no memory".into()));
        };
        let width = matrix.tiles * TILE_ROWS;
        let bytes = (rows * width * 4) as u64;
        self.stream.fill(&scratch.sums, 0, bytes, 0xFF)?;
        program.run_as(&self.stream, ProgramMode::Direct)?;
        self.weights.device.wait_step(&self.stream)?;
        let (mut all, mut row) = (Vec::new(), vec![0u8; width * 4]);
        // The last one too.
        for at in (0..rows).step_by(rows.div_ceil(COMPARED)).chain([rows - 1]) {
            let offset = (at * width * 4) as u64;
            self.stream.copy_to_host(&scratch.sums, offset, &mut row)?;
            let numbers = row.chunks_exact(4);
            all.extend(numbers.map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])));
        }
        Ok(all)
    }

    /// The shortest time of a program on the device, after a run that loads what it needs.
    fn fastest(&self, program: &Program) -> Result<Duration> {
        let device = &self.weights.device;
        let (start, end) = (device.event()?, device.event()?);
        let mut shortest = Duration::MAX;
        for run in 0..=RUNS {
            self.stream.record(&start)?;
            program.run_as(&self.stream, ProgramMode::Direct)?;
            self.stream.record(&end)?;
            device.wait_step(&self.stream)?;
            if run > 0 {
                shortest = shortest.min(end.elapsed_since(&start)?);
            }
        }
        Ok(shortest)
    }
}
