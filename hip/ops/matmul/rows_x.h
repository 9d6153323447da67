// What a block of rows.h has in shared memory, and how rows of x become 16-bit integers there:
//
//   of every GROUP columns  i = round(n(x)[c] / scale),  scale = max |n(x)| / 32512,  i = 256 · hi + lo
//
// and the sum of i · scale. n(x) is x, or x times the norm's weights; the norm's factor follows in `factor`. For codes that
// are e4m3 numbers i is a sum of two numbers of f16: hi, rounded, and lo, the rest.
#pragma once

#include "common/matrix_nvidia.h"
#include "common/math.h"
#include "common/quant.h"
#include "common/reduce.h"
#include "ops/matmul/epilogue.h"
#include "ops/matmul/split.h"

#if PLATFORM_NVIDIA
#define ROWS_TEAMS 16
// Bytes of a stage of a team's ring, and how many.
#define STAGE_BYTES 2560
#define STAGES 2
// The same for one row, and in rows_cluster.h, where there is room.
#define ROW_STAGE_BYTES 3840
#else
#define ROWS_TEAMS 8
#define STAGE_BYTES 0
#define STAGES 0
#define ROW_STAGE_BYTES 0
#endif
// Of the kernels for matrices of more columns than WIDE_COLS (wide.h).
#define WIDE_TEAMS 16
#define WIDE_COLS 6144
#ifdef WIDE
#define TEAMS WIDE_TEAMS
#else
#define TEAMS ROWS_TEAMS
#endif
// The most rows of a launch for several.
#define MANY_ROWS 8

struct Rows {
    const u8 *weights; // units of 16 bytes
    const f32 *x;      // [rows][width]
    const f32 *norm;   // [width] or null
    Outputs to;
    f32 eps;
    u32 rows, width, tiles;
    u32 cols; // those that the block takes, from x on
};

// Whether blocks share the columns (AMD): the results are then parts, for rows_finish.hip.
DEVICE bool is_split() { return PLATFORM_AMD && grid_blocks_z() > 1; }

// Columns of x as they are: those of a row of one matrix.
struct Whole {
    static constexpr bool CHOSEN = false, PREPARED = false;
    DEVICE bool is_there(const Whole &, const Rows &p, u32 c) { return c < p.cols; }
    DEVICE u32 place(const Whole &, u32 c) { return c; }
    DEVICE f32 bias(const Whole &, const Rows &p, u32 tile, u32 row) { return bias_of(p.to, tile, row); }
    // NVIDIA: whether the matrix is chosen by `choose`, while x is prepared.
    DEVICE bool is_late(const Whole &) { return false; }
    DEVICE void choose(const Whole &) {}
    // Where row r of x is, and its result.
    DEVICE u32 row(const Whole &, u32 r) { return r; }
    DEVICE u32 result(const Whole &, u32 r) { return r; }
    // The block's tiles, or pairs of tiles, of so many.
    DEVICE u32 begin(const Whole &, u32 works) { return works * block_x() / grid_blocks_x(); }
    DEVICE u32 end(const Whole &, u32 works) { return works * (block_x() + 1) / grid_blocks_x(); }
};

// The same, made into integers by rows_x.hip: `p.x` are codes [block][MANY_ROWS][hi, lo][64], `p.norm` the groups
// [padded / GROUP + 1][MANY_ROWS], the last of which has what each row's results are multiplied with.
struct Prepared : Whole {
    static constexpr bool PREPARED = true;
};

// Whether products of a group are added as integers, over all lanes that share a row, before they become f32: as the matrix
// unit of CDNA does for several rows (rows_matrix_amd.h), so for one row, too. Not for those forms that took longer so for one
// row, by the software GPU's timing up to 7 %: some of 2, 3, 5 and 6 bits.
#if PLATFORM_AMD && AMD_CDNA2
template <typename Q>
constexpr bool WHOLE_GROUPS = Q::BITS == 4 || Q::BITS == 8 ? Q::GROUP >= 32 && !Q::E4M3 : Q::GROUP == 32 && Q::SCALES != PAIR_F32;
#else
template <typename Q> constexpr bool WHOLE_GROUPS = false;
#endif

// Lanes of AMD that multiply with the same scales: the sum of x is shared out among them.
template <typename Q> DEVICE constexpr u32 sharers() {
    return PLATFORM_NVIDIA || WHOLE_GROUPS<Q> ? 1 : Q::GROUP < 32 ? 2 : 4;
}

