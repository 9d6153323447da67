// Products of the rows of a prompt with the chosen 6-bit matrices of a stack: see experts_warpgroup.h.
#include "ops/matmul/experts_warpgroup.h"

EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q6_f16_g32, 6, PAIR_F16, 32)
EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q6_f16_g64, 6, PAIR_F16, 64)
EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q6_bf16_g32, 6, PAIR_BF16, 32)
EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q6_bf16_g64, 6, PAIR_BF16, 64)
EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q6_f32_g32, 6, PAIR_F32, 32)
EXPERTS_WARPGROUP_KERNEL(mlxrocm_matmul_experts_warpgroup_q6_sub_g16, 6, SUPER_ZERO, 16)
