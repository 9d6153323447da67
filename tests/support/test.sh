#!/bin/sh
# Runs all tests (`make test`): what they need beyond Rust and gcc is installed when root.
set -eu

missing=""
command -v g++ >/dev/null || missing="$missing g++"
command -v gcc >/dev/null || missing="$missing gcc"
command -v valgrind >/dev/null || missing="$missing valgrind"
command -v pkg-config >/dev/null || missing="$missing pkg-config"
command -v readelf >/dev/null || missing="$missing binutils"
# What is installed is found by CMake; the binary interface is compared; symbol versions with each linker.
command -v cmake >/dev/null || missing="$missing cmake"
command -v abidiff >/dev/null || missing="$missing abigail-tools"
command -v mold >/dev/null || missing="$missing mold"
# The GPU kernels' compiler, and the tools that the software GPU reads its code with.
command -v clang++-19 >/dev/null || missing="$missing clang-19"
command -v ld.lld-19 >/dev/null || missing="$missing lld-19"
command -v llvm-objdump-19 >/dev/null || missing="$missing llvm-19"
# Debian's own HIP runtime and headers: the engine is tested against both.
[ -e /usr/lib/x86_64-linux-gnu/libamdhip64.so.5 ] || missing="$missing libamdhip64-5"
[ -e /usr/include/hip/hip_runtime_api.h ] || missing="$missing libamdhip64-dev"
# valgrind reads the C library's symbols.
[ -e /usr/lib/debug/.build-id ] || [ -z "$missing" ] || missing="$missing libc6-dbg"
if [ -n "$missing" ]; then
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        echo "the tests need: apt-get install$missing" >&2
        exit 1
    fi
    echo "installing$missing" >&2
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing >&2
fi

# A target of each kind that the software GPU executes, one more by turns, and NVIDIA's: code of the same kind differs
# little, and compiling and executing all of it takes long. `MLXROCM_GPU_TARGETS` chooses others.
case $(($(date +%-j) % 4)) in
0) turn=gfx90a ;;
1) turn=gfx1103 ;;
2) turn=gfx1150 ;;
*) turn=gfx1200 ;;
esac
export MLXROCM_GPU_TARGETS="${MLXROCM_GPU_TARGETS-gfx942 gfx1030 gfx1100 gfx1151 gfx1201 $turn sm_90 sm_90a}"
echo "GPU targets: $MLXROCM_GPU_TARGETS"

result=0
${CARGO:-cargo} test --locked --workspace --no-fail-fast "$@" </dev/null || result=1
if sh tests/tsan.sh --can; then
    sh tests/tsan.sh </dev/null || result=1
else
    echo "NOT RUN: the search for data races (tests/tsan.sh)" >&2
fi
# The languages' packages, against the library that cargo has built; what they need is fetched.
sh bindings/test.sh </dev/null || result=1
exit "$result"