// Bytes of a column of x in hi, and in lo.
template <typename Q> constexpr u32 X_BYTES = Q::E4M3 ? 2 : 1;

// x as integers: of row r, block b and lane t the 16 bytes at r · row + b · block + t · 16, and `low` further (of f16 of the
// block's first half; those of the second are 64 bytes further); of group g its scale and sum of x / sharers at r · group_row + g · group_step.
struct Codes {
    u8 *at;
    u32 row, block, low;
    f32x2 *groups;
    u32 group_row, group_step;
};

// Shared memory after the ring. `R`: most rows.
template <typename Q, int R> struct Shared {
    static constexpr int BATCH = R == 1 ? 4 : 2;                // tiles between two barriers
    static constexpr int BUFFERS = PLATFORM_AMD && R > 4 ? 1 : 2; // of batches
    static constexpr int STRIDE = TEAMS + 4;                    // keeps 8 numbers in different banks
    f32 *partial;                                               // [BUFFERS][BATCH][16][R][STRIDE], by teams
    f32 *squares;                                               // [R][TEAMS] sums of x², by teams
    f32 *factor;                                                // [R] what results are multiplied with
    u32 factor_step;                                            // numbers from one to the next
    Codes x;
    u32 padded; // columns
};

template <typename Q> DEVICE u32 padded_columns(u32 cols) {
    return (cols + Q::UNIT * BLOCK_COLS - 1) / (Q::UNIT * BLOCK_COLS) * (Q::UNIT * BLOCK_COLS);
}

template <typename Q, int R> DEVICE Shared<Q, R> shared_memory(u8 *base, u32 cols, u32 rows) {
    Shared<Q, R> s;
    s.padded = padded_columns<Q>(cols);
    // Keeps hi and lo in different banks.
    const u32 x_stride = (s.padded * X_BYTES<Q> + 127) / 128 * 128 + 64;
    s.partial = (f32 *)base;
    s.squares = s.partial + s.BUFFERS * s.BATCH * TILE_ROWS * R * s.STRIDE;
    s.factor = s.squares + R * TEAMS, s.factor_step = 1;
    u8 *codes = (u8 *)(s.factor + 8);
    s.x = {codes, 2 * x_stride, BLOCK_COLS * X_BYTES<Q>, x_stride, (f32x2 *)(codes + rows * 2 * x_stride), s.padded / Q::GROUP, 1};
    return s;
}

// What rows_x.hip makes of columns padded to so many; `codes` and `groups` are those of the first of MANY_ROWS rows.
template <typename Q> DEVICE Codes prepared_codes(u8 *codes, f32x2 *groups) {
    constexpr u32 BYTES = BLOCK_COLS * X_BYTES<Q>;
    return {codes, 2 * BYTES, MANY_ROWS * 2 * BYTES, BYTES, groups, 1, MANY_ROWS};
}
// With it only partial sums lie in shared memory.
template <typename Q, int R> DEVICE Shared<Q, R> prepared_memory(u8 *base, const Rows &p) {
    Shared<Q, R> s;
    s.padded = padded_columns<Q>(p.width), s.partial = (f32 *)base, s.squares = nullptr;
    s.x = prepared_codes<Q>((u8 *)p.x, (f32x2 *)p.norm);
    s.factor = (f32 *)(s.x.groups + s.padded / Q::GROUP * MANY_ROWS), s.factor_step = 2;
    return s;
}

// A thread takes pieces of 8 columns of x, AT_ONCE of them at once, all reads first: neighbouring pieces of one
// row, or the same piece of all rows.
template <int R> constexpr u32 AT_ONCE = R > 1 ? R : TEAMS > 8 ? 4 : 2;
template <int R> constexpr u32 SPAN = TEAMS * TEAM * 8 * (R > 1 ? 1 : AT_ONCE<R>);
template <int R> struct Norm {
    f32 v[R > 1 ? 1 : AT_ONCE<R>][8];
};

