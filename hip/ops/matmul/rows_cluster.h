// Products of a quantized matrix with 2 to 16 rows x on NVIDIA: those of rows.h, to the bit, by clusters of blocks.
//
// A block of rows.h has its rows of x as integers in shared memory, all columns of them, and its TEAMS warps share the columns of a
// tile: of eight rows the sums of so many parts cost as much as the products, and where columns are many not all rows fit, so that W is
// read again for the others. Here the blocks of a cluster share the columns, and a warp takes a quarter of a tile's parts, one after the
// other: those that rows.h adds up first, the parts q, q + 4, q + 8, … of quarter q. What it sums goes to the shared memory of the
// block that finishes the row of x, by stores that complete on a barrier there.
//
// Launch: clusters of CLUSTER blocks along x, TEAMS · 32 threads each, any number; cluster c takes the tiles
// [c, c+1) · tiles / clusters (in pairs for silu), AT_A_TIME at a time. Dynamic shared memory: `cluster_bytes` of
// src/gpu/model/clusters.rs has the same sum.
#pragma once

#include "common/cluster_nvidia.h"
#include "ops/matmul/rows.h"

// Blocks of a cluster.
#define CLUSTER 4
#define QUARTERS 4
// Tiles that a cluster's warps take at once.
#define AT_A_TIME (QUARTERS * CLUSTER)

#if PLATFORM_NVIDIA
#define OF_QUARTER (TEAMS / QUARTERS)
#define OWN_QUARTERS (QUARTERS / CLUSTER)
#define THREADS (TEAMS * TEAM)
// Pieces of 8 columns that a thread has on their way at once.
#define PIECES 2

// What a block has behind its rings, in a kernel for ROWS rows.
template <typename Q, int ROWS> struct ClusterMemory {
    static constexpr u32 OWN_ROWS = ROWS / CLUSTER;
    static constexpr u32 NUMBERS = AT_A_TIME * OWN_ROWS * TILE_ROWS; // of a round, that the block finishes
    u32 sent;                     // barrier objects of two rounds' sums
    f32 *sums;                    // [2][QUARTERS][NUMBERS]
    f32 *squares, *factor;        // [OWN_ROWS][TEAMS] sums of x²; what results are multiplied with
    Codes x;
    u32 padded; // own columns
};
template <typename Q, int ROWS> DEVICE ClusterMemory<Q, ROWS> cluster_memory(u8 *base, u32 longest, u32 rows) {
    ClusterMemory<Q, ROWS> s;
    s.padded = TEAMS / CLUSTER * longest * Q::UNIT * BLOCK_COLS;
    const u32 x_stride = (s.padded * X_BYTES<Q> + 127) / 128 * 128 + 64;
    s.sent = shared_address(base), s.sums = (f32 *)(base + 16);
    s.squares = s.sums + 2 * QUARTERS * s.NUMBERS, s.factor = s.squares + s.OWN_ROWS * TEAMS;
    u8 *codes = (u8 *)(s.factor + 16);
    // An odd number of groups, so that four rows are in different banks.
    s.x = {codes, 2 * x_stride, BLOCK_COLS * X_BYTES<Q>, x_stride, (f32x2 *)(codes + rows * 2 * x_stride), s.padded / Q::GROUP | 1, 1};
    return s;
}

// Where a block's columns are: its quarters' parts, one after the other, as many units as the longest has.
template <typename Q> struct OwnColumns {
    u32 units, longest, rank, cols, inverse, width; // cols: of a part; 2^32 / that
    DEVICE OwnColumns of(u32 units, u32 rank, u32 width) {
        const u32 longest = (units + TEAMS - 1) / TEAMS, cols = longest * Q::UNIT * BLOCK_COLS;
        return {units, longest, rank, cols, 0xffffffffu / cols + 1, width};
    }
    // Of own column `i` in a row of x; `width` for none.
    DEVICE u32 at(const OwnColumns &o, u32 i) {
        const u32 part = (u32)((u64)i * o.inverse >> 32);
        const u32 team = part % OF_QUARTER * QUARTERS + o.rank * OWN_QUARTERS + part / OF_QUARTER, from = o.units * team;
        const u32 column = from / TEAMS * Q::UNIT * BLOCK_COLS + (i - part * o.cols);
        return column < minimum((from + o.units) / TEAMS * Q::UNIT * BLOCK_COLS, o.width) ? column : o.width;
    }
};

