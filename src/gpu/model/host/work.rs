//! Products of few rows with experts that lie in host memory, by the CPU's threads: each chosen matrix is read once, a row's
//! results do not depend on the other rows.

use super::form::{HostForm, Rows};
use super::tile::{HostKernels, Input, Scratch};
use crate::cpu::{Kernels, SharedVec, ThreadPool, kernels};
use crate::gpu::DeviceBuffer;
use crate::gpu::model::pack::TILE_ROWS;
use crate::{Error, Result, panics};
use parking_lot::Mutex;
use std::ops::Range;

/// Bytes of tiles that a worker takes at a time, about.
const CHUNK_BYTES: usize = 128 << 10;

/// A stack of matrices in host memory, one an expert, gate and up tile by tile.
pub struct HostStack {
    pub form: HostForm,
    pub data: DeviceBuffer,
    /// Tiles of an expert.
    pub tiles: usize,
    pub cols: usize,
    pub experts: usize,
    pub is_gated: bool,
    /// `[experts][tiles · 16]`.
    pub bias: Option<Vec<f32>>,
    /// Of x: weight and epsilon.
    pub norm: Option<(Vec<f32>, f32)>,
    /// Of gate and up: gpt-oss' function.
    pub limit: Option<f32>,
}

impl HostStack {
    /// Numbers of a result.
    pub fn width(&self) -> usize {
        self.tiles * TILE_ROWS / if self.is_gated { 2 } else { 1 }
    }

    /// What lies in host memory.
    fn bytes(&self) -> Result<&[u8]> {
        let (len, needed) = (
            self.data.len(),
            self.experts * self.tiles * self.tile_bytes(),
        );
        match (self.data.host(), usize::try_from(len)) {
            // SAFETY: the buffer's memory, which nobody writes once a model is loaded.
            (Some(start), Ok(len)) if len >= needed => unsafe {
                Ok(std::slice::from_raw_parts(start, len))
            },
            _ => Err(Error::Internal("experts that the host cannot read".into())),
        }
    }

    fn tile_bytes(&self) -> usize {
        self.form.form.tile_bytes(self.cols)
    }

    /// Tiles of an expert's results.
    fn turns(&self) -> usize {
        self.width() / TILE_ROWS
    }
}

/// What some rows multiply.
pub struct Factors<'a> {
    /// `[inputs][cols]`.
    pub x: &'a [f32],
    /// Each pair has an x of its own, else each row.
    pub own: bool,
    /// `[rows][chosen]`.
    pub index: &'a [u32],
    pub chosen: usize,
}

/// Threads, and what they keep from call to call.
pub struct Workers {
    pool: ThreadPool,
    kernels: &'static Kernels,
    tiles: HostKernels,
    scratch: Vec<Mutex<OfWorker>>,
    inputs: Vec<Mutex<Input>>,
    pairs: Vec<usize>,
    sums: SharedVec<f32>,
}

#[derive(Default)]
struct OfWorker {
    scratch: Scratch,
    normed: Vec<f32>,
    out: Vec<Rows>,
    up: Vec<Rows>,
}

impl Workers {
    /// So many; 0: one per CPU that this process may run on.
    pub fn new(threads: usize) -> Workers {
        let pool = ThreadPool::new(threads);
        let kernels = kernels();
        Workers {
            scratch: (0..pool.threads()).map(|_| Mutex::default()).collect(),
            pool,
            kernels,
            tiles: HostKernels::new(),
            inputs: Vec::new(),
            pairs: Vec::new(),
            sums: SharedVec::default(),
        }
    }

    pub fn threads(&self) -> usize {
        self.pool.threads()
    }

    /// The products of all pairs, `[pairs][width]`, in `out` (resized).
    ///
    /// # Errors
    /// `Internal` if an index names no expert, or a thread panicked.
    pub fn products(
        &mut self,
        stack: &HostStack,
        factors: &Factors<'_>,
        out: &mut Vec<f32>,
    ) -> Result<()> {
        let Workers {
            pool,
            kernels,
            tiles: tile_kernels,
            scratch,
            inputs,
            pairs,
            sums,
        } = self;
        let (kernels, tile_kernels) = (*kernels, *tile_kernels);
        let all = stack.bytes()?;
        let active = sort(factors.index, stack.experts, pairs)?;
        let (count, width) = (factors.index.len(), stack.width());
        let used = if factors.own {
            count
        } else {
            count / factors.chosen.max(1)
        };
        if factors.x.len() < used * stack.cols {
            return Err(Error::Internal("experts without an x".into()));
        }
        inputs.resize_with(inputs.len().max(used), Mutex::default);
        sums.grow(count * width);
        let (scratch, pairs, sums) = (&*scratch, &*pairs, &*sums);
        let job = |worker: usize, number: usize| {
            let x = &factors.x[number * stack.cols..(number + 1) * stack.cols];
            let own = &mut *scratch[worker].lock();
            let x = match &stack.norm {
                Some((weight, eps)) => {
                    own.normed.resize(x.len(), 0.0);
                    // SAFETY: the table was chosen for this CPU.
                    unsafe { (kernels.rms_norm)(x, weight, *eps, &mut own.normed) };
                    &own.normed[..]
                }
                None => x,
            };
            tile_kernels.quantize(&stack.form, x, &mut inputs[number].lock());
        };
        caught(|| pool.run(used, &job))?;
        let prepared = inputs.iter_mut().take(used);
        let prepared: Vec<&Input> = prepared.map(|input| &*input.get_mut()).collect();
        let work = Work {
            stack,
            all,
            kernels,
            tile_kernels,
            sums,
        };
        let turns = stack.turns();
        let bytes = all.len() / (stack.experts * turns).max(1);
        // Enough for each thread to have several.
        let fair = (active.len() * turns).div_ceil(pool.threads() * 4);
        let at_once = (CHUNK_BYTES / bytes.max(1)).min(fair).max(1);
        let chunks = turns.div_ceil(at_once);
        let job = |worker: usize, chunk: usize| {
            let (expert, of) = &active[chunk / chunks];
            let first = chunk % chunks * at_once;
            let pairs = &pairs[of.clone()];
            let input = |pair: &usize| match factors.own {
                true => prepared[*pair],
                false => prepared[pair / factors.chosen],
            };
            let inputs: Vec<&Input> = pairs.iter().map(input).collect();
            let turns = first..(first + at_once).min(turns);
            work.run(*expert, turns, pairs, &inputs, &mut scratch[worker].lock());
        };
        caught(|| pool.run(active.len() * chunks, &job))?;
        out.clear();
        // SAFETY: nobody writes any more.
        out.extend_from_slice(unsafe { sums.read(0..count * width) });
        Ok(())
    }
}

