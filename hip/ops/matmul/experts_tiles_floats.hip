// Products of some rows with the chosen matrices of a stack of 8-bit floats: see experts_tiles.h, experts_down.h.
#include "ops/matmul/experts_down.h"

EXPERTS_TILES_KERNEL(mlxrocm_matmul_experts_tiles_q8_power_g32, 8, POWER, 32)
EXPERTS_FEW_KERNEL(mlxrocm_matmul_experts_tiles_few_q8_power_g32, 8, POWER, 32)
EXPERTS_DOWN_KERNEL(mlxrocm_matmul_experts_tiles_down_q8_power_g32, 8, POWER, 32)
