//! What is compared, and what not.

use crate::{Set, chain, gpu, graphs_of, graphs_of_a_run, links, log_lines, set};
use mlxrocm::gpu::{DeviceBuffer, Program, ProgramMode};

/// A device whose graphs were found right, by a trial and a program of 12 launches.
fn trusted(gpu: &gpu::Gpu) -> Set {
    gpu.fault("direct_slow=500");
    let set = set(gpu);
    assert_eq!(graphs_of_a_run(gpu, &set, 12), 6);
    let verdict = set.device.graph_verdict().expect("a verdict");
    assert_eq!(verdict.mode(), ProgramMode::Graph);
    set
}

/// Whether the next run finds the program's graph right, three replays or one.
fn is_right(gpu: &gpu::Gpu, set: &Set, program: &Program) -> bool {
    let graphs = graphs_of(gpu, set, program);
    let verdict = set.device.graph_verdict().unwrap();
    assert_eq!(graphs, if verdict.right { 3 } else { 1 });
    verdict.right
}

/// The first 64 numbers.
fn first(set: &Set, buffer: &DeviceBuffer) -> Vec<u32> {
    let mut bytes = [0; 256];
    set.stream.copy_to_host(buffer, 0, &mut bytes).unwrap();
    gpu::words_of(&bytes)
}

fn bytes(set: &Set, buffer: &DeviceBuffer) -> Vec<u8> {
    gpu::bytes_of(&gpu::values(&set.stream, buffer))
}

/// Parts of odd lengths at odd offsets: each replay flips a bit in the first, the last and some other byte of each.
#[test]
fn a_wrong_byte_of_an_odd_part_is_found() {
    let parts = [(3, 4999), (5, 70)];
    let wrong = [(0, 0), (0, 4998), (1, 13), (1, 69)];
    for wrong in std::iter::once(None).chain(wrong.map(Some)) {
        let gpu = gpu::soft("devices=gfx1151;integrated=0");
        let set = trusted(&gpu);
        let buffers = [0, 1].map(|_| gpu::filled(&set.device, &set.stream, &[0; 2000]));
        let (part, at) = wrong.unwrap_or((0, 1));
        let program = set.device.record(|encoder| {
            for value in 1..=4 {
                for (buffer, (start, len)) in buffers.iter().zip(parts) {
                    encoder.fill(buffer, start, len, value)?;
                }
            }
            // The last one's first byte is what a wrong replay flips.
            encoder.fill(&buffers[part], parts[part].0 + at, 1, 9)
        });
        if wrong.is_some() {
            gpu.fault("graph_wrong");
        }
        assert_eq!(is_right(&gpu, &set, &program.unwrap()), wrong.is_none());
        for (i, (start, len)) in parts.into_iter().enumerate() {
            let value = |byte| match byte {
                _ if i == part && byte == start + at => 9,
                _ if (start..start + len).contains(&byte) => 4,
                _ => 0,
            };
            let expected: Vec<u8> = (0..8000).map(value).collect();
            assert!(bytes(&set, &buffers[i]) == expected, "{wrong:?} {i}");
        }
        drop((buffers, set));
        gpu.no_leaks();
    }
}

/// More than 256 MiB, of which the last byte is wrong: found, and the copies' memory is the driver's again.
#[test]
fn programs_that_write_much_are_compared() {
    let gpu = gpu::soft("devices=gfx1151;integrated=0;checks=0");
    let set = trusted(&gpu);
    let len = (256 << 20) + 4099;
    let large = set.device.alloc(len).unwrap();
    set.stream.fill(&large, 0, len, 0).unwrap();
    let program = set.device.record(|encoder| {
        links(encoder, &set.kernel, &large, 8)?;
        // The last one's first byte is what a wrong replay flips.
        encoder.fill(&large, len - 1, 1, 7)
    });
    let before = set.device.memory().unwrap();
    gpu.fault("graph_wrong");
    assert!(!is_right(&gpu, &set, &program.unwrap()));
    let after = set.device.memory().unwrap();
    assert!(
        after.peak > 3 * len && after.cache <= before.cache,
        "{after:?}"
    );
    let mut last = [0; 2];
    set.stream.copy_to_host(&large, len - 2, &mut last).unwrap();
    assert_eq!(last, [0, 7]);
    drop((large, set));
    gpu.clean();
    gpu.no_leaks();
}

/// Too little room for the copies, or a driver that has none: the log says so, and the verdict stays.
#[test]
fn programs_whose_copies_find_no_memory_are_not_compared() {
    let gpu = gpu::soft("devices=gfx1151;integrated=0");
    let set = trusted(&gpu);
    // What is not in the first 64 numbers was never written, and is compared all the same.
    let large = set.device.alloc(5 << 20).unwrap();
    let start = gpu::bytes_of(&[1; 64]);
    set.stream.copy_to_device(&large, 0, &start).unwrap();
    let mut value = 1;
    let mut run = |count| {
        let lines = log_lines::capture();
        let program = chain(&set.device, &set.kernel, &large, count);
        let graphs = graphs_of(&gpu, &set, &program);
        value = (0..count).fold(value, |v, k| gpu::mix(v, v, v, k));
        assert_eq!(first(&set, &large), [value; 64]);
        (graphs, lines.infos())
    };
    let said = |lines: &[String], why: &str| {
        let needs = "is not compared with its graph, which takes two copies of the 5242880 bytes";
        matches!(lines, [line] if line.contains(needs) && line.contains(why))
    };
    let memory = set.device.memory().unwrap();
    set.device
        .set_memory_limit(memory.active + (19 << 20))
        .unwrap();
    let (graphs, lines) = run(13);
    assert!(graphs == 1 && said(&lines, "more than half"), "{lines:?}");
    set.device.set_memory_limit(memory.limit).unwrap();
    gpu.fault("alloc@2+");
    let (graphs, lines) = run(14);
    assert!(graphs == 1 && said(&lines, "are not free"), "{lines:?}");
    gpu.fault("none");
    assert_eq!(run(15), (3, vec![]));
    drop((large, set));
    gpu.clean();
    gpu.no_leaks();
}

/// A direct run that is not like the others: nothing is to be learned from the program.
#[test]
fn programs_that_vary_judge_nothing() {
    let gpu = gpu::soft("devices=gfx1151;integrated=0");
    let set = trusted(&gpu);
    let verdict = set.device.graph_verdict();
    // In the last launch of the first run; the second run's result stands.
    gpu.fault("wrong@13");
    assert_eq!(graphs_of_a_run(&gpu, &set, 13), 0);
    // In the last launch of the third run, behind the comparison of the second.
    gpu.fault("wrong@43");
    let program = chain(&set.device, &set.kernel, &set.buffer, 14);
    assert_eq!(graphs_of(&gpu, &set, &program), 0);
    assert_eq!(set.device.graph_verdict(), verdict);
    assert_eq!(graphs_of_a_run(&gpu, &set, 15), 3);
    drop((program, set));
    gpu.no_leaks();
}
