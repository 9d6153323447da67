//! Injected faults that need no kernel.

use std::time::{Duration, Instant};

use crate::support::*;
use softgpu::hip::copy::*;
use softgpu::hip::event::*;
use softgpu::hip::memory_api::*;
use softgpu::hip::stream::*;

#[test]
fn creation_fails_at_the_call_that_was_named() {
    let gpu = gpu("devices=gfx1100");
    gpu.fault("alloc@2;host_alloc;stream@1;event@1;graph@1;copy@2");
    let first = malloc(16);
    let mut handle = NULL;
    assert_eq!(unsafe { hipMalloc(&raw mut handle, 16) }, 2);
    malloc(16);
    assert_eq!(unsafe { hipHostMalloc(&raw mut handle, 16, 0) }, 2);
    assert_eq!(unsafe { hipStreamCreate(&raw mut handle) }, 2);
    new_stream();
    assert_eq!(unsafe { hipEventCreate(&raw mut handle) }, 2);
    assert_eq!(
        unsafe { softgpu::hip::graph::hipGraphCreate(&raw mut handle, 0) },
        2
    );
    put(first, &[1; 16]);
    assert_eq!(unsafe { hipMemset(first, 2, 16) }, 999);
    assert_eq!(get(first, 16), [1; 16]);
    let delivered = gpu.report()["faults_delivered"].clone();
    assert_eq!(
        delivered,
        serde_json::json!(["alloc", "host_alloc", "stream", "event", "graph", "copy"])
    );
    gpu.clean();
}

#[test]
fn a_lost_device_fails_everything_until_a_reset_and_the_other_device_goes_on() {
    let gpu = gpu("devices=gfx1100,gfx1100;delay_us=1000000");
    let stream = new_stream();
    let event = new_event();
    let block = malloc(16);
    let host = pinned(16);
    fill(block, 1, 16, stream);
    ok(unsafe { hipEventRecord(event, stream) });
    gpu.fault("lost@1");
    assert_eq!(unsafe { hipMemsetAsync(block, 2, 16, stream) }, 709);
    assert_eq!(unsafe { hipStreamSynchronize(stream) }, 709);
    assert_eq!(unsafe { hipStreamQuery(stream) }, 709);
    assert_eq!(unsafe { hipEventQuery(event) }, 709);
    assert_eq!(unsafe { softgpu::hip::device::hipDeviceSynchronize() }, 709);
    let mut handle = NULL;
    assert_eq!(unsafe { hipMalloc(&raw mut handle, 16) }, 709);
    // Giving things back says that the device is lost, but does it.
    assert_eq!(unsafe { hipFree(block) }, 709);
    ok(unsafe { hipHostFree(host.as_mut_ptr().cast()) });
    ok(unsafe { hipEventDestroy(event) });
    ok(unsafe { hipStreamDestroy(stream) });
    let live = gpu.report()["live"].clone();
    assert_eq!(live["device_allocations"], 0);
    assert_eq!(live["streams"], 0);
    ok(unsafe { softgpu::hip::device::hipSetDevice(1) });
    let there = malloc(4);
    put(there, &[1; 4]);
    assert_eq!(get(there, 4), [1; 4]);
    ok(softgpu::hip::control::softgpu_reset());
    ok(unsafe { softgpu::hip::device::hipSetDevice(0) });
    put(malloc(4), &[1; 4]);
}

#[test]
fn resetting_ends_waits_and_old_handles_are_dead() {
    let gpu = gpu("devices=gfx1100");
    let stream = new_stream();
    ok(softgpu::hip::control::softgpu_reset());
    assert_eq!(unsafe { hipStreamSynchronize(stream) }, 400);
    assert_eq!(gpu.found("bad_handle"), 1);
    assert_eq!(gpu.report()["live"]["streams"], 0);
}

#[test]
fn threads_may_use_the_runtime_at_once() {
    let gpu = gpu("devices=gfx1100,gfx942;delay_us=0");
    let started = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..4u8 {
            scope.spawn(move || {
                ok(unsafe { softgpu::hip::device::hipSetDevice(i32::from(thread % 2)) });
                let stream = new_stream();
                let event = new_event();
                for round in 0..100u8 {
                    let block = malloc(512);
                    fill(block, thread ^ round, 512, stream);
                    ok(unsafe { hipEventRecord(event, stream) });
                    ok(unsafe { hipEventSynchronize(event) });
                    assert_eq!(get(block, 512), [thread ^ round; 512]);
                    free(block);
                }
                ok(unsafe { hipEventDestroy(event) });
                ok(unsafe { hipStreamDestroy(stream) });
            });
        }
    });
    assert!(started.elapsed() < Duration::from_secs(60));
    gpu.clean();
    let live = gpu.report()["live"].clone();
    assert_eq!(live["device_allocations"], 0);
    assert_eq!(live["streams"], 0);
    assert_eq!(live["events"], 0);
}
