// out[b][r][c] = x[b][r][c] · mask[b][r / block][c / block]: the blocks of matrices by their masks; a false mask gives 0
// whatever is there. x, mask and out lie row after row; masks are truth values or of x's dtype.
//
// Launch: 256 threads, a thread an element.
#include "dtype.h"

KERNEL(256) void mlxrocm_array_mask_blocks(const void *x, const void *mask, void *out, u32 count, u32 rows, u32 columns,
                                           u32 block, u32 dtype, u32 mask_dtype) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 i = block_x() * 256 + thread_x();
    if (i >= count) return;
    const u32 column = i % columns, row = i / columns % rows, batch = i / columns / rows;
    const u32 down = divide_up(rows, block), across = divide_up(columns, block);
    const i64 at = ((i64)batch * down + row / block) * across + column / block;
    const f32 value = load_float(x, i, dtype);
    if (mask_dtype == BOOL)
        store_float(out, i, dtype, ((const u8 *)mask)[at] ? value : 0.0f);
    else
        store_float(out, i, dtype, value * load_float(mask, at, dtype));
}
