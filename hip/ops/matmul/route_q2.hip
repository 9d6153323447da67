// Routers of a few rows whose matrix is of 2-bit numbers: see route.h.
#include "ops/matmul/route.h"

ROUTE_KERNEL(mlxrocm_matmul_route_q2_f16_g32, 2, PAIR_F16, 32)
ROUTE_KERNEL(mlxrocm_matmul_route_q2_f16_g64, 2, PAIR_F16, 64)
ROUTE_KERNEL(mlxrocm_matmul_route_q2_bf16_g32, 2, PAIR_BF16, 32)
ROUTE_KERNEL(mlxrocm_matmul_route_q2_bf16_g64, 2, PAIR_BF16, 64)
ROUTE_KERNEL(mlxrocm_matmul_route_q2_f32_g32, 2, PAIR_F32, 32)
ROUTE_KERNEL(mlxrocm_matmul_route_q2_min_g16, 2, SUPER_MIN, 16)
