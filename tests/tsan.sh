#!/bin/sh
# ThreadSanitizer over the engine, the sessions and the C API: `sh tests/tsan.sh`.
#
# Rust's locks are in its standard library, which must be instrumented too: this takes a nightly
# toolchain with rust-src and some minutes to build. `make test` runs it where that is installed
# (`sh tests/tsan.sh --can` asks). The software GPU is instrumented like the rest, and no report is
# suppressed: whatever is reported is a defect.
set -eu
cd "$(dirname "$0")/.."

target=x86_64-unknown-linux-gnu
# What is not installed is not fetched for the asking.
sysroot=$(RUSTUP_AUTO_INSTALL=0 rustc +nightly --print sysroot 2>/dev/null) || sysroot=
runtime=$sysroot/lib/rustlib/$target/lib/librustc-nightly_rt.tsan.a
if [ ! -e "$runtime" ] || [ ! -d "$sysroot/lib/rustlib/src/rust/library" ]; then
    echo "ThreadSanitizer needs: rustup toolchain install nightly --component rust-src" >&2
    exit 1
fi
[ "${1:-}" != --can ] || exit 0
model=${MLXROCM_DEMO_MODEL:-.cache/models/SmolLM2-135M-Instruct.Q4_1.gguf}
if [ ! -e "$model" ]; then
    echo "this needs the demo model: make model" >&2
    exit 1
fi
# Races on the host do not depend on the target.
MLXROCM_GPU_TARGETS=gfx1151
# A folder of its own: nothing built here fits an ordinary build, but for the kernels.
shared=${CARGO_TARGET_DIR:-$PWD/target}
CARGO_TARGET_DIR=$shared/tsan
mkdir -p "$shared/kernel-objects" "$CARGO_TARGET_DIR/$target"
[ -e "$CARGO_TARGET_DIR/$target/kernel-objects" ] ||
    ln -s "$(cd "$shared/kernel-objects" && pwd)" "$CARGO_TARGET_DIR/$target/kernel-objects"
# The software GPU is opened at run time and finds the sanitizer in the program.
RUSTFLAGS="-Zsanitizer=thread -Clink-arg=-rdynamic"
TSAN_OPTIONS="halt_on_error=0 exitcode=66 second_deadlock_stack=1"
export MLXROCM_GPU_TARGETS CARGO_TARGET_DIR RUSTFLAGS TSAN_OPTIONS

run() {
    ${CARGO:-cargo} +nightly test --locked -Zbuild-std --target $target "$@"
}
run --test gpu_random --test gpu_streams --test gpu_memory --test gpu_programs --test gpu_probation \
    --test session
run --lib cpu::

# The C API: programs in C, with the same runtime.
built=$CARGO_TARGET_DIR/$target/debug/deps
made=$CARGO_TARGET_DIR/c
mkdir -p "$made"
for name in libmlxrocm.so libmlxrocm.so.0; do ln -sf "$built/libmlxrocm.so" "$made/$name"; done
compile() {
    gcc -std=gnu11 -O1 -g -fsanitize=thread -Iinclude -c "$1" -o "$made/program.o"
    gcc -o "$2" "$made/program.o" -rdynamic -Wl,--whole-archive "$runtime" -Wl,--no-whole-archive \
        -L"$made" -Wl,-rpath,"$made" -lmlxrocm -lpthread -ldl -lm -lrt
}
export MLXROCM_HIP_LIBRARY="$built/libsoftgpu.so" MLXROCM_CUDA_LIBRARY=/nonexistent/cuda.so
export XDG_CACHE_HOME="$made/cache" SOFTGPU_CONFIG="devices=gfx1151;integrated=0"

# A race that is there must be seen, inside the library.
compile tests/support/tsan_race.c "$made/race"
if "$made/race" 2>"$made/race.txt" || ! grep -q 'mlxrocm_buffer_write' "$made/race.txt"; then
    echo "the sanitizer does not see a race in the library" >&2
    exit 1
fi
compile tests/c/gpu_random.c "$made/gpu_random"
# As tests/capi_gpu.rs runs it.
for seed in 1 2 3 4; do
    SOFTGPU_CONFIG="devices=gfx1151;integrated=0;uninitialised=0" "$made/gpu_random" $seed 5000
done
compile tests/c/gpu_order.c "$made/gpu_order"
"$made/gpu_order" 17
# A model on the processor: sessions from several threads, and the threads of its kernels.
compile tests/c/api_random.c "$made/api_random"
SOFTGPU_CONFIG=devices= "$made/api_random" "$model" 1 100
unset MLXROCM_HIP_LIBRARY MLXROCM_CUDA_LIBRARY XDG_CACHE_HOME SOFTGPU_CONFIG

# Models on the GPU: a part, as each step takes about a second here.
run --test gpu_model_faults -- loss::lost refusal::copies
echo "no race was seen"
