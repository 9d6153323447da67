#!/usr/bin/env bash
# Measures libmlxrocm on the CPU beside ik_llama.cpp and llama.cpp and writes the table into docs/performance.md.
# `make bench-cpu` calls it; the release library and the demo model are there then.
#
# Needs gcc, python3 with venv, and the network the first time: the peers come from the Python package index,
# ik_llama.cpp as a wheel, llama.cpp as source that is built for this machine (10 minutes on two cores). All of it
# stays in .cache/bench.
#   BENCH_ROUNDS=9           rounds; every round runs every row once
#   BENCH_IDLE_WAIT=120      seconds a run waits for an idle machine before it goes on all the same
#   BENCH_WRITE=1            write docs/performance.md even if the machine was not quiet
#   BENCH_LLAMA_BENCH=PATH   a llama-bench to use instead of building one
#   BENCH_IK_PYTHON=PATH     a Python that has ik-llama-cpp-python
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
cache=$root/.cache/bench
python=${PYTHON:-python3}
release=${RELEASE:-target/release}
model=${MLXROCM_DEMO_MODEL:-.cache/models/SmolLM2-135M-Instruct.Q4_1.gguf}
ik=ik-llama-cpp-python==0.1.5
llama=0.3.36
mkdir -p "$cache"

venv() { [ -x "$cache/venv/bin/python" ] || "$python" -m venv "$cache/venv"; }
pip() { "$cache/venv/bin/python" -m pip --quiet --disable-pip-version-check "$@"; }

ik_python=${BENCH_IK_PYTHON:-$cache/venv/bin/python}
if ! "$ik_python" -c "import ik_llama_cpp" 2>/dev/null; then
    echo "fetching ik_llama.cpp ($ik)" >&2
    venv
    pip install "$ik"
fi

llama_bench=${BENCH_LLAMA_BENCH:-$cache/build-llama/bin/llama-bench}
if [ ! -x "$llama_bench" ]; then
    echo "fetching and building llama.cpp (llama-cpp-python $llama): about ten minutes, once" >&2
    venv
    pip install cmake ninja scikit-build-core
    source=$cache/llama_cpp_python-$llama
    if [ ! -d "$source" ]; then
        PATH="$cache/venv/bin:$PATH" pip download --dest "$cache" --no-deps --no-binary :all: \
            --no-build-isolation "llama-cpp-python==$llama"
        tar -x -C "$cache" -f "$source.tar.gz"
    fi
    PATH="$cache/venv/bin:$PATH" cmake -S "$source/vendor/llama.cpp" -B "$cache/build-llama" -G Ninja \
        -DCMAKE_BUILD_TYPE=Release -DGGML_NATIVE=ON -DBUILD_SHARED_LIBS=ON -DGGML_BLAS=OFF \
        -DLLAMA_CURL=OFF -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF \
        -DLLAMA_BUILD_SERVER=OFF -DLLAMA_BUILD_TOOLS=ON >"$cache/build.log"
    PATH="$cache/venv/bin:$PATH" cmake --build "$cache/build-llama" --target llama-bench >>"$cache/build.log"
fi

cc=${CC:-gcc}
"$cc" -O3 -mavx2 -pthread -Wall -Wextra -Werror tests/bench/read_bandwidth.c -o "$cache/read_bandwidth"
"$cc" -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -Iinclude tests/bench/mlxrocm_bench.c \
    -o "$cache/mlxrocm_bench" -L"$release" -Wl,-rpath,"$(cd "$release" && pwd)" -lmlxrocm

"$python" tests/bench/cpu.py --model "$model" --ours "$cache/mlxrocm_bench" --ik-python "$ik_python" \
    --llama-bench "$llama_bench" --bandwidth "$cache/read_bandwidth" --rounds "${BENCH_ROUNDS:-9}" \
    --report docs/performance.md --json "$cache/cpu.json"
