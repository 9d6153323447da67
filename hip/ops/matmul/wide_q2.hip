// Products of 2-bit matrices with a few rows of many columns: see wide.h.
#include "ops/matmul/wide.h"

ROWS_KERNEL(mlxrocm_matmul_wide_q2_f16_g32_r1, 2, PAIR_F16, 32, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_wide_q2_f16_g32_rn, 2, PAIR_F16, 32)
ROWS_KERNEL(mlxrocm_matmul_wide_q2_f16_g64_r1, 2, PAIR_F16, 64, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_wide_q2_f16_g64_rn, 2, PAIR_F16, 64)
ROWS_KERNEL(mlxrocm_matmul_wide_q2_bf16_g32_r1, 2, PAIR_BF16, 32, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_wide_q2_bf16_g32_rn, 2, PAIR_BF16, 32)
ROWS_KERNEL(mlxrocm_matmul_wide_q2_bf16_g64_r1, 2, PAIR_BF16, 64, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_wide_q2_bf16_g64_rn, 2, PAIR_BF16, 64)
ROWS_KERNEL(mlxrocm_matmul_wide_q2_f32_g32_r1, 2, PAIR_F32, 32, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_wide_q2_f32_g32_rn, 2, PAIR_F32, 32)
ROWS_KERNEL(mlxrocm_matmul_wide_q2_min_g16_r1, 2, SUPER_MIN, 16, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_wide_q2_min_g16_rn, 2, SUPER_MIN, 16)
