//! The demo model's file.

use std::path::{Path, PathBuf};

/// The model that `make demo` and `make test` fetch.
pub fn demo_model() -> PathBuf {
    let path = std::env::var_os("MLXROCM_DEMO_MODEL").map_or_else(
        || {
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join(".cache/models/SmolLM2-135M-Instruct.Q4_1.gguf")
        },
        PathBuf::from,
    );
    assert!(
        path.is_file(),
        "the demo model {} is missing: `make model` fetches it, or set MLXROCM_DEMO_MODEL",
        path.display()
    );
    path
}
