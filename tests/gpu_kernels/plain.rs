//! Operations that no rule has fused (`hip/ops/plain`), against forms in f64.

use crate::prng::Prng;
use crate::{Bench, on_every_target};
use mlxrocm::gpu::{Args, DeviceBuffer};

const NAN: u32 = 0x7fc0_1234;

/// A fresh one on every run.
pub fn seed() -> u64 {
    let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seed = time.map_or(1, |time| time.as_nanos() as u64);
    println!("seed {seed}");
    seed
}

fn numbers(random: &mut Prng, count: usize, low: f64, high: f64) -> Vec<f32> {
    (0..count)
        .map(|_| random.uniform(low, high) as f32)
        .collect()
}

fn put(bench: &Bench, values: &[f32]) -> DeviceBuffer {
    bench.buffer(&values.iter().map(|x| x.to_bits()).collect::<Vec<_>>())
}

/// A result's place, full of NaN, with one number too many.
fn poisoned(bench: &Bench, count: usize) -> DeviceBuffer {
    bench.buffer(&vec![NAN; count + 1])
}

/// The numbers of a result; what is behind them was not touched.
fn taken(bench: &Bench, buffer: &DeviceBuffer) -> Vec<f32> {
    let mut values = bench.values(buffer);
    assert_eq!(values.pop(), Some(NAN), "written past the end");
    values.into_iter().map(f32::from_bits).collect()
}

#[track_caller]
fn near(what: &str, found: &[f32], expected: &[f64], relative: f64, absolute: f64) {
    assert_eq!(found.len(), expected.len());
    for (i, (&found, &expected)) in found.iter().zip(expected).enumerate() {
        let far = (f64::from(found) - expected).abs();
        let bound = expected.abs() * relative + absolute;
        assert!(far <= bound, "{what} {i}: {found} for {expected}");
    }
}

#[test]
fn functions_of_elements() {
    type Of1 = fn(f64) -> f64;
    type Of2 = fn(f64, f64) -> f64;
    let mut random = Prng::new(seed());
    let unary: [(u32, Of1, f64, f64); 12] = [
        (0, f64::abs, -3.0, 3.0),
        (1, |x| -x, -3.0, 3.0),
        (2, |x| x * x, -3.0, 3.0),
        (3, f64::sqrt, 0.1, 9.0),
        (4, |x| 1.0 / x.sqrt(), 0.1, 9.0),
        (5, f64::exp, -20.0, 20.0),
        (6, f64::ln, 0.01, 100.0),
        (7, |x| 1.0 / (1.0 + (-x).exp()), -30.0, 30.0),
        (8, f64::tanh, -6.0, 6.0),
        (9, f64::exp_m1, -5.0, 5.0),
        (11, f64::floor, -9.0, 9.0),
        (12, f64::ln_1p, -0.9, 9.0),
    ];
    let binary: [(u32, Of2); 6] = [
        (0, |a, b| a + b),
        (1, |a, b| a - b),
        (2, |a, b| a * b),
        (3, |a, b| a / b),
        (4, f64::max),
        (5, f64::min),
    ];
    // Less than a block, and more than one.
    let count = 1500;
    let cases = unary.map(|(number, f, low, high)| {
        let x = numbers(&mut random, count, low, high);
        (number, f, x)
    });
    let (a, b) = (
        numbers(&mut random, count, -4.0, 4.0),
        numbers(&mut random, count, 0.5, 4.0),
    );
    on_every_target(|bench| {
        let kernel = bench.device.kernel("mlxrocm_unary_f32").unwrap();
        for (number, f, x) in &cases {
            let out = poisoned(bench, count);
            let args = Args::new()
                .buffer("a", &put(bench, x), 0)
                .buffer("out", &out, 0);
            let args = args.u32("count", count as u32).u32("function", *number);
            bench.launch(&kernel, [2, 1, 1], 256, 0, &args);
            let expected: Vec<f64> = x.iter().map(|&x| f(x.into())).collect();
            let what = format!("unary {number}");
            near(&what, &taken(bench, &out), &expected, 3e-6, 1e-6);
        }
        let kernel = bench.device.kernel("mlxrocm_binary_f32").unwrap();
        let (x, y) = (put(bench, &a), put(bench, &b));
        for (number, f) in &binary {
            let out = poisoned(bench, count);
            let args = Args::new()
                .buffer("a", &x, 0)
                .buffer("b", &y, 0)
                .buffer("out", &out, 0);
            let args = args.u32("count", count as u32).u32("function", *number);
            bench.launch(&kernel, [2, 1, 1], 256, 0, &args);
            let pairs = a.iter().zip(&b);
            let expected: Vec<f64> = pairs.map(|(&a, &b)| f(a.into(), b.into())).collect();
            let what = format!("binary {number}");
            near(&what, &taken(bench, &out), &expected, 3e-7, 0.0);
        }
        // NaN wins on both sides.
        let (x, y) = (put(bench, &[f32::NAN, 1.0]), put(bench, &[1.0, f32::NAN]));
        for number in [4, 5] {
            let out = poisoned(bench, 2);
            let args = Args::new()
                .buffer("a", &x, 0)
                .buffer("b", &y, 0)
                .buffer("out", &out, 0);
            bench.launch(
                &kernel,
                [1, 1, 1],
                256,
                0,
                &args.u32("count", 2).u32("function", number),
            );
            assert!(taken(bench, &out).iter().all(|x| x.is_nan()), "{number}");
        }
    });
}

