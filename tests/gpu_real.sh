#!/bin/sh
# Runs the engine's tests on a real GPU, which may be in another machine than the one that builds.
#
#     sh tests/gpu_real.sh build FOLDER            builds the test programs into FOLDER
#     sh tests/gpu_real.sh run FOLDER [RESULTS]    runs them; the costs go to the file RESULTS
#
# The tests' own kernels are compiled at run time (hiprtc, or NVRTC of the CUDA toolkit). Where
# compute-sanitizer is found, memcheck and racecheck run too.
set -eu
programs="gpu_memory gpu_streams gpu_programs gpu_random gpu_kernels gpu_speed"
folder=${2:?a folder}

case ${1:-} in
build)
    mkdir -p "$folder"
    for program in $programs; do
        file=$(${CARGO:-cargo} test --locked --no-run --test "$program" 2>&1 |
            sed -n 's/^ *Executable .* (\(.*\))$/\1/p')
        strip -s -o "$folder/$program" "$file"
    done
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
    sed -n '2,9p' "$0" >&2
    exit 2
    ;;
esac
