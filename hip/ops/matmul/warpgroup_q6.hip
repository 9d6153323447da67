// Products of 6-bit matrices with many rows: see warpgroup.h.
#include "ops/matmul/warpgroup.h"

QUANT_KERNEL(mlxrocm_matmul_warpgroup_q6_f16_g32, 6, PAIR_F16, 32)
QUANT_KERNEL(mlxrocm_matmul_warpgroup_q6_f16_g64, 6, PAIR_F16, 64)
QUANT_KERNEL(mlxrocm_matmul_warpgroup_q6_bf16_g32, 6, PAIR_BF16, 32)
QUANT_KERNEL(mlxrocm_matmul_warpgroup_q6_bf16_g64, 6, PAIR_BF16, 64)
QUANT_KERNEL(mlxrocm_matmul_warpgroup_q6_f32_g32, 6, PAIR_F32, 32)
QUANT_KERNEL(mlxrocm_matmul_warpgroup_q6_sub_g16, 6, SUPER_ZERO, 16)
