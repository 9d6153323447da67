//! Launches and copies are refused, or a kernel faults, in the middle of generations.

use crate::gpu;
use crate::subject::*;
use mlxrocm::Error;
use mlxrocm::gpu::GraphPolicy;

/// Every call is too many; these are close together where a program begins.
const PLACES: [usize; 7] = [1, 3, 8, 21, 55, 144, 610];

/// The nth launch or copy fails: those that it was for end with the driver's code, the others and all
/// later ones are right.
fn refused(site: &str, code: i32, policy: GraphPolicy, needed: usize) {
    let gpu = gpu::soft("devices=gfx1151;integrated=0");
    let device = gpu.device();
    device.set_graph_policy(policy);
    let model = load_on_gpu().unwrap();
    let session = session(&model).unwrap();
    let mut came_at = 0;
    for place in PLACES {
        let (errors, came) = gpu.with_fault(&format!("{site}@{place}"), || run_all(&session));
        assert_eq!(came, !errors.is_empty(), "{site}@{place} {policy:?}");
        // All that were in the batch, at most three.
        assert!(errors.len() <= 3, "{errors:?}");
        for error in &errors {
            assert!(matches!(error, Error::Driver { .. }), "{error:?}");
            assert_eq!((error.status(), error.vendor_code()), (-11, code));
        }
        assert_eq!(run_all(&session), [], "after {site}@{place} {policy:?}");
        if !came {
            break;
        }
        came_at = place;
    }
    assert!(came_at >= needed, "{site} {policy:?}: last at {came_at}");
    // For good: all end, and nothing waits for ever.
    let (errors, _) = gpu.with_fault(&format!("{site}@3+"), || run_all(&session));
    assert_eq!(errors.len(), requests().len());
    assert_eq!(run_all(&session), []);
    drop((session, model));
    assert_in_use(&device, 0);
    drop(device);
    gpu.clean();
    gpu.no_leaks();
}

#[test]
fn launches() {
    refused("launch", 701, GraphPolicy::Off, 55);
    refused("launch", 701, GraphPolicy::On, 3);
}

#[test]
fn launches_while_graphs_are_judged() {
    let gpu = gpu::soft("devices=gfx1151;integrated=0");
    for place in [2, 100] {
        // Judged once a device: each round has one of its own, and nothing is known of it.
        let _ = std::fs::remove_dir_all(gpu.cache().join("mlxrocm"));
        let device = gpu.device();
        device.set_graph_policy(GraphPolicy::Auto);
        let model = load_on_gpu().unwrap();
        let session = session(&model).unwrap();
        let (errors, came) = gpu.with_fault(&format!("launch@{place}"), || run_all(&session));
        assert!(errors.len() <= 3 && came != errors.is_empty(), "{place}");
        assert_eq!(run_all(&session), [], "after {place}");
        drop((session, model));
        assert_in_use(&device, 0);
        drop(device);
        gpu.clean();
        gpu.no_leaks();
    }
}

#[test]
fn copies() {
    refused("copy", 999, GraphPolicy::Off, 3);
}

/// The driver goes on after a kernel's fault (`sticky=0`): so do the session and the device.
#[test]
fn kernels() {
    let gpu = gpu::soft("devices=gfx1151;integrated=0;sticky=0");
    let device = gpu.device();
    for policy in [GraphPolicy::Off, GraphPolicy::On] {
        device.set_graph_policy(policy);
        let model = load_on_gpu().unwrap();
        let session = session(&model).unwrap();
        for place in [1, 2, 5, 13, 34] {
            let (errors, came) = gpu.with_fault(&format!("kernel@{place}"), || run_all(&session));
            assert!(came && !errors.is_empty(), "{place} {policy:?}");
            for error in &errors {
                assert_eq!((error.status(), error.vendor_code()), (-11, 700), "{error}");
            }
            assert_eq!(run_all(&session), [], "after {place} {policy:?}");
        }
    }
    drop(device);
    gpu.no_leaks();
}

/// Each launch and each copy of a load fails, or the kernel faults: loading ends with the driver's error, leaves
/// nothing behind, and works the next time.
#[test]
fn every_call_of_a_load() {
    let gpu = gpu::soft("devices=gfx1151;integrated=0;sticky=0");
    let device = gpu.device();
    for (site, code) in [("launch", 701), ("copy", 999), ("kernel", 700)] {
        let mut failed = 0;
        for n in 1.. {
            let (result, came) = gpu.with_fault(&format!("{site}@{n}"), load_on_gpu);
            match result.map(drop) {
                Err(error) => assert_eq!((error.status(), error.vendor_code()), (-11, code)),
                Ok(()) => assert!(!came, "{site}@{n} was passed over"),
            }
            assert_in_use(&device, 0);
            if !came {
                break;
            }
            failed = n;
        }
        assert!(failed >= 2, "{site}: {failed} calls");
    }
    works();
    drop(device);
    gpu.no_leaks();
}
