//! Graphs on probation: used where they are right and faster, and only there.

mod compare;
mod faults;
#[path = "../support/gpu.rs"]
mod gpu;
#[path = "../support/log_lines.rs"]
mod log_lines;

use mlxrocm::Result;
use mlxrocm::gpu::{
    Args, Device, DeviceBuffer, Encoder, GraphPolicy, Kernel, Program, ProgramMode, Stream,
};
use std::sync::Arc;

/// Records `count` launches that change `buffer` at each run.
fn links(encoder: &mut Encoder, kernel: &Kernel, buffer: &DeviceBuffer, count: u32) -> Result<()> {
    for k in 0..count {
        let args = Args::new()
            .buffer("target", buffer, 0)
            .buffer("a", buffer, 0);
        let args = args.buffer("b", buffer, 0).u32("n", 64).u32("k", k);
        let ranges = [buffer.whole()];
        encoder.launch(kernel, [1, 1, 1], [64, 1, 1], 0, args, &ranges, &ranges)?;
    }
    Ok(())
}

/// A program of them.
fn chain(device: &Arc<Device>, kernel: &Kernel, buffer: &DeviceBuffer, count: u32) -> Program {
    let recorded = device.record(|encoder| links(encoder, kernel, buffer, count));
    recorded.unwrap()
}

fn expected(runs: u32, count: u32) -> Vec<u32> {
    let mut value = 1_u32;
    for _ in 0..runs {
        value = (0..count).fold(value, |v, k| gpu::mix(v, v, v, k));
    }
    vec![value; 64]
}

struct Set {
    device: Arc<Device>,
    stream: Stream,
    kernel: Kernel,
    buffer: DeviceBuffer,
}

fn set(gpu: &gpu::Gpu) -> Set {
    let device = gpu.device();
    let stream = device.stream().unwrap();
    Set {
        kernel: gpu::mix_kernel(&device),
        buffer: gpu::filled(&device, &stream, &[1; 64]),
        device,
        stream,
    }
}

/// Runs a program thrice under a fault; the mode of the verdict, which every run obeys.
fn judged(fault: &str) -> (ProgramMode, bool) {
    let gpu = gpu::soft("devices=gfx1151;integrated=0");
    let set = set(&gpu);
    let program = chain(&set.device, &set.kernel, &set.buffer, 12);
    assert_eq!(set.device.graph_verdict(), None);
    gpu.fault(fault);
    program.run(&set.stream).unwrap();
    // The comparison leaves the state of exactly one run.
    assert_eq!(
        gpu::values(&set.stream, &set.buffer),
        expected(1, 12),
        "{fault}"
    );
    let verdict = set.device.graph_verdict().expect("a verdict");
    let before = gpu.calls("hipGraphLaunch");
    gpu.fault("none");
    program.run(&set.stream).unwrap();
    program.run(&set.stream).unwrap();
    let launches = gpu.calls("hipGraphLaunch") - before;
    assert_eq!(
        launches,
        if verdict.mode() == ProgramMode::Graph {
            2
        } else {
            0
        }
    );
    assert_eq!(
        gpu::values(&set.stream, &set.buffer),
        expected(3, 12),
        "{fault}"
    );
    drop((program, set));
    gpu.no_leaks();
    (verdict.mode(), verdict.right)
}

#[test]
fn right_and_faster_graphs_are_used() {
    assert_eq!(judged("direct_slow=2000"), (ProgramMode::Graph, true));
}

#[test]
fn slower_graphs_are_not_used() {
    assert_eq!(judged("graph_slow=200"), (ProgramMode::Direct, true));
}

#[test]
fn wrong_graphs_are_not_used_however_fast() {
    assert_eq!(
        judged("graph_wrong;direct_slow=2000"),
        (ProgramMode::Direct, false)
    );
}

/// How many graphs a program's run launches.
fn graphs_of(gpu: &gpu::Gpu, set: &Set, program: &Program) -> u64 {
    let before = gpu.calls("hipGraphLaunch");
    program.run(&set.stream).unwrap();
    gpu.calls("hipGraphLaunch") - before
}

/// How many graphs a run of a new program of `count` launches launches, the result compared.
fn graphs_of_a_run(gpu: &gpu::Gpu, set: &Set, count: u32) -> u64 {
    let reset = gpu::bytes_of(&[1; 64]);
    set.stream.copy_to_device(&set.buffer, 0, &reset).unwrap();
    let program = chain(&set.device, &set.kernel, &set.buffer, count);
    let graphs = graphs_of(gpu, set, &program);
    assert_eq!(gpu::values(&set.stream, &set.buffer), expected(1, count));
    graphs
}

