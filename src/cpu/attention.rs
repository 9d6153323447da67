//! Attention over the paged cache: head norms, RoPE, cache write, then one page at a time with a
//! running softmax (flash attention).
//!
//! A unit of work is one key head and a block of query tokens with all query heads that share the
//! key head, so that a page is read once for all of them.

mod columns;
mod rope;

use super::arena::ArenaView;
use super::kernels::{AttendPage, Kernels, KeysValues};
use super::kv::{KvCache, KvPlace};
use super::threads::ThreadPool;
use crate::step::{self, Attention, BufferId, KV_GROUP, KvType, Norm, PAGE_TOKENS, Slice};
use columns::Columns;
use parking_lot::Mutex;
pub use rope::RopeTable;
use std::ops::Range;

/// Query tokens of a unit.
const TOKENS_A_UNIT: usize = 16;
/// Query rows of one kernel call that has a row's numbers in its lanes.
const ROWS_A_CALL: usize = 6;
/// From so many query rows on, rows are in the lanes.
const COLUMNS_FROM: usize = 12;
/// What the kernels take of a head at a time. Other widths get columns of zeros in the scratch memory (not in
/// the cache), which change neither scores nor outputs.
const COLUMNS_AT_ONCE: usize = 16;

/// One attention step.
pub struct Attend<'a> {
    pub kernels: &'static Kernels,
    pub arena: ArenaView<'a>,
    pub cache: &'a KvCache,
    pub rope: Option<&'a RopeTable>,
    pub slices: &'a [Slice<'a>],
    pub vectors: &'a [Vec<f32>],
    pub step: step::Attend,
}

/// What a worker needs between calls.
#[derive(Debug, Default)]
pub struct AttendScratch {
    q: Vec<f32>,
    out: Vec<f32>,
    keys: Vec<f32>,
    values: Vec<f32>,
    seen: Vec<(usize, usize)>,
    state: Vec<(f32, f32)>,
    columns: Columns,
    half: [Vec<u16>; 2],
    head: Vec<f32>,
}

/// A block of tokens of one slice.
#[derive(Clone, Copy)]
struct Unit {
    slice: usize,
    /// The batch row of the slice's first token.
    first_row: usize,
    /// The row in `q` and `out` of the slice's first token; only tokens with queries have one.
    first_query: isize,
    from: usize,
    to: usize,
}

impl Unit {
    /// The row of a token in `q` and `out`.
    fn query(&self, token: usize) -> usize {
        (self.first_query + token as isize) as usize
    }
}

