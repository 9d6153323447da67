//! Products with a wide matrix of any form: random ones, their sums in f64, and the executor that computes them.

use crate::mapped::mapped;
use crate::prng::Prng;
use crate::{gpu, random_formats, random_matrix};
use mlxrocm::formats::{Format, ScalarType, Weight};
use mlxrocm::gpu::kernels::Registry;
use mlxrocm::gpu::model::{GpuExecutor, GpuWeights, Room};
use mlxrocm::step::{
    Attention, Buffer, BufferId, Epilogue, KvType, MatrixId, Norm, Product, Rows, Schedule, Slice,
    StateSize, Step, VectorId, Wanted,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Tokens of the vocabulary, which are rows of x: more than a launch takes.
pub(super) const TOKENS: usize = 11;

pub(super) const EPS: f32 = 1e-5;

/// The format of a kernel's name ("q4_bf16_g64", "f16").
pub(super) fn format(name: &str) -> Format {
    let scalar = |name: &str| match name {
        "f32" => Some(ScalarType::F32),
        "f16" => Some(ScalarType::F16),
        "bf16" => Some(ScalarType::BF16),
        _ => None,
    };
    if let Some(scalar) = scalar(name) {
        return Format::Dense(scalar);
    }
    let parts: Vec<&str> = name.split('_').collect();
    let [bits, scales, group] = parts[..] else {
        panic!("{name}");
    };
    let group: u16 = group[1..].parse().expect("a number");
    match (bits[1..].parse().expect("a number"), scales) {
        (bits, scales) if scalar(scales).is_some() => Format::Affine {
            bits,
            group,
            scale: scalar(scales).unwrap(),
        },
        (4, "zero") => Format::Q4_0,
        (5, "zero") => Format::Q5_0,
        (8, "zero") => Format::Q8_0,
        (3, "sub") => Format::Q3K,
        (6, "sub") => Format::Q6K,
        (2, "min") => Format::Q2K,
        (4, "min") => Format::Q4K,
        (5, "min") => Format::Q5K,
        (4, "power") => Format::GgufMxfp4,
        (8, "power") => Format::Mxfp8,
        (4, "point") => Format::Awq { group: 128 },
        (4, "float") => Format::GgufNvfp4,
        (3, "table") => Format::Iq2S,
        (4, "table") => Format::Iq4Xs,
        (8, "single") => float8(256, 128, ScalarType::F32),
        _ => panic!("{name}"),
    }
}

pub(super) fn float8(rows: u32, cols: u32, scale: ScalarType) -> Format {
    Format::Float8 { rows, cols, scale }
}

/// The formats of all kernels for few rows.
pub(super) fn formats() -> Vec<Format> {
    let names = Registry::names().filter_map(|name| name.strip_prefix("mlxrocm_matmul_rows_"));
    // Each form has some; others add parts or prepare x.
    let products = |name: &&str| *name != "finish" && !name.starts_with("x_");
    let several = |name: &str| ["_rn", "_r4", "_r8"].iter().any(|end| name.ends_with(end));
    let names = names.filter(|name| products(name) && !several(name));
    let names: BTreeSet<&str> = names
        .map(|name| name.strip_suffix("_r1").unwrap_or(name))
        .collect();
    names.into_iter().map(format).collect()
}

/// A random matrix whose products with x of about 1 are about 1.
pub(super) fn matrix(random: &mut Prng, format: Format, rows: usize, cols: usize) -> Weight {
    let std = 1.0 / (cols as f64).sqrt();
    let (data, scales, biases) = match format {
        Format::Affine { bits, group, scale } => {
            let [data, scales, biases] =
                random_matrix::affine_matrix(random, bits, group.into(), scale, rows, cols, std);
            (data, Some(mapped(&scales)), Some(mapped(&biases)))
        }
        Format::Mxfp8
        | Format::Nvfp4
        | Format::Centered { .. }
        | Format::Float8 { .. }
        | Format::Gptq { .. }
        | Format::Awq { .. } => {
            let (data, scales, zeros) = random_formats::parts(random, format, rows, cols, std);
            let part = |bytes: Option<Vec<u8>>| bytes.as_deref().map(mapped);
            (data, part(scales), part(zeros))
        }
        _ => {
            let data = random_matrix::gguf_matrix(random, format, rows, cols, std);
            (data, None, None)
        }
    };
    Weight::new("w", format, rows, cols, mapped(&data), scales, biases).expect("a weight")
}

pub(super) fn dense(rows: usize, cols: usize, values: &[f32]) -> Weight {
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    let format = Format::Dense(ScalarType::F32);
    Weight::new("x", format, rows, cols, mapped(&bytes), None, None).expect("a weight")
}

/// h = silu(G · norm(x) + b) · (U · norm(x) + c); logits = h + W · x.
pub(super) struct Wide {
    pub cols: usize,
    pub rows: usize,
    pub x: Vec<f32>,
    pub norm: Vec<f32>,
    pub biases: [Vec<f32>; 2],
    /// G, U, W.
    pub matrices: [Weight; 3],
}

impl Wide {
    pub(super) fn new(random: &mut Prng, format: Format, rows: usize, cols: usize) -> Wide {
        let mut numbers = |count: usize, middle: f64| -> Vec<f32> {
            let number = |_| (middle + random.uniform(-1.0, 1.0)) as f32;
            (0..count).map(number).collect()
        };
        let x = numbers(TOKENS * cols, 0.0);
        let norm = numbers(cols, 1.0);
        let biases = [numbers(rows, 0.0), numbers(rows, 0.0)];
        Wide {
            cols,
            rows,
            x,
            norm,
            biases,
            matrices: [0, 1, 2].map(|_| matrix(random, format, rows, cols)),
        }
    }

    /// The logits of each token.
    pub(super) fn expected(&self) -> Vec<f64> {
        let mut row = vec![0.0; self.cols];
        let mut products = self.matrices.each_ref().map(|_| Vec::new());
        for (place, matrix) in self.matrices.iter().enumerate() {
            for r in 0..self.rows {
                matrix.dequantize_row(r, &mut row).unwrap();
                for x in self.x.chunks(self.cols) {
                    let term = |i: usize| f64::from(row[i]) * f64::from(x[i]);
                    let normed = |i: usize| term(i) * f64::from(self.norm[i]);
                    let sum = match place {
                        2 => (0..self.cols).map(term).sum::<f64>(),
                        _ => (0..self.cols).map(normed).sum::<f64>() / self.root(x),
                    };
                    products[place].push(sum);
                }
            }
        }
        let logit = |(token, r): (usize, usize)| {
            let [gate, up, add] = products.each_ref().map(|p| p[r * TOKENS + token]);
            let gate = gate + f64::from(self.biases[0][r]);
            let up = up + f64::from(self.biases[1][r]);
            gate / (1.0 + (-gate).exp()) * up + add
        };
        let places = (0..TOKENS).flat_map(|token| (0..self.rows).map(move |r| (token, r)));
        places.map(logit).collect()
    }

    pub(super) fn root(&self, x: &[f32]) -> f64 {
        let squares: f64 = x.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
        (squares / self.cols as f64 + f64::from(EPS)).sqrt()
    }

    pub(super) fn schedule(&self) -> Schedule {
        let (x, h, sum, wanted) = (BufferId(0), BufferId(1), BufferId(2), BufferId(3));
        let product = |weight: usize, bias: Option<usize>, out: Option<BufferId>| Product {
            weight: MatrixId(weight),
            bias: bias.map(VectorId),
            out,
        };
        let buffer = |rows: Rows, width: usize, offset: usize| Buffer {
            rows,
            width,
            offset,
        };
        let (cols, rows) = (self.cols, self.rows);
        Schedule {
            hidden: None,
            steps: vec![
                Step::Embed {
                    table: MatrixId(0),
                    out: x,
                },
                Step::Matmul {
                    x,
                    norm: Some(Norm {
                        weight: VectorId(0),
                        eps: EPS,
                    }),
                    products: vec![product(1, Some(1), Some(h)), product(2, Some(2), Some(h))],
                    epilogue: Epilogue::SwiGlu,
                },
                Step::Matmul {
                    x,
                    norm: None,
                    products: vec![product(3, None, Some(sum))],
                    epilogue: Epilogue::Add(h),
                },
                Step::SelectWanted {
                    x: sum,
                    out: wanted,
                },
                Step::Matmul {
                    x: wanted,
                    norm: None,
                    products: vec![product(4, None, None)],
                    epilogue: Epilogue::Store,
                },
            ],
            buffers: vec![
                buffer(Rows::Tokens, cols, 0),
                buffer(Rows::Tokens, rows, cols),
                buffer(Rows::Tokens, rows, cols + rows),
                buffer(Rows::Wanted, rows, cols + 2 * rows),
            ],
            width: cols + 3 * rows,
            ropes: Vec::new(),
            turns: Vec::new(),
            vocab_size: rows,
            states: vec![Attention {
                heads: 1,
                kv_heads: 1,
                head_dim: 64,
                scale: 0.125,
                window: None,
                chunk: None,
                cap: None,
            }],
            recurrent: Vec::new(),
        }
    }

    /// All tokens in one call, and some of them by themselves to the bit.
    pub(super) fn is_right(&self, what: &str, target: &str, how: &str, expected: &[f64]) {
        let gpu = match gpu::is_real() {
            true => gpu::gpu(),
            false => gpu::soft(&format!("devices={target};compute_units=2{how}")),
        };
        let device = gpu.device();
        let mut executor = self.executor(&device);
        let all: Vec<u32> = (0..TOKENS as u32).collect();
        let together = logits(&mut executor, &all);
        for (got, exact) in together.iter().zip(expected) {
            let far = (f64::from(*got) - exact).abs();
            assert!(far < 2e-3, "{what}: {got} for {exact}");
        }
        for part in [3..4, 1..3, 9..10, 4..9] {
            let found = logits(&mut executor, &all[part.clone()]);
            let of = &together[part.start * self.rows..part.end * self.rows];
            assert!(found == of, "{what}: rows {part:?}");
        }
        drop((executor, device));
        gpu.clean();
    }

    pub(super) fn executor(&self, device: &Arc<mlxrocm::gpu::Device>) -> GpuExecutor {
        let one = |i: usize| f32::from(u8::from(i / self.rows == i % self.rows));
        let ones: Vec<f32> = (0..self.rows * self.rows).map(one).collect();
        let [gate, up, add] = self.matrices.clone();
        let matrices = [
            dense(TOKENS, self.cols, &self.x),
            gate,
            up,
            add,
            dense(self.rows, self.rows, &ones),
        ];
        let [b, c] = self.biases.clone();
        let (vectors, schedule) = ([self.norm.clone(), b, c], self.schedule());
        let weights = GpuWeights::new(
            device,
            &schedule,
            &matrices,
            &vectors,
            0,
            Room::All,
            &mut |_| Ok(()),
        )
        .unwrap();
        GpuExecutor::new(
            Arc::new(weights),
            schedule,
            StateSize::any(20, 1, KvType::F16),
        )
        .unwrap()
    }
}

/// The logits of tokens in one call.
pub(super) fn logits(executor: &mut GpuExecutor, tokens: &[u32]) -> Vec<f32> {
    let slice = Slice {
        tokens,
        start: 0,
        pages: &[0],
        wanted: Wanted::All,
        slot: 0,
    };
    let mut logits = Vec::new();
    executor.run(&[slice], &mut logits).unwrap();
    logits
}
