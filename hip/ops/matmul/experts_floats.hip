// Products of a row with the chosen matrices of a stack of 8-bit floats: see experts.h, experts_group.h.
#include "ops/matmul/experts.h"
#include "ops/matmul/experts_group.h"

EXPERTS_KERNEL(mlxrocm_matmul_experts_q8_power_g32, 8, POWER, 32)
EXPERTS_GROUP_KERNEL(mlxrocm_matmul_experts_group_q8_power_g32, 8, POWER, 32)
