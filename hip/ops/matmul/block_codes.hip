// Products of matrices whose scales have zero points or are 8-bit floats, or whose codes are places in a table, with many rows: see block.h.
#include "ops/matmul/block.h"

QUANT_KERNEL(mlxrocm_matmul_block_q4_point_g64, 4, POINT, 64)
QUANT_KERNEL(mlxrocm_matmul_block_q4_float_g16, 4, FLOAT8, 16)
QUANT_KERNEL(mlxrocm_matmul_block_q3_table_g16, 3, TABLE8, 16)
QUANT_KERNEL(mlxrocm_matmul_block_q4_table_g32, 4, TABLE16, 32)
