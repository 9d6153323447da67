// Products of a row with the chosen matrices of a stack with 8-bit floats as scales, or a table of numbers: see experts.h, experts_group.h.
#include "ops/matmul/experts.h"
#include "ops/matmul/experts_group.h"

EXPERTS_KERNEL(mlxrocm_matmul_experts_q4_float_g16, 4, FLOAT8, 16)
EXPERTS_KERNEL(mlxrocm_matmul_experts_q3_table_g16, 3, TABLE8, 16)
EXPERTS_KERNEL(mlxrocm_matmul_experts_q4_table_g32, 4, TABLE16, 32)
EXPERTS_GROUP_KERNEL(mlxrocm_matmul_experts_group_q4_float_g16, 4, FLOAT8, 16)
EXPERTS_GROUP_KERNEL(mlxrocm_matmul_experts_group_q3_table_g16, 3, TABLE8, 16)
EXPERTS_GROUP_KERNEL(mlxrocm_matmul_experts_group_q4_table_g32, 4, TABLE16, 32)