/// The first three programs are compared themselves (three replays, and three of the trial), later ones only if they
/// are longer; also by another process.
#[test]
fn later_programs_are_compared_too() {
    let gpu = gpu::soft("devices=gfx1151;integrated=0");
    gpu.fault("direct_slow=2000");
    let first = set(&gpu);
    assert_eq!(graphs_of_a_run(&gpu, &first, 12), 6);
    assert_eq!(graphs_of_a_run(&gpu, &first, 14), 3);
    assert_eq!(graphs_of_a_run(&gpu, &first, 12), 1);
    drop(first);
    let second = set(&gpu);
    assert_eq!(graphs_of_a_run(&gpu, &second, 14), 1);
    assert_eq!(graphs_of_a_run(&gpu, &second, 10), 3);
    assert_eq!(graphs_of_a_run(&gpu, &second, 13), 1);
    assert_eq!(graphs_of_a_run(&gpu, &second, 15), 3);
    drop(second);
    gpu.no_leaks();
}

/// A driver whose graphs are wrong from some program on.
#[test]
fn a_later_program_whose_graph_is_wrong_ends_graphs() {
    let gpu = gpu::soft("devices=gfx1151;integrated=0");
    gpu.fault("direct_slow=2000");
    let set = set(&gpu);
    assert_eq!(graphs_of_a_run(&gpu, &set, 12), 6);
    gpu.fault("graph_wrong;direct_slow=2000");
    assert_eq!(graphs_of_a_run(&gpu, &set, 13), 1);
    let verdict = set.device.graph_verdict().unwrap();
    assert_eq!(
        (verdict.right, verdict.mode()),
        (false, ProgramMode::Direct)
    );
    assert_eq!(graphs_of_a_run(&gpu, &set, 14), 0);
    drop(set);
    gpu.no_leaks();
}

/// A program that is longer than the trial gets one of its length.
#[test]
fn the_trial_is_as_long_as_the_longest_program() {
    let gpu = gpu::soft("devices=gfx1151;integrated=0");
    gpu.fault("direct_slow=500");
    let set = set(&gpu);
    let launches = |count| {
        let before = gpu.calls("hipModuleLaunchKernel");
        let graphs = graphs_of_a_run(&gpu, &set, count);
        (gpu.calls("hipModuleLaunchKernel") - before, graphs)
    };
    // Direct runs of the trial and of the program; all runs but the first are compared, by a launch for each buffer
    // that is written.
    let comparisons = |buffers: u64| 5 * buffers;
    assert_eq!(launches(12), (3 * (320 + 12) + comparisons(3 + 1), 6));
    assert_eq!(launches(13), (3 * 13 + comparisons(1), 3));
    assert_eq!(launches(400), (3 * (400 + 400) + comparisons(3 + 1), 6));
    drop(set);
    gpu.no_leaks();
}

#[test]
fn a_driver_that_builds_no_graph_runs_directly() {
    let gpu = gpu::soft("devices=gfx1151;integrated=0");
    let set = set(&gpu);
    let program = chain(&set.device, &set.kernel, &set.buffer, 12);
    gpu.fault("graph@1+");
    program.run(&set.stream).unwrap();
    assert_eq!(
        set.device.graph_verdict().unwrap().mode(),
        ProgramMode::Direct
    );
    program.run_as(&set.stream, ProgramMode::Graph).unwrap();
    assert_eq!(gpu.calls("hipGraphLaunch"), 0);
    assert_eq!(gpu::values(&set.stream, &set.buffer), expected(2, 12));
    gpu.fault("none");
    drop((program, set));
    gpu.clean();
    gpu.no_leaks();
}

