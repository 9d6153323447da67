// Products of f32 matrices of numbers rounded to f16 (product_halves.h), by the matrix unit, as product.hip makes those of f16
// where all pieces are whole.
//
// Launch: 256 threads; grid (n / ROWS · batches, m / ROWS): 128 by 128, or 64 by 64 where that gives too few blocks.
#include "product_halves.h"
#include "product_tiles.h"

#define HALVES_KERNEL(NAME, ROWS)                                                                                             \
    KERNEL(256) void NAME(PRODUCT_PARAMETERS, const i32 *left_powers, const i32 *right_powers) {                              \
        SHARED __attribute__((aligned(16))) u16 a[ROWS * STEP], b[ROWS * STEP];                                               \
        grid_dependency_launch();                                                                                             \
        grid_dependency_wait();                                                                                               \
        const Product p = PRODUCT_ARGUMENTS;                                                                                  \
        const u32 z = block_x() / p.across, depth = p.depth(z);                                                               \
        const i64 of_plus = p.plus_offset(z);                                                                                 \
        const Powers powers(p, left_powers, right_powers, z);                                                                 \
        multiply_tiles<false, ROWS, ROWS>(                                                                                    \
            plain<true>(p.left, p.left_offset(z), p.left_stride, p.left_along, 0, depth, p.m), p.left_along,                  \
            plain<true>(p.right, p.right_offset(z), p.right_stride, p.right_along, 0, depth, p.n), p.right_along, p.m, p.n,   \
            depth, block_y() * ROWS, block_x() % p.across * ROWS, a, b, [&](u32 row, u32 column, f32 sum) {                   \
                p.store(z, of_plus, row, column, F32, taken_back(sum, powers.left[row] + powers.right[column]));              \
            });                                                                                                               \
    }
HALVES_KERNEL(mlxrocm_array_product_halves_f32, 128)
HALVES_KERNEL(mlxrocm_array_product_halves_f32_small, 64)
