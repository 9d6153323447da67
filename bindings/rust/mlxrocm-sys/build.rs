//! Where the library is: MLXROCM_LIBRARY_DIR, else what pkg-config says, else the linker's own places.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=MLXROCM_LIBRARY_DIR");
    println!("cargo::rustc-link-lib=dylib=mlxrocm");
    if let Ok(folder) = std::env::var("MLXROCM_LIBRARY_DIR") {
        println!("cargo::rustc-link-search=native={folder}");
        return;
    }
    let found = Command::new("pkg-config").args(["--libs-only-L", "mlxrocm"]).output();
    let Ok(found) = found else { return };
    for word in String::from_utf8_lossy(&found.stdout).split_whitespace() {
        if let Some(folder) = word.strip_prefix("-L") {
            println!("cargo::rustc-link-search=native={folder}");
        }
    }
}
