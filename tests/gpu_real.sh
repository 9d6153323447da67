#!/bin/sh
# Runs the engine's tests on a real GPU, which may be in another machine than the one that builds.
#
#     sh tests/gpu_real.sh build FOLDER            builds the test programs into FOLDER
#     sh tests/gpu_real.sh run FOLDER [RESULTS]    runs them; the costs go to the file RESULTS
#     sh tests/gpu_real.sh soak FOLDER [SECONDS]   random requests to a model of random weights, with the
#                                                  shape of Qwen3-0.6B, for so long (300)
#
# gpu_chess takes the network that `make model` fetched from the folder MLXROCM_TEST_MODELS.
# The tests' own kernels are compiled at run time (hiprtc, or NVRTC of the CUDA toolkit). Where
# compute-sanitizer is found, memcheck and racecheck run too.
set -eu
programs="gpu_memory gpu_streams gpu_programs gpu_random gpu_kernels gpu_array_buffers gpu_array_streams gpu_arrays array_chains
    array_siblings array_means array_tf32 gpu_batches gpu_experts gpu_families gpu_delta gpu_speculation gpu_gpt_oss gpu_larger
    gpu_host_weights gpu_chess gpu_speed"
folder=${2:?a folder}

case ${1:-} in
build)
    mkdir -p "$folder"
    for program in $programs; do
        file=$(${CARGO:-cargo} test --locked --no-run --test "$program" 2>&1 |
            sed -n 's/^ *Executable .* (\(.*\))$/\1/p')
        strip -s -o "$folder/$program" "$file"
    done
    ${CARGO:-cargo} build --locked --release --lib
    cp "${CARGO_TARGET_DIR:-target}/release/libmlxrocm.so" "$folder/libmlxrocm.so.0"
    for program in tests/c/soak c_examples/bench; do
        ${CC:-cc} -std=c11 -Wall -Wextra -Wpedantic -Werror -O2 -Iinclude "$program.c" \
            -o "$folder/$(basename "$program")" -Wl,-rpath,'$ORIGIN' "$folder/libmlxrocm.so.0" -lpthread
    done
    ;;
soak)
    model=$(mktemp -d)
    trap 'rm -rf "$model"' EXIT
    # 2 is the first GPU: no GPU is an error.
    "$folder/bench" --shape qwen3-0.6b "$model/shape" 1
    "$folder/soak" "$model/shape" "${3:-300}" 1
    ;;
run)
    export MLXROCM_TEST_GPU=real
    XDG_CACHE_HOME=$(mktemp -d)
    export XDG_CACHE_HOME
    trap 'rm -rf "$XDG_CACHE_HOME"' EXIT
    failed=""
    for program in $programs; do
        MLXROCM_RESULTS=${3:-/dev/null} "$folder/$program" --skip soft:: || failed="$failed $program"
    done
    if command -v compute-sanitizer >/dev/null; then
        for tool in memcheck racecheck; do
            for program in gpu_streams gpu_programs gpu_random; do
                compute-sanitizer --tool $tool --report-api-errors no --error-exitcode 9 "$folder/$program" \
                    --skip soft:: --skip thousand || failed="$failed $tool:$program"
            done
        done
    fi
    [ -z "$failed" ] || { echo "failed:$failed" >&2; exit 1; }
    echo "all passed"
    ;;
*)
    sed -n '2,10p' "$0" >&2
    exit 2
    ;;
esac
