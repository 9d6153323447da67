//! Graphs of copies and fills: order, launches, updates, capture. Kernel nodes are in `kernels.rs`.

use std::collections::BTreeSet;
use std::ffi::c_int;
use std::time::Instant;

use crate::support::*;
use softgpu::hip::capture::*;
use softgpu::hip::copy::*;
use softgpu::hip::event::*;
use softgpu::hip::graph::*;
use softgpu::hip::graph_exec::*;
use softgpu::hip::graph_node::MemsetParams;
use softgpu::hip::stream::*;

fn new_graph() -> Handle {
    let mut graph = NULL;
    ok(unsafe { hipGraphCreate(&raw mut graph, 0) });
    graph
}

fn fill_params(to: Handle, value: u8, bytes: usize) -> MemsetParams {
    MemsetParams {
        to,
        element: 1,
        height: 1,
        pitch: 0,
        value: u32::from(value),
        width: bytes,
    }
}

fn add_fill(graph: Handle, after: &[Handle], to: Handle, value: u8, bytes: usize) -> Handle {
    let mut node = NULL;
    let params = fill_params(to, value, bytes);
    let (list, count) = (after.as_ptr(), after.len());
    ok(unsafe { hipGraphAddMemsetNode(&raw mut node, graph, list, count, &raw const params) });
    node
}

fn add_copy(graph: Handle, after: &[Handle], to: Handle, from: Handle, bytes: usize) -> Handle {
    let mut node = NULL;
    let (list, count) = (after.as_ptr(), after.len());
    ok(unsafe {
        hipGraphAddMemcpyNode1D(
            &raw mut node,
            graph,
            list,
            count,
            to,
            from,
            bytes,
            DEVICE_TO_DEVICE,
        )
    });
    node
}

fn instantiate(graph: Handle) -> Handle {
    let mut executable = NULL;
    ok(unsafe { hipGraphInstantiate(&raw mut executable, graph, NULL.cast(), NULL.cast(), 0) });
    executable
}

#[test]
fn dependencies_order_nodes_and_nothing_else_does() {
    let mut orders = BTreeSet::new();
    for seed in 1..=30 {
        let gpu = gpu(&format!("devices=gfx1100;seed={seed}"));
        let stream = new_stream();
        let (a, b) = (malloc(4), malloc(4));
        let graph = new_graph();
        let first = add_fill(graph, &[], a, 1, 4);
        let second = add_copy(graph, &[first], b, a, 4);
        // Unordered with the copy's destination: either value may stay.
        add_fill(graph, &[], at(b, 3), 9, 1);
        let last = add_fill(graph, &[], a, 2, 4);
        ok(unsafe { hipGraphAddDependencies(graph, [second].as_ptr(), [last].as_ptr(), 1) });
        let executable = instantiate(graph);
        ok(unsafe { hipGraphDestroy(graph) });
        ok(unsafe { hipGraphLaunch(executable, stream) });
        sync(stream);
        assert_eq!(get(a, 4), [2; 4], "seed {seed}");
        let seen = get(b, 4);
        assert_eq!(seen[..3], [1; 3], "seed {seed}");
        orders.insert(seen[3]);
        assert_eq!(gpu.report()["executed"]["graphs"], 1);
        ok(unsafe { hipGraphExecDestroy(executable) });
        // The two that nothing orders are found whatever their order was.
        assert_eq!(gpu.found("unordered_access"), 1);
        assert_eq!(gpu.report()["violations"].as_array().unwrap().len(), 1);
        let live = gpu.report()["live"].clone();
        assert_eq!([&live["graphs"], &live["graph_executables"]], [0, 0]);
    }
    assert_eq!(orders, BTreeSet::from([1, 9]));
}

