//! The shared library's SONAME and symbol versions: `MLXROCM_0.1` of `include/mlxrocm.map`, with
//! each linker, or the build fails.
//!
//! rustc hands the linker a version script of its own, without a version node. lld and mold take a
//! second one beside it. GNU ld does not: between gcc (or clang) and it goes a script that leaves
//! rustc's out, which is found because `-B` names its folder. What works is found by linking a
//! one-function library and looking at its symbols.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::variable;

/// One exported function with a version, as `src/capi` exports its own.
const PROBE: &str = r#"
#[unsafe(no_mangle)]
pub extern "C" fn mlxrocm_probe() {}
core::arch::global_asm!(".symver mlxrocm_probe, mlxrocm_probe@@@MLXROCM_0.1");
"#;

/// The names under which a compiler driver looks for GNU ld.
const GNU_LD: [&str; 2] = ["ld", "ld.bfd"];

/// Tells cargo how the shared library is linked.
pub fn configure() -> Result<(), String> {
    println!("cargo::rerun-if-changed=include/mlxrocm.map");
    println!("cargo::rustc-check-cfg=cfg(mlxrocm_symbol_versions)");
    if variable("CARGO_CFG_TARGET_OS") != "linux" {
        return Ok(());
    }
    let map = Path::new(&variable("CARGO_MANIFEST_DIR")).join("include/mlxrocm.map");
    let script = format!("-Wl,--version-script={}", map.display());
    let folder = Path::new(&variable("OUT_DIR")).join("linker");
    let with_gnu_ld = vec![format!("-B{}", folder.display()), script.clone()];
    let mut said = String::new();
    for arguments in [vec![script], with_gnu_ld] {
        if arguments.len() > 1 {
            write_gnu_ld(&folder)?;
        }
        match links(&arguments) {
            Ok(()) => {
                println!("cargo::rustc-cfg=mlxrocm_symbol_versions");
                println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libmlxrocm.so.0");
                // Workers of arrays sleep until the process ends: dlclose must leave them their code.
                println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
                // Functions for C that packages bring (llguidance's) are not this library's.
                println!("cargo::rustc-cdylib-link-arg=-Wl,--exclude-libs,ALL");
                for argument in arguments {
                    println!("cargo::rustc-cdylib-link-arg={argument}");
                }
                return Ok(());
            }
            Err(message) => said = message,
        }
    }
    Err(format!(
        "the linker makes no library with symbol versions: use GNU ld, lld or mold \
         (RUSTFLAGS=-Clink-arg=-fuse-ld=lld). It said:\n{said}"
    ))
}

/// Whether this build's compiler, flags and linker make a versioned library with `arguments`.
fn links(arguments: &[String]) -> Result<(), String> {
    let out = variable("OUT_DIR");
    let source = Path::new(&out).join("probe.rs");
    std::fs::write(&source, PROBE).map_err(|e| format!("{}: {e}", source.display()))?;
    let mut rustc = Command::new(variable("RUSTC"));
    rustc.args([
        "--crate-name=probe",
        "--crate-type=cdylib",
        "--edition=2024",
    ]);
    rustc.args(["--target", &variable("TARGET"), "--out-dir", &out]);
    let linker = variable("RUSTC_LINKER");
    if !linker.is_empty() {
        rustc.arg(format!("-Clinker={linker}"));
    }
    let flags = variable("CARGO_ENCODED_RUSTFLAGS");
    rustc.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
    for argument in arguments {
        rustc.arg(format!("-Clink-arg={argument}"));
    }
    let output = rustc.arg(&source).output();
    let output = output.map_err(|e| format!("{}: {e}", variable("RUSTC")))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    // The node's name is in the library only if the linker made the node: what `.symver` wrote into
    // the object file is not copied.
    let library = Path::new(&out).join("libprobe.so");
    let bytes = std::fs::read(&library).map_err(|e| format!("{}: {e}", library.display()))?;
    let node = b"\0MLXROCM_0.1\0";
    match bytes.windows(node.len()).any(|part| part == node) {
        true => Ok(()),
        false => Err("the library has no version node MLXROCM_0.1".into()),
    }
}

/// Writes scripts that run GNU ld without rustc's version script.
fn write_gnu_ld(folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let linker = variable("RUSTC_LINKER");
    let driver = if linker.is_empty() { "cc" } else { &linker };
    for name in GNU_LD {
        let asked = Command::new(driver)
            .arg(format!("-print-prog-name={name}"))
            .output()
            .map_err(|e| format!("{driver}: {e}"))?;
        let real = String::from_utf8_lossy(&asked.stdout).trim().to_string();
        let real = if real.is_empty() { name } else { &real };
        let text = format!(
            r#"#!/bin/sh
# Written by build/symbol_versions.rs: GNU ld takes no second version script beside rustc's.
for argument do
    shift
    case $argument in
        --version-script=*/mlxrocm.map) ;;
        --version-script=*) continue ;;
    esac
    set -- "$@" "$argument"
done
exec '{real}' "$@"
"#
        );
        let path = folder.join(name);
        let failed = |e| format!("{}: {e}", path.display());
        std::fs::write(&path, text).map_err(failed)?;
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).map_err(failed)?;
    }
    Ok(())
}
