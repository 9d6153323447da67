//! What the engine costs. On the software GPU this only checks that it measures; on a real one
//! (`MLXROCM_TEST_GPU=real`) it holds the engine to its goals, and writes its table to the file that
//! `MLXROCM_RESULTS` names.

#[path = "support/gpu.rs"]
mod gpu;

use mlxrocm::driver::Overlap;
use mlxrocm::gpu::{
    Args, Device, DeviceBuffer, Kernel, LaunchOptions, Program, ProgramMode, Stream,
};
use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The rows of the table.
struct Table(String);

impl Table {
    fn row(&mut self, name: &str, value: f64, unit: &str) {
        writeln!(self.0, "| {name} | {value:.3} | {unit} |").unwrap();
    }
}

/// A chain of launches, each after the one before, or launches beside each other.
fn program(
    device: &Arc<Device>,
    kernel: &Kernel,
    buffers: &[DeviceBuffer],
    nodes: u32,
    overlap: Overlap,
) -> Program {
    device
        .record(|encoder| {
            for k in 0..nodes {
                let buffer = &buffers[k as usize % buffers.len()];
                let args = Args::new()
                    .buffer("target", buffer, 0)
                    .buffer("a", buffer, 0);
                let args = args.buffer("b", buffer, 0).u32("n", 64).u32("k", k);
                let (grid, block, ranges) = ([1, 1, 1], [64, 1, 1], [buffer.whole()]);
                let options = LaunchOptions {
                    overlap,
                    ..LaunchOptions::default()
                };
                encoder.launch_with(kernel, grid, block, 0, args, &ranges, &ranges, options)?;
            }
            Ok(())
        })
        .unwrap()
}

/// The least time of some runs: until the call returns, and until the work is done.
fn run(program: &Program, stream: &Stream, mode: ProgramMode, rounds: u32) -> (Duration, Duration) {
    let mut best = (Duration::MAX, Duration::MAX);
    for _ in 0..rounds {
        stream.wait(gpu::PATIENCE).unwrap();
        let start = Instant::now();
        program.run_as(stream, mode).unwrap();
        let called = start.elapsed();
        stream.wait(None).unwrap();
        best = (best.0.min(called), best.1.min(start.elapsed()));
    }
    best
}

