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
# The reference is made of the header, without a warning.
command -v doxygen >/dev/null || missing="$missing doxygen"
command -v man >/dev/null || missing="$missing man-db"
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

MLXROCM_GPU_TARGETS=$(sh tests/support/targets.sh)
export MLXROCM_GPU_TARGETS
echo "GPU targets: $MLXROCM_GPU_TARGETS"

# From nothing, what builds in parts take more is a quarter of the library's time.
CARGO_INCREMENTAL=0
export CARGO_INCREMENTAL

# What is printed is counted at the end.
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
MLXROCM_TEST_LOG=$(cd "$target" && pwd)/test.log
export MLXROCM_TEST_LOG
: >"$MLXROCM_TEST_LOG"
# What the software GPU's disassembler said, as test programs load the same kernels; old kernels' are dropped.
SOFTGPU_CACHE=$(cd "$target" && pwd)/disassembly
export SOFTGPU_CACHE
mkdir -p "$SOFTGPU_CACHE"
find "$SOFTGPU_CACHE" -type f -mtime +7 -delete
begin=$(date +%s)
note() { echo "$*" | tee -a "$MLXROCM_TEST_LOG"; }

# Everything is built first, then the test programs run, as many at once as there are CPUs: most wait for one thread.
built=$MLXROCM_TEST_LOG.built
build() {
    if ! RUSTC_WORKSPACE_WRAPPER=$PWD/tests/support/rustc.sh ${CARGO:-cargo} test --locked --no-run "$@" 2>>"$built"; then
        cat "$built"
        note "PART FAILED: build"
    fi
}
: >"$built"
if [ $# != 0 ]; then
    build --workspace "$@"
else
    build --workspace --test '*'
    # The libraries' own tests: to optimize all of them once more would take longer than they take without.
    CARGO_PROFILE_DEV_OPT_LEVEL=0 build -p mlxrocm --lib
    build -p softgpu --lib --config profile.dev.package.softgpu.opt-level=0
fi
grep -E '^warning|^error' "$built" || true
note "PART build: $(($(date +%s) - begin)) s"
# The longest first, so that none of them is left alone at the end.
first="gpu_model"
long="gpu_kernels capi_examples decode_counters capi instructions conformance accuracy gpu_families gpu_model_faults gpu_delta kernel_compile"
programs=$(sed -n 's/^ *Executable .*(\(.*\))$/\1/p' "$built")
named() {
    for name; do
        for program in $programs; do
            case ${program##*/} in "$name"-????????????????) echo "$name $program" ;; esac
        done
    done
}
{
    named $first
    # The languages' packages, against the library that cargo has built, and the server, with OpenAI's own client;
    # what they need is fetched. One step after the other, and partly waiting: they begin early.
    [ $# != 0 ] || printf '%s\n' "languages sh bindings/test.sh" "server sh server/test.sh"
    named $long
    for program in $programs; do
        name=${program##*/}
        name=${name%-*}
        case " $first $long " in *" $name "*) continue ;; esac
        case $name in *_alone) ;; *) echo "$name $program" ;; esac
    done
} >"$built.list"
xargs -r -P "$(nproc)" -L 1 sh tests/support/suite.sh <"$built.list" || note "PART FAILED: xargs"
# What measures time runs by itself.
sed -n 's/^ *Executable .*(\(.*\/\([a-z]*_alone\)-.*\))$/\2 \1/p' "$built" | xargs -r -L 1 sh tests/support/suite.sh
if sh tests/tsan.sh --can; then
    sh tests/support/suite.sh races sh tests/tsan.sh
else
    note "NOT RUN: the search for data races (tests/tsan.sh needs rust-src)"
fi
awk -v seconds="$(($(date +%s) - begin))" '
/^test result: / { passed += $4; failed += $6; ignored += $8 }
/^(languages|server): [0-9]+ passed/ {
    for (i = 2; i <= NF; i++) { if ($i ~ /^passed/) passed += $(i - 1); if ($i ~ /^failed/) failed += $(i - 1) }
}
/^PART FAILED/ { parts = parts " " $3 }
/^PART [^ ]*: [0-9]+ s/ { if ($3 >= 60) times = times ", " $2 " " $3 " s" }
/^NOT RUN: / { sub(/^NOT RUN: /, ""); reasons = reasons "; " $0 }
END {
    if (ignored) reasons = reasons "; " ignored " ignored (run by name: cargo test -- --ignored)"
    gsub(":", "", times)
    printf "all tests: %d passed, %d failed%s; not run: %s (%d min: %s)\n", passed, failed,
        parts ? " (" substr(parts, 2) ")" : "", reasons ? substr(reasons, 3) : "nothing", seconds / 60, substr(times, 3)
    exit (parts != "")
}' "$MLXROCM_TEST_LOG"
