// Rows of x as the products of several rows on AMD take them, and those of some rows with experts on NVIDIA (experts_tiles.h),
// made once for all their blocks: the integers, scales and sums
// of rows_x.h, of columns padded to a matrix's whole units, and what a row's results are multiplied with.
//
// x [rows][cols]; norm [cols] or null. MANY_ROWS rows lie together, one set after the other: codes
// [padded / 64][MANY_ROWS][hi, lo][64] bytes; groups [padded / GROUP + 1][MANY_ROWS] pairs, the last of which
// begin with the rows' factors. Rows of the last set that do not exist are zeros. For codes that are e4m3 numbers hi and
// lo are numbers of f16.
//
// Launch: TEAMS · 32 threads; grid (rows, rounded up to whole sets).
#pragma once

#include "ops/matmul/rows_x.h"

// What `prepare_x` asks of a matrix.
template <int GROUP_, bool E4M3_> struct Grouped {
    static constexpr int BITS = 0, GROUP = GROUP_, SCALES = PAIR_F32;
    static constexpr bool E4M3 = E4M3_;
};

template <typename Q>
DEVICE void rows_x(const f32 *x, const f32 *norm, u8 *codes, f32x2 *groups, f32 eps, u32 rows, u32 cols, u32 padded) {
    SHARED f32 squares[TEAMS];
    const u32 row = block_x(), set = row / MANY_ROWS, in_set = row % MANY_ROWS;
    const Rows p = {nullptr, x + (u64)row * cols, norm, {}, eps, 1, cols, 0, row < rows ? cols : 0};
    const u32 factors = padded / Q::GROUP * MANY_ROWS;
    Shared<Q, 1> s;
    s.partial = nullptr, s.squares = squares, s.padded = padded;
    s.x = prepared_codes<Q>(codes + (u64)set * padded * MANY_ROWS * 2 * X_BYTES<Q>, groups + (u64)set * (factors + MANY_ROWS));
    s.x.at += in_set * s.x.row, s.x.groups += in_set * s.x.group_row;
    s.factor = (f32 *)(s.x.groups + factors), s.factor_step = 2;
    grid_dependency_launch();
    Norm<1> of_norm = {};
    // As what has no weights under way; a row past the end has no columns.
    read_norm<1>(of_norm, p, 0);
    grid_dependency_wait();
    prepare_x<Q, 1>(p, s, of_norm, Prepared{}, [] {});
}

#if !defined(WIDE) || (PLATFORM_AMD && AMD_CDNA2)
#define ROWS_X_KERNEL(NAME, GROUP, E4M3)                                                                          \
    KERNEL(TEAMS * TEAM) void NAME(const f32 *x, const f32 *norm, u8 *codes, f32x2 *groups, f32 eps, u32 rows, \
                                   u32 cols, u32 padded) {                                                     \
        rows_x<Grouped<GROUP, E4M3>>(x, norm, codes, groups, eps, rows, cols, padded);                         \
    }
#else
#define ROWS_X_KERNEL(NAME, GROUP, E4M3)
#endif
