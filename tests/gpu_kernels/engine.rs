//! The engine's own kernels against plain forms.

use crate::prng::Prng;
use crate::{Bench, on_every_target};
use half::{bf16, f16};
use mlxrocm::gpu::{Args, Kernel};

#[test]
fn fill_stays_in_its_range() {
    on_every_target(|bench| {
        let kernel = bench.device.kernel("mlxrocm_fill_u32").unwrap();
        // Aligned and not, whole threads and not.
        for (start, count) in [(0, 4096), (1, 2000), (4, 1023), (3, 1), (8, 0)] {
            let buffer = bench.buffer(&[7; 5000]);
            let args = Args::new()
                .buffer("to", &buffer, start as u64 * 4)
                .u64("count", count as u64)
                .u32("value", 0xABCD_0123);
            bench.launch(
                &kernel,
                [(count as u32).div_ceil(1024), 1, 1],
                256,
                0,
                &args,
            );
            let values = bench.values(&buffer);
            for (i, value) in values.iter().enumerate() {
                let inside = (start..start + count).contains(&i);
                assert_eq!(
                    *value,
                    if inside { 0xABCD_0123 } else { 7 },
                    "{start} {count} {i}"
                );
            }
        }
    });
}

#[test]
fn copy_copies_any_alignment() {
    on_every_target(|bench| {
        let kernel = bench.device.kernel("mlxrocm_copy_u8").unwrap();
        let mut random = Prng::new(3);
        let data: Vec<u32> = (0..3000).map(|_| random.u64() as u32).collect();
        let bytes = crate::gpu::bytes_of(&data);
        for (to, from, count) in [
            (0, 0, 12000),
            (16, 32, 5001),
            (3, 0, 100),
            (1, 2, 4097),
            (5, 5, 1),
        ] {
            let (source, target) = (bench.buffer(&data), bench.buffer(&[0; 3000]));
            let args = Args::new()
                .buffer("to", &target, to)
                .buffer("from", &source, from)
                .u64("bytes", count);
            bench.launch(&kernel, [count.div_ceil(4096) as u32, 1, 1], 256, 0, &args);
            let copied = crate::gpu::bytes_of(&bench.values(&target));
            let (to, from, count) = (to as usize, from as usize, count as usize);
            assert!(
                copied[..to]
                    .iter()
                    .chain(&copied[to + count..])
                    .all(|byte| *byte == 0)
            );
            assert!(
                copied[to..to + count] == bytes[from..from + count],
                "{to} {from} {count}"
            );
        }
    });
}

#[test]
fn vector_add_adds() {
    on_every_target(|bench| {
        let kernel = bench.device.kernel("mlxrocm_vector_add_f32").unwrap();
        let a: Vec<f32> = (0..1000).map(|i| i as f32 * 0.37).collect();
        let b: Vec<f32> = (0..1000).map(|i| 5.0 - i as f32).collect();
        let (x, y, z) = (
            bench.buffer(&bits(&a)),
            bench.buffer(&bits(&b)),
            bench.buffer(&[0; 1000]),
        );
        let args = Args::new()
            .buffer("c", &z, 0)
            .buffer("a", &x, 0)
            .buffer("b", &y, 0)
            .u32("count", 999);
        bench.launch(&kernel, [4, 1, 1], 256, 0, &args);
        let sums = bench.values(&z);
        for i in 0..999 {
            assert_eq!(sums[i], (a[i] + b[i]).to_bits());
        }
        assert_eq!(sums[999], 0);
    });
}

