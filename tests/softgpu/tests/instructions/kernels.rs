//! The instructions in the project's own kernels, compiled.

use crate::completeness::Pairs;
use crate::harness::TARGETS;
use softgpu::isa::testing::mnemonics;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

const HOUR: Duration = Duration::from_secs(3600);

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

/// The project's kernels as its last build has left them beside the tests, if it did, and their targets.
fn built() -> Vec<(Vec<u8>, &'static str)> {
    let program = std::env::current_exe().expect("the path of this test");
    // <target>/<profile>/deps/<program>
    let store = program
        .ancestors()
        .nth(3)
        .map(|target| target.join("kernel-objects"));
    let entries = store.and_then(|store| std::fs::read_dir(store).ok());
    let objects = entries.into_iter().flatten().flatten();
    let objects = objects.filter(|entry| entry.path().extension().is_some_and(|e| e == "o"));
    let objects: Vec<_> = objects
        .filter_map(|entry| Some((entry.path(), entry.metadata().ok()?.modified().ok()?)))
        .collect();
    // A build marks what it uses; older objects are of other sources.
    let newest = objects.iter().map(|(_, time)| *time).max();
    let is_new = |time: SystemTime| newest.is_some_and(|newest| time + HOUR >= newest);
    let objects = objects.into_iter().filter(|(_, time)| is_new(*time));
    objects
        .filter_map(|(path, _)| {
            let bytes = std::fs::read(path).ok()?;
            let target = target_of(&bytes)?;
            Some((bytes, target))
        })
        .collect()
}

/// The target that a code object names in its metadata.
fn target_of(object: &[u8]) -> Option<&'static str> {
    const BEFORE: &[u8] = b"amdgcn-amd-amdhsa--";
    let at = object
        .windows(BEFORE.len())
        .position(|window| window == BEFORE)?;
    let name: Vec<u8> = object[at + BEFORE.len()..]
        .iter()
        .copied()
        .take_while(u8::is_ascii_alphanumeric)
        .collect();
    TARGETS.into_iter().find(|target| target.as_bytes() == name)
}

/// What compiled kernels hold: those of the tests, and the project's as they were built, else compiled here.
pub fn compiled() -> Pairs {
    let built = built();
    let is_built = |path: &Path| !built.is_empty() && path.starts_with(root().join("hip"));
    let jobs: Vec<(PathBuf, &str)> = kernels()
        .into_iter()
        .filter(|(path, _)| !is_built(path))
        .flat_map(|(path, targets)| targets.into_iter().map(move |t| (path.clone(), t)))
        .collect();
    let (next, pairs) = (AtomicUsize::new(0), Mutex::new(Pairs::new()));
    let add = |object: &[u8], target: &'static str| {
        let names = mnemonics(object).expect("a disassembly");
        let found = names.into_iter().map(|name| (target, name));
        pairs.lock().expect("no panic").extend(found);
    };
    std::thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if let Some((object, target)) = built.get(number) {
                        add(object, target);
                    } else if let Some((path, target)) = jobs.get(number - built.len()) {
                        add(&compile(path, target), target);
                    } else {
                        break;
                    }
                }
            });
        }
    });
    pairs.into_inner().expect("no panic")
}
