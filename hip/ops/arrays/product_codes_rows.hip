// Products of 2 to 64 rows of 16-bit numbers with matrices of affine codes of 4 bits (product.h) by NVIDIA's matrix unit: a code
// less 8 is exact there, and a group's sum is multiplied with its scale in f32,
//   Σ_groups scale · Σ x (code - 8) + (bias + 8 · scale) · Σ x.
//
// x lies along k in pieces of 16 bytes, codes along k; k and groups are multiples of 64, codes on multiples of 8 bytes. Eight warps
// of a block take every eighth unit of 64 numbers of k; their sums are added in order.
//
// A lane's numbers of a unit are 16 neighbours, of which a code and the fourth after it are a pair: as they are in a word.
//
// Launch: 256 threads; grid (blocks of 16 · ACROSS columns · batches, blocks of 16 · DOWN rows).
#include "product.h"
#include "common/tile.h"

#if PLATFORM_NVIDIA
#define UNIT 64

template <bool IS_BF16> DEVICE void unit_product(f32 *c, const u32 *a, u32 b0, u32 b1) {
    IS_BF16 ? matrix_product_bf16(c, a, b0, b1) : matrix_product(c, a, b0, b1);
}
// Eight codes less 8 as pairs (0, 4), (1, 5), (2, 6), (3, 7).
template <bool IS_BF16> DEVICE void code_pairs(u32 word, u32 *pairs) {
    UNROLL for (u32 i = 0; i < 4; i++) {
        if constexpr (IS_BF16) {
            const f32 low = bits_f32(and_or(word >> (4 * i), 15, 0x4b000000u)) - 8388616.0f;
            const f32 high = bits_f32(and_or(word >> (4 * i + 16), 15, 0x4b000000u)) - 8388616.0f;
            pairs[i] = pack_bf16x2(low, high).bits;
        } else {
            // 1024 + code - 1032.
            pairs[i] = sub(f16x2{and_or(word >> (4 * i), 0x000f000fu, 0x64006400u)}, f16x2{0x64086408u}).bits;
        }
    }
}
// Eight numbers as the same pairs.
DEVICE void number_pairs(u32x4 x, u32 *pairs) {
    pairs[0] = nibble_select(x.z, x.x, 0x5410), pairs[1] = nibble_select(x.z, x.x, 0x7632);
    pairs[2] = nibble_select(x.w, x.y, 0x5410), pairs[3] = nibble_select(x.w, x.y, 0x7632);
}

