//! The C API from C: each program of `tests/c` runs plainly, under the sanitizers of gcc, and under
//! valgrind, on a small random model.

// Both of the modules that write models bring what they write with.
#![allow(clippy::duplicate_mod)]

#[path = "support/cc.rs"]
mod cc;
#[path = "support/golden_family.rs"]
mod golden_family;
#[path = "support/gpu_env.rs"]
mod gpu_env;
#[path = "support/random_model.rs"]
mod random_model;

use cc::{C_WARNINGS, command, finish, scratch, stdout, succeed};
use mlxrocm::formats::Format;
use random_model::{Spec, Storage};
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

/// A model that loads in no time and whose text means nothing.
fn model() -> &'static Path {
    static MODEL: OnceLock<std::path::PathBuf> = OnceLock::new();
    MODEL.get_or_init(|| {
        let mut spec = Spec::new("capi.gguf", "llama", Storage::Gguf(3, Format::Q8_0));
        spec.tied = true;
        let path = spec.write(scratch());
        // A tokenizer that is worth a warning (api_callbacks looks for it).
        let mut bytes = std::fs::read(&path).unwrap();
        let key = b"tokenizer.ggml.pre";
        let at = bytes.windows(key.len()).position(|part| part == key);
        let value = &mut bytes[at.unwrap()..][key.len() + 12..][..5];
        assert_eq!(value, b"gpt-2");
        value.copy_from_slice(b"gpt-?");
        std::fs::write(&path, bytes).unwrap();
        path
    })
}

/// One with attention and recurrent layers.
fn recurrent() -> &'static str {
    static MODEL: OnceLock<String> = OnceLock::new();
    MODEL.get_or_init(|| {
        let jamba = include_str!("golden/families/jamba.json");
        let folder = scratch().join("jamba");
        std::fs::create_dir_all(&folder).unwrap();
        golden_family::write(&folder, &golden_family::variants(jamba)["plain"]);
        golden_family::tiny_tokenizer::write_files(&folder);
        folder.to_str().unwrap().to_string()
    })
}

fn run(command: &mut Command, limit: u64) {
    // Vendors' libraries leak by themselves; the engine group has tests of its own.
    let output = finish(gpu_env::none(command), "", Duration::from_secs(limit));
    let said = String::from_utf8_lossy(&output.stderr);
    let (start, _) = said.char_indices().nth(6000).unwrap_or((said.len(), ' '));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}",
        output.status,
        &said[..start]
    );
}

fn plainly(name: &str, arguments: &[&str]) {
    let mut flags = C_WARNINGS.to_vec();
    flags.extend(["-std=gnu11", "-O1", "-g"]);
    let program = cc::compile("gcc", &format!("tests/c/{name}.c"), &flags, name);
    run(
        command(program, &[model().to_str().unwrap()]).args(arguments),
        120,
    );
}

fn sanitized(name: &str, arguments: &[&str]) {
    let mut flags = C_WARNINGS.to_vec();
    flags.extend([
        "-std=gnu11",
        "-O1",
        "-g",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
    ]);
    let program = cc::compile(
        "gcc",
        &format!("tests/c/{name}.c"),
        &flags,
        &format!("{name}_sanitized"),
    );
    let symbols = stdout(&succeed(Command::new("nm").arg(&program)));
    for needed in ["__asan_init", "__ubsan_handle"] {
        assert!(
            symbols.contains(needed),
            "{name} is not sanitized: no {needed}"
        );
    }
    let mut command = command(program, &[model().to_str().unwrap()]);
    command.args(arguments).env(
        "ASAN_OPTIONS",
        // Freed memory that is kept for a while is no growth.
        "detect_leaks=1:detect_stack_use_after_return=1:quarantine_size_mb=4",
    );
    run(&mut command, 180);
}

fn under_valgrind(name: &str, arguments: &[&str]) {
    assert!(
        cc::exists("valgrind"),
        "valgrind is needed: `make test` installs it as root"
    );
    let program = cc::compile(
        "gcc",
        &format!("tests/c/{name}.c"),
        &["-std=gnu11", "-O1", "-g"],
        &format!("{name}_valgrind"),
    );
    let mut command = command(
        "valgrind",
        &[
            "--quiet",
            "--num-callers=30",
            "--error-exitcode=99",
            "--leak-check=full",
            "--errors-for-leak-kinds=definite,indirect,possible",
            "--fair-sched=yes",
        ],
    );
    let suppressions = cc::root().join("tests/c/valgrind.supp");
    command.arg(format!("--suppressions={}", suppressions.display()));
    run(command.arg(program).arg(model()).args(arguments), 400);
}

/// A chess network with several heads.
const CHESS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/golden/chess/multihead.pb.gz"
);

/// Where files may be written.
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

macro_rules! programs {
    ($($name:ident { $($mode:ident $arguments:expr;)* })*) => {$(
        mod $name {
            $(
                #[test]
                fn $mode() {
                    super::$mode(stringify!($name), &$arguments);
                }
            )*
        }
    )*};
}

programs! {
    api_null { plainly []; sanitized []; under_valgrind []; }
    api_buffers { plainly []; sanitized []; under_valgrind []; }
    api_callbacks { plainly []; sanitized []; under_valgrind []; }
    api_texts { plainly []; sanitized []; under_valgrind []; }
    api_order { plainly []; sanitized []; under_valgrind ["11"]; }
    api_chess { plainly [super::CHESS]; sanitized [super::CHESS]; under_valgrind [super::CHESS]; }
    api_arrays { plainly [super::FOLDER]; sanitized [super::FOLDER]; under_valgrind [super::FOLDER]; }
    api_files { plainly [super::FOLDER]; sanitized [super::FOLDER]; under_valgrind [super::FOLDER]; }
    api_evaluate { plainly []; sanitized []; under_valgrind []; }
    api_generate { plainly []; sanitized []; under_valgrind []; }
    api_speculation { plainly []; sanitized []; under_valgrind []; }
    api_state {
        plainly [super::recurrent()];
        sanitized [super::recurrent()];
        under_valgrind [super::recurrent()];
    }
    api_wait { plainly []; sanitized []; under_valgrind []; }
    api_processor { plainly []; sanitized []; under_valgrind []; }
    api_grammar { plainly []; sanitized []; under_valgrind []; }
    api_random { plainly ["1", "4000"]; sanitized ["2", "2000"]; under_valgrind ["3", "150"]; }
    soak { plainly ["5", "0", "1"]; sanitized ["5", "0", "2"]; }
}

#[test]
fn random_calls_with_other_seeds() {
    for seed in 10..16 {
        plainly("api_random", &[&seed.to_string(), "1500"]);
    }
}

#[test]
fn every_program_runs_here() {
    let source = include_str!("capi.rs");
    for entry in std::fs::read_dir(cc::root().join("tests/c")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(program) = name.strip_suffix(".c") else {
            continue;
        };
        let elsewhere =
            ["api_dlopen", "api_layout"].contains(&program) || program.starts_with("gpu_");
        assert!(
            elsewhere || source.contains(&format!("\n    {program} {{")),
            "tests/c/{name} is not run by tests/capi.rs"
        );
    }
}

#[test]
fn the_cpp_wrapper_does_what_the_c_functions_do() {
    let mut flags = C_WARNINGS.to_vec();
    flags.extend([
        "-std=c++17",
        "-O1",
        "-g",
        "-Wshadow",
        "-Wconversion",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
    ]);
    let program = cc::compile("g++", "tests/c/api_wrapper.cpp", &flags, "api_wrapper");
    run(&mut command(program, &[model().to_str().unwrap()]), 120);
}
