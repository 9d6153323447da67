// out[o] = log Σ exp(x[o][c]) of rows that fit into registers (row_vectors.h). Longer ones: reduce_places.hip.
//
// Launch: as softmax_rows.hip. Each wave sums what it has over its own largest element, so that a block meets once.
#include "reduce_vectors.h"
#include "row_vectors.h"

#define LOG_SUM_EXP_ROWS const void *x, void *out, u32 rows, u32 columns, u32 lanes, u32 to
template <u32 DTYPE, int LANES> DEVICE void log_sum_exp(const void *x, void *out, u32 rows, u32 columns, u32 to, LogSum *waves) {
    constexpr int OF_WAVE = LANES < WAVE ? LANES : WAVE, WAVES = LANES / OF_WAVE;
    Row<DTYPE, LANES> row;
    const bool is_row = row.load(x, rows, columns);
    f32 most = -infinity();
    UNROLL for (u32 j = 0; j < row.GROUPS; j++)
        UNROLL for (int i = 0; i < row.V; i++) most = maximum_or_nan(most, row.values[j][i]);
    most = wave_reduce<Larger, OF_WAVE>(most);
    f32 sum = 0.0f;
    UNROLL for (u32 j = 0; j < row.GROUPS; j++) {
        f32 part = 0.0f;
        UNROLL for (int i = 0; i < row.V; i++)
            part += DTYPE == F32 ? share_of(row.values[j][i], most) : brief_exp(row.values[j][i] - most);
        sum += row.has(j) ? part : 0.0f;
    }
    LogSum total{most, wave_sum<OF_WAVE>(sum)};
    if constexpr (WAVES > 1) {
        if (lane_id() == 0) waves[wave_id()] = total;
        barrier();
        if (wave_id() % WAVES != 0) return;
        total = over_lanes<WAVES>(waves[wave_id() + lane_id() % WAVES]);
    }
    if (is_row && row.lane == 0) store_float(out, (i64)(row.first / columns), to, total.result());
}
#define LOG_SUM_EXP_KERNEL(NAME, DTYPE)                             \
    KERNEL(256) void NAME(LOG_SUM_EXP_ROWS) {                       \
        SHARED LogSum waves[256 / WAVE];                            \
        grid_dependency_launch();                                   \
        grid_dependency_wait();                                     \
        WITH_LANES(log_sum_exp, DTYPE, x, out, rows, columns, to, waves) \
    }
LOG_SUM_EXP_KERNEL(mlxrocm_array_logsumexp_f32, F32)
LOG_SUM_EXP_KERNEL(mlxrocm_array_logsumexp_f16, F16)
LOG_SUM_EXP_KERNEL(mlxrocm_array_logsumexp_bf16, BF16)
