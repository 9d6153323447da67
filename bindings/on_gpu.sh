#!/bin/sh
# Runs a command on the software GPU, a stand-in for HIP's library that `cargo test` builds (called by the languages' test.sh).
if ! [ -e "${MLXROCM_SOFTWARE_GPU:-}" ]; then
    echo "NOT RUN: a kernel of one's own and arrays on a GPU: $* (no libsoftgpu.so: cargo test builds it)" >&2
    exit 0
fi
MLXROCM_HIP_LIBRARY=$MLXROCM_SOFTWARE_GPU MLXROCM_CUDA_LIBRARY=/nonexistent/cuda.so SOFTGPU_CONFIG="devices=gfx1151;integrated=0" \
    XDG_CACHE_HOME="$MLXROCM_BINDINGS_WORK/cache" exec "$@"
