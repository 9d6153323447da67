//! Complex numbers and Fourier transforms on a GPU, against sums in f64 and the CPU.

use crate::prng::Prng;
use mlxrocm::array::{Array, Home};
use mlxrocm::cpu::Elements;
use mlxrocm::ir::{Dtype, FftNorm, Unary};
use std::f64::consts::TAU;

type Pair = [f32; 2];

fn random(prng: &mut Prng, count: usize) -> Vec<Pair> {
    let one = |prng: &mut Prng| [prng.normal() as f32, prng.normal() as f32];
    (0..count).map(|_| one(prng)).collect()
}

/// Complex numbers there.
fn there(values: &[Pair], sizes: &[usize]) -> Array {
    let mut wide = sizes.to_vec();
    wide[sizes.len() - 1] *= 2;
    let floats = Elements::from_slice(bytemuck::cast_slice::<_, f32>(values), Dtype::F32, &wide);
    let pairs = Array::from_elements(floats.unwrap()).at(&crate::home());
    pairs.view(Dtype::C64).unwrap()
}

fn pairs(x: &Array) -> Vec<Pair> {
    let x = x.astype(Dtype::C64).view(Dtype::F32).unwrap();
    let floats: Vec<f32> = x.read().unwrap().to_vec();
    floats.chunks_exact(2).map(|z| [z[0], z[1]]).collect()
}

fn real_part(x: &Array) -> Array {
    x.unary(Unary::Real).unwrap()
}

/// Number k of the transform of one line.
fn exact(x: &[Pair], k: usize, inverse: bool) -> [f64; 2] {
    let (n, sign) = (x.len(), if inverse { 1.0 } else { -1.0 });
    let mut sum = [0.0; 2];
    for (j, z) in x.iter().enumerate() {
        let (sin, cos) = (sign * TAU * (j * k % n) as f64 / n as f64).sin_cos();
        let (re, im) = (f64::from(z[0]), f64::from(z[1]));
        sum[0] += re * cos - im * sin;
        sum[1] += re * sin + im * cos;
    }
    sum
}

/// Units of the last place of the results' usual size, per step of a transform.
fn off(found: Pair, wanted: [f64; 2], size: f64, n: usize) -> f64 {
    let apart = (f64::from(found[0]) - wanted[0]).hypot(f64::from(found[1]) - wanted[1]);
    apart / size / f64::from(f32::EPSILON) / (n as f64).log2().max(1.0)
}

#[test]
fn transforms_of_any_length_are_exact_to_a_few_last_places() {
    let mut prng = Prng::new(crate::forms::random_seed());
    // One pass; 11 and 13; two passes; convolutions of one and of two passes.
    let lengths = [
        1, 2, 3, 8, 30, 49, 77, 121, 143, 512, 1001, 2048, 2187, 4096, 4097, 5000, 6561, 8192, 17,
        127, 2053, 11_011,
    ];
    for n in lengths {
        let lines = 1 + prng.below(3) as usize;
        let values = random(&mut prng, lines * n);
        let x = there(&values, &[lines, n]);
        let size = (2.0 * n as f64).sqrt();
        let frequencies: Vec<usize> = (0..12).map(|_| prng.below(n as u64) as usize).collect();
        for inverse in [false, true] {
            let made = pairs(&x.fft(None, -1, inverse, false).unwrap());
            let scale = if inverse { n as f64 } else { 1.0 };
            for line in 0..lines {
                for &k in &frequencies {
                    let wanted = exact(&values[line * n..][..n], k, inverse).map(|v| v / scale);
                    let off = off(made[line * n + k], wanted, size / scale, n);
                    assert!(off < 3.0, "{off} units at {k} of {n}, inverse: {inverse}");
                }
            }
        }
        // Real numbers there and back.
        let real: Vec<Pair> = values[..n].iter().map(|z| [z[0], 0.0]).collect();
        let half = real_part(&x).fft(None, -1, false, true).unwrap();
        let found = pairs(&half);
        for &k in frequencies.iter().filter(|&&k| k <= n / 2) {
            let off = off(found[k], exact(&real, k, false), size, n);
            assert!(off < 3.0, "{off} units at {k} of {n} real numbers");
        }
        let back = half.fft(Some(n as i64), -1, true, true).unwrap();
        let back: Vec<f32> = back.read().unwrap().to_vec();
        for (found, z) in back.iter().zip(&values) {
            assert!((found - z[0]).abs() < 1e-5, "{found} for {} of {n}", z[0]);
        }
    }
}

#[test]
fn axes_sizes_and_norms_are_those_of_the_cpu() {
    let mut prng = Prng::new(crate::forms::random_seed());
    let values = random(&mut prng, 6 * 35 * 22);
    let x = there(&values, &[6, 35, 22]).transpose(&[2, 0, 1]).unwrap();
    let host = x.at(&Home::Cpu);
    let cases: [[Option<&[i64]>; 2]; 5] = [
        [None, None],
        [None, Some(&[0])],
        [Some(&[9, 40]), Some(&[1, 0])],
        [Some(&[17]), Some(&[1])],
        [None, Some(&[2, 0])],
    ];
    for [sizes, axes] in cases {
        for norm in [FftNorm::Backward, FftNorm::Ortho, FftNorm::Forward] {
            for (inverse, real) in [(false, false), (true, false), (false, true), (true, true)] {
                let of = |x: &Array| {
                    let x = if real && !inverse {
                        real_part(x)
                    } else {
                        x.clone()
                    };
                    pairs(&x.fft_normed(sizes, axes, (inverse, real), norm).unwrap())
                };
                let (a, b) = (of(&x), of(&host));
                assert_eq!(a.len(), b.len());
                let size = b.iter().flatten().fold(0.0f32, |most, x| most.max(x.abs()));
                for (i, (a, b)) in a.iter().zip(&b).enumerate() {
                    let apart = (a[0] - b[0]).hypot(a[1] - b[1]);
                    let what = format!(
                        "{a:?}, not {b:?} at {i}: {sizes:?} {axes:?} {norm:?} {inverse} {real}"
                    );
                    assert!(apart <= 3e-6 * size, "{what}");
                }
            }
        }
    }
}

#[test]
fn products_of_complex_matrices_are_exact() {
    let mut prng = Prng::new(crate::forms::random_seed());
    for (m, k, n) in [(1, 1, 1), (1, 40, 7), (5, 3, 2), (70, 33, 65), (3, 0, 2)] {
        let (a, b) = (random(&mut prng, 2 * m * k), random(&mut prng, n * k));
        let left = there(&a, &[2, m, k]);
        // Turned: columns lie side by side.
        let right = there(&b, &[n, k]).transpose(&[1, 0]).unwrap();
        let made = pairs(&left.matmul(&right).unwrap());
        for (i, z) in made.iter().enumerate() {
            let (row, column) = (i / n, i % n);
            let mut sum = [0.0f64; 2];
            for j in 0..k {
                let (x, y) = (
                    a[row * k + j].map(f64::from),
                    b[column * k + j].map(f64::from),
                );
                sum[0] += x[0] * y[0] - x[1] * y[1];
                sum[1] += x[0] * y[1] + x[1] * y[0];
            }
            let apart = (f64::from(z[0]) - sum[0]).hypot(f64::from(z[1]) - sum[1]);
            assert!(
                apart < 1e-5 * (k as f64 + 1.0).sqrt(),
                "{z:?}, not {sum:?}: {m} {k} {n}"
            );
        }
    }
}
