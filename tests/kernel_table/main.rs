//! Static gates: what the compiler made of every kernel for every target.
//!
//! Each embedded code object is read with LLVM's tools (registers, local memory and so on from its
//! notes, instructions from its disassembly) and compared with `tests/golden/kernels.tsv`.
//! `MLXROCM_BLESS=1` rewrites the table. Scratch memory and spilled registers are never accepted.
//! The table's numbers hold for the compiler in its first line; with another one, only what holds
//! for every compiler is checked: no scratch, no spills, and the instructions that matter. They hold for the source whose
//! hash is in the last column: whoever changes a kernel writes its rows of the targets that were built, and those of the
//! others go until somebody builds them.

mod fences;
mod inspect;
#[path = "../support/kernel_source.rs"]
mod kernel_source;
mod local_memory;
mod occupancy;

use inspect::Row;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The targets that a build without `MLXROCM_GPU_TARGETS` must have with clang 19.
const DEFAULT: [&str; 17] = [
    "gfx90a",
    "gfx942",
    "gfx1030",
    "gfx1100",
    "gfx1101",
    "gfx1102",
    "gfx1103",
    "gfx1150",
    "gfx1151",
    "gfx1152",
    "gfx1200",
    "gfx1201",
    "gfx10-3-generic",
    "gfx11-generic",
    "gfx12-generic",
    "sm_90",
    "sm_90a",
];

const HEAD: &str =
    "kernel\ttarget\tvgprs\tagprs\tsgprs\tlds\tscratch\tspills\toccupancy\tloads128\tunits\tsource";

/// Where the last of several blocks adds up.
const REDUCING: [&str; 5] = [
    "mlxrocm_argmax",
    "mlxrocm_attention_paged",
    "mlxrocm_attention_wide",
    "mlxrocm_attention_widest",
    "mlxrocm_matmul_block",
];

fn path() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/kernels.tsv")
}

fn line_of(row: &Row) -> String {
    format!("{}\t{}", row.line(), kernel_source::hash(&row.kernel))
}

/// Whether a line of the table is of a kernel's source as it is now.
fn is_current(kernel: &str, line: &str) -> bool {
    line.rsplit('\t').next() == Some(&kernel_source::hash(kernel))
}

/// The rows of all embedded code objects.
fn built() -> Vec<Row> {
    let objects = mlxrocm::gpu::kernels::built_in().unwrap();
    assert!(
        objects
            .iter()
            .any(|object| object.target.starts_with("gfx")),
        "the library was built without AMD code objects: install clang-19 and lld-19 (and do not \
         set MLXROCM_GPU_TARGETS=none)"
    );
    let next = std::sync::atomic::AtomicUsize::new(0);
    let rows = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(object) =
                    objects.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                {
                    let found = inspect::rows(object);
                    rows.lock().unwrap().extend(found);
                }
            });
        }
    });
    let mut rows = rows.into_inner().unwrap();
    rows.sort();
    rows
}

