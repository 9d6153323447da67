//! Graphs of kernels: arguments kept by pointer, updates, child graphs, corrupted replays.

use std::ffi::c_int;

use crate::support::*;
use crate::support_kernels::*;
use softgpu::hip::capture::*;
use softgpu::hip::graph::*;
use softgpu::hip::graph_exec::*;
use softgpu::hip::graph_node::KernelNodeParams;

struct Bench {
    gpu: Gpu,
    scale: Handle,
    block: Handle,
    stream: Handle,
}

/// A device with 16 ones and the kernel that multiplies them.
fn bench(config: &str) -> Bench {
    let gpu = gpu(config);
    let module = load("gfx1100");
    let block = malloc(64);
    put(block, &floats(&[1.0; 16]));
    Bench {
        gpu,
        scale: function(module, "scale"),
        block,
        stream: new_stream(),
    }
}

impl Bench {
    fn arguments(&self, factor: f32) -> Pack {
        pack(&[
            &address(self.block),
            &16u32.to_ne_bytes(),
            &factor.to_ne_bytes(),
        ])
    }

    fn node_params(&self, pack: &mut Pack) -> KernelNodeParams {
        KernelNodeParams {
            block: [64, 1, 1],
            extra: NULL.cast(),
            function: self.scale,
            grid: [1, 1, 1],
            params: pack.pointers.as_mut_ptr(),
            dynamic_lds: 0,
        }
    }

    fn graph_of(&self, pack: &mut Pack) -> (Handle, Handle) {
        let (mut graph, mut node) = (NULL, NULL);
        ok(unsafe { hipGraphCreate(&raw mut graph, 0) });
        let params = self.node_params(pack);
        let params = &raw const params;
        ok(unsafe { hipGraphAddKernelNode(&raw mut node, graph, NULL.cast(), 0, params) });
        (graph, node)
    }

    fn instantiate(&self, graph: Handle) -> Handle {
        let mut executable = NULL;
        ok(unsafe { hipGraphInstantiateWithFlags(&raw mut executable, graph, 0) });
        executable
    }

    fn run(&self, executable: Handle) -> f32 {
        ok(unsafe { hipGraphLaunch(executable, self.stream) });
        sync(self.stream);
        get_floats(self.block, 1)[0]
    }
}

#[test]
fn arguments_that_live_are_fine() {
    let bench = bench("devices=gfx1100");
    let mut pack = bench.arguments(2.0);
    let (graph, _) = bench.graph_of(&mut pack);
    let executable = bench.instantiate(graph);
    ok(unsafe { hipGraphDestroy(graph) });
    assert_eq!(bench.run(executable), 2.0);
    assert_eq!(bench.run(executable), 4.0);
    assert_eq!(bench.run(executable), 8.0);
    bench.gpu.clean();
    assert_eq!(bench.gpu.report()["kernels"]["scale"]["launches"], 3);
}

#[test]
fn arguments_that_change_are_reported_and_used() {
    let bench = bench("devices=gfx1100");
    let mut pack = bench.arguments(2.0);
    let (graph, _) = bench.graph_of(&mut pack);
    let executable = bench.instantiate(graph);
    unsafe { pack.pointers[2].cast::<f32>().write(5.0) };
    assert_eq!(bench.run(executable), 5.0);
    assert_eq!(bench.gpu.found("graph_arguments"), 1);
    assert!(
        bench.gpu.messages().contains("argument 2"),
        "{}",
        bench.gpu.messages()
    );
    // Set again, the new bytes count.
    let mut again = bench.arguments(3.0);
    let (_, node) = bench.graph_of(&mut again);
    let params = bench.node_params(&mut again);
    let code = unsafe { hipGraphExecKernelNodeSetParams(executable, node, &raw const params) };
    assert_eq!(code, 1, "the node of another graph");
}

#[test]
fn arguments_that_died_are_reported() {
    let bench = bench("devices=gfx1100");
    // A page that can be taken away stands for a freed pack.
    let page = unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        libc::mmap(NULL, 4096, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
    };
    let mut pack = bench.arguments(2.0);
    unsafe { page.cast::<f32>().write(2.0) };
    pack.pointers[2] = page;
    let (graph, _) = bench.graph_of(&mut pack);
    let executable = bench.instantiate(graph);
    unsafe { libc::munmap(page, 4096) };
    bench.run(executable);
    assert_eq!(bench.gpu.found("graph_arguments"), 1);
    assert!(
        bench.gpu.messages().contains("argument 2"),
        "{}",
        bench.gpu.messages()
    );
}

