//! Programs: recording, hazards, direct launches against graph replay, and random ones against a
//! model that runs one operation after the other.

#[path = "support/gpu.rs"]
mod gpu;
#[path = "support/prng.rs"]
#[allow(dead_code)] // a part is used
mod prng;

use mlxrocm::Error;
use mlxrocm::driver::Overlap;
use mlxrocm::gpu::{
    Args, Device, DeviceBuffer, Encoder, Kernel, LaunchOptions, ProgramMode, Range,
};
use std::sync::Arc;

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
                let options = LaunchOptions { overlap };
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

/// The memory of a random program: buffers of numbers, on the device and in the model.
struct World {
    device: Arc<Device>,
    kernel: Kernel,
    buffers: Vec<DeviceBuffer>,
    model: Vec<Vec<u32>>,
}

/// Numbers of a buffer.
const SIZE: u64 = 96;

impl World {
    /// Records one random operation and does it in the model.
    fn step(&mut self, encoder: &mut Encoder, random: &mut prng::Prng) {
        let n = 1 + random.below(SIZE / 2);
        let mut place = || {
            let buffer = random.below(self.buffers.len() as u64) as usize;
            (buffer, random.below(SIZE - n + 1))
        };
        let (target, a, b) = (place(), place(), place());
        let k = random.u64() as u32;
        let meet = |x: (usize, u64), y: (usize, u64)| x.0 == y.0 && x.1 < y.1 + n && y.1 < x.1 + n;
        let part = |(_, at): (usize, u64)| at as usize..(at + n) as usize;
        match random.below(6) {
            0 => {
                let (buffer, value) = (&self.buffers[target.0], k as u8);
                encoder.fill(buffer, target.1 * 4, n * 4, value).unwrap();
                let word = u32::from_ne_bytes([value; 4]);
                self.model[target.0][part(target)].fill(word);
            }
            1 if !meet(target, a) => {
                let (from, to) = (&self.buffers[a.0], &self.buffers[target.0]);
                encoder
                    .copy(from, a.1 * 4, to, target.1 * 4, n * 4)
                    .unwrap();
                let values = self.model[a.0][part(a)].to_vec();
                self.model[target.0][part(target)].copy_from_slice(&values);
            }
            // Work items of a launch have no order: a target beside its sources, or the same.
            _ if (!meet(target, a) || target == a) && (!meet(target, b) || target == b) => {
                let buffers = [target, a, b].map(|(buffer, at)| (&self.buffers[buffer], at));
                mix(encoder, &self.kernel, buffers, n, k);
                for i in 0..n as usize {
                    let at = |(buffer, at): (usize, u64)| self.model[buffer][at as usize + i];
                    let value = gpu::mix(at(target), at(a), at(b), k);
                    self.model[target.0][target.1 as usize + i] = value;
                }
            }
            _ => {}
        }
    }
}

/// A thousand random programs, each run in both modes from the same state, give the model's bits.
#[test]
fn a_thousand_random_programs_do_what_their_order_says() {
    let mut random = prng::Prng::new(20_26);
    let mut edges = 0;
    for batch in 0..10 {
        let gpu = if gpu::is_real() {
            gpu::gpu()
        } else {
            gpu::soft(&format!("devices=gfx1151;integrated=0;seed={}", batch + 1))
        };
        let device = gpu.device();
        let streams = [device.stream().unwrap(), device.stream().unwrap()];
        let kernel = gpu::mix_kernel(&device);
        for _ in 0..100 {
            let model: Vec<Vec<u32>> = (0..4)
                .map(|_| (0..SIZE).map(|_| random.u64() as u32).collect())
                .collect();
            let stream = &streams[random.below(2) as usize];
            let mut world = World {
                buffers: model
                    .iter()
                    .map(|values| gpu::filled(&device, stream, values))
                    .collect(),
                device: device.clone(),
                kernel: kernel.clone(),
                model: model.clone(),
            };
            let steps = 1 + random.below(12);
            let segment = random.below(3) as usize * 3;
            device.set_graph_segment(segment);
            let program = world
                .device
                .clone()
                .record(|encoder| {
                    (0..steps).for_each(|_| world.step(encoder, &mut random));
                    Ok(())
                })
                .unwrap();
            edges += program.edges().len();
            for mode in MODES {
                for (buffer, values) in world.buffers.iter().zip(&model) {
                    let bytes = gpu::bytes_of(values);
                    stream.copy_to_device(buffer, 0, &bytes).unwrap();
                }
                program.run_as(stream, mode).unwrap();
                for (buffer, expected) in world.buffers.iter().zip(&world.model) {
                    assert_eq!(&gpu::values(stream, buffer), expected, "{mode:?}");
                }
            }
        }
        device.set_graph_segment(0);
        drop((kernel, streams, device));
        gpu.clean();
        gpu.no_leaks();
    }
    assert!(edges > 2000, "{edges} edges in all: nothing was ordered");
}

/// What only the software GPU can show: faults, other targets, its own counts.
mod soft {
    use super::*;

