// Products of 4-bit matrices with many rows: see block.h.
#include "ops/matmul/block.h"

QUANT_KERNEL(mlxrocm_matmul_block_q4_f16_g32, 4, PAIR_F16, 32)
QUANT_KERNEL(mlxrocm_matmul_block_q4_f16_g64, 4, PAIR_F16, 64)
QUANT_KERNEL(mlxrocm_matmul_block_q4_bf16_g32, 4, PAIR_BF16, 32)
QUANT_KERNEL(mlxrocm_matmul_block_q4_bf16_g64, 4, PAIR_BF16, 64)
QUANT_KERNEL(mlxrocm_matmul_block_q4_f32_g32, 4, PAIR_F32, 32)
QUANT_KERNEL(mlxrocm_matmul_block_q4_zero_g32, 4, ZERO, 32)
QUANT_KERNEL(mlxrocm_matmul_block_q4_min_g32, 4, SUPER_MIN, 32)
QUANT_KERNEL(mlxrocm_matmul_block_q4_power_g32, 4, POWER, 32)
