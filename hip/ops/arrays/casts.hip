// out[i] = x[i] as another float, 16 bytes of the wider one at a time: vectors.h says how x may lie.
//
// Launch: 256 threads, a block 4096 elements of out.
#include "unary_vectors.h"

#define CAST_CASE(FROM, TO) \
    case FROM * 16 + TO: return unary_vectors<CAST, FROM, TO>(x, out, count, columns, x_row, x_step);
// `function`: from · 16 + to.
KERNEL(256) void mlxrocm_array_cast(UNARY_VECTORS) {
    grid_dependency_launch();
    grid_dependency_wait();
    switch (function) {
        CAST_CASE(F32, F16)
        CAST_CASE(F32, BF16)
        CAST_CASE(F16, F32)
        CAST_CASE(BF16, F32)
        CAST_CASE(F16, BF16)
        CAST_CASE(BF16, F16)
    }
}
