// Rows of x as integers, for the products of wide.h: see rows_x_kernel.h.
#define WIDE
#include "ops/matmul/rows_x_kernel.h"

ROWS_X_KERNEL(mlxrocm_matmul_wide_x_g16, 16, false)
ROWS_X_KERNEL(mlxrocm_matmul_wide_x_g32, 32, false)
ROWS_X_KERNEL(mlxrocm_matmul_wide_x_g64, 64, false)
ROWS_X_KERNEL(mlxrocm_matmul_wide_x_f16_g32, 32, true)
ROWS_X_KERNEL(mlxrocm_matmul_wide_x_f16_g64, 64, true)
