// Products of some rows with the chosen matrices of a stack of 8-bit floats: see experts_tiles.h.
#include "ops/matmul/experts_tiles.h"

EXPERTS_TILES_KERNEL(mlxrocm_matmul_experts_tiles_q8_power_g32, 8, POWER, 32)
