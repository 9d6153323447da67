//! Each allocation of loading and generating fails.

use crate::gpu;
use crate::subject::*;
use mlxrocm::Error;
use mlxrocm::gpu::GraphPolicy;

/// What may be refused for want of memory.
const SITES: [&str; 6] = ["alloc", "host_alloc", "stream", "event", "module", "graph"];

/// The error says that memory is missing, and of what.
#[track_caller]
fn assert_out_of_memory(error: &Error, site: &str) {
    let text = error.to_string();
    assert!(matches!(error, Error::OutOfMemory(_)), "{site}: {error:?}");
    assert_eq!(error.status(), -4);
    match site {
        "alloc" => assert!(text.contains("bytes of device memory"), "{text}"),
        "host_alloc" => assert!(text.contains("bytes of pinned host memory"), "{text}"),
        "module" => assert!(text.contains("code object"), "{text}"),
        _ => assert!(text.contains(site), "{site}: {text}"),
    }
}

/// From the nth allocation of a load on all fail: loading ends with the error, leaves nothing behind,
/// and works when there is memory again.
#[test]
fn every_allocation_of_a_load() {
    let gpu = gpu::soft("devices=gfx1151;integrated=0");
    let device = gpu.device();
    for site in SITES {
        let mut failed = 0;
        for n in 1.. {
            let (result, came) = gpu.with_fault(&format!("{site}@{n}+"), load_on_gpu);
            match result.map(drop) {
                Err(error) => assert_out_of_memory(&error, site),
                Ok(()) => assert!(!came, "{site}@{n} was passed over"),
            }
            assert_in_use(&device, 0);
            if !came {
                break;
            }
            failed = n;
        }
        // A load makes no graph, and its kernels were loaded for the first site.
        let most = match site {
            "alloc" => 12..40,
            // A piece's; what streams wait with is the device's, and kept.
            "host_alloc" => 2..6,
            "event" => 1..6,
            "stream" => 2..3,
            _ => 0..1,
        };
        assert!(most.contains(&failed), "{site}: {failed} allocations");
    }
    works();
    drop(device);
    gpu.clean();
    gpu.no_leaks();
}

/// As above, from the making of a session to the last token. A session that was made goes on.
fn every_allocation_of_a_generation(site: &str, fewest: usize) {
    let gpu = gpu::soft("devices=gfx1151;integrated=0");
    let mut device = Some(gpu.device());
    let mut failures = 0;
    for n in 1.. {
        if site == "module" {
            // Kernels are loaded once a device.
            device = None;
        }
        let now = device.get_or_insert_with(|| gpu.device()).clone();
        now.set_graph_policy(match site {
            "graph" => GraphPolicy::On,
            _ => GraphPolicy::Off,
        });
        let model = load_on_gpu().unwrap();
        let weights = now.memory().unwrap().active;
        assert_in_use(&now, weights);
        let generate = || session(&model).map(|session| (run_all(&session), session));
        let (result, came) = gpu.with_fault(&format!("{site}@{n}+"), generate);
        let errors = match result {
            Err(error) => vec![error],
            Ok((errors, session)) => {
                assert_eq!(run_all(&session), [], "after {site}@{n}");
                errors
            }
        };
        errors.iter().for_each(|e| assert_out_of_memory(e, site));
        // Programs without graphs run one launch after the other.
        let failed = !errors.is_empty();
        assert!(failed == came || site == "graph", "{site}@{n}: {errors:?}");
        failures += usize::from(failed);
        drop(model);
        assert_in_use(&now, 0);
        if !came {
            let expected = if site == "graph" { 0 } else { n - 1 };
            assert!(
                n > fewest && failures == expected,
                "{site}: {failures} of {n}"
            );
            break;
        }
    }
    works();
    drop(device);
    gpu.clean();
    gpu.no_leaks();
}

#[test]
fn every_device_allocation_of_a_generation() {
    every_allocation_of_a_generation("alloc", 7);
}

#[test]
fn every_pinned_allocation_of_a_generation() {
    every_allocation_of_a_generation("host_alloc", 2);
}

#[test]
fn every_stream_and_event_of_a_generation() {
    every_allocation_of_a_generation("stream", 1);
    every_allocation_of_a_generation("event", 1);
}

#[test]
fn every_module_and_graph_of_a_generation() {
    every_allocation_of_a_generation("module", 3);
    every_allocation_of_a_generation("graph", 1);
}

/// One refusal is not felt: cached memory is given back and the driver asked again.
#[test]
fn a_refused_allocation_is_tried_again() {
    let gpu = gpu::soft("devices=gfx1151;integrated=0");
    let device = gpu.device();
    device.set_graph_policy(GraphPolicy::Off);
    for site in ["alloc", "host_alloc"] {
        for n in [1, 2, 5, 12, 20, 26, 40] {
            let (_, came) = gpu.with_fault(&format!("{site}@{n}"), works);
            assert_in_use(&device, 0);
            if !came {
                assert!(n > 2, "{site}: {n}");
                break;
            }
        }
    }
    drop(device);
    gpu.clean();
    gpu.no_leaks();
}
