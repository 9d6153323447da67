// Products of 3-bit matrices with a few rows of many columns: see wide.h.
#include "ops/matmul/wide.h"

ROWS_KERNEL(mlxrocm_matmul_wide_q3_f16_g32_r1, 3, PAIR_F16, 32, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_wide_q3_f16_g32_rn, 3, PAIR_F16, 32)
ROWS_KERNEL(mlxrocm_matmul_wide_q3_f16_g64_r1, 3, PAIR_F16, 64, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_wide_q3_f16_g64_rn, 3, PAIR_F16, 64)
ROWS_KERNEL(mlxrocm_matmul_wide_q3_bf16_g32_r1, 3, PAIR_BF16, 32, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_wide_q3_bf16_g32_rn, 3, PAIR_BF16, 32)
ROWS_KERNEL(mlxrocm_matmul_wide_q3_bf16_g64_r1, 3, PAIR_BF16, 64, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_wide_q3_bf16_g64_rn, 3, PAIR_BF16, 64)
ROWS_KERNEL(mlxrocm_matmul_wide_q3_f32_g32_r1, 3, PAIR_F32, 32, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_wide_q3_f32_g32_rn, 3, PAIR_F32, 32)
ROWS_KERNEL(mlxrocm_matmul_wide_q3_sub_g16_r1, 3, SUPER_ZERO, 16, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_wide_q3_sub_g16_rn, 3, SUPER_ZERO, 16)