#[test]
fn launches_of_one_executable_never_overlap_and_a_stream_stays_in_order() {
    for seed in 1..=20 {
        let gpu = gpu(&format!("devices=gfx1100;delay_us=1000000;seed={seed}"));
        let (one, two) = (new_stream(), new_stream());
        let (a, b) = (malloc(1), malloc(1));
        put(a, &[0]);
        let graph = new_graph();
        let first = add_copy(graph, &[], b, a, 1);
        add_fill(graph, &[first], a, 7, 1);
        let executable = instantiate(graph);
        ok(unsafe { hipGraphLaunch(executable, one) });
        ok(unsafe { hipGraphLaunch(executable, two) });
        fill(a, 3, 1, two);
        ok(unsafe { hipGraphLaunch(executable, two) });
        sync(two);
        assert_eq!([get(a, 1), get(b, 1)], [[7], [3]], "seed {seed}");
        gpu.clean();
    }
}

#[test]
fn a_replay_is_one_call() {
    let gpu = gpu("devices=gfx1100");
    let stream = new_stream();
    let a = malloc(8);
    let graph = new_graph();
    add_fill(graph, &[], a, 1, 8);
    let executable = instantiate(graph);
    softgpu::hip::control::softgpu_clear();
    ok(unsafe { hipGraphLaunch(executable, stream) });
    sync(stream);
    assert_eq!(
        gpu.report()["calls"],
        serde_json::json!({"hipGraphLaunch": 1, "hipStreamSynchronize": 1})
    );
}

#[test]
fn updates_in_flight_are_reported_and_updates_when_done_are_not() {
    let gpu = gpu("devices=gfx1100;delay_us=1000000");
    let stream = new_stream();
    let (a, b) = (malloc(8), malloc(8));
    put(b, &[0; 8]);
    let graph = new_graph();
    let node = add_fill(graph, &[], a, 1, 8);
    let executable = instantiate(graph);
    ok(unsafe { hipGraphLaunch(executable, stream) });
    let other = new_graph();
    add_fill(other, &[], b, 2, 8);
    let mut result: c_int = -1;
    ok(unsafe { hipGraphExecUpdate(executable, other, NULL.cast(), &raw mut result) });
    assert_eq!(gpu.found("graph_in_flight"), 1);
    sync(stream);
    // The launch that was queued keeps its work; the next one has the new.
    assert_eq!(get(a, 8), [1; 8]);
    assert_eq!(get(b, 8), [0; 8]);
    ok(unsafe { hipGraphExecUpdate(executable, other, NULL.cast(), &raw mut result) });
    assert_eq!(result, 0);
    ok(unsafe { hipGraphLaunch(executable, stream) });
    sync(stream);
    assert_eq!(get(b, 8), [2; 8]);
    assert_eq!(gpu.found("graph_in_flight"), 1);
    // The node belongs to the first graph, which made the executable's handles no longer its own.
    let params = fill_params(b, 3, 8);
    let code = unsafe { hipGraphExecMemsetNodeSetParams(executable, node, &raw const params) };
    assert_eq!(code, 1);
    add_fill(other, &[], a, 4, 8);
    let code = unsafe { hipGraphExecUpdate(executable, other, NULL.cast(), &raw mut result) };
    assert_eq!((code, result), (910, 2));
    ok(unsafe { hipGraphLaunch(executable, stream) });
    ok(unsafe { hipGraphExecDestroy(executable) });
    assert_eq!(gpu.found("graph_in_flight"), 2);
    sync(stream);
}

#[test]
fn a_child_graph_is_a_copy_and_its_work_is_between_its_neighbours() {
    for seed in 1..=10 {
        let gpu = gpu(&format!("devices=gfx1100;seed={seed}"));
        let stream = new_stream();
        let block = malloc(2);
        let child = new_graph();
        add_fill(child, &[], block, 2, 1);
        add_fill(child, &[], at(block, 1), 2, 1);
        let graph = new_graph();
        let before = add_fill(graph, &[], block, 1, 2);
        let mut middle = NULL;
        let list = [before];
        ok(unsafe { hipGraphAddChildGraphNode(&raw mut middle, graph, list.as_ptr(), 1, child) });
        add_fill(graph, &[middle], at(block, 1), 3, 1);
        // Too late: the child was copied.
        add_fill(child, &[], block, 9, 2);
        ok(unsafe { hipGraphDestroy(child) });
        let executable = instantiate(graph);
        ok(unsafe { hipGraphLaunch(executable, stream) });
        sync(stream);
        assert_eq!(get(block, 2), [2, 3], "seed {seed}");
        gpu.clean();
    }
}