impl Attend<'_> {
    /// Runs the step. `wanted`: `q` has the wanted rows only.
    pub fn run(&self, pool: &mut ThreadPool, scratch: &[Mutex<AttendScratch>], wanted: bool) {
        let heads = self.step.shape.kv_heads;
        let (mut keys, mut queries) = (Vec::new(), Vec::with_capacity(self.slices.len()));
        let (mut first_row, mut query_row) = (0, 0);
        for (slice, s) in self.slices.iter().enumerate() {
            let tokens = s.tokens.len();
            // The units of a run of tokens whose first has this row of `q` and `out`.
            let units = |run: Range<usize>, row: usize| {
                let first_query = row as isize - run.start as isize;
                run.clone().step_by(TOKENS_A_UNIT).map(move |from| Unit {
                    slice,
                    first_row,
                    first_query,
                    from,
                    to: (from + TOKENS_A_UNIT).min(run.end),
                })
            };
            // A slice of one token writes its key and value in the unit that reads them; others
            // need all of theirs in place before any query runs.
            if tokens != 1 || (wanted && s.wanted_rows() == 0) {
                keys.extend(units(0..tokens, 0));
            }
            if wanted {
                for run in s.wanted_runs() {
                    queries.extend(units(run.clone(), query_row));
                    query_row += run.len();
                }
            } else {
                queries.extend(units(0..tokens, query_row));
                query_row += tokens;
            }
            first_row += tokens;
        }
        pool.run(keys.len() * heads, &|worker, chunk| {
            self.write(
                keys[chunk / heads],
                chunk % heads,
                &mut scratch[worker].lock(),
            );
        });
        pool.run(queries.len() * heads, &|worker, chunk| {
            let unit = queries[chunk / heads];
            let scratch = &mut *scratch[worker].lock();
            if self.slices[unit.slice].tokens.len() == 1 {
                self.write(unit, chunk % heads, scratch);
            }
            self.attend(unit, chunk % heads, scratch);
        });
    }

    /// Head `head` of row `row` of `id`, normed and rotated for batch row `token`, appended to `out`.
    fn prepare(
        &self,
        id: BufferId,
        norm: Option<Norm>,
        (row, token): (usize, usize),
        head: usize,
        out: &mut Vec<f32>,
    ) {
        let dim = self.step.shape.head_dim;
        // SAFETY: q, k and v were written by an earlier step and are only read in this one.
        let x = unsafe { &self.arena.row(id, row)[head * dim..][..dim] };
        let start = out.len();
        out.extend_from_slice(x);
        let prepared = &mut out[start..];
        if let Some(norm) = norm {
            // SAFETY: the kernels table was chosen for this CPU.
            unsafe {
                (self.kernels.rms_norm)(x, &self.vectors[norm.weight.0], norm.eps, prepared);
            }
        }
        if let Some(rope) = self.rope {
            rope.rotate(token, prepared);
        }
    }

    fn write(&self, unit: Unit, head: usize, scratch: &mut AttendScratch) {
        let dim = self.step.shape.head_dim;
        let slice = &self.slices[unit.slice];
        for token in unit.from..unit.to {
            let row = unit.first_row + token;
            let position = slice.start + token;
            scratch.head.clear();
            self.prepare(
                self.step.k,
                self.step.k_norm,
                (row, row),
                head,
                &mut scratch.head,
            );
            let place = KvPlace {
                page: slice.pages[position / PAGE_TOKENS],
                layer: self.step.state,
                head,
                token: position % PAGE_TOKENS,
            };
            // SAFETY: `v` is only read in this step; the kernels suit this CPU; this unit alone
            // writes this token of this head, and no query reads it before.
            unsafe {
                let v = &self.arena.row(self.step.v, row)[head * dim..][..dim];
                match self.cache.kv() {
                    KvType::F16 => {
                        let [key, value] = &mut scratch.half;
                        key.resize(dim, 0);
                        value.resize(dim, 0);
                        (self.kernels.narrow)(&scratch.head, key);
                        (self.kernels.narrow)(v, value);
                        self.cache.write(place, key, value);
                    }
                    kv => {
                        for (which, x) in [&scratch.head, v].into_iter().enumerate() {
                            for (group, x) in x.chunks(KV_GROUP).enumerate() {
                                let codes = (self.kernels.kv_group)(kv, x);
                                self.cache.write_group(place, which, group, &codes);
                            }
                        }
                    }
                }
            }
        }
    }

    fn attend(&self, unit: Unit, head: usize, scratch: &mut AttendScratch) {
        let Attention {
            head_dim,
            scale,
            window,
            chunk,
            cap,
            ..
        } = self.step.shape;
        let cap = cap.unwrap_or(0.0);
        // Of everything but the cache and the arena.
        let dim = head_dim.next_multiple_of(COLUMNS_AT_ONCE);
        let group = self.step.shape.heads / self.step.shape.kv_heads;
        let slice = &self.slices[unit.slice];
        let rows = (unit.to - unit.from) * group;
        let AttendScratch {
            q,
            out,
            keys,
            values,
            seen,
            state,
            columns,
            ..
        } = scratch;
        q.clear();
        for token in unit.from..unit.to {
            for h in head * group..(head + 1) * group {
                let rows = (unit.query(token), unit.first_row + token);
                self.prepare(self.step.q, self.step.q_norm, rows, h, q);
                q.resize(q.len() + dim - head_dim, 0.0);
            }
        }
        q.iter_mut().for_each(|q| *q *= scale);
        out.clear();
        out.resize(rows * dim, 0.0);
        state.clear();
        match self.step.sinks {
            // As if a first key, whose value is 0, had been seen.
            Some(sinks) => {
                let sinks = &self.vectors[sinks.0][head * group..(head + 1) * group];
                let of_token = sinks.iter().map(|&sink| (sink, 1.0));
                state.extend(std::iter::repeat_n(of_token, unit.to - unit.from).flatten());
            }
            None => state.resize(rows, (f32::NEG_INFINITY, 0.0)),
        }
        let in_columns = rows >= COLUMNS_FROM;
        if in_columns {
            columns.start(self.kernels, q, state, dim);
        }
        keys.resize(dim * PAGE_TOKENS, 0.0);
        values.resize(dim * PAGE_TOKENS, 0.0);
        let oldest = |position: usize| {
            let of_window = window.map_or(0, |w| (position + 1).saturating_sub(w));
            chunk.map_or(of_window, |chunk| of_window.max(position / chunk * chunk))
        };
        let first = oldest(slice.start + unit.from) / PAGE_TOKENS;
        let last = (slice.start + unit.to - 1) / PAGE_TOKENS;
        for page in first..=last {
            let base = page * PAGE_TOKENS;
            // SAFETY: keys and values were written before any query runs, or by this unit.
            let (k, v) = unsafe { self.cache.page(slice.pages[page], self.step.state, head) };
            let as_it_is = self.cache.kv() == KvType::F16 && dim == head_dim;
            let kv = if as_it_is && !in_columns {
                KeysValues::F16(k, v)
            } else {
                let filled = ..head_dim * PAGE_TOKENS;
                // SAFETY: the kernels table was chosen for this CPU.
                unsafe {
                    (self.kernels.kv_keys)(self.cache.kv(), k, &mut keys[filled]);
                    (self.kernels.kv_values)(self.cache.kv(), v, &mut values[filled]);
                }
                // Rows of keys beyond the head's are never written and stay 0.
                widen_rows(values, head_dim, dim);
                KeysValues::F32(keys, values)
            };
            seen.clear();
            for token in unit.from..unit.to {
                let position = slice.start + token;
                let from = oldest(position).saturating_sub(base).min(PAGE_TOKENS);
                let to = (position + 1).saturating_sub(base).min(PAGE_TOKENS);
                seen.extend(std::iter::repeat_n((from, to.max(from)), group));
            }
            if in_columns {
                columns.attend(self.kernels, keys, values, seen, cap);
                continue;
            }
            for row in (0..rows).step_by(ROWS_A_CALL) {
                let n = ROWS_A_CALL.min(rows - row);
                let mut operands = AttendPage {
                    q: &q[row * dim..(row + n) * dim],
                    kv,
                    seen: &seen[row..row + n],
                    cap,
                    state: &mut state[row..row + n],
                    out: &mut out[row * dim..(row + n) * dim],
                };
                // SAFETY: the kernels table was chosen for this CPU.
                unsafe { (self.kernels.attend_page)(&mut operands) };
            }
        }
        if in_columns {
            columns.finish(self.kernels, out, state);
        }
        for (r, (out, &(_, sum))) in out.chunks_exact(dim).zip(state.iter()).enumerate() {
            let row = unit.query(unit.from + r / group);
            let column = (head * group + r % group) * head_dim;
            // SAFETY: this unit alone writes these heads of its rows.
            let to = unsafe { self.arena.write(self.step.out, row, column, head_dim) };
            let inverse = 1.0 / sum;
            to.iter_mut()
                .zip(out)
                .for_each(|(to, &o)| *to = o * inverse);
        }
    }
}

/// Rows of `from` numbers, one after the other at the beginning, to rows of `to` with zeros at their ends.
fn widen_rows(rows: &mut [f32], from: usize, to: usize) {
    if from == to {
        return;
    }
    // From the last one, so that none is overwritten before it has moved.
    for row in (0..rows.len() / to).rev() {
        rows.copy_within(row * from..(row + 1) * from, row * to);
        rows[row * to + from..(row + 1) * to].fill(0.0);
    }
}
