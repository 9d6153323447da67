// layer_norm: out[c] = (x[c] - mean) · rsqrt(variance + eps) · weight[c] + bias[c] of rows that fit into registers: norm_rows.h.
//
// Launch: 256 threads, a block 256 / lanes rows.
#include "norm_rows.h"

KERNEL(256) void mlxrocm_array_layer_norm_f32(NORM) { NORM_ROWS(layer_norm, F32) }
KERNEL(256) void mlxrocm_array_layer_norm_f16(NORM) { NORM_ROWS(layer_norm, F16) }
KERNEL(256) void mlxrocm_array_layer_norm_bf16(NORM) { NORM_ROWS(layer_norm, BF16) }
