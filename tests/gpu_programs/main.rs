//! Programs: recording, hazards, direct launches against graph replay, and random ones against a
//! model that runs one operation after the other.

#[path = "../support/gpu.rs"]
mod gpu;
#[path = "../support/prng.rs"]
#[allow(dead_code)] // a part is used
mod prng;
mod random;
mod soft;

use mlxrocm::Error;
use mlxrocm::driver::Overlap;
use mlxrocm::gpu::{Args, DeviceBuffer, Encoder, Kernel, LaunchOptions, ProgramMode, Range};

const MODES: [ProgramMode; 2] = [ProgramMode::Direct, ProgramMode::Graph];

/// Records `target = mix(target, a, b, k)` for `n` numbers from the given offsets (in numbers).
fn mix(
    encoder: &mut Encoder,
    kernel: &Kernel,
    [target, a, b]: [(&DeviceBuffer, u64); 3],
    n: u64,
    k: u32,
) {
    let args = Args::new()
        .buffer("target", target.0, target.1 * 4)
        .buffer("a", a.0, a.1 * 4)
        .buffer("b", b.0, b.1 * 4)
        .u32("n", n as u32)
        .u32("k", k);
    let range = |(buffer, at): (&DeviceBuffer, u64)| -> Range { buffer.range(at * 4, n * 4) };
    let reads = [range(target), range(a), range(b)];
    let grid = [n.div_ceil(64) as u32, 1, 1];
    encoder
        .launch(kernel, grid, [64, 1, 1], 0, args, &reads, &[range(target)])
        .unwrap();
}

#[test]
fn programs_do_what_was_recorded_in_both_modes() {
    let gpu = gpu::gpu();
    let device = gpu.device();
    let stream = device.stream().unwrap();
    let kernel = gpu::mix_kernel(&device);
    assert_eq!(kernel.name(), "mix");
    assert!(kernel.facts().max_block_threads >= 256);
    let start: Vec<u32> = (0..100).collect();
    for mode in MODES {
        let one = gpu::filled(&device, &stream, &start);
        let two = device.alloc(400).unwrap();
        let program = device
            .record(|encoder| {
                encoder.fill(&two, 0, 400, 0xFF)?;
                encoder.copy(&one, 0, &two, 200, 200)?;
                mix(encoder, &kernel, [(&one, 0), (&two, 0), (&two, 0)], 100, 7);
                Ok(())
            })
            .unwrap();
        assert_eq!(program.len(), 3);
        assert_eq!(program.edges(), [(0, 1), (1, 2)]);
        let mut expected = start.clone();
        for _ in 0..3 {
            program.run_as(&stream, mode).unwrap();
            let two: Vec<u32> = (0..100)
                .map(|i| if i < 50 { u32::MAX } else { expected[i - 50] })
                .collect();
            for i in 0..100 {
                expected[i] = gpu::mix(expected[i], two[i], two[i], 7);
            }
        }
        assert_eq!(gpu::values(&stream, &one), expected, "{mode:?}");
    }
    drop((kernel, stream, device));
    gpu.clean();
    gpu.no_leaks();
}

