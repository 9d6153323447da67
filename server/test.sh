#!/bin/sh
# Tests the server with the demo model and OpenAI's Python client, which pip fetches with jsonschema into
# target/server-test.
#
# The library is $MLXROCM_LIBRARY, else what cargo built last.
set -u
cd "$(dirname "$0")/.." || exit 1
tree=$(pwd)
target=${CARGO_TARGET_DIR:-$tree/target}
mkdir -p "$target/server-test/lib" || exit 1
target=$(cd "$target" && pwd)
work=$target/server-test
passed=0
failed=0

finish() {
    echo "server: $passed passed, $failed failed"
    [ "$failed" = 0 ]
    exit
}

. tests/support/library.sh

export MLXROCM_LIBRARY_DIR="$work/lib" MLXROCM_SERVER_WORK="$work"
export LD_LIBRARY_PATH="$work/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export CARGO_TARGET_DIR="$target/server" CARGO_PROFILE_DEV_DEBUG=0
export MLXROCM_SERVE="$CARGO_TARGET_DIR${CARGO_BUILD_TARGET:+/$CARGO_BUILD_TARGET}/debug/mlxrocm-serve"
# As other tools of the tree's build may set flags for the library alone.
unset RUSTFLAGS

# The program, and its own tests.
cargo=${CARGO:-cargo}
if ! "$cargo" build -q --locked --manifest-path server/Cargo.toml; then
    failed=1
    finish
fi
"$cargo" test -q --locked --manifest-path server/Cargo.toml >"$work/unit.log" 2>&1 || failed=1
cat "$work/unit.log"
passed=$(($(sed -n 's/^test result: .* \([0-9]*\) passed.*/\1 +/p' "$work/unit.log" | tr '\n' ' ') 0))

# OpenAI's client, and a validator of JSON that is not ours.
if ! "$work/venv/bin/python" -c "import jsonschema, openai" 2>/dev/null; then
    ${PYTHON:-python3} -m venv "$work/venv" && "$work/venv/bin/pip" install -q "openai>=1.92" jsonschema || {
        failed=$((failed + 1))
        finish
    }
fi
"$work/venv/bin/python" -W ignore -m unittest discover -v -s server/tests >"$work/api.log" 2>&1
status=$?
cat "$work/api.log"
run=$(sed -n 's/^Ran \([0-9]*\) tests* in .*/\1/p' "$work/api.log")
# Failures and errors, in the last line.
bad=$(tail -n 1 "$work/api.log" | grep -o '[a-z]*=[0-9]*' | sed 's/.*=//' | paste -sd+ - | sed 's/^$/0/')
bad=$((${bad:-0}))
# A run that did not get to its end counts as a failure.
[ "$status" = 0 ] || [ "$bad" -gt 0 ] || bad=1
passed=$((passed + ${run:-0} - bad))
failed=$((failed + bad))
finish
