// Products of a row with 4-bit matrices that a router of 4 or 8 bits chooses: see experts_routed.h.
#include "ops/matmul/experts_routed.h"

EXPERTS_ROUTED_KERNEL(mlxrocm_matmul_experts_routed4_q4_f16_g32, 4, PAIR_F16, 32, 4)
EXPERTS_ROUTED_KERNEL(mlxrocm_matmul_experts_routed4_q4_f16_g64, 4, PAIR_F16, 64, 4)
EXPERTS_ROUTED_KERNEL(mlxrocm_matmul_experts_routed4_q4_bf16_g32, 4, PAIR_BF16, 32, 4)
EXPERTS_ROUTED_KERNEL(mlxrocm_matmul_experts_routed4_q4_bf16_g64, 4, PAIR_BF16, 64, 4)
EXPERTS_ROUTED_KERNEL(mlxrocm_matmul_experts_routed8_q4_f16_g32, 4, PAIR_F16, 32, 8)
EXPERTS_ROUTED_KERNEL(mlxrocm_matmul_experts_routed8_q4_f16_g64, 4, PAIR_F16, 64, 8)
EXPERTS_ROUTED_KERNEL(mlxrocm_matmul_experts_routed8_q4_bf16_g32, 4, PAIR_BF16, 32, 8)
EXPERTS_ROUTED_KERNEL(mlxrocm_matmul_experts_routed8_q4_bf16_g64, 4, PAIR_BF16, 64, 8)
