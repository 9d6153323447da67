// Routers of a few rows whose matrix is of 5-bit numbers: see route.h.
#include "ops/matmul/route.h"

ROUTE_KERNEL(mlxrocm_matmul_route_q5_f16_g32, 5, PAIR_F16, 32)
ROUTE_KERNEL(mlxrocm_matmul_route_q5_f16_g64, 5, PAIR_F16, 64)
ROUTE_KERNEL(mlxrocm_matmul_route_q5_bf16_g32, 5, PAIR_BF16, 32)
ROUTE_KERNEL(mlxrocm_matmul_route_q5_bf16_g64, 5, PAIR_BF16, 64)
ROUTE_KERNEL(mlxrocm_matmul_route_q5_f32_g32, 5, PAIR_F32, 32)
ROUTE_KERNEL(mlxrocm_matmul_route_q5_zero_g32, 5, ZERO, 32)
ROUTE_KERNEL(mlxrocm_matmul_route_q5_min_g32, 5, SUPER_MIN, 32)
