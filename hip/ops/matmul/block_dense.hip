// Products of unquantized matrices with many rows: see block.h.
#include "ops/matmul/block.h"

BLOCK_KERNEL(mlxrocm_matmul_block_f32, DenseTile<f32>)
BLOCK_KERNEL(mlxrocm_matmul_block_f16, DenseTile<f16>)
BLOCK_KERNEL(mlxrocm_matmul_block_bf16, DenseTile<bf16>)
