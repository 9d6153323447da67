//! What is done with a row of f32: sums in f64, in lanes, in a fixed order.

use super::level::{Level, Work};
use super::math;

/// Lanes of a row's sums.
const LANES: usize = 16;

#[inline(always)]
fn sum(x: impl ExactSizeIterator<Item = f64>, lanes: &mut [f64; LANES]) {
    for (at, x) in x.enumerate() {
        lanes[at % LANES] += x;
    }
}

#[inline(always)]
fn total(lanes: [f64; LANES]) -> f64 {
    let mut lanes = lanes;
    let mut n = LANES / 2;
    while n > 0 {
        for i in 0..n {
            lanes[i] += lanes[i + n];
        }
        n /= 2;
    }
    lanes[0]
}

/// The sum of a term of each element.
#[inline(always)]
fn sum_of(x: &[f32], term: impl Fn(f64) -> f64) -> f64 {
    let mut lanes = [0f64; LANES];
    let (chunks, rest) = x.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, &x) in lanes.iter_mut().zip(chunk) {
            *lane += term(f64::from(x));
        }
    }
    sum(rest.iter().map(|&x| term(f64::from(x))), &mut lanes);
    total(lanes)
}

/// The largest; NaN may be passed over.
#[inline(always)]
fn largest(x: &[f32]) -> f32 {
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let (chunks, rest) = x.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, &x) in lanes.iter_mut().zip(chunk) {
            *lane = if x > *lane { x } else { *lane };
        }
    }
    let all = lanes.iter().chain(rest).copied();
    all.fold(f32::NEG_INFINITY, |most, x| if x > most { x } else { most })
}

/// `e^(x − most)` of a row to `to`, and their sum.
#[inline(always)]
fn exponentials<const F: bool>(x: &[f32], most: f32, to: &mut [f64]) -> f64 {
    let mut lanes = [0f64; LANES];
    let most = f64::from(most);
    let (chunks, rest) = x.as_chunks::<LANES>();
    let (to, to_rest) = to[..x.len()].as_chunks_mut::<LANES>();
    for (chunk, to) in chunks.iter().zip(to) {
        for (to, &x) in to.iter_mut().zip(chunk) {
            *to = math::exp::<F>(f64::from(x) - most);
        }
        for (lane, x) in lanes.iter_mut().zip(to) {
            *lane += *x;
        }
    }
    for ((lane, to), &x) in lanes.iter_mut().zip(to_rest).zip(rest) {
        *to = math::exp::<F>(f64::from(x) - most);
        *lane += *to;
    }
    total(lanes)
}

/// A row to its softmax; `scratch` has as many numbers.
pub struct Softmax<'a>(pub &'a [f32], pub &'a mut [f64], pub &'a mut [f32]);

impl Work for Softmax<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Level>(self) {
        let Softmax(x, scratch, out) = self;
        let most = largest(x);
        let sum = match L::FUSED {
            true => exponentials::<true>(x, most, scratch),
            false => exponentials::<false>(x, most, scratch),
        };
        let factor = 1.0 / sum;
        for (to, x) in out.iter_mut().zip(scratch) {
            *to = (*x * factor) as f32;
        }
    }
}

/// The logarithm of a row's sum of exponentials.
pub struct LogSumExp<'a>(pub &'a [f32], pub &'a mut [f64]);

impl Work for LogSumExp<'_> {
    type Out = f32;
    #[inline(always)]
    fn run<L: Level>(self) -> f32 {
        let LogSumExp(x, scratch) = self;
        let most = largest(x);
        let sum = match L::FUSED {
            true => exponentials::<true>(x, most, scratch),
            false => exponentials::<false>(x, most, scratch),
        };
        // Infinities are their own logarithm; a NaN beside them is in the sum either way.
        match most.is_infinite() && !x.iter().any(|x| x.is_nan()) {
            true => most,
            false => (f64::from(most) + sum.ln()) as f32,
        }
    }
}

/// `(x − mean) · factor` of a row, with `factor = rsqrt(mean((x − mean)²) + eps)`.
pub struct Norm<'a> {
    pub x: &'a [f32],
    pub eps: f64,
    pub centred: bool,
    pub out: &'a mut [f32],
}

impl Work for Norm<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Level>(self) {
        let count = self.x.len() as f64;
        let mean = match self.centred {
            true => sum_of(self.x, |x| x) / count,
            false => 0.0,
        };
        let squares = sum_of(self.x, |x| (x - mean) * (x - mean)) / count;
        let factor = 1.0 / (squares + self.eps).sqrt();
        for (to, &x) in self.out.iter_mut().zip(self.x) {
            *to = ((f64::from(x) - mean) * factor) as f32;
        }
    }
}

/// `y = y · weight`, or `y + bias`.
pub struct Meet<'a>(pub &'a mut [f32], pub &'a [f32], pub bool);

impl Work for Meet<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Level>(self) {
        for (y, &x) in self.0.iter_mut().zip(self.1) {
            *y = if self.2 { *y * x } else { *y + x };
        }
    }
}

/// The place of the first NaN, or of the first of the largest (or smallest) numbers.
pub struct First<'a>(pub &'a [f32], pub bool);

impl Work for First<'_> {
    type Out = u32;
    #[inline(always)]
    fn run<L: Level>(self) -> u32 {
        let First(x, most) = self;
        let mut lanes = [x[0]; LANES];
        let mut nan = [false; LANES];
        let (chunks, rest) = x.as_chunks::<LANES>();
        for chunk in chunks {
            for ((lane, nan), &x) in lanes.iter_mut().zip(&mut nan).zip(chunk) {
                let better = if most { x > *lane } else { x < *lane };
                *lane = if better { x } else { *lane };
                *nan |= x.is_nan();
            }
        }
        let all = lanes.iter().chain(rest).copied();
        let best = all.reduce(|a, b| if (b > a) == most && a != b { b } else { a });
        let found = match nan.contains(&true) || rest.iter().any(|x| x.is_nan()) {
            true => x.iter().position(|x| x.is_nan()),
            false => x.iter().position(|&x| Some(x) == best),
        };
        found.unwrap_or(0) as u32
    }
}