// Zeros if it is not `there`.
DEVICE void read_piece(f32 *to, const f32 *from, bool there) {
    f32x4 a = {0, 0, 0, 0}, b = {0, 0, 0, 0};
    if (there) a = *(const f32x4 *)from, b = *(const f32x4 *)(from + 4);
    to[0] = a.x, to[1] = a.y, to[2] = a.z, to[3] = a.w, to[4] = b.x, to[5] = b.y, to[6] = b.z, to[7] = b.w;
}
// Of the norm's weights those of the thread's columns from `base` on.
template <int R> DEVICE void read_norm(Norm<R> &norm, const Rows &p, u32 base) {
    UNROLL for (u32 i = 0; i < sizeof(norm.v) / sizeof(norm.v[0]); i++) {
        const u32 c = base + (i * TEAMS * TEAM + thread_x()) * 8;
        if (p.norm) read_piece(norm.v[i], p.norm + c, c < p.cols);
    }
}

// Byte `BYTE` of four numbers, in the order of a quad's columns (quant.h).
template <int BYTE> DEVICE u32 gather_bytes(u32 a, u32 b, u32 c, u32 d) {
    constexpr u32 PAIR = BYTE | (BYTE + 4) << 8;
    return byte_select(byte_select(d, b, PAIR), byte_select(c, a, PAIR), 0x05040100u);
}

// Makes 8 columns of a row of x, `v`, those from `c` on of row `r`, into integers at PLACE. Lanes that have a group's columns do so together;
// columns that are not before `padded` are not stored. LEAVE: continue or return. (A macro: the same as a function, inlined, takes up to 16
// registers more in some kernels on AMD.)
#define STORE_PIECE(Q, PLACE, v, r, c, padded, LEAVE)                                                                                 \
    /* As integers, in which infinities and NaN are the largest. */                                                                   \
    u32 most = 0;                                                                                                                     \
    UNROLL for (u32 j = 0; j < 8; j++) most = maximum(most, f32_bits(v[j]) & 0x7fffffff);                                             \
    most = maximum(most, shuffle_xor<1>(most));                                                                                       \
    if constexpr (Q::GROUP >= 32) most = maximum(most, shuffle_xor<2>(most));                                                         \
    if constexpr (Q::GROUP >= 64) most = maximum(most, shuffle_xor<4>(most));                                                         \
    const f32 largest = bits_f32(most);                                                                                               \
    const bool zero = largest < 1e-30f;                                                                                               \
    const f32 inverse = zero ? 0.0f : 32512.0f * fast_rcp(largest);                                                                   \
    /* What is not finite makes the whole group so. */                                                                                \
    const f32 scale = most >= 0x7f800000u ? bits_f32(0x7fc00000u) : zero ? 0.0f : largest * (1.0f / 32512.0f);                        \
    /* 1.5 · 2^23 + i has the integer i in its low bits; hi is what is left above a signed lo. */                                     \
    u32 whole[8], above[8];                                                                                                           \
    UNROLL for (u32 j = 0; j < 8; j++) {                                                                                              \
        whole[j] = f32_bits(mul_add(v[j], inverse, 12582912.0f));                                                                     \
        above[j] = whole[j] + 128;                                                                                                    \
    }                                                                                                                                 \
    if constexpr (Q::E4M3) {                                                                                                          \
        if ((c) >= (padded)) LEAVE;                                                                                                   \
        u32 high[4], rest[4];                                                                                                         \
        UNROLL for (u32 j = 0; j < 4; j++) {                                                                                          \
            const f32 a = bits_f32(whole[2 * j]) - 12582912.0f, b = bits_f32(whole[2 * j + 1]) - 12582912.0f;                         \
            const f16x2 pair = pack_f16x2(a, b);                                                                                      \
            high[j] = pair.bits, rest[j] = pack_f16x2(a - low(pair), b - ::high(pair)).bits;                                          \
        }                                                                                                                             \
        u8 *to = PLACE.at + r * PLACE.row + c / 64 * PLACE.block + c % 64 * 2;                                                        \
        store16(to, u32x4{high[0], high[1], high[2], high[3]});                                                                       \
        store16(to + PLACE.low, u32x4{rest[0], rest[1], rest[2], rest[3]});                                                           \
        if (c % Q::GROUP == 0)                                                                                                        \
            PLACE.groups[r * PLACE.group_row + c / Q::GROUP * PLACE.group_step] = f32x2{scale, 0.0f};                                 \
        LEAVE;                                                                                                                        \
    }                                                                                                                                 \
    const u32 hi0 = gather_bytes<1>(above[0], above[1], above[2], above[3]);                                                          \
    const u32 hi1 = gather_bytes<1>(above[4], above[5], above[6], above[7]);                                                          \
    const u32 lo0 = gather_bytes<0>(whole[0], whole[1], whole[2], whole[3]);                                                          \
    const u32 lo1 = gather_bytes<0>(whole[4], whole[5], whole[6], whole[7]);                                                          \
    const u32 ones = 0x01010101u;                                                                                                     \
    i32 sum = dot4(hi0, ones, dot4(hi1, ones, 0)) * 256 + dot4(lo0, ones, dot4(lo1, ones, 0));                                        \
    sum += shuffle_xor<1>(sum);                                                                                                       \
    if constexpr (Q::GROUP >= 32) sum += shuffle_xor<2>(sum);                                                                         \
    if constexpr (Q::GROUP >= 64) sum += shuffle_xor<4>(sum);                                                                         \
    if ((c) >= (padded)) LEAVE;                                                                                                       \
    u8 *to = PLACE.at + r * PLACE.row + c / 64 * PLACE.block + c / 8 % 4 * 16 + c / 32 % 2 * 8;                                       \
    store8(to, u32x2{hi0, hi1});                                                                                                      \
    store8(to + PLACE.low, u32x2{lo0, lo1});                                                                                          \
    if (c % Q::GROUP == 0)                                                                                                            \
        PLACE.groups[r * PLACE.group_row + c / Q::GROUP * PLACE.group_step] = f32x2{scale, (f32)sum * scale * (1.0f / sharers<Q>())};

