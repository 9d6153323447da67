//! The device is lost, or hangs, in the middle of generations.

use crate::gpu;
use crate::subject::*;
use mlxrocm::Error;
use mlxrocm::gpu::GraphPolicy;
use mlxrocm::model::DeviceChoice;
use std::time::{Duration, Instant};

/// Every open generation ends, everything later is refused at once with the reason, what is left can
/// be dropped, and models on other devices do not notice.
fn gone(fault: &str, config: &str, policy: GraphPolicy) -> bool {
    let gpu = gpu::soft(config);
    let device = gpu.device();
    device.set_graph_policy(policy);
    if fault.starts_with("hang") {
        // More than any step takes.
        device.set_step_patience(Duration::from_secs(2));
    }
    let model = load_on_gpu().unwrap();
    let on_gpu = session(&model).unwrap();
    let on_cpu = session(&load(DeviceChoice::Cpu).unwrap()).unwrap();
    let (errors, came) = gpu.with_fault(fault, || {
        std::thread::scope(|scope| {
            let other = scope.spawn(|| run_all(&on_cpu));
            let errors = run_all(&on_gpu);
            assert_eq!(other.join().unwrap(), []);
            errors
        })
    });
    if !came {
        assert_eq!(errors, []);
        return false;
    }
    let start = Instant::now();
    // Those in the batch, and those that waited and met the lost device.
    assert!(!errors.is_empty(), "{fault}");
    for error in &errors {
        assert!(matches!(error, Error::DeviceLost(_)), "{fault}: {error:?}");
        assert_eq!(error.status(), -14);
        assert!(error.to_string().contains("stopped working"), "{error}");
        assert_eq!(error, &errors[0]);
    }
    let later = run_all(&on_gpu);
    assert_eq!(later.len(), requests().len());
    assert!(later.iter().all(|error| error == &errors[0]), "{later:?}");
    assert_eq!(session(&model).err(), Some(errors[0].clone()));
    assert_eq!(load_on_gpu().err(), Some(errors[0].clone()));
    assert_eq!(run_all(&on_cpu), []);
    let alive = std::sync::Arc::downgrade(&device);
    drop((on_gpu, model, device));
    assert!(alive.upgrade().is_none(), "something keeps the device");
    assert!(start.elapsed() < Duration::from_secs(20), "{fault}");
    assert_eq!(run_all(&on_cpu), []);
    // Another process would find a device that works.
    gpu.reset();
    works();
    true
}

#[test]
fn lost_devices() {
    let mut last = 0;
    for place in [1, 7, 30, 70, 300] {
        // By launches, copies and fills.
        if !gone(
            &format!("lost@{place}"),
            "devices=gfx1151;integrated=0",
            GraphPolicy::Off,
        ) {
            break;
        }
        last = place;
    }
    assert!(last >= 30, "last at {last}");
}

/// A kernel's fault that the driver does not recover from.
#[test]
fn broken_devices() {
    let config = "devices=gfx1151;integrated=0;sticky=1";
    assert!(gone("kernel@1", config, GraphPolicy::On));
    assert!(gone("kernel@30", config, GraphPolicy::Off));
}

#[test]
fn hung_devices() {
    // While graphs are judged; in the middle of a program; a whole graph.
    assert!(gone(
        "hang@1",
        "devices=gfx1151;integrated=0",
        GraphPolicy::Auto
    ));
    assert!(gone(
        "hang@30",
        "devices=gfx1151;integrated=0",
        GraphPolicy::Off
    ));
    assert!(gone(
        "hang@3",
        "devices=gfx1151;integrated=0",
        GraphPolicy::On
    ));
}
