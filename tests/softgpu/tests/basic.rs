//! Compiled kernels on all nine targets against plain forms, and the faults that must be found.

mod support;
use support::{Args, Gpu, Random, TARGETS, compile, wave};

fn close(a: f32, b: f64, tolerance: f64) -> bool {
    (f64::from(a) - b).abs() <= tolerance * (1.0 + b.abs())
}

#[test]
fn plain_kernels_run_on_every_target() {
    for target in TARGETS {
        let code = compile("basic.hip", target, &[]);
        for seed in [0, 7] {
            let mut gpu = Gpu::new();
            gpu.seed = seed;
            gpu.threads = 1 + seed as usize % 2;
            let mut r = Random(1);
            let (a, b) = (r.vec(1000), r.vec(1000));
            let (da, db, dc) = (gpu.upload(&a), gpu.upload(&b), gpu.alloc::<f32>(1000));
            let args = Args::new().ptr(da).ptr(db).ptr(dc).i32(1000);
            let report = gpu
                .launch(&code, "vadd", [4, 1, 1], [256, 1, 1], &args)
                .unwrap();
            let c: Vec<f32> = gpu.download(dc, 1000);
            assert!((0..1000).all(|i| c[i] == a[i] + b[i]), "{target}");
            assert_eq!(report.bytes_stored, 4000);
            assert_eq!(report.waves as usize, 1024 / wave(target));

            let out = gpu.alloc::<f32>(2);
            gpu.launch(
                &code,
                "reduce",
                [2, 1, 1],
                [256, 1, 1],
                &Args::new().ptr(da).ptr(out).i32(500),
            )
            .unwrap();
            let sums: Vec<f32> = gpu.download(out, 2);
            for (k, s) in sums.iter().enumerate() {
                let want: f64 = a[k * 500..(k + 1) * 500]
                    .iter()
                    .map(|v| f64::from(*v))
                    .sum();
                assert!(close(*s, want, 1e-5), "{target}: {s} {want}");
            }
        }
    }
}

#[test]
fn transcendentals_doubles_and_private_memory() {
    for target in TARGETS {
        let code = compile("basic.hip", target, &[]);
        let gpu = Gpu::new();
        let mut r = Random(2);
        let a: Vec<f32> = r.vec(128);
        let d: Vec<f64> = a.iter().map(|v| f64::from(*v).abs() * 1e3).collect();
        let (da, dd) = (gpu.upload(&a), gpu.upload(&d));
        let n = 7usize;
        gpu.launch(
            &code,
            "misc",
            [2, 1, 1],
            [64, 1, 1],
            &Args::new().ptr(da).ptr(dd).i32(n as i32),
        )
        .unwrap();
        let (ga, gd): (Vec<f32>, Vec<f64>) = (gpu.download(da, 128), gpu.download(dd, 128));
        for i in 0..128 {
            let x = f64::from(a[i]);
            let y = x.exp() / (x + 2.0).sqrt() + (x * x + 1.0).ln();
            let mut buf: Vec<f64> = (0..20).map(|k| y * f64::from(k)).collect();
            buf[n & 15] = 3.0;
            let q: f64 = (0..20).map(|k| buf[(k * n) % 20] * (k + 1) as f64).sum();
            assert!(
                close(ga[i], y + q, 1e-5),
                "{target} {i}: {} {}",
                ga[i],
                y + q
            );
            let want = d[i] / 3.0 + d[i].sqrt();
            assert!(
                (gd[i] - want).abs() <= 1e-14 * want.abs(),
                "{target} {i}: {} {want}",
                gd[i]
            );
        }
    }
}

#[test]
fn atomics_count_every_thread() {
    for target in TARGETS {
        let code = compile("basic.hip", target, &[]);
        let mut gpu = Gpu::new();
        (gpu.seed, gpu.threads) = (3, 2);
        let a: Vec<f32> = (0..640).map(|i| i as f32).collect();
        let (counts, sum) = (gpu.upload(&[0u32; 16]), gpu.upload(&[0f32]));
        let (da, order) = (gpu.upload(&a), gpu.alloc::<u32>(640));
        let args = Args::new().ptr(counts).ptr(sum).ptr(da).ptr(order);
        gpu.launch(&code, "atomics", [5, 1, 1], [128, 1, 1], &args)
            .unwrap();
        let c: Vec<u32> = gpu.download(counts, 16);
        assert_eq!(&c[..5], [128; 5], "{target}");
        assert_eq!(c[7], 640);
        assert_eq!(gpu.download::<f32>(sum, 1)[0], (0..640).sum::<i32>() as f32);
        let mut o: Vec<u32> = gpu.download(order, 640);
        o.sort_unstable();
        assert!(o.iter().enumerate().all(|(i, v)| *v == i as u32));
        let want = (0..640).fold(0u32, |v, _| v.wrapping_mul(3).wrapping_add(1));
        assert_eq!(c[8], want);
    }
}