// The same as a function.
template <typename Q> DEVICE void store_piece(const Codes &at, const f32 *v, u32 r, u32 c, u32 padded) {
    STORE_PIECE(Q, at, v, r, c, padded, return)
}

// Makes rows of x into s.x and s.groups; s.factor follows behind the next barrier but one. `norm`: of the
// first SPAN columns. `meanwhile` is called when the first of x are on their way.
template <typename Q, int R, typename C, typename F>
DEVICE void prepare_x(const Rows &p, const Shared<Q, R> &s, Norm<R> &norm, const C &columns, F meanwhile) {
    const u32 thread = thread_x(), team = thread / TEAM, lane = thread % TEAM, rows = R == 1 ? 1 : p.rows;
    f32 squares[R] = {};
    for (u32 base = 0; base < s.padded; base += SPAN<R>) {
        f32 x[AT_ONCE<R>][8];
        UNROLL for (u32 i = 0; i < AT_ONCE<R>; i++) {
            const u32 c = base + ((R > 1 ? 0 : i) * TEAMS * TEAM + thread) * 8, r = R > 1 ? i : 0;
            const bool there = r < rows;
            const u64 row = there ? C::row(columns, r) : 0;
            const f32 *from = p.x + row * p.width + C::place(columns, c);
            read_piece(x[i], from, C::is_there(columns, p, c) && there);
        }
        if (base == 0) meanwhile();
        else read_norm<R>(norm, p, base);
        UNROLL for (u32 i = 0; i < AT_ONCE<R>; i++) {
            const u32 c = base + ((R > 1 ? 0 : i) * TEAMS * TEAM + thread) * 8, r = R > 1 ? i : 0;
            // Whole waves go on: neighbouring lanes make a group together.
            if (c - lane_id() * 8 >= s.padded || r >= rows) break;
            f32 *v = x[i];
            if (p.norm) {
                UNROLL for (u32 j = 0; j < 8; j++)
                    squares[r] = mul_add(v[j], v[j], squares[r]), v[j] *= norm.v[R > 1 ? 0 : i][j];
            }
            if constexpr (C::CHOSEN) {
                const f32 weight = C::weight(columns, c);
                UNROLL for (u32 j = 0; j < 8; j++) v[j] *= weight;
            }
            STORE_PIECE(Q, s.x, v, r, c, s.padded, continue)
        }
    }
    UNROLL for (u32 r = 0; r < R; r++) {
        const f32 sum = wave_sum<TEAM>(squares[r]);
        if (lane == 0) s.squares[r * TEAMS + team] = sum;
    }
    barrier_shared();
    for (u32 r = team; r < (rows + TEAMS - 1) / TEAMS * TEAMS; r += TEAMS) {
        const f32 sum = wave_sum<TEAMS>(s.squares[(r < rows ? r : 0) * TEAMS + lane % TEAMS]);
        const bool has_norm = p.norm && !is_split();
        if (lane == 0 && r < rows) s.factor[r * s.factor_step] = has_norm ? fast_rsqrt(sum / (f32)p.width + p.eps) : 1.0f;
    }
}
