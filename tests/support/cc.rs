//! Compiles C and C++ programs against the library of this very build, and runs them.
#![allow(dead_code, unused_imports)] // each test program uses a part

#[path = "demo_model.rs"]
mod demo_model;

pub use demo_model::demo_model;
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Warnings that C programs must compile without.
pub const C_WARNINGS: &[&str] = &["-Wall", "-Wextra", "-Wpedantic", "-Werror"];

/// The project's folder.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The shared library. Cargo builds it together with the `rlib` that the tests link, so it is
/// always of the same sources.
pub fn library() -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    let library = test.with_file_name("libmlxrocm.so");
    assert!(library.is_file(), "{} is missing", library.display());
    library
}

/// A folder of this test program for what it makes.
pub fn scratch() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let test = std::env::current_exe().expect("the path of this test");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test.file_name().unwrap());
        std::fs::create_dir_all(&folder).expect("a folder for scratch files");
        folder
    })
}

/// A folder with the library under the names that the linker and the loader look for.
pub fn library_folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = scratch().join("lib");
        std::fs::create_dir_all(&folder).expect("a folder for the library");
        for name in ["libmlxrocm.so", "libmlxrocm.so.0"] {
            let link = folder.join(name);
            let _ = std::fs::remove_file(&link);
            std::os::unix::fs::symlink(library(), &link).expect("a link to the library");
        }
        folder
    })
}

/// Whether a program can be found.
pub fn exists(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join(program).is_file()))
}

/// The program's output; fails the test with everything it said unless it succeeds.
pub fn succeed(command: &mut Command) -> Output {
    let output = finish(command, "", Duration::from_secs(240));
    assert!(
        output.status.success(),
        "{command:?}: {}\n--- stdout\n{}\n--- stderr\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// Runs a program with `input` on stdin; kills it and fails the test after `limit`.
pub fn finish(command: &mut Command, input: &str, limit: Duration) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("{command:?}: {e}"));
    // A program that ends before it reads is no failure here.
    let _ = child
        .stdin
        .take()
        .expect("stdin")
        .write_all(input.as_bytes());
    let mut stdout = child.stdout.take().expect("stdout");
    let mut stderr = child.stderr.take().expect("stderr");
    let out = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stdout.read_to_end(&mut bytes).map(|_| bytes)
    });
    let err = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stderr.read_to_end(&mut bytes).map(|_| bytes)
    });
    let start = Instant::now();
    let (status, late) = loop {
        if let Some(status) = child.try_wait().expect("wait") {
            break (status, false);
        }
        if start.elapsed() > limit {
            let _ = child.kill();
            break (child.wait().expect("wait"), true);
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let output = Output {
        status,
        stdout: out.join().expect("stdout").expect("stdout"),
        stderr: err.join().expect("stderr").expect("stderr"),
    };
    assert!(
        !late,
        "{command:?} did not end within {limit:?}\n--- stdout\n{}\n--- stderr\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// Compiles `source` (relative to the project) to the program `name`, against this build's library.
pub fn compile(compiler: &str, source: &str, flags: &[&str], name: &str) -> PathBuf {
    compile_all(compiler, &[root().join(source)], flags, name)
}

/// The same of several sources.
pub fn compile_all(compiler: &str, sources: &[PathBuf], flags: &[&str], name: &str) -> PathBuf {
    // Renamed when it is whole: another test may run a program of this name right now.
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let made = scratch().join(format!("{name}.{}", COUNT.fetch_add(1, Ordering::Relaxed)));
    let program = scratch().join(name);
    let folder = library_folder();
    succeed(
        Command::new(compiler)
            .args(flags)
            .arg("-I")
            .arg(root().join("include"))
            .arg("-o")
            .arg(&made)
            .args(sources)
            .arg("-L")
            .arg(folder)
            .arg(format!("-Wl,-rpath,{}", folder.display()))
            .args(["-lmlxrocm", "-lpthread", "-lm"]),
    );
    std::fs::rename(&made, &program).expect("rename the program");
    program
}

/// Compiles an example as the Makefile does.
pub fn example(name: &str) -> PathBuf {
    let mut flags = C_WARNINGS.to_vec();
    if name.starts_with("cpp/") {
        flags.extend(["-std=c++17", "-O1"]);
        let source = format!("c_examples/{name}.cpp");
        compile("g++", &source, &flags, &name.replace('/', "_"))
    } else {
        flags.extend(["-std=c11", "-O1"]);
        compile("gcc", &format!("c_examples/{name}.c"), &flags, name)
    }
}

/// What a program wrote to stdout.
pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("stdout is UTF-8")
}

/// A command with `arguments`.
pub fn command(program: impl AsRef<OsStr>, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    // What a script starts in the background has SIGINT ignored, and its children, too.
    let heed_interrupts = || {
        // SAFETY: between fork and exec this may be called.
        unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
        Ok(())
    };
    // SAFETY: as above.
    unsafe { command.pre_exec(heed_interrupts) };
    command
}
