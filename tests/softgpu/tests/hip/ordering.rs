//! Streams and events: what is ordered stays, what is not may come in any order.

use std::collections::BTreeSet;
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::*;
use softgpu::hip::event::*;
use softgpu::hip::stream::*;

/// Four unordered fills of one block; the value that stays shows the order.
fn last_of_four(seed: u64) -> u8 {
    let _gpu = gpu(&format!("devices=gfx1100;delay_us=1000000;seed={seed}"));
    let block = malloc(1);
    for value in 1..=4 {
        fill(block, value, 1, new_stream());
    }
    ok(unsafe { softgpu::hip::device::hipDeviceSynchronize() });
    get(block, 1)[0]
}

#[test]
fn unordered_streams_are_reordered_by_the_seed_and_a_seed_repeats() {
    let results: Vec<u8> = (1..=24).map(last_of_four).collect();
    let distinct: BTreeSet<u8> = results.iter().copied().collect();
    assert!(distinct.len() >= 3, "{results:?}");
    let again: Vec<u8> = (1..=24).map(last_of_four).collect();
    assert_eq!(results, again);
    // Seed 0 is the order of the calls.
    assert_eq!(last_of_four(0), 4);
}

#[test]
fn one_stream_and_event_waits_keep_their_order_under_every_seed() {
    for seed in 1..=20 {
        let gpu = gpu(&format!("devices=gfx1100;delay_us=1000000;seed={seed}"));
        let (one, two) = (new_stream(), new_stream());
        let block = malloc(2);
        let event = new_event();
        for value in 1..=5 {
            fill(block, value, 2, one);
        }
        ok(unsafe { hipEventRecord(event, one) });
        ok(unsafe { hipStreamWaitEvent(two, event, 0) });
        fill(at(block, 1), 9, 1, two);
        sync(two);
        assert_eq!(get(block, 2), [5, 9], "seed {seed}");
        let order = gpu.order();
        let fills = order.iter().filter(|name| name.starts_with("fill of 2"));
        assert_eq!(fills.count(), 5);
        assert!(order[7].starts_with("fill of 1"), "{order:?}");
        gpu.clean();
    }
}

#[test]
fn a_wait_takes_the_record_of_its_moment() {
    for seed in 1..=20 {
        let gpu = gpu(&format!("devices=gfx1100;delay_us=1000000;seed={seed}"));
        let (one, two) = (new_stream(), new_stream());
        let event = new_event();
        let block = malloc(1);
        // Not recorded yet: the wait does nothing, and does not deadlock with the later record.
        ok(unsafe { hipStreamWaitEvent(one, event, 0) });
        fill(block, 1, 1, one);
        ok(unsafe { hipEventRecord(event, one) });
        ok(unsafe { hipStreamWaitEvent(two, event, 0) });
        fill(block, 2, 1, two);
        // Recorded again after two's work: two's wait is still for the first record.
        let done = new_event();
        ok(unsafe { hipEventRecord(done, two) });
        ok(unsafe { hipStreamWaitEvent(one, done, 0) });
        fill(block, 3, 1, one);
        ok(unsafe { hipEventRecord(event, one) });
        // Destroying an event leaves the waits that took it.
        ok(unsafe { hipEventDestroy(done) });
        ok(unsafe { hipEventSynchronize(event) });
        assert_eq!(get(block, 1), [3], "seed {seed}");
        gpu.clean();
    }
}

#[test]
fn the_null_stream_orders_blocking_streams_only() {
    let mut reordered = false;
    for seed in 1..=20 {
        let gpu = gpu(&format!("devices=gfx1100;delay_us=1000000;seed={seed}"));
        let mut blocking = NULL;
        ok(unsafe { hipStreamCreate(&raw mut blocking) });
        let free_running = new_stream();
        let block = malloc(2);
        fill(block, 1, 1, blocking);
        fill(at(block, 1), 1, 1, free_running);
        fill(block, 2, 2, NULL);
        fill(block, 3, 1, blocking);
        sync(blocking);
        let seen = get(block, 1);
        assert_eq!(seen, [3], "seed {seed}");
        ok(unsafe { softgpu::hip::device::hipDeviceSynchronize() });
        reordered |= get(at(block, 1), 1) == [1];
        assert_eq!(gpu.found("unordered_access"), 1, "seed {seed}");
    }
    assert!(
        reordered,
        "the non-blocking stream was always before the null stream"
    );
}

