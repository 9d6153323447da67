//! Fourier transforms as passes of `hip/ops/arrays/fft.hip`: one, two for what is longer than a block takes, and convolutions
//! for lengths with large primes; whole lines of a power of two by kernels of their own.

mod powers;

use super::{Elements, Place};
use crate::Result;
use crate::gpu::constants::arrays_fft as flags;
use crate::gpu::{Args, DeviceBuffer};
use crate::ir::{Dtype, Fft};
use num_complex::Complex;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::f64::consts::TAU;
use std::sync::Arc;

/// Threads of a block.
const THREADS: u32 = flags::THREADS as u32;
/// Numbers of a block: of the kernel of radices up to 8, and of the one with 11 and 13.
const MOST: usize = flags::MOST;
const MOST_PRIMES: usize = 2048;
/// Blocks that lines are not joined below.
const BUSY: usize = 512;
/// The longest convolution: angles are of whole numbers below this.
const LONGEST: usize = 1 << 24;
/// Numbers of a table that is kept, and how many tables.
const KEPT: usize = 1 << 17;
const TABLES: usize = 64;

/// Tables by what they are of: roots of unity of n (n, 0) and as steps take them (n, [`STEPS`]), a convolution's factors (n, its
/// length).
pub(super) type Tables = Mutex<HashMap<(usize, usize), DeviceBuffer>>;

/// What no convolution's length is.
const STEPS: usize = 1;

/// Numbers of lines of transforms: `count` of each, neighbours `inner` numbers apart.
struct Ends<'a> {
    elements: &'a Elements,
    count: usize,
    flags: u32,
}

/// Transforms of `n` numbers along one axis.
struct Lines<'a> {
    n: usize,
    outer: usize,
    inner: usize,
    x: Ends<'a>,
    out: Ends<'a>,
    /// n of CHIRP_IN and CHIRP_OUT.
    chirps: usize,
    factors: Option<&'a DeviceBuffer>,
    scale: f64,
}

/// Of a pass: numbers of a line, lines of a transform, and which number an element is: steps of elements and lines.
struct Pass {
    n: usize,
    count: usize,
    x_steps: (usize, usize),
    out_steps: (usize, usize),
}

impl Place {
    /// A transform along several axes.
    pub(super) fn fft(
        self: &Arc<Self>,
        fft: &Fft,
        x: &Elements,
        sizes: &[usize],
    ) -> Result<Option<Elements>> {
        let Some((&last, others)) = fft.axes.split_last() else {
            return Ok(None);
        };
        if sizes.contains(&0) {
            let dtype = match fft.real && fft.inverse {
                true => Dtype::F32,
                false => Dtype::C64,
            };
            return Ok(self.new_rows(sizes, dtype)?.map(|(out, _)| out));
        }
        let Some(mut x) = self.rows(x)? else {
            return Ok(None);
        };
        let mut axes: Vec<usize> = others.to_vec();
        match fft.real && !fft.inverse {
            true => axes.insert(0, last),
            false => axes.push(last),
        }
        for axis in axes {
            let half = fft.real && axis == last;
            let n = match half && fft.inverse {
                true => sizes[axis],
                false => x.layout().sizes[axis],
            };
            match self.fft_axis(&x, axis, n, (fft, half))? {
                Some(made) => x = made,
                None => return Ok(None),
            }
        }
        Ok(Some(x))
    }

    /// Along one axis, of n numbers; `half`: n / 2 + 1 of them on one side.
    fn fft_axis(
        self: &Arc<Self>,
        x: &Elements,
        axis: usize,
        n: usize,
        (fft, half): (&Fft, bool),
    ) -> Result<Option<Elements>> {
        let mut sizes = x.layout().sizes.clone();
        let (outer, inner) = (
            sizes[..axis].iter().product(),
            sizes[axis + 1..].iter().product(),
        );
        let (mut from, mut to, mut dtype) = (0, 0, Dtype::C64);
        if fft.inverse {
            (from, to) = (flags::CONJUGATE_IN, flags::CONJUGATE_OUT);
        }
        match (half, fft.inverse) {
            (true, false) => from |= flags::REAL_IN,
            (true, true) => {
                from |= flags::HALF_IN;
                to |= flags::REAL_OUT;
                dtype = Dtype::F32;
            }
            _ => {}
        }
        let count = sizes[axis];
        sizes[axis] = if half && !fft.inverse { n / 2 + 1 } else { n };
        let Some((out, _)) = self.new_rows(&sizes, dtype)? else {
            return Ok(None);
        };
        let lines = Lines {
            n,
            outer,
            inner,
            x: Ends {
                elements: x,
                count,
                flags: from,
            },
            out: Ends {
                elements: &out,
                count: sizes[axis],
                flags: to,
            },
            chirps: 0,
            factors: None,
            scale: fft.scale(n),
        };
        let done = self.fft_powers(&lines)?
            || self.fft_lines(&lines)?
            || self.fft_by_convolution(&lines)?;
        Ok(done.then_some(out))
    }

