//! Every SIMD level against f64 forms of the formulas, and bit equality of batched and single rows.

mod arrays;
mod attention;
mod forms;
mod products;
mod recurrent;

use super::*;

/// splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// In −1..1.
    fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    fn vector(&mut self, len: usize) -> Vec<f32> {
        (0..len).map(|_| self.unit()).collect()
    }
}

fn seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(1, |t| t.as_nanos() as u64)
}

#[test]
fn dense_products() {
    let mut random = Random(seed());
    for ty in [ScalarType::F32, ScalarType::F16, ScalarType::BF16] {
        for (lanes, cols, rows) in [(16, 96, 1), (16, 100, 5), (3, 33, 2), (7, 8, 1)] {
            let values = random.vector(lanes * cols);
            let (data, exact): (Vec<Vec<u8>>, Vec<f32>) = values
                .iter()
                .map(|&v| match ty {
                    ScalarType::F32 => (v.to_le_bytes().to_vec(), v),
                    ScalarType::F16 => {
                        let h = half::f16::from_f32(v);
                        (h.to_le_bytes().to_vec(), h.to_f32())
                    }
                    ScalarType::BF16 => {
                        let h = half::bf16::from_f32(v);
                        (h.to_le_bytes().to_vec(), h.to_f32())
                    }
                })
                .unzip();
            let data = data.concat();
            let x = random.vector(rows * cols);
            for kernels in available() {
                let tile = DenseTile {
                    ty,
                    data: &data,
                    rows: lanes,
                    cols,
                };
                let mut out = vec![[f32::NAN; 16]; rows];
                // SAFETY: `kernels` comes from `available`.
                unsafe { (kernels.dense_tile)(&tile, &x, &mut out) };
                for (row, x) in x.chunks_exact(cols).enumerate() {
                    for lane in 0..lanes {
                        let w = &exact[lane * cols..][..cols];
                        let sum: f64 = w
                            .iter()
                            .zip(x)
                            .map(|(&w, &x)| f64::from(w) * f64::from(x))
                            .sum();
                        assert!(
                            (f64::from(out[row][lane]) - sum).abs() < 1e-4,
                            "{:?} {ty:?}",
                            kernels.level
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn norms_and_activations() {
    let mut random = Random(seed());
    for len in [1, 31, 64, 576, 1000] {
        let (x, w) = (random.vector(len), random.vector(len));
        let mean = x.iter().map(|&v| f64::from(v).powi(2)).sum::<f64>() / len as f64;
        let wide: Vec<f32> = x.iter().map(|v| v * 40.0).collect();
        for kernels in available() {
            let mut out = vec![f32::NAN; len];
            // SAFETY: `kernels` comes from `available`.
            unsafe { (kernels.rms_norm)(&x, &w, 1e-5, &mut out) };
            for i in 0..len {
                let exact = f64::from(x[i]) / (mean + 1e-5).sqrt() * f64::from(w[i]);
                assert!((f64::from(out[i]) - exact).abs() < 1e-5);
            }
            let mut gate = wide.clone();
            // SAFETY: as above.
            unsafe { (kernels.swiglu)(&mut gate, &w) };
            for i in 0..len {
                let g = f64::from(wide[i]);
                let exact = g / (1.0 + (-g).exp()) * f64::from(w[i]);
                assert!((f64::from(gate[i]) - exact).abs() <= 2e-6 * exact.abs().max(1.0));
            }
            let mut gate = wide.clone();
            let up: Vec<f32> = w.iter().rev().map(|v| v * 9.0).collect();
            gate[0] = f32::NAN;
            // SAFETY: as above.
            unsafe { (kernels.swiglu_clamped)(&mut gate, &up, 7.0) };
            assert!(gate[0].is_nan());
            for i in 1..len {
                let (g, u) = (
                    f64::from(wide[i]).min(7.0),
                    f64::from(up[i]).clamp(-7.0, 7.0),
                );
                let exact = g / (1.0 + (-1.702 * g).exp()) * (u + 1.0);
                assert!((f64::from(gate[i]) - exact).abs() <= 2e-6 * exact.abs().max(1.0));
            }
            let mut half = vec![0u16; len];
            let mut back = vec![f32::NAN; len];
            // What f16 has no room for is as far as it goes; what is not finite stays.
            let (infinite, lost) = (len / 3, len / 2 + 1);
            let mut keys = wide.clone();
            let far = [65504.0, 65519.9, 65520.0, -65536.0, f32::MAX, f32::MIN];
            keys.iter_mut()
                .skip(1)
                .step_by(3)
                .zip(far)
                .for_each(|(to, x)| *to = x);
            keys[infinite] = f32::NEG_INFINITY;
            if let Some(key) = keys.get_mut(lost) {
                *key = f32::NAN;
            }
            // SAFETY: as above.
            unsafe {
                (kernels.narrow)(&keys, &mut half);
                (kernels.kv_keys)(KvType::F16, &half, &mut back);
            }
            for i in 0..len {
                let fits = match keys[i] {
                    x if x.is_finite() => half::f16::from_f32(x.clamp(-65504.0, 65504.0)).to_f32(),
                    x => x,
                };
                assert_eq!(back[i].is_nan(), fits.is_nan());
                assert!(
                    back[i] == fits || fits.is_nan(),
                    "{} for {}",
                    back[i],
                    keys[i]
                );
            }
        }
    }
}