#[test]
fn mistakes_in_building_are_refused() {
    let gpu = gpu("devices=gfx1100");
    let block = malloc(8);
    let graph = new_graph();
    let other = new_graph();
    let foreign = add_fill(other, &[], block, 1, 8);
    let mut node = NULL;
    let list = [foreign];
    assert_eq!(
        unsafe { hipGraphAddEmptyNode(&raw mut node, graph, list.as_ptr(), 1) },
        1
    );
    let (a, b) = (
        add_fill(graph, &[], block, 1, 8),
        add_fill(graph, &[], block, 2, 8),
    );
    ok(unsafe { hipGraphAddDependencies(graph, [a, b].as_ptr(), [b, a].as_ptr(), 2) });
    let mut executable = NULL;
    let code = unsafe { hipGraphInstantiateWithFlags(&raw mut executable, graph, 0) };
    assert_eq!(code, 1, "a cycle");
    let params = fill_params(block, 0, 0);
    let code =
        unsafe { hipGraphAddMemsetNode(&raw mut node, graph, NULL.cast(), 0, &raw const params) };
    assert_eq!(code, 1);
    ok(unsafe { hipGraphDestroy(graph) });
    assert_eq!(unsafe { hipGraphDestroy(graph) }, 400);
    assert_eq!(gpu.found("bad_handle"), 1);
}

#[test]
fn copy_nodes_with_pageable_ends_are_reported() {
    let gpu = gpu("devices=gfx1100");
    let stream = new_stream();
    let block = malloc(64);
    let data = vec![3u8; 64];
    let (graph, mut node) = (new_graph(), NULL);
    let from = data.as_ptr().cast();
    ok(unsafe {
        hipGraphAddMemcpyNode1D(&raw mut node, graph, NULL.cast(), 0, block, from, 64, 1)
    });
    assert_eq!(gpu.found("graph_pageable_copy"), 1);
    let executable = instantiate(graph);
    ok(unsafe { hipGraphLaunch(executable, stream) });
    sync(stream);
    assert_eq!(get(block, 64), data);
}

#[test]
fn graph_faults_change_bits_and_time() {
    let gpu = gpu("devices=gfx1100");
    let stream = new_stream();
    let a = malloc(8);
    let graph = new_graph();
    add_fill(graph, &[], a, 1, 8);
    let executable = instantiate(graph);
    gpu.fault("graph_wrong");
    ok(unsafe { hipGraphLaunch(executable, stream) });
    sync(stream);
    let wrong = get(a, 8).iter().filter(|byte| **byte != 1).count();
    assert_eq!(wrong, 1);
    gpu.fault("none;graph_slow=30");
    let started = Instant::now();
    ok(unsafe { hipGraphLaunch(executable, stream) });
    sync(stream);
    assert!(started.elapsed().as_millis() >= 30);
    assert_eq!(get(a, 8), [1; 8]);
    gpu.clean();
}

#[test]
fn a_hung_launch_blocks_its_stream_only() {
    let gpu = gpu("devices=gfx1100;hang_limit_ms=50");
    let (one, two) = (new_stream(), new_stream());
    let (a, b) = (malloc(8), malloc(8));
    let graph = new_graph();
    add_fill(graph, &[], a, 1, 8);
    let executable = instantiate(graph);
    gpu.fault("hang@1");
    ok(unsafe { hipGraphLaunch(executable, one) });
    let event = new_event();
    ok(unsafe { hipEventRecord(event, one) });
    fill(b, 2, 8, two);
    sync(two);
    assert_eq!(unsafe { hipEventQuery(event) }, NOT_READY);
    assert_eq!(unsafe { hipStreamQuery(one) }, NOT_READY);
    // A wait without end is cut, so that a test cannot hang, and reported.
    assert_eq!(unsafe { hipStreamSynchronize(one) }, 702);
    assert_eq!(gpu.found("host_wait_without_end"), 1);
    assert_eq!(gpu.report()["hung"], 1);
    ok(unsafe { hipStreamDestroy(one) });
    let number = event as usize;
    let waiting = std::thread::spawn(move || unsafe { hipEventSynchronize(number as Handle) });
    std::thread::sleep(std::time::Duration::from_millis(10));
    ok(softgpu::hip::control::softgpu_reset());
    let code = waiting.join().unwrap();
    assert!(code == 709 || code == 400 || code == 702, "{code}");
    assert_eq!(gpu.report()["hung"], 0);
}

