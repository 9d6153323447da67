// Products of matrices whose scales have zero points or are 8-bit floats, or whose codes are places in a table, with a few rows: see rows.h.
#include "ops/matmul/rows.h"

ROWS_KERNEL(mlxrocm_matmul_rows_q4_point_g64_r1, 4, POINT, 64, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_rows_q4_point_g64_rn, 4, POINT, 64)
ROWS_KERNEL(mlxrocm_matmul_rows_q4_float_g16_r1, 4, FLOAT8, 16, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_rows_q4_float_g16_rn, 4, FLOAT8, 16)
ROWS_KERNEL(mlxrocm_matmul_rows_q3_table_g16_r1, 3, TABLE8, 16, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_rows_q3_table_g16_rn, 3, TABLE8, 16)
ROWS_KERNEL(mlxrocm_matmul_rows_q4_table_g32_r1, 4, TABLE16, 32, 1)
MANY_ROWS_KERNEL(mlxrocm_matmul_rows_q4_table_g32_rn, 4, TABLE16, 32)
