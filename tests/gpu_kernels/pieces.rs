//! Unquantized matrices: products of few rows (`hip/ops/matmul/rows_pieces.hip`) beside f64, and a row's bits alone beside its
//! bits among others; what of them a BLAS takes. What a kernel must not write is poisoned.

use crate::prng::Prng;
use crate::{Bench, on_every_target};
use half::{bf16, f16};
use mlxrocm::driver::Platform;
use mlxrocm::gpu::Args;

const POISON: u32 = 0x7fc0_dead;
const TYPES: [&str; 3] = ["f32", "f16", "bf16"];
const STORE: u32 = 0;
const ADD: u32 = 1;
const SILU: u32 = 2;
/// Columns of W; widths of the outputs; the epilogue.
const CASES: [(usize, [usize; 4], u32); 5] = [
    (8, [40, 0, 0, 0], STORE),
    (1032, [24, 16, 8, 0], STORE),
    (2048, [128, 0, 0, 0], STORE),
    (2056, [72, 0, 0, 0], ADD),
    (4104, [40, 0, 0, 0], SILU),
];

struct Product {
    ty: &'static str,
    cols: usize,
    widths: [usize; 4],
    epilogue: u32,
    tiles: usize,
    weights: Vec<f64>,
    x: Vec<f64>,
    norm: Option<Vec<f64>>,
    bias: Vec<f64>,
    residual: Vec<f64>,
}

fn words(numbers: &[f64]) -> Vec<u32> {
    numbers.iter().map(|&x| (x as f32).to_bits()).collect()
}

impl Product {
    fn new(
        random: &mut Prng,
        ty: &'static str,
        case: (usize, [usize; 4], u32),
        rows: usize,
        is_normed: bool,
    ) -> Product {
        let (cols, widths, epilogue) = case;
        let tiles: usize = widths.iter().map(|width| width.div_ceil(16)).sum();
        let tiles = if epilogue == SILU { 2 * tiles } else { tiles };
        let mut numbers = |count: usize, std: f64| -> Vec<f64> {
            let number = |_| f64::from((std * random.normal()) as f32);
            (0..count).map(number).collect()
        };
        let weights = numbers(tiles * 16 * cols, 0.05);
        let rounded = weights.iter().map(|&w| match ty {
            "f16" => f16::from_f64(w).to_f64(),
            "bf16" => bf16::from_f64(w).to_f64(),
            _ => w,
        });
        Product {
            ty,
            cols,
            widths,
            epilogue,
            tiles,
            weights: rounded.collect(),
            x: numbers(rows * cols, 1.0),
            norm: is_normed.then(|| numbers(cols, 0.3)),
            bias: numbers(tiles * 16, 1.0),
            residual: numbers(rows * widths[0], 1.0),
        }
    }

    fn weight_words(&self) -> Vec<u32> {
        let bits = |w: f64| match self.ty {
            "f16" => f16::from_f64(w).to_bits(),
            _ => bf16::from_f64(w).to_bits(),
        };
        match self.ty {
            "f32" => words(&self.weights),
            _ => self
                .weights
                .chunks(2)
                .map(|pair| u32::from(bits(pair[0])) | u32::from(bits(pair[1])) << 16)
                .collect(),
        }
    }

    /// Number `at` of a tile's rows times row `r` of x, and the sum of the terms' magnitudes.
    fn sum(&self, r: usize, at: usize) -> [f64; 2] {
        let x = &self.x[r * self.cols..][..self.cols];
        let w = &self.weights[at * self.cols..][..self.cols];
        let factor = match &self.norm {
            Some(_) => {
                1.0 / (x.iter().map(|x| x * x).sum::<f64>() / self.cols as f64 + 1e-6).sqrt()
            }
            None => 1.0,
        };
        let (mut sum, mut most) = (self.bias[at], self.bias[at].abs());
        for (c, (x, w)) in x.iter().zip(w).enumerate() {
            let term = x * w * factor * self.norm.as_ref().map_or(1.0, |norm| norm[c]);
            sum += term;
            most += term.abs();
        }
        [sum, most]
    }

