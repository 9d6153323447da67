//! The command `mlxrocm`: compiled as a user's C program is, and run on small models and on the demo
//! model, with pipes, files and a terminal.

#![allow(clippy::duplicate_mod)] // models of two kinds are written by the same helpers

mod chat;
mod facts;
mod generate;
mod measures;
mod options;
#[path = "../support/plain_llama.rs"]
mod plain_llama;
mod quantize;
mod terminal;

#[path = "../support/cc.rs"]
mod cc;
#[path = "../support/gpu_env.rs"]
mod gpu_env;
#[path = "../support/random_model.rs"]
mod random_model;

use cc::{C_WARNINGS, command, compile_all, finish, root, scratch};
use plain_llama::PlainLlama;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

/// The program.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let sources: Vec<PathBuf> = sources("c");
        let compiler = std::env::var("CC").unwrap_or_else(|_| "gcc".into());
        let mut flags = C_WARNINGS.to_vec();
        flags.extend(["-std=c11", "-O1", "-Wshadow", "-Wconversion"]);
        compile_all(&compiler, &sources, &flags, "mlxrocm")
    })
}

/// Its files of a kind.
fn sources(extension: &str) -> Vec<PathBuf> {
    let files = std::fs::read_dir(root().join("command")).unwrap();
    let files = files.map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// The program on a machine without GPUs, with no environment that changes what it writes.
fn mlxrocm(arguments: &[&str]) -> Command {
    let mut command = command(program(), arguments);
    gpu_env::none(&mut command);
    for name in ["NO_COLOR", "MLXROCM_LOG"] {
        command.env_remove(name);
    }
    command
}

/// What a run of the program gave.
struct Said {
    status: Option<i32>,
    out: String,
    errors: String,
}

fn run_with(command: &mut Command, input: &str) -> Said {
    let output = finish(command, input, Duration::from_secs(200));
    Said {
        status: output.status.code(),
        out: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
        errors: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
    }
}

fn run(arguments: &[&str], input: &str) -> Said {
    run_with(&mut mlxrocm(arguments), input)
}

/// A run that must succeed; gives what it wrote to stdout.
fn succeed(arguments: &[&str], input: &str) -> String {
    let said = run(arguments, input);
    assert_eq!(said.status, Some(0), "{arguments:?}: {}", said.errors);
    said.out
}

/// A run that must fail with this status; gives what it wrote to stderr, which must have `why`.
fn refused(status: i32, arguments: &[&str], input: &str, why: &str) {
    let said = run(arguments, input);
    assert_eq!(
        said.status,
        Some(status),
        "{arguments:?}: {}{}",
        said.out,
        said.errors
    );
    assert!(said.errors.contains(why), "{arguments:?}: {}", said.errors);
}

/// A model of random weights whose tokens are bytes; it has a chat template.
fn plain_model() -> (&'static PlainLlama, &'static str) {
    static MODEL: OnceLock<(PlainLlama, String)> = OnceLock::new();
    let (model, path) = MODEL.get_or_init(|| {
        let model = PlainLlama::new(16, 16);
        let path = model.write(scratch());
        (model, path.to_str().unwrap().to_owned())
    });
    (model, path)
}

fn demo_model() -> String {
    cc::demo_model().to_str().unwrap().to_owned()
}

#[test]
fn files_are_small() {
    for path in sources("c").iter().chain(&sources("h")) {
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.lines().count() <= 350, "{}", path.display());
        let longest = text.lines().map(str::len).max().unwrap();
        assert!(longest <= 120, "{}: {longest} columns", path.display());
    }
}
