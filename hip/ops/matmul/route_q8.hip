// Routers of a few rows whose matrix is of 8-bit numbers: see route.h.
#include "ops/matmul/route.h"

ROUTE_KERNEL(mlxrocm_matmul_route_q8_f16_g32, 8, PAIR_F16, 32)
ROUTE_KERNEL(mlxrocm_matmul_route_q8_f16_g64, 8, PAIR_F16, 64)
ROUTE_KERNEL(mlxrocm_matmul_route_q8_bf16_g32, 8, PAIR_BF16, 32)
ROUTE_KERNEL(mlxrocm_matmul_route_q8_bf16_g64, 8, PAIR_BF16, 64)
ROUTE_KERNEL(mlxrocm_matmul_route_q8_f32_g32, 8, PAIR_F32, 32)
ROUTE_KERNEL(mlxrocm_matmul_route_q8_zero_g32, 8, ZERO, 32)
