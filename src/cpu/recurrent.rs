//! Recurrent layers: short convolutions and the gated delta rule, a sequence's tokens one after the other.
//!
//! Sequences, channels and rows of heads' states do not see each other, so workers take them apart. A token is
//! computed by the same operations however many others are in the call: the result and the state depend on the
//! sequence's tokens only.

use super::arena::ArenaView;
use super::kernels::{Decay, DeltaToken, Kernels};
use super::slots::Slots;
use super::threads::ThreadPool;
use crate::step::{self, Slice};
use parking_lot::Mutex;

/// Channels of a unit of a convolution.
const CHANNELS: usize = 256;
/// Rows of a head's state in a unit: with keys of 128 columns they stay in the nearest cache.
const ROWS: usize = 32;

/// What a step needs.
pub struct Recurrent<'a> {
    pub kernels: &'static Kernels,
    pub arena: ArenaView<'a>,
    pub slots: &'a Slots,
    pub slices: &'a [Slice<'a>],
    pub vectors: &'a [Vec<f32>],
}

/// What a worker needs between calls: q and k of a token.
#[derive(Debug, Default)]
pub struct DeltaScratch {
    q: Vec<f32>,
    k: Vec<f32>,
}

impl Recurrent<'_> {
    /// The first row of each slice in the batch.
    fn first_rows(&self) -> Vec<usize> {
        let mut next = 0;
        let rows = self.slices.iter().map(|slice| {
            let first = next;
            next += slice.tokens.len();
            first
        });
        rows.collect()
    }

    /// A short convolution.
    pub fn short_conv(&self, step: &step::ShortConv, pool: &mut ThreadPool) {
        let blocks = step.shape.channels.div_ceil(CHANNELS);
        let first_rows = self.first_rows();
        pool.run(self.slices.len() * blocks, &|_, unit| {
            let (slice, block) = (unit / blocks, unit % blocks);
            self.channels(
                step,
                &self.slices[slice],
                first_rows[slice],
                block * CHANNELS,
            );
        });
    }

    /// The channels from `from` of a slice.
    fn channels(&self, step: &step::ShortConv, slice: &Slice<'_>, first_row: usize, from: usize) {
        let step::ShortConv {
            x,
            weight,
            out,
            shape,
        } = *step;
        let weight = &self.vectors[weight.0];
        let width = CHANNELS.min(shape.channels - from);
        let (tail, tokens) = (shape.taps - 1, slice.tokens.len());
        // SAFETY: x is not written in this step.
        let row = |t: usize| unsafe { &self.arena.row(x, first_row + t)[from..from + width] };
        // SAFETY: only this unit uses these channels of the slot.
        let kept = |t: usize| unsafe {
            let from = t * shape.channels + from;
            self.slots.part(slice.slot, shape.state, from..from + width)
        };
        if slice.start == 0 {
            (0..tail).for_each(|t| kept(t).fill(0.0));
        }
        for t in 0..tokens {
            // SAFETY: only this unit writes these rows and columns.
            let out = unsafe { self.arena.write(out, first_row + t, from, width) };
            out.fill(0.0);
            for tap in 0..shape.taps {
                let x = match (t + tap).checked_sub(tail) {
                    Some(t) => row(t),
                    None => kept(t + tap),
                };
                let weight = &weight[tap * shape.channels + from..][..width];
                // SAFETY: the kernels table was chosen for this CPU.
                unsafe { (self.kernels.multiply_add)(weight, x, out) };
            }
            if shape.silu {
                // SAFETY: as above.
                unsafe { (self.kernels.silu)(out) };
            }
        }
        // The last rows of what was there and of x, in order: none is read after it is written.
        for t in 0..tail {
            match (tokens + t).checked_sub(tail) {
                Some(last) => kept(t).copy_from_slice(row(last)),
                None => {
                    let later = kept(tokens + t).to_vec();
                    kept(t).copy_from_slice(&later);
                }
            }
        }
    }

    /// The gated delta rule.
    pub fn gated_delta(
        &self,
        step: &step::GatedDelta,
        pool: &mut ThreadPool,
        scratch: &[Mutex<DeltaScratch>],
    ) {
        let blocks = step.shape.value_dim.div_ceil(ROWS);
        let units = step.shape.value_heads * blocks;
        let first_rows = self.first_rows();
        // As weights of norms: a length of 1 is a mean square of 1 / key_dim.
        let dim = step.shape.key_dim;
        let length = 1.0 / (dim as f64).sqrt();
        let weights = [length * length, length].map(|weight| vec![weight as f32; dim]);
        pool.run(self.slices.len() * units, &|worker, unit| {
            let (slice, unit) = (unit / units, unit % units);
            let (head, block) = (unit / blocks, unit % blocks);
            self.rows(
                step,
                (&self.slices[slice], first_rows[slice]),
                (head, block * ROWS),
                &weights,
                &mut scratch[worker].lock(),
            );
        });
    }

    /// The rows from `from` of a value head's state.
    fn rows(
        &self,
        step: &step::GatedDelta,
        (slice, first_row): (&Slice<'_>, usize),
        (head, from): (usize, usize),
        [q_weight, k_weight]: &[Vec<f32>; 2],
        scratch: &mut DeltaScratch,
    ) {
        let shape = step.shape;
        let dim = shape.key_dim;
        let rows = ROWS.min(shape.value_dim - from);
        let first = (head * shape.value_dim + from) * dim;
        let place = first..first + rows * dim;
        // SAFETY: only this unit uses these rows of the slot.
        let state = unsafe { self.slots.part(slice.slot, shape.state, place) };
        if slice.start == 0 {
            state.fill(0.0);
        }
        let DeltaScratch { q, k } = scratch;
        q.resize(dim, 0.0);
        k.resize(dim, 0.0);
        let key = shape.key_head(head) * dim;
        let value = shape.columns[2] + head * shape.value_dim + from;
        // As the mean of squares takes it, not their sum.
        let eps = shape.eps.map(|eps| (eps.get() / dim as f64) as f32);
        for row in first_row..first_row + slice.tokens.len() {
            // SAFETY: inputs are not written in this step.
            let read = |id, at: usize, len: usize| unsafe { &self.arena.row(id, row)[at..][..len] };
            let [of_q, of_k, of_v] = step.qkv;
            let given = [(of_q, 0), (of_k, 1)].map(|(of, i)| read(of, shape.columns[i] + key, dim));
            let [q, k] = match eps {
                None => given,
                Some(eps) => {
                    // SAFETY: the kernels table was chosen for this CPU.
                    unsafe {
                        (self.kernels.rms_norm)(given[0], q_weight, eps, q);
                        (self.kernels.rms_norm)(given[1], k_weight, eps, k);
                    }
                    [q.as_slice(), k.as_slice()]
                }
            };
            // SAFETY: only this unit writes these columns.
            let out = unsafe {
                let column = head * shape.value_dim + from;
                self.arena.write(step.out, row, column, rows)
            };
            let gate = |id| read(id, head, 1)[0];
            let (decay, beta) = match step.gates {
                None if shape.columnwise => {
                    let decays = read(step.decay, head * dim, dim);
                    (Decay::Columns(decays), gate(step.beta))
                }
                None => (Decay::All(gate(step.decay)), gate(step.beta)),
                Some(vectors) => {
                    let [rate, floor] = vectors.map(|id| self.vectors[id.0][head]);
                    let (a, b) = (gate(step.decay), gate(step.beta));
                    let sum = a.max(floor) + (-(a - floor).abs()).exp().ln_1p();
                    let decay = Decay::All((rate * sum).exp());
                    (decay, 1.0 / (1.0 + (-b).exp()))
                }
            };
            let mut token = DeltaToken {
                state: &mut *state,
                q,
                k,
                v: read(of_v, value, rows),
                decay,
                beta,
                corrects: shape.corrects,
                out,
            };
            // SAFETY: the kernels table was chosen for this CPU.
            unsafe { (self.kernels.gated_delta)(&mut token) };
        }
    }

    /// A norm of each head, times the SiLU of a gate.
    pub fn gated_norm(&self, step: &step::GatedNorm, rows: usize, pool: &mut ThreadPool) {
        let width = self.arena.width(step.x);
        let weight = &self.vectors[step.norm.weight.0];
        pool.run(rows, &|_, row| {
            // SAFETY: inputs are not written in this step; only this unit writes this row.
            let (x, z, out) = unsafe {
                let out = self.arena.write(step.out, row, 0, width);
                (
                    self.arena.row(step.x, row),
                    self.arena.row(step.z, row),
                    out,
                )
            };
            out.copy_from_slice(z);
            let mut head = vec![0.0; step.dim];
            for (x, out) in x.chunks(step.dim).zip(out.chunks_mut(step.dim)) {
                // SAFETY: the kernels table was chosen for this CPU.
                unsafe {
                    (self.kernels.rms_norm)(x, weight, step.norm.eps, &mut head);
                    (self.kernels.swiglu)(out, &head);
                }
            }
        });
    }
}
