// vector_add: c[i] = a[i] + b[i] for i < count. The example of a kernel.
//
// Layout: dense f32 arrays, aligned to 4 bytes. Launch: blocks of 256 threads, one number a thread:
// grid = ceil(count / 256).
#include "common/platform.h"

KERNEL(256)
void mlxrocm_vector_add_f32(f32 *RESTRICT c, const f32 *RESTRICT a, const f32 *RESTRICT b, u32 count) {
    u32 i = block_x() * 256 + thread_x();
    if (i < count) c[i] = a[i] + b[i];
}
