//! Query rows in the lanes of vectors.

use super::super::kernels::{AttendColumns, COLUMNS, Column, Kernels};

/// Query rows in lanes, 16 at a time: `[rows / 16]` of `q` and `out` `[head_dim]`, `state`, `seen`.
#[derive(Debug, Default)]
pub(super) struct Columns {
    q: Vec<Column>,
    out: Vec<Column>,
    state: Vec<[Column; 2]>,
    seen: Vec<[(usize, usize); COLUMNS]>,
}

impl Columns {
    /// Takes query rows; the last lanes may stay empty.
    pub(super) fn start(&mut self, kernels: &Kernels, q: &[f32], state: &[(f32, f32)], dim: usize) {
        let blocks = (q.len() / dim).div_ceil(COLUMNS);
        self.q.resize(blocks * dim, [0.0; COLUMNS]);
        self.out.clear();
        self.out.resize(blocks * dim, [0.0; COLUMNS]);
        self.state.clear();
        let unseen = [[f32::NEG_INFINITY; COLUMNS], [0.0; COLUMNS]];
        self.state.resize(blocks, unseen);
        for (r, &(max, sum)) in state.iter().enumerate() {
            let (block, lane) = (r / COLUMNS, r % COLUMNS);
            self.state[block][0][lane] = max;
            self.state[block][1][lane] = sum;
        }
        self.seen.clear();
        self.seen.resize(blocks, [(0, 0); COLUMNS]);
        for (rows, columns) in q.chunks(COLUMNS * dim).zip(self.q.chunks_exact_mut(dim)) {
            // SAFETY: the kernels table was chosen for this CPU.
            unsafe { (kernels.to_columns)(rows, columns) };
        }
    }

    /// Takes one page.
    pub(super) fn attend(
        &mut self,
        kernels: &Kernels,
        k: &[f32],
        v: &[f32],
        seen: &[(usize, usize)],
        cap: f32,
    ) {
        let dim = self.q.len() / self.state.len();
        for (to, &seen) in self.seen.as_flattened_mut().iter_mut().zip(seen) {
            *to = seen;
        }
        let blocks = self.q.chunks_exact(dim).zip(self.out.chunks_exact_mut(dim));
        for ((q, out), (state, seen)) in blocks.zip(self.state.iter_mut().zip(&self.seen)) {
            let mut operands = AttendColumns {
                q,
                k,
                v,
                seen,
                cap,
                state,
                out,
            };
            // SAFETY: the kernels table was chosen for this CPU.
            unsafe { (kernels.attend_columns)(&mut operands) };
        }
    }

    /// Gives the rows back.
    pub(super) fn finish(&self, kernels: &Kernels, out: &mut [f32], state: &mut [(f32, f32)]) {
        let dim = self.q.len() / self.state.len();
        for (rows, columns) in out
            .chunks_mut(COLUMNS * dim)
            .zip(self.out.chunks_exact(dim))
        {
            // SAFETY: the kernels table was chosen for this CPU.
            unsafe { (kernels.to_rows)(columns, rows) };
        }
        for (r, state) in state.iter_mut().enumerate() {
            let (block, lane) = (r / COLUMNS, r % COLUMNS);
            *state = (self.state[block][0][lane], self.state[block][1][lane]);
        }
    }
}
