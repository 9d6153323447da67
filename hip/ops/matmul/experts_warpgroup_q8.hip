// Products of the rows of a prompt with the chosen 8-bit matrices of a stack: see experts_warpgroup.h.
#include "ops/matmul/experts_warpgroup.h"

EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q8_f16_g32, 8, PAIR_F16, 32)
EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q8_f16_g64, 8, PAIR_F16, 64)
EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q8_bf16_g32, 8, PAIR_BF16, 32)
EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q8_bf16_g64, 8, PAIR_BF16, 64)
EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q8_f32_g32, 8, PAIR_F32, 32)
EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q8_zero_g32, 8, ZERO, 32)
