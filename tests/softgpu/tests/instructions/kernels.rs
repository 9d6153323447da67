//! The instructions in the project's own kernels, compiled.

use crate::completeness::Pairs;
use crate::harness::TARGETS;
use softgpu::isa::testing::mnemonics;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Device code of the project, and the targets it is compiled for here. The quantised products take seconds
/// each and differ only in the width of their numbers: one for each family.
fn kernels() -> Vec<(PathBuf, Vec<&'static str>)> {
    let mut files = Vec::new();
    let mut folders = vec![root().join("hip/ops"), root().join("tests")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("kernels") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "hip") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
        .into_iter()
        .map(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let forms = ["rows_q", "experts_q", "experts_block_q", "block_q"];
            let bits = forms.into_iter().find_map(|form| name.strip_prefix(form));
            let targets = match (bits, name.starts_with("block")) {
                (None, _) | (Some("4"), true) => TARGETS.to_vec(),
                (Some("4"), _) => vec!["gfx1100"],
                (Some("5"), _) => vec!["gfx1201"],
                (Some("8"), _) => vec!["gfx942"],
                (Some("6"), true) => vec!["gfx90a"],
                (Some("3"), true) => vec!["gfx1151"],
                (Some("2"), true) => vec!["gfx1030"],
                (Some(_), _) => Vec::new(),
            };
            (path, targets)
        })
        .collect()
}

fn compile(path: &Path, target: &str) -> Vec<u8> {
    let clang = std::env::var("SOFTGPU_CLANG").unwrap_or_else(|_| "clang++-19".into());
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("softgpu-names-{}-{number}.co", std::process::id());
    let out = std::env::temp_dir().join(name);
    let output = Command::new(&clang)
        .args([
            "-std=c++17",
            "-O3",
            "-nostdinc",
            "-ffp-contract=fast",
            "-x",
            "hip",
        ])
        .args([
            "--offload-device-only",
            "--no-gpu-bundle-output",
            "-nogpulib",
            "-nogpuinc",
        ])
        .args([
            "-Wno-unused-command-line-argument",
            "-mcode-object-version=5",
        ])
        .arg(format!("--offload-arch={target}"))
        .arg("-I")
        .arg(root().join("hip"))
        .arg(path)
        .arg("-o")
        .arg(&out)
        .output()
        .unwrap_or_else(|e| panic!("cannot run {clang}: {e}; install clang-19 and lld-19"));
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{} for {target}: {messages}",
        path.display()
    );
    let bytes = std::fs::read(&out).expect("the code object");
    let _ = std::fs::remove_file(&out);
    bytes
}

/// What compiled kernels hold.
pub fn compiled() -> Pairs {
    let jobs: Vec<(PathBuf, &str)> = kernels()
        .into_iter()
        .flat_map(|(path, targets)| targets.into_iter().map(move |t| (path.clone(), t)))
        .collect();
    let (next, pairs) = (AtomicUsize::new(0), Mutex::new(Pairs::new()));
    std::thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                while let Some((path, target)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let names = mnemonics(&compile(path, target)).expect("a disassembly");
                    let found = names.into_iter().map(|name| (*target, name));
                    pairs.lock().expect("no panic").extend(found);
                }
            });
        }
    });
    pairs.into_inner().expect("no panic")
}
