// Products of some rows with the chosen matrices of a stack with 8-bit floats as scales, or a table of numbers: see experts_tiles.h, experts_down.h.
#include "ops/matmul/experts_down.h"

EXPERTS_TILES_KERNEL(mlxrocm_matmul_experts_tiles_q4_float_g16, 4, FLOAT8, 16)
EXPERTS_TILES_KERNEL(mlxrocm_matmul_experts_tiles_q3_table_g16, 3, TABLE8, 16)
EXPERTS_TILES_KERNEL(mlxrocm_matmul_experts_tiles_q4_table_g32, 4, TABLE16, 32)
EXPERTS_FEW_KERNEL(mlxrocm_matmul_experts_tiles_few_q4_float_g16, 4, FLOAT8, 16)
EXPERTS_FEW_KERNEL(mlxrocm_matmul_experts_tiles_few_q3_table_g16, 3, TABLE8, 16)
EXPERTS_FEW_KERNEL(mlxrocm_matmul_experts_tiles_few_q4_table_g32, 4, TABLE16, 32)
EXPERTS_DOWN_KERNEL(mlxrocm_matmul_experts_tiles_down_q4_float_g16, 4, FLOAT8, 16)
EXPERTS_DOWN_KERNEL(mlxrocm_matmul_experts_tiles_down_q3_table_g16, 3, TABLE8, 16)
EXPERTS_DOWN_KERNEL(mlxrocm_matmul_experts_tiles_down_q4_table_g32, 4, TABLE16, 32)
ROWS_TILES_KERNEL(mlxrocm_matmul_tiles_q4_float_g16, 4, FLOAT8, 16)
ROWS_TILES_KERNEL(mlxrocm_matmul_tiles_q3_table_g16, 3, TABLE8, 16)
ROWS_TILES_KERNEL(mlxrocm_matmul_tiles_q4_table_g32, 4, TABLE16, 32)
