#!/bin/sh
# Builds and tests the package with the Zig that PyPI has (called by ../test.sh).
set -eu
cd "$(dirname "$0")"
version=0.14.1
work=$MLXROCM_BINDINGS_WORK/zig
mkdir -p "$work"
if ! [ -e "$work/venv/ziglang-$version" ]; then
    rm -rf "$work/venv"
    "${PYTHON:-python3}" -m venv "$work/venv"
    "$work/venv/bin/pip" -q --disable-pip-version-check install "ziglang==$version"
    touch "$work/venv/ziglang-$version"
fi
zig="$work/venv/bin/python -m ziglang"
$zig fmt --check build.zig ./*tests.zig $(ls src/*.zig | grep -v 'src/operations.zig\|src/statuses.zig')
for step in test engine; do
    run=
    [ $step = test ] || run="sh ../on_gpu.sh"
    $run $zig build $step --summary all --cache-dir "$work/cache" --global-cache-dir "$work/global" \
        -Dinclude="$MLXROCM_TREE/include" -Dlibrary="$MLXROCM_LIBRARY_DIR" 2>"$work/test.log" || { cat "$work/test.log" >&2; exit 1; }
    cat "$work/test.log"
done
