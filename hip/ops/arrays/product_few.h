// Products with few rows on the left (product.h), which take as long as the right matrix takes to be read: f32, f16, bf16,
// sums in f32. Of few columns on the right, sides are changed.
//
// along: the right matrix lies along k. A wave makes two columns of ROWS rows, 8 numbers of k a lane at a time, and adds its
//   lanes' sums. codes: the same of codes. SCALES is the dtype of affine scales and biases.
// across: its rows lie along n. Of 32 columns of ROWS rows, 32 groups of 8 threads take every 32nd number of k, a thread four
//   columns; the groups' sums are added in order.
//
// ROWS is 4, or 1 of one row, where more numbers of k are on their way at once.
//
// Launch: 256 threads; grid (row blocks · column blocks · batches), rows fastest: blocks that read the same numbers run
// together. `across` of product.h counts column blocks: of 2 · waves, and of 32 columns.
#pragma once

#include "product.h"
#include "common/reduce.h"

#define WIDE 2

// What a block makes: batch, first row, block of columns.
struct Part {
    u32 z, row, column;
};
template <u32 ROWS> DEVICE Part part_of(const Product &p) {
    const u32 down = divide_up(p.m, ROWS), rest = block_x() / down;
    return Part{rest / p.across, block_x() % down * ROWS, rest % p.across};
}

template <u32 DTYPE> DEVICE f32 half_of(u32 pair, u32 i) {
    const u16 bits = (u16)(pair >> (i * 16));
    return DTYPE == F16 ? to_f32(f16{bits}) : to_f32(bf16{bits});
}
// COUNT neighbouring numbers (4 or 8) of which `left` are there, 0 where they are not. They are converted when they are
// used: until then others may be on their way.
template <u32 DTYPE, u32 COUNT> struct Numbers {
    static constexpr u32 WORDS = DTYPE == F32 ? COUNT : COUNT / 2;
    u32 words[WORDS];

    METHOD void load(const void *x, i64 at, u32 left, bool whole = false) {
        UNROLL for (u32 i = 0; i < WORDS; i++) words[i] = 0;
        const u8 *from = (const u8 *)x + at * (DTYPE == F32 ? 4 : 2);
        if (whole || (left >= COUNT && ((u64)from & (WORDS >= 4 ? 15 : 7)) == 0)) {
            if constexpr (WORDS < 4) {
                const u32x2 v = load8(from);
                words[0] = v.x, words[1] = v.y;
            } else {
                UNROLL for (u32 i = 0; i < WORDS; i += 4) {
                    const u32x4 v = load16(from + 4 * i);
                    words[i] = v.x, words[i + 1] = v.y, words[i + 2] = v.z, words[i + 3] = v.w;
                }
            }
        } else {
            load_apart(x, at, 1, left);
        }
    }
    // The same where all are there.
    METHOD void load_all(const void *x, i64 at) {
        const u8 *from = (const u8 *)x + at * (DTYPE == F32 ? 4 : 2);
        if (((u64)from & 15) == 0) {
            load(x, at, COUNT, true);
        } else {
            UNROLL for (u32 i = 0; i < WORDS; i++)
                words[i] = DTYPE == F32 ? ((const u32 *)from)[i]
                                        : ((const u16 *)from)[2 * i] | (u32)((const u16 *)from)[2 * i + 1] << 16;
        }
    }
    // The same, `step` apart.
    METHOD void load_apart(const void *x, i64 at, i64 step, u32 left) {
        UNROLL for (u32 i = 0; i < WORDS; i++) words[i] = 0;
        _Pragma("unroll 1") for (u32 i = 0; i < minimum(left, COUNT); i++) {
            const u32 bits = DTYPE == F32 ? ((const u32 *)x)[at + i * step] : ((const u16 *)x)[at + i * step];
            const u32 mine = DTYPE == F32 ? i : i / 2, moved = DTYPE == F32 ? bits : bits << (i % 2 * 16);
            UNROLL for (u32 j = 0; j < WORDS; j++) words[j] |= j == mine ? moved : 0;
        }
    }
    METHOD f32 number(u32 i) const { return DTYPE == F32 ? bits_f32(words[i % WORDS]) : half_of<DTYPE>(words[i / 2 % WORDS], i % 2); }
};