    /// In one pass or two; false if `n` has primes that no radix is.
    fn fft_lines(self: &Arc<Self>, lines: &Lines<'_>) -> Result<bool> {
        let n = lines.n;
        if radices(n).is_some() {
            let pass = Pass {
                n,
                count: 1,
                x_steps: (1, 0),
                out_steps: (1, 0),
            };
            self.fft_pass(lines, &pass)?;
            return Ok(true);
        }
        let Some((n1, n2)) = split(n) else {
            return Ok(false);
        };
        let Some((between, _)) = self.new_rows(&[lines.outer, n, lines.inner], Dtype::C64)? else {
            return Ok(false);
        };
        let middle = |flags| Ends {
            elements: &between,
            count: n,
            flags,
        };
        let first = Lines {
            x: Ends { ..lines.x },
            out: middle(flags::TWIDDLE),
            factors: None,
            scale: 1.0,
            ..*lines
        };
        let pass = Pass {
            n: n1,
            count: n2,
            x_steps: (n2, 1),
            out_steps: (n2, 1),
        };
        self.fft_pass(&first, &pass)?;
        let second = Lines {
            x: middle(0),
            out: Ends { ..lines.out },
            ..*lines
        };
        let pass = Pass {
            n: n2,
            count: n1,
            x_steps: (1, n2),
            out_steps: (n1, 1),
        };
        self.fft_pass(&second, &pass)?;
        Ok(true)
    }

    /// Of any n, by two transforms of a power of two; false if that is too long.
    fn fft_by_convolution(self: &Arc<Self>, lines: &Lines<'_>) -> Result<bool> {
        let n = lines.n;
        let length = (2 * n - 1).next_power_of_two();
        if length > LONGEST {
            return Ok(false);
        }
        let sizes = [lines.outer, length, lines.inner];
        let Some((between, _)) = self.new_rows(&sizes, Dtype::C64)? else {
            return Ok(false);
        };
        let factors = self.fft_table((n, length))?;
        let middle = |flags| Ends {
            elements: &between,
            count: length,
            flags,
        };
        let there = Lines {
            n: length,
            x: Ends {
                flags: lines.x.flags | flags::CHIRP_IN,
                ..lines.x
            },
            out: middle(0),
            chirps: n,
            factors: Some(&factors),
            scale: 1.0,
            ..*lines
        };
        let back = Lines {
            n: length,
            x: middle(flags::CONJUGATE_IN),
            out: Ends {
                flags: lines.out.flags | flags::CONJUGATE_LINE | flags::CHIRP_OUT,
                ..lines.out
            },
            chirps: n,
            factors: None,
            scale: lines.scale / length as f64,
            ..*lines
        };
        Ok(self.fft_lines(&there)? && self.fft_lines(&back)?)
    }

