// out[o] = the log of the sum of exponentials of a row o of x, or the place of its least or largest element: else as
// reduce_rows.hip.
//
// Launch: as reduce_rows.hip; places are not cut into pieces.
#include "reduce_rows.h"

#define REDUCE_PLACES(DTYPE)                                         \
    REDUCE_BEGIN                                                     \
    case LOG_SUM_EXP: return reduce_rows<LOG_SUM_EXP, DTYPE>(GIVEN); \
    default: return reduce_rows<ARG_MAX, DTYPE>(GIVEN);              \
    }
KERNEL(256) void mlxrocm_array_reduce_places_f32(ROWS) { REDUCE_PLACES(F32) }
KERNEL(256) void mlxrocm_array_reduce_places_f16(ROWS) { REDUCE_PLACES(F16) }
KERNEL(256) void mlxrocm_array_reduce_places_bf16(ROWS) { REDUCE_PLACES(BF16) }
