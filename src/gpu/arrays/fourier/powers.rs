//! Whole lines of a power of two, one behind the other: `hip/ops/arrays/fft_powers.hip`.

use super::{BUSY, Lines, Place, STEPS, flags};
use crate::Result;
use crate::gpu::Args;
use crate::gpu::constants::arrays_fft_powers as powers;
use num_complex::Complex;
use std::f64::consts::TAU;
use std::sync::Arc;

impl Place {
    /// By `fft_powers.hip`: lines of a power of two, whole and one behind the other; false if they are others.
    pub(super) fn fft_powers(self: &Arc<Self>, lines: &Lines<'_>) -> Result<bool> {
        let real = match (lines.x.flags, lines.out.flags) {
            (0, 0) | (flags::CONJUGATE_IN, flags::CONJUGATE_OUT) => false,
            (flags::REAL_IN, 0) => true,
            _ => return Ok(false),
        };
        let n = if real { lines.n / 2 } else { lines.n };
        let whole = lines.x.count == lines.n && lines.inner == 1 && lines.n.is_power_of_two();
        if !whole || !(8..=powers::POWER_MOST).contains(&n) || !lines.x.elements.is_aligned(8) {
            return Ok(false);
        }
        let (name, most, threads) = match n {
            ..=powers::SMALL_MOST => ("_small", powers::SMALL_MOST, powers::SMALL_THREADS),
            _ => ("", powers::POWER_MOST, powers::POWER_THREADS),
        };
        let joined = (most / n).min(lines.outer.div_ceil(BUSY)).max(1);
        let roots = self.fft_table((n, STEPS))?;
        let halves = match real {
            true => Some(self.fft_table((lines.n, 0))?),
            false => None,
        };
        let (x, out) = (lines.x.elements, lines.out.elements);
        let args = Args::new()
            .buffer("x", x.buffer(), x.offset())
            .buffer("out", out.buffer(), out.offset())
            .buffer("roots", &roots, 0)
            .buffer_or_null("halves", halves.as_ref().map(|halves| (halves, 0)))
            .u32("log_n", n.ilog2())
            .u32("lines", joined as u32)
            .u32("all_lines", lines.outer as u32)
            .u32("inverse", (lines.x.flags == flags::CONJUGATE_IN).into())
            .f32("scale", lines.scale as f32);
        let kernel = format!("mlxrocm_array_fft_powers{name}");
        let kernel = self.device.kernel(&kernel)?;
        let grid = [lines.outer.div_ceil(joined) as u32, 1, 1];
        let block = [threads as u32, 1, 1];
        self.launch_blocks(&kernel, grid, (block, 0), &args)?;
        Ok(true)
    }
}

/// Roots of unity as `fft_powers.hip` has them; the first step needs none.
pub(super) fn roots_of_steps(n: usize) -> Vec<Complex<f64>> {
    let mut roots = vec![Complex::default(); n];
    let mut done = 1 << [3, 1, 2][n.ilog2() as usize % 3];
    while done < n {
        for (place, root) in roots.iter_mut().enumerate().take(8 * done).skip(done) {
            let turn = (place / done) * (place % done);
            *root = Complex::cis(-TAU * turn as f64 / (8 * done) as f64);
        }
        done *= 8;
    }
    roots
}
