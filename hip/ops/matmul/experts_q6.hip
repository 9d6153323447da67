// Products of a row with the chosen 6-bit matrices of a stack: see experts.h, experts_group.h.
#include "ops/matmul/experts.h"
#include "ops/matmul/experts_group.h"

EXPERTS_KERNEL(mlxrocm_matmul_experts_q6_f16_g32, 6, PAIR_F16, 32)
EXPERTS_KERNEL(mlxrocm_matmul_experts_q6_f16_g64, 6, PAIR_F16, 64)
EXPERTS_KERNEL(mlxrocm_matmul_experts_q6_bf16_g32, 6, PAIR_BF16, 32)
EXPERTS_KERNEL(mlxrocm_matmul_experts_q6_bf16_g64, 6, PAIR_BF16, 64)
EXPERTS_KERNEL(mlxrocm_matmul_experts_q6_f32_g32, 6, PAIR_F32, 32)
EXPERTS_KERNEL(mlxrocm_matmul_experts_q6_sub_g16, 6, SUPER_ZERO, 16)
EXPERTS_GROUP_KERNEL(mlxrocm_matmul_experts_group_q6_f16_g32, 6, PAIR_F16, 32)
EXPERTS_GROUP_KERNEL(mlxrocm_matmul_experts_group_q6_f16_g64, 6, PAIR_F16, 64)
EXPERTS_GROUP_KERNEL(mlxrocm_matmul_experts_group_q6_bf16_g32, 6, PAIR_BF16, 32)
EXPERTS_GROUP_KERNEL(mlxrocm_matmul_experts_group_q6_bf16_g64, 6, PAIR_BF16, 64)
EXPERTS_GROUP_KERNEL(mlxrocm_matmul_experts_group_q6_f32_g32, 6, PAIR_F32, 32)
EXPERTS_GROUP_KERNEL(mlxrocm_matmul_experts_group_q6_sub_g16, 6, SUPER_ZERO, 16)
