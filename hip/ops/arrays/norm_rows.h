// Norms of rows that fit into registers: row_vectors.h. A weight or bias that is null counts as 1 or 0; they lie one after
// the other in x's dtype, aligned to 16 bytes. Longer rows: rows.hip.
#pragma once

#include "row_vectors.h"

#define NORM const void *x, const void *weight, const void *bias, void *out, u32 rows, u32 columns, u32 lanes, f32 eps
#define NORM_OF const void *x, const void *weight, const void *bias, void *out, u32 rows, u32 columns, f32 eps, f32 *scratch, f32 *squared

template <u32 DTYPE, int LANES> DEVICE void factors(const Row<DTYPE, LANES> &row, u32 j, const void *from, f32 (&made)[16 / bytes_of(DTYPE)]) {
    const Bits<16> bits = load_group<16>((const u8 *)from + row.group(j) * 16);
    UNROLL for (int i = 0; i < row.V; i++) made[i] = number_in<DTYPE>(bits, i);
}
// What a row, less its mean in a layer norm, is multiplied by: of the square root of the mean of squares.
template <bool IS_LAYER, u32 DTYPE, int LANES>
DEVICE f32 row_factor(Row<DTYPE, LANES> &row, f32 mean, u32 columns, f32 eps, f32 *squared) {
    f32 squares = 0.0f;
    UNROLL for (u32 j = 0; j < row.GROUPS; j++) {
        f32 part = 0.0f;
        UNROLL for (int i = 0; i < row.V; i++) {
            if (IS_LAYER) row.values[j][i] -= mean;
            part = mul_add(row.values[j][i], row.values[j][i], part);
        }
        squares += row.has(j) ? part : 0.0f;
    }
    return 1.0f / exact_sqrt(over_lanes<Sum, LANES>(squares, squared) / (f32)columns + eps);
}
template <u32 DTYPE, int LANES, bool IS_LAYER> DEVICE void norm(NORM_OF) {
    Row<DTYPE, LANES> row;
    const bool is_row = row.load(x, rows, columns);
    f32 mean = 0.0f;
    if constexpr (IS_LAYER) {
        f32 sum = 0.0f;
        UNROLL for (u32 j = 0; j < row.GROUPS; j++) {
            f32 part = 0.0f;
            UNROLL for (int i = 0; i < row.V; i++) part += row.values[j][i];
            sum += row.has(j) ? part : 0.0f;
        }
        mean = over_lanes<Sum, LANES>(sum, scratch) / (f32)columns;
    }
    const f32 scale = row_factor<IS_LAYER>(row, mean, columns, eps, squared);
    if (!is_row) return;
    UNROLL for (u32 j = 0; j < row.GROUPS; j++) {
        f32 more[row.V];
        UNROLL for (int i = 0; i < row.V; i++) row.values[j][i] *= scale;
        if (weight) {
            factors(row, j, weight, more);
            UNROLL for (int i = 0; i < row.V; i++) row.values[j][i] *= more[i];
        }
        if (IS_LAYER && bias) {
            factors(row, j, bias, more);
            UNROLL for (int i = 0; i < row.V; i++) row.values[j][i] += more[i];
        }
        row.store(out, j, row.values[j]);
    }
}
template <u32 DTYPE, int LANES> DEVICE void layer_norm(NORM_OF) {
    norm<DTYPE, LANES, true>(x, weight, bias, out, rows, columns, eps, scratch, squared);
}
template <u32 DTYPE, int LANES> DEVICE void rms_norm(NORM_OF) {
    norm<DTYPE, LANES, false>(x, weight, bias, out, rows, columns, eps, scratch, squared);
}
#define NORM_ROWS(FUNCTION, DTYPE)                       \
    SHARED f32 scratch[256 / WAVE], squared[256 / WAVE]; \
    grid_dependency_launch();                            \
    grid_dependency_wait();                              \
    WITH_LANES(FUNCTION, DTYPE, x, weight, bias, out, rows, columns, eps, scratch, squared)