#[test]
fn queries_say_not_ready_and_events_have_times() {
    let gpu = gpu("devices=gfx1100;delay_us=50000");
    let stream = new_stream();
    let (start, stop) = (new_event(), new_event());
    ok(unsafe { hipEventQuery(start) });
    ok(unsafe { hipEventRecord(start, stream) });
    ok(unsafe { hipLaunchHostFunc(stream, Some(sleep_ten_ms), NULL) });
    ok(unsafe { hipEventRecord(stop, stream) });
    assert_eq!(unsafe { hipEventQuery(stop) }, NOT_READY);
    let mut time = 0f32;
    assert_eq!(
        unsafe { hipEventElapsedTime(&raw mut time, start, stop) },
        NOT_READY
    );
    ok(unsafe { hipEventSynchronize(stop) });
    ok(unsafe { hipEventQuery(stop) });
    ok(unsafe { hipEventElapsedTime(&raw mut time, start, stop) });
    assert!((9.0..5000.0).contains(&time), "{time} ms");
    let mut untimed = NULL;
    ok(unsafe { hipEventCreateWithFlags(&raw mut untimed, 2) });
    ok(unsafe { hipEventRecord(untimed, stream) });
    assert_eq!(
        unsafe { hipEventElapsedTime(&raw mut time, start, untimed) },
        400
    );
    gpu.clean();
}

unsafe extern "C" fn sleep_ten_ms(_: *mut c_void) {
    std::thread::sleep(std::time::Duration::from_millis(10));
}

static CALLS: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn count_and_break_the_rule(_: *mut c_void) {
    CALLS.fetch_add(1, Ordering::SeqCst);
    let mut address = NULL;
    let code = unsafe { softgpu::hip::memory_api::hipMalloc(&raw mut address, 16) };
    assert_eq!(code, 801);
}

#[test]
fn host_functions_run_in_order_and_may_not_call_hip() {
    let gpu = gpu("devices=gfx1100");
    let before = CALLS.load(Ordering::SeqCst);
    ok(unsafe { hipLaunchHostFunc(NULL, Some(count_and_break_the_rule), NULL) });
    sync(NULL);
    assert_eq!(CALLS.load(Ordering::SeqCst), before + 1);
    assert_eq!(gpu.found("call_in_host_function"), 1);
    assert_eq!(unsafe { hipLaunchHostFunc(NULL, None, NULL) }, 1);
}

#[test]
fn destroyed_and_foreign_handles_are_reported() {
    let gpu = gpu("devices=gfx1100;delay_us=1000000");
    let stream = new_stream();
    let block = malloc(1);
    fill(block, 7, 1, stream);
    ok(unsafe { hipStreamDestroy(stream) });
    assert_eq!(unsafe { hipStreamQuery(stream) }, 400);
    assert_eq!(unsafe { hipStreamDestroy(stream) }, 400);
    assert_eq!(unsafe { hipEventQuery(0x1234 as Handle) }, 400);
    assert_eq!(gpu.found("bad_handle"), 3);
    // The queued work of a destroyed stream is still done.
    ok(unsafe { softgpu::hip::device::hipDeviceSynchronize() });
    assert_eq!(get(block, 1), [7]);
    assert_eq!(gpu.report()["live"]["streams"], 0);
}

#[test]
fn an_event_belongs_to_its_device() {
    let gpu = gpu("devices=gfx1100,gfx1100");
    let event = new_event();
    ok(unsafe { softgpu::hip::device::hipSetDevice(1) });
    let stream = new_stream();
    assert_eq!(unsafe { hipEventRecord(event, stream) }, 400);
    assert_eq!(gpu.found("wrong_device"), 1);
}