    #[test]
    fn a_replay_is_one_launch_and_allocates_nothing() {
        let gpu = gpu::soft("devices=gfx1151;integrated=0");
        let device = gpu.device();
        let stream = device.stream().unwrap();
        let kernel = gpu::mix_kernel(&device);
        let buffer = gpu::filled(&device, &stream, &[1; 64]);
        let program = device
            .record(|encoder| {
                for k in 0..20 {
                    mix(
                        encoder,
                        &kernel,
                        [(&buffer, 0), (&buffer, 0), (&buffer, 0)],
                        64,
                        k,
                    );
                }
                Ok(())
            })
            .unwrap();
        program.run_as(&stream, ProgramMode::Graph).unwrap();
        stream.wait(gpu::PATIENCE).unwrap();
        let before = gpu.report()["calls"].clone();
        for _ in 0..5 {
            program.run_as(&stream, ProgramMode::Graph).unwrap();
        }
        let after = gpu.report()["calls"].clone();
        let changed: Vec<_> = after
            .as_object()
            .unwrap()
            .iter()
            .filter(|(name, count)| before[name.as_str()] != **count)
            .map(|(name, count)| (name.as_str(), count.as_u64().unwrap()))
            .filter(|(name, _)| *name != "hipSetDevice")
            .map(|(name, count)| (name, count - before[name].as_u64().unwrap_or(0)))
            .collect();
        assert_eq!(changed, [("hipGraphLaunch", 5)]);
        // In segments: as many launches as segments.
        device.set_graph_segment(7);
        let cut = device
            .record(|encoder| {
                for k in 0..20 {
                    mix(
                        encoder,
                        &kernel,
                        [(&buffer, 0), (&buffer, 0), (&buffer, 0)],
                        64,
                        k,
                    );
                }
                Ok(())
            })
            .unwrap();
        cut.run_as(&stream, ProgramMode::Graph).unwrap();
        assert_eq!(gpu.calls("hipGraphLaunch"), 9);
        let mut expected = 1;
        for run in 0..7 {
            (0..20).for_each(|k| expected = gpu::mix(expected, expected, expected, k));
            let _ = run;
        }
        assert_eq!(gpu::values(&stream, &buffer), [expected; 64]);
        drop((program, cut, kernel, buffer, stream, device));
        gpu.clean();
        gpu.no_leaks();
    }

    #[test]
    fn runs_of_one_program_follow_each_other_on_all_streams() {
        for seed in 1..=4 {
            let gpu = gpu::soft(&format!("devices=gfx1151;integrated=0;seed={seed}"));
            let device = gpu.device();
            let streams: Vec<_> = (0..3).map(|_| device.stream().unwrap()).collect();
            let kernel = gpu::mix_kernel(&device);
            let buffer = gpu::filled(&device, &streams[0], &[1; 64]);
            streams[0].wait(gpu::PATIENCE).unwrap();
            let program = device
                .record(|encoder| {
                    mix(
                        encoder,
                        &kernel,
                        [(&buffer, 0), (&buffer, 0), (&buffer, 0)],
                        64,
                        9,
                    );
                    Ok(())
                })
                .unwrap();
            for run in 0..12 {
                let mode = MODES[run / 3 % 2];
                program.run_as(&streams[run % 3], mode).unwrap();
            }
            let expected = (0..12).fold(1, |value, _| gpu::mix(value, value, value, 9));
            // The last run was on this one.
            assert_eq!(gpu::values(&streams[2], &buffer), [expected; 64]);
            gpu.clean();
        }
    }

    #[test]
    fn programs_run_on_every_target() {
        for target in gpu::targets() {
            let gpu = gpu::soft(&format!("devices={target}"));
            let device = gpu.device();
            assert_eq!(device.facts().arch, target);
            let wave = if target.starts_with("gfx9") { 64 } else { 32 };
            assert_eq!(device.facts().wave_size, wave);
            let stream = device.stream().unwrap();
            let kernel = gpu::mix_kernel(&device);
            let start: Vec<u32> = (0..500).collect();
            let buffer = gpu::filled(&device, &stream, &start);
            let other = gpu::filled(&device, &stream, &start);
            let program = device
                .record(|encoder| {
                    for k in 0..10 {
                        mix(
                            encoder,
                            &kernel,
                            [(&buffer, 0), (&other, 0), (&other, 0)],
                            500,
                            k,
                        );
                        mix(
                            encoder,
                            &kernel,
                            [(&other, 0), (&buffer, 0), (&buffer, 0)],
                            500,
                            k,
                        );
                    }
                    Ok(())
                })
                .unwrap();
            let (mut one, mut two) = (start.clone(), start);
            for mode in MODES {
                program.run_as(&stream, mode).unwrap();
                for k in 0..10 {
                    for (a, b) in one.iter_mut().zip(&mut two) {
                        *a = gpu::mix(*a, *b, *b, k);
                        *b = gpu::mix(*b, *a, *a, k);
                    }
                }
                assert_eq!(gpu::values(&stream, &buffer), one, "{target} {mode:?}");
                assert_eq!(gpu::values(&stream, &other), two, "{target} {mode:?}");
            }
            drop((program, kernel, buffer, other, stream, device));
            gpu.clean();
            gpu.no_leaks();
        }
    }

    /// A module that does not load for want of memory, and a stream that cannot be made.
    #[test]
    fn modules_that_do_not_load_are_errors() {
        let gpu = gpu::soft("devices=gfx1151;integrated=0");
        let device = gpu.device();
        let code = gpu::compile(&gpu::with_prelude(gpu::MIX), "gfx1151");
        gpu.fault("module@1");
        let error = mlxrocm::gpu::Module::from_code(&device, &code)
            .err()
            .unwrap();
        assert!(matches!(&error, Error::OutOfMemory(_)), "{error:?}");
        let module = mlxrocm::gpu::Module::from_code(&device, &code).unwrap();
        assert_eq!(module.kernel("mix").unwrap().name(), "mix");
        // Code of another target is refused.
        let other = gpu::compile(&gpu::with_prelude(gpu::MIX), "gfx942");
        let error = mlxrocm::gpu::Module::from_code(&device, &other)
            .err()
            .unwrap();
        assert!(matches!(&error, Error::InvalidFile(_)), "{error:?}");
        drop((module, device));
        gpu.clean();
        gpu.no_leaks();
    }
}
