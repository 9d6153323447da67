#!/bin/sh
# Compiles the C++ headers' tests with each compiler and standard, without a warning, and runs them (called by
# ../test.sh).
set -eu
cd "$(dirname "$0")"
work=$MLXROCM_BINDINGS_WORK/cpp
mkdir -p "$work"
if ! command -v g++ >/dev/null; then
    [ "$(id -u)" = 0 ] || { echo "the tests need: apt-get install g++" >&2; exit 1; }
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends g++ >&2
fi
warnings="-Wall -Wextra -Wpedantic -Wshadow -Werror"
for test in arrays model files chess engine ranges; do
    standard=c++17
    run=
    [ $test != ranges ] || standard=c++20
    [ $test != engine ] || run="sh $MLXROCM_TREE/bindings/on_gpu.sh"
    g++ -std=$standard $warnings -I"$MLXROCM_TREE/include" "$test.cpp" -o "$work/$test" \
        -L"$MLXROCM_LIBRARY_DIR" -lmlxrocm -pthread
    (cd "$work" && $run "./$test")
done
# Twice in one program, by itself, and with a newer standard and the other compiler.
printf '#include <mlxrocm_array.hpp>\n#include <mlxrocm_array.hpp>\nmlxrocm::Array two(const mlxrocm::Array &x) { return x + x; }\n' >"$work/once.cpp"
printf '#include <mlxrocm_array.hpp>\nmlxrocm::Array two(const mlxrocm::Array &);\nint main() { return two(mlxrocm::Array(1)).item() == 2 ? 0 : 1; }\n' >"$work/twice.cpp"
for compiler in g++ clang++-19; do
    command -v "$compiler" >/dev/null || continue
    $compiler -std=c++20 $warnings -I"$MLXROCM_TREE/include" "$work/once.cpp" "$work/twice.cpp" -o "$work/both" \
        -L"$MLXROCM_LIBRARY_DIR" -lmlxrocm -pthread
    "$work/both"
    $compiler -std=c++20 $warnings -fsyntax-only -I"$MLXROCM_TREE/include" ranges.cpp
    echo "$compiler: passed"
done