// The squares of the norm of the rows that a block finishes, in the order of `prepare_x`: of the first rows and columns on their way, then summed.
template <int OWN_ROWS> struct Squares {
    static constexpr u32 HELD = OWN_ROWS < 4 ? OWN_ROWS : 4, COLS = THREADS * 8;
    f32 x[HELD][8];
    DEVICE void read(Squares &s, const Rows &p, u32 first, u32 base) {
        const u32 c = base + thread_x() * 8;
        UNROLL for (u32 i = 0; i < HELD; i++)
            read_piece(s.x[i], p.x + (u64)(first + i) * p.width + c, c < p.cols && first + i < p.rows);
    }
    // Of the rows from `first` on, the first read already.
    DEVICE void sum(Squares &s, const Rows &p, u32 first, f32 *to) {
        UNROLL for (u32 own = 0; own < OWN_ROWS; own += HELD) {
            f32 sums[HELD] = {};
            for (u32 base = 0; base < p.cols; base += COLS) {
                if (own + base > 0) read(s, p, first + own, base);
                UNROLL for (u32 i = 0; i < HELD; i++)
                    UNROLL for (u32 j = 0; j < 8; j++) sums[i] = mul_add(s.x[i][j], s.x[i][j], sums[i]);
            }
            UNROLL for (u32 i = 0; i < HELD; i++) {
                const f32 sum = wave_sum<TEAM>(sums[i]);
                if (lane_id() == 0) to[(own + i) * TEAMS + thread_x() / TEAM] = sum;
            }
        }
    }
};

// The norm of own columns, on its way to shared memory. Columns that are not there are zeros of x.
template <typename O> DEVICE void read_own_norm(const Rows &p, f32 *to, const O &o, u32 padded) {
    for (u32 i = thread_x() * 4; i < padded; i += THREADS * 4) {
        const u32 column = O::at(o, i);
        copy16_async(to + i, p.norm + (column < p.cols ? column : 0));
    }
}
// Makes own columns of all rows into integers. `norm`: of own columns, or null; `meanwhile` is called when the first of x are on their way.
template <typename Q, typename S, typename O, typename F>
DEVICE void prepare_columns(const Rows &p, const S &s, const O &o, const f32 *norm, F meanwhile) {
    // As many threads for each row, a power of two.
    const u32 shift = p.rows <= 2 ? 8 : p.rows <= 4 ? 7 : p.rows <= 8 ? 6 : 5, row = thread_x() >> shift;
    const u32 first = (thread_x() & ((1u << shift) - 1)) * 8, step = 8u << shift;
    const f32 *from = p.x + (u64)row * p.width;
#pragma unroll 1
    for (u32 begin = first; begin == first || begin - lane_id() * 8 < s.padded; begin += PIECES * step) {
        f32 x[PIECES][8];
        UNROLL for (u32 k = 0; k < PIECES; k++) {
            const u32 i = begin + k * step, column = O::at(o, i);
            read_piece(x[k], from + column, i < s.padded && row < p.rows && column < p.cols);
        }
        if (begin == first) meanwhile();
        UNROLL for (u32 k = 0; k < PIECES; k++) {
            const u32 i = begin + k * step;
            // Whole waves go on: neighbouring lanes make a group together.
            if (row >= p.rows || i - lane_id() * 8 >= s.padded) break;
            if (norm) {
                const u32 at = i < s.padded ? i : 0;
                const f32x4 a = *(const f32x4 *)(norm + at), b = *(const f32x4 *)(norm + at + 4);
                x[k][0] *= a.x, x[k][1] *= a.y, x[k][2] *= a.z, x[k][3] *= a.w;
                x[k][4] *= b.x, x[k][5] *= b.y, x[k][6] *= b.z, x[k][7] *= b.w;
            }
            store_piece<Q>(s.x, x[k], row, i, s.padded);
        }
    }
}