#[test]
fn capture_records_streams_joined_by_events() {
    for seed in 1..=10 {
        let gpu = gpu(&format!("devices=gfx1100;seed={seed}"));
        let (one, two) = (new_stream(), new_stream());
        let (fork, join) = (new_event(), new_event());
        let (a, b) = (malloc(4), malloc(4));
        put(a, &[0; 4]);
        ok(unsafe { hipStreamBeginCapture(one, 0) });
        fill(a, 1, 4, one);
        ok(unsafe { hipEventRecord(fork, one) });
        ok(unsafe { hipStreamWaitEvent(two, fork, 0) });
        ok(unsafe { hipMemcpyDtoDAsync(b, a, 4, two) });
        ok(unsafe { hipEventRecord(join, two) });
        ok(unsafe { hipStreamWaitEvent(one, join, 0) });
        fill(a, 2, 4, one);
        let mut graph = NULL;
        ok(unsafe { hipStreamEndCapture(one, &raw mut graph) });
        // Nothing was done while capturing.
        assert_eq!(get(a, 4), [0; 4]);
        let executable = instantiate(graph);
        ok(unsafe { hipGraphLaunch(executable, one) });
        sync(one);
        assert_eq!([get(a, 4), get(b, 4)], [[2; 4], [1; 4]], "seed {seed}");
        fill(b, 5, 1, two);
        sync(two);
        gpu.clean();
    }
}

#[test]
fn calls_that_a_capture_forbids_end_it() {
    for what in 0..4 {
        let gpu = gpu("devices=gfx1100");
        let stream = new_stream();
        let block = malloc(4);
        ok(unsafe { hipStreamBeginCapture(stream, 0) });
        let mut handle = NULL;
        let code = match what {
            0 => unsafe { softgpu::hip::memory_api::hipMalloc(&raw mut handle, 16) },
            1 => unsafe { hipStreamSynchronize(stream) },
            2 => unsafe { hipLaunchHostFunc(stream, Some(nothing), NULL) },
            _ => unsafe { softgpu::hip::device::hipDeviceSynchronize() },
        };
        assert_eq!(code, 900, "call {what}");
        assert_eq!(unsafe { hipMemsetAsync(block, 1, 4, stream) }, 901);
        let mut graph = NULL;
        assert_eq!(unsafe { hipStreamEndCapture(stream, &raw mut graph) }, 901);
        assert_eq!(gpu.found("capture"), 1);
        assert_eq!(gpu.report()["live"]["graphs"], 0);
        // The stream is usable again.
        fill(block, 1, 4, stream);
        sync(stream);
    }
}

unsafe extern "C" fn nothing(_: Handle) {}

#[test]
fn a_fork_must_be_joined() {
    let gpu = gpu("devices=gfx1100");
    let (one, two) = (new_stream(), new_stream());
    let fork = new_event();
    let block = malloc(4);
    ok(unsafe { hipStreamBeginCapture(one, 2) });
    fill(block, 1, 4, one);
    ok(unsafe { hipEventRecord(fork, one) });
    ok(unsafe { hipStreamWaitEvent(two, fork, 0) });
    fill(block, 2, 4, two);
    let mut graph = NULL;
    assert_eq!(unsafe { hipStreamEndCapture(two, &raw mut graph) }, 903);
    assert_eq!(unsafe { hipStreamEndCapture(one, &raw mut graph) }, 904);
    assert_eq!(gpu.report()["live"]["graphs"], 0);
}