#[test]
fn every_kernel_is_as_the_table_says() {
    let rows = built();
    let bad: Vec<String> = rows
        .iter()
        .filter(|row| row.scratch != 0 || row.spills != 0)
        .map(Row::line)
        .collect();
    assert!(
        bad.is_empty(),
        "scratch memory or spilled registers:\n{HEAD}\n{}",
        bad.join("\n")
    );

    let unfenced: Vec<String> = rows
        .iter()
        .flat_map(|row| {
            let name = || format!("{} {}", row.kernel, row.target);
            row.fences
                .iter()
                .map(move |fault| format!("{}: {fault}", name()))
        })
        .collect();
    assert!(unfenced.is_empty(), "{}", unfenced.join("\n"));
    let amd: BTreeSet<&str> = rows.iter().map(|row| row.target.as_str()).collect();
    for target in amd.into_iter().filter(|target| target.starts_with("gfx")) {
        for kernel in REDUCING {
            let mut of = rows.iter().filter(|row| row.target == target);
            assert!(
                of.any(|row| row.reduces && row.kernel.starts_with(kernel)),
                "{target}: no atomic was recognised in {kernel}"
            );
        }
    }

    let compiler = mlxrocm::gpu::kernels::built_in_compiler();
    let old = std::fs::read_to_string(path()).unwrap_or_default();
    let table: BTreeMap<(String, String), &str> = old
        .lines()
        .skip(2)
        .filter_map(|line| Some((key(line)?, line)))
        .collect();
    let targets: BTreeSet<&str> = rows.iter().map(|row| row.target.as_str()).collect();
    let kernels: BTreeSet<&str> = mlxrocm::gpu::kernels::Registry::names().collect();
    if std::env::var_os("MLXROCM_BLESS").is_some() {
        // Targets that this build left out keep their rows, as long as the kernel is what it was.
        let kept = table.iter().filter(|((kernel, target), line)| {
            !targets.contains(target.as_str())
                && kernels.contains(kernel.as_str())
                && in_table(target)
                && is_current(kernel, line)
        });
        let mut lines: BTreeMap<(String, String), String> = kept
            .map(|(key, line)| (key.clone(), line.to_string()))
            .collect();
        lines.extend(
            rows.iter()
                .filter(|row| in_table(&row.target))
                .map(|row| ((row.kernel.clone(), row.target.clone()), line_of(row))),
        );
        let lines: Vec<String> = lines.into_values().collect();
        std::fs::write(
            path(),
            format!("# {compiler}\n{HEAD}\n{}\n", lines.join("\n")),
        )
        .unwrap();
        return;
    }
    let same_compiler = old.lines().next() == Some(&format!("# {compiler}"));
    let current = table.iter().filter(|((kernel, _), line)| {
        kernels.contains(kernel.as_str()) && is_current(kernel, line)
    });
    let known: BTreeSet<&str> = current.map(|((kernel, _), _)| kernel.as_str()).collect();
    let mut wrong = Vec::new();
    for row in rows.iter().filter(|row| in_table(&row.target)) {
        let key = (row.kernel.clone(), row.target.clone());
        let (line, old) = (line_of(row), table.get(&key));
        match old.filter(|old| is_current(&row.kernel, old)) {
            // Written where this target was not built.
            None if known.contains(row.kernel.as_str()) => {}
            None => wrong.push(match old {
                Some(old) => format!("was:  {old}\nis:   {line}"),
                None => format!("new:  {line}"),
            }),
            Some(old) if same_compiler && **old != line => {
                wrong.push(format!("was:  {old}\nis:   {line}"))
            }
            Some(old) => {
                if old.rsplit('\t').nth(1) != Some(&row.units) {
                    wrong.push(format!("was:  {old}\nis:   {line}"));
                }
            }
        }
    }
    let there: BTreeSet<(&str, &str)> = rows
        .iter()
        .map(|row| (row.kernel.as_str(), row.target.as_str()))
        .collect();
    for ((kernel, target), line) in &table {
        if targets.contains(target.as_str()) && !there.contains(&(kernel, target)) {
            wrong.push(format!("gone: {line}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "kernels changed; if that is meant, run this test with MLXROCM_BLESS=1 and commit \
         tests/golden/kernels.tsv\n{HEAD}\n{}",
        wrong.join("\n")
    );
}

#[test]
fn the_default_build_has_every_target() {
    if let Ok(chosen) = std::env::var("MLXROCM_GPU_TARGETS") {
        // A developer's build: what was chosen must be there.
        let targets = targets();
        for target in chosen
            .split([' ', ',', ';'])
            .filter(|target| !target.is_empty())
        {
            assert!(
                targets.contains(target),
                "{target} was asked for and is not there"
            );
        }
        return;
    }
    for target in DEFAULT {
        assert!(targets().contains(target), "{target} is missing");
    }
}

fn targets() -> BTreeSet<&'static str> {
    let objects = mlxrocm::gpu::kernels::built_in().unwrap();
    objects.iter().map(|object| object.target).collect()
}

/// Every source is compiled for every target that can run it, and no kernel is missing from the table of the nine
/// targets that the software GPU executes.
#[test]
fn every_source_is_there_for_every_target() {
    let objects = mlxrocm::gpu::kernels::built_in().unwrap();
    let sources: BTreeSet<&str> = objects.iter().map(|object| object.source).collect();
    for target in targets() {
        let here: BTreeSet<&str> = objects
            .iter()
            .filter(|object| object.target == target)
            .map(|object| object.source)
            .collect();
        let expected = sources.iter().copied();
        let expected: BTreeSet<&str> = expected.filter(|s| is_there(s, target)).collect();
        assert_eq!(here, expected, "{target}");
    }
}

/// Whether a source has kernels for a target.
fn is_there(source: &str, target: &str) -> bool {
    match source {
        // CDNA.
        source if source.starts_with("matmul/wide_") => target.starts_with("gfx9"),
        "attention/flash_warpgroup" | "network/pair" | "network/product_warpgroup" => {
            target == "sm_90a"
        }
        source if source.starts_with("matmul/warpgroup") => target == "sm_90a",
        source if source.starts_with("matmul/experts_warpgroup") => target == "sm_90a",
        source if source.starts_with("arrays/") && source.contains("_warpgroup") => {
            target == "sm_90a"
        }
        "recurrent/delta_keys" | "recurrent/delta_chunks" | "recurrent/delta_states" => {
            let units = ["gfx11", "gfx12", "gfx90a", "gfx94", "gfx95", "sm_90"];
            units.iter().any(|unit| target.starts_with(unit)) && target != "sm_90a"
        }
        "experts/route_sort" | "experts/places" => target == "sm_90",
        source if source.starts_with("matmul/route_") => target == "sm_90",
        source if source.starts_with("matmul/experts_routed_") => target == "sm_90",
        source if source.starts_with("matmul/experts_tiles_") => target == "sm_90",
        source if source.starts_with("matmul/cluster_") => target == "sm_90",
        "attention/paged_warps"
        | "network/attention_warps"
        | "network/scores_warps"
        | "arrays/attention_warps"
        | "arrays/product_codes_rows"
        | "arrays/product_one_warps" => target == "sm_90",
        _ if target == "sm_90a" => false,
        _ => true,
    }
}

/// Whether a target's numbers are in the table: those of the targets that are executed, here or on an NVIDIA card.
/// The others' kernels may use no scratch memory and spill nothing, like all.
fn in_table(target: &str) -> bool {
    const EXECUTED: [&str; 11] = [
        "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1103", "gfx1150", "gfx1151", "gfx1200",
        "gfx1201", "sm_90", "sm_90a",
    ];
    EXECUTED.contains(&target)
}

fn key(line: &str) -> Option<(String, String)> {
    let mut cells = line.split('\t');
    Some((cells.next()?.to_owned(), cells.next()?.to_owned()))
}
