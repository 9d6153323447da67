//! What only the software GPU can show: faults, other targets, its own counts.

use crate::{MODES, gpu, mix};
use mlxrocm::Error;
use mlxrocm::gpu::ProgramMode;

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