#[test]
fn views_that_are_moved() {
    let mut random = Prng::new(seed());
    let x: Vec<f32> = numbers(&mut random, 4000, -1.0, 1.0);
    on_every_target(|bench| {
        let kernel = bench.device.kernel("mlxrocm_strided_copy_u32").unwrap();
        let from = put(bench, &x);
        // Sizes, strides, first element: turned, repeated, backwards, six axes.
        let cases: [([u32; 6], [i32; 6], usize); 4] = [
            ([1, 1, 1, 1, 37, 19], [0, 0, 0, 0, 1, 37], 0),
            ([1, 1, 1, 5, 7, 33], [0, 0, 0, 0, 33, 1], 3),
            ([1, 1, 1, 1, 9, 31], [0, 0, 0, 0, -40, -1], 3999),
            ([2, 3, 2, 3, 2, 5], [900, -70, 33, 7, 400, 2], 600),
        ];
        for (sizes, strides, first) in cases {
            let mut places = vec![first as i64];
            for (&size, &stride) in sizes.iter().zip(&strides) {
                let next = places
                    .iter()
                    .flat_map(|&at| (0..i64::from(size)).map(move |i| at + i * i64::from(stride)));
                places = next.collect();
            }
            let out = poisoned(bench, places.len());
            let mut args = Args::new()
                .buffer("x", &from, first as u64 * 4)
                .buffer("out", &out, 0);
            args = args.u32("count", places.len() as u32);
            let axes = ["0", "1", "2", "3", "4", "5"];
            for (axis, &size) in axes.iter().zip(&sizes).skip(1) {
                args = args.u32(("s", *axis), size);
            }
            for (axis, &stride) in axes.iter().zip(&strides) {
                args = args.i32(("t", *axis), stride);
            }
            let blocks = places.len().div_ceil(256) as u32;
            bench.launch(&kernel, [blocks, 1, 1], 256, 0, &args);
            let expected: Vec<f32> = places.iter().map(|&at| x[at as usize]).collect();
            assert_eq!(taken(bench, &out), expected, "{sizes:?}");
        }
    });
}

#[test]
fn joins_and_counts() {
    let mut random = Prng::new(seed());
    let (rows, widths) = (9usize, [37usize, 5]);
    let [a, b] = widths.map(|width| numbers(&mut random, rows * width, -1.0, 1.0));
    on_every_target(|bench| {
        let kernel = bench.device.kernel("mlxrocm_join_u32").unwrap();
        let count = a.len() + b.len();
        let out = poisoned(bench, count);
        let args = Args::new().buffer("a", &put(bench, &a), 0);
        let args = args.buffer("b", &put(bench, &b), 0).buffer("out", &out, 0);
        let args = args
            .u32("count", count as u32)
            .u32("first", 37)
            .u32("second", 5);
        bench.launch(&kernel, [2, 1, 1], 256, 0, &args);
        let pairs = a.chunks(widths[0]).zip(b.chunks(widths[1]));
        let expected: Vec<f32> = pairs.flat_map(|(a, b)| [a, b].concat()).collect();
        assert_eq!(taken(bench, &out), expected);
        let kernel = bench.device.kernel("mlxrocm_arange_u32").unwrap();
        let out = bench.buffer(&vec![NAN; 301]);
        let args = Args::new()
            .buffer("out", &out, 0)
            .u32("count", 300)
            .u32("start", 7)
            .u32("step", 3);
        bench.launch(&kernel, [2, 1, 1], 256, 0, &args);
        let expected = (0..300).map(|i| 7 + 3 * i).chain([NAN]);
        assert_eq!(bench.values(&out), expected.collect::<Vec<_>>());
    });
}

