//! Allocation, freeing, accounting.

use crate::support::*;
use softgpu::hip::device::hipMemGetInfo;
use softgpu::hip::memory_api::*;

fn free_bytes() -> usize {
    let (mut free, mut total) = (0, 0);
    ok(unsafe { hipMemGetInfo(&raw mut free, &raw mut total) });
    assert_eq!(total, 16 << 20);
    free
}

#[test]
fn memory_is_counted_and_runs_out() {
    let gpu = gpu("devices=gfx1100;vram_mib=16");
    assert_eq!(free_bytes(), 16 << 20);
    let first = malloc(10 << 20);
    assert_eq!(free_bytes(), 6 << 20);
    let mut second = NULL;
    assert_eq!(unsafe { hipMalloc(&raw mut second, 7 << 20) }, 2);
    assert_eq!(second, NULL);
    let third = malloc(1);
    assert_eq!(free_bytes(), (6 << 20) - 4096);
    assert_eq!(first as usize % 256, 0);
    free(first);
    free(third);
    assert_eq!(free_bytes(), 16 << 20);
    free(NULL);
    gpu.clean();
    assert_eq!(gpu.report()["live"]["device_allocations"], 0);
}

#[test]
fn wrong_frees_are_errors_and_reported() {
    let gpu = gpu("devices=gfx1100");
    let block = malloc(4096);
    assert_eq!(unsafe { hipFree(at(block, 16)) }, 1);
    assert_eq!(unsafe { hipHostFree(block) }, 1);
    free(block);
    assert_eq!(unsafe { hipFree(block) }, 1);
    let mut local = 0u64;
    assert_eq!(unsafe { hipFree((&raw mut local).cast()) }, 1);
    assert_eq!(gpu.found("bad_free"), 4);
    assert!(gpu.messages().contains("freed twice"));
}

#[test]
fn live_objects_are_in_the_report() {
    let gpu = gpu("devices=gfx1100");
    let block = malloc(1000);
    let _host = pinned(100);
    let _stream = new_stream();
    let _event = new_event();
    let live = gpu.report()["live"].clone();
    assert_eq!(live["device_allocations"], 1);
    assert_eq!(live["device_bytes"], 1000);
    assert_eq!(live["host_allocations"], 1);
    assert_eq!(live["streams"], 1);
    assert_eq!(live["events"], 1);
    free(block);
    assert_eq!(gpu.report()["live"]["device_allocations"], 0);
    assert_eq!(gpu.report()["calls"]["hipMalloc"], 1);
    softgpu::hip::control::softgpu_clear();
    assert_eq!(gpu.report()["calls"]["hipMalloc"], serde_json::Value::Null);
    assert_eq!(gpu.report()["live"]["streams"], 1);
}

#[test]
fn pinned_memory_has_a_device_address_and_pageable_has_none() {
    let gpu = gpu("devices=gfx1100,gfx942");
    let host = pinned(64);
    let mut device = NULL;
    let inside = host.as_mut_ptr().wrapping_add(8).cast();
    ok(unsafe { hipHostGetDevicePointer(&raw mut device, inside, 0) });
    assert_eq!(device, inside);
    let mut pageable = vec![0u8; 8192];
    let place = pageable.as_mut_ptr().cast();
    assert_eq!(
        unsafe { hipHostGetDevicePointer(&raw mut device, place, 0) },
        1
    );
    ok(unsafe { hipHostRegister(place, pageable.len(), 0) });
    ok(unsafe { hipHostGetDevicePointer(&raw mut device, place, 0) });
    assert_eq!(unsafe { hipHostRegister(place, 16, 0) }, 712);
    ok(unsafe { hipHostUnregister(place) });
    assert_eq!(unsafe { hipHostUnregister(place) }, 713);
    ok(unsafe { hipHostFree(host.as_mut_ptr().cast()) });
    gpu.clean();
}

#[test]
fn freeing_memory_that_queued_work_uses_is_reported() {
    let gpu = gpu("devices=gfx1100;delay_us=200000");
    let stream = new_stream();
    let block = malloc(4096);
    fill(block, 1, 4096, stream);
    free(block);
    assert_eq!(gpu.found("free_in_flight"), 1);
    assert!(gpu.messages().contains("hipFree"));
    // HIP's hipFree waits, so the fill was done before.
    assert_eq!(gpu.report()["executed"]["fills"], 1);
    assert_eq!(gpu.found("use_after_free"), 0);
}

#[test]
fn work_on_freed_memory_is_refused_or_reported() {
    let gpu = gpu("devices=gfx1100");
    let stream = new_stream();
    let block = malloc(64);
    let other = malloc(64);
    free(block);
    let code = unsafe { softgpu::hip::copy::hipMemcpyDtoDAsync(other, block, 64, stream) };
    assert_eq!(code, 1);
    assert_eq!(gpu.found("use_after_free"), 1);
    let code = unsafe { softgpu::hip::copy::hipMemsetAsync(at(other, 32), 0, 64, stream) };
    assert_eq!(code, 1);
    assert_eq!(gpu.found("copy_out_of_bounds"), 1);
}

#[test]
fn host_memory_at_a_once_freed_address_is_ordinary_again() {
    let gpu = gpu("devices=gfx1100");
    let block = malloc(4096);
    // Much more than the quarantine holds back: the first block is really released.
    for _ in 0..320 {
        free(malloc(1 << 20));
    }
    free(block);
    for _ in 0..320 {
        free(malloc(1 << 20));
    }
    let device = malloc(4096);
    for _ in 0..200 {
        let data = vec![7u8; 4096];
        put(device, &data);
        std::mem::forget(data);
    }
    gpu.clean();
}
