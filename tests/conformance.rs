//! The operations of the C API beside MLX's own, on the CPU, with fresh random inputs.
//!
//! The work is done by `tests/conformance/compare.py`; it compares the table `docs/operations.md` too
//! (`MLXROCM_BLESS=1` writes it). `MLXROCM_SEED` repeats a run.

#[path = "support/cc.rs"]
mod cc;

use cc::{command, finish, library, root, stdout, succeed};
use std::path::PathBuf;
use std::time::Duration;

/// Where MLX is installed: beside the models that tests fetch.
fn environment() -> PathBuf {
    match std::env::var_os("MLXROCM_TEST_MODELS") {
        Some(folder) => PathBuf::from(folder).join(".mlx"),
        None => root().join(".cache/models/.mlx"),
    }
}

#[test]
fn operations_give_what_mlx_gives() {
    let environment = environment();
    let script = root().join("tests/conformance/make_venv.sh");
    let made = [script.to_str().unwrap(), environment.to_str().unwrap()];
    succeed(&mut command("sh", &made));
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
    let output = finish(&mut python, "", Duration::from_secs(300));
    let said = stdout(&output);
    println!("{said}");
    assert!(
        output.status.success(),
        "{said}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(said.contains(" 0 wrong"), "{said}");
}
