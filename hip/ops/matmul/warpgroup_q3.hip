// Products of 3-bit matrices with many rows: see warpgroup.h.
#include "ops/matmul/warpgroup.h"

QUANT_KERNEL(mlxrocm_matmul_warpgroup_q3_f16_g32, 3, PAIR_F16, 32)
QUANT_KERNEL(mlxrocm_matmul_warpgroup_q3_f16_g64, 3, PAIR_F16, 64)
QUANT_KERNEL(mlxrocm_matmul_warpgroup_q3_bf16_g32, 3, PAIR_BF16, 32)
QUANT_KERNEL(mlxrocm_matmul_warpgroup_q3_bf16_g64, 3, PAIR_BF16, 64)
QUANT_KERNEL(mlxrocm_matmul_warpgroup_q3_f32_g32, 3, PAIR_F32, 32)
QUANT_KERNEL(mlxrocm_matmul_warpgroup_q3_sub_g16, 3, SUPER_ZERO, 16)
