// Products of some rows with the chosen 8-bit matrices of a stack: see experts_tiles.h.
#include "ops/matmul/experts_tiles.h"

EXPERTS_TILES_KERNEL(mlxrocm_matmul_experts_tiles_q8_f16_g32, 8, PAIR_F16, 32)
EXPERTS_TILES_KERNEL(mlxrocm_matmul_experts_tiles_q8_f16_g64, 8, PAIR_F16, 64)
EXPERTS_TILES_KERNEL(mlxrocm_matmul_experts_tiles_q8_bf16_g32, 8, PAIR_BF16, 32)
EXPERTS_TILES_KERNEL(mlxrocm_matmul_experts_tiles_q8_bf16_g64, 8, PAIR_BF16, 64)
EXPERTS_TILES_KERNEL(mlxrocm_matmul_experts_tiles_q8_f32_g32, 8, PAIR_F32, 32)
EXPERTS_TILES_KERNEL(mlxrocm_matmul_experts_tiles_q8_zero_g32, 8, ZERO, 32)
