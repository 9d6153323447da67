// Products of the rows of a prompt with the chosen matrices of a stack of 8-bit floats: see experts_block.h.
#include "ops/matmul/experts_block.h"

EXPERTS_BLOCK_KERNEL(mlxrocm_matmul_experts_block_q8_power_g32, 8, POWER, 32)
