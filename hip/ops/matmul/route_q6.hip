// Routers of a few rows whose matrix is of 6-bit numbers: see route.h.
#include "ops/matmul/route.h"

ROUTE_KERNEL(mlxrocm_matmul_route_q6_f16_g32, 6, PAIR_F16, 32)
ROUTE_KERNEL(mlxrocm_matmul_route_q6_f16_g64, 6, PAIR_F16, 64)
ROUTE_KERNEL(mlxrocm_matmul_route_q6_bf16_g32, 6, PAIR_BF16, 32)
ROUTE_KERNEL(mlxrocm_matmul_route_q6_bf16_g64, 6, PAIR_BF16, 64)
ROUTE_KERNEL(mlxrocm_matmul_route_q6_f32_g32, 6, PAIR_F32, 32)
ROUTE_KERNEL(mlxrocm_matmul_route_q6_sub_g16, 6, SUPER_ZERO, 16)
