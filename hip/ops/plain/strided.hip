// out[i] = x[place(i)]: a view (broadcast, transpose, slice) whose elements have to be moved, 32 bits each.
// i counts through sizes s0 … s5, the last one fastest; strides t0 … t5 are in elements, 0 where x repeats.
//
// Launch: 256 threads, blocks of 256 elements each; axes that are not there have size 1 in front.
#include "common/platform.h"

KERNEL(256) void mlxrocm_strided_copy_u32(const u32 *x, u32 *out, u32 count, u32 s1, u32 s2, u32 s3, u32 s4,
                                          u32 s5, i32 t0, i32 t1, i32 t2, i32 t3, i32 t4, i32 t5) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 i = block_x() * 256 + thread_x();
    if (i >= count) return;
    u32 rest = i;
    i64 at = (i64)(rest % s5) * t5;
    rest /= s5;
    at += (i64)(rest % s4) * t4;
    rest /= s4;
    at += (i64)(rest % s3) * t3;
    rest /= s3;
    at += (i64)(rest % s2) * t2;
    rest /= s2;
    at += (i64)(rest % s1) * t1;
    rest /= s1;
    at += (i64)rest * t0;
    out[i] = x[at];
}