#[test]
fn norms_and_rotations() {
    let mut random = Prng::new(seed());
    let (rows, heads, dim, pairs) = (3usize, 5usize, 21usize, 8usize);
    let width = heads * dim;
    let x = numbers(&mut random, rows * width, -2.0, 2.0);
    let weight = numbers(&mut random, width, 0.5, 1.5);
    // The last row's position is none.
    let positions = [4u32, 0, u32::MAX];
    let angles: Vec<f64> = (0..6 * pairs).map(|_| random.uniform(-3.0, 3.0)).collect();
    let table: Vec<f32> = angles
        .iter()
        .flat_map(|a| [a.cos() as f32, a.sin() as f32])
        .collect();
    on_every_target(|bench| {
        let (from, scale) = (put(bench, &x), put(bench, &weight));
        let kernel = bench.device.kernel("mlxrocm_rms_norm_f32").unwrap();
        for weighted in [true, false] {
            let out = poisoned(bench, x.len());
            let args = Args::new().buffer("x", &from, 0);
            let args = match weighted {
                true => args.buffer("weight", &scale, 0),
                false => args.null("weight"),
            };
            let args = args
                .buffer("out", &out, 0)
                .u32("width", width as u32)
                .f32("eps", 1e-5);
            bench.launch(&kernel, [rows as u32, 1, 1], 256, 0, &args);
            let norm = |row: &[f32]| -> Vec<f64> {
                let squares: f64 = row.iter().map(|&x| f64::from(x).powi(2)).sum();
                let factor = 1.0 / (squares / width as f64 + 1e-5).sqrt();
                let weight = |c: usize| if weighted { weight[c].into() } else { 1.0 };
                let row = row.iter().enumerate();
                row.map(|(c, &x)| f64::from(x) * factor * weight(c))
                    .collect()
            };
            let expected: Vec<f64> = x.chunks(width).flat_map(norm).collect();
            near("norm", &taken(bench, &out), &expected, 2e-6, 0.0);
        }
        let kernel = bench.device.kernel("mlxrocm_layer_norm_f32").unwrap();
        for (weighted, biased) in [(true, true), (true, false), (false, true), (false, false)] {
            let out = poisoned(bench, x.len());
            let args = Args::new().buffer("x", &from, 0);
            let given = |there: bool, name: &'static str, args: Args| match there {
                true => args.buffer(name, &scale, 0),
                false => args.null(name),
            };
            let args =
                given(biased, "bias", given(weighted, "weight", args)).buffer("out", &out, 0);
            let args = args.u32("width", width as u32).f32("eps", 1e-5);
            bench.launch(&kernel, [rows as u32, 1, 1], 256, 0, &args);
            let norm = |row: &[f32]| -> Vec<f64> {
                let mean = row.iter().map(|&x| f64::from(x)).sum::<f64>() / width as f64;
                let squares: f64 = row.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum();
                let factor = 1.0 / (squares / width as f64 + 1e-5).sqrt();
                let of = |there: bool, c: usize, otherwise: f64| match there {
                    true => f64::from(weight[c]),
                    false => otherwise,
                };
                let row = row.iter().enumerate();
                row.map(|(c, &x)| {
                    (f64::from(x) - mean) * factor * of(weighted, c, 1.0) + of(biased, c, 0.0)
                })
                .collect()
            };
            let expected: Vec<f64> = x.chunks(width).flat_map(norm).collect();
            near("layer norm", &taken(bench, &out), &expected, 2e-6, 1e-6);
        }
        let kernel = bench.device.kernel("mlxrocm_rotary_f32").unwrap();
        let (at, table) = (bench.buffer(&positions), put(bench, &table));
        for interleaved in [false, true] {
            let out = poisoned(bench, x.len());
            let args = Args::new()
                .buffer("x", &from, 0)
                .buffer("position", &at, 0)
                .buffer("table", &table, 0);
            let args = args
                .buffer("out", &out, 0)
                .u32("positions", 6)
                .u32("heads", heads as u32)
                .u32("dim", dim as u32);
            let args = args
                .u32("pairs", pairs as u32)
                .u32("interleaved", interleaved.into());
            bench.launch(&kernel, [rows as u32, 1, 1], 256, 0, &args);
            let mut expected: Vec<f64> = x.iter().map(|&x| x.into()).collect();
            for (row, &position) in expected.chunks_mut(width).zip(&positions) {
                for head in row.chunks_mut(dim).filter(|_| position < 6) {
                    for p in 0..pairs {
                        let (low, high) = match interleaved {
                            true => (2 * p, 2 * p + 1),
                            false => (p, p + pairs),
                        };
                        let (sin, cos) = angles[position as usize * pairs + p].sin_cos();
                        let (a, b) = (head[low], head[high]);
                        (head[low], head[high]) = (a * cos - b * sin, a * sin + b * cos);
                    }
                }
            }
            near("rotary", &taken(bench, &out), &expected, 1e-6, 1e-6);
        }
    });
}
