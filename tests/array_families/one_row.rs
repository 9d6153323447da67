//! One row times codes of 4 bits, for which GPUs have kernels of their own, against sums in f64.

use crate::prng::Prng;
use mlxrocm::array::Array;
use mlxrocm::cpu::Elements;
use mlxrocm::ir::{Dtype, QuantMode, Quantization};

struct Matrix {
    codes: Vec<u32>,
    scales: Vec<f32>,
    biases: Vec<f32>,
    group: usize,
}

/// Numbers as they are in a dtype.
fn rounded(values: &[f32], dtype: Dtype) -> Vec<f32> {
    let array = Elements::from_slice(values, Dtype::F32, &[values.len()]).unwrap();
    let array = Array::from_elements(array).astype(dtype);
    array.astype(Dtype::F32).read().unwrap().to_vec()
}

impl Matrix {
    /// Of scales and biases that a dtype has; half of the groups are symmetric, as files of 4 bits often are.
    fn random(random: &mut Prng, (n, k, group): (usize, usize, usize), dtype: Dtype) -> Matrix {
        let scale = |random: &mut Prng| random.uniform(-0.02, 0.03) as f32;
        let scales: Vec<f32> = (0..n * k / group).map(|_| scale(random)).collect();
        let scales = rounded(&scales, dtype);
        let bias = |scale: &f32| match random.below(2) {
            0 => -8.0 * scale,
            _ => random.uniform(-0.2, 0.2) as f32,
        };
        let biases: Vec<f32> = scales.iter().map(bias).collect();
        Matrix {
            codes: (0..n * k / 8).map(|_| random.u64() as u32).collect(),
            biases: rounded(&biases, dtype),
            scales,
            group,
        }
    }

    /// x · row, and the sum of what is added without signs.
    fn row(&self, row: usize, x: &[f32]) -> (f64, f64) {
        let at = row * x.len();
        let terms = x.iter().enumerate().map(|(k, &x)| {
            let code = self.codes[(at + k) / 8] >> ((at + k) % 8 * 4) & 15;
            let group = (at + k) / self.group;
            let (scale, bias) = (f64::from(self.scales[group]), f64::from(self.biases[group]));
            let x = f64::from(x);
            (
                x * (scale * f64::from(code) + bias),
                (x * scale).abs() * 16.0 + (x * bias).abs(),
            )
        });
        terms.fold((0.0, 0.0), |sum, term| (sum.0 + term.0, sum.1 + term.1))
    }
}

fn there(values: &[f32], dtype: Dtype, sizes: &[usize]) -> Array {
    let array = Elements::from_slice(values, Dtype::F32, sizes).unwrap();
    Array::from_elements(array).astype(dtype).at(&crate::home())
}

#[test]
fn one_row_times_codes_is_the_sum_in_f64() {
    let mut random = Prng::new(std::process::id().into());
    let dtypes = [
        (Dtype::F32, Dtype::F32),
        (Dtype::F32, Dtype::F16),
        (Dtype::F32, Dtype::Bf16),
        (Dtype::F16, Dtype::F16),
        (Dtype::Bf16, Dtype::Bf16),
    ];
    let shapes = [
        (1, 32, 32),
        (5, 64, 64),
        (17, 96, 32),
        (40, 128, 128),
        (33, 576, 32),
        (131, 704, 64),
        (50, 4096, 128),
        (300, 2080, 32),
        (70, 12_288, 64),
    ];
    for (number, &(n, k, group)) in shapes.iter().enumerate() {
        for (kind, &(dtype, of_scales)) in dtypes.iter().enumerate() {
            let w = Matrix::random(&mut random, (n, k, group), of_scales);
            let mut x: Vec<f32> = (0..k).map(|_| random.normal() as f32).collect();
            // Small ones, one that is far larger than the others, what f16 has not.
            let factor = match (number + kind) % 4 {
                1 if dtype != Dtype::F16 => 1e-30,
                2 if dtype != Dtype::F16 => 3e33,
                _ => 1.0,
            };
            x.iter_mut().for_each(|x| *x *= factor);
            if kind % 2 == 1 {
                x[random.below(k as u64) as usize] *= 1000.0;
            }
            let x = rounded(&x, dtype);
            let q = Quantization::new(QuantMode::Affine, Some(group), Some(4)).unwrap();
            let codes = Elements::from_slice(&w.codes, Dtype::U32, &[n, k / 8]).unwrap();
            let codes = Array::from_elements(codes).at(&crate::home());
            let of_groups = |values: &[f32]| there(values, of_scales, &[n, k / group]);
            let (scales, biases) = (of_groups(&w.scales), of_groups(&w.biases));
            let product = |x: &[f32]| -> Vec<f32> {
                let x = there(x, dtype, &[1, k]);
                let made = x
                    .quantized_matmul(&codes, &scales, Some(&biases), true, q)
                    .unwrap();
                assert_eq!(made.dtype(), dtype);
                made.astype(Dtype::F32).read().unwrap().to_vec()
            };
            let found = product(&x);
            // What the dtype of the result rounds to.
            let rounding = match dtype {
                Dtype::F32 => 0.0,
                Dtype::F16 => 1.0 / 2048.0,
                _ => 1.0 / 256.0,
            };
            for (row, &found) in found.iter().enumerate() {
                let (sum, size) = w.row(row, &x);
                let off = (f64::from(found) - sum).abs();
                let most = size * 1e-6 + sum.abs() * rounding + 1e-7 * f64::from(factor);
                assert!(
                    off <= most,
                    "{n} x {k}, groups of {group}, {dtype:?} {of_scales:?}, column {row}: {found}, not {sum}"
                );
            }
            // The same bits again, and what is no number.
            assert_eq!(product(&x), found);
            let mut odd = x.clone();
            odd[k / 3] = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN][number % 3];
            for (row, found) in product(&odd).into_iter().enumerate() {
                let (sum, _) = w.row(row, &odd);
                let same = match sum.is_nan() {
                    true => found.is_nan(),
                    false => f64::from(found) == sum,
                };
                assert!(
                    same,
                    "{n} x {k} {dtype:?}, column {row}: {found}, not {sum}"
                );
            }
        }
    }
}
