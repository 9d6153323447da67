//! Device memory: the cache, its limits, and what happens when memory runs out.

#[path = "support/gpu.rs"]
mod gpu;
#[path = "support/prng.rs"]
#[allow(dead_code)] // a part is used
mod prng;

use mlxrocm::Error;
use mlxrocm::gpu::Args;
use std::time::{Duration, Instant};

#[test]
fn freed_memory_is_reused_and_never_given_to_the_driver_when_dropped() {
    let gpu = gpu::gpu();
    let device = gpu.device();
    let stream = device.stream().unwrap();
    let first = device.alloc(1 << 20).unwrap();
    let address = first.address();
    assert_eq!((address % 256, first.len()), (0, 1 << 20));
    drop(first);
    assert_eq!(gpu.calls("hipFree"), 0);
    let counters = device.memory().unwrap();
    assert_eq!((counters.active, counters.cache), (0, 1 << 20));
    let again = device.alloc(1_000_000).unwrap();
    assert_eq!(again.address(), address);
    // Work that is queued still uses it: another stream does not get it, the same one does.
    stream.fill(&again, 0, 1 << 19, 1).unwrap();
    drop(again);
    let same = device.alloc_for(&stream, 1 << 20).unwrap();
    assert_eq!(same.address(), address);
    stream.wait(gpu::PATIENCE).unwrap();
    drop(same);
    assert_eq!(device.alloc(1 << 20).unwrap().address(), address);
    device.trim().unwrap();
    assert_eq!(device.memory().unwrap().cache, 0);
    assert_eq!(device.memory().unwrap().peak, 1 << 20);
    drop(stream);
    drop(device);
    gpu.clean();
    gpu.no_leaks();
}

#[test]
fn limits_can_be_set() {
    let gpu = gpu::gpu();
    let device = gpu.device();
    let one = device.alloc(8 << 20).unwrap();
    assert!(device.set_memory_limit(1 << 20).is_err());
    device.set_memory_limit(10 << 20).unwrap();
    assert!(device.alloc(4 << 20).is_err());
    let small = device.alloc(1 << 20).unwrap();
    drop((one, small));
    device.set_memory_limit(4 << 20).unwrap();
    assert_eq!(device.memory().unwrap().cache, 1 << 20);
    device.reset_peak_memory();
    assert_eq!(device.memory().unwrap().peak, 0);
    // For later tests on a device that stays open.
    let total = device.facts().memory_total;
    device.set_memory_limit(total / 100 * 85).unwrap();
}

/// Many threads allocate, fill, check and drop: no two buffers ever share memory.
#[test]
fn a_storm_of_allocations_keeps_every_buffer_its_own() {
    let gpu = gpu::gpu();
    let device = gpu.device();
    std::thread::scope(|scope| {
        for thread in 0..4_u8 {
            let device = device.clone();
            scope.spawn(move || {
                let mut random = prng::Prng::new(u64::from(thread) + 1);
                let stream = device.stream().unwrap();
                let mut kept = Vec::new();
                for round in 0..150_u32 {
                    let size = 1 + random.u64() % (1 << (8 + random.u64() % 10));
                    let value = (round % 50) as u8 * 5 + thread;
                    let buffer = if round % 2 == 0 {
                        device.alloc(size).unwrap()
                    } else {
                        device.alloc_for(&stream, size).unwrap()
                    };
                    stream.fill(&buffer, 0, size, value).unwrap();
                    kept.push((buffer, value));
                    if kept.len() > 8 {
                        let place = random.u64() as usize % kept.len();
                        let (buffer, value) = kept.swap_remove(place);
                        if round % 3 == 0 {
                            let mut bytes = vec![0; buffer.len() as usize];
                            stream.copy_to_host(&buffer, 0, &mut bytes).unwrap();
                            assert!(bytes.iter().all(|byte| *byte == value));
                        }
                    }
                }
            });
        }
    });
    let counters = device.memory().unwrap();
    assert_eq!(counters.active, 0);
    drop(device);
    gpu.clean();
    gpu.no_leaks();
}

#[test]
fn uploads_arrive_whole_and_in_order() {
    let gpu = gpu::gpu();
    let device = gpu.device();
    let bytes: Vec<u8> = (0..20_000_003_u32).map(|i| (i * 7 / 3) as u8).collect();
    let target = device.alloc(bytes.len() as u64 + 100).unwrap();
    let mut uploader = device.uploader().unwrap();
    let mut rest = bytes.as_slice();
    uploader
        .write(&target, 100, bytes.len() as u64, |piece| {
            let (now, later) = rest.split_at(piece.len());
            piece.copy_from_slice(now);
            rest = later;
            Ok(())
        })
        .unwrap();
    // A source that fails ends it, and the uploader goes on with the next.
    let failed = uploader.write(&target, 0, 50, |_| Err(Error::Io("gone".into())));
    assert_eq!(failed, Err(Error::Io("gone".into())));
    let outside = uploader.write(&target, 1, target.len(), |_| Ok(()));
    assert!(matches!(outside, Err(Error::InvalidArgument(_))));
    uploader
        .write(&target, 0, 100, |piece| {
            piece.fill(3);
            Ok(())
        })
        .unwrap();
    uploader.finish().unwrap();
    let stream = device.stream().unwrap();
    let mut back = vec![0; bytes.len() + 100];
    stream.copy_to_host(&target, 0, &mut back).unwrap();
    assert!(back[..100] == [3; 100] && back[100..] == bytes);
    drop((target, stream, device));
    gpu.clean();
    gpu.no_leaks();
}

