//! The order check: conflicting work that nothing orders is reported in whatever order it ran.

use crate::support::*;
use crate::support_kernels::*;
use softgpu::hip::copy::*;
use softgpu::hip::event::*;
use softgpu::hip::graph::*;
use softgpu::hip::graph_exec::*;
use softgpu::hip::stream::*;

const SEEDS: std::ops::RangeInclusive<u64> = 0..=6;

fn config(seed: u64) -> String {
    format!("devices=gfx1100;delay_us=1000000;seed={seed}")
}

#[test]
fn fills_of_two_streams_conflict_where_they_meet() {
    for seed in SEEDS {
        let gpu = gpu(&config(seed));
        let (one, two) = (new_stream(), new_stream());
        let block = malloc(64);
        fill(block, 1, 32, one);
        fill(at(block, 32), 2, 32, two);
        sync(one);
        sync(two);
        gpu.clean();
        fill(block, 1, 33, one);
        fill(at(block, 32), 2, 32, two);
        sync(one);
        sync(two);
        assert_eq!(gpu.found("unordered_access"), 1, "seed {seed}");
        assert!(gpu.messages().contains("both write"), "{}", gpu.messages());
    }
}

#[test]
fn every_kind_of_order_counts() {
    for seed in SEEDS {
        let gpu = gpu(&config(seed));
        let mut blocking = NULL;
        ok(unsafe { hipStreamCreate(&raw mut blocking) });
        let (one, two) = (new_stream(), new_stream());
        let block = malloc(64);
        let event = new_event();
        // An event, also when its record is long done, and through a third stream.
        fill(block, 1, 64, one);
        ok(unsafe { hipEventRecord(event, one) });
        ok(unsafe { hipStreamWaitEvent(two, event, 0) });
        let second = new_event();
        ok(unsafe { hipEventRecord(second, two) });
        ok(unsafe { hipStreamWaitEvent(blocking, second, 0) });
        fill(block, 2, 64, blocking);
        // The null stream comes after blocking streams.
        fill(block, 3, 64, NULL);
        // A host wait orders everything that is called later.
        sync(NULL);
        fill(block, 4, 64, two);
        ok(unsafe { hipEventRecord(event, two) });
        while unsafe { hipEventQuery(event) } == NOT_READY {}
        fill(block, 5, 64, one);
        ok(unsafe { hipEventRecord(event, one) });
        sync(two);
        while unsafe { hipStreamQuery(one) } == NOT_READY {}
        ok(unsafe { hipStreamWaitEvent(two, event, 0) });
        fill(block, 6, 64, two);
        ok(unsafe { softgpu::hip::device::hipDeviceSynchronize() });
        // Freeing waits too, and the address may come again.
        fill(block, 7, 64, two);
        sync(two);
        free(block);
        fill(malloc(64), 8, 64, one);
        sync(one);
        gpu.clean();
    }
}

#[test]
fn a_wait_for_an_older_record_is_not_enough() {
    for seed in SEEDS {
        let gpu = gpu(&config(seed));
        let (one, two) = (new_stream(), new_stream());
        let block = malloc(64);
        let event = new_event();
        ok(unsafe { hipEventRecord(event, one) });
        fill(block, 1, 64, one);
        ok(unsafe { hipStreamWaitEvent(two, event, 0) });
        fill(block, 2, 64, two);
        ok(unsafe { softgpu::hip::device::hipDeviceSynchronize() });
        assert_eq!(gpu.found("unordered_access"), 1, "seed {seed}");
    }
}

