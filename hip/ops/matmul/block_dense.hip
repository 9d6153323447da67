// Products of unquantized matrices with many rows: see block.h.
#include "ops/matmul/block.h"

// Its weights ahead take the registers of a second block.
BLOCK_KERNEL_OF(KERNEL(256), mlxrocm_matmul_block_f32, DenseTile<f32>)
BLOCK_KERNEL(mlxrocm_matmul_block_f16, DenseTile<f16>)
BLOCK_KERNEL(mlxrocm_matmul_block_bf16, DenseTile<bf16>)