// The `i`th number that a block finishes, as `begin_result` of rows.h: of the tiles from `first` to `end`.
template <typename S> DEVICE Result begin_own(const Rows &p, u32 rank, u32 i, u32 first, u32 end) {
    const bool silu = p.to.epilogue == SILU;
    Result result = {};
    const u32 in_tile = i % TILE_ROWS, own = i / TILE_ROWS % S::OWN_ROWS, r = rank * S::OWN_ROWS + own;
    const u32 tile = i / (TILE_ROWS * S::OWN_ROWS) * (silu ? 2 : 1), in = first + tile;
    if (tile >= AT_A_TIME || r >= p.rows || in >= end) return result;
    result.r = own, result.number = (tile * S::OWN_ROWS + own) * TILE_ROWS + in_tile;
    result.bias = bias_of(p.to, in, in_tile);
    if (silu) {
        result.bias_up = bias_of(p.to, in + 1, in_tile);
        result.to = silu_place(p.to, r, in / 2, in_tile);
    } else {
        const f32 *residual;
        result.to = number_place(p.to, r, in, in_tile, residual);
        if (result.to && residual) result.residual = *residual;
    }
    return result;
}
template <typename S> DEVICE void finish_own(const Rows &p, const S &s, u32 buffer, const Result &result) {
    if (!result.to) return;
    const f32 *sums = s.sums + buffer * QUARTERS * S::NUMBERS + result.number;
    auto sum = [&](const f32 *of) { return (of[0] + of[S::NUMBERS]) + (of[2 * S::NUMBERS] + of[3 * S::NUMBERS]); };
    finish_sum(p, result, sum(sums), [&] { return sum(sums + S::OWN_ROWS * TILE_ROWS); }, s.factor[result.r]);
}

// Sends a quarter's sums of a tile to the blocks that finish them.
template <typename S, int ROWS> DEVICE void send_sums(const S &s, u32 buffer, u32 quarter, u32 slot, const Sums<ROWS> &sums) {
    const u32 g = lane_id() / 4, t = lane_id() % 4;
    f32 *to = s.sums + (buffer * QUARTERS + quarter) * S::NUMBERS + slot * S::OWN_ROWS * TILE_ROWS + g;
    UNROLL for (u32 n = 0; n < Sums<ROWS>::N; n++) {
        const u32 r = n * 4 + t, block = r / S::OWN_ROWS, sent = address_in_block(s.sent + 8 * buffer, block);
        const u32 at = address_in_block(shared_address(to + r % S::OWN_ROWS * TILE_ROWS), block);
        UNROLL for (u32 h = 0; h < 2; h++) store_in_block(at + h * 8 * 4, sums.v[h][n], sent);
    }
}

