//! Recurrent layers beside forms in f64.

use super::*;
use crate::cpu::kernels::{Decay, DeltaToken};

/// The gated delta rule of a head over some tokens, in f64; without corrections a state space model's.
struct Rule {
    rows: usize,
    dim: usize,
    corrects: bool,
    state: Vec<f64>,
}

impl Rule {
    fn step(&mut self, q: &[f32], k: &[f32], v: &[f32], decays: &[f32], beta: f32) -> Vec<f64> {
        let f = |x: &f32| f64::from(*x);
        let rows = self.state.chunks_mut(self.dim).zip(v).take(self.rows);
        let row = |(row, v): (&mut [f64], &f32)| {
            row.iter_mut()
                .zip(decays)
                .for_each(|(s, decay)| *s *= f(decay));
            let seen = match self.corrects {
                true => row.iter().zip(k).map(|(s, k)| s * f(k)).sum(),
                false => 0.0,
            };
            let delta = f(&beta) * (f(v) - seen);
            row.iter_mut().zip(k).for_each(|(s, k)| *s += delta * f(k));
            row.iter().zip(q).map(|(s, q)| s * f(q)).sum()
        };
        rows.map(row).collect()
    }
}

#[test]
fn the_gated_delta_rule_is_that_of_f64() {
    for kernels in available() {
        let sizes = [(1, 1), (3, 20), (5, 32), (32, 70), (7, 128)];
        let forms = [(false, true), (true, true), (false, false), (true, false)];
        for ((rows, dim), (columnwise, corrects)) in sizes
            .into_iter()
            .flat_map(|size| forms.map(|form| (size, form)))
        {
            let mut random = Random(dim as u64);
            let mut rule = Rule {
                rows,
                dim,
                corrects,
                state: vec![0.0; rows * dim],
            };
            let mut state = vec![0.0; rows * dim];
            // The same rows in two parts.
            let (cut, mut parts) = (rows / 2, state.clone());
            for token in 0..100 {
                let unit = |x: Vec<f32>| {
                    let length = x.iter().map(|x| x * x).sum::<f32>().sqrt();
                    x.iter().map(|x| x / length).collect::<Vec<f32>>()
                };
                let (q, k) = (unit(random.vector(dim)), unit(random.vector(dim)));
                let v = random.vector(rows);
                let mut decays = random.vector(dim);
                decays
                    .iter_mut()
                    .for_each(|decay| *decay = 1.0 - 0.2 * decay.abs());
                if !columnwise {
                    let first = decays[0];
                    decays.fill(first);
                }
                let decay = match columnwise {
                    true => Decay::Columns(&decays),
                    false => Decay::All(decays[0]),
                };
                let beta = random.unit().abs();
                let run = |state: &mut [f32], v: &[f32], out: &mut [f32]| {
                    let (q, k) = (&q[..], &k[..]);
                    let mut token = DeltaToken {
                        state,
                        q,
                        k,
                        v,
                        decay,
                        beta,
                        corrects,
                        out,
                    };
                    // SAFETY: `available` tells that the CPU has the level.
                    unsafe { (kernels.gated_delta)(&mut token) };
                };
                let mut out = vec![0.0; rows];
                run(&mut state, &v, &mut out);
                let mut halves = vec![0.0; rows];
                let (first, second) = parts.split_at_mut(cut * dim);
                let (first_out, second_out) = halves.split_at_mut(cut);
                run(first, &v[..cut], first_out);
                run(second, &v[cut..], second_out);
                assert_eq!(out, halves);
                for (got, right) in out.iter().zip(rule.step(&q, &k, &v, &decays, beta)) {
                    let far = (f64::from(*got) - right).abs();
                    let level = kernels.level;
                    let form = (columnwise, corrects);
                    assert!(
                        far < 1e-5,
                        "{level:?} {rows}×{dim} {form:?} token {token}: {far}"
                    );
                }
            }
        }
    }
}

#[test]
fn elements_are_those_of_f64() {
    for kernels in available() {
        for len in [1, 7, 64, 101] {
            let mut random = Random(len as u64);
            let (a, b) = (random.vector(len), random.vector(len));
            let c = random.vector(len);
            let mut out = c.clone();
            // SAFETY: `available` tells that the CPU has the level.
            unsafe { (kernels.multiply_add)(&a, &b, &mut out) };
            let mut silu = a.clone();
            // SAFETY: as above.
            unsafe { (kernels.silu)(&mut silu) };
            for i in 0..len {
                let [a, b, c] = [a[i], b[i], c[i]].map(f64::from);
                assert!((f64::from(out[i]) - (a * b + c)).abs() < 1e-6);
                assert!((f64::from(silu[i]) - a / (1.0 + (-a).exp())).abs() < 1e-6);
            }
        }
    }
}
