//! Chips that no build lists and that are of other generations than those of the list: no dot products, no matrix
//! unit. Every source compiles for them, and which kernels they lack is known.

use crate::steps::todays;
use crate::world::World;
use mlxrocm::gpu::kernels::Registry;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::{Command, Stdio};

const ARCHS: [&str; 3] = ["gfx906", "gfx1010", "gfx1034"];

/// Whether such a chip has the kernel: those of NVIDIA alone, of CDNA, and of matrix units it lacks.
fn is_there(name: &str, arch: &str) -> bool {
    const OTHERS: [&str; 26] = [
        "_warpgroup_",
        "_attention_warps_",
        "_attention_paged_warps_",
        "_experts_routed",
        "_experts_tiles_",
        "_matmul_route_",
        "_matmul_cluster_",
        "_matmul_tiles_",
        "_route_sort",
        "_product_left_",
        "_product_parts_",
        "_product_split",
        "_codes_16_rows_",
        "_codes_32_rows_",
        "_codes_64_rows_",
        "_warps_codes_",
        "_reduce_thin_",
        "_chain_long_",
        "_network_pair",
        "_scores_warps",
        "_operand_places",
        "_experts_places",
        "_matmul_wide_",
        "_delta_keys_",
        "_delta_chunks_",
        "_delta_states_",
    ];
    // RDNA 1 and 2 have too few registers for it.
    let too_wide = arch.starts_with("gfx10") && name == "mlxrocm_array_attention_tiles_128_bf16";
    !too_wide && !OTHERS.iter().any(|kind| name.contains(kind))
}

/// Compiles today's share of the sources for one of the chips.
pub fn every_source(world: &World) {
    let day = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs() / 86_400;
    let all = std::env::var("MLXROCM_TEST_ALL").is_ok_and(|all| all == "1");
    for (_, arch) in (0..)
        .zip(ARCHS)
        .filter(|(turn, _)| all || turn % 3 == day % 3)
    {
        let said = world.run(&format!("part {arch}"), &[]);
        let names = todays();
        assert!(!names.is_empty());
        for (line, name) in said.lines().zip(&names) {
            assert_eq!(line, format!("{name} Some({})", is_there(name, arch)));
        }
        assert_eq!(said.lines().count(), names.len(), "{said}");
    }
}

/// What of all sources the preprocessor leaves for each of the chips: every day, as it takes seconds.
pub fn all_known(_: &World) {
    let mut sources: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for name in Registry::names() {
        let source = Registry::source(name).unwrap();
        sources.entry(source).or_default().push(name);
    }
    assert!(sources.len() > 100);
    let mut wrong = Vec::new();
    for (source, names) in sources {
        let text = Registry::text(names[0]).unwrap();
        for arch in ARCHS {
            let left = preprocessed(text, arch);
            let words: BTreeSet<&str> = left
                .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .collect();
            for name in &names {
                if words.contains(name) != is_there(name, arch) {
                    wrong.push(format!(
                        "{name} of {source} on {arch}: {}",
                        !is_there(name, arch)
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn preprocessed(text: &str, arch: &str) -> String {
    let mut child = Command::new("clang++-19")
        .args([
            "-x",
            "hip",
            "--offload-device-only",
            "-nogpuinc",
            "-nogpulib",
            "-std=c++17",
        ])
        .args([&format!("--offload-arch={arch}"), "-E", "-P", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("clang++-19");
    let mut input = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || input.write_all(text.as_bytes()).unwrap());
        child.wait_with_output().unwrap()
    });
    assert!(output.status.success(), "{arch}");
    String::from_utf8(output.stdout).unwrap()
}
