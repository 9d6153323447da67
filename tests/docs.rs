//! What the documents say: programs in them work, and files that they and comments name exist.

#[path = "support/cc.rs"]
mod cc;
#[path = "support/gpu_env.rs"]
mod gpu_env;
#[path = "support/random_model.rs"]
mod random_model;

use cc::{C_WARNINGS, command, finish, library_folder, root, scratch, stdout, succeed};
use mlxrocm::formats::ScalarType;
use random_model::{Spec, Storage};
use std::path::{Path, PathBuf};
use std::time::Duration;

fn read(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).unwrap_or_else(|e| panic!("{file}: {e}"))
}

/// The README's program, compiled.
fn readme_program() -> PathBuf {
    let text = read("README.md");
    let (_, after) = text
        .split_once("```c\n#include <mlxrocm.h>")
        .expect("a program");
    let (code, _) = after.split_once("```").expect("its end");
    let source = scratch().join("readme.c");
    std::fs::write(&source, format!("#include <mlxrocm.h>{code}")).unwrap();
    let program = scratch().join("readme_program");
    let folder = library_folder();
    let mut gcc = command("gcc", &["-std=c11", "-O1"]);
    gcc.args(C_WARNINGS)
        .arg(format!("-I{}", root().join("include").display()))
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .arg(format!("-L{}", folder.display()))
        .arg(format!("-Wl,-rpath,{}", folder.display()))
        .arg("-lmlxrocm");
    succeed(&mut gcc);
    program
}

fn answer(program: &Path, model: &Path) -> (Option<i32>, String, String) {
    let mut run = command(program, &[model.to_str().unwrap(), "Hello"]);
    let output = finish(gpu_env::none(&mut run), "", Duration::from_secs(60));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), stdout(&output), said)
}

#[test]
fn the_program_of_the_readme_answers_and_reports_failures() {
    let program = readme_program();
    let spec = Spec::new("readme", "llama", Storage::Dense(ScalarType::F32));
    let model = spec.write(scratch());
    let (status, text, said) = answer(&program, &model);
    assert_eq!(status, Some(0), "{said}");
    assert!(!text.is_empty());
    // No file.
    let (status, _, said) = answer(&program, Path::new("/no/such/file"));
    assert_eq!(status, Some(1));
    assert!(said.contains("/no/such/file"), "{said}");
    // A model that loads, but whose numbers are none: the generation fails, not a call.
    let weights = model.join("model.safetensors");
    let mut bytes = std::fs::read(&weights).unwrap();
    let start = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    for number in bytes[start..].chunks_exact_mut(4) {
        number.copy_from_slice(&f32::NAN.to_le_bytes());
    }
    std::fs::write(&weights, bytes).unwrap();
    let (status, _, said) = answer(&program, &model);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("NaN"), "{said}");
}

/// Text files of the project.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_symlink() || name.starts_with('.') || name == "target" || name == "corpus" {
            continue;
        }
        if path.is_dir() {
            files(&path, found);
        } else if [
            ".md", ".sh", ".rs", ".toml", ".c", ".h", ".hpp", ".cpp", ".py", ".hip", ".in",
            "Makefile",
        ]
        .iter()
        .any(|end| name.ends_with(end))
        {
            found.push(path);
        }
    }
}

/// The paths from the project's folder that a text names.
fn named(text: &str) -> Vec<&str> {
    let is_path = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    let rooms = [
        "src/",
        "tests/",
        "docs/",
        "c_examples/",
        "include/",
        "build/",
        "hip/",
    ];
    let ends = [
        ".rs", ".sh", ".c", ".h", ".hpp", ".cpp", ".md", ".py", ".tsv", ".hip", ".toml", ".map",
        ".json",
    ];
    let mut found = Vec::new();
    for room in rooms {
        for (at, _) in text.match_indices(room) {
            let before = text[..at].chars().next_back();
            if before.is_some_and(|c| is_path(c) || "{}$)@<>".contains(c)) {
                continue; // a part of a longer path
            }
            let length = text[at..].find(|c| !is_path(c)).unwrap_or(text.len() - at);
            let path = text[at..at + length].trim_end_matches(['.', '/']);
            let after = text[at + length..].chars().next();
            if ends.iter().any(|end| path.ends_with(end))
                && !after.is_some_and(|c| "{*<$%".contains(c))
            {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn files_that_are_named_exist() {
    let mut all = Vec::new();
    files(root(), &mut all);
    let (mut missing, mut count) = (Vec::new(), 0);
    for file in all {
        let text = std::fs::read_to_string(&file).unwrap();
        let own = file.strip_prefix(root()).unwrap();
        if own.starts_with("tests/docs.rs") {
            continue;
        }
        // HIP's own headers are in a folder of that name.
        for path in named(&text)
            .into_iter()
            .filter(|path| !path.starts_with("hip/hip_"))
        {
            count += 1;
            // From the project's folder, or from the one of the workspace's other members.
            let bases = [
                root().to_path_buf(),
                root().join("tests/softgpu"),
                root().join("tests/fuzz"),
            ];
            let here = file.parent().unwrap().join(path);
            if !here.exists() && bases.iter().all(|base| !base.join(path).exists()) {
                missing.push(format!("{}: {path}", own.display()));
            }
        }
    }
    assert!(count > 100, "{count} paths found");
    assert!(missing.is_empty(), "{missing:#?}");
}

/// `make bench-cpu` writes its table into the file that has a place for it.
#[test]
fn the_benchmark_writes_where_its_table_is() {
    let script = read("tests/bench/cpu.sh");
    let (_, after) = script.split_once("--report ").expect("where it writes");
    let report = read(after.split_whitespace().next().unwrap());
    for mark in ["<!-- bench-cpu:begin -->", "<!-- bench-cpu:end -->"] {
        assert!(report.contains(mark) && read("tests/bench/cpu.py").contains(mark));
        assert!(!read("README.md").contains(mark));
    }
}