#[test]
fn four_bit_matrix_vector() {
    for target in TARGETS {
        let code = compile("basic.hip", target, &[]);
        let gpu = Gpu::new();
        let (rows, k) = (16usize, 1024usize);
        let mut r = Random(5);
        let bf = |v: f32| (v.to_bits() >> 16) as u16;
        let w: Vec<u32> = (0..rows * k / 8).map(|_| r.bits() as u32).collect();
        let s: Vec<u16> = (0..rows * k / 64).map(|_| bf(r.f32())).collect();
        let b: Vec<u16> = (0..rows * k / 64).map(|_| bf(r.f32())).collect();
        let x: Vec<u16> = (0..k).map(|_| bf(r.f32())).collect();
        let y = gpu.alloc::<f32>(rows);
        let args = Args::new()
            .ptr(gpu.upload(&w))
            .ptr(gpu.upload(&s))
            .ptr(gpu.upload(&b))
            .ptr(gpu.upload(&x))
            .ptr(y)
            .i32(k as i32);
        let per = 128 / wave(target);
        gpu.launch(
            &code,
            "gemv4",
            [(rows / per) as u32, 1, 1],
            [128, 1, 1],
            &args,
        )
        .unwrap();
        let got: Vec<f32> = gpu.download(y, rows);
        let f = |v: u16| f64::from(f32::from_bits(u32::from(v) << 16));
        for row in 0..rows {
            let want: f64 = (0..k)
                .map(|i| {
                    let q = f64::from(w[(row * k + i) / 8] >> (4 * (i % 8)) & 15);
                    let g = row * (k / 64) + i / 64;
                    f(x[i]) * (f(s[g]) * q + f(b[g]))
                })
                .sum();
            assert!(
                close(got[row], want, 1e-4),
                "{target} {row}: {} {want}",
                got[row]
            );
        }
    }
}

#[test]
fn waves_of_64_on_rdna() {
    for target in ["gfx1030", "gfx1100", "gfx1201"] {
        let code = compile("basic.hip", target, &["-mwavefrontsize64"]);
        assert_eq!(code.kernel("reduce").unwrap().wave_size, 64);
        let gpu = Gpu::new();
        let a: Vec<f32> = (0..1000).map(|i| (i % 17) as f32).collect();
        let (da, out) = (gpu.upload(&a), gpu.alloc::<f32>(2));
        let args = Args::new().ptr(da).ptr(out).i32(500);
        gpu.launch(&code, "reduce", [2, 1, 1], [256, 1, 1], &args)
            .unwrap();
        let want = |k: usize| a[k * 500..(k + 1) * 500].iter().sum::<f32>();
        assert_eq!(gpu.download::<f32>(out, 2), [want(0), want(1)], "{target}");
        let c = gpu.alloc::<f32>(1000);
        let args = Args::new().ptr(da).ptr(da).ptr(c).i32(1000);
        let report = gpu
            .launch(&code, "vadd", [4, 1, 1], [256, 1, 1], &args)
            .unwrap();
        assert_eq!(report.waves, 16);
        assert!(
            gpu.download::<f32>(c, 1000)
                .iter()
                .zip(&a)
                .all(|(c, a)| *c == a + a)
        );
    }
}

#[test]
fn functions_are_called() {
    for target in TARGETS {
        let code = compile("basic.hip", target, &[]);
        let gpu = Gpu::new();
        let a: Vec<i32> = (1..65).collect();
        let d = gpu.upload(&a);
        gpu.launch(&code, "calls", [1, 1, 1], [64, 1, 1], &Args::new().ptr(d))
            .unwrap();
        let got: Vec<i32> = gpu.download(d, 64);
        for (n, got) in a.iter().zip(got) {
            let (mut v, mut steps) = (*n, 0);
            while v > 1 {
                v = if v & 1 == 1 { 3 * v + 1 } else { v / 2 };
                steps += 1;
            }
            assert_eq!(got, steps, "{target} {n}");
        }
    }
}

