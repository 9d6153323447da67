#!/bin/sh
# Formats, lints and tests the crates against the library (called by ../test.sh).
set -eu
cd "$(dirname "$0")"
export CARGO_TARGET_DIR="$MLXROCM_BINDINGS_WORK/rust"
CARGO=${CARGO:-cargo}
# As other tools of the tree's build may set flags for the library alone.
unset RUSTFLAGS
"$CARGO" fmt --check -p mlxrocm-rs
"$CARGO" clippy -q --locked --offline --all-targets -- -D warnings
"$CARGO" test -q --locked --offline
sh ../on_gpu.sh "$CARGO" test -q --locked --offline --test engine -- --ignored
