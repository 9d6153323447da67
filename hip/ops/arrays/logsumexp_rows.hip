// out[o] = log Σ exp(x[o][c]) of rows that fit into registers (row_vectors.h). Longer ones: reduce_places.hip.
//
// Launch: as softmax_rows.hip.
#include "reduce_vectors.h"
#include "row_vectors.h"

struct Larger {
    DEVICE f32 combine(f32 a, f32 b) { return larger(a, b); }
};
#define LOG_SUM_EXP_ROWS const void *x, void *out, u32 rows, u32 columns, u32 lanes, u32 to
template <u32 DTYPE, int LANES>
DEVICE void log_sum_exp(const void *x, void *out, u32 rows, u32 columns, u32 to, f32 *scratch, f32 *sums) {
    Row<DTYPE, LANES> row;
    const bool is_row = row.load(x, rows, columns);
    f32 most = -infinity();
    UNROLL for (u32 j = 0; j < row.GROUPS; j++)
        UNROLL for (int i = 0; i < row.V; i++) most = larger(most, row.values[j][i]);
    most = over_lanes<Larger, LANES>(most, scratch);
    f32 sum = 0.0f;
    UNROLL for (u32 j = 0; j < row.GROUPS; j++) {
        f32 part = 0.0f;
        // Of an infinity it is not looked at.
        UNROLL for (int i = 0; i < row.V; i++) {
            const f32 less = row.values[j][i] - most;
            part += DTYPE == F32 ? exact_exp(less) : brief_exp(less);
        }
        sum += row.has(j) ? part : 0.0f;
    }
    sum = over_lanes<Sum, LANES>(sum, sums);
    if (is_row && row.lane == 0) store_float(out, (i64)(row.first / columns), to, result_of<LOG_SUM_EXP>(Joined{most, sum, 0}));
}
#define LOG_SUM_EXP_KERNEL(NAME, DTYPE)                                                   \
    KERNEL(256) void NAME(LOG_SUM_EXP_ROWS) {                                             \
        SHARED f32 scratch[256 / WAVE], sums[256 / WAVE];                                 \
        grid_dependency_launch();                                                         \
        grid_dependency_wait();                                                           \
        if (lanes == 8)                                                                   \
            log_sum_exp<DTYPE, 8>(x, out, rows, columns, to, scratch, sums);              \
        else if (lanes == 32)                                                             \
            log_sum_exp<DTYPE, 32>(x, out, rows, columns, to, scratch, sums);             \
        else if (lanes == 128)                                                            \
            log_sum_exp<DTYPE, 128>(x, out, rows, columns, to, scratch, sums);            \
        else                                                                              \
            log_sum_exp<DTYPE, 256>(x, out, rows, columns, to, scratch, sums);            \
    }
LOG_SUM_EXP_KERNEL(mlxrocm_array_logsumexp_f32, F32)
LOG_SUM_EXP_KERNEL(mlxrocm_array_logsumexp_f16, F16)
LOG_SUM_EXP_KERNEL(mlxrocm_array_logsumexp_bf16, BF16)
