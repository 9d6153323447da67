// Products of f16 matrices by the matrix unit of NVIDIA's compute capability 9.0: see product_warpgroup.h.
#include "product_warpgroup.h"

#if PLATFORM_NVIDIA && defined(__CUDA_ARCH_FEAT_SM90_ALL)
WARPGROUP_KERNEL(mlxrocm_array_product_warpgroup_256_f16, 256, 4, false, 0)
WARPGROUP_KERNEL(mlxrocm_array_product_warpgroup_128_f16, 128, 6, false, 0)
WARPGROUP_KERNEL(mlxrocm_array_product_warpgroup_256_across_f16, 256, 4, false, 1)
WARPGROUP_KERNEL(mlxrocm_array_product_warpgroup_128_across_f16, 128, 6, false, 1)
#endif