// Adds the lanes' sums and stores them.
template <u32 DTYPE, u32 ROWS> DEVICE void finish(const Product &p, const Part &part, u32 column, f32 (&sums)[ROWS][WIDE]) {
    const i64 of_plus = p.plus_offset(part.z);
    UNROLL for (u32 r = 0; r < ROWS; r++) UNROLL for (u32 c = 0; c < WIDE; c++) {
        const f32 sum = wave_sum(sums[r][c]);
        if (lane_id() == 0 && part.row + r < p.m && column + c < p.n)
            p.store(part.z, of_plus, part.row + r, column + c, DTYPE, sum);
    }
}
// Eight numbers of k of rows on the left.
template <u32 DTYPE, u32 ROWS> DEVICE void load_left(const Product &p, i64 left, u32 first_row, u32 k, u32 depth, Numbers<DTYPE, 8> (&x)[ROWS]) {
    UNROLL for (u32 r = 0; r < ROWS; r++) {
        const u32 row = minimum(first_row + r, p.m - 1);
        if (p.left_along)
            x[r].load(p.left, left + row * p.left_stride + k, depth - k);
        else
            x[r].load_apart(p.left, left + row + k * p.left_stride, p.left_stride, depth - k);
    }
}

template <u32 DTYPE, u32 ROWS> DEVICE void along(const Product &p) {
    constexpr u32 AHEAD = ROWS == 1 ? 2 : 1;
    const Part part = part_of<ROWS>(p);
    const u32 column = (part.column * (256 / WAVE) + wave_id()) * WIDE, from = p.from(part.z), depth = p.depth(part.z);
    if (column >= p.n) return;
    const i64 left = p.left_offset(part.z) + from * (p.left_along ? 1 : p.left_stride), right = p.right_offset(part.z) + from;
    f32 sums[ROWS][WIDE] = {};
    for (u32 first = lane_id() * 8; first < depth; first += WAVE * 8 * AHEAD) {
        Numbers<DTYPE, 8> w[AHEAD][WIDE];
        UNROLL for (u32 a = 0; a < AHEAD; a++) UNROLL for (u32 c = 0; c < WIDE; c++) {
            const u32 k = first + a * WAVE * 8;
            w[a][c].load(p.right, right + minimum(column + c, p.n - 1) * p.right_stride + k, k < depth ? depth - k : 0);
        }
        UNROLL for (u32 a = 0; a < AHEAD; a++) {
            const u32 k = first + a * WAVE * 8;
            if (k >= depth) continue;
            Numbers<DTYPE, 8> x[ROWS];
            load_left<DTYPE, ROWS>(p, left, part.row, k, depth, x);
            UNROLL for (u32 i = 0; i < 8; i++) UNROLL for (u32 r = 0; r < ROWS; r++) UNROLL for (u32 c = 0; c < WIDE; c++)
                sums[r][c] = mul_add(x[r].number(i), w[a][c].number(i), sums[r][c]);
        }
    }
    finish<DTYPE, ROWS>(p, part, column, sums);
}

