// Routers of a few rows whose matrix is of 3-bit numbers: see route.h.
#include "ops/matmul/route.h"

ROUTE_KERNEL(mlxrocm_matmul_route_q3_f16_g32, 3, PAIR_F16, 32)
ROUTE_KERNEL(mlxrocm_matmul_route_q3_f16_g64, 3, PAIR_F16, 64)
ROUTE_KERNEL(mlxrocm_matmul_route_q3_bf16_g32, 3, PAIR_BF16, 32)
ROUTE_KERNEL(mlxrocm_matmul_route_q3_bf16_g64, 3, PAIR_BF16, 64)
ROUTE_KERNEL(mlxrocm_matmul_route_q3_f32_g32, 3, PAIR_F32, 32)
ROUTE_KERNEL(mlxrocm_matmul_route_q3_sub_g16, 3, SUPER_ZERO, 16)
