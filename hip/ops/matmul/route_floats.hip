// Routers of a few rows whose matrix is of numbers of 8-bit floats: see route.h.
#include "ops/matmul/route.h"

ROUTE_KERNEL(mlxrocm_matmul_route_q8_power_g32, 8, POWER, 32)