#[test]
fn mistakes_become_faults() {
    for target in TARGETS {
        let code = compile("basic.hip", target, &[]);
        let mut gpu = Gpu::new();
        let out = gpu.alloc::<f32>(256);
        let fault = |gpu: &Gpu, name: &str, block: u32, args: &Args| {
            gpu.launch(&code, name, [2, 1, 1], [block, 1, 1], args)
                .expect_err(name)
                .message
        };
        let m = fault(&gpu, "no_barrier", 128, &Args::new().ptr(out));
        assert!(
            m.contains("LDS race") || m.contains("uninitialised LDS"),
            "{target}: {m}"
        );
        let m = fault(&gpu, "diverge", 128, &Args::new().ptr(out).i32(64));
        assert!(m.contains("divergent barrier"), "{target}: {m}");
        let m = fault(&gpu, "beyond", 128, &Args::new().ptr(out).i32(129));
        assert!(m.contains("out of bounds"), "{target}: {m}");
        let m = fault(&gpu, "lds_over", 64, &Args::new().ptr(out).i32(64));
        assert!(m.contains("LDS out of bounds"), "{target}: {m}");
        for wild in [0u64, 16, u64::MAX - 3, 0xdead_beef_dead_bee0] {
            let m = fault(&gpu, "copy", 64, &Args::new().ptr(wild).ptr(out));
            assert!(m.contains("out of bounds"), "{target} {wild:#x}: {m}");
        }
        let fresh = gpu.alloc::<f32>(64);
        let m = fault(&gpu, "copy", 64, &Args::new().ptr(fresh).ptr(out));
        assert!(m.contains("uninitialised read"), "{target}: {m}");
        gpu.memory.free(fresh).unwrap();
        let m = fault(&gpu, "copy", 64, &Args::new().ptr(fresh).ptr(out));
        assert!(m.contains("use after free"), "{target}: {m}");
        // At an odd address: CDNA loads words from even ones.
        let m = fault(&gpu, "copy", 64, &Args::new().ptr(out + 1).ptr(out));
        assert!(m.contains("misaligned"), "{target}: {m}");
        gpu.checks.instruction_limit = 1_000_000;
        let zero = gpu.upload(&[0i32; 64]);
        let m = fault(&gpu, "forever", 64, &Args::new().ptr(zero));
        assert!(m.contains("hang"), "{target}: {m}");
        gpu.checks.global_race = true;
        let m = fault(&gpu, "global_race", 64, &Args::new().ptr(zero));
        assert!(m.contains("global race"), "{target}: {m}");
        let m = fault(
            &gpu,
            "neighbours",
            128,
            &Args::new().ptr(gpu.upload(&[0u16; 129])),
        );
        assert!(m.contains("global race"), "{target}: {m}");
    }
}

/// What a wave does is checked at once where that is possible; the lane that is wrong is found all the same.
#[test]
fn the_lane_that_is_wrong_is_named() {
    for target in TARGETS {
        let code = compile("basic.hip", target, &[]);
        let mut gpu = Gpu::new();
        gpu.checks.global_race = true;
        let launch = |gpu: &Gpu, name: &str, grid: u32, block: u32, at: u64, n: i32| {
            let args = Args::new().ptr(at).i32(n);
            gpu.launch(&code, name, [grid, 1, 1], [block, 1, 1], &args)
        };
        let a = gpu.upload(&[0i32; 256]);
        for (name, first) in [("meet", a + 4 * 64), ("meet_short", a + 2 * 64)] {
            assert_eq!(launch(&gpu, name, 2, 32, first, -32).err(), None);
            let fault = launch(&gpu, name, 2, 32, first, -20).unwrap_err();
            assert!(fault.message.contains("global race"), "{target}: {fault}");
            assert_eq!(
                (fault.block, fault.lane),
                ([1, 0, 0], 20),
                "{target}: {fault}"
            );
        }
        let out = gpu.alloc::<f32>(256);
        assert_eq!(launch(&gpu, "lds_hole", 1, 128, out, 999).err(), None);
        let fault = launch(&gpu, "lds_hole", 1, 128, out, 13).unwrap_err();
        assert!(
            fault.message.contains("uninitialised LDS"),
            "{target}: {fault}"
        );
        assert_eq!((fault.wave, fault.lane), (0, 13), "{target}: {fault}");
        assert_eq!(launch(&gpu, "lds_meet", 1, 128, out, 200).err(), None);
        // Thread 64 writes word 84, the next ones those before it: lane 21 word 63, which thread 63 wrote.
        let fault = launch(&gpu, "lds_meet", 1, 128, out, 84).unwrap_err();
        assert!(fault.message.contains("LDS race"), "{target}: {fault}");
        assert_eq!(fault.lane, 21, "{target}: {fault}");
    }
}

