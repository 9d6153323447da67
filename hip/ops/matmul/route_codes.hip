// Routers of a few rows whose matrix is of numbers with 8-bit floats as scales, or a table of numbers: see route.h.
#include "ops/matmul/route.h"

ROUTE_KERNEL(mlxrocm_matmul_route_q4_float_g16, 4, FLOAT8, 16)
ROUTE_KERNEL(mlxrocm_matmul_route_q3_table_g16, 3, TABLE8, 16)
ROUTE_KERNEL(mlxrocm_matmul_route_q4_table_g32, 4, TABLE16, 32)
