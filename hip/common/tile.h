// Matrix tiles: C[16][16] += A[16][16] * B[16][16]^T, by one wave, with the matrix unit of the
// device. A and B are rows of 16 numbers of 16 bits along the common dimension k; a row of A makes a
// row of C, a row of B (a row of a weight matrix, say) makes a column of C. C is f32.
//
// What a lane holds, in terms that hold everywhere:
//
//   Tile16 (an A or a B)   LANE_ROWS rows a lane; of each LANE_K neighbouring numbers, two a
//                          register: r[row * LANE_K / 2 + pair]. Which ones: row tile_a_row(lane,
//                          row) or tile_b_row(lane, row), numbers tile_k(lane) ... + LANE_K - 1.
//   TileC                  c[i], i < TILE_C: row tile_c_row(lane, i), column tile_c_column(lane, i).
//
//   unit                     LANE_ROWS LANE_K TILE_C  A, B: row, k            C: row, column
//   RDNA 3 (WMMA)                 1      16      8    l%16, 0 (both halves)   2i + l/16, l%16
//   RDNA 4 (WMMA)                 1       8      8    l%16, 8(l/16)           i + 8(l/16), l%16
//   CDNA 2, 3 (MFMA)              1       4      4    l%16, 4(l/16)           i + 4(l/16), l%16
//   NVIDIA (mma.m16n8k16)         2       4      8    l/4 + 8row, 4(l%4)      l/4 + 8(i/2%2), 8(i/4) + 2(l%4) + i%2
//   RDNA 1, 2 (dot products)      1      16      8    l%16, 0 (A: ^8 above)   i + 8(l/16), l%16
//   other AMD (dot products)      1      16      4    l%16, 0                 i + 4(l/16), l%16
//
// The numbers along k are not where NVIDIA's manual has them (there a lane holds two and two); A and
// B are permuted alike, which a sum of products does not see, and a lane loads eight bytes at once.
#pragma once

#include "matrix_nvidia.h"
#include "reduce.h"

#if PLATFORM_NVIDIA
#define LANE_ROWS 2
#define LANE_K 4
#define HAS_MATRIX_UNIT 1
#elif defined(__GFX12__)
#define LANE_ROWS 1
#define LANE_K 8
#define HAS_MATRIX_UNIT 1
#elif defined(__GFX11__)
#define LANE_ROWS 1
#define LANE_K 16
#define HAS_MATRIX_UNIT 1
#elif AMD_CDNA2
#define LANE_ROWS 1
#define LANE_K 4
#define HAS_MATRIX_UNIT 1
#else
#define LANE_ROWS 1
#define LANE_K 16
#define HAS_MATRIX_UNIT 0
#endif
#define TILE_C (256 / WAVE)
// Before a loop over k. Where rows of A are moved from lane to lane first, all those of an unrolled loop would
// be, into more registers than there are.
#if HAS_MATRIX_UNIT || AMD_RDNA2
#define UNROLL_K UNROLL
#else
#define UNROLL_K _Pragma("unroll 1")
#endif
#define LANE_REGISTERS (LANE_ROWS * LANE_K / 2)

// A lane's part of an A or a B.
struct Tile16 {
    u32 r[LANE_REGISTERS];
};
// A lane's part of a C.
struct TileC {
    f32 c[TILE_C];
};

// Where a lane's numbers are.

