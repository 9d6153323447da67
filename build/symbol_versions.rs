//! The shared library's SONAME and, where the linker can, its symbol versions.
//!
//! rustc hands the linker a version script of its own, without a version node. GNU ld refuses a
//! second script beside it; lld and mold accept one. So a one-function library is linked first: if
//! that works, the exported functions get the version `MLXROCM_0.1` (`.symver` in `src/capi`), and
//! if not, the library is built without symbol versions and is otherwise the same.

use std::path::Path;
use std::process::Command;

use crate::variable;

/// One exported function with a version, as `src/capi` exports its own.
const PROBE: &str = r#"
#[unsafe(no_mangle)]
pub extern "C" fn mlxrocm_probe() {}
core::arch::global_asm!(".symver mlxrocm_probe, mlxrocm_probe@@@MLXROCM_0.1");
"#;

/// Tells cargo how the shared library is linked.
pub fn configure() {
    println!("cargo::rerun-if-changed=include/mlxrocm.map");
    println!("cargo::rustc-check-cfg=cfg(mlxrocm_symbol_versions)");
    if variable("CARGO_CFG_TARGET_OS") != "linux" {
        return;
    }
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libmlxrocm.so.0");
    let map = Path::new(&variable("CARGO_MANIFEST_DIR")).join("include/mlxrocm.map");
    let script = format!("-Wl,--version-script={}", map.display());
    if links(&script) {
        println!("cargo::rustc-cfg=mlxrocm_symbol_versions");
        println!("cargo::rustc-cdylib-link-arg={script}");
    }
}

/// Whether this build's compiler, flags and linker make a versioned library.
fn links(script: &str) -> bool {
    let out = variable("OUT_DIR");
    let source = Path::new(&out).join("probe.rs");
    if std::fs::write(&source, PROBE).is_err() {
        return false;
    }
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
    rustc.arg(format!("-Clink-arg={script}")).arg(&source);
    rustc.output().is_ok_and(|output| output.status.success())
}