#[test]
fn read_sums_everything_once() {
    on_every_target(|bench| {
        let kernel = bench.device.kernel("mlxrocm_read_u32").unwrap();
        let mut random = Prng::new(5);
        for (count, blocks) in [(40_000, 3_u32), (4, 2), (1024 * 4 * 4, 4), (0, 1)] {
            let mut data: Vec<u32> = (0..count).map(|_| random.u64() as u32).collect();
            let expected = data
                .iter()
                .fold(0_u32, |sum, value| sum.wrapping_add(*value));
            // Never read.
            data.push(0xFFFF_FFFF);
            let (from, to) = (bench.buffer(&data), bench.buffer(&vec![0; blocks as usize]));
            let args = Args::new()
                .buffer("partial", &to, 0)
                .buffer("from", &from, 0)
                .u64("count", count as u64)
                .u32("blocks", blocks);
            bench.launch(&kernel, [blocks, 1, 1], 256, 0, &args);
            let sum = bench
                .values(&to)
                .iter()
                .fold(0_u32, |sum, value| sum.wrapping_add(*value));
            assert_eq!(sum, expected, "{count}");
        }
    });
}

#[test]
fn reduce_sums_and_finds_the_largest() {
    on_every_target(|bench| {
        let mut random = Prng::new(7);
        let columns = 1111;
        let data: Vec<f32> = (0..5 * columns)
            .map(|_| (random.u64() % 20_001) as f32 / 10_000.0 - 1.5)
            .collect();
        let from = bench.buffer(&bits(&data));
        let run = |name: &str, columns: usize| {
            let kernel = bench.device.kernel(name).unwrap();
            let to = bench.buffer(&[0; 5]);
            let args = Args::new()
                .buffer("out", &to, 0)
                .buffer("in", &from, 0)
                .u32("columns", columns as u32);
            bench.launch(&kernel, [5, 1, 1], 256, 0, &args);
            bench.values(&to)
        };
        let (sums, largest) = (
            run("mlxrocm_reduce_sum_f32", columns),
            run("mlxrocm_reduce_max_f32", columns),
        );
        assert_eq!(
            sums,
            run("mlxrocm_reduce_sum_f32", columns),
            "the same bits every time"
        );
        for row in 0..5 {
            let part = &data[row * columns..(row + 1) * columns];
            let sum: f64 = part.iter().map(|value| f64::from(*value)).sum();
            let scale: f64 = part.iter().map(|value| f64::from(value.abs())).sum();
            let got = f64::from(f32::from_bits(sums[row]));
            assert!((got - sum).abs() <= scale * 1e-6, "{got} {sum}");
            let most = part.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            assert_eq!(f32::from_bits(largest[row]), most);
        }
        assert_eq!(run("mlxrocm_reduce_sum_f32", 0), [0; 5]);
        assert_eq!(
            run("mlxrocm_reduce_max_f32", 0),
            [f32::NEG_INFINITY.to_bits(); 5]
        );
    });
}

