//! Links the shared library's name and symbol versions, and compiles the GPU kernels under `hip/`.

#[path = "build/archive.rs"]
mod archive;
#[path = "build/arguments.rs"]
mod arguments;
#[path = "build/compiler.rs"]
mod compiler;
#[path = "build/conditions.rs"]
mod conditions;
#[path = "build/constants.rs"]
mod constants;
#[path = "build/jobs.rs"]
mod jobs;
#[path = "build/kernels.rs"]
mod kernels;
#[path = "build/parameters.rs"]
mod parameters;
#[path = "build/source.rs"]
mod source;
#[path = "build/symbol_versions.rs"]
mod symbol_versions;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rustc-env=MLXROCM_TARGET={}", variable("TARGET"));
    println!("cargo::rustc-env=MLXROCM_PROFILE={}", variable("PROFILE"));
    if let Err(message) = symbol_versions::configure().and_then(|()| kernels::build()) {
        for line in message.lines() {
            println!("cargo::error={line}");
        }
        std::process::exit(1);
    }
}

/// An environment variable, empty when unset.
fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}
