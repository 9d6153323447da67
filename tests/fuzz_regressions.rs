//! The inputs of the fuzz targets, without a fuzzer: the seeds, and every input that once failed
//! (`tests/fuzz/regressions`, minimised). Each passes through the same body in bounded heap and
//! processor time.

#[path = "support/fuzz_bodies.rs"]
mod fuzz_bodies;

use fuzz_bodies::{MAX_INPUT, TARGETS, run};
use std::path::{Path, PathBuf};

#[global_allocator]
static ALLOCATOR: fuzz_bodies::counting_allocator::CountingAllocator =
    fuzz_bodies::counting_allocator::CountingAllocator;

/// The files of a target, sorted.
fn inputs(kind: &str, target: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz");
    let Ok(entries) = std::fs::read_dir(root.join(kind).join(target)) else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Runs an input; says how it failed.
fn failure(body: fn(&[u8]), file: &Path) -> Option<String> {
    let input = std::fs::read(file).unwrap();
    assert!(input.len() <= MAX_INPUT, "{}", file.display());
    let result = std::panic::catch_unwind(|| run(body, &input));
    result
        .err()
        .map(|_| format!("{}: panicked", file.display()))
}

#[test]
fn inputs_that_once_failed_pass() {
    let mut failures = Vec::new();
    for (target, body) in TARGETS {
        let seeds = inputs("seeds", target);
        assert!(!seeds.is_empty(), "no seeds of {target}");
        for file in seeds.iter().chain(&inputs("regressions", target)) {
            failures.extend(failure(body, file));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
