// out[o][piece] = the elements of a part of row o of x joined: sum, product, least, largest. Rows of f32, f16 or bf16 lie
// side by side, `row_step` apart, aligned to 16 bytes; pieces are whole groups of 16 bytes. Always in the same order.
//
// Launch: 256 threads, of which `lanes` (FEW_LANES, a wave's or all) share a row, grid (rows · lanes / 256, pieces). Four loads of
// 16 bytes a thread are on their way.
#include "reduce_rows.h"

#define REDUCE_ROWS(DTYPE)                            \
    REDUCE_BEGIN                                      \
    case SUM: return reduce_rows<SUM, DTYPE>(GIVEN);  \
    case PROD: return reduce_rows<PROD, DTYPE>(GIVEN); \
    case MIN: return reduce_rows<MIN, DTYPE>(GIVEN);  \
    default: return reduce_rows<MAX, DTYPE>(GIVEN);   \
    }
KERNEL(256) void mlxrocm_array_reduce_rows_f32(ROWS) { REDUCE_ROWS(F32) }
KERNEL(256) void mlxrocm_array_reduce_rows_f16(ROWS) { REDUCE_ROWS(F16) }
KERNEL(256) void mlxrocm_array_reduce_rows_bf16(ROWS) { REDUCE_ROWS(BF16) }