template <u32 DTYPE, u32 ROWS, u32 SCALES> DEVICE void coded_any(const Product &p) {
    constexpr u32 AHEAD = ROWS == 1 ? 4 : 1;
    const Part part = part_of<ROWS>(p);
    const u32 column = (part.column * (256 / WAVE) + wave_id()) * WIDE;
    if (column >= p.n) return;
    const Codes codes = p.codes(part.z, SCALES);
    const i64 left = p.left_offset(part.z);
    f32 sums[ROWS][WIDE] = {};
    for (u32 first = lane_id() * 8; first < p.k; first += WAVE * 8 * AHEAD) {
        u64 windows[AHEAD][WIDE];
        f32x2 scales[AHEAD][WIDE];
        UNROLL for (u32 a = 0; a < AHEAD; a++) UNROLL for (u32 c = 0; c < WIDE; c++) {
            // What is not there is the first again, and not used.
            const u32 row = minimum(column + c, p.n - 1), k = first + a * WAVE * 8;
            windows[a][c] = codes.window<8>(row, k < p.k ? k : first), scales[a][c] = codes.scale(row, k < p.k ? k : first);
        }
        UNROLL for (u32 a = 0; a < AHEAD; a++) {
            const u32 k = first + a * WAVE * 8;
            if (k >= p.k) continue;
            Numbers<DTYPE, 8> x[ROWS];
            UNROLL for (u32 r = 0; r < ROWS; r++) x[r].load_all(p.left, left + minimum(part.row + r, p.m - 1) * p.left_stride + k);
            UNROLL for (u32 i = 0; i < 8; i++) UNROLL for (u32 c = 0; c < WIDE; c++) {
                const u32 code = (u32)(windows[a][c] >> (i * p.bits)) & ((1u << p.bits) - 1);
                const f32 w = mul_add(scales[a][c].x, codes.number(code), scales[a][c].y);
                UNROLL for (u32 r = 0; r < ROWS; r++) sums[r][c] = mul_add(x[r].number(i), w, sums[r][c]);
            }
        }
    }
    finish<DTYPE, ROWS>(p, part, column, sums);
}

// Affine codes of 4 bits whose groups are multiples of 32, rows on multiples of 16 bytes: 32 codes a lane at a time. A code stays
// where it is in its word: with the exponent of 2^23 above it that is 2^23 + code · 16^i, and 16^-i goes to the scale.
template <u32 DTYPE, u32 ROWS, u32 SCALES> DEVICE void coded_4(const Product &p) {
    constexpr u32 AHEAD = ROWS == 1 ? 4 : 2;
    const Part part = part_of<ROWS>(p);
    const u32 column = (part.column * (256 / WAVE) + wave_id()) * WIDE;
    if (column >= p.n) return;
    const Codes codes = p.codes(part.z, SCALES);
    const i64 left = p.left_offset(part.z);
    f32 sums[ROWS][WIDE] = {};
    for (u32 first = lane_id() * 32; first < p.k; first += WAVE * 32 * AHEAD) {
        u32x4 words[AHEAD][WIDE];
        f32x2 scales[AHEAD][WIDE];
        UNROLL for (u32 a = 0; a < AHEAD; a++) UNROLL for (u32 c = 0; c < WIDE; c++) {
            // What is not there is the first again, and not used.
            const u32 row = minimum(column + c, p.n - 1), k = first + a * WAVE * 32, at = k < p.k ? k : first;
            words[a][c] = load16(codes.words + ((u64)row * p.k + at) / 8), scales[a][c] = codes.scale(row, at);
        }
        UNROLL for (u32 a = 0; a < AHEAD; a++) {
            const u32 k = first + a * WAVE * 32;
            if (k >= p.k) continue;
            UNROLL for (u32 j = 0; j < 4; j++) {
                Numbers<DTYPE, 8> x[ROWS];
                UNROLL for (u32 r = 0; r < ROWS; r++)
                    x[r].load_all(p.left, left + minimum(part.row + r, p.m - 1) * p.left_stride + k + 8 * j);
                UNROLL for (u32 c = 0; c < WIDE; c++) UNROLL for (u32 i = 0; i < 8; i++) {
                    const u32 bits = word(words[a][c], j) >> (i < 5 ? 0 : 20), digit = i < 5 ? i : i - 5;
                    const f32 code = bits_f32(and_or(bits, 15u << (4 * digit), 0x4b000000u)) - 8388608.0f;
                    const f32 w = mul_add(scales[a][c].x * bits_f32((127 - 4 * digit) << 23), code, scales[a][c].y);
                    UNROLL for (u32 r = 0; r < ROWS; r++) sums[r][c] = mul_add(x[r].number(i), w, sums[r][c]);
                }
            }
        }
    }
    finish<DTYPE, ROWS>(p, part, column, sums);
}

