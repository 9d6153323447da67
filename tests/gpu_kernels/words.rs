//! `words.hip` against Rust's own arithmetic.

use crate::prng::Prng;
use crate::{Bench, gpu, on_every_target};
use half::{bf16, f16};
use mlxrocm::gpu::{Args, Kernel, Module};
use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

#[path = "../../build/arguments.rs"]
mod arguments;

/// The device code of the library, wherever this test runs.
const FILES: [(&str, &str); 8] = [
    ("types.h", include_str!("../../hip/common/types.h")),
    ("platform.h", include_str!("../../hip/common/platform.h")),
    (
        "platform_amd.h",
        include_str!("../../hip/common/platform_amd.h"),
    ),
    (
        "platform_nvidia.h",
        include_str!("../../hip/common/platform_nvidia.h"),
    ),
    ("portable.h", include_str!("../../hip/common/portable.h")),
    ("math.h", include_str!("../../hip/common/math.h")),
    ("reduce.h", include_str!("../../hip/common/reduce.h")),
    ("words.hip", include_str!("words.hip")),
];

/// Appends a file to `text`, its includes in place, each once.
fn flatten(name: &str, seen: &mut Vec<String>, text: &mut String) {
    if seen.iter().any(|other| other == name) {
        return;
    }
    seen.push(name.to_owned());
    let (_, content) = FILES.iter().find(|(file, _)| *file == name).expect(name);
    for line in content.lines() {
        match line.strip_prefix("#include \"") {
            Some(included) => flatten(
                included.trim_start_matches("common/").trim_end_matches('"'),
                seen,
                text,
            ),
            None if line == "#pragma once" => {}
            None => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
}

/// A kernel of `words.hip`, compiled as the build script compiles the library's own; on a real GPU
/// by the run-time compiler.
fn kernel(bench: &Bench, name: &str) -> Kernel {
    if gpu::is_real() {
        let mut text = String::new();
        flatten("words.hip", &mut Vec::new(), &mut text);
        let module = Module::compile(&bench.device, "words.hip", &text, &[]).unwrap();
        return module.kernel(name).unwrap();
    }
    static CODE: Mutex<Option<HashMap<String, Vec<u8>>>> = Mutex::new(None);
    let arch = &bench.device.facts().arch;
    let mut all = CODE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let code = all
        .get_or_insert_default()
        .entry(arch.clone())
        .or_insert_with(|| {
            let root = Path::new(env!("CARGO_MANIFEST_DIR"));
            let folder = tempfile::tempdir().unwrap();
            let object = folder.path().join("words");
            let output = Command::new("clang++-19")
                .args(arguments::arguments(arch))
                .arg("-I")
                .arg(root.join("hip"))
                .arg(root.join("tests/gpu_kernels/words.hip"))
                .arg("-o")
                .arg(&object)
                .output()
                .expect("clang++-19 (apt-get install clang-19 lld-19)");
            let log = String::from_utf8_lossy(&output.stderr);
            assert!(
                output.status.success() && !log.contains("warning: "),
                "{arch}: {log}"
            );
            std::fs::read(&object).unwrap()
        });
    Module::from_code(&bench.device, code)
        .unwrap()
        .kernel(name)
        .unwrap()
}

/// What a real GPU's test compiles is the same source.
#[test]
fn the_flat_source_compiles() {
    if gpu::is_real() {
        return;
    }
    let gpu = gpu::soft("devices=gfx1151;integrated=0");
    let device = gpu.device();
    let mut text = String::new();
    flatten("words.hip", &mut Vec::new(), &mut text);
    let module = Module::compile(&device, "words.hip", &text, &[]).unwrap();
    for name in ["lanes", "numbers", "blocks"] {
        assert!(module.kernel(name).is_ok(), "{name}");
    }
}

#[test]
fn lanes_exchange() {
    on_every_target(|bench| {
        let wave = bench.wave() as usize;
        let mut random = Prng::new(1);
        let values: Vec<u32> = (0..wave).map(|_| random.u64() as u32).collect();
        let (out, input) = (bench.buffer(&[0; 22 * 64]), bench.buffer(&values));
        let args = Args::new().buffer("out", &out, 0).buffer("in", &input, 0);
        bench.launch(&kernel(bench, "lanes"), [1, 1, 1], wave as u32, 0, &args);
        let got = bench.values(&out);
        let masks = [1, 2, 3, 4, 7, 8, 13, 15, 16, 21, 31, wave - 1, wave / 2];
        let small = |value: u32| value & 0xffff;
        let votes = values.iter().enumerate().fold(0_u64, |sum, (lane, value)| {
            sum | u64::from(value & 1) << lane
        });
        for lane in 0..wave {
            let mut expected = vec![lane as u32];
            expected.extend(masks.iter().map(|mask| values[lane ^ mask]));
            expected.push(values[(lane * 7 + 3) % wave]);
            expected.push(values[if lane + 5 < wave { lane + 5 } else { lane }]);
            expected.push(values[9]);
            expected.extend([votes as u32, (votes >> 32) as u32]);
            expected.push(values.iter().copied().map(small).sum());
            expected.extend(values.iter().copied().map(small).max());
            expected.push(values[lane / 8 * 8..][..8].iter().copied().map(small).sum());
            for (k, expected) in expected.iter().enumerate() {
                assert_eq!(got[k * 64 + lane], *expected, "exchange {k}, lane {lane}");
            }
        }
    });
}

#[test]
fn numbers_are_right() {
    let mut random = Prng::new(2);
    let count = 512;
    let float = |value: u64| (value % 2_000_001) as f32 / 10_000.0 - 100.0;
    let mut input = Vec::new();
    for i in 0..count {
        let mut word = || random.u64() as u32;
        let (a, b, c) = (
            if i < SPECIAL.len() {
                SPECIAL[i]
            } else {
                word()
            },
            word(),
            word(),
        );
        let (x, y) = (float(u64::from(word())), float(u64::from(word())));
        let mut pair = || {
            pack(
                f16::from_f32(float(u64::from(word())) / 25.0),
                f16::from_f32(float(u64::from(word())) / 25.0),
            )
        };
        let mut p = pair();
        if i < 32 {
            // Denormals, infinities and their like are converted too.
            p = [
                0x0000_0001,
                0x0000_83ff,
                0x0000_7c00,
                0x0000_fc00,
                0x0000_8000,
                0x0000_7bff,
            ][i % 6];
        }
        input.extend([a, b, c, x.to_bits(), y.to_bits(), p, pair(), pair()]);
    }
    on_every_target(|bench| {
        let (out, from) = (bench.buffer(&vec![0; count * 32]), bench.buffer(&input));
        let args = Args::new()
            .buffer("out", &out, 0)
            .buffer("in", &from, 0)
            .u32("count", count as u32 - 1);
        bench.launch(
            &kernel(bench, "numbers"),
            [count.div_ceil(64) as u32, 1, 1],
            64,
            0,
            &args,
        );
        let got = bench.values(&out);
        for i in 0..count - 1 {
            check(&input[i * 8..][..8], &got[i * 32..][..32], i);
        }
        assert!(got[(count - 1) * 32..].iter().all(|value| *value == 0));
    });
}

/// NaN, infinities, zeros, denormals, and halves to round, as f32 to be made bf16.
const SPECIAL: [u32; 10] = [
    0x7fc0_0000,
    0x7f80_0001,
    0xff80_0000,
    0x7f80_0000,
    0x8000_0000,
    0x0000_0001,
    0x3f80_8000,
    0x3f81_8000,
    0x7f7f_ffff,
    0xffff_ffff,
];

fn pack(low: f16, high: f16) -> u32 {
    u32::from(low.to_bits()) | u32::from(high.to_bits()) << 16
}

fn unpack(pair: u32) -> [f64; 2] {
    [
        f16::from_bits(pair as u16).to_f64(),
        f16::from_bits((pair >> 16) as u16).to_f64(),
    ]
}

fn check(input: &[u32], got: &[u32], i: usize) {
    let [a, b, c] = [input[0], input[1], input[2]];
    let [x, y] = [f32::from_bits(input[3]), f32::from_bits(input[4])];
    let [p, q, r] = [unpack(input[5]), unpack(input[6]), unpack(input[7])];
    let finite = p.iter().all(|value| value.is_finite());
    let exact = |k: usize, expected: u32| {
        assert_eq!(
            got[k], expected,
            "result {k} of {i}: {:x} {expected:x}",
            got[k]
        )
    };
    let pair = |f: &dyn Fn(usize) -> f64| pack(f16::from_f64(f(0)), f16::from_f64(f(1)));
    let bf = |x: f32| u32::from(bf16::from_f32(x).to_bits());
    exact(0, (p[0] as f32).to_bits());
    exact(1, u32::from(f16::from_f32(x).to_bits()));
    exact(2, bf(x));
    let special = f32::from_bits(a);
    if special.is_nan() {
        assert!(
            bf16::from_bits(got[3] as u16).is_nan(),
            "{a:x} {:x}",
            got[3]
        );
    } else {
        exact(3, bf(special));
    }
    exact(4, pack(f16::from_f32(x), f16::from_f32(y)));
    exact(5, bf(x) | bf(y) << 16);
    if finite {
        exact(6, pair(&|k| p[k] + q[k]));
        exact(7, pair(&|k| p[k] - q[k]));
        exact(8, pair(&|k| p[k] * q[k]));
        exact(9, pair(&|k| p[k].mul_add(q[k], r[k])));
    }
    let near = |k: usize, expected: f64, scale: f64, tolerance: f64| {
        let value = f64::from(f32::from_bits(got[k]));
        assert!(
            (value - expected).abs() <= scale * tolerance,
            "result {k} of {i}: {value} {expected}"
        );
    };
    let x64 = f64::from(x);
    // Room for a unit of the last place that a gfx11's dot2 loses of each product of the other sign.
    if i >= 32 {
        let sum = p[0] * q[0] + p[1] * q[1] + x64;
        near(
            10,
            sum,
            (p[0] * q[0]).abs() + (p[1] * q[1]).abs() + x64.abs(),
            3e-7,
        );
    }
    let [bx, by] = [bf16::from_f32(x).to_f64(), bf16::from_f32(y).to_f64()];
    near(
        11,
        bx * by + by * by + x64,
        (bx * by).abs() + by * by + x64.abs(),
        3e-7,
    );
    let bytes = |value: u32| value.to_le_bytes().map(|byte| i32::from(byte as i8));
    let products: i32 = bytes(a).iter().zip(bytes(b)).map(|(a, b)| a * b).sum();
    exact(12, (c as i32).wrapping_add(products) as u32);
    let source = u64::from(a) << 32 | u64::from(b);
    let selected = c
        .to_le_bytes()
        .map(|byte| (source >> (u32::from(byte & 7) * 8)) as u8);
    exact(13, u32::from_le_bytes(selected));
    exact(14, a & b | c);
    exact(15, a >> (b & 15) & ((1 << (1 + (c & 15))) - 1));
    exact(16, a.count_ones() + 100 * source.count_ones());
    exact(17, (a >> (b & 31)).leading_zeros());
    let relative =
        |k: usize, expected: f64, tolerance: f64| near(k, expected, expected.abs(), tolerance);
    relative(18, (x64 * 0.25).exp2(), 4e-7);
    near(19, x64.abs().log2(), x64.abs().log2().abs().max(1.0), 4e-7);
    relative(20, 1.0 / x64, 4e-7);
    relative(21, 1.0 / x64.abs().sqrt(), 4e-7);
    relative(22, x64.abs().sqrt(), 4e-7);
    exact(23, x.mul_add(y, x).to_bits());
    exact(24, x.max(y).to_bits());
    exact(25, x.min(y).to_bits());
    exact(26, x.round_ties_even().to_bits());
    exact(27, x.floor().to_bits());
    let sigmoid = 1.0 / (1.0 + (-x64).exp());
    // The exponential of a number of this size loses a few bits of it; denormals become zero.
    let silu = x64 * sigmoid;
    near(28, silu, silu.abs().max(1e-30), 1e-5);
    let t = x64 * 0.0625;
    relative(29, t.tanh(), 4e-6);
    let gelu = 0.5 * t * (1.0 + (0.797_884_560_802_865_4 * (t + 0.044_715 * t * t * t)).tanh());
    near(30, gelu, t.abs(), 1e-6);
    if finite {
        near(31, p[0] + 2.0 * p[1], p[0].abs() + 2.0 * p[1].abs(), 1e-7);
    }
}

#[test]
fn blocks_work_together() {
    on_every_target(|bench| {
        let rows = 12;
        let mut random = Prng::new(9);
        let values: Vec<f32> = (0..rows * 256)
            .map(|_| (random.u64() % 1000) as f32)
            .collect();
        let bits: Vec<u32> = values.iter().map(|value| value.to_bits()).collect();
        let (input, sums, total) = (
            bench.buffer(&bits),
            bench.buffer(&vec![0; rows * 2]),
            bench.buffer(&[0]),
        );
        let (counters, copies) = (bench.buffer(&[0; 6]), bench.buffer(&vec![0; rows * 1024]));
        let args = Args::new()
            .buffer("rows", &sums, 0)
            .buffer("total", &total, 0)
            .buffer("counters", &counters, 0);
        let args = args
            .buffer("copies", &copies, 0)
            .buffer("in", &input, 0)
            .u32("count", rows as u32);
        bench.launch(
            &kernel(bench, "blocks"),
            [rows as u32, 1, 1],
            256,
            1024,
            &args,
        );
        let (sums, copies) = (bench.values(&sums), bench.values(&copies));
        for row in 0..rows {
            // Whole numbers: sums are exact in any order.
            let part = &values[row * 256..][..256];
            assert_eq!(
                f32::from_bits(sums[row * 2]),
                part.iter().sum::<f32>(),
                "row {row}"
            );
            assert_eq!(
                f32::from_bits(sums[row * 2 + 1]),
                part.iter().copied().fold(0.0, f32::max)
            );
            for kind in 0..4 {
                assert!(
                    copies[row * 1024 + kind * 256..][..256] == bits[row * 256..][..256],
                    "row {row}, kind {kind}"
                );
            }
        }
        assert_eq!(
            f32::from_bits(bench.values(&total)[0]),
            values.iter().sum::<f32>()
        );
        let rows = rows as u32;
        let expected = [
            rows,
            rows * (rows - 1) / 2,
            (rows - 1) * 3,
            rows * 2,
            rows,
            7,
        ];
        assert_eq!(bench.values(&counters), expected);
    });
}
