#!/bin/sh
# Tests the languages' packages: bindings/test.sh [LANGUAGE...]
#
# The library is $MLXROCM_LIBRARY, else what cargo built last. What a language needs is fetched into target/bindings by pip
# and npm, and by apt when root. A language that could not be tried has failed.
set -u
cd "$(dirname "$0")/.." || exit 1
tree=$(pwd)
target=${CARGO_TARGET_DIR:-$tree/target}
work=$target/bindings
mkdir -p "$work" || exit 1
target=$(cd "$target" && pwd)
work=$target/bindings

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
# Under its SONAME too, as programs look for it.
mkdir -p "$work/lib"
ln -sf "$library" "$work/lib/libmlxrocm.so"
ln -sf "$library" "$work/lib/libmlxrocm.so.0"

model=${MLXROCM_DEMO_MODEL:-$tree/.cache/models/SmolLM2-135M-Instruct.Q4_1.gguf}
if [ ! -e "$model" ]; then
    PYTHON=${PYTHON:-python3} sh tests/support/fetch_model.sh "$model" || exit 1
fi

export MLXROCM_DEMO_MODEL="$model" MLXROCM_TREE="$tree" MLXROCM_LIBRARY="$work/lib/libmlxrocm.so.0"
export MLXROCM_LIBRARY_DIR="$work/lib" LD_LIBRARY_PATH="$work/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export MLXROCM_BINDINGS_WORK="$work"
export MLXROCM_SOFTWARE_GPU="${MLXROCM_SOFTWARE_GPU:-$target/debug/deps/libsoftgpu.so}"

languages=${*:-generated python go node rust cpp zig}
passed=""
failed=""
passes=0
failures=0
for language in $languages; do
    echo "== $language"
    begin=$(date +%s)
    if [ "$language" = generated ]; then
        ${PYTHON:-python3} bindings/generate.py --check
    else
        sh "bindings/$language/test.sh"
    fi </dev/null
    if [ $? = 0 ]; then
        passed="$passed $language"
        passes=$((passes + 1))
    else
        failed="$failed $language"
        failures=$((failures + 1))
    fi
    echo "   $(($(date +%s) - begin)) s"
done
echo "languages: $passes passed (${passed# }), $failures failed${failed:+ (${failed# })}"
[ -z "$failed" ]
