// Products of 5-bit matrices with a few rows: see rows.h.
#include "ops/matmul/rows.h"

ROWS_KERNEL(mlxrocm_matmul_rows_q5_f16_g32_r1, 5, PAIR_F16, 32, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_rows_q5_f16_g32_rn, 5, PAIR_F16, 32)
ROWS_KERNEL(mlxrocm_matmul_rows_q5_f16_g64_r1, 5, PAIR_F16, 64, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_rows_q5_f16_g64_rn, 5, PAIR_F16, 64)
ROWS_KERNEL(mlxrocm_matmul_rows_q5_bf16_g32_r1, 5, PAIR_BF16, 32, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_rows_q5_bf16_g32_rn, 5, PAIR_BF16, 32)
ROWS_KERNEL(mlxrocm_matmul_rows_q5_bf16_g64_r1, 5, PAIR_BF16, 64, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_rows_q5_bf16_g64_rn, 5, PAIR_BF16, 64)
ROWS_KERNEL(mlxrocm_matmul_rows_q5_f32_g32_r1, 5, PAIR_F32, 32, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_rows_q5_f32_g32_rn, 5, PAIR_F32, 32)
ROWS_KERNEL(mlxrocm_matmul_rows_q5_zero_g32_r1, 5, ZERO, 32, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_rows_q5_zero_g32_rn, 5, ZERO, 32)
ROWS_KERNEL(mlxrocm_matmul_rows_q5_min_g32_r1, 5, SUPER_MIN, 32, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_rows_q5_min_g32_rn, 5, SUPER_MIN, 32)