#[test]
fn a_verdict_is_kept_for_later_processes_and_a_damaged_one_is_found_again() {
    let gpu = gpu::soft("devices=gfx1151;integrated=0");
    gpu.fault("direct_slow=2000");
    let first = set(&gpu);
    let program = chain(&first.device, &first.kernel, &first.buffer, 12);
    program.run(&first.stream).unwrap();
    let verdict = first.device.graph_verdict();
    drop((program, first));
    let folder = gpu.cache().join("mlxrocm/graphs");
    let files = || -> Vec<_> {
        let entries = std::fs::read_dir(&folder).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    assert_eq!(files().len(), 1, "{:?}", files());
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&files()[0])), (0o700, 0o600));
    // A device that is opened again (another process) reads it, and compares nothing.
    let second = set(&gpu);
    assert_eq!(second.device.graph_verdict(), verdict);
    let before = gpu.calls("hipModuleLaunchKernel");
    let program = chain(&second.device, &second.kernel, &second.buffer, 12);
    program.run(&second.stream).unwrap();
    second.stream.wait(gpu::PATIENCE).unwrap();
    assert_eq!(gpu.calls("hipModuleLaunchKernel"), before);
    drop((program, second));
    // Damaged: as if it were not there.
    std::fs::write(&files()[0], "mlxrocm graphs 1\nnonsense").unwrap();
    let third = set(&gpu);
    assert_eq!(third.device.graph_verdict(), None);
    let program = chain(&third.device, &third.kernel, &third.buffer, 12);
    program.run(&third.stream).unwrap();
    assert_eq!(
        third.device.graph_verdict().unwrap().mode(),
        ProgramMode::Graph
    );
    drop((program, third));
    gpu.no_leaks();
}

/// Where nothing can be written, the verdict lasts as long as the device.
#[test]
fn a_home_that_cannot_be_written_is_no_error() {
    let gpu = gpu::soft("devices=gfx1151;integrated=0");
    let set = set(&gpu);
    // A file where the folder would be: no permission stops root.
    std::fs::create_dir_all(gpu.cache().join("mlxrocm")).unwrap();
    std::fs::write(gpu.cache().join("mlxrocm/graphs"), "").unwrap();
    let program = chain(&set.device, &set.kernel, &set.buffer, 12);
    gpu.fault("direct_slow=2000");
    program.run(&set.stream).unwrap();
    let mode = set.device.graph_verdict().unwrap().mode();
    assert_eq!(mode, ProgramMode::Graph);
    assert_eq!(gpu::values(&set.stream, &set.buffer), expected(1, 12));
}

#[test]
fn the_setting_overrides_the_verdict() {
    let gpu = gpu::soft("devices=gfx1151;integrated=0");
    let set = set(&gpu);
    let program = chain(&set.device, &set.kernel, &set.buffer, 12);
    assert_eq!(set.device.graph_policy(), GraphPolicy::Auto);
    set.device.set_graph_policy(GraphPolicy::On);
    program.run(&set.stream).unwrap();
    assert_eq!(
        (gpu.calls("hipGraphLaunch"), set.device.graph_verdict()),
        (1, None)
    );
    set.device.set_graph_policy(GraphPolicy::Off);
    program.run(&set.stream).unwrap();
    assert_eq!(
        (gpu.calls("hipGraphLaunch"), set.device.graph_verdict()),
        (1, None)
    );
    assert_eq!(gpu::values(&set.stream, &set.buffer), expected(2, 12));
}

/// A short program leaves the question open; one that does not say what it writes is not compared
/// itself, but the trial is.
#[test]
fn programs_that_cannot_be_compared_are_judged_by_the_trial() {
    let gpu = gpu::soft("devices=gfx1151;integrated=0");
    let set = set(&gpu);
    let short = chain(&set.device, &set.kernel, &set.buffer, 3);
    gpu.fault("direct_slow=2000");
    short.run(&set.stream).unwrap();
    let launched = gpu.calls("hipGraphLaunch");
    assert_eq!((set.device.graph_verdict(), launched), (None, 0));
    let silent = set
        .device
        .record(|encoder| {
            for k in 0..12 {
                let buffer = &set.buffer;
                let args = Args::new()
                    .buffer("target", buffer, 0)
                    .buffer("a", buffer, 0);
                let args = args.buffer("b", buffer, 0).u32("n", 64).u32("k", k);
                encoder.launch(&set.kernel, [1, 1, 1], [64, 1, 1], 0, args, &[], &[])?;
            }
            Ok(())
        })
        .unwrap();
    silent.run(&set.stream).unwrap();
    let verdict = set.device.graph_verdict().unwrap();
    assert_eq!((verdict.right, verdict.mode()), (true, ProgramMode::Graph));
    let mut value = (0..3).fold(1, |v, k| gpu::mix(v, v, v, k));
    value = (0..12).fold(value, |v, k| gpu::mix(v, v, v, k));
    assert_eq!(gpu::values(&set.stream, &set.buffer), [value; 64]);
    drop((short, silent, set));
    gpu.no_leaks();
}
