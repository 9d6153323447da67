// out[r] = x[index[r]]: rows of f32, for the tokens whose logits are wanted.
//
// Launch: 256 threads, a block a row. Indices at or past `rows` (not used) give zeros.
#include "common/platform.h"

KERNEL(256) void mlxrocm_gather_rows_f32(const f32 *x, const u32 *index, f32 *out, u32 rows, u32 cols) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 from = index[block_x()];
    for (u32 c = thread_x(); c < cols; c += 256)
        out[(u64)block_x() * cols + c] = from < rows ? x[(u64)from * cols + c] : 0.0f;
}
