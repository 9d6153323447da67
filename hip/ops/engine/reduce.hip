// reduce: out[row] = sum (or maximum) of in[row][0 .. columns); an empty row gives 0 (or -infinity).
//
// Layout: `in` is f32 [rows][columns], dense, aligned to 4 bytes. Launch: one block of 256 threads a
// row. Thread t takes the columns t, t + 256, ..., then the wave and the block are reduced in a fixed
// order, so the same row gives the same bits on every run.
#include "common/reduce.h"

template <typename Op> DEVICE void reduce_row(f32 *out, const f32 *in, u32 columns) {
    SHARED f32 scratch[256 / WAVE];
    const f32 *row = in + (u64)block_x() * columns;
    f32 value = Op::identity();
    for (u32 i = thread_x(); i < columns; i += 256) value = Op::combine(value, row[i]);
    value = block_reduce<Op, 256>(value, scratch);
    if (thread_x() == 0) out[block_x()] = value;
}

KERNEL(256) void mlxrocm_reduce_sum_f32(f32 *RESTRICT out, const f32 *RESTRICT in, u32 columns) {
    reduce_row<Sum>(out, in, columns);
}

KERNEL(256) void mlxrocm_reduce_max_f32(f32 *RESTRICT out, const f32 *RESTRICT in, u32 columns) {
    reduce_row<Maximum>(out, in, columns);
}
