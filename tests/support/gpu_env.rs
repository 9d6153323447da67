//! The environment of programs that use the engine group: the software GPU, or no GPU at all.
#![allow(dead_code)] // each test program uses a part

use std::path::PathBuf;
use std::process::Command;

/// The software GPU: a stand-in for HIP's library. Cargo builds it with the tests.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    let library = test.with_file_name("libsoftgpu.so");
    assert!(library.is_file(), "{} is missing", library.display());
    library
}

/// The software GPU with these devices; caches in a folder of the test's own.
pub fn software<'a>(command: &'a mut Command, config: &str) -> &'a mut Command {
    command
        .env("MLXROCM_HIP_LIBRARY", library())
        .env("MLXROCM_CUDA_LIBRARY", "/nonexistent/cuda.so")
        .env("SOFTGPU_CONFIG", config)
        .env("MLXROCM_CACHE_DIR", super::cc::scratch().join("cache"))
        .env("XDG_CACHE_HOME", super::cc::scratch().join("cache"))
        .env_remove("MLXROCM_GRAPHS")
}

/// A machine without a GPU.
pub fn none(command: &mut Command) -> &mut Command {
    command
        .env("MLXROCM_HIP_LIBRARY", "/nonexistent/hip.so")
        .env("MLXROCM_CUDA_LIBRARY", "/nonexistent/cuda.so")
}
