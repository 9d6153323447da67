//! The static library, and programs that are linked with it.

use crate::cc::{command, finish, library, scratch, stdout, succeed};
use crate::random_model::{Spec, Storage};
use crate::{TEXTS, build, gpu_env, install, pkg_config};
use mlxrocm::formats::Format;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Functions of the program that the library's own parts have too.
const COLLIDING: &str = "
#include <mlxrocm.h>
#include <stdio.h>
int ZSTD_decompress(void), ZSTD_isError(void), rust_eh_personality(void);
int ZSTD_decompress(void) { return 1; }
int ZSTD_isError(void) { return 2; }
int rust_eh_personality(void) { return 4; }
int main(void) {
    printf(\"%s %d\\n\", mlxrocm_version_string(0), ZSTD_decompress() + ZSTD_isError() + rust_eh_personality());
    return 0;
}
";

#[test]
fn only_the_interface_is_global_in_the_static_library() {
    let stage = install("static", &["PREFIX=/opt/mlxrocm"]);
    let lib = stage.join("opt/mlxrocm/lib");
    let archive = lib.join("libmlxrocm.a");
    let names = stdout(&succeed(&mut command(
        "nm",
        &["-g", "--defined-only", archive.to_str().unwrap()],
    )));
    let mut names: Vec<&str> = names
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2))
        .collect();
    names.sort_unstable();
    let exported = stdout(&succeed(&mut command(
        "nm",
        &["-D", "--defined-only", library().to_str().unwrap()],
    )));
    let mut exported: Vec<&str> = exported
        .lines()
        .filter_map(|line| line.split_once(" T ").map(|(_, name)| name))
        .map(|name| name.split('@').next().unwrap())
        .collect();
    exported.sort_unstable();
    assert_eq!(names, exported);
    // Into a program with functions of the same names, and into a library without version nodes.
    let source = scratch().join("colliding.c");
    std::fs::write(&source, COLLIDING).unwrap();
    for (name, kind) in [("colliding", "-pie"), ("colliding.so", "-shared")] {
        let program = scratch().join(name);
        succeed(
            Command::new("gcc")
                .args(["-std=c11", "-fPIC", kind, "-Wl,-z,defs", "-I"])
                .arg(stage.join("opt/mlxrocm/include"))
                .arg(&source)
                .arg("-o")
                .arg(&program)
                .arg(&archive)
                .args(["-lpthread", "-lm", "-ldl"]),
        );
        if kind == "-pie" {
            let said = stdout(&succeed(&mut command(&program, &[])));
            assert_eq!(said.trim(), format!("{} 7", env!("CARGO_PKG_VERSION")));
        }
    }
}

/// `cc -static`: a program that needs nothing of the system, on the CPU.
#[test]
fn a_program_may_be_static() {
    let stage = install("fully_static", &[]);
    let pc = stage.join("usr/local/lib").join(TEXTS[0]);
    let mut flags = pkg_config(&pc, &stage, &["--static", "--cflags", "--libs"]);
    flags.push("-static".into());
    let program = build("03_generate", "static_03_generate", &flags);
    let segments = stdout(&succeed(command("readelf", &["-lW"]).arg(&program)));
    assert!(!segments.contains("INTERP"), "{segments}");
    let mut spec = Spec::new("static.gguf", "llama", Storage::Gguf(3, Format::Q8_0));
    spec.tied = true;
    let model = spec.write(scratch());
    let mut run = command(&program, &[model.to_str().unwrap(), "Once"]);
    let dynamic = build_dynamic(&stage);
    let lib = stage.join("usr/local/lib");
    let mut reference = command(dynamic, &[model.to_str().unwrap(), "Once"]);
    let expected = succeed(gpu_env::none(&mut reference).env("LD_LIBRARY_PATH", lib));
    assert!(!expected.stdout.is_empty());
    assert_eq!(succeed(gpu_env::none(&mut run)).stdout, expected.stdout);
}

/// What a statically linked program opens crashes: it must not try. One that is linked with the
/// static library alone has its GPU.
#[test]
fn a_static_program_opens_no_driver() {
    let stage = install("no_driver", &[]);
    let pc = stage.join("usr/local/lib").join(TEXTS[0]);
    let flags = pkg_config(&pc, &stage, &["--static", "--cflags", "--libs"]);
    let run = |name: &str, flags: &[String]| {
        let program = build("07_device_info", &format!("{name}_07_device_info"), flags);
        let mut run = command(&program, &[]);
        let run = gpu_env::software(&mut run, "devices=gfx1151;integrated=0");
        let output = finish(run, "", Duration::from_secs(60));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said)
    };
    let fully: Vec<String> = flags.iter().cloned().chain(["-static".into()]).collect();
    let (status, said) = run("static", &fully);
    assert_eq!(status, Some(77), "{said}");
    assert!(said.contains("linked statically"), "{said}");
    let archive: Vec<String> = flags
        .iter()
        .map(|flag| flag.replace("-lmlxrocm", "-l:libmlxrocm.a"))
        .collect();
    let (status, said) = run("archive", &archive);
    assert_eq!(status, Some(0), "{said}");
}

fn build_dynamic(stage: &Path) -> PathBuf {
    let pc = stage.join("usr/local/lib").join(TEXTS[0]);
    let flags = pkg_config(&pc, stage, &["--cflags", "--libs"]);
    build("03_generate", "dynamic_03_generate", &flags)
}
