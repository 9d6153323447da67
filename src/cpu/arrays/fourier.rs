//! Fourier transforms along the last axis, each line by one worker; of real numbers as a complex one of half the size.

use super::blocks::parts;
use super::source::Source;
use crate::cpu::ops::{Out, View};
use crate::cpu::threads::ThreadPool;
use crate::ir::{Dtype, Op};
use num_complex::Complex;
use rustfft::{Fft, FftDirection, FftPlanner};
use std::sync::Arc;

type C32 = Complex<f32>;

/// Elements of a worker's share.
const SHARE: usize = 1 << 15;

fn plan(size: usize, inverse: bool) -> Arc<dyn Fft<f32>> {
    let direction = match inverse {
        true => FftDirection::Inverse,
        false => FftDirection::Forward,
    };
    FftPlanner::new().plan_fft(size, direction)
}

/// A line of `2 · half.len()` real numbers, which lie in `half` as pairs and are transformed there, to the first
/// `half.len() + 1` frequencies: those of the even and the odd numbers, put together.
fn untangle(half: &[C32], turns: &[C32], scale: f32, out: &mut [C32]) {
    let n = half.len();
    for (k, to) in out.iter_mut().enumerate().take(n + 1) {
        let (a, b) = (half[k % n], half[(n - k) % n].conj());
        let (even, odd) = ((a + b) * 0.5, (a - b) * 0.5);
        // Times −i and the turn e^(−πik/n).
        *to = (even + odd * turns[k]) * scale;
    }
}

/// Runs a transform along the last axis; false: there is no fast form of this one.
pub fn run(op: &Op, inputs: &[View<'_>], out: &mut Out<'_>, pool: Option<&mut ThreadPool>) -> bool {
    let (Op::Fft(fft), [x]) = (op, inputs) else {
        return false;
    };
    let last = x.sizes().len().wrapping_sub(1);
    if fft.axes[..] != [last] || out.dtype() != Dtype::C64 {
        return false;
    }
    let size = x.sizes()[last];
    let to = out.sizes()[last];
    let scale = fft.scale(size) as f32;
    if !fft.real {
        let Some(source) = Source::<C32>::of(x) else {
            return false;
        };
        let plan = plan(size, fft.inverse);
        parts(out.values::<C32>(), size, SHARE, pool, &|start, out| {
            source.copy(start, out);
            let mut scratch = vec![C32::default(); plan.get_inplace_scratch_len()];
            plan.process_with_scratch(out, &mut scratch);
            if scale != 1.0 {
                out.iter_mut().for_each(|z| *z *= scale);
            }
        });
        return true;
    }
    let Some(source) = Source::<f32>::of(x) else {
        return false;
    };
    if fft.inverse || !size.is_multiple_of(2) || to != size / 2 + 1 {
        return false;
    }
    let n = size / 2;
    let plan = plan(n, false);
    let turn = |k: usize| {
        let (sin, cos) = (std::f64::consts::PI * k as f64 / n as f64).sin_cos();
        // −i · (cos − i · sin)
        C32::new(-sin as f32, -cos as f32)
    };
    let turns: Vec<C32> = (0..=n).map(turn).collect();
    parts(out.values::<C32>(), to, SHARE, pool, &|start, out| {
        let mut half = vec![C32::default(); n];
        let mut scratch = vec![C32::default(); plan.get_inplace_scratch_len()];
        for (place, out) in out.chunks_exact_mut(to).enumerate() {
            let line = start / to + place;
            source.copy(line * size, bytemuck::cast_slice_mut(&mut half));
            plan.process_with_scratch(&mut half, &mut scratch);
            untangle(&half, &turns, scale, out);
        }
    });
    true
}
