// softmax: out[c] = exp(x[c] - max) / Σ exp(x[c] - max) of rows that fit into registers: row_vectors.h. Longer ones:
// rows.hip.
//
// Launch: 256 threads, a block 256 / lanes rows.
#include "row_vectors.h"

#define SOFTMAX const void *x, void *out, u32 rows, u32 columns, u32 lanes
template <u32 DTYPE, int LANES> DEVICE void softmax(const void *x, void *out, u32 rows, u32 columns, f32 *scratch, f32 *sums) {
    Row<DTYPE, LANES> row;
    const bool is_row = row.load(x, rows, columns);
    f32 most = -infinity();
    UNROLL for (u32 j = 0; j < row.GROUPS; j++)
        UNROLL for (int i = 0; i < row.V; i++) most = maximum(most, row.values[j][i]);
    most = over_lanes<Maximum, LANES>(most, scratch);
    f32 sum = 0.0f;
    UNROLL for (u32 j = 0; j < row.GROUPS; j++) {
        f32 part = 0.0f;
        UNROLL for (int i = 0; i < row.V; i++) {
            const f32 less = row.values[j][i] - most;
            row.values[j][i] = DTYPE == F32 ? exact_exp(less) : brief_exp(less);
            part += row.values[j][i];
        }
        sum += row.has(j) ? part : 0.0f;
    }
    sum = over_lanes<Sum, LANES>(sum, sums);
    if (!is_row) return;
    const f32 scale = 1.0f / sum;
    UNROLL for (u32 j = 0; j < row.GROUPS; j++) {
        UNROLL for (int i = 0; i < row.V; i++) row.values[j][i] = DTYPE == F32 ? row.values[j][i] / sum : row.values[j][i] * scale;
        row.store(out, j, row.values[j]);
    }
}
#define SOFTMAX_ROWS(DTYPE)                           \
    SHARED f32 scratch[256 / WAVE], sums[256 / WAVE]; \
    grid_dependency_launch();                         \
    grid_dependency_wait();                           \
    WITH_LANES(softmax, DTYPE, x, out, rows, columns, scratch, sums)
KERNEL(256) void mlxrocm_array_softmax_f32(SOFTMAX) { SOFTMAX_ROWS(F32) }
KERNEL(256) void mlxrocm_array_softmax_f16(SOFTMAX) { SOFTMAX_ROWS(F16) }
KERNEL(256) void mlxrocm_array_softmax_bf16(SOFTMAX) { SOFTMAX_ROWS(BF16) }