    /// The outputs of `rows` rows from `first` on.
    fn run(&self, bench: &Bench, first: usize, rows: usize) -> Vec<Vec<u32>> {
        let facts = bench.device.facts();
        let most = match rows {
            1 => 1,
            2..=4 => 4,
            _ => 8,
        };
        let numbers = self.tiles * 16;
        let (grid, lds) = match facts.platform {
            Platform::Cuda => ([numbers / 4 * rows.div_ceil(most), 1, 1], 0),
            Platform::Hip => {
                let wave_rows = if facts.arch == "gfx90a" && most == 8 {
                    8
                } else {
                    4
                };
                let of_block = 256 / facts.wave_size as usize * wave_rows;
                (
                    [numbers.div_ceil(of_block), 1, 1],
                    if most == 1 { 0 } else { 2 * most * 512 * 4 },
                )
            }
        };
        let buffer = |numbers: &[f64]| bench.buffer(&words(numbers));
        let (weights, x) = (
            bench.buffer(&self.weight_words()),
            buffer(&self.x[first * self.cols..]),
        );
        let (bias, residual) = (
            buffer(&self.bias),
            buffer(&self.residual[first * self.widths[0]..]),
        );
        let norm = self.norm.as_deref().map(buffer);
        let outs = self
            .widths
            .map(|width| bench.buffer(&vec![POISON; (rows + 1) * width.max(1)]));
        let args = Args::new()
            .buffer("weights", &weights, 0)
            .buffer("x", &x, 0)
            .buffer_or_null("norm", norm.as_ref().map(|norm| (norm, 0)))
            .buffer("bias", &bias, 0)
            .buffer_or_null("residual", (self.epilogue == ADD).then_some((&residual, 0)));
        let named = ["out0", "out1", "out2"].into_iter().zip(&outs);
        let args = named.fold(args, |args, (name, out)| args.buffer(name, out, 0));
        let ends = self.widths.map(|width| width.div_ceil(16) as u32);
        let args = args.u32("end0", ends[0]).u32("end1", ends[0] + ends[1]);
        let named = ["width0", "width1", "width2"].into_iter().zip(self.widths);
        let args = named.fold(args, |args, (name, width)| args.u32(name, width as u32));
        let args = args
            .f32("eps", 1e-6)
            .u32("rows", rows as u32)
            .u32("cols", self.cols as u32)
            .u32("tiles", self.tiles as u32)
            .u32("epilogue", self.epilogue)
            .u32("end2", ends[0] + ends[1] + ends[2])
            .u32("width3", self.widths[3] as u32)
            .buffer("out3", &outs[3], 0);
        let kernel = bench
            .device
            .kernel(&format!("mlxrocm_matmul_rows_{}_r{most}", self.ty))
            .unwrap();
        bench.launch(&kernel, grid.map(|n| n as u32), 256, lds as u32, &args);
        outs.iter().map(|out| bench.values(out)).collect()
    }

    fn check(&self, rows: usize, outs: &[Vec<u32>], what: &str) {
        let mut begin = 0;
        for (out, &width) in outs.iter().zip(&self.widths) {
            assert!(
                out[rows * width..].iter().all(|&w| w == POISON),
                "{what}: past the end"
            );
            for (at, &bits) in out[..rows * width].iter().enumerate() {
                let (r, column) = (at / width, at % width);
                let number = begin + column;
                let (expected, off) = match self.epilogue {
                    SILU => {
                        let place = column / 16 * 32 + column % 16;
                        let ([gate, of_gate], [up, of_up]) =
                            (self.sum(r, place), self.sum(r, place + 16));
                        let silu = gate / (1.0 + (-gate).exp());
                        (silu * up, 1.1 * of_gate * up.abs() + of_up * silu.abs())
                    }
                    epilogue => {
                        let residual = if epilogue == ADD {
                            self.residual[at]
                        } else {
                            0.0
                        };
                        let [sum, most] = self.sum(r, number);
                        (sum + residual, most + residual.abs())
                    }
                };
                let got = f64::from(f32::from_bits(bits));
                assert!(
                    (got - expected).abs() <= 2e-6 * off + 1e-7,
                    "{what}: row {r} column {column}: {got} for {expected}"
                );
            }
            begin += width.next_multiple_of(16);
        }
    }
}