#[test]
fn kernels_conflict_by_the_bytes_they_touch() {
    for seed in SEEDS {
        let gpu = gpu(&config(seed));
        let module = load("gfx1100");
        let (one, two) = (new_stream(), new_stream());
        let (block, out) = (malloc(8192), malloc(8));
        put(block, &[0; 8192]);
        let (poke, peek) = (function(module, "poke"), function(module, "peek"));
        let write = |index: u64, stream| {
            let values: [&[u8]; 3] = [&address(block), &index.to_ne_bytes(), &1u32.to_ne_bytes()];
            ok(launch(poke, 1, 64, stream, &values));
        };
        let read = |index: u64, slot: usize, stream| {
            let values: [&[u8]; 3] = [
                &address(block),
                &address(at(out, slot)),
                &index.to_ne_bytes(),
            ];
            ok(launch(peek, 1, 64, stream, &values));
        };
        write(100, one);
        write(101, two);
        read(99, 0, two);
        read(99, 4, one);
        ok(unsafe { softgpu::hip::device::hipDeviceSynchronize() });
        gpu.clean();
        write(1500, one);
        read(1500, 0, two);
        ok(unsafe { softgpu::hip::device::hipDeviceSynchronize() });
        assert_eq!(gpu.found("unordered_access"), 1, "seed {seed}");
        let messages = gpu.messages();
        assert!(
            messages.contains("kernel poke") && messages.contains("kernel peek"),
            "{messages}"
        );
    }
}

#[test]
fn graph_nodes_need_edges() {
    for seed in SEEDS {
        for edge in [true, false] {
            let gpu = gpu(&config(seed));
            let stream = new_stream();
            let block = malloc(64);
            let (mut graph, mut first, mut second) = (NULL, NULL, NULL);
            let host = pinned(64);
            host.fill(1);
            let from = host.as_ptr().cast();
            unsafe {
                ok(hipGraphCreate(&raw mut graph, 0));
                let none = NULL.cast();
                ok(hipGraphAddMemcpyNode1D(
                    &raw mut first,
                    graph,
                    none,
                    0,
                    block,
                    from,
                    64,
                    1,
                ));
                let after = [first];
                let (list, count) = if edge {
                    (after.as_ptr(), 1)
                } else {
                    (none.cast_const(), 0)
                };
                let to = host.as_mut_ptr().cast();
                ok(hipGraphAddMemcpyNode1D(
                    &raw mut second,
                    graph,
                    list,
                    count,
                    to,
                    block,
                    64,
                    2,
                ));
                let mut executable = NULL;
                ok(hipGraphInstantiateWithFlags(&raw mut executable, graph, 0));
                ok(hipGraphLaunch(executable, stream));
                ok(hipGraphLaunch(executable, stream));
            }
            sync(stream);
            let expected = if edge { 0 } else { 2 };
            assert_eq!(
                gpu.found("unordered_access"),
                expected,
                "seed {seed}, edge {edge}"
            );
        }
    }
}

#[test]
fn direct_work_and_graphs_conflict_too() {
    let gpu = gpu(&config(3));
    let (one, two) = (new_stream(), new_stream());
    let (a, b) = (malloc(64), malloc(64));
    put(a, &[0; 64]);
    let (mut graph, mut node, mut executable) = (NULL, NULL, NULL);
    unsafe {
        ok(hipGraphCreate(&raw mut graph, 0));
        ok(hipGraphAddMemcpyNode1D(
            &raw mut node,
            graph,
            NULL.cast(),
            0,
            b,
            a,
            64,
            3,
        ));
        ok(hipGraphInstantiateWithFlags(&raw mut executable, graph, 0));
        ok(hipGraphLaunch(executable, one));
        ok(hipMemcpyDtoDAsync(a, b, 64, two));
    }
    ok(unsafe { softgpu::hip::device::hipDeviceSynchronize() });
    assert_eq!(gpu.found("unordered_access"), 1);
    // Two launches of one executable are ordered by it.
    ok(unsafe { hipGraphLaunch(executable, one) });
    ok(unsafe { hipGraphLaunch(executable, two) });
    ok(unsafe { softgpu::hip::device::hipDeviceSynchronize() });
    assert_eq!(gpu.found("unordered_access"), 1);
}
