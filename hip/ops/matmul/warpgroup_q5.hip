// Products of 5-bit matrices with many rows: see warpgroup.h.
#include "ops/matmul/warpgroup.h"

QUANT_KERNEL(mlxrocm_matmul_warpgroup_q5_f16_g32, 5, PAIR_F16, 32)
QUANT_KERNEL(mlxrocm_matmul_warpgroup_q5_f16_g64, 5, PAIR_F16, 64)
QUANT_KERNEL(mlxrocm_matmul_warpgroup_q5_bf16_g32, 5, PAIR_BF16, 32)
QUANT_KERNEL(mlxrocm_matmul_warpgroup_q5_bf16_g64, 5, PAIR_BF16, 64)
QUANT_KERNEL(mlxrocm_matmul_warpgroup_q5_f32_g32, 5, PAIR_F32, 32)
QUANT_KERNEL(mlxrocm_matmul_warpgroup_q5_zero_g32, 5, ZERO, 32)
QUANT_KERNEL(mlxrocm_matmul_warpgroup_q5_min_g32, 5, SUPER_MIN, 32)
