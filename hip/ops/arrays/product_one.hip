// Products with few rows on the left, one row: see product_few.h.
#include "product_few.h"

FEW_KERNEL(mlxrocm_array_product_one_f32, along, F32, 1)
FEW_KERNEL(mlxrocm_array_product_one_f16, along, F16, 1)
FEW_KERNEL(mlxrocm_array_product_one_bf16, along, BF16, 1)
FEW_KERNEL(mlxrocm_array_product_one_codes_f32, coded, F32, 1)
FEW_KERNEL(mlxrocm_array_product_one_codes_f32_f16, coded, F32, 1, F16)
FEW_KERNEL(mlxrocm_array_product_one_codes_f32_bf16, coded, F32, 1, BF16)
FEW_KERNEL(mlxrocm_array_product_one_codes_f16, coded, F16, 1)
FEW_KERNEL(mlxrocm_array_product_one_codes_bf16, coded, BF16, 1)
ACROSS_KERNEL(mlxrocm_array_product_one_across_f32, F32, 1)
ACROSS_KERNEL(mlxrocm_array_product_one_across_f16, F16, 1)
ACROSS_KERNEL(mlxrocm_array_product_one_across_bf16, BF16, 1)