#[test]
fn tiles_multiply() {
    on_every_target(|bench| {
        let (m, n, k) = (32, 48, 64);
        let mut random = Prng::new(11);
        let mut numbers = |count: usize| -> Vec<f32> {
            (0..count)
                .map(|_| (random.u64() % 4001) as f32 / 1000.0 - 2.0)
                .collect()
        };
        let (a, b) = (numbers(m * k), numbers(n * k));
        for name in ["f16", "bf16"] {
            let round = |x: f32| {
                if name == "f16" {
                    f16::from_f32(x).to_bits()
                } else {
                    bf16::from_f32(x).to_bits()
                }
            };
            let wide = |x: u16| {
                if name == "f16" {
                    f16::from_bits(x).to_f64()
                } else {
                    bf16::from_bits(x).to_f64()
                }
            };
            let (a, b): (Vec<u16>, Vec<u16>) = (
                a.iter().map(|x| round(*x)).collect(),
                b.iter().map(|x| round(*x)).collect(),
            );
            let kernel = bench
                .device
                .kernel(&format!("mlxrocm_matmul_tile_{name}"))
                .unwrap();
            let (left, right) = (bench.buffer(&pairs(&a)), bench.buffer(&pairs(&b)));
            let to = bench.buffer(&vec![0; m * n]);
            let args = Args::new()
                .buffer("c", &to, 0)
                .buffer("a", &left, 0)
                .buffer("b", &right, 0)
                .u32("n", n as u32)
                .u32("k", k as u32);
            bench.launch(
                &kernel,
                [n as u32 / 16, m as u32 / 16, 1],
                bench.wave(),
                0,
                &args,
            );
            let got = bench.values(&to);
            for row in 0..m {
                for column in 0..n {
                    let products = (0..k).map(|i| wide(a[row * k + i]) * wide(b[column * k + i]));
                    let (sum, scale) =
                        products.fold((0.0, 0.0), |(sum, scale), x| (sum + x, scale + x.abs()));
                    let value = f64::from(f32::from_bits(got[row * n + column]));
                    assert!(
                        (value - sum).abs() <= scale * 1e-6,
                        "{name} {row} {column}: {value} {sum}"
                    );
                }
            }
        }
    });
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn pairs(values: &[u16]) -> Vec<u32> {
    values
        .chunks_exact(2)
        .map(|pair| u32::from(pair[0]) | u32::from(pair[1]) << 16)
        .collect()
}

/// A launch that reads beyond its buffer is caught: these tests see what hardware would hide.
#[test]
fn the_software_gpu_sees_a_wrong_length() {
    if crate::gpu::is_real() {
        return;
    }
    let gpu = crate::gpu::soft("devices=gfx1151;integrated=0;sticky=0");
    let device = gpu.device();
    let bench = Bench {
        stream: device.stream().unwrap(),
        device,
    };
    let kernel = bench.device.kernel("mlxrocm_vector_add_f32").unwrap();
    let buffer = bench.buffer(&[0; 256]);
    let args = Args::new()
        .buffer("c", &buffer, 0)
        .buffer("a", &buffer, 0)
        .buffer("b", &buffer, 0)
        .u32("count", 257);
    bench
        .stream
        .launch(&kernel, [2, 1, 1], [256, 1, 1], 0, &args)
        .unwrap();
    assert!(bench.stream.wait(crate::gpu::PATIENCE).is_err());
}

#[test]
fn argmax_finds_the_first_of_the_largest() {
    on_every_target(one_argmax);
}

/// Rows with equal numbers, the very last, and none.
pub fn one_argmax(bench: &Bench) {
    let mut random = Prng::new(11);
    let columns = 10_007;
    let mut data: Vec<f32> = (0..4 * columns)
        .map(|_| (random.u64() % 20_001) as f32 / 10_000.0 - 1.5)
        .collect();
    // Equal ones, the very last, and rows that no model gives.
    for at in [777, 9_001, 9_002] {
        data[at] = 3.0;
    }
    data[2 * columns - 1] = 4.0;
    data[2 * columns + 5_000] = f32::NAN;
    data[3 * columns + 1] = f32::NEG_INFINITY;
    let (from, to) = (bench.buffer(&bits(&data)), bench.buffer(&[0; 4]));
    let (parts, counters) = (bench.buffer(&[7; 4 * 32 * 3]), bench.buffer(&[0; 4]));
    let kernel = bench.device.kernel("mlxrocm_argmax_f32").unwrap();
    let args = Args::new()
        .buffer("logits", &from, 0)
        .buffer("tokens", &to, 0);
    let told = bench.buffer(&[0; 4]);
    let args = args
        .buffer("told", &told, 0)
        .buffer("parts", &parts, 0)
        .buffer("counters", &counters, 0);
    let args = args
        .u32("cols", columns as u32)
        .u32("stride", columns as u32);
    bench.launch(&kernel, [4, 32, 1], 1024, 0, &args);
    let none = u32::MAX;
    assert_eq!(bench.values(&to), [777, columns as u32 - 1, none, none]);
    assert_eq!(bench.values(&told), bench.values(&to));
    assert_eq!(bench.values(&counters), [0; 4]);
}

/// Rows of a table by token, by what the step before chose, and of no token at all.
#[test]
fn embed_takes_given_and_chosen_tokens() {
    const CHOSEN: u32 = 1 << 31;
    on_every_target(|bench| {
        let (vocabulary, columns) = (20, 300);
        let mut random = Prng::new(12);
        let table: Vec<f32> = (0..vocabulary * columns)
            .map(|_| f16::from_f32((random.u64() % 2001) as f32 / 500.0 - 2.0).to_f32())
            .collect();
        let halves =
            |bits: &dyn Fn(f32) -> u16| pairs(&table.iter().map(|x| bits(*x)).collect::<Vec<_>>());
        let round = |x: &f32| bf16::from_f32(*x).to_f32();
        let rounded: Vec<f32> = table.iter().map(round).collect();
        let tokens = [
            3,
            CHOSEN + 1,
            u32::MAX,
            CHOSEN,
            19,
            CHOSEN + 2,
            20,
            CHOSEN + 3,
        ];
        let choices = [7, 0, u32::MAX];
        let resolved = [3, 0, u32::MAX, 7, 19, u32::MAX, 20, CHOSEN + 3];
        for (name, data, expected) in [
            ("mlxrocm_embed_f32", bits(&table), &table),
            (
                "mlxrocm_embed_f16",
                halves(&|x| f16::from_f32(x).to_bits()),
                &table,
            ),
            (
                "mlxrocm_embed_bf16",
                halves(&|x| bf16::from_f32(x).to_bits()),
                &rounded,
            ),
        ] {
            let [data, given, chosen] = [&data[..], &tokens, &choices].map(|v| bench.buffer(v));
            let out = bench.buffer(&vec![1; tokens.len() * columns]);
            let args = Args::new()
                .buffer("table", &data, 0)
                .buffer("tokens", &given, 0)
                .buffer("chosen", &chosen, 0)
                .buffer("out", &out, 0)
                .u32("choices", choices.len() as u32)
                .u32("vocab", vocabulary as u32)
                .u32("cols", columns as u32);
            let kernel = bench.device.kernel(name).unwrap();
            bench.launch(&kernel, [tokens.len() as u32, 1, 1], 1024, 0, &args);
            assert_eq!(bench.values(&given), resolved);
            for (row, token) in bench.values(&out).chunks(columns).zip(resolved) {
                let first = token as usize * columns;
                match token < vocabulary as u32 {
                    true => assert_eq!(row, bits(&expected[first..first + columns]), "{name}"),
                    false => assert!(row.iter().all(|bits| *bits == 0), "{name}"),
                }
            }
        }
    });
}

/// Arguments of one size that changed places, and one of another type.
#[test]
fn arguments_that_changed_places_are_refused() {
    on_every_target(|bench| {
        let kernel = |name: &str| bench.device.kernel(name).unwrap();
        let refused = |kernel: &Kernel, args: &Args| {
            let one = [1, 1, 1];
            let result = bench.stream.launch(kernel, one, [256, 1, 1], 0, args);
            result.unwrap_err().to_string()
        };
        let (to, from) = (bench.buffer(&[7; 4]), bench.buffer(&[8; 4]));
        let args = Args::new().buffer("from", &from, 0).buffer("to", &to, 0);
        let wrong = refused(&kernel("mlxrocm_copy_u8"), &args.u64("bytes", 16));
        assert!(
            wrong.contains("'mlxrocm_copy_u8'")
                && wrong.contains("argument 0 is the pointer `to`, the pointer `from` was given"),
            "{wrong}"
        );
        let count = kernel("mlxrocm_arange_u32");
        let args = Args::new().buffer("out", &to, 0).u32("count", 4);
        let wrong = refused(&count, &args.clone().u32("step", 3).u32("start", 7));
        let what = "argument 2 is the u32 `start`, the u32 `step` was given";
        assert!(wrong.contains(what), "{wrong}");
        let wrong = refused(&count, &args.u32("start", 7).f32("step", 3.0));
        let what = "argument 3 is the u32 `step`, the f32 `step` was given";
        assert!(wrong.contains(what), "{wrong}");
        bench.stream.wait(crate::gpu::PATIENCE).unwrap();
        assert_eq!(bench.values(&to), [7; 4]);
    });
}
