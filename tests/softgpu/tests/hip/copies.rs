//! Copies and fills: staging, kinds, asynchrony.

use crate::support::*;
use softgpu::hip::copy::*;
use softgpu::hip::stream::hipStreamQuery;

#[test]
fn bytes_arrive_by_every_way() {
    let gpu = gpu("devices=gfx1100");
    let (a, b) = (malloc(256), malloc(256));
    let data: Vec<u8> = (0..=255).collect();
    put(a, &data);
    ok(unsafe { hipMemcpyDtoD(b, a, 256) });
    assert_eq!(get(b, 256), data);
    ok(unsafe { hipMemcpyHtoD(b, data[128..].as_ptr().cast(), 128) });
    let mut host = vec![0u8; 256];
    ok(unsafe { hipMemcpyDtoH(host.as_mut_ptr().cast(), b, 256) });
    assert_eq!(host[..128], data[128..]);
    assert_eq!(host[128..], data[128..]);
    ok(unsafe { hipMemcpy(host.as_mut_ptr().cast(), a, 256, 4) });
    assert_eq!(host, data);
    ok(unsafe { hipMemcpy(a, b, 0, 3) });
    gpu.clean();
}

#[test]
fn fills_have_elements_of_one_two_and_four_bytes() {
    let gpu = gpu("devices=gfx1100");
    let block = malloc(16);
    ok(unsafe { hipMemset(block, 0x1AB, 16) });
    ok(unsafe { hipMemsetD32Async(block, 0x0102_0304, 1, NULL) });
    ok(unsafe { hipMemsetD16Async(at(block, 4), 0x0506, 2, NULL) });
    ok(unsafe { hipMemsetD8(at(block, 8), 9, 2) });
    assert_eq!(get(block, 12), [4, 3, 2, 1, 6, 5, 6, 5, 9, 9, 0xAB, 0xAB]);
    assert_eq!(unsafe { hipMemsetD32(at(block, 2), 0, 1) }, 1);
    gpu.clean();
}

#[test]
fn pageable_sources_are_read_at_the_call_and_pinned_ones_later() {
    let gpu = gpu("devices=gfx1100;delay_us=300000");
    let stream = new_stream();
    let (a, b) = (malloc(8), malloc(8));
    let mut pageable = [1u8; 8];
    let host = pinned(8);
    host.fill(1);
    ok(unsafe { hipMemcpyAsync(a, pageable.as_ptr().cast(), 8, HOST_TO_DEVICE, stream) });
    ok(unsafe { hipMemcpyAsync(b, host.as_ptr().cast(), 8, HOST_TO_DEVICE, stream) });
    pageable.fill(2);
    host.fill(2);
    sync(stream);
    assert_eq!(get(a, 8), [1; 8]);
    assert_eq!(get(b, 8), [2; 8]);
    gpu.clean();
}

#[test]
fn calls_return_before_the_work_is_done() {
    let gpu = gpu("devices=gfx1100;delay_us=100000");
    let stream = new_stream();
    let block = malloc(64);
    let host = pinned(64);
    host.fill(0);
    fill(block, 5, 64, stream);
    ok(unsafe { hipMemcpyAsync(host.as_mut_ptr().cast(), block, 64, DEVICE_TO_HOST, stream) });
    assert_eq!(host[0], 0);
    assert_eq!(unsafe { hipStreamQuery(stream) }, NOT_READY);
    while unsafe { hipStreamQuery(stream) } == NOT_READY {
        std::thread::yield_now();
    }
    assert_eq!(host[..], [5; 64]);
    // A copy to pageable memory blocks, and the report counts it.
    let mut pageable = vec![0u8; 64];
    ok(unsafe {
        hipMemcpyAsync(
            pageable.as_mut_ptr().cast(),
            block,
            64,
            DEVICE_TO_HOST,
            stream,
        )
    });
    assert_eq!(pageable, [5; 64]);
    assert_eq!(gpu.report()["executed"]["blocking_async_copies"], 1);
    gpu.clean();
}

#[test]
fn a_kind_that_the_addresses_contradict_is_refused() {
    let gpu = gpu("devices=gfx1100");
    let block = malloc(64);
    let mut host = vec![0u8; 64];
    let place = host.as_mut_ptr().cast();
    assert_eq!(unsafe { hipMemcpy(place, block, 64, HOST_TO_DEVICE) }, 1);
    assert_eq!(unsafe { hipMemcpy(block, place, 64, DEVICE_TO_HOST) }, 1);
    assert_eq!(unsafe { hipMemcpy(block, place, 64, DEVICE_TO_DEVICE) }, 1);
    assert_eq!(unsafe { hipMemcpy(block, place, 64, 9) }, 21);
    assert_eq!(unsafe { hipMemset(place, 0, 64) }, 1);
    assert_eq!(gpu.found("copy_direction"), 4);
}

#[test]
fn overlapping_copies_and_unwritten_memory_are_reported() {
    let gpu = gpu("devices=gfx1100;host_reads=1");
    let block = malloc(64);
    get(block, 64);
    assert_eq!(gpu.found("uninitialised_copy_to_host"), 1);
    put(block, &[1; 64]);
    ok(unsafe { hipMemcpyDtoD(at(block, 8), block, 32) });
    get(block, 64);
    assert_eq!(gpu.found("overlapping_copy"), 1);
    assert_eq!(gpu.found("uninitialised_copy_to_host"), 1);
}

#[test]
fn devices_exchange_memory_through_peer_copies() {
    let gpu = gpu("devices=gfx1100,gfx942;host_reads=1");
    let here = malloc(32);
    put(here, &[3; 32]);
    ok(unsafe { softgpu::hip::device::hipSetDevice(1) });
    let there = malloc(32);
    let stream = new_stream();
    ok(unsafe { hipMemcpyPeerAsync(there, 1, here, 0, 32, stream) });
    sync(stream);
    assert_eq!(get(there, 32), [3; 32]);
    let mut answer = 9;
    ok(unsafe { softgpu::hip::device::hipDeviceCanAccessPeer(&raw mut answer, 1, 0) });
    assert_eq!(answer, 0);
    gpu.clean();
}
