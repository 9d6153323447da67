//! Waits and fences: kernels that lack one are found, the same kernels with it run.

mod support;

use support::*;

fn checked() -> Gpu {
    let mut gpu = Gpu::new();
    gpu.checks.global_race = true;
    gpu.seed = 5;
    gpu
}

/// What a kernel of two pointers gives on one block of `threads`: nothing, or the fault's message.
fn run(target: &str, name: &str, threads: u32) -> Option<String> {
    let gpu = checked();
    let code = compile("order.hip", target, &[]);
    let input = gpu.upload(&[1u32; 1024]);
    let out = gpu.alloc::<u32>(1024);
    let args = Args::new().ptr(input).ptr(out);
    let result = gpu.launch(&code, name, [1, 1, 1], [threads, 1, 1], &args);
    result.err().map(|fault| fault.to_string())
}

#[track_caller]
fn is_found(target: &str, name: &str, found: Option<String>, words: &str) {
    let Some(message) = found else {
        panic!("{target} {name}: not found");
    };
    assert!(message.contains(words), "{target} {name}: {message}");
}

#[test]
fn registers_must_be_waited_for() {
    for target in TARGETS {
        for name in ["loads_waited", "load_after_load", "scalar_waited"] {
            assert_eq!(run(target, name, 64), None, "{target} {name}");
        }
        for name in [
            "load_used_early",
            "load_waited_too_little",
            "load_overwritten",
            "scalar_used_early",
        ] {
            is_found(target, name, run(target, name, 64), "missing wait");
        }
    }
}

#[test]
fn a_barrier_does_not_wait_for_lds() {
    for target in TARGETS {
        let lds = |name: &str| {
            let gpu = checked();
            let code = compile("order.hip", target, &[]);
            let args = Args::new().ptr(gpu.alloc::<u32>(256));
            let result = gpu.launch(&code, name, [1, 1, 1], [256, 1, 1], &args);
            result.err().map(|fault| fault.to_string())
        };
        assert_eq!(lds("lds_waited"), None, "{target}");
        for name in ["lds_write_not_waited", "lds_read_not_waited"] {
            is_found(target, name, lds(name), "missing wait");
        }
    }
}

#[test]
fn waves_of_a_block_exchange_through_memory() {
    for target in TARGETS {
        // gfx9's workgroup has one L1, which keeps the order.
        let one_cache = target.starts_with("gfx9");
        assert_eq!(run(target, "global_waited", 256), None, "{target}");
        for (name, words) in [
            ("global_not_waited", "not waited for before the barrier"),
            ("global_not_fresh", "no L0 cache was invalidated"),
        ] {
            match one_cache {
                true => assert_eq!(run(target, name, 256), None, "{target} {name}"),
                false => is_found(target, name, run(target, name, 256), words),
            }
        }
    }
}

#[test]
fn blocks_need_fences_of_the_device() {
    for target in TARGETS {
        let last = |name: &str| {
            let gpu = checked();
            let code = compile("order.hip", target, &[]);
            let (parts, out) = (gpu.alloc::<u32>(4 * 256), gpu.alloc::<u32>(256));
            let counter = gpu.upload(&[0u32]);
            let args = Args::new().ptr(parts).ptr(counter).ptr(out).i32(4);
            let result = gpu.launch(&code, name, [4, 1, 1], [256, 1, 1], &args);
            if result.is_ok() {
                let want: Vec<u32> = (0..256).map(|i| 6 + 4 * i).collect();
                assert_eq!(gpu.download::<u32>(out, 256), want);
            }
            result.err().map(|fault| fault.to_string())
        };
        assert_eq!(last("last_fenced"), None, "{target}");
        let stale = "no cache was invalidated";
        is_found(target, "last_no_acquire", last("last_no_acquire"), stale);
        // gfx10 and gfx11 wait for stores at every barrier, and stores go to L2 at once.
        let release = last("last_no_release");
        match target.starts_with("gfx10") || target.starts_with("gfx11") {
            true => assert_eq!(release, None, "{target}"),
            false => is_found(
                target,
                "last_no_release",
                release,
                "not waited for (or written back)",
            ),
        }
    }
}

#[test]
fn the_scalar_cache_does_not_follow_stores() {
    for target in TARGETS {
        let found = run(target, "scalar_after_store", 32);
        is_found(target, "scalar_after_store", found, "scalar loads");
    }
}
