//! Recurrent layers, in plain Rust that the compiler vectorises for each SIMD level (see `body`).

use super::body::{LANES, exp, fma, sum};

/// Operands of one token of the gated delta rule for some rows of a head's state.
pub struct DeltaToken<'a> {
    /// `[rows][key_dim]`.
    pub state: &'a mut [f32],
    /// `[key_dim]`.
    pub q: &'a [f32],
    /// `[key_dim]`.
    pub k: &'a [f32],
    /// `[rows]`.
    pub v: &'a [f32],
    pub decay: Decay<'a>,
    pub beta: f32,
    /// What the state gives for k is taken from v.
    pub corrects: bool,
    /// `[rows]`.
    pub out: &'a mut [f32],
}

/// What is left of a state.
#[derive(Clone, Copy)]
pub enum Decay<'a> {
    /// Of all of it.
    All(f32),
    /// Of each column: `[key_dim]`.
    Columns(&'a [f32]),
}

/// `S ← decay · S`, `S ← S + beta · (v − S·k) kᵀ`, or `S ← S + beta · v kᵀ`, `out = S·q`. Rows do not see each other,
/// so how they are cut changes nothing.
#[inline(always)]
pub fn gated_delta<const F: bool>(token: &mut DeltaToken<'_>) {
    let (q, k) = (token.q, token.k);
    let rows = token.state.chunks_exact_mut(k.len());
    for ((row, v), out) in rows.zip(token.v).zip(&mut *token.out) {
        let decay = match token.decay {
            Decay::All(decay) => decay,
            Decay::Columns(decays) => {
                row.iter_mut()
                    .zip(decays)
                    .for_each(|(s, decay)| *s *= decay);
                1.0
            }
        };
        let seen = match token.corrects {
            true => decay * dot::<F>(row, k),
            false => 0.0,
        };
        *out = step::<F>(row, decay, token.beta * (v - seen), k, q);
    }
}

#[inline(always)]
fn dot<const F: bool>(a: &[f32], b: &[f32]) -> f32 {
    let mut acc = [0.0f32; LANES];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for i in 0..LANES {
            acc[i] = fma::<F>(a[i], b[i], acc[i]);
        }
    }
    for (acc, (&a, &b)) in acc.iter_mut().zip(a_rest.iter().zip(b_rest)) {
        *acc = fma::<F>(a, b, *acc);
    }
    sum(&acc)
}

/// `row = decay · row + delta · k`; returns `row · q`.
#[inline(always)]
fn step<const F: bool>(row: &mut [f32], decay: f32, delta: f32, k: &[f32], q: &[f32]) -> f32 {
    let mut acc = [0.0f32; LANES];
    let (row, row_rest) = row.as_chunks_mut::<LANES>();
    let ((k, k_rest), (q, q_rest)) = (k.as_chunks::<LANES>(), q.as_chunks::<LANES>());
    for (row, (k, q)) in row.iter_mut().zip(k.iter().zip(q)) {
        for i in 0..LANES {
            row[i] = fma::<F>(delta, k[i], decay * row[i]);
            acc[i] = fma::<F>(row[i], q[i], acc[i]);
        }
    }
    let rest = row_rest.iter_mut().zip(k_rest.iter().zip(q_rest));
    for (acc, (row, (&k, &q))) in acc.iter_mut().zip(rest) {
        *row = fma::<F>(delta, k, decay * *row);
        *acc = fma::<F>(*row, q, *acc);
    }
    sum(&acc)
}

/// `out += a · b`.
#[inline(always)]
pub fn multiply_add<const F: bool>(a: &[f32], b: &[f32], out: &mut [f32]) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = fma::<F>(a, b, *out);
    }
}

/// `x = x · sigmoid(x)`.
#[inline(always)]
pub fn silu<const F: bool>(x: &mut [f32]) {
    for x in x {
        *x /= 1.0 + exp::<F>(-*x);
    }
}