template <typename Q, int ROWS> DEVICE void matmul_cluster(const Rows &p, u8 *memory) {
    using S = ClusterMemory<Q, ROWS>;
    constexpr u32 EACH = (S::NUMBERS + THREADS - 1) / THREADS;
    const u32 warp = ROWS > 8 ? uniform(thread_x() / WAVE) : warp_number(), lane = lane_id(), g = lane / 4, t = lane % 4;
    const u32 rank = cluster_rank(), cluster = block_x() / CLUSTER, clusters = grid_blocks_x() / CLUSTER;
    const u32 pairs = p.to.epilogue == SILU ? 2 : 1, works = p.tiles / pairs;
    const u32 begin = works * cluster / clusters * pairs, end = works * (cluster + 1) / clusters * pairs;
    const u32 own_quarter = warp % OWN_QUARTERS, slot = warp / OWN_QUARTERS, quarter = rank * OWN_QUARTERS + own_quarter;
    const auto own = OwnColumns<Q>::of(units_of<Q>(p), rank, p.cols);
    // Barriers come first, the rings last.
    const u32 barriers = shared_address(memory) + warp * STAGES * 8;
    const auto s = cluster_memory<Q, ROWS>(memory + TEAMS * STAGES * 8, own.longest, p.rows);
    u8 *rings = memory + ((u32)((u8 *)(s.x.groups + p.rows * s.x.group_row) - memory) + 127) / 128 * 128;
    // The host gives stages of ROW_STAGE_BYTES where there is room.
    constexpr u32 LARGE = units_in<Q>(ROW_STAGE_BYTES), SMALL = units_in<Q>(STAGE_BYTES);
    const bool is_large = dynamic_shared_bytes() >= (u32)(rings - memory) + TEAMS * STAGES * stage_of<Q>(LARGE);
    const u32 most = is_large ? LARGE : SMALL, stage_bytes = is_large ? stage_of<Q>(LARGE) : stage_of<Q>(SMALL);
    // [stage][warp]
    const u8 *ring = rings + warp * stage_bytes;
    // (16 rows leave no registers for the other form: 3 % slower.)
    const bool leads = ROWS > 8 ? lane == 0 : is_elected();
    if (leads) {
        UNROLL for (u32 i = 0; i < STAGES; i++) copy_barrier_init(barriers + 8 * i);
        if (warp == 0) copy_barrier_init(s.sent), copy_barrier_init(s.sent + 8);
        copy_barrier_fence();
    }
    wave_barrier();
    cluster_arrive();
    // Units of a stage: where a part has two, half of its.
    const u32 each = own.longest <= most ? most : minimum((own.longest + 1) / 2, most);
    // What is copied next: unit `unit` of the part whose first is at / TEAMS, of `left` tiles from `weights` on.
    const u64 tile_bytes = (u64)own.units * Q::UNIT_BYTES;
    const u8 *weights = p.weights + (begin + slot) * tile_bytes;
    u32 left = begin + slot < end ? (end - begin - slot + AT_A_TIME - 1) / AT_A_TIME : 0, at = own.units * quarter, unit = 0;
    auto next = [&](u32 stage) {
        if (left == 0) return;
        const u32 from = at / TEAMS, count = (at + own.units) / TEAMS - from, n = minimum(count - unit, each);
        if (leads) {
            const u32 bytes = n * Q::UNIT_BYTES;
            copy_barrier_expect(barriers + 8 * stage, bytes);
            if (bytes > 0) copy_bulk(shared_address(ring + stage * TEAMS * stage_bytes), weights + (from + unit) * Q::UNIT_BYTES, bytes, barriers + 8 * stage);
        }
        unit += n;
        if (unit < count) return;
        unit = 0, at += own.units * QUARTERS;
        if (at >= own.units * TEAMS) at = own.units * quarter, left--, weights += tile_bytes * AT_A_TIME;
    };
    // One stage only: more would make x, which everybody waits for, queue behind the weights.
    next(0), grid_dependency_launch();
    // Where the second stage will be; `cluster_bytes` says whether there is room.
    f32 *norm = p.norm ? (f32 *)(rings + TEAMS * stage_bytes) : nullptr;
    if (norm) read_own_norm(p, norm, own, s.padded);
    const Table table = table_of<Q>(p.weights);
    grid_dependency_wait();
    Squares<S::OWN_ROWS> squares;
    prepare_columns<Q>(p, s, own, norm, [&] {
        if (!norm) return;
        Squares<S::OWN_ROWS>::read(squares, p, rank * S::OWN_ROWS, 0);
        copy_commit(), copy_wait<0>();
        barrier_shared();
    });
    if (norm) {
        Squares<S::OWN_ROWS>::sum(squares, p, rank * S::OWN_ROWS, s.squares);
        shared_written();
        barrier_shared();
    }
    UNROLL for (u32 i = 1; i < STAGES; i++) next(i);
    if (warp < S::OWN_ROWS) {
        const f32 sum = norm ? wave_sum<TEAMS>(s.squares[warp * TEAMS + lane % TEAMS]) : 0.0f;
        if (lane == 0) s.factor[warp] = norm ? fast_rsqrt(sum / (f32)p.width + p.eps) : 1.0f;
    }
    barrier_shared();
    // Until all blocks have begun.
    cluster_wait();
    Shared<Q, ROWS> x = {};
    x.x = s.x;
    u32 stage = 0, parity = 0, buffer = 0, phase = 0;
    Result last[EACH] = {};
    // The numbers of the round before.
    auto finish_last = [&] {
        if (thread_x() == 0) copy_barrier_expect(s.sent + 8 * buffer, QUARTERS * S::NUMBERS * 4);
        copy_barrier_wait(s.sent + 8 * buffer, phase);
        UNROLL for (u32 k = 0; k < EACH; k++) finish_own(p, s, buffer, last[k]);
        phase ^= buffer, buffer ^= 1;
    };
#pragma unroll 1
    for (u32 tile = begin; tile < end; tile += AT_A_TIME) {
        Result now[EACH];
        UNROLL for (u32 k = 0; k < EACH; k++) now[k] = begin_own<S>(p, rank, k * THREADS + thread_x(), tile, end);
        Sums<ROWS> sums = {};
        for (u32 part = 0; part < OF_QUARTER && tile + slot < end; part++) {
            const u32 first = own.units * (part * QUARTERS + quarter), count = (first + own.units) / TEAMS - first / TEAMS;
            Sums<ROWS> of_part = {};
            u32 done = 0;
            do {
                const u32 n = minimum(count - done, each);
                copy_barrier_wait(barriers + 8 * stage, parity);
                const u8 *codes = ring + stage * TEAMS * stage_bytes;
                auto add = [&](u32 block) {
                    add_stored<Q, ROWS>(table, codes, block, (own_quarter * OF_QUARTER + part) * own.longest + done, lane, g, t, p.rows, x, of_part);
                };
                // As many blocks at a time as registers are there for.
                constexpr u32 BLOCKS = Q::GROUP == 64 && ROWS <= 8 ? 2 : 1;
                u32 block = 0;
#pragma unroll 1
                for (; block + BLOCKS <= n * Q::UNIT; block += BLOCKS) {
                    UNROLL for (u32 j = 0; j < BLOCKS; j++) add(block + j);
                }
                if (BLOCKS > 1 && block < n * Q::UNIT) add(block);
                wave_barrier();
                next(stage);
                if (++stage == STAGES) stage = 0, parity ^= 1;
                done += n;
            } while (done < count);
            UNROLL for (u32 h = 0; h < 2; h++) UNROLL for (u32 n = 0; n < Sums<ROWS>::N; n++)
                sums.v[h][n] = part == 0 ? of_part.v[h][n] : sums.v[h][n] + of_part.v[h][n];
        }
        // Who sends sums of this round has finished the last one's, so that two rounds' have room.
        if (tile > begin) finish_last();
        send_sums<S, ROWS>(s, (tile - begin) / AT_A_TIME % 2, quarter, slot, sums);
        UNROLL for (u32 k = 0; k < EACH; k++) last[k] = now[k];
    }
    finish_last();
}

#define CLUSTER_KERNEL(NAME, BITS, SCALES, GROUP, ROWS)                                                     \
    KERNEL_WAVES(THREADS, 2) void NAME(                                                                     \
        const u8 *weights, const f32 *x, const f32 *norm, const f32 *bias, const f32 *residual, f32 *out0,  \
        f32 *out1, f32 *out2, u32 end0, u32 end1, u32 width0, u32 width1, u32 width2,                       \
        f32 eps, u32 rows, u32 cols, u32 tiles, u32 epilogue, u32 end2, u32 width3, f32 *out3) {            \
        DYNAMIC_SHARED(memory);                                                                             \
        const Rows p = {weights, x, norm, {bias, residual, out0, out1, out2, end0, end1, width0,            \
                        width1, width2, epilogue, 0.0f, end2, width3, out3}, eps, rows, cols, tiles, cols}; \
        matmul_cluster<Quant<BITS, SCALES, GROUP>, ROWS>(p, memory);                                        \
    }
#else
#define CLUSTER_KERNEL(NAME, BITS, SCALES, GROUP, ROWS)
#endif
