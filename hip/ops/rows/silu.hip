// out[i] = silu(gate[i]) · up[i], for gate and up matrices of different formats (else the product
// does it). gate and out may be the same.
//
// Launch: 256 threads, blocks of 256 numbers each.
#include "common/platform.h"

KERNEL(256) void mlxrocm_silu_mul_f32(const f32 *gate, const f32 *up, f32 *out, u32 count) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 i = block_x() * 256 + thread_x();
    if (i < count) out[i] = gate[i] / (1.0f + fast_exp2(-1.44269504f * gate[i])) * up[i];
}
