// Products of 6-bit matrices with a few rows of many columns: see wide.h.
#include "ops/matmul/wide.h"

ROWS_KERNEL(mlxrocm_matmul_wide_q6_f16_g32_r1, 6, PAIR_F16, 32, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_wide_q6_f16_g32_rn, 6, PAIR_F16, 32)
ROWS_KERNEL(mlxrocm_matmul_wide_q6_f16_g64_r1, 6, PAIR_F16, 64, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_wide_q6_f16_g64_rn, 6, PAIR_F16, 64)
ROWS_KERNEL(mlxrocm_matmul_wide_q6_bf16_g32_r1, 6, PAIR_BF16, 32, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_wide_q6_bf16_g32_rn, 6, PAIR_BF16, 32)
ROWS_KERNEL(mlxrocm_matmul_wide_q6_bf16_g64_r1, 6, PAIR_BF16, 64, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_wide_q6_bf16_g64_rn, 6, PAIR_BF16, 64)
ROWS_KERNEL(mlxrocm_matmul_wide_q6_f32_g32_r1, 6, PAIR_F32, 32, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_wide_q6_f32_g32_rn, 6, PAIR_F32, 32)
ROWS_KERNEL(mlxrocm_matmul_wide_q6_sub_g16_r1, 6, SUPER_ZERO, 16, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_wide_q6_sub_g16_rn, 6, SUPER_ZERO, 16)
