// Products of the rows of a prompt with the chosen 4-bit matrices of a stack: see experts_warpgroup.h.
#include "ops/matmul/experts_warpgroup.h"

EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q4_f16_g32, 4, PAIR_F16, 32)
EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q4_f16_g64, 4, PAIR_F16, 64)
EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q4_bf16_g32, 4, PAIR_BF16, 32)
EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q4_bf16_g64, 4, PAIR_BF16, 64)
EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q4_f32_g32, 4, PAIR_F32, 32)
EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q4_zero_g32, 4, ZERO, 32)
EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q4_min_g32, 4, SUPER_MIN, 32)
EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q4_power_g32, 4, POWER, 32)