#[test]
fn what_cannot_be_launched_is_refused_at_recording() {
    let gpu = gpu::gpu();
    let device = gpu.device();
    let stream = device.stream().unwrap();
    let kernel = gpu::mix_kernel(&device);
    let buffer = device.alloc(400).unwrap();
    let args = || {
        let args = Args::new()
            .buffer("target", &buffer, 0)
            .buffer("a", &buffer, 0);
        args.buffer("b", &buffer, 0).u32("n", 100).u32("k", 1)
    };
    let whole = [buffer.whole()];
    let program = device
        .record(|e| {
            let one = [1, 1, 1];
            let wrong = [
                e.launch(&kernel, one, [2048, 1, 1], 0, args(), &whole, &whole),
                e.launch(&kernel, one, [64, 64, 64], 0, args(), &whole, &whole),
                e.launch(&kernel, [1, 70000, 1], one, 0, args(), &whole, &whole),
                e.launch(&kernel, [u32::MAX, 1, 1], one, 0, args(), &whole, &whole),
                e.launch(&kernel, one, one, 1 << 30, args(), &whole, &whole),
                e.launch(
                    &kernel,
                    one,
                    one,
                    0,
                    args(),
                    &[buffer.range(400, 1)],
                    &whole,
                ),
                e.launch(
                    &kernel,
                    one,
                    one,
                    0,
                    args(),
                    &whole,
                    &[buffer.range(u64::MAX, 2)],
                ),
                e.launch(
                    &kernel,
                    one,
                    one,
                    0,
                    args().buffer("more", &buffer, 401),
                    &whole,
                    &whole,
                ),
                e.copy(&buffer, 0, &buffer, 4, 8),
                e.copy(&buffer, 0, &buffer, 396, 8),
                e.fill(&buffer, 0, 401, 0),
            ];
            for result in wrong {
                assert!(
                    matches!(result, Err(Error::InvalidArgument(_))),
                    "{result:?}"
                );
            }
            let mut many = args();
            for i in 0..60 {
                many = many.u32("more", i);
            }
            let result = e.launch(&kernel, one, one, 0, many, &whole, &whole);
            assert!(result.unwrap_err().to_string().contains("arguments"));
            // Nothing to do is no error and no node.
            e.launch(&kernel, [1, 0, 1], one, 0, args(), &whole, &whole)?;
            e.copy(&buffer, 0, &buffer, 0, 0)?;
            e.fill(&buffer, 400, 0, 0)
        })
        .unwrap();
    assert!(program.is_empty());
    for mode in MODES {
        program.run_as(&stream, mode).unwrap();
    }
    stream.wait(gpu::PATIENCE).unwrap();
    let failed = device.record(|_| Err(Error::Unsupported("no".into())));
    assert_eq!(failed.err(), Some(Error::Unsupported("no".into())));
    let unknown = gpu::module(&device, gpu::MIX).kernel("mux").err().unwrap();
    assert!(unknown.to_string().contains("'mux'"), "{unknown}");
    let garbage = mlxrocm::gpu::Module::from_code(&device, b"not a code object at all").err();
    assert!(
        matches!(garbage, Some(Error::InvalidFile(_))),
        "{garbage:?}"
    );
    let _ = args;
    drop((program, kernel, whole, buffer, stream, device));
    gpu.clean();
    gpu.no_leaks();
}

/// Everything may be dropped while the work runs: the engine keeps what it needs.
#[test]
fn programs_buffers_and_modules_may_go_while_their_work_is_queued() {
    let gpu = gpu::gpu();
    let device = gpu.device();
    let stream = device.stream().unwrap();
    for mode in MODES {
        let result = gpu::filled(&device, &stream, &[3; 1000]);
        {
            let kernel = gpu::mix_kernel(&device);
            let other = gpu::filled(&device, &stream, &[5; 1000]);
            let program = device
                .record(|encoder| {
                    for k in 0..30 {
                        mix(
                            encoder,
                            &kernel,
                            [(&result, 0), (&other, 0), (&other, 0)],
                            1000,
                            k,
                        );
                    }
                    Ok(())
                })
                .unwrap();
            program.run_as(&stream, mode).unwrap();
        }
        // Takes the dropped memory if it may, and spoils it.
        let spoiler = device.alloc(4000).unwrap();
        let second = device.stream().unwrap();
        second.fill(&spoiler, 0, 4000, 0xEE).unwrap();
        let expected = (0..30).fold(3, |value, k| gpu::mix(value, 5, 5, k));
        assert_eq!(gpu::values(&stream, &result), [expected; 1000], "{mode:?}");
    }
    drop((stream, device));
    gpu.clean();
    gpu.no_leaks();
}

/// Launches that may overlap give the bits of those that do not (and overlap only on NVIDIA).
#[test]
fn overlapping_launches_give_the_same_bits() {
    let gpu = gpu::gpu();
    let device = gpu.device();
    let stream = device.stream().unwrap();
    let kernel = gpu::mix_kernel(&device);
    let numbers = if gpu::is_real() { 50_000_u32 } else { 3000 };
    const NODES: u32 = 120;
    let mut values: [Vec<u32>; 5] =
        std::array::from_fn(|at| (0..numbers).map(|i| i * 77 + at as u32).collect());
    let buffers = values
        .each_ref()
        .map(|values| gpu::filled(&device, &stream, values));
    // Most nodes follow two others, and most ends of a node's followers lie further on.
    let of_node = |k: u32| [k * k + k / 5, k * 3 + 1, k / 2].map(|at| at as usize % 5);
    let program = device
        .record(|e| {
            for k in 0..NODES {
                let [target, a, b] = of_node(k).map(|at| &buffers[at]);
                let args = Args::new().buffer("target", target, 0).buffer("a", a, 0);
                let args = args.buffer("b", b, 0).u32("n", numbers).u32("k", k);
                let reads = [target.whole(), a.whole(), b.whole()];
                let writes = [target.whole()];
                let (grid, block) = ([numbers.div_ceil(128), 1, 1], [128, 1, 1]);
                let overlap = Overlap::All;
                let options = LaunchOptions {
                    overlap,
                    ..LaunchOptions::default()
                };
                e.launch_with(&kernel, grid, block, 0, args, &reads, &writes, options)?;
            }
            Ok(())
        })
        .unwrap();
    let edges = program.edges();
    let branching =
        (0..NODES as usize).filter(|k| edges.iter().filter(|(_, to)| to == k).count() > 1);
    assert!(branching.count() > 20, "{edges:?}");
    for mode in MODES {
        for _ in 0..2 {
            program.run_as(&stream, mode).unwrap();
            for k in 0..NODES {
                let [target, a, b] = of_node(k);
                let of = |i: usize| gpu::mix(values[target][i], values[a][i], values[b][i], k);
                values[target] = (0..numbers as usize).map(of).collect();
            }
        }
        for (buffer, values) in buffers.iter().zip(&values) {
            assert!(gpu::values(&stream, buffer) == *values, "{mode:?}");
        }
    }
    gpu.clean();
}

