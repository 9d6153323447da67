//! Products of few rows with matrices of so many columns that x does not fit the local memory of AMD cards, in
//! every form, against sums in f64.

use crate::mapped::mapped;
use crate::prng::Prng;
use crate::{gpu, random_formats, random_matrix};
use mlxrocm::formats::{Format, ScalarType, Weight};
use mlxrocm::gpu::kernels::Registry;
use mlxrocm::gpu::model::{GpuExecutor, GpuWeights};
use mlxrocm::step::{
    Attention, Buffer, BufferId, Epilogue, KvType, MatrixId, Norm, Product, Rows, Schedule, Slice,
    StateSize, Step, VectorId, Wanted,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Tokens of the vocabulary, which are rows of x: more than a launch takes.
const TOKENS: usize = 11;
const EPS: f32 = 1e-5;

/// The format of a kernel's name ("q4_bf16_g64", "f16").
fn format(name: &str) -> Format {
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

fn float8(rows: u32, cols: u32, scale: ScalarType) -> Format {
    Format::Float8 { rows, cols, scale }
}

/// The formats of all kernels for few rows.
fn formats() -> Vec<Format> {
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
fn matrix(random: &mut Prng, format: Format, rows: usize, cols: usize) -> Weight {
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

fn dense(rows: usize, cols: usize, values: &[f32]) -> Weight {
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    let format = Format::Dense(ScalarType::F32);
    Weight::new("x", format, rows, cols, mapped(&bytes), None, None).expect("a weight")
}

/// h = silu(G · norm(x) + b) · (U · norm(x) + c); logits = h + W · x.
struct Wide {
    cols: usize,
    rows: usize,
    x: Vec<f32>,
    norm: Vec<f32>,
    biases: [Vec<f32>; 2],
    /// G, U, W.
    matrices: [Weight; 3],
}

impl Wide {
    fn new(random: &mut Prng, format: Format, rows: usize, cols: usize) -> Wide {
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
    fn expected(&self) -> Vec<f64> {
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

    fn root(&self, x: &[f32]) -> f64 {
        let squares: f64 = x.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
        (squares / self.cols as f64 + f64::from(EPS)).sqrt()
    }

    fn schedule(&self) -> Schedule {
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
    fn is_right(&self, what: &str, target: &str, how: &str, expected: &[f64]) {
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

    fn executor(&self, device: &Arc<mlxrocm::gpu::Device>) -> GpuExecutor {
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
        let weights = GpuWeights::new(device, &schedule, &matrices, &vectors, 0, None, &mut |_| {
            Ok(())
        })
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
fn logits(executor: &mut GpuExecutor, tokens: &[u32]) -> Vec<f32> {
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

fn is_all() -> bool {
    std::env::var("MLXROCM_TEST_ALL").is_ok_and(|all| all == "1")
}

/// How many of the cases a run takes, others each time; `MLXROCM_TEST_ALL=1`: all of them.
fn turn() -> Box<dyn Fn(usize) -> bool> {
    if is_all() {
        return Box::new(|_| true);
    }
    const RUNS: usize = 9;
    let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let turn = time.map_or(0, |time| time.as_secs() as usize / 60 % RUNS);
    println!("turn {turn} of {RUNS}");
    Box::new(move |case| (case + case / RUNS) % RUNS == turn)
}

/// Few blocks, so that they take several tiles; of every ninth matrix so many that they take more than are
/// summed up at once. A case is on one target, with `MLXROCM_TEST_ALL=1` on all.
#[test]
fn every_form_takes_wide_matrices() {
    let mut random = Prng::new(14);
    let formats = formats();
    assert!(formats.len() >= 26, "{formats:?}");
    let widths = [32_768, 53_248];
    let cases = widths
        .iter()
        .flat_map(|w| formats.iter().map(move |f| (*f, *w)));
    let (is_on, targets) = (turn(), gpu::targets());
    for (i, (format, cols)) in cases.enumerate().filter(|(i, _)| is_on(*i)) {
        let rows = match format {
            // Words of eight rows.
            Format::Awq { .. } => 24,
            _ if i % 10 == 0 => 84,
            _ => 20,
        };
        let wide = Wide::new(&mut random, format, rows, cols);
        let expected = wide.expected();
        let all = is_all() && !gpu::is_real();
        let own = [targets[i % targets.len()]];
        for target in if all { &targets[..] } else { &own } {
            let what = format!("{format:?} {cols} {target}");
            wide.is_right(&what, target, ";checks=0", &expected);
        }
    }
}

/// Where the matrix unit takes several rows (CDNA), tiles by pairs: with an odd number of tiles, and shares of the columns that
/// are not even, or have none; and so many columns that kernels for more than usual take them (`hip/ops/matmul/wide.h`). On days
/// without CDNA what was built does the same. `MLXROCM_TEST_TARGET`: that target alone.
#[test]
fn several_rows_are_as_alone() {
    let mut random = Prng::new(20);
    let only = std::env::var("MLXROCM_TEST_TARGET").ok();
    let mut cdna = gpu::targets();
    cdna.retain(|target| target.starts_with("gfx9"));
    let targets = match &only {
        Some(target) => vec![target.as_str()],
        None if cdna.is_empty() => gpu::by_turns(&gpu::targets()),
        None => gpu::by_turns(&cdna),
    };
    for (place, format) in formats().into_iter().enumerate() {
        for (size, (rows, cols)) in [(40, 1280), (24, 256), (40, 6400)].into_iter().enumerate() {
            // Of each form some sizes a day.
            if !gpu::is_turn(place + size, 2) {
                continue;
            }
            let wide = Wide::new(&mut random, format, rows, cols);
            let expected = wide.expected();
            for target in &targets {
                wide.is_right(
                    &format!("{format:?} {rows} x {cols} {target}"),
                    target,
                    "",
                    &expected,
                );
            }
        }
    }
}

/// Columns that are whole pieces of 16 bytes, whole steps of a wave, whole chunks of local memory, or none of these.
#[test]
fn unquantized_matrices_give_the_products_of_their_weights() {
    let mut random = Prng::new(17);
    let types = [ScalarType::F32, ScalarType::F16, ScalarType::BF16];
    let shapes = [
        (37, 8),
        (84, 512),
        (20, 1032),
        (140, 1288),
        (33, 331),
        (18, 4104),
    ];
    for target in gpu::targets() {
        for (format, (rows, cols)) in types
            .into_iter()
            .flat_map(|ty| shapes.map(|shape| (Format::Dense(ty), shape)))
        {
            let wide = Wide::new(&mut random, format, rows, cols);
            let expected = wide.expected();
            let what = format!("{format:?} {rows} x {cols} {target}");
            wide.is_right(&what, target, "", &expected);
        }
    }
}

/// Formats other than MLX's affine ones and GGUF's of blocks of numbers, and columns of which they make no whole units.
fn others() -> Vec<(Format, usize)> {
    let centered = |bits, group, scale| Format::Centered { bits, group, scale };
    vec![
        (Format::Q8_1, 352),
        (Format::Mxfp8, 352),
        // Of so many x does not fit the local memory.
        (Format::Mxfp8, 17_440),
        (Format::Nvfp4, 336),
        (Format::GgufNvfp4, 448),
        (Format::Gptq { group: 32, plus: 1 }, 352),
        (Format::Gptq { group: 64, plus: 0 }, 448),
        (Format::Awq { group: 32 }, 352),
        (Format::Awq { group: 128 }, 384),
        (centered(4, 128, ScalarType::BF16), 384),
        (centered(8, 64, ScalarType::F16), 448),
        (centered(4, 32, ScalarType::F32), 352),
        (float8(128, 128, ScalarType::F32), 360),
        (float8(1, 1024, ScalarType::BF16), 360),
        (float8(1 << 20, 1 << 20, ScalarType::F16), 392),
        (Format::Tq1_0, 768),
        (Format::Tq2_0, 768),
        (Format::Iq4Nl, 352),
        (Format::Iq4Xs, 768),
        (Format::Iq3Xxs, 768),
        (Format::Iq3S, 256),
        (Format::Iq2Xxs, 768),
        (Format::Iq2Xs, 256),
        (Format::Iq2S, 768),
        (Format::Iq1S, 256),
        (Format::Iq1M, 768),
    ]
}

/// One row, few, and so many that the matrix unit multiplies them.
#[test]
fn other_formats_give_the_products_of_their_weights() {
    let mut random = Prng::new(16);
    for target in gpu::among(&["gfx1151", "gfx942", "gfx1030"]) {
        let gpu = match gpu::is_real() {
            true => gpu::gpu(),
            false => gpu::soft(&format!("devices={target};compute_units=2")),
        };
        let device = gpu.device();
        for (format, cols) in others() {
            let rows = match format {
                Format::Gptq { .. } | Format::Awq { .. } => 40,
                _ => 37,
            };
            let wide = Wide::new(&mut random, format, rows, cols);
            let (expected, mut executor) = (wide.expected(), wide.executor(&device));
            let many: Vec<u32> = (0..20).map(|i| i * 3 % TOKENS as u32).collect();
            // Prompts are multiplied in f16, with weights in f16.
            for (tokens, limit) in [(&[3][..], 1e-3), (&[0, 4, 1, 2], 1e-3), (&many, 5e-3)] {
                let got = logits(&mut executor, tokens);
                for (got, token) in got.chunks(rows).zip(tokens) {
                    let exact = &expected[*token as usize * rows..][..rows];
                    for (got, exact) in got.iter().zip(exact) {
                        let far = (f64::from(*got) - exact).abs();
                        let count = tokens.len();
                        // Gate and up are multiplied with each other.
                        assert!(
                            far < limit * (1.0 + exact.abs()),
                            "{format} {target}, {count} rows: {got} for {exact}"
                        );
                    }
                }
            }
        }
        drop(device);
        gpu.clean();
    }
}

/// A norm's weight of 3,000 at a column that has nearly all of a row: n(x) is 3,000 · √cols there, far more
/// than f16 takes. Prompts are multiplied in f16.
#[test]
fn norms_may_give_more_than_f16_takes() {
    const COLS: usize = 4096;
    let mut random = Prng::new(15);
    for (i, target) in gpu::targets().iter().enumerate() {
        let gpu = match gpu::is_real() {
            true => gpu::gpu(),
            false => gpu::soft(&format!("devices={target};checks=0")),
        };
        let mut wide = Wide::new(&mut random, Format::Q8_0, 16, COLS);
        let spike = 7 + 300 * i;
        wide.norm[spike] = 3000.0;
        for x in wide.x.chunks_mut(COLS) {
            x.iter_mut().for_each(|x| *x *= 1e-3);
            x[spike] = 2.0;
        }
        let device = gpu.device();
        let mut executor = wide.executor(&device);
        let tokens: Vec<u32> = (0..20).map(|i| i % TOKENS as u32).collect();
        let got = logits(&mut executor, &tokens);
        let expected = wide.expected();
        let size = expected.iter().fold(0.0, |size: f64, x| size.max(x.abs()));
        for (i, got) in got.iter().enumerate() {
            let far = (f64::from(*got) - expected[i % expected.len()]).abs();
            assert!(far < 3e-3 * size, "{target}: {got} of {size}");
        }
        drop((executor, device));
        gpu.clean();
    }
}