/// The time of `rounds` runs behind one another, for one.
fn streaming(program: &Program, stream: &Stream, mode: ProgramMode, rounds: u32) -> Duration {
    stream.wait(gpu::PATIENCE).unwrap();
    let start = Instant::now();
    (0..rounds).for_each(|_| program.run_as(stream, mode).unwrap());
    stream.wait(None).unwrap();
    start.elapsed() / rounds
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// GB/s of `bytes` in `time`.
fn rate(bytes: u64, time: Duration) -> f64 {
    bytes as f64 / time.as_secs_f64() / 1e9
}

#[test]
fn what_the_engine_costs() {
    let gpu = gpu::gpu();
    let device = gpu.device();
    let stream = device.stream().unwrap();
    let kernel = gpu::mix_kernel(&device);
    let real = gpu::is_real();
    let rounds = if real { 20 } else { 1 };
    let mut table = Table(String::new());
    let facts = device.facts();
    writeln!(
        table.0,
        "{} ({}), driver {}\n",
        facts.name, facts.arch, facts.driver_version
    )
    .unwrap();
    writeln!(table.0, "| what | value | unit |\n|---|---|---|").unwrap();

    // Launches.
    let buffers: Vec<_> = (0..8)
        .map(|_| gpu::filled(&device, &stream, &[1; 64]))
        .collect();
    let mut replay = f64::MAX;
    for nodes in if real { vec![10, 100, 1000] } else { vec![10] } {
        for (how, buffers, overlap) in [
            ("chain", &buffers[..1], Overlap::None),
            ("chain, overlapping", &buffers[..1], Overlap::All),
            ("eight beside", &buffers[..], Overlap::None),
        ] {
            let program = program(&device, &kernel, buffers, nodes, overlap);
            for mode in [ProgramMode::Direct, ProgramMode::Graph] {
                run(&program, &stream, mode, 2);
                let (call, done) = run(&program, &stream, mode, rounds);
                let behind = streaming(&program, &stream, mode, rounds);
                let (each, name) = (f64::from(nodes), format!("{nodes} nodes, {how}, {mode:?}"));
                table.row(
                    &format!("{name}: the call"),
                    micros(call) / each,
                    "us a node",
                );
                table.row(&format!("{name}: done"), micros(done) / each, "us a node");
                table.row(
                    &format!("{name}: runs behind"),
                    micros(behind) / each,
                    "us a node",
                );
                if mode == ProgramMode::Graph && nodes == 1000 && how == "chain" {
                    replay = micros(behind) / each;
                }
            }
        }
    }
    let start = Instant::now();
    let long = 10_000;
    let recorded = program(&device, &kernel, &buffers, long, Overlap::None);
    let encode = micros(start.elapsed()) / f64::from(long);
    table.row("recording a launch", encode, "us");
    drop(recorded);

    // Memory.
    let calls = if real { 100_000 } else { 1000 };
    drop(device.alloc(1 << 16).unwrap());
    let start = Instant::now();
    for _ in 0..calls {
        drop(device.alloc(1 << 16).unwrap());
    }
    let alloc = start.elapsed().as_secs_f64() * 1e9 / f64::from(calls);
    table.row("allocation and free from the cache", alloc, "ns");
    let bytes: u64 = if real { 2 << 30 } else { 1 << 20 };
    let (from, to) = (device.alloc(bytes).unwrap(), device.alloc(bytes).unwrap());
    let (before, after) = (device.event().unwrap(), device.event().unwrap());
    let mut copy = Duration::MAX;
    for _ in 0..3 {
        stream.fill(&from, 0, bytes, 1).unwrap();
        stream.record(&before).unwrap();
        stream.copy_on_device(&from, 0, &to, 0, bytes).unwrap();
        stream.record(&after).unwrap();
        after.wait(gpu::PATIENCE).unwrap();
        copy = copy.min(after.elapsed_since(&before).unwrap());
    }
    table.row(
        "copy on the device (read and written)",
        rate(2 * bytes, copy),
        "GB/s",
    );
    let piece = bytes / 8;
    let pinned = device.alloc_pinned(piece).unwrap();
    let mut plain = Duration::MAX;
    for _ in 0..3 {
        let start = Instant::now();
        (0..8).for_each(|i| {
            stream
                .copy_from_pinned(&to, i * piece, &pinned, 0, piece)
                .unwrap();
        });
        stream.wait(gpu::PATIENCE).unwrap();
        plain = plain.min(start.elapsed());
    }
    table.row("copy from pinned memory", rate(bytes, plain), "GB/s");
    let mut uploader = device.uploader().unwrap();
    let mut upload = Duration::MAX;
    for _ in 0..3 {
        let start = Instant::now();
        // As a reader that is faster than the copy: what the engine itself costs.
        uploader
            .write(&to, 0, bytes, |piece| {
                piece[0] = 1;
                Ok(())
            })
            .unwrap();
        uploader.flush().unwrap();
        upload = upload.min(start.elapsed());
    }
    table.row("upload through staging", rate(bytes, upload), "GB/s");

    println!("{}", table.0);
    if let Some(path) = std::env::var_os("MLXROCM_RESULTS") {
        std::fs::write(path, &table.0).unwrap();
    }
    if real {
        assert!(replay < 1.5, "{replay} us a replayed node");
        assert!(encode < 0.5, "{encode} us a recorded launch");
        assert!(alloc < 200.0, "{alloc} ns an allocation");
        assert!(upload.as_secs_f64() * 0.8 < plain.as_secs_f64());
    }
}
