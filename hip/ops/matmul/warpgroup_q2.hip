// Products of 2-bit matrices with many rows: see warpgroup.h.
#include "ops/matmul/warpgroup.h"

QUANT_KERNEL(mlxrocm_matmul_warpgroup_q2_f16_g32, 2, PAIR_F16, 32)
QUANT_KERNEL(mlxrocm_matmul_warpgroup_q2_f16_g64, 2, PAIR_F16, 64)
QUANT_KERNEL(mlxrocm_matmul_warpgroup_q2_bf16_g32, 2, PAIR_BF16, 32)
QUANT_KERNEL(mlxrocm_matmul_warpgroup_q2_bf16_g64, 2, PAIR_BF16, 64)
QUANT_KERNEL(mlxrocm_matmul_warpgroup_q2_f32_g32, 2, PAIR_F32, 32)
QUANT_KERNEL(mlxrocm_matmul_warpgroup_q2_min_g16, 2, SUPER_MIN, 16)