/// A launch that shares out its works leaves multiprocessors to a small one that begins under it and wants room, to no others.
#[test]
fn launches_that_want_room_get_it() {
    let gpu = gpu::gpu();
    let device = gpu.device();
    let stream = device.stream().unwrap();
    let kernel = gpu::mix_kernel(&device);
    let buffer = gpu::filled(&device, &stream, &[1; 64]);
    let units = device.facts().compute_units;
    let grids = |works: Option<u32>, behind: LaunchOptions, blocks: u32, is_copied: bool| {
        let launch = |e: &mut Encoder, blocks: u32, options: LaunchOptions| {
            let args = Args::new()
                .buffer("target", &buffer, 0)
                .buffer("a", &buffer, 0)
                .buffer("b", &buffer, 0)
                .u32("n", 64)
                .u32("k", 1);
            let whole = [buffer.whole()];
            let grid = [blocks, 1, 1];
            e.launch_with(&kernel, grid, [64, 1, 1], 0, args, &whole, &whole, options)
        };
        let front = LaunchOptions {
            works,
            ..LaunchOptions::default()
        };
        let program = device.record(|e| {
            launch(e, units, front)?;
            if is_copied {
                e.copy(&buffer, 0, &buffer, 128, 64)?;
            }
            launch(e, blocks, behind)
        });
        let grids = program.unwrap().grids();
        grids.iter().map(|grid| grid[0]).collect::<Vec<_>>()
    };
    let behind = LaunchOptions {
        overlap: Overlap::All,
        wants_room: true,
        ..LaunchOptions::default()
    };
    let works = Some(4 * units);
    assert_eq!(grids(works, behind, 2, false), [units - 2, 2]);
    // Who cannot begin under it, does not want any, comes later, or is too large.
    let late = LaunchOptions {
        overlap: Overlap::None,
        ..behind
    };
    let idle = LaunchOptions {
        wants_room: false,
        ..behind
    };
    assert_eq!(grids(works, late, 2, false), [units, 2]);
    assert_eq!(grids(works, idle, 2, false), [units, 2]);
    assert_eq!(grids(works, behind, 2, true), [units, 2]);
    assert_eq!(grids(works, behind, units, false), [units, units]);
    // Whose blocks each do a part of their own stays as it is.
    assert_eq!(grids(None, behind, 2, false), [units, 2]);
    gpu.clean();
}

/// The whole way, from the code object to both modes, on every target that the software GPU runs.
#[test]
fn launches_that_declare_nothing_keep_their_order() {
    let gpu = gpu::gpu();
    let device = gpu.device();
    let stream = device.stream().unwrap();
    let kernel = gpu::mix_kernel(&device);
    let (one, two) = (
        gpu::filled(&device, &stream, &[1; 64]),
        gpu::filled(&device, &stream, &[2; 64]),
    );
    let program = device
        .record(|e| {
            let three = |target: &DeviceBuffer, other: &DeviceBuffer| {
                let args = Args::new()
                    .buffer("target", target, 0)
                    .buffer("a", other, 0);
                args.buffer("b", other, 0).u32("n", 64).u32("k", 1)
            };
            let (grid, block) = ([1, 1, 1], [64, 1, 1]);
            e.launch(&kernel, grid, block, 0, three(&one, &two), &[], &[])?;
            e.launch(&kernel, grid, block, 0, three(&two, &one), &[], &[])?;
            e.launch(&kernel, grid, block, 0, three(&one, &two), &[], &[])
        })
        .unwrap();
    assert_eq!(program.edges(), [(0, 1), (1, 2)]);
    let (mut a, mut b) = (1, 2);
    for mode in MODES {
        program.run_as(&stream, mode).unwrap();
        a = gpu::mix(a, b, b, 1);
        b = gpu::mix(b, a, a, 1);
        a = gpu::mix(a, b, b, 1);
    }
    assert_eq!(gpu::values(&stream, &one), [a; 64]);
    assert_eq!(gpu::values(&stream, &two), [b; 64]);
    gpu.clean();
}