/// What only the software GPU can show: faults, other targets, its own counts.
mod soft {
    use super::*;

    #[test]
    fn out_of_memory_is_an_error_and_everything_stays_usable() {
        let gpu = gpu::soft("devices=gfx1151;integrated=0;vram_mib=64");
        let device = gpu.device();
        let total = device.memory().unwrap().total;
        assert_eq!(device.memory().unwrap().limit, total / 100 * 85);
        let error = device.alloc(total).err().unwrap();
        assert!(matches!(&error, Error::OutOfMemory(text) if text.contains("limit")));
        // The driver's own end: the cache is given back, then it is asked once more.
        let cached = device.alloc(30 << 20).unwrap();
        drop(cached);
        gpu.fault("alloc@1");
        let buffer = device.alloc(20 << 20).unwrap();
        assert_eq!(gpu.calls("hipFree"), 1, "the cache was not given back");
        gpu.fault("alloc@1+");
        let error = device.alloc(4 << 20).err().unwrap();
        assert!(matches!(&error, Error::OutOfMemory(text) if text.contains("other programs")));
        assert_eq!(error.status(), -4);
        gpu.fault("none");
        let stream = device.stream().unwrap();
        stream.fill(&buffer, 0, 100, 9).unwrap();
        let mut bytes = [0; 100];
        stream.copy_to_host(&buffer, 0, &mut bytes).unwrap();
        assert_eq!(bytes, [9; 100]);
        drop((buffer, stream, device));
        gpu.clean();
        gpu.no_leaks();
    }

    #[test]
    fn memory_that_queued_work_holds_is_waited_for() {
        let gpu = gpu::soft("devices=gfx1151;integrated=0;vram_mib=64;delay_us=20000");
        let device = gpu.device();
        let stream = device.stream().unwrap();
        let buffer = device.alloc(40 << 20).unwrap();
        stream.fill(&buffer, 0, 40 << 20, 1).unwrap();
        drop(buffer);
        // Only the memory of the first fits.
        let start = Instant::now();
        let next = device.alloc(48 << 20).unwrap();
        assert!(start.elapsed() > Duration::from_millis(5));
        stream.fill(&next, 0, 1, 1).unwrap();
        stream.wait(gpu::PATIENCE).unwrap();
        gpu.clean();
    }

    /// A fault of queued work comes out of whichever call of the driver is next.
    #[test]
    fn an_allocation_that_meets_a_fault_says_what_became_of_the_device() {
        let gpu = gpu::soft("devices=gfx1151;integrated=0");
        for pinned in [true, false] {
            let device = gpu.device();
            let stream = device.stream().unwrap();
            let buffer = device.alloc(4096).unwrap();
            let copy = device.kernel("mlxrocm_copy_u8").unwrap();
            let args = Args::new().buffer("to", &buffer, 0);
            let args = args.buffer("from", &buffer, 2048).u64("bytes", 16);
            gpu.fault("kernel@1");
            stream
                .launch(&copy, [1, 1, 1], [256, 1, 1], 0, &args)
                .unwrap();
            let start = Instant::now();
            let mut refused = None;
            for size in 1.. {
                let bytes = size << 20;
                refused = match pinned {
                    true => device.alloc_pinned(bytes).err(),
                    false => device.alloc(bytes).err(),
                };
                if refused.is_some() || start.elapsed() > Duration::from_secs(10) {
                    break;
                }
            }
            assert!(matches!(refused, Some(Error::DeviceLost(_))), "{refused:?}");
            drop((buffer, stream, device));
            gpu.fault("none");
            gpu.reset();
        }
    }

    #[test]
    fn an_apu_counts_the_systems_memory() {
        let gpu = gpu::soft("devices=gfx1151,gfx1201;vram_mib=512;integrated=1,0");
        let apu = gpu.device();
        assert!(apu.facts().integrated && apu.facts().memory_total > 512 << 20);
        let counters = apu.memory().unwrap();
        assert_eq!(counters.limit, apu.facts().memory_total / 100 * 80);
        assert!(counters.free > 512 << 20);
        let card = mlxrocm::gpu::Device::open(1).unwrap();
        assert_eq!(card.facts().memory_total, 512 << 20);
    }
}
