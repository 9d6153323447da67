// Products of the rows of a prompt with the chosen matrices of a stack with 8-bit floats as scales, or a table of numbers: see experts_warpgroup.h.
#include "ops/matmul/experts_warpgroup.h"

EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q4_float_g16, 4, FLOAT8, 16)
EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q3_table_g16, 3, TABLE8, 16)
EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q4_table_g32, 4, TABLE16, 32)
