//! Streams and events: order, waits, timing, and faults.

#[path = "support/gpu.rs"]
mod gpu;

use mlxrocm::Error;
use mlxrocm::gpu::Args;
use std::time::{Duration, Instant};

#[test]
fn copies_and_fills_are_checked_and_arrive() {
    let gpu = gpu::gpu();
    let device = gpu.device();
    let stream = device.stream().unwrap();
    let buffer = device.alloc(1000).unwrap();
    let other = device.alloc(1000).unwrap();
    let bytes: Vec<u8> = (0..1000).map(|i| i as u8).collect();
    stream.copy_to_device(&buffer, 0, &bytes).unwrap();
    stream.copy_on_device(&buffer, 100, &other, 0, 900).unwrap();
    stream.fill(&other, 900, 100, 0xAB).unwrap();
    let mut back = vec![0; 1000];
    stream.copy_to_host(&other, 0, &mut back).unwrap();
    assert!(back[..900] == bytes[100..] && back[900..] == [0xAB; 100]);
    // Pinned memory, both ways.
    let mut pinned = device.alloc_pinned(64).unwrap();
    pinned.as_mut_slice().fill(7);
    stream.copy_from_pinned(&buffer, 8, &pinned, 0, 32).unwrap();
    stream.copy_to_pinned(&buffer, 0, &pinned, 16, 48).unwrap();
    stream.wait(gpu::PATIENCE).unwrap();
    assert_eq!(pinned.as_slice()[16..24], [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(pinned.as_slice()[24..56], [7; 32]);
    assert_eq!(pinned.as_slice()[56..], [40, 41, 42, 43, 44, 45, 46, 47]);
    // Nothing outside a buffer.
    let wrong = [
        stream.copy_to_device(&buffer, 1, &bytes),
        stream.copy_to_device(&buffer, u64::MAX, &bytes),
        stream.copy_to_host(&buffer, 1, &mut back),
        stream.copy_on_device(&buffer, 0, &other, 1, 1000),
        stream.copy_on_device(&buffer, 0, &buffer, 10, 100),
        stream.fill(&buffer, 1000, 1, 0),
        stream.copy_from_pinned(&buffer, 0, &pinned, 60, 5),
        stream.copy_to_pinned(&buffer, 0, &pinned, 0, 65),
    ];
    for result in wrong {
        assert!(
            matches!(result, Err(Error::InvalidArgument(_))),
            "{result:?}"
        );
    }
    // Nothing of nothing is fine.
    stream.copy_to_device(&buffer, 1000, &[]).unwrap();
    stream.fill(&buffer, 1000, 0, 1).unwrap();
    stream.copy_to_host(&buffer, 0, &mut []).unwrap();
    drop((buffer, other, pinned, stream, device));
    gpu.clean();
    gpu.no_leaks();
}

#[test]
fn events_measure_time_and_say_when_they_cannot() {
    let gpu = gpu::gpu();
    let device = gpu.device();
    let stream = device.stream().unwrap();
    let (start, end) = (device.event().unwrap(), device.event().unwrap());
    assert!(matches!(
        end.elapsed_since(&start),
        Err(Error::InvalidArgument(_))
    ));
    assert!(start.is_done().unwrap());
    start.wait(gpu::PATIENCE).unwrap();
    let buffer = device.alloc(8 << 20).unwrap();
    stream.record(&start).unwrap();
    for value in 0..20 {
        stream.fill(&buffer, 0, 8 << 20, value).unwrap();
    }
    stream.record(&end).unwrap();
    end.wait(gpu::PATIENCE).unwrap();
    assert!(end.is_done().unwrap() && start.is_done().unwrap());
    let time = end.elapsed_since(&start).unwrap();
    assert!(
        time > Duration::ZERO && time < Duration::from_secs(60),
        "{time:?}"
    );
    drop((start, end, buffer, stream, device));
    gpu.clean();
    gpu.no_leaks();
}

/// Streams that several threads drop at once, with work queued and programs that follow it on other
/// streams, are destroyed once each and used by nobody afterwards.
#[test]
fn many_threads_drop_streams() {
    let gpu = gpu::gpu();
    let device = gpu.device();
    let buffer = device.alloc(400).unwrap();
    let program = device
        .record(|encoder| encoder.fill(&buffer, 0, 400, 1))
        .unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200 {
                    let stream = device.stream().unwrap();
                    program.run(&stream).unwrap();
                }
            });
        }
    });
    drop((program, buffer, device));
    gpu.clean();
    gpu.no_leaks();
}

