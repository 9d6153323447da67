// Products of f32 matrices (product.h), fused multiplications and additions along k in order.
//
// Launch: 256 threads; grid (n / ROWS · batches, m / ROWS): 128 by 128 where all pieces are whole, or 64 by 64. A thread makes
// every 64 rows and columns four neighbouring ones; 16 of k at a time lie in shared memory, [k][row], and the next ones are
// loaded to registers meanwhile.
#include "product.h"
#include "product_parts.h"

#define DEPTH 16

// An operand of an array: `outer` rows of `inner` numbers that lie side by side; WHOLE: in pieces of 16 bytes.
template <bool WHOLE> struct Plain32 {
    const f32 *x;
    i64 stride;
    u32 outer, inner;

    METHOD f32x4 piece(u32 row, u32 i) const {
        if (row >= outer || i >= inner) return f32x4{0.0f, 0.0f, 0.0f, 0.0f};
        const f32 *from = x + (i64)row * stride + i;
        if (WHOLE || (inner - i >= 4 && ((u64)from & 15) == 0)) return load_f32x4(from);
        const u32 left = inner - i;
        return f32x4{from[0], left > 1 ? from[1] : 0.0f, left > 2 ? from[2] : 0.0f, left > 3 ? from[3] : 0.0f};
    }
};
struct Coded32 {
    Codes codes;
    u32 outer;

    METHOD f32x4 piece(u32 row, u32 i) const {
        if (row >= outer || i >= codes.inner) return f32x4{0.0f, 0.0f, 0.0f, 0.0f};
        f32 v[4];
        codes.numbers<4>(row, i, v);
        return f32x4{v[0], v[1], v[2], v[3]};
    }
};

// A thread's part of ROWS rows, on its way from memory to shared memory.
template <u32 ROWS> struct Side {
    static constexpr u32 PIECES = ROWS / 64, STRIDE = ROWS + 4, GROUPS = ROWS / 4;
    f32x4 pieces[PIECES];

    template <typename OPERAND> METHOD void load(const OPERAND &x, u32 along, u32 first, u32 k) {
        UNROLL for (u32 i = 0; i < PIECES; i++) {
            const u32 unit = thread_x() + 256 * i;
            pieces[i] = along ? x.piece(first + unit / 4, k + unit % 4 * 4) : x.piece(k + unit / GROUPS, first + unit % GROUPS * 4);
        }
    }
    METHOD void store(f32 *tile, u32 along) const {
        UNROLL for (u32 i = 0; i < PIECES; i++) {
            const u32 unit = thread_x() + 256 * i;
            if (along) {
                f32 *to = tile + unit % 4 * 4 * STRIDE + unit / 4;
                to[0] = pieces[i].x, to[STRIDE] = pieces[i].y, to[2 * STRIDE] = pieces[i].z, to[3 * STRIDE] = pieces[i].w;
            } else {
                store_f32x4(tile + unit / GROUPS * STRIDE + unit % GROUPS * 4, pieces[i]);
            }
        }
    }
};

