//! `make install`: what a distribution packages. A program is built with the installed files only,
//! as pkg-config says, also after the tree was moved.

#[path = "support/cc.rs"]
mod cc;

use cc::{command, exists, library, root, scratch, stdout, succeed};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs `make install` of this build's library into an empty folder.
fn install(name: &str, variables: &[&str]) -> PathBuf {
    let stage = scratch().join(name);
    let _ = std::fs::remove_dir_all(&stage);
    let mut make = command("make", &["-s", "-C", root().to_str().unwrap(), "install"]);
    make.args(variables)
        .arg(format!("DESTDIR={}", stage.display()))
        .arg(format!("RELEASE={}", library().parent().unwrap().display()));
    // Flags of a `make test` around this do not belong here.
    make.env_remove("MAKEFLAGS")
        .env_remove("MAKELEVEL")
        .env_remove("MFLAGS");
    succeed(&mut make);
    stage
}

/// The value of a field of a .pc file with its variables replaced, as pkg-config does it.
fn parse(file: &Path, field: &str) -> String {
    let text = std::fs::read_to_string(file).unwrap();
    let mut variables = vec![(
        "pcfiledir".to_string(),
        file.parent().unwrap().display().to_string(),
    )];
    let replace = |text: &str, variables: &[(String, String)]| {
        variables
            .iter()
            .fold(text.to_string(), |text, (name, value)| {
                text.replace(&format!("${{{name}}}"), value)
            })
    };
    for line in text.lines() {
        if let Some((name, value)) = line.split_once('=').filter(|(name, _)| !name.contains(':')) {
            let value = replace(value, &variables);
            variables.push((name.trim().to_string(), value));
        } else if let Some(value) = line.strip_prefix(&format!("{field}:")) {
            return replace(value.trim(), &variables);
        }
    }
    panic!("no {field} in {}", file.display())
}

/// Compiler flags for the installed library.
fn flags(pc: &Path) -> Vec<String> {
    let parsed = format!("{} {}", parse(pc, "Cflags"), parse(pc, "Libs"));
    let parsed: Vec<String> = parsed.split_whitespace().map(str::to_string).collect();
    if exists("pkg-config") {
        let mut pkg_config = command("pkg-config", &["--cflags", "--libs", "mlxrocm"]);
        let said = succeed(pkg_config.env("PKG_CONFIG_PATH", pc.parent().unwrap()));
        let said: Vec<String> = stdout(&said)
            .split_whitespace()
            .map(str::to_string)
            .collect();
        assert_eq!(said, parsed);
    }
    parsed
}

/// Builds 01_version against the installed tree and runs it.
fn build_and_run(name: &str, pc: &Path, libdir: &Path) {
    let program = scratch().join(format!("01_version_{name}"));
    let source = root().join("c_examples/01_version.c");
    succeed(
        Command::new("gcc")
            .arg(&source)
            .args(["-std=c11", "-o"])
            .arg(&program)
            .args(flags(pc)),
    );
    let mut run = command(&program, &[]);
    let said = stdout(&succeed(run.env("LD_LIBRARY_PATH", libdir)));
    assert!(
        said.starts_with(&format!("library {}", env!("CARGO_PKG_VERSION"))),
        "{said}"
    );
}

fn check(name: &str, stage: &Path, libdir: &str, includedir: &str) {
    let version = env!("CARGO_PKG_VERSION");
    let (lib, include) = (stage.join(libdir), stage.join(includedir));
    for name in ["mlxrocm.h", "mlxrocm.hpp"] {
        let (installed, own) = (include.join(name), root().join("include").join(name));
        assert_eq!(
            std::fs::read(installed).unwrap(),
            std::fs::read(own).unwrap()
        );
    }
    let link = |name: &str| std::fs::read_link(lib.join(name)).unwrap();
    assert!(lib.join(format!("libmlxrocm.so.{version}")).is_file());
    assert_eq!(
        link("libmlxrocm.so.0"),
        Path::new(&format!("libmlxrocm.so.{version}"))
    );
    assert_eq!(link("libmlxrocm.so"), Path::new("libmlxrocm.so.0"));
    let pc = lib.join("pkgconfig/mlxrocm.pc");
    assert_eq!(parse(&pc, "Version"), version);
    let text = std::fs::read_to_string(&pc).unwrap();
    assert!(
        !text.contains(stage.to_str().unwrap()) && !text.contains('@'),
        "{text}"
    );
    build_and_run(name, &pc, &lib);
}

#[test]
fn installed_files_are_enough_and_may_be_moved() {
    let stage = install("default", &[]);
    check("default", &stage, "usr/local/lib", "usr/local/include");
    let moved = scratch().join("moved");
    let _ = std::fs::remove_dir_all(&moved);
    std::fs::rename(stage.join("usr/local"), &moved).unwrap();
    build_and_run(
        "moved",
        &moved.join("lib/pkgconfig/mlxrocm.pc"),
        &moved.join("lib"),
    );
}

#[test]
fn distributions_choose_the_folders() {
    let stage = install(
        "debian",
        &["PREFIX=/usr", "LIBDIR=/usr/lib/x86_64-linux-gnu"],
    );
    check("debian", &stage, "usr/lib/x86_64-linux-gnu", "usr/include");
}

#[test]
fn the_static_library_links() {
    let stage = install("static", &["PREFIX=/opt/mlxrocm"]);
    let lib = stage.join("opt/mlxrocm/lib");
    let private = parse(&lib.join("pkgconfig/mlxrocm.pc"), "Libs.private");
    let program = scratch().join("static_01_version");
    succeed(
        Command::new("gcc")
            .arg(root().join("c_examples/01_version.c"))
            .args(["-std=c11", "-o"])
            .arg(&program)
            .arg("-I")
            .arg(stage.join("opt/mlxrocm/include"))
            .arg(lib.join("libmlxrocm.a"))
            .args(private.split_whitespace()),
    );
    assert!(stdout(&succeed(&mut command(&program, &[]))).starts_with("library "));
}
