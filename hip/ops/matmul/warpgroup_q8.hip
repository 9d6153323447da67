// Products of 8-bit matrices with many rows: see warpgroup.h.
#include "ops/matmul/warpgroup.h"

QUANT_KERNEL(mlxrocm_matmul_warpgroup_q8_f16_g32, 8, PAIR_F16, 32)
QUANT_KERNEL(mlxrocm_matmul_warpgroup_q8_f16_g64, 8, PAIR_F16, 64)
QUANT_KERNEL(mlxrocm_matmul_warpgroup_q8_bf16_g32, 8, PAIR_BF16, 32)
QUANT_KERNEL(mlxrocm_matmul_warpgroup_q8_bf16_g64, 8, PAIR_BF16, 64)
QUANT_KERNEL(mlxrocm_matmul_warpgroup_q8_f32_g32, 8, PAIR_F32, 32)
QUANT_KERNEL(mlxrocm_matmul_warpgroup_q8_zero_g32, 8, ZERO, 32)
