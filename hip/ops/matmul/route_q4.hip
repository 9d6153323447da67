// Routers of a few rows whose matrix is of 4-bit numbers: see route.h.
#include "ops/matmul/route.h"

ROUTE_KERNEL(mlxrocm_matmul_route_q4_f16_g32, 4, PAIR_F16, 32)
ROUTE_KERNEL(mlxrocm_matmul_route_q4_f16_g64, 4, PAIR_F16, 64)
ROUTE_KERNEL(mlxrocm_matmul_route_q4_bf16_g32, 4, PAIR_BF16, 32)
ROUTE_KERNEL(mlxrocm_matmul_route_q4_bf16_g64, 4, PAIR_BF16, 64)
ROUTE_KERNEL(mlxrocm_matmul_route_q4_f32_g32, 4, PAIR_F32, 32)
ROUTE_KERNEL(mlxrocm_matmul_route_q4_zero_g32, 4, ZERO, 32)
ROUTE_KERNEL(mlxrocm_matmul_route_q4_min_g32, 4, SUPER_MIN, 32)
ROUTE_KERNEL(mlxrocm_matmul_route_q4_power_g32, 4, POWER, 32)
