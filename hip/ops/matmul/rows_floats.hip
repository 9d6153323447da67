// Products of matrices of 8-bit floats with a few rows: see rows.h.
#include "ops/matmul/rows.h"

ROWS_KERNEL(mlxrocm_matmul_rows_q8_power_g32_r1, 8, POWER, 32, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_rows_q8_power_g32_rn, 8, POWER, 32)
ROWS_KERNEL(mlxrocm_matmul_rows_q8_single_g64_r1, 8, SINGLE, 64, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_rows_q8_single_g64_rn, 8, SINGLE, 64)
