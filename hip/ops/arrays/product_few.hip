// Products with few rows on the left, up to four rows a block: see product_few.h.
#include "product_few.h"

FEW_KERNEL(mlxrocm_array_product_few_f32, along, F32, 4)
FEW_KERNEL(mlxrocm_array_product_few_f16, along, F16, 4)
FEW_KERNEL(mlxrocm_array_product_few_bf16, along, BF16, 4)
FEW_KERNEL(mlxrocm_array_product_few_codes_f32, coded, F32, 4)
FEW_KERNEL(mlxrocm_array_product_few_codes_f32_f16, coded, F32, 4, F16)
FEW_KERNEL(mlxrocm_array_product_few_codes_f32_bf16, coded, F32, 4, BF16)
FEW_KERNEL(mlxrocm_array_product_few_codes_f16, coded, F16, 4)
FEW_KERNEL(mlxrocm_array_product_few_codes_bf16, coded, BF16, 4)
ACROSS_KERNEL(mlxrocm_array_product_few_across_f32, F32, 4)
ACROSS_KERNEL(mlxrocm_array_product_few_across_f16, F16, 4)
ACROSS_KERNEL(mlxrocm_array_product_few_across_bf16, BF16, 4)