    fn fft_pass(self: &Arc<Self>, lines: &Lines<'_>, pass: &Pass) -> Result<()> {
        let (kernel, most, radices) = match radices(pass.n) {
            Some((radices, false)) => ("mlxrocm_array_fft", MOST, radices),
            Some((radices, true)) => ("mlxrocm_array_fft_primes", MOST_PRIMES, radices),
            None => return Err(crate::Error::Internal(format!("a line of {}", pass.n))),
        };
        let all = lines.outer * pass.count * lines.inner;
        let joined = (most / pass.n).min(all.div_ceil(BUSY)).max(1);
        // Lines that begin side by side are read across.
        let turned = |steps: (usize, usize), flag| match lines.inner > 1 || steps.1 == 1 {
            true => flag,
            false => 0,
        };
        let number = |x: usize| x as u32;
        let flags = lines.x.flags
            | lines.out.flags
            | turned(pass.x_steps, flags::LINES_IN)
            | turned(pass.out_steps, flags::LINES_OUT);
        let roots = self.fft_table((pass.n, 0))?;
        let (x, out) = (&lines.x, &lines.out);
        let mut args = Args::new()
            .buffer("x", x.elements.buffer(), x.elements.offset())
            .buffer("out", out.elements.buffer(), out.elements.offset())
            .buffer("roots", &roots, 0)
            .buffer_or_null("factors", lines.factors.map(|factors| (factors, 0)))
            .u32("n", number(pass.n))
            .u32("lines", number(joined))
            .u32("all_lines", number(all))
            .u32("s_count", number(pass.count))
            .u32("i_count", number(lines.inner))
            .u32("flags", flags);
        for (side, ends, steps) in [("x", x, pass.x_steps), ("out", out, pass.out_steps)] {
            args = args
                .u32((side, "_step"), number(lines.inner))
                .u32((side, "_outer"), number(ends.count * lines.inner))
                .u32((side, "_g_step"), number(steps.0))
                .u32((side, "_g_line"), number(steps.1))
                .u32((side, "_count"), number(ends.count));
        }
        let args = args
            .u32("whole", number(lines.n))
            .u32("chirps", number(lines.chirps))
            .u32("radices", radices as u32)
            .u32("more_radices", (radices >> 32) as u32)
            .f32("scale", lines.scale as f32);
        let kernel = self.device.kernel(kernel)?;
        let grid = [number(all.div_ceil(joined)), 1, 1];
        self.launch_blocks(&kernel, grid, ([THREADS, 1, 1], 0), &args)
    }

    /// A table, made in f64. It is no memory of a recorded graph, which only reads it.
    fn fft_table(self: &Arc<Self>, key: (usize, usize)) -> Result<DeviceBuffer> {
        let mut tables = self.roots.lock();
        if let Some(table) = tables.get(&key) {
            return Ok(table.clone());
        }
        let numbers = match key {
            (n, 0) => roots(n),
            (n, STEPS) => powers::roots_of_steps(n),
            (n, length) => convolution_factors(n, length),
        };
        let narrow = |z: &Complex<f64>| [z.re as f32, z.im as f32];
        let numbers: Vec<[f32; 2]> = numbers.iter().map(narrow).collect();
        let bytes: &[u8] = bytemuck::cast_slice(&numbers);
        let table = self.device.alloc_for(&self.stream, bytes.len() as u64)?;
        self.stream.copy_to_device(&table, 0, bytes)?;
        if numbers.len() <= KEPT {
            if tables.len() >= TABLES {
                tables.clear();
            }
            tables.insert(key, table.clone());
        }
        Ok(table)
    }
}

/// e^(-2πi t/n).
fn roots(n: usize) -> Vec<Complex<f64>> {
    let root = |t: usize| Complex::cis(-TAU * t as f64 / n as f64);
    (0..n).map(root).collect()
}

/// The transform of e^(πi j²/n), j = 1 - n … n - 1, at places modulo `length`.
fn convolution_factors(n: usize, length: usize) -> Vec<Complex<f64>> {
    let mut factors = vec![Complex::default(); length];
    for j in 0..n {
        let turn = j as u64 * j as u64 % (2 * n) as u64;
        let value = Complex::cis(TAU / 2.0 * turn as f64 / n as f64);
        factors[j] = value;
        factors[(length - j) % length] = value;
    }
    let plan = rustfft::FftPlanner::new().plan_fft_forward(length);
    plan.process(&mut factors);
    factors
}

/// The radices of a line's steps, four bits each, and whether 11 or 13 is among them; `None` if a block does not take it.
fn radices(n: usize) -> Option<(u64, bool)> {
    if n > MOST {
        return None;
    }
    let has_primes = n.is_multiple_of(11) || n.is_multiple_of(13);
    let all: &[usize] = match has_primes {
        true => &[13, 11, 5, 3, 2],
        false => &[8, 4, 7, 5, 3, 2],
    };
    let (mut left, mut radices, mut count) = (n, 0, 0);
    for &radix in all {
        while left.is_multiple_of(radix) {
            left /= radix;
            radices |= (radix as u64) << (4 * count);
            count += 1;
        }
    }
    let fits = left == 1 && count <= 16 && !(has_primes && n > MOST_PRIMES);
    fits.then_some((radices, has_primes))
}

/// Two lengths that blocks take, as near each other as can be.
fn split(n: usize) -> Option<(usize, usize)> {
    let fits =
        |&n1: &usize| n.is_multiple_of(n1) && radices(n1).is_some() && radices(n / n1).is_some();
    let n1 = (2..=MOST.min(n.isqrt())).rev().find(fits)?;
    Some((n1, n / n1))
}
