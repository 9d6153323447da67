//! The command as it is installed.

use crate::cc::{command, root, stdout, succeed};
use crate::{install, release};
use std::path::Path;

/// The command as installed: it finds the library beside it in the tree, wherever that is, and is
/// built as distributions want it.
#[test]
fn the_command_is_installed() {
    let stage = install("command", &["PREFIX=/opt/mlxrocm"]);
    let opt = stage.join("opt/mlxrocm");
    let own = |path: &str| std::fs::read(root().join("command").join(path)).unwrap();
    for (installed, source) in [
        ("share/man/man1/mlxrocm.1", "mlxrocm.1"),
        (
            "share/bash-completion/completions/mlxrocm",
            "completions/bash",
        ),
        ("share/zsh/site-functions/_mlxrocm", "completions/zsh"),
        (
            "share/fish/vendor_completions.d/mlxrocm.fish",
            "completions/fish",
        ),
    ] {
        assert_eq!(std::fs::read(opt.join(installed)).unwrap(), own(source));
    }
    let overview = std::fs::read(opt.join("share/man/man7/mlxrocm.7")).unwrap();
    assert_eq!(
        overview,
        std::fs::read(root().join("docs/mlxrocm.7")).unwrap()
    );
    let program = opt.join("bin/mlxrocm");
    let version = env!("CARGO_PKG_VERSION");
    let mut run = command(&program, &["--version"]);
    let said = stdout(&succeed(run.env_remove("LD_LIBRARY_PATH")));
    let first = format!("mlxrocm {version} (library {version})\n");
    assert!(said.starts_with(&first), "{said}");
    let elf = stdout(&succeed(command("readelf", &["-hldW"]).arg(&program)));
    for needed in ["DYN (", "GNU_RELRO", "BIND_NOW", "[$ORIGIN:$ORIGIN/../lib]"] {
        assert!(elf.contains(needed), "no {needed}: {elf}");
    }
    if cfg!(target_arch = "x86_64") {
        has_control_flow_protection(&program);
    }
    let bytes = std::fs::read(&program).unwrap();
    let folders = [root().to_path_buf(), release().to_path_buf()];
    for folder in folders.iter().map(|folder| folder.to_str().unwrap()) {
        let found = bytes
            .windows(folder.len())
            .any(|part| part == folder.as_bytes());
        assert!(!found, "{folder} is in the program");
    }
}

/// The program's functions begin with `endbr64`. The linker marks a program (IBT, SHSTK) only where all its parts are
/// so, also the C library's start: Debian's is not, Ubuntu's is.
fn has_control_flow_protection(program: &Path) {
    let code = stdout(&succeed(command("objdump", &["-d"]).arg(program)));
    let marks = code.matches("endbr64").count();
    // The compiler's own start has two or three.
    assert!(marks > 20, "{marks} endbr64 in {}", program.display());
    let is_marked = |file: &Path| {
        let notes = stdout(&succeed(command("readelf", &["-nW"]).arg(file)));
        notes.contains("IBT") && notes.contains("SHSTK")
    };
    let start = stdout(&succeed(&mut command("gcc", &["-print-file-name=Scrt1.o"])));
    if is_marked(Path::new(start.trim())) {
        assert!(is_marked(program), "{} is not marked", program.display());
    }
}
