#!/bin/sh
# Tests the languages' packages: bindings/test.sh [LANGUAGE...]
#
# The library is $MLXROCM_LIBRARY, else what cargo built last. What a language needs is fetched into target/bindings by pip
# and npm, and by apt when root. A language that could not be tried has failed.
set -u
cd "$(dirname "$0")/.." || exit 1
tree=$(pwd)
target=${CARGO_TARGET_DIR:-$tree/target}
work=$target/bindings
mkdir -p "$work" || exit 1
target=$(cd "$target" && pwd)
work=$target/bindings

. tests/support/library.sh

export MLXROCM_TREE="$tree" MLXROCM_LIBRARY="$work/lib/libmlxrocm.so.0"
export MLXROCM_LIBRARY_DIR="$work/lib" LD_LIBRARY_PATH="$work/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export MLXROCM_BINDINGS_WORK="$work"
export MLXROCM_SOFTWARE_GPU="${MLXROCM_SOFTWARE_GPU:-$target/debug/deps/libsoftgpu.so}"

languages=${*:-generated python go node rust cpp zig}
passed=""
failed=""
passes=0
failures=0
for language in $languages; do
    echo "== $language"
    begin=$(date +%s)
    if [ "$language" = generated ]; then
        ${PYTHON:-python3} bindings/generate.py --check
    else
        sh "bindings/$language/test.sh"
    fi </dev/null
    if [ $? = 0 ]; then
        passed="$passed $language"
        passes=$((passes + 1))
    else
        failed="$failed $language"
        failures=$((failures + 1))
    fi
    echo "   $(($(date +%s) - begin)) s"
done
echo "languages: $passes passed (${passed# }), $failures failed${failed:+ (${failed# })}"
[ -z "$failed" ]