/// `out[row] = Σ_k weights[row][k] · results[row][k] + residual[row]`, all rows one after the other.
pub fn sum(
    results: &[f32],
    weights: &[f32],
    chosen: usize,
    residual: Option<&[f32]>,
    out: &mut [f32],
) {
    match residual.filter(|residual| residual.len() == out.len()) {
        Some(residual) => out.copy_from_slice(residual),
        None => out.fill(0.0),
    }
    let rows = weights.chunks_exact(chosen.max(1));
    let width = (out.len() / rows.len().max(1)).max(1);
    let results = results.chunks_exact(width * chosen.max(1));
    for ((weights, results), out) in rows.zip(results).zip(out.chunks_exact_mut(width)) {
        for (weight, result) in weights.iter().zip(results.chunks_exact(width)) {
            let numbers = out.iter_mut().zip(result);
            numbers.for_each(|(out, result)| *out += weight * result);
        }
    }
}

/// Products with experts.
struct Work<'a> {
    stack: &'a HostStack,
    all: &'a [u8],
    kernels: &'static Kernels,
    tile_kernels: HostKernels,
    sums: &'a SharedVec<f32>,
}

impl Work<'_> {
    /// Tiles of an expert (of gate and up together) times the inputs of its pairs.
    fn run(
        &self,
        expert: usize,
        turns: Range<usize>,
        pairs: &[usize],
        inputs: &[&Input],
        own: &mut OfWorker,
    ) {
        let (stack, width, bytes) = (self.stack, self.stack.width(), self.stack.tile_bytes());
        let OfWorker {
            scratch, out, up, ..
        } = own;
        out.resize(inputs.len(), [0.0; TILE_ROWS]);
        let mut product = |at: usize, out: &mut [Rows]| {
            let at = expert * stack.tiles + at;
            let tile = &self.all[at * bytes..(at + 1) * bytes];
            self.tile_kernels
                .tile(&stack.form, tile, inputs, scratch, out);
            let bias = stack.bias.as_ref();
            let bias = bias.and_then(|bias| bias.get(at * TILE_ROWS..(at + 1) * TILE_ROWS));
            for out in out.iter_mut() {
                let bias = bias.into_iter().flatten();
                out.iter_mut()
                    .zip(bias)
                    .for_each(|(out, bias)| *out += bias);
            }
        };
        for turn in turns {
            match stack.is_gated {
                false => product(turn, out),
                true => {
                    up.resize(inputs.len(), [0.0; TILE_ROWS]);
                    product(2 * turn, out);
                    product(2 * turn + 1, up);
                    let (gate, up) = (out.as_flattened_mut(), up.as_flattened());
                    // SAFETY: the table was chosen for this CPU.
                    unsafe {
                        match stack.limit {
                            Some(limit) => (self.kernels.swiglu_clamped)(gate, up, limit),
                            None => (self.kernels.swiglu)(gate, up),
                        }
                    }
                }
            }
            for (out, pair) in out.iter().zip(pairs) {
                let at = pair * width + turn * TILE_ROWS;
                // SAFETY: this chunk alone writes these columns of this pair.
                unsafe { self.sums.write(at..at + TILE_ROWS) }.copy_from_slice(out);
            }
        }
    }
}

/// What threads do; a panic in one is an error.
fn caught(body: impl FnOnce()) -> Result<()> {
    panics::caught(body).map_err(|what| Error::Internal(format!("experts on the CPU: {what}")))
}

/// Sorts pairs by expert; gives the experts that were chosen, and which of `pairs` are theirs.
fn sort(
    index: &[u32],
    experts: usize,
    pairs: &mut Vec<usize>,
) -> Result<Vec<(usize, Range<usize>)>> {
    if let Some(wrong) = index.iter().find(|expert| **expert as usize >= experts) {
        let message = format!("expert {wrong} of {experts} was chosen");
        return Err(Error::Internal(message));
    }
    pairs.clear();
    pairs.extend(0..index.len());
    // Stable: an expert's pairs stay in order.
    pairs.sort_by_key(|pair| index[*pair]);
    let mut end = 0;
    let runs = pairs.chunk_by(|a, b| index[*a] == index[*b]);
    Ok(runs
        .map(|run| {
            let first = end;
            end += run.len();
            (index[run[0]] as usize, first..end)
        })
        .collect())
}