DEVICE u32 tile_b_row(u32 lane, u32 row) {
#if PLATFORM_NVIDIA
    return lane / 4 + 8 * row;
#else
    (void)row;
    return lane % 16;
#endif
}
DEVICE u32 tile_a_row(u32 lane, u32 row) {
#if PLATFORM_AMD && !HAS_MATRIX_UNIT && WAVE == 32
    (void)row;
    return lane % 16 ^ lane / 16 * 8;
#else
    return tile_b_row(lane, row);
#endif
}
DEVICE u32 tile_k(u32 lane) {
#if PLATFORM_NVIDIA
    return lane % 4 * 4;
#else
    return LANE_K == 16 ? 0 : lane / 16 * LANE_K;
#endif
}
DEVICE u32 tile_c_row(u32 lane, u32 i) {
#if PLATFORM_NVIDIA
    return lane / 4 + i / 2 % 2 * 8;
#elif defined(__GFX11__)
    return 2 * i + lane / 16;
#else
    return i + TILE_C * (lane / 16);
#endif
}
DEVICE u32 tile_c_column(u32 lane, u32 i) {
#if PLATFORM_NVIDIA
    return i / 4 * 8 + lane % 4 * 2 + i % 2;
#else
    (void)i;
    return lane % 16;
#endif
}

// A lane has numbers of TILE_C_ROWS rows of a C: c[i] is of the tile_c_slot(i)-th.
#define TILE_C_ROWS (PLATFORM_NVIDIA ? 2 : TILE_C)
DEVICE constexpr u32 tile_c_slot(u32 i) { return PLATFORM_NVIDIA ? i / 2 % 2 : i; }
// The row of the slot-th.
DEVICE u32 tile_c_slot_row(u32 lane, u32 slot) { return tile_c_row(lane, PLATFORM_NVIDIA ? 2 * slot : slot); }
// The largest and the sum of a row, from what each of its lanes has.
DEVICE f32 tile_row_max(f32 v) { return wave_max<PLATFORM_NVIDIA ? 4 : 16>(v); }
DEVICE f32 tile_row_sum(f32 v) { return wave_sum<PLATFORM_NVIDIA ? 4 : 16>(v); }

DEVICE TileC tile_zero() {
    TileC c;
    UNROLL for (int i = 0; i < TILE_C; i++) c.c[i] = 0.0f;
    return c;
}

// A lane's part of rows that lie in memory (global or shared): `first` is the tile's first number,
// `stride` the distance of rows in numbers (a multiple of LANE_K; `first` aligned to 2 * LANE_K bytes).
template <bool IS_A> DEVICE Tile16 tile_load(const void *first, u32 stride) {
    Tile16 tile;
    u32 lane = lane_id();
    UNROLL for (u32 row = 0; row < LANE_ROWS; row++) {
        u32 index = IS_A ? tile_a_row(lane, row) : tile_b_row(lane, row);
        const u16 *from = (const u16 *)first + (u64)index * stride + tile_k(lane);
        u32 *r = tile.r + row * (LANE_K / 2);
        if constexpr (LANE_K == 4) {
            u32x2 v = load8(from);
            r[0] = v.x, r[1] = v.y;
        } else {
            UNROLL for (int i = 0; i < LANE_K / 8; i++) {
                u32x4 v = load16(from + 8 * i);
                r[4 * i] = v.x, r[4 * i + 1] = v.y, r[4 * i + 2] = v.z, r[4 * i + 3] = v.w;
            }
        }
    }
    return tile;
}
DEVICE Tile16 tile_load_a(const void *first, u32 stride) { return tile_load<true>(first, stride); }
DEVICE Tile16 tile_load_b(const void *first, u32 stride) { return tile_load<false>(first, stride); }

// c += a * b^T; products exact, sums in f32 in the unit's own order.

#if PLATFORM_NVIDIA

// The registers of A in the order of the unit's manual.
DEVICE void tile_multiply_f16(TileC &c, const Tile16 &a, const Tile16 &b) {
    const u32 rows[4] = {a.r[0], a.r[2], a.r[1], a.r[3]};
    matrix_product(c.c, rows, b.r[0], b.r[1]);
    matrix_product(c.c + 4, rows, b.r[2], b.r[3]);
}
DEVICE void tile_multiply_bf16(TileC &c, const Tile16 &a, const Tile16 &b) {
    const u32 rows[4] = {a.r[0], a.r[2], a.r[1], a.r[3]};
    matrix_product_bf16(c.c, rows, b.r[0], b.r[1]);
    matrix_product_bf16(c.c + 4, rows, b.r[2], b.r[3]);
}

