#!/bin/sh
# Runs the fuzz targets, one after the other, each for so many seconds:
#   sh tests/fuzz/run.sh 600 [target...]
# Needs a nightly compiler and `cargo install cargo-fuzz`. What it finds lies in
# tests/fuzz/artifacts/<target>; minimised (`cargo +nightly fuzz tmin`) and moved to
# tests/fuzz/regressions/<target>, tests/fuzz_regressions.rs runs it from then on.
#
# The time of an input is judged by the processor time it takes (tests/support/fuzz_bodies.rs), so
# that a busy machine reports nothing; -timeout only ends what never ends.
set -eu

cd "$(dirname "$0")/../.."
# Freed memory is kept aside only a little, so that the memory limit judges what is in use.
export ASAN_OPTIONS="${ASAN_OPTIONS:-quarantine_size_mb=32}"
seconds=$1
shift
[ $# -gt 0 ] || set -- gguf safetensors config tokenizer chat_template chess grammar

for target; do
    corpus=tests/fuzz/corpus/$target
    mkdir -p "$corpus" "tests/fuzz/regressions/$target"
    "${CARGO:-cargo}" +nightly fuzz run --fuzz-dir tests/fuzz "$target" \
        "$corpus" "tests/fuzz/seeds/$target" "tests/fuzz/regressions/$target" -- \
        -dict="tests/fuzz/dictionaries/$target.dict" -max_len=65536 -rss_limit_mb=512 \
        -timeout=300 -max_total_time="$seconds" -print_final_stats=1
done
