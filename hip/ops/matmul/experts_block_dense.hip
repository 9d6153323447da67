// Products of the rows of a prompt with the chosen unquantized matrices of a stack: see experts_block.h. Of columns in
// eights, as block_dense.hip; biases [experts][tiles · 16] may be null.
#include "ops/matmul/experts_block.h"

#define EXPERTS_BLOCK_DENSE_KERNEL(START, NAME, T)                                                          \
    START void NAME(const u8 *weights, const u16 *x, const f32 *scales, const f32 *bias, f32 *out,          \
                    const ExpertRun *blocks, const u32 *order, f32 back, u32 width, u32 cols, u32 tiles,    \
                    u32 epilogue, u32 share, f32 limit) {                                                   \
        const Block p = {weights, x, scales, one_output(bias, nullptr, out, tiles, width, epilogue, limit), \
                         back, 0, cols, tiles, {nullptr, nullptr}};                                         \
        matmul_experts<DenseTile<T>>(p, blocks, order, share);                                              \
    }
// Its weights ahead take the registers of a second block.
EXPERTS_BLOCK_DENSE_KERNEL(KERNEL(256), mlxrocm_matmul_experts_block_f32, f32)
EXPERTS_BLOCK_DENSE_KERNEL(BLOCK_KERNEL_WAVES, mlxrocm_matmul_experts_block_f16, f16)
EXPERTS_BLOCK_DENSE_KERNEL(BLOCK_KERNEL_WAVES, mlxrocm_matmul_experts_block_bf16, bf16)
