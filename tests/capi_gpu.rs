//! The engine group of the C API from C and C++, on the software GPU: each program of `tests/c/gpu_*`
//! runs plainly and under the sanitizers of gcc.

#[path = "support/cc.rs"]
mod cc;
#[path = "support/forbidden.rs"]
mod forbidden;
#[path = "support/gpu_env.rs"]
mod gpu_env;

use cc::{C_WARNINGS, command, finish, root, scratch, stdout, succeed};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

const SANITIZERS: &[&str] = &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

/// What a program that must succeed wrote to stderr.
fn run(command: &mut Command, limit: u64) -> String {
    let output = finish(command, "", Duration::from_secs(limit));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let (start, _) = said.char_indices().nth(6000).unwrap_or((said.len(), ' '));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}",
        output.status,
        &said[..start]
    );
    said
}

fn compile(name: &str, more: &[&str], program: &str) -> PathBuf {
    let mut flags = C_WARNINGS.to_vec();
    flags.extend(["-std=gnu11", "-O1", "-g"]);
    flags.extend(more);
    cc::compile("gcc", &format!("tests/c/{name}.c"), &flags, program)
}

/// Random calls also use freed handles, and such an address may be that of a new buffer which its owner
/// has not filled yet: a kernel that reads it is no error there.
fn machine(name: &str) -> &'static str {
    match name {
        "gpu_random" => "devices=gfx1151;integrated=0;uninitialised=0",
        _ => "devices=gfx1151;integrated=0",
    }
}

fn plainly(name: &str, arguments: &[&str]) {
    let program = compile(name, &[], name);
    run(
        gpu_env::software(&mut command(program, arguments), machine(name)),
        200,
    );
}

fn sanitized(name: &str, arguments: &[&str]) {
    let program = compile(name, SANITIZERS, &format!("{name}_sanitized"));
    let symbols = stdout(&succeed(Command::new("nm").arg(&program)));
    for needed in ["__asan_init", "__ubsan_handle"] {
        assert!(
            symbols.contains(needed),
            "{name} is not sanitized: no {needed}"
        );
    }
    let mut command = command(program, arguments);
    command.env("ASAN_OPTIONS", "detect_leaks=1");
    // The stand-in keeps its devices to the end.
    let suppressions = scratch().join("leaks");
    std::fs::write(&suppressions, "leak:libsoftgpu.so\n").unwrap();
    command.env(
        "LSAN_OPTIONS",
        format!(
            "suppressions={}:print_suppressions=0",
            suppressions.display()
        ),
    );
    run(gpu_env::software(&mut command, machine(name)), 300);
}

/// A code object with a kernel `twice`, as an application would bring it.
fn code_object() -> &'static Path {
    static CODE: OnceLock<PathBuf> = OnceLock::new();
    CODE.get_or_init(|| {
        let source = scratch().join("twice.hip");
        let code = scratch().join("twice.co");
        std::fs::write(
            &source,
            "#include \"common/language.h\"\n\
             extern \"C\" __global__ void twice(float *x, unsigned count) {\n\
             unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n\
             if (i < count) x[i] *= 2;\n}\n",
        )
        .unwrap();
        let mut clang = command(
            "clang++-19",
            &[
                "-std=c++17",
                "-x",
                "hip",
                "--offload-device-only",
                "--no-gpu-bundle-output",
                "--offload-arch=gfx1151",
                "-nogpulib",
                "-nogpuinc",
                "-fdeclspec",
                "-O3",
            ],
        );
        clang.arg("-I").arg(root().join("hip"));
        succeed(clang.arg(source).arg("-o").arg(&code));
        code
    })
}

#[test]
fn wrong_inputs() {
    plainly("gpu_null", &[]);
    sanitized("gpu_null", &[]);
}

#[test]
fn work() {
    let code = code_object().to_str().unwrap();
    plainly("gpu_work", &[code]);
    sanitized("gpu_work", &[code]);
}

#[test]
fn faults() {
    plainly("gpu_faults", &[]);
}

#[test]
fn any_order_of_freeing() {
    plainly("gpu_order", &["17"]);
    sanitized("gpu_order", &["101"]);
}

#[test]
fn random_calls() {
    for seed in ["1", "2", "3"] {
        plainly("gpu_random", &[seed, "1500"]);
    }
    sanitized("gpu_random", &["4", "600"]);
}

#[test]
fn no_gpu() {
    let program = compile("gpu_absent", SANITIZERS, "gpu_absent");
    run(gpu_env::none(&mut command(program, &[])), 60);
}

/// The runtime is there and so is `/dev/kfd`, but this user may not open it: Debian's own runtime, and
/// both codes by which runtimes say that there is no device.
#[test]
fn no_permission_on_the_device() {
    let program = compile("gpu_forbidden", &[], "gpu_forbidden");
    let model = cc::demo_model();
    for runtime in ["libamdhip64.so.5", "absent=100", "absent=101"] {
        let mut command = forbidden::without_permission(&program, &[model.to_str().unwrap()]);
        match runtime.starts_with("lib") {
            true => gpu_env::none(&mut command).env("MLXROCM_HIP_LIBRARY", runtime),
            false => gpu_env::software(&mut command, &format!("devices=;{runtime}")),
        };
        command.env("MLXROCM_LOG", "info");
        let said = run(&mut command, 60);
        let told = |line: &str| line.contains("on the CPU") && line.contains("render and video");
        assert!(said.lines().any(told), "{runtime}: {said}");
    }
}

#[test]
fn the_cpp_wrapper() {
    let mut flags = C_WARNINGS.to_vec();
    flags.extend(["-std=c++17", "-O1", "-g", "-Wshadow", "-Wconversion"]);
    flags.extend(SANITIZERS);
    let program = cc::compile("g++", "tests/c/gpu_wrapper.cpp", &flags, "gpu_wrapper");
    let mut command = command(program, &[]);
    command.env("ASAN_OPTIONS", "detect_leaks=0");
    run(
        gpu_env::software(&mut command, "devices=gfx1151;integrated=0"),
        200,
    );
}

#[test]
fn every_program_is_run() {
    let source = include_str!("capi_gpu.rs");
    for entry in std::fs::read_dir(root().join("tests/c")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(program) = name.strip_suffix(".c")
            && program.starts_with("gpu_")
        {
            assert!(
                source.contains(&format!("\"{program}\"")),
                "{name} is not run"
            );
        }
    }
}