#[test]
fn products_of_few_rows_are_right_and_a_row_has_its_bits_alone() {
    on_every_target(|bench| {
        let mut random = Prng::new(41);
        for (ty, case) in TYPES
            .into_iter()
            .flat_map(|ty| CASES.map(|case| (ty, case)))
        {
            for rows in [1, 3, 4, 7, 8, 9, 16, 61] {
                // A launch of AMD's kernels has one set of rows.
                if rows > 8 && bench.device.facts().platform == Platform::Hip {
                    continue;
                }
                let product = Product::new(&mut random, ty, case, rows, rows % 2 == 1);
                let what = format!("{ty} {case:?}, {rows} rows");
                let outs = product.run(bench, 0, rows);
                product.check(rows, &outs, &what);
                let row = rows - 1;
                let alone = product.run(bench, row, 1);
                for ((all, alone), width) in outs.iter().zip(&alone).zip(product.widths) {
                    assert!(
                        all[row * width..][..width] == alone[..width],
                        "{what}: alone"
                    );
                }
            }
        }
    });
}

/// To the bit (but for the sign of a 0), what is no number and what f16 does not hold among them.
#[test]
fn unquantized_matrices_are_decoded_to_f16() {
    const BACK: f32 = 4.0;
    const COUNT: usize = 2_056;
    on_every_target(|bench| {
        let mut random = Prng::new(43);
        for ty in ["f32", "bf16"] {
            let kernel = bench.device.kernel(&format!("mlxrocm_matmul_decode_{ty}"));
            let values: Vec<f32> = (0..COUNT)
                .map(|i| match i {
                    0 => f32::NAN,
                    1 => f32::NEG_INFINITY,
                    2 => 3.0e5,
                    3 => -0.0,
                    4..8 => 1.0e-7 * i as f32,
                    _ => (random.normal() * 10.0_f64.powf(random.uniform(-6.0, 3.0))) as f32,
                })
                .map(|x| match ty {
                    "bf16" => bf16::from_f32(x).to_f32(),
                    _ => x,
                })
                .collect();
            let words: Vec<u32> = match ty {
                "bf16" => values
                    .chunks(2)
                    .map(|pair| pair[0].to_bits() >> 16 | pair[1].to_bits() & 0xffff_0000)
                    .collect(),
                _ => values.iter().map(|x| x.to_bits()).collect(),
            };
            let weights = bench.buffer(&words);
            let out = bench.buffer(&vec![POISON; COUNT / 2 + 64]);
            let args = Args::new()
                .buffer("weights", &weights, 0)
                .buffer("out", &out, 0)
                .f32("back", BACK)
                .u64("count", COUNT as u64);
            let blocks = COUNT.div_ceil(8 * 256) as u32;
            bench.launch(&kernel.unwrap(), [blocks, 1, 1], 256, 0, &args);
            let words = bench.values(&out);
            let (there, past) = words.split_at(COUNT / 2);
            assert!(past.iter().all(|w| *w == POISON), "{ty}: past the end");
            let halves = there
                .iter()
                .flat_map(|w| [*w as u16, (*w >> 16) as u16].map(f16::from_bits));
            for (at, (half, value)) in halves.zip(&values).enumerate() {
                let expected = f16::from_f32(value / BACK);
                assert!(
                    half == expected || (half.is_nan() && expected.is_nan()),
                    "{ty} {at}: {half} for {expected}, {value}"
                );
            }
        }
    });
}
