// Products of the rows of a prompt with the chosen 2-bit matrices of a stack: see experts_block.h.
#include "ops/matmul/experts_block.h"

EXPERTS_BLOCK_KERNEL(mlxrocm_matmul_experts_block_q2_f16_g32, 2, PAIR_F16, 32)
EXPERTS_BLOCK_KERNEL(mlxrocm_matmul_experts_block_q2_f16_g64, 2, PAIR_F16, 64)
EXPERTS_BLOCK_KERNEL(mlxrocm_matmul_experts_block_q2_bf16_g32, 2, PAIR_BF16, 32)
EXPERTS_BLOCK_KERNEL(mlxrocm_matmul_experts_block_q2_bf16_g64, 2, PAIR_BF16, 64)
EXPERTS_BLOCK_KERNEL(mlxrocm_matmul_experts_block_q2_f32_g32, 2, PAIR_F32, 32)
EXPERTS_BLOCK_KERNEL(mlxrocm_matmul_experts_block_q2_min_g16, 2, SUPER_MIN, 16)
