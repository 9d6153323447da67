# The library and the model that tests outside of cargo take; to be read (`.`) with $tree, the sources, $target, cargo's
# folder, and $work, a folder for the tests. Links the library as $work/lib/libmlxrocm.so, and under its SONAME, as
# programs look for it; exports MLXROCM_DEMO_MODEL.
library=${MLXROCM_LIBRARY:-}
if [ -z "$library" ]; then
    # The newest one: `cargo test` writes deps/, `cargo build` the other two.
    built=$target${CARGO_BUILD_TARGET:+/$CARGO_BUILD_TARGET}
    library=$(ls -t "$built/release/libmlxrocm.so" "$built/debug/libmlxrocm.so" "$built/debug/deps/libmlxrocm.so" \
        2>/dev/null | head -n 1)
fi
if [ -z "$library" ] || [ ! -e "$library" ]; then
    echo "no library: run make or cargo build, or set MLXROCM_LIBRARY" >&2
    exit 1
fi
library=$(readlink -f "$library")
mkdir -p "$work/lib" || exit 1
ln -sf "$library" "$work/lib/libmlxrocm.so"
ln -sf "$library" "$work/lib/libmlxrocm.so.0"

export MLXROCM_DEMO_MODEL="${MLXROCM_DEMO_MODEL:-$tree/.cache/models/SmolLM2-135M-Instruct.Q4_1.gguf}"
if [ ! -e "$MLXROCM_DEMO_MODEL" ]; then
    PYTHON=${PYTHON:-python3} sh "$tree/tests/support/fetch_model.sh" "$MLXROCM_DEMO_MODEL" || exit 1
fi
