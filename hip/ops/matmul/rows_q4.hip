// Products of 4-bit matrices with a few rows: see rows.h.
#include "ops/matmul/rows.h"

ROWS_KERNEL(mlxrocm_matmul_rows_q4_f16_g32_r1, 4, PAIR_F16, 32, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_rows_q4_f16_g32_rn, 4, PAIR_F16, 32)
ROWS_KERNEL(mlxrocm_matmul_rows_q4_f16_g64_r1, 4, PAIR_F16, 64, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_rows_q4_f16_g64_rn, 4, PAIR_F16, 64)
ROWS_KERNEL(mlxrocm_matmul_rows_q4_bf16_g32_r1, 4, PAIR_BF16, 32, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_rows_q4_bf16_g32_rn, 4, PAIR_BF16, 32)
ROWS_KERNEL(mlxrocm_matmul_rows_q4_bf16_g64_r1, 4, PAIR_BF16, 64, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_rows_q4_bf16_g64_rn, 4, PAIR_BF16, 64)
ROWS_KERNEL(mlxrocm_matmul_rows_q4_f32_g32_r1, 4, PAIR_F32, 32, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_rows_q4_f32_g32_rn, 4, PAIR_F32, 32)
ROWS_KERNEL(mlxrocm_matmul_rows_q4_zero_g32_r1, 4, ZERO, 32, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_rows_q4_zero_g32_rn, 4, ZERO, 32)
ROWS_KERNEL(mlxrocm_matmul_rows_q4_min_g32_r1, 4, SUPER_MIN, 32, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_rows_q4_min_g32_rn, 4, SUPER_MIN, 32)
ROWS_KERNEL(mlxrocm_matmul_rows_q4_power_g32_r1, 4, POWER, 32, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_rows_q4_power_g32_rn, 4, POWER, 32)
