// Products of 8-bit matrices with a few rows of many columns: see wide.h.
#include "ops/matmul/wide.h"

ROWS_KERNEL(mlxrocm_matmul_wide_q8_f16_g32_r1, 8, PAIR_F16, 32, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_wide_q8_f16_g32_rn, 8, PAIR_F16, 32)
ROWS_KERNEL(mlxrocm_matmul_wide_q8_f16_g64_r1, 8, PAIR_F16, 64, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_wide_q8_f16_g64_rn, 8, PAIR_F16, 64)
ROWS_KERNEL(mlxrocm_matmul_wide_q8_bf16_g32_r1, 8, PAIR_BF16, 32, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_wide_q8_bf16_g32_rn, 8, PAIR_BF16, 32)
ROWS_KERNEL(mlxrocm_matmul_wide_q8_bf16_g64_r1, 8, PAIR_BF16, 64, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_wide_q8_bf16_g64_rn, 8, PAIR_BF16, 64)
ROWS_KERNEL(mlxrocm_matmul_wide_q8_f32_g32_r1, 8, PAIR_F32, 32, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_wide_q8_f32_g32_rn, 8, PAIR_F32, 32)
ROWS_KERNEL(mlxrocm_matmul_wide_q8_zero_g32_r1, 8, ZERO, 32, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_wide_q8_zero_g32_rn, 8, ZERO, 32)