/// Processor time of this thread.
fn processor_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: fills one structure.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[test]
fn many_threads_share_a_stream() {
    let gpu = gpu::gpu();
    let device = gpu.device();
    let stream = device.stream().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4_u8 {
            let (device, stream) = (&device, &stream);
            scope.spawn(move || {
                let buffer = device.alloc(5000).unwrap();
                for round in 0..30_u8 {
                    let value = round * 4 + thread;
                    stream.fill(&buffer, 0, 5000, value).unwrap();
                    let mut bytes = [0; 5000];
                    stream.copy_to_host(&buffer, 0, &mut bytes).unwrap();
                    assert_eq!(bytes, [value; 5000]);
                }
            });
        }
    });
    drop((stream, device));
    gpu.clean();
    gpu.no_leaks();
}

/// What only the software GPU can show: faults, other targets, its own counts.
mod soft {
    use super::*;

    #[test]
    fn streams_are_ordered_by_events() {
        for seed in 1..=8 {
            let gpu = gpu::soft(&format!("devices=gfx1151;integrated=0;seed={seed}"));
            let device = gpu.device();
            let (one, two) = (device.stream().unwrap(), device.stream().unwrap());
            let (there, back) = (device.event().unwrap(), device.event().unwrap());
            let buffer = device.alloc(4096).unwrap();
            // An event that was never recorded is no reason to wait.
            two.wait_for(&there).unwrap();
            for round in 0..20_u8 {
                one.wait_for(&back).unwrap();
                one.fill(&buffer, 0, 4096, round).unwrap();
                one.record(&there).unwrap();
                two.wait_for(&there).unwrap();
                let copy = device.alloc(4096).unwrap();
                two.copy_on_device(&buffer, 0, &copy, 0, 4096).unwrap();
                two.record(&back).unwrap();
                let mut bytes = [0; 4096];
                two.copy_to_host(&copy, 0, &mut bytes).unwrap();
                assert_eq!(bytes, [round; 4096], "seed {seed}");
            }
            gpu.clean();
        }
    }

    #[test]
    fn a_wait_ends_in_time_and_uses_no_processor() {
        let gpu = gpu::soft("devices=gfx1151;integrated=0");
        let device = gpu.device();
        let kernel = gpu::mix_kernel(&device);
        let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
        let event = device.event().unwrap();
        let buffer = device.alloc(400).unwrap();
        gpu.fault("hang@1");
        let args = Args::new()
            .buffer("target", &buffer, 0)
            .buffer("a", &buffer, 0);
        let args = args.buffer("b", &buffer, 0).u32("n", 100).u32("k", 1);
        let grid = [1, 1, 1];
        stream.launch(&kernel, grid, [128, 1, 1], 0, &args).unwrap();
        stream.record(&event).unwrap();
        let (start, before) = (Instant::now(), processor_time());
        device.set_step_patience(Duration::from_millis(300));
        for result in [
            stream.wait(Some(Duration::from_millis(200))),
            stream.wait(Some(Duration::ZERO)),
            event.wait(Some(Duration::from_millis(100))),
            stream.copy_to_host(&buffer, 0, &mut [0; 400]),
        ] {
            assert!(matches!(result, Err(Error::Timeout(_))), "{result:?}");
        }
        let (passed, spent) = (start.elapsed(), processor_time() - before);
        assert!(passed < Duration::from_millis(1500), "{passed:?}");
        assert!(spent < Duration::from_millis(60), "{spent:?} of {passed:?}");
        assert!(!stream.is_idle().unwrap() && !event.is_done().unwrap());
        // The rest of the device works on.
        let fresh = device.alloc(400).unwrap();
        other.fill(&fresh, 0, 400, 3).unwrap();
        other.wait(gpu::PATIENCE).unwrap();
        let start = Instant::now();
        drop((args, kernel, stream, other, event, buffer, fresh, device));
        assert!(start.elapsed() < Duration::from_secs(20));
        gpu.reset();
    }

