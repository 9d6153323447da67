// Products of matrices of 8-bit floats with a few rows of many columns: see wide.h.
#include "ops/matmul/wide.h"

ROWS_KERNEL(mlxrocm_matmul_wide_q8_power_g32_r1, 8, POWER, 32, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_wide_q8_power_g32_rn, 8, POWER, 32)
ROWS_KERNEL(mlxrocm_matmul_wide_q8_single_g64_r1, 8, SINGLE, 64, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_wide_q8_single_g64_rn, 8, SINGLE, 64)
