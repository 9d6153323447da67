// Products of matrices whose scales have zero points or are 8-bit floats, or whose codes are places in a table, with several rows, by clusters of blocks: see rows_cluster.h.
#include "ops/matmul/rows_cluster.h"

CLUSTER_KERNEL(mlxrocm_matmul_cluster_q4_point_g64_r4, 4, POINT, 64, 4)
CLUSTER_KERNEL(mlxrocm_matmul_cluster_q4_point_g64_r8, 4, POINT, 64, 8)
CLUSTER_KERNEL(mlxrocm_matmul_cluster_q4_point_g64_r16, 4, POINT, 64, 16)
CLUSTER_KERNEL(mlxrocm_matmul_cluster_q4_float_g16_r4, 4, FLOAT8, 16, 4)
CLUSTER_KERNEL(mlxrocm_matmul_cluster_q4_float_g16_r8, 4, FLOAT8, 16, 8)
CLUSTER_KERNEL(mlxrocm_matmul_cluster_q4_float_g16_r16, 4, FLOAT8, 16, 16)
CLUSTER_KERNEL(mlxrocm_matmul_cluster_q3_table_g16_r4, 3, TABLE8, 16, 4)
CLUSTER_KERNEL(mlxrocm_matmul_cluster_q3_table_g16_r8, 3, TABLE8, 16, 8)
CLUSTER_KERNEL(mlxrocm_matmul_cluster_q3_table_g16_r16, 3, TABLE8, 16, 16)
CLUSTER_KERNEL(mlxrocm_matmul_cluster_q4_table_g32_r4, 4, TABLE16, 32, 4)
CLUSTER_KERNEL(mlxrocm_matmul_cluster_q4_table_g32_r8, 4, TABLE16, 32, 8)
CLUSTER_KERNEL(mlxrocm_matmul_cluster_q4_table_g32_r16, 4, TABLE16, 32, 16)