    /// What an array waits for is the library's own: a device that does not end it is lost.
    #[test]
    fn arrays_of_a_device_that_hangs_end_in_time() {
        use mlxrocm::array::{Array, Home, eval};
        use mlxrocm::{cpu::Elements, ir::Binary, ir::Dtype};
        for reads in [false, true] {
            let gpu = gpu::soft("devices=gfx1151;integrated=0");
            let device = gpu.device();
            let elements = Elements::from_slice(&[1.0_f32, 2.0], Dtype::F32, &[2]).unwrap();
            let x = Array::from_elements(elements).at(&Home::of(&device).unwrap());
            eval(std::slice::from_ref(&x)).unwrap();
            device.set_step_patience(Duration::from_millis(300));
            gpu.fault("hang@1");
            let sum = x.binary(Binary::Add, &x).unwrap();
            let start = Instant::now();
            let result = match reads {
                true => sum.read().map(drop),
                false => eval(std::slice::from_ref(&sum)),
            };
            assert!(matches!(result, Err(Error::DeviceLost(_))), "{result:?}");
            assert!(start.elapsed() < Duration::from_secs(10));
            drop((x, sum, device));
            gpu.reset();
        }
    }

    #[test]
    fn failed_calls_are_errors_and_leave_the_device_usable() {
        let gpu = gpu::soft("devices=gfx1151;integrated=0");
        let device = gpu.device();
        let stream = device.stream().unwrap();
        let buffer = device.alloc(100).unwrap();
        gpu.fault("copy@1");
        let error = stream.fill(&buffer, 0, 100, 1).unwrap_err();
        assert_eq!((error.status(), error.vendor_code()), (-11, 999));
        assert!(error.to_string().contains("filling 100 bytes"), "{error}");
        stream.fill(&buffer, 0, 100, 2).unwrap();
        let mut bytes = [0; 100];
        stream.copy_to_host(&buffer, 0, &mut bytes).unwrap();
        assert_eq!(bytes, [2; 100]);
        for (fault, what) in [("stream@1", "a stream"), ("event@1", "an event")] {
            gpu.fault(fault);
            let error = match fault {
                "stream@1" => device.stream().err().unwrap(),
                _ => device.event().err().unwrap(),
            };
            assert!(
                matches!(&error, Error::OutOfMemory(text) if text.contains(what)),
                "{error}"
            );
        }
        gpu.fault("host_alloc@1+");
        let error = device.alloc_pinned(100 << 20).err().unwrap();
        assert!(
            matches!(&error, Error::OutOfMemory(text) if text.contains("pinned")),
            "{error}"
        );
        gpu.fault("none");
        device.alloc_pinned(1 << 20).unwrap();
        drop((buffer, stream, device));
        gpu.clean();
        gpu.no_leaks();
    }

    #[test]
    fn a_lost_device_says_so_at_once_and_for_good() {
        let gpu = gpu::soft("devices=gfx1151;integrated=0");
        let device = gpu.device();
        let stream = device.stream().unwrap();
        let buffer = device.alloc(100).unwrap();
        stream.fill(&buffer, 0, 100, 2).unwrap();
        gpu.fault("lost@1");
        let lost = stream
            .fill(&buffer, 0, 100, 3)
            .and_then(|()| stream.wait(gpu::PATIENCE));
        let error = lost.unwrap_err();
        assert!(matches!(&error, Error::DeviceLost(_)), "{error:?}");
        assert_eq!(error.status(), -14);
        for result in [
            stream.wait(None),
            stream.fill(&buffer, 0, 1, 0),
            device.alloc(10).map(drop),
            device.stream().map(drop),
            device.memory().map(drop),
        ] {
            assert_eq!(result, Err(error.clone()));
        }
        drop((buffer, stream, device));
        // Another process would find a device that works again.
        gpu.reset();
        let device = gpu.device();
        let stream = device.stream().unwrap();
        let buffer = device.alloc(100).unwrap();
        stream.fill(&buffer, 0, 100, 4).unwrap();
        stream.wait(gpu::PATIENCE).unwrap();
    }
}
