//! Speed of the software GPU: a 4-bit matrix-vector product of 512 x 4096.
//!
//! `cargo run --release -p softgpu --example speed [target] [threads]`

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Instant;
use support::{Args, Gpu, Random, compile, wave};

/// CPU time of this process, so that a busy machine does not matter.
fn cpu_seconds() -> f64 {
    // SAFETY: `t` is a valid place for the result.
    let t = unsafe {
        let mut t: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t);
        t
    };
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

fn main() {
    let mut args = std::env::args().skip(1);
    let target = args.next().unwrap_or_else(|| "gfx1100".into());
    let threads = args.next().and_then(|t| t.parse().ok()).unwrap_or(1);
    let code = compile("basic.hip", &target, &[]);
    let (rows, k) = (512usize, 4096usize);
    let mut gpu = Gpu::new();
    gpu.threads = threads;
    let mut r = Random(5);
    let mut shorts = |n: usize| {
        gpu.upload(
            &(0..n)
                .map(|_| (r.f32().to_bits() >> 16) as u16)
                .collect::<Vec<_>>(),
        )
    };
    let (s, b, x) = (shorts(rows * k / 64), shorts(rows * k / 64), shorts(k));
    let w = gpu.upload(
        &(0..rows * k / 8)
            .map(|i| (i as u32).wrapping_mul(0x9e37_79b9))
            .collect::<Vec<u32>>(),
    );
    let y = gpu.alloc::<f32>(rows);
    let args = Args::new().ptr(w).ptr(s).ptr(b).ptr(x).ptr(y).i32(k as i32);
    let grid = (rows * wave(&target) / 128) as u32;
    let run = |gpu: &Gpu| {
        gpu.launch(&code, "gemv4", [grid, 1, 1], [128, 1, 1], &args)
            .unwrap()
    };
    let report = run(&gpu);
    println!("{}", report.to_json());
    for races in [false, true] {
        gpu.checks.global_race = races;
        let (start, cpu, mut n) = (Instant::now(), cpu_seconds(), 0);
        while start.elapsed().as_millis() < 2000 {
            n += run(&gpu).instructions.total();
        }
        let n = n as f64 / 1e6;
        let (wall, cpu) = (n / start.elapsed().as_secs_f64(), n / (cpu_seconds() - cpu));
        println!(
            "{target}, {threads} threads, global race check {races}: {wall:.1} M wave-instructions/s, {cpu:.1} M a CPU second"
        );
    }
}
