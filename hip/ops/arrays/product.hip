// Products of 16-bit matrices (product.h) by the matrix unit, sums in f32 along k in order.
//
// Launch: 256 threads; grid (n / ROWS · batches, m / ROWS): 128 by 128 where all pieces are whole, or 64 by 64 where they are not or that gives too few blocks. What comes next of both operands is loaded to registers meanwhile.
#include "product_tiles.h"

template <bool IS_BF16, u32 ROWS, bool WHOLE> DEVICE void multiply(const Product &p, u16 *a, u16 *b) {
    // Where bf16 products are many instructions, the registers are too few for all of a large block at once.
    constexpr u32 PART = HAS_MATRIX_UNIT || !IS_BF16 ? ROWS : 64, PARTS = ROWS / PART;
    const u32 z = block_x() / p.across;
    const u32 from = p.from(z), depth = p.depth(z);
    const i64 of_plus = p.plus_offset(z);
    _Pragma("unroll 1") for (u32 part = 0; part < PARTS * PARTS; part++) {
        const u32 first_row = block_y() * ROWS + part / PARTS * PART, first_column = block_x() % p.across * ROWS + part % PARTS * PART;
        multiply_tiles<IS_BF16, PART, PART>(
            plain<WHOLE>(p.left, p.left_offset(z), p.left_stride, p.left_along, from, depth, p.m), p.left_along,
            plain<WHOLE>(p.right, p.right_offset(z), p.right_stride, p.right_along, from, depth, p.n), p.right_along, p.m,
            p.n, depth, first_row, first_column, a, b,
            [&](u32 row, u32 column, f32 sum) { p.store(z, of_plus, row, column, IS_BF16 ? BF16 : F16, sum); });
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
PRODUCT_KERNEL(mlxrocm_array_product_f16, false, 128, true)
PRODUCT_KERNEL(mlxrocm_array_product_f16_small, false, 64, false)
PRODUCT_KERNEL(mlxrocm_array_product_bf16, true, 128, true)
PRODUCT_KERNEL(mlxrocm_array_product_bf16_small, true, 64, false)
