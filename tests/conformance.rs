//! The operations of the C API beside MLX's own, on the CPU, with fresh random inputs.
//!
//! The work is done by `tests/conformance/compare.py`; it compares the table `docs/operations.md` too, the CPU's run all but
//! what a GPU computes itself, the GPU's that (`MLXROCM_BLESS=1` writes it). `MLXROCM_SEED` repeats a run.

#[path = "support/cc.rs"]
mod cc;
#[path = "support/gpu.rs"]
mod gpu;
#[path = "support/gpu_env.rs"]
mod gpu_env;

use cc::{command, finish, library, root, stdout, succeed};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

/// Where MLX is installed: beside the models that tests fetch.
fn environment() -> PathBuf {
    match std::env::var_os("MLXROCM_TEST_MODELS") {
        Some(folder) => PathBuf::from(folder).join(".mlx"),
        None => root().join(".cache/models/.mlx"),
    }
}

/// Runs the comparison with arrays on a device, and returns what it said.
fn compare(device: u32, prepare: impl FnOnce(&mut Command)) -> String {
    let environment = environment();
    let script = root().join("tests/conformance/make_venv.sh");
    let made = [script.to_str().unwrap(), environment.to_str().unwrap()];
    // Two tests may come here at once.
    static ONE: Mutex<()> = Mutex::new(());
    let turn = ONE.lock();
    succeed(&mut command("sh", &made));
    // Both write to the table.
    let turn = std::env::var_os("MLXROCM_BLESS").map(|_| turn);
    let compare = root().join("tests/conformance/compare.py");
    let (library, table) = (library(), root().join("docs/operations.md"));
    let mut arguments = vec![
        compare.to_str().unwrap(),
        library.to_str().unwrap(),
        table.to_str().unwrap(),
    ];
    let seed = std::env::var("MLXROCM_SEED").ok();
    arguments.extend(seed.as_deref());
    let mut python = command(environment.join("bin/python"), &arguments);
    python.env("PYTHONDONTWRITEBYTECODE", "1");
    python.env("MLXROCM_CONFORMANCE_DEVICE", device.to_string());
    prepare(&mut python);
    let output = finish(&mut python, "", Duration::from_secs(900));
    drop(turn);
    let said = stdout(&output);
    println!("{said}");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{errors}");
    assert!(said.contains(" 0 wrong"), "{said}");
    said
}

#[test]
fn operations_give_what_mlx_gives() {
    compare(0, |_| {});
}

/// One a day of those that the library was built for: two days of three one of these, then one of the others.
fn targets() -> Vec<&'static str> {
    let first = ["gfx1151", "gfx1201", "gfx942"];
    let mut others = gpu::targets();
    others.retain(|target| !first.contains(target));
    match others.is_empty() || !gpu::is_turn(0, 3) {
        true => gpu::by_turns(&first),
        false if gpu::is_all() => [gpu::among(&first), others].concat(),
        false => gpu::by_turns(&others),
    }
}

#[test]
fn operations_on_a_gpu_give_what_mlx_gives() {
    if gpu::is_real() {
        compare(1, |_| {});
        return;
    }
    for target in targets() {
        println!("{target}");
        compare(1, |python| {
            gpu_env::software(python, &format!("devices={target}"));
        });
    }
}
