// Products of some rows with the chosen 6-bit matrices of a stack: see experts_tiles.h.
#include "ops/matmul/experts_tiles.h"

EXPERTS_TILES_KERNEL(mlxrocm_matmul_experts_tiles_q6_f16_g32, 6, PAIR_F16, 32)
EXPERTS_TILES_KERNEL(mlxrocm_matmul_experts_tiles_q6_f16_g64, 6, PAIR_F16, 64)
EXPERTS_TILES_KERNEL(mlxrocm_matmul_experts_tiles_q6_bf16_g32, 6, PAIR_BF16, 32)
EXPERTS_TILES_KERNEL(mlxrocm_matmul_experts_tiles_q6_bf16_g64, 6, PAIR_BF16, 64)
EXPERTS_TILES_KERNEL(mlxrocm_matmul_experts_tiles_q6_f32_g32, 6, PAIR_F32, 32)
EXPERTS_TILES_KERNEL(mlxrocm_matmul_experts_tiles_q6_sub_g16, 6, SUPER_ZERO, 16)
