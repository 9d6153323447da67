// Products of 16-bit matrices with matrices of codes (product.h, codes.h) by the matrix unit, sums in f32 along k in order:
// codes become numbers of the other matrix' dtype on their way to shared memory.
//
// Launch: as product.hip.
#include "product_tiles.h"

template <bool IS_BF16, u32 ROWS, bool WHOLE> DEVICE void multiply(const Product &p, u16 *a, u16 *b) {
    // As in product.hip.
    constexpr u32 PART = HAS_MATRIX_UNIT || !IS_BF16 ? ROWS : 64, PARTS = ROWS / PART;
    const u32 z = block_x() / p.across, depth = p.depth(z), dtype = IS_BF16 ? BF16 : F16;
    const u16 *left = (const u16 *)p.left + p.left_offset(z);
    _Pragma("unroll 1") for (u32 part = 0; part < PARTS * PARTS; part++) {
        const u32 first_row = block_y() * ROWS + part / PARTS * PART, first_column = block_x() % p.across * ROWS + part % PARTS * PART;
        multiply_tiles<IS_BF16, PART, PART>(
            Plain16<WHOLE>{left, p.left_stride, p.m, depth}, true,
            Coded16<IS_BF16>{p.codes(z, dtype), p.right_along ? p.n : p.k}, p.right_along, p.m, p.n, depth, first_row,
            first_column, a, b, [&](u32 row, u32 column, f32 sum) { p.store(z, 0, row, column, dtype, sum); });
    }
}

#define PRODUCT_KERNEL(NAME, IS_BF16, ROWS, WHOLE)                               \
    KERNEL(256) void NAME(PRODUCT_PARAMETERS) {                                  \
        SHARED __attribute__((aligned(16))) u16 a[ROWS * STEP], b[ROWS * STEP];  \
        grid_dependency_launch();                                                \
        grid_dependency_wait();                                                  \
        const Product p = PRODUCT_ARGUMENTS;                                     \
        multiply<IS_BF16, ROWS, WHOLE>(p, a, b);                                 \
    }
PRODUCT_KERNEL(mlxrocm_array_product_codes_f16, false, 128, true)
PRODUCT_KERNEL(mlxrocm_array_product_codes_f16_small, false, 64, false)
PRODUCT_KERNEL(mlxrocm_array_product_codes_bf16, true, 128, true)
PRODUCT_KERNEL(mlxrocm_array_product_codes_bf16_small, true, 64, false)