#[test]
fn ordered_sharing_is_no_race() {
    for target in TARGETS {
        let code = compile("basic.hip", target, &[]);
        for seed in 0..6 {
            let mut gpu = Gpu::new();
            (gpu.seed, gpu.threads, gpu.checks.global_race) = (seed, 1 + seed as usize % 2, true);
            let a: Vec<f32> = (0..2048).map(|i| (i % 13) as f32).collect();
            let (da, parts, out) = (gpu.upload(&a), gpu.alloc::<f32>(16), gpu.alloc::<f32>(1));
            let ticket = gpu.upload(&[0u32]);
            let args = Args::new().ptr(da).ptr(parts).ptr(out).ptr(ticket);
            gpu.launch(&code, "last_block", [16, 1, 1], [128, 1, 1], &args)
                .unwrap_or_else(|f| panic!("{target} {seed}: {f}"));
            assert_eq!(gpu.download::<f32>(out, 1)[0], a.iter().sum::<f32>());
            // Halves of one dword written by different waves, and a plain copy, are fine too.
            let shorts = gpu.alloc::<u16>(256);
            gpu.launch(
                &code,
                "halfwords",
                [2, 1, 1],
                [128, 1, 1],
                &Args::new().ptr(shorts),
            )
            .unwrap();
            let got: Vec<u16> = gpu.download(shorts, 256);
            assert!(got.iter().enumerate().all(|(i, v)| usize::from(*v) == i));
        }
    }
}

#[test]
fn generic_pointers_find_their_memory() {
    for target in TARGETS {
        for options in [&[][..], &["-O0"][..]] {
            let code = compile("basic.hip", target, options);
            for n in 0..4usize {
                let gpu = Gpu::new();
                let mut a: Vec<i32> = (0..192).map(|i| i * 3).collect();
                let d = gpu.upload(&a);
                let args = Args::new().ptr(d).i32(n as i32);
                gpu.launch(&code, "generic", [1, 1, 1], [64, 1, 1], &args)
                    .unwrap_or_else(|f| panic!("{target} {options:?}: {f}"));
                let mut s: Vec<i32> = (0..64).map(|i| 100 + i).collect();
                let q: Vec<i32> = if n & 2 != 0 {
                    vec![1, 2, 3, 4]
                } else {
                    a[64..68].to_vec()
                };
                let p = if n & 1 != 0 { &mut s[..] } else { &mut a[..64] };
                (0..64).for_each(|t| p[t] += q[(t + n) & 3]);
                let before = p.to_vec();
                let want: Vec<i32> = (0..64)
                    .map(|t| before[t] + 1000 + (t as i32 & 3) + 1 + before[63 - t])
                    .collect();
                assert_eq!(
                    gpu.download::<i32>(d + 512, 64),
                    want,
                    "{target} {options:?} {n}"
                );
            }
        }
    }
}

#[test]
fn unoptimised_code_runs() {
    for target in TARGETS {
        let code = compile("basic.hip", target, &["-O0"]);
        let mut gpu = Gpu::new();
        gpu.seed = 11;
        let a: Vec<f32> = (0..1000).map(|i| (i % 29) as f32).collect();
        let (da, out, c) = (gpu.upload(&a), gpu.alloc::<f32>(2), gpu.alloc::<f32>(1000));
        gpu.launch(
            &code,
            "reduce",
            [2, 1, 1],
            [256, 1, 1],
            &Args::new().ptr(da).ptr(out).i32(500),
        )
        .unwrap();
        let want = |k: usize| a[k * 500..(k + 1) * 500].iter().sum::<f32>();
        assert_eq!(gpu.download::<f32>(out, 2), [want(0), want(1)], "{target}");
        gpu.launch(
            &code,
            "vadd",
            [4, 1, 1],
            [256, 1, 1],
            &Args::new().ptr(da).ptr(da).ptr(c).i32(1000),
        )
        .unwrap();
        assert!(
            gpu.download::<f32>(c, 1000)
                .iter()
                .zip(&a)
                .all(|(c, a)| *c == a + a),
            "{target}"
        );
    }
}
