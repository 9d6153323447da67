// Products of matrices of 8-bit floats with many rows: see block.h.
#include "ops/matmul/block.h"

QUANT_KERNEL(mlxrocm_matmul_block_q8_power_g32, 8, POWER, 32)
QUANT_KERNEL(mlxrocm_matmul_block_q8_single_g64, 8, SINGLE, 64)
