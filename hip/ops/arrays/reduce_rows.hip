// out[o][piece] = the elements of a part of row o of x joined: sum, product, least, largest. Rows of f32, f16 or bf16 lie
// side by side, `row_step` apart, aligned to 16 bytes; pieces are whole groups of 16 bytes. Sums are divided by `divisor`, if it
// is not 0. Always in the same order.
//
// Launch: 256 threads, of which `lanes` (a power of two from FEWEST_LANES to a wave's, or all) share a row, grid
// (rows · lanes / 256, pieces). Four loads of 16 bytes a thread are on their way.
#include "means.h"
#include "reduce_rows.h"

template <u32 REDUCTION, u32 DTYPE>
DEVICE void reduce_rows(const Part<DTYPE> &part, void *out, u32 to, f32 divisor, f32 *waves) {
    const f32 total = over_threads<OneOf<REDUCTION>>(over_part<REDUCTION>(part), part.lanes, waves);
    if (part.stores()) store_mean(out, part.place(), to, total, REDUCTION == SUM ? divisor : 0.0f);
}
#define REDUCE_ROWS(DTYPE)                                              \
    SHARED f32 waves[256 / WAVE];                                       \
    REDUCE_BEGIN(DTYPE)                                                 \
    switch (reduction) {                                                \
    case SUM: return reduce_rows<SUM>(part, out, to, divisor, waves);   \
    case PROD: return reduce_rows<PROD>(part, out, to, divisor, waves); \
    case MIN: return reduce_rows<MIN>(part, out, to, divisor, waves);   \
    default: return reduce_rows<MAX>(part, out, to, divisor, waves);    \
    }
// On NVIDIA with the registers of eight blocks a multiprocessor: with 40 there are six, too few loads on their way.
#if PLATFORM_NVIDIA
#define KERNEL_OF_ROWS KERNEL_WAVES(256, 16)
#else
#define KERNEL_OF_ROWS KERNEL(256)
#endif
KERNEL_OF_ROWS void mlxrocm_array_reduce_rows_f32(ROWS, f32 divisor) { REDUCE_ROWS(F32) }
KERNEL_OF_ROWS void mlxrocm_array_reduce_rows_f16(ROWS, f32 divisor) { REDUCE_ROWS(F16) }
KERNEL_OF_ROWS void mlxrocm_array_reduce_rows_bf16(ROWS, f32 divisor) { REDUCE_ROWS(BF16) }