template <bool IS_BF16, u32 DOWN, u32 ACROSS> DEVICE void codes_rows(const Product &p, f32 *parts) {
    constexpr u32 WARPS = 8, DTYPE = IS_BF16 ? BF16 : F16, ONES = IS_BF16 ? 0x3f803f80u : 0x3c003c00u;
    const u32 z = block_x() / p.across, first_column = block_x() % p.across * 16 * ACROSS, first_row = block_y() * 16 * DOWN;
    const u32 lane = lane_id(), warp = wave_id(), piece = lane % 4 * 16;
    const Codes codes = p.codes(z, DTYPE);
    const u16 *left = (const u16 *)p.left + p.left_offset(z);
    TileC sums[DOWN][ACROSS];
    UNROLL for (u32 i = 0; i < DOWN; i++) UNROLL for (u32 j = 0; j < ACROSS; j++) sums[i][j] = tile_zero();
    const u32 units = p.depth(z) / UNIT, of_row = p.k / p.group;
    // Where the rows of codes and scales of a lane's columns begin.
    const u32 *code_rows[ACROSS][2];
    u32 scale_rows[ACROSS][4];
    UNROLL for (u32 j = 0; j < ACROSS; j++) {
        const u32 column = first_column + 16 * j;
        UNROLL for (u32 i = 0; i < 2; i++) {
            const u32 row = minimum(column + tile_b_row(lane, i), p.n - 1);
            code_rows[j][i] = codes.words + ((u64)row * p.k + piece) / 8;
        }
        UNROLL for (u32 i = 0; i < 4; i++)
            scale_rows[j][i] = minimum(column + tile_c_column(lane, i / 2 * 4 + i % 2), p.n - 1) * of_row;
    }
    const u16 *left_rows[DOWN][2];
    UNROLL for (u32 d = 0; d < DOWN; d++) UNROLL for (u32 i = 0; i < 2; i++) {
        const u32 row = minimum(first_row + 16 * d + tile_a_row(lane, i), p.m - 1);
        left_rows[d][i] = left + (i64)row * p.left_stride + piece;
    }
    const u32 units_of_group = p.group / UNIT;
    // What a unit is made of; of one block of rows, two units are on their way at once.
    constexpr u32 AHEAD = DOWN == 1 ? 2 : 1;
    const auto numbers = [&](u32 k, u32 d, u32x4 (&x)[2][2]) {
        UNROLL for (u32 i = 0; i < 2; i++) x[i][0] = load16(left_rows[d][i] + k), x[i][1] = load16(left_rows[d][i] + k + 8);
    };
    for (u32 first = warp; first < units; first += WARPS * AHEAD) {
        u32x2 words[AHEAD][ACROSS][2];
        f32x2 scales[AHEAD][ACROSS][4];
        u32x4 x[AHEAD][2][2];
        UNROLL for (u32 h = 0; h < AHEAD; h++) {
            // What is not there is the first again, and not used.
            const u32 unit = first + h * WARPS < units ? first + h * WARPS : first, k = unit * UNIT;
            const u32 group = units_of_group == 1 ? unit : unit / units_of_group;
            UNROLL for (u32 j = 0; j < ACROSS; j++) {
                UNROLL for (u32 i = 0; i < 2; i++) words[h][j][i] = load8(code_rows[j][i] + k / 8);
                UNROLL for (u32 i = 0; i < 4; i++) {
                    const u32 at = scale_rows[j][i] + group;
                    scales[h][j][i] = f32x2{load_float(codes.scales, at, DTYPE), load_float(codes.biases, at, DTYPE)};
                }
            }
            numbers(k, 0, x[h]);
        }
        UNROLL for (u32 h = 0; h < AHEAD; h++) {
            const u32 k = (first + h * WARPS) * UNIT;
            if (first + h * WARPS >= units) continue;
            u32 b[ACROSS][2][8];
            UNROLL for (u32 j = 0; j < ACROSS; j++) UNROLL for (u32 i = 0; i < 2; i++) {
                code_pairs<IS_BF16>(words[h][j][i].x, b[j][i]), code_pairs<IS_BF16>(words[h][j][i].y, b[j][i] + 4);
            }
            UNROLL for (u32 d = 0; d < DOWN; d++) {
                if (d) numbers(k, d, x[h]);
                u32 a[2][8];
                UNROLL for (u32 i = 0; i < 2; i++) number_pairs(x[h][i][0], a[i]), number_pairs(x[h][i][1], a[i] + 4);
                TileC part[ACROSS];
                f32 of_x[4] = {};
                UNROLL for (u32 j = 0; j < ACROSS; j++) part[j] = tile_zero();
                UNROLL for (u32 s = 0; s < 4; s++) {
                    const u32 rows[4] = {a[0][2 * s], a[1][2 * s], a[0][2 * s + 1], a[1][2 * s + 1]};
                    unit_product<IS_BF16>(of_x, rows, ONES, ONES);
                    UNROLL for (u32 j = 0; j < ACROSS; j++) {
                        unit_product<IS_BF16>(part[j].c, rows, b[j][0][2 * s], b[j][0][2 * s + 1]);
                        unit_product<IS_BF16>(part[j].c + 4, rows, b[j][1][2 * s], b[j][1][2 * s + 1]);
                    }
                }
                UNROLL for (u32 j = 0; j < ACROSS; j++) UNROLL for (u32 i = 0; i < TILE_C; i++) {
                    const f32x2 scale = scales[h][j][i / 4 * 2 + i % 2];
                    const f32 sum = mul_add(scale.x, part[j].c[i], sums[d][j].c[i]);
                    sums[d][j].c[i] = mul_add(mul_add(8.0f, scale.x, scale.y), of_x[i / 2 % 2 * 2], sum);
                }
            }
        }
    }
    UNROLL for (u32 d = 0; d < DOWN; d++) {
        if (d) barrier();
        UNROLL for (u32 j = 0; j < ACROSS; j++) UNROLL for (u32 i = 0; i < TILE_C; i++)
            parts[((warp * ACROSS + j) * TILE_C + i) * WAVE + lane] = sums[d][j].c[i];
        barrier();
        // A warp adds one number of each lane.
        UNROLL for (u32 j = 0; j < ACROSS; j++) {
            f32 sum = 0.0f;
            UNROLL for (u32 w = 0; w < WARPS; w++) sum += parts[((w * ACROSS + j) * TILE_C + warp) * WAVE + lane];
            const u32 row = first_row + 16 * d + tile_c_row(lane, warp), column = first_column + 16 * j + tile_c_column(lane, warp);
            if (row < p.m && column < p.n) p.store(z, p.plus_offset(z), row, column, DTYPE, sum);
        }
    }
}
#define ROWS_KERNEL(NAME, IS_BF16, DOWN, ACROSS)         \
    KERNEL(256) void NAME(PRODUCT_PARAMETERS) {          \
        SHARED f32 parts[8 * ACROSS * TILE_C * WAVE];    \
        grid_dependency_launch();                        \
        grid_dependency_wait();                          \
        const Product p = PRODUCT_ARGUMENTS;             \
        codes_rows<IS_BF16, DOWN, ACROSS>(p, parts);     \
    }
ROWS_KERNEL(mlxrocm_array_product_codes_16_rows_f16, false, 1, 1)
ROWS_KERNEL(mlxrocm_array_product_codes_32_rows_f16, false, 2, 2)
ROWS_KERNEL(mlxrocm_array_product_codes_64_rows_f16, false, 4, 2)
ROWS_KERNEL(mlxrocm_array_product_codes_16_rows_bf16, true, 1, 1)
ROWS_KERNEL(mlxrocm_array_product_codes_32_rows_bf16, true, 2, 2)
ROWS_KERNEL(mlxrocm_array_product_codes_64_rows_bf16, true, 4, 2)
#endif