template <u32 ROWS, typename A, typename B>
DEVICE void multiply(const Product &p, const A &left, const B &right, u32 z, u32 depth, f32 *a, f32 *b) {
    constexpr u32 PARTS = ROWS / 64, STRIDE = ROWS + 4;
    const u32 first_row = block_y() * ROWS, first_column = block_x() % p.across * ROWS;
    const u32 my_row = thread_x() / 16 * 4, my_column = thread_x() % 16 * 4;
    f32 sums[PARTS * 4][PARTS * 4] = {};
    Side<ROWS> of_left, of_right;
    for (u32 k = 0;; k += DEPTH) {
        if (k < depth) of_left.load(left, p.left_along, first_row, k), of_right.load(right, p.right_along, first_column, k);
        if (k > 0) {
            UNROLL for (u32 i = 0; i < DEPTH; i++) {
                f32 rows[PARTS * 4], columns[PARTS * 4];
                UNROLL for (u32 j = 0; j < PARTS; j++) {
                    const f32x4 x = load_f32x4(a + i * STRIDE + j * 64 + my_row), y = load_f32x4(b + i * STRIDE + j * 64 + my_column);
                    rows[4 * j] = x.x, rows[4 * j + 1] = x.y, rows[4 * j + 2] = x.z, rows[4 * j + 3] = x.w;
                    columns[4 * j] = y.x, columns[4 * j + 1] = y.y, columns[4 * j + 2] = y.z, columns[4 * j + 3] = y.w;
                }
                UNROLL for (u32 m = 0; m < PARTS * 4; m++) UNROLL for (u32 n = 0; n < PARTS * 4; n++)
                    sums[m][n] = mul_add(rows[m], columns[n], sums[m][n]);
            }
        }
        barrier();
        if (k >= depth) break;
        of_left.store(a, p.left_along), of_right.store(b, p.right_along);
        barrier();
    }
    const i64 of_plus = p.plus_offset(z);
    UNROLL for (u32 m = 0; m < PARTS * 4; m++) UNROLL for (u32 n = 0; n < PARTS * 4; n++) {
        const u32 row = first_row + m / 4 * 64 + my_row + m % 4, column = first_column + n / 4 * 64 + my_column + n % 4;
        if (row < p.m && column < p.n) p.store(z, of_plus, row, column, F32, sums[m][n]);
    }
}

template <bool WHOLE> DEVICE Plain32<WHOLE> plain(const void *x, i64 first, i64 stride, u32 along, u32 from, u32 depth, u32 rows) {
    return {(const f32 *)x + first + (along ? from : from * stride), stride, along ? rows : depth, along ? depth : rows};
}

#define PRODUCT_KERNEL(NAME, ROWS, RIGHT)                                                                                      \
    KERNEL(256) void NAME(PRODUCT_PARAMETERS) {                                                                                \
        SHARED __attribute__((aligned(16))) f32 a[DEPTH * (ROWS + 4)], b[DEPTH * (ROWS + 4)];                                  \
        grid_dependency_launch();                                                                                              \
        grid_dependency_wait();                                                                                                \
        const Product p = PRODUCT_ARGUMENTS;                                                                                   \
        const u32 z = block_x() / p.across, from = p.from(z), depth = p.depth(z);                                              \
        const auto of_left = plain<ROWS == 128>(p.left, p.left_offset(z), p.left_stride, p.left_along, from, depth, p.m);      \
        multiply<ROWS>(p, of_left, RIGHT, z, depth, a, b);                                                                     \
    }
#define PLAIN(WHOLE) plain<WHOLE>(p.right, p.right_offset(z), p.right_stride, p.right_along, from, depth, p.n)
PRODUCT_KERNEL(mlxrocm_array_product_f32, 128, PLAIN(true))
// What product_warpgroup_f32.hip leaves.
#if PLATFORM_NVIDIA
KERNEL(256) void mlxrocm_array_product_left_f32(PRODUCT_PARAMETERS, const u32 *exponents) {
    SHARED __attribute__((aligned(16))) f32 a[DEPTH * 132], b[DEPTH * 132];
    grid_dependency_launch();
    grid_dependency_wait();
    if (!must_be_f32(exponents, k)) return;
    const Product p = PRODUCT_ARGUMENTS;
    const u32 z = block_x() / p.across, from = p.from(z), depth = p.depth(z);
    multiply<128>(p, plain<true>(p.left, p.left_offset(z), p.left_stride, p.left_along, from, depth, p.m), PLAIN(true), z, depth, a, b);
}
#endif
PRODUCT_KERNEL(mlxrocm_array_product_f32_small, 64, PLAIN(false))
PRODUCT_KERNEL(mlxrocm_array_product_codes_f32_small, 64, (Coded32{p.codes(z, F32), p.right_along ? p.n : p.k}))
