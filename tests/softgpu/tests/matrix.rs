//! Matrix, dot and packed instructions of each target against plain forms.

mod support;
use support::{Args, Gpu, Random, TARGETS, compile, wave};

fn f16(v: f32) -> u16 {
    // Test values are multiples of 1/64 below 2: exact in f16.
    let bits = v.to_bits();
    if v == 0.0 {
        return 0;
    }
    ((bits >> 16 & 0x8000) | (((bits >> 23 & 0xff) - 112) << 10) | (bits >> 13 & 0x3ff)) as u16
}

fn bf16(v: f32) -> u16 {
    (v.to_bits() >> 16) as u16
}

fn coarse(r: &mut Random, n: usize) -> Vec<f32> {
    (0..n).map(|_| (r.f32() * 64.0).round() / 64.0).collect()
}

fn product(a: &[f32], b: &[f32], m: usize, k: usize) -> Vec<f64> {
    (0..m * m)
        .map(|i| {
            (0..k)
                .map(|j| f64::from(a[i / m * k + j]) * f64::from(b[i % m * k + j]))
                .sum()
        })
        .collect()
}

#[test]
fn float_tiles() {
    for target in TARGETS.into_iter().filter(|t| *t != "gfx1030") {
        let code = compile("matrix.hip", target, &[]);
        let k = 64;
        let names: &[(&str, usize)] = if wave(target) == 64 {
            &[
                ("mm_f16", 16),
                ("mm_bf16", 16),
                ("mm32_f16", 32),
                ("mm32_bf16", 32),
            ]
        } else {
            &[("mm_f16", 16), ("mm_bf16", 16)]
        };
        for (name, m) in names {
            let gpu = Gpu::new();
            let mut r = Random(3);
            let (a, b) = (coarse(&mut r, m * k), coarse(&mut r, m * k));
            let narrow = if name.ends_with("bf16") { bf16 } else { f16 };
            let up = |v: &[f32]| gpu.upload(&v.iter().map(|v| narrow(*v)).collect::<Vec<u16>>());
            let c = gpu.alloc::<f32>(m * m);
            let args = Args::new().ptr(up(&a)).ptr(up(&b)).ptr(c).i32(k as i32);
            let report = gpu
                .launch(&code, name, [1, 1, 1], [wave(target) as u32, 1, 1], &args)
                .unwrap();
            assert!(report.instructions.matrix > 0);
            for (i, (got, want)) in gpu
                .download::<f32>(c, m * m)
                .iter()
                .zip(product(&a, &b, *m, k))
                .enumerate()
            {
                assert!(
                    (f64::from(*got) - want).abs() < 1e-5,
                    "{target} {name} {i}: {got} {want}"
                );
            }
        }
    }
}

#[test]
fn integer_tiles() {
    for target in TARGETS.into_iter().filter(|t| *t != "gfx1030") {
        let code = compile("matrix.hip", target, &[]);
        let (m, k) = (16, 64);
        let gpu = Gpu::new();
        let mut r = Random(4);
        let a: Vec<i8> = (0..m * k).map(|_| r.bits() as i8).collect();
        let b: Vec<i8> = (0..m * k).map(|_| r.bits() as i8).collect();
        let c = gpu.alloc::<i32>(m * m);
        let args = Args::new()
            .ptr(gpu.upload(&a))
            .ptr(gpu.upload(&b))
            .ptr(c)
            .i32(k as i32);
        gpu.launch(
            &code,
            "mm_i8",
            [1, 1, 1],
            [wave(target) as u32, 1, 1],
            &args,
        )
        .unwrap();
        let sum = |f: &dyn Fn(usize, usize) -> i32, i: usize| (0..k).map(|j| f(i, j)).sum::<i32>();
        for (i, got) in gpu.download::<i32>(c, m * m).iter().enumerate() {
            let want = sum(
                &|i, j| i32::from(a[i / m * k + j]) * i32::from(b[i % m * k + j]),
                i,
            );
            assert_eq!(*got, want, "{target} {i}");
        }
        if wave(target) == 64 {
            continue;
        }
        gpu.launch(&code, "mm_u4", [1, 1, 1], [32, 1, 1], &args)
            .unwrap();
        // The same bytes as nibbles: A unsigned, B signed.
        let nibble = |v: &[i8], at: usize| v[at / 2] as u8 as i32 >> (4 * (at % 2)) & 15;
        for (i, got) in gpu.download::<i32>(c, m * m).iter().enumerate() {
            let want = sum(
                &|i, j| {
                    let s = nibble(&b, i % m * k + j);
                    nibble(&a, i / m * k + j) * if s > 7 { s - 16 } else { s }
                },
                i,
            );
            assert_eq!(*got, want, "{target} u4 {i}");
        }
    }
}

