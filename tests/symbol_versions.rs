//! Symbol versions with every linker: the build script's part that sees to them, in a package of one
//! function, which is built in a second.

#[path = "support/cc.rs"]
mod cc;

use cc::{command, exists, finish, root, scratch, stdout, succeed};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

/// A package with the project's `build/symbol_versions.rs`.
fn package(name: &str) -> PathBuf {
    let folder = scratch().join(name);
    let _ = std::fs::remove_dir_all(&folder);
    for part in ["src", "build", "include", "other/src"] {
        std::fs::create_dir_all(folder.join(part)).unwrap();
    }
    for file in ["build/symbol_versions.rs", "include/mlxrocm.map"] {
        std::fs::copy(root().join(file), folder.join(file)).unwrap();
    }
    let write = |file: &str, text: &str| std::fs::write(folder.join(file), text).unwrap();
    write(
        "Cargo.toml",
        "[workspace]\n[package]\nname = \"mlxrocm\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
         [lib]\ncrate-type = [\"cdylib\"]\n[dependencies]\nother = { path = \"other\" }\n",
    );
    // A package with a function for C of its own, which is not this library's.
    write(
        "other/Cargo.toml",
        "[package]\nname = \"other\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
    );
    write(
        "other/src/lib.rs",
        "#[unsafe(no_mangle)]\npub extern \"C\" fn other_answer() -> i32 { 42 }\n",
    );
    write(
        "build.rs",
        "#[path = \"build/symbol_versions.rs\"]\nmod symbol_versions;\n\
         fn main() {\n    if let Err(message) = symbol_versions::configure() {\n        \
         for line in message.lines() { println!(\"cargo::error={line}\"); }\n        \
         std::process::exit(1);\n    }\n}\n\
         fn variable(name: &str) -> String { std::env::var(name).unwrap_or_default() }\n",
    );
    write(
        "src/lib.rs",
        "#[unsafe(no_mangle)]\npub extern \"C\" fn mlxrocm_answer() -> i32 { other::other_answer() }\n\
         #[cfg(mlxrocm_symbol_versions)]\ncore::arch::global_asm!(\n    \
         \".symver mlxrocm_answer, mlxrocm_answer@@@MLXROCM_0.1\");\n",
    );
    folder
}

fn build(package: &Path, flags: &str) -> Output {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["build", "--offline", "--manifest-path"])
        .arg(package.join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", package.join("target"))
        .env("RUSTFLAGS", flags)
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("CARGO_BUILD_TARGET");
    finish(&mut cargo, "", Duration::from_secs(120))
}

fn is_versioned(name: &str, flags: &str) {
    let package = package(name);
    let output = build(&package, flags);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{flags}: {said}");
    let library = package.join("target/debug/libmlxrocm.so");
    let library = library.to_str().unwrap();
    let symbols = stdout(&succeed(&mut command(
        "nm",
        &["-D", "--defined-only", "--with-symbol-versions", library],
    )));
    let functions: Vec<&str> = symbols
        .lines()
        .filter_map(|line| line.split_once(" T ").map(|(_, name)| name))
        .collect();
    assert_eq!(functions, ["mlxrocm_answer@@MLXROCM_0.1"], "{flags}");
    let dynamic = stdout(&succeed(&mut command("readelf", &["-dW", library])));
    assert!(dynamic.contains("[libmlxrocm.so.0]"), "{flags}: {dynamic}");
}

#[test]
fn the_default_linker_gives_versions() {
    is_versioned("default", "");
}

#[test]
fn gnu_ld_gives_versions() {
    assert!(exists("ld.bfd"), "ld.bfd is needed for the tests");
    is_versioned("bfd", "-Clink-arg=-fuse-ld=bfd");
}

#[test]
fn lld_gives_versions() {
    is_versioned("lld", "-Clink-arg=-fuse-ld=lld");
}

#[test]
fn mold_gives_versions() {
    assert!(exists("mold"), "mold is needed for the tests");
    is_versioned("mold", "-Clink-arg=-fuse-ld=mold");
}

/// A linker that takes no version script at all: refused, not built without versions.
#[test]
fn a_linker_that_cannot_fails_the_build() {
    let package = package("unable");
    let linker = package.join("unable");
    std::fs::write(
        &linker,
        "#!/bin/sh\nfor argument do\n    shift\n    case $argument in\n        \
         *mlxrocm.map) continue ;;\n    esac\n    set -- \"$@\" \"$argument\"\ndone\n\
         exec cc \"$@\"\n",
    )
    .unwrap();
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(&linker, std::fs::Permissions::from_mode(0o755)).unwrap();
    let output = build(&package, &format!("-Clinker={}", linker.display()));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("GNU ld, lld or mold"), "{said}");
}
