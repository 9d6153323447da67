// Products of the rows of a prompt with the chosen matrices of a stack of 8-bit floats: see experts_warpgroup.h.
#include "ops/matmul/experts_warpgroup.h"

EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q8_power_g32, 8, POWER, 32)
