#!/bin/sh
# Writes hip.rs and cuda.rs again, with bindgen-cli 0.73:
#     sh regenerate.sh HIP_INCLUDE CUDA_INCLUDE [clang flags...]
# HIP_INCLUDE: the folder with hip/hip_runtime_api.h (Debian's libamdhip64-dev 5.2.3: /usr/include).
# CUDA_INCLUDE: the folder with cuda.h (PyPI's nvidia-cuda-runtime-cu12 12.9.79).
# Then format them with rustfmt; src/driver/sys/tests.rs compares them with the headers.
set -eu
hip=$1 cuda=$2
shift 2
here=$(dirname "$0")
options="--no-layout-tests --no-doc-comments --default-enum-style consts --no-prepend-enum-name --use-core"
# shellcheck disable=SC2086
bindgen "$hip/hip/hip_runtime_api.h" $options \
    --allowlist-type 'hipDeviceAttribute_t|hipError_t|hipKernelNodeParams|hipMemsetParams|hipFunction_attribute|hipMemcpyKind' \
    --allowlist-var 'hipEventBlockingSync|hipEventDisableTiming|hipStreamNonBlocking|hipHostMallocPortable|hipHostMallocMapped' \
    -- -D__HIP_PLATFORM_AMD__ "-I$hip" "$@" >"$here/hip.rs"
# shellcheck disable=SC2086
bindgen "$cuda/cuda.h" $options \
    --allowlist-type 'CUDA_KERNEL_NODE_PARAMS_v2|CUDA_MEMSET_NODE_PARAMS|CUDA_MEMCPY3D|CUgraphEdgeData|CUlaunchConfig|CUlaunchAttribute|CUdevice_attribute|CUfunction_attribute|CUresult|CUmemorytype|CUgraphDependencyType|CUevent_flags|CUstream_flags' \
    --allowlist-var 'CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC|CU_MEMHOSTALLOC_(PORTABLE|DEVICEMAP)' \
    -- "$@" >"$here/cuda.rs"