template <u32 DTYPE, u32 ROWS, u32 SCALES = DTYPE> DEVICE void coded(const Product &p) {
#if !AMD_CDNA2 // Both forms in one kernel take more scalar registers than CDNA has.
    const bool whole = ((u64)p.right & 15) == 0 && p.k % 32 == 0 && p.group % 32 == 0;
    if (p.mode == AFFINE && p.bits == 4 && whole) return coded_4<DTYPE, ROWS, SCALES>(p);
#endif
    coded_any<DTYPE, ROWS, SCALES>(p);
}

template <u32 DTYPE, u32 ROWS> DEVICE void by_columns(const Product &p, f32 *parts) {
    constexpr u32 AHEAD = ROWS == 1 ? 8 : 4;
    const Part part = part_of<ROWS>(p);
    const u32 thread = thread_x(), column = part.column * 32 + thread % 8 * 4, from = p.from(part.z), depth = p.depth(part.z);
    const i64 k_step = p.left_along ? 1 : p.left_stride, row_step = p.left_along ? p.left_stride : 1;
    const i64 left = p.left_offset(part.z) + from * k_step, right = p.right_offset(part.z) + from * p.right_stride;
    f32 sums[ROWS][4] = {};
    if (column < p.n) {
        for (u32 k = thread / 8; k < depth; k += 32 * AHEAD) {
            Numbers<DTYPE, 4> w[AHEAD];
            UNROLL for (u32 j = 0; j < AHEAD; j++)
                w[j].load(p.right, right + (k + j * 32) * p.right_stride + column, k + j * 32 < depth ? p.n - column : 0);
            UNROLL for (u32 j = 0; j < AHEAD; j++) UNROLL for (u32 r = 0; r < ROWS; r++) {
                if (k + j * 32 >= depth) continue;
                const f32 x = load_float(p.left, left + (k + j * 32) * k_step + minimum(part.row + r, p.m - 1) * row_step, DTYPE);
                UNROLL for (u32 c = 0; c < 4; c++) sums[r][c] = mul_add(x, w[j].number(c), sums[r][c]);
            }
        }
    }
    UNROLL for (u32 r = 0; r < ROWS; r++)
        store_f32x4(parts + (thread / 8 * ROWS + r) * 32 + thread % 8 * 4, f32x4{sums[r][0], sums[r][1], sums[r][2], sums[r][3]});
    barrier();
    if (thread >= ROWS * 32) return;
    f32 sum = 0.0f;
    UNROLL for (u32 i = 0; i < 32; i++) sum += parts[i * ROWS * 32 + thread];
    const u32 row = part.row + thread / 32, mine = part.column * 32 + thread % 32;
    if (row < p.m && mine < p.n) p.store(part.z, p.plus_offset(part.z), row, mine, DTYPE, sum);
}

#define FEW_KERNEL(NAME, FORM, ...)              \
    KERNEL(256) void NAME(PRODUCT_PARAMETERS) {  \
        grid_dependency_launch();                \
        grid_dependency_wait();                  \
        const Product p = PRODUCT_ARGUMENTS;     \
        FORM<__VA_ARGS__>(p);                    \
    }
#define ACROSS_KERNEL(NAME, DTYPE, ROWS)                                \
    KERNEL(256) void NAME(PRODUCT_PARAMETERS) {                         \
        SHARED __attribute__((aligned(16))) f32 parts[32 * ROWS * 32];  \
        grid_dependency_launch();                                       \
        grid_dependency_wait();                                         \
        const Product p = PRODUCT_ARGUMENTS;                            \
        by_columns<DTYPE, ROWS>(p, parts);                              \
    }