#elif HAS_MATRIX_UNIT

typedef _Float16 amd_tile_f16 __attribute__((ext_vector_type(LANE_K)));
typedef short amd_tile_bf16 __attribute__((ext_vector_type(LANE_K)));
typedef f32 amd_tile_c __attribute__((ext_vector_type(TILE_C)));

#if defined(__GFX12__)
#define AMD_TILE_F16(a, b, c) __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a, b, c)
#define AMD_TILE_BF16(a, b, c) __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(a, b, c)
#elif defined(__GFX11__)
#define AMD_TILE_F16(a, b, c) __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c)
#define AMD_TILE_BF16(a, b, c) __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(a, b, c)
#else
#define AMD_TILE_F16(a, b, c) __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0)
#define AMD_TILE_BF16(a, b, c) __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, b, c, 0, 0, 0)
#endif

DEVICE void tile_multiply_f16(TileC &c, const Tile16 &a, const Tile16 &b) {
    amd_tile_c sum = AMD_TILE_F16(__builtin_bit_cast(amd_tile_f16, a), __builtin_bit_cast(amd_tile_f16, b),
                                  __builtin_bit_cast(amd_tile_c, c));
    c = __builtin_bit_cast(TileC, sum);
}
DEVICE void tile_multiply_bf16(TileC &c, const Tile16 &a, const Tile16 &b) {
    amd_tile_c sum = AMD_TILE_BF16(__builtin_bit_cast(amd_tile_bf16, a), __builtin_bit_cast(amd_tile_bf16, b),
                                   __builtin_bit_cast(amd_tile_c, c));
    c = __builtin_bit_cast(TileC, sum);
}

#else

// Row I of A for the lower half of the lanes, row I + 8 for the upper (RDNA); row i + 4(l/16) (wave
// of 64).
template <int I> DEVICE u32 amd_row_of_a(u32 value) {
#if WAVE == 32
    return (u32)__builtin_amdgcn_update_dpp(0, (int)value, 0x150 + I, 0xf, 0xf, true);
#else
    return shuffle(value, I + TILE_C * (lane_id() / 16));
#endif
}
// c + row I of A times a row of B. RDNA 2 moves and multiplies in one instruction; left to itself, clang 19
// moves first, and keeps all the moved rows of an A in registers.
template <int I> DEVICE f32 amd_dot_row(bf16x2 a, bf16x2 b, f32 c) {
    return dot2(bf16x2{amd_row_of_a<I>(a.bits)}, b, c);
}
template <int I> DEVICE f32 amd_dot_row(f16x2 a, f16x2 b, f32 c) {
#if AMD_RDNA2
    asm("v_dot2c_f32_f16 %0, %1, %2 row_share:%3 row_mask:0xf bank_mask:0xf"
        : "+v"(c)
        : "v"(a.bits), "v"(b.bits), "n"(I));
    return c;
#else
    return dot2(f16x2{amd_row_of_a<I>(a.bits)}, b, c);
#endif
}
template <typename PAIR, int I> DEVICE void amd_tile_row(TileC &c, const Tile16 &a, const Tile16 &b) {
    UNROLL for (int k = 0; k < LANE_REGISTERS; k++)
        c.c[I] = amd_dot_row<I>(PAIR{a.r[k]}, PAIR{b.r[k]}, c.c[I]);
    if constexpr (I + 1 < TILE_C) amd_tile_row<PAIR, I + 1>(c, a, b);
}
DEVICE void tile_multiply_f16(TileC &c, const Tile16 &a, const Tile16 &b) {
    amd_tile_row<f16x2, 0>(c, a, b);
}
DEVICE void tile_multiply_bf16(TileC &c, const Tile16 &a, const Tile16 &b) {
    amd_tile_row<bf16x2, 0>(c, a, b);
}

#endif