#[test]
fn dots_and_halves() {
    for target in TARGETS {
        let code = compile("matrix.hip", target, &[]);
        let gpu = Gpu::new();
        let mut r = Random(6);
        let a: Vec<u32> = (0..64).map(|_| r.bits() as u32).collect();
        let b: Vec<u32> = (0..64).map(|_| r.bits() as u32).collect();
        let c = gpu.alloc::<u32>(192);
        let args = Args::new().ptr(gpu.upload(&a)).ptr(gpu.upload(&b)).ptr(c);
        gpu.launch(&code, "dots", [1, 1, 1], [64, 1, 1], &args)
            .unwrap();
        let got: Vec<i32> = gpu.download(c, 192);
        for i in 0..64 {
            let (x, y) = (a[i], b[i]);
            let s4 = |v: u32, j: u32| i32::from((v >> (8 * j)) as i8);
            let n4 = |v: u32, j: u32| (v << (28 - 4 * j)) as i32 >> 28;
            let u4 = |v: u32, j: u32| (v >> (8 * j) & 0xff) as i32;
            assert_eq!(
                got[i],
                i as i32 + (0..4).map(|j| s4(x, j) * s4(y, j)).sum::<i32>(),
                "{target}"
            );
            assert_eq!(
                got[i + 64],
                i as i32 + (0..8).map(|j| n4(x, j) * n4(y, j)).sum::<i32>(),
                "{target}"
            );
            assert_eq!(
                got[i + 128],
                i as i32 + (0..4).map(|j| u4(x, j) * u4(y, j)).sum::<i32>(),
                "{target}"
            );
        }
        let (x, y) = (coarse(&mut r, 128), coarse(&mut r, 128));
        let y: Vec<f32> = y.iter().map(|v| if *v == 0.0 { 0.5 } else { *v }).collect();
        let up = |v: &[f32]| gpu.upload(&v.iter().map(|v| f16(*v)).collect::<Vec<u16>>());
        let (c, d) = (gpu.alloc::<u16>(128), gpu.alloc::<f32>(256));
        let args = Args::new().ptr(up(&x)).ptr(up(&y)).ptr(c).ptr(d);
        gpu.launch(&code, "halves", [1, 1, 1], [64, 1, 1], &args)
            .unwrap();
        let (c, d): (Vec<u16>, Vec<f32>) = (gpu.download(c, 128), gpu.download(d, 256));
        let wide = |h: u16| {
            let m = f64::from(h & 0x3ff);
            let e = i32::from(h >> 10 & 31);
            let v = if e == 0 {
                m * 2f64.powi(-24)
            } else {
                (1024.0 + m) * 2f64.powi(e - 25)
            };
            if h >> 15 != 0 { -v } else { v }
        };
        for i in 0..64 {
            let (x0, x1) = (f64::from(x[2 * i]), f64::from(x[2 * i + 1]));
            let (y0, y1) = (f64::from(y[2 * i]), f64::from(y[2 * i + 1]));
            let want = [(x0 * y0 + 1.0).max(x0 - y1), (x1 * y1 - 2.0).max(x1 - y0)];
            for k in 0..2 {
                assert!(
                    (wide(c[2 * i + k]) - want[k]).abs() < 2e-3,
                    "{target} {i} {k}: {} {}",
                    wide(c[2 * i + k]),
                    want[k]
                );
            }
            assert!(
                (f64::from(d[i]) - (x0 * y0 + x1 * y1 + 0.5)).abs() < 1e-6,
                "{target}"
            );
            assert!(
                (f64::from(d[i + 64]) - (x0 * 3.0 + y1)).abs() < 1e-6,
                "{target}"
            );
            let q = x0 / y0 + x1;
            assert!(
                (f64::from(d[i + 128]) - q).abs() < 2e-3 * (1.0 + (x0 / y0).abs()),
                "{target} {i}: {} {q}",
                d[i + 128]
            );
            assert!((f64::from(d[i + 192]) - x1.abs()).abs() < 1e-3, "{target}");
        }
    }
}

#[test]
fn dpp_reduces_rows() {
    for target in TARGETS {
        let code = compile("matrix.hip", target, &[]);
        let gpu = Gpu::new();
        let a: Vec<f32> = (0..64).map(|i| (i * i % 37) as f32).collect();
        let c = gpu.alloc::<f32>(128);
        gpu.launch(
            &code,
            "dpp",
            [1, 1, 1],
            [64, 1, 1],
            &Args::new().ptr(gpu.upload(&a)).ptr(c),
        )
        .unwrap();
        let got: Vec<f32> = gpu.download(c, 128);
        for i in 0..64 {
            let row: f32 = a[i / 16 * 16..i / 16 * 16 + 16].iter().sum();
            assert_eq!(got[i], row, "{target} {i}");
            // row_shr:3 without bound_ctrl keeps the old value where nothing comes in.
            let want = if i % 16 >= 3 { a[i - 3] } else { -1.0 };
            assert_eq!(got[64 + i], want, "{target} {i}");
        }
    }
}
