// Products of the rows of a prompt with the chosen 5-bit matrices of a stack: see experts_warpgroup.h.
#include "ops/matmul/experts_warpgroup.h"

EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q5_f16_g32, 5, PAIR_F16, 32)
EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q5_f16_g64, 5, PAIR_F16, 64)
EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q5_bf16_g32, 5, PAIR_BF16, 32)
EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q5_bf16_g64, 5, PAIR_BF16, 64)
EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q5_f32_g32, 5, PAIR_F32, 32)
EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q5_zero_g32, 5, ZERO, 32)
EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q5_min_g32, 5, SUPER_MIN, 32)