#[test]
fn nodes_are_set_in_executables_and_not_in_flight() {
    let bench = bench("devices=gfx1100;delay_us=1000000");
    let mut pack = bench.arguments(2.0);
    let (graph, node) = bench.graph_of(&mut pack);
    let executable = bench.instantiate(graph);
    let mut other = bench.arguments(10.0);
    let params = bench.node_params(&mut other);
    let set = || unsafe { hipGraphExecKernelNodeSetParams(executable, node, &raw const params) };
    ok(set());
    assert_eq!(bench.run(executable), 10.0);
    bench.gpu.clean();
    ok(unsafe { hipGraphLaunch(executable, bench.stream) });
    ok(set());
    assert_eq!(bench.gpu.found("graph_in_flight"), 1);
    sync(bench.stream);
}

#[test]
fn empty_nodes_and_changed_functions_are_refused() {
    let bench = bench("devices=gfx1100");
    let mut pack = bench.arguments(2.0);
    let (graph, _) = bench.graph_of(&mut pack);
    let executable = bench.instantiate(graph);
    let mut node = NULL;
    let mut params = bench.node_params(&mut pack);
    params.grid[1] = 0;
    let code =
        unsafe { hipGraphAddKernelNode(&raw mut node, graph, NULL.cast(), 0, &raw const params) };
    assert_eq!(code, 9);
    assert!(bench.gpu.messages().contains("empty launch"));
    let module = load("gfx1100");
    let mut words = pack_words(bench.block);
    let mut params = bench.node_params(&mut words);
    params.function = function(module, "reverse");
    let mut other = NULL;
    ok(unsafe { hipGraphCreate(&raw mut other, 0) });
    ok(unsafe { hipGraphAddKernelNode(&raw mut node, other, NULL.cast(), 0, &raw const params) });
    let mut result: c_int = -1;
    let code = unsafe { hipGraphExecUpdate(executable, other, NULL.cast(), &raw mut result) };
    assert_eq!((code, result), (910, 4));
    assert_eq!(bench.run(executable), 2.0);
}

fn pack_words(block: Handle) -> Pack {
    pack(&[&address(block)])
}

#[test]
fn child_graphs_are_not_refreshed_by_an_update() {
    let bench = bench("devices=gfx1100");
    let (mut old, mut new) = (bench.arguments(2.0), bench.arguments(3.0));
    let mut parents = Vec::new();
    for pack in [&mut old, &mut new] {
        let (child, _) = bench.graph_of(pack);
        let (mut graph, mut node) = (NULL, NULL);
        ok(unsafe { hipGraphCreate(&raw mut graph, 0) });
        ok(unsafe { hipGraphAddChildGraphNode(&raw mut node, graph, NULL.cast(), 0, child) });
        parents.push(graph);
    }
    let executable = bench.instantiate(parents[0]);
    let mut result: c_int = -1;
    ok(unsafe { hipGraphExecUpdate(executable, parents[1], NULL.cast(), &raw mut result) });
    assert_eq!(result, 0);
    assert_eq!(bench.run(executable), 2.0, "HIP runs the old arguments");
    assert_eq!(bench.gpu.found("child_graph_not_refreshed"), 1);
}

#[test]
fn captured_kernels_keep_copies_of_their_arguments() {
    let bench = bench("devices=gfx1100");
    ok(unsafe { hipStreamBeginCapture(bench.stream, 0) });
    for factor in [2.0f32, 3.0] {
        let values: [&[u8]; 3] = [
            &address(bench.block),
            &16u32.to_ne_bytes(),
            &factor.to_ne_bytes(),
        ];
        ok(launch(bench.scale, 1, 64, bench.stream, &values));
    }
    let mut graph = NULL;
    ok(unsafe { hipStreamEndCapture(bench.stream, &raw mut graph) });
    let executable = bench.instantiate(graph);
    assert_eq!(bench.run(executable), 6.0);
    assert_eq!(bench.run(executable), 36.0);
    bench.gpu.clean();
}

#[test]
fn a_wrong_replay_differs_from_the_direct_launch_in_one_bit() {
    let bench = bench("devices=gfx1100");
    let mut pack = bench.arguments(2.0);
    let (graph, _) = bench.graph_of(&mut pack);
    let executable = bench.instantiate(graph);
    bench.gpu.fault("graph_wrong");
    ok(unsafe { hipGraphLaunch(executable, bench.stream) });
    sync(bench.stream);
    let seen = get(bench.block, 64);
    assert_eq!(differing_bits(&seen, 2.0), 1);
    // Also where the replay writes what was there before.
    let mut one = bench.arguments(1.0);
    let (graph, _) = bench.graph_of(&mut one);
    put(bench.block, &floats(&[1.0; 16]));
    let executable = bench.instantiate(graph);
    ok(unsafe { hipGraphLaunch(executable, bench.stream) });
    sync(bench.stream);
    assert_eq!(differing_bits(&get(bench.block, 64), 1.0), 1);
    bench.gpu.clean();
}

fn differing_bits(seen: &[u8], expected: f32) -> u32 {
    let expected = floats(&[expected; 16]);
    seen.iter()
        .zip(expected)
        .map(|(a, b)| (a ^ b).count_ones())
        .sum()
}
