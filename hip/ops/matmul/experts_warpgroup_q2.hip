// Products of the rows of a prompt with the chosen 2-bit matrices of a stack: see experts_warpgroup.h.
#include "ops/matmul/experts_warpgroup.h"

EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q2_f16_g32, 2, PAIR_F16, 32)
EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q2_f16_g64, 2, PAIR_F16, 64)
EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q2_bf16_g32, 2, PAIR_BF16, 32)
EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q2_bf16_g64, 2, PAIR_BF16, 64)
EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q2_f32_g32, 2, PAIR_F32, 32)
EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q2_min_g16, 2, SUPER_MIN, 16)
