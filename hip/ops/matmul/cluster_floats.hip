// Products of matrices of 8-bit floats with several rows, by clusters of blocks: see rows_cluster.h.
#include "ops/matmul/rows_cluster.h"

CLUSTER_KERNEL(mlxrocm_matmul_cluster_q8_power_g32_r4, 8, POWER, 32, 4)
CLUSTER_KERNEL(mlxrocm_matmul_cluster_q8_power_g32_r8, 8, POWER, 32, 8)
CLUSTER_KERNEL(mlxrocm_matmul_cluster_q8_power_g32_r16, 8, POWER, 32, 16)
CLUSTER_KERNEL(mlxrocm_matmul_cluster_q8_single_g64_r4, 8, SINGLE, 64, 4)
CLUSTER_KERNEL(mlxrocm_matmul_cluster_q8_single_g64_r8, 8, SINGLE, 64, 8)
CLUSTER_KERNEL(mlxrocm_matmul_cluster_q8_single_g64_r16, 8, SINGLE, 64, 16)
