// NVIDIA: products of some rows with the matrices of a stack [experts][out, in] that each chose, where there are more rows
// than experts_group.h takes and fewer than fill blocks of the matrix unit (experts_block.h):
//
//   y[pair][o] = Σ_c W[expert of pair][o][c] · n(x[pair / share])[c] + bias[expert of pair][o], then an epilogue (STORE or SILU)
//
// Pairs are sorted by expert into runs of up to MANY_ROWS: `order` and `runs` of hip/ops/experts/sort.hip. x as rows_x.hip makes
// it, read through the L1 cache; products as in rows.h. Biases and a limit for mxfp4 alone, as in experts.h.
//
// Four warps take tiles (for silu pairs of them) of a run, a quarter of the columns each, and wait for no others: what a warp
// multiplies next comes to its ring meanwhile, also of the next run. All such fours share all runs' tiles out evenly. (Warps by
// themselves, with all columns: up to 8 % slower. Blocks of the matrix unit: 3.3 times as long for 64 rows of 8 of 128
// experts, 1.25 times for 256.)
//
// The kernels `few` are for rows whose bits must not depend on how many there are: of the TEAMS parts of the columns that the
// teams of rows.h take a warp has every fourth, and all are summed in the order that they are summed in there.
//
// mlxrocm_matmul_tiles_… are products of one matrix with so few rows, too: its runs are MANY_ROWS rows each, and its epilogue has
// what epilogue.h has.
//
// Launch: TEAMS · 32 threads, any number of blocks.
#pragma once

#include "ops/experts/runs.h"
#include "ops/matmul/rows.h"

#if PLATFORM_NVIDIA
// Stages of a warp's ring (three leave the cache less: up to 15 % slower), and warps that share a tile's columns.
#define TILE_STAGES 2
#define SHARERS 4

// A barrier of so many threads of the block, whole warps: `number` is 1 to 15.
DEVICE void barrier_of(u32 number, u32 threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

// Rows of x in global memory: where a lane's columns are, and its groups.
template <typename Q, int R> struct GatheredRows {
    static constexpr u32 N = (R + 3) / 4;
    const u8 *codes[N];
    const f32x2 *groups[N];
};
template <typename Q, int R> DEVICE u32x4 x_columns(const GatheredRows<Q, R> &x, u32 block, u32 n, u32, u32, u32, u32 further) {
    return load16(x.codes[n] + block * (MANY_ROWS * 2 * BLOCK_COLS * X_BYTES<Q>) + further);
}
template <typename Q, int R> DEVICE f32x2 x_group(const GatheredRows<Q, R> &x, u32 group, u32 n, u32, u32) {
    return x.groups[n][group * MANY_ROWS];
}

struct Tiles {
    Rows p;
    const f32x2 *groups; // of x
    const ExpertRun *runs; // null: of one matrix, whose rows are runs of MANY_ROWS
    const u32 *order;
    u32 share, works, units; // tiles or pairs of them, and units of a tile

    DEVICE ExpertRun run(const Tiles &of, u32 index) {
        if (of.runs) return of.runs[index];
        const u32 first = index * MANY_ROWS;
        return {0, first, minimum(of.p.rows - first, (u32)MANY_ROWS), (of.p.rows + MANY_ROWS - 1) / MANY_ROWS};
    }
    DEVICE u32 pair(const Tiles &of, u32 place) { return of.runs ? of.order[place] : place; }
};

// What a warp copies to its ring, and what it takes out of it.
struct TileRing {
    u8 *stages;
    u32 barriers, stage, parity;
    // The warp's pieces of the units of a tile: of `sharers` · PIECES those at sharer + sharers · k.
    u32 sharer, sharers;
    // To be copied: `left` works, of which the next is of run `run`; of `tiles` tiles, the first at `from`, the units from `unit`
    // to `end` of piece `piece`.
    u64 left;
    u32 run, work, tiles, piece, unit, end;
    const u8 *from;
    // Sums of the sharers: [2][SHARERS][number][lane].
    f32 *sums;
    u32 four, buffer;
    bool leads; // the lane that copies
};
template <u32 PIECES> DEVICE u32 piece_begin(const Tiles &of, const TileRing &ring, u32 piece) {
    return of.units * (ring.sharer + ring.sharers * piece) / (ring.sharers * PIECES);
}
template <u32 PIECES> DEVICE u32 piece_end(const Tiles &of, const TileRing &ring, u32 piece) {
    return of.units * (ring.sharer + ring.sharers * piece + 1) / (ring.sharers * PIECES);
}

// Stages, of as many units as they have room for; where pieces are small more of half the size.
template <typename Q, u32 PIECES> struct Chunk {
    static constexpr u32 PARTS = PIECES > 1 && 2 * Q::UNIT_BYTES <= STAGE_BYTES ? 2 : 1;
    static constexpr u32 STAGES_OF = TILE_STAGES * PARTS, MOST = STAGE_BYTES / PARTS;
    static constexpr u32 UNITS = MOST / Q::UNIT_BYTES > 0 ? MOST / Q::UNIT_BYTES : 1;
    static constexpr u32 BYTES = (UNITS * Q::UNIT_BYTES + 127) / 128 * 128;
};
// Numbers of a lane: of two tiles, two rows of a tile each, and rows of x.
#define LANE_SUMS (2 * 2 * ((MANY_ROWS + 3) / 4))

// Copies the next chunk, if there is one, to `stage`.
template <typename Q, u32 PIECES> DEVICE void copy_chunk(const Tiles &of, TileRing &ring, u32 stage) {
    typedef Chunk<Q, PIECES> Of;
    const u32 each = of.p.to.epilogue == SILU ? 2 : 1;
    auto next_piece = [&] {
        if (++ring.piece >= PIECES) ring.piece = 0, ring.tiles--, ring.from += (u64)of.units * Q::UNIT_BYTES;
        ring.unit = piece_begin<PIECES>(of, ring, ring.piece), ring.end = piece_end<PIECES>(of, ring, ring.piece);
    };
    if (ring.tiles == 0) {
        if (ring.left == 0) return;
        const u64 some = of.works - ring.work, now = ring.left < some ? ring.left : some;
        const u64 tile = (u64)Tiles::run(of, ring.run).expert * of.p.tiles + ring.work * each;
        ring.from = of.p.weights + tile * of.units * Q::UNIT_BYTES;
        ring.tiles = (u32)now * each, ring.piece = 0;
        ring.unit = piece_begin<PIECES>(of, ring, 0), ring.end = piece_end<PIECES>(of, ring, 0);
        ring.left -= now, ring.run++, ring.work = 0;
    }
    if constexpr (PIECES > 1)
        while (ring.unit == ring.end) next_piece();
    const u32 n = minimum(ring.end - ring.unit, Of::UNITS), bytes = n * Q::UNIT_BYTES;
    if (ring.leads) {
        copy_barrier_expect(ring.barriers + 8 * stage, bytes);
        copy_bulk(shared_address(ring.stages + stage * Of::BYTES), ring.from + ring.unit * Q::UNIT_BYTES, bytes, ring.barriers + 8 * stage);
    }
    ring.unit += n;
    if constexpr (PIECES > 1) {
        while (ring.unit == ring.end && ring.tiles > 0) next_piece();
    } else if (ring.unit == ring.end) {
        next_piece();
    }
}

// Adds the products of a piece of the next tile's columns to the sums.
template <typename Q, int R, u32 PIECES, typename X>
DEVICE void multiply_piece(const Tiles &of, const Table &table, TileRing &ring, u32 piece, const X &x, u32 rows, Sums<R> &sums) {
    typedef Chunk<Q, PIECES> Of;
    const u32 lane = lane_id(), g = lane / 4, t = lane % 4;
    const u32 begin = piece_begin<PIECES>(of, ring, piece), end = piece_end<PIECES>(of, ring, piece);
    for (u32 done = begin, now; done < end; done += now) {
        now = minimum(end - done, Of::UNITS);
        copy_barrier_wait(ring.barriers + 8 * ring.stage, ring.parity);
        const u8 *codes = ring.stages + ring.stage * Of::BYTES;
        auto add = [&](u32 block) { add_stored<Q, R>(table, codes, block, done, lane, g, t, rows, x, sums); };
        constexpr u32 BLOCKS = Q::GROUP == 64 ? 2 : 1;
        u32 block = 0;
        for (; block + BLOCKS <= now * Q::UNIT; block += BLOCKS) {
            UNROLL for (u32 j = 0; j < BLOCKS; j++) add(block + j);
        }
        for (; block < now * Q::UNIT; block++) add(block);
        wave_barrier();
        copy_chunk<Q, PIECES>(of, ring, ring.stage);
        if (++ring.stage == Of::STAGES_OF) ring.stage = 0, ring.parity ^= 1;
    }
}

// Works `first` to `last` of a run of up to R pairs.
template <typename Q, int R, u32 PIECES>
DEVICE void multiply_run(const Tiles &of, const ExpertRun &run, u32 first, u32 last, const Table &table, TileRing &ring) {
    constexpr u32 N = GatheredRows<Q, R>::N, ROW = 2 * BLOCK_COLS * X_BYTES<Q>;
    const u32 lane = lane_id(), g = lane / 4, t = lane % 4;
    const u32 padded = of.units * Q::UNIT * BLOCK_COLS, in_groups = padded / Q::GROUP;
    GatheredRows<Q, R> x;
    f32 factor[N];
    u32 pairs[N];
    UNROLL for (u32 n = 0; n < N; n++) {
        // Pairs that do not exist: the first, whose results are stored once.
        const u32 of_codes = n * 4 + g / 2, of_groups = n * 4 + t;
        const u32 row = Tiles::pair(of, run.first + (of_codes < run.pairs ? of_codes : 0)) / of.share;
        pairs[n] = Tiles::pair(of, run.first + (of_groups < run.pairs ? of_groups : 0));
        x.codes[n] = (const u8 *)of.p.x + (u64)(row / MANY_ROWS) * padded * MANY_ROWS * 2 * X_BYTES<Q> + row % MANY_ROWS * ROW +
                     g % 2 * (ROW / 2) + t * 16;
        const u32 other = pairs[n] / of.share;
        x.groups[n] = of.groups + (u64)(other / MANY_ROWS) * (in_groups + 1) * MANY_ROWS + other % MANY_ROWS;
        factor[n] = x_group<Q, R>(x, in_groups, n, 0, 0).x;
    }
    const bool silu = of.p.to.epilogue == SILU;
    const u32 each = silu ? 2 : 1;
    Outputs to = of.p.to;
    to.bias += to.bias ? (u64)run.expert * of.p.tiles * 16 : 0;
    for (u32 work = first; work < last; work++) {
        f32 *own = ring.sums + (ring.buffer * SHARERS + ring.sharer) * LANE_SUMS * 32 + lane;
        for (u32 in_work = 0; in_work < each; in_work++) {
            Sums<R> sums = {};
            multiply_piece<Q, R, PIECES>(of, table, ring, 0, x, R, sums);
            _Pragma("unroll 1") for (u32 piece = 1; piece < PIECES; piece++) {
                Sums<R> more = {};
                multiply_piece<Q, R, PIECES>(of, table, ring, piece, x, R, more);
                UNROLL for (u32 n = 0; n < N; n++) UNROLL for (u32 h = 0; h < 2; h++) sums.v[h][n] += more.v[h][n];
            }
            UNROLL for (u32 n = 0; n < N; n++) UNROLL for (u32 h = 0; h < 2; h++)
                own[((in_work * N + n) * 2 + h) * 32] = sums.v[h][n];
        }
        // Who writes the next work's sums has left this barrier, and who writes to this buffer again the next one.
        barrier_of(1 + ring.four, SHARERS * WAVE);
        const f32 *all = ring.sums + ring.buffer * SHARERS * LANE_SUMS * 32 + lane;
        ring.buffer ^= 1;
        // A sharer finishes one of two rows of the tile of four rows of x.
        UNROLL for (u32 n = 0; n < N; n++) {
            const u32 h = ring.sharer % 2, row = g + 8 * h;
            if (ring.sharer / 2 != n || n * 4 + t >= run.pairs) continue;
            auto sum = [&](u32 in_work) {
                f32 v[SHARERS];
                UNROLL for (u32 i = 0; i < SHARERS; i++) v[i] = all[(i * LANE_SUMS + (in_work * N + n) * 2 + h) * 32];
                // As `finish` of rows.h.
                const f32 sum = PIECES > 1 ? (v[0] + v[1]) + (v[2] + v[3]) : v[0] + v[1] + v[2] + v[3];
                return mul_add(sum, factor[n], add_bias(to, work * each + in_work, row, 0.0f));
            };
            if (silu) store_silu(to, pairs[n], work, row, sum(0), sum(1));
            else store_number(to, pairs[n], work, row, sum(0));
        }
    }
}

// A ring of the block's, whose warps share tiles by `sharers`; what is behind all rings.
template <typename Q, u32 PIECES> DEVICE TileRing begin_ring(u8 *memory, u32 sharers, u8 *&after) {
    typedef Chunk<Q, PIECES> Of;
    const u32 team = warp_number();
    u8 *barriers = memory + TEAMS * Of::STAGES_OF * Of::BYTES;
    after = barriers + TEAMS * Of::STAGES_OF * 8;
    TileRing ring = {};
    ring.stages = memory + team * Of::STAGES_OF * Of::BYTES;
    ring.barriers = shared_address(barriers) + team * Of::STAGES_OF * 8;
    ring.four = team / sharers, ring.sharer = team % sharers, ring.sharers = sharers, ring.leads = is_elected();
    if (ring.leads) {
        UNROLL for (u32 i = 0; i < Of::STAGES_OF; i++) copy_barrier_init(ring.barriers + 8 * i);
        copy_barrier_fence();
    }
    wave_barrier();
    return ring;
}
template <typename Q> DEVICE void count_works(Tiles &of) {
    of.units = (of.p.cols + Q::UNIT * BLOCK_COLS - 1) / (Q::UNIT * BLOCK_COLS);
    of.works = of.p.tiles / (of.p.to.epilogue == SILU ? 2 : 1);
}
// Lets the ring begin with works `work` to `end` of all runs.
template <typename Q, u32 PIECES> DEVICE void begin_works(const Tiles &of, TileRing &ring, u64 work, u64 end) {
    u32 count = 0;
    UNROLL for (u32 piece = 0; piece < PIECES; piece++)
        count += piece_end<PIECES>(of, ring, piece) - piece_begin<PIECES>(of, ring, piece);
    ring.run = (u32)(work / of.works), ring.work = (u32)(work - (u64)ring.run * of.works);
    ring.left = count > 0 ? end - work : 0;
    UNROLL for (u32 i = 0; i < Chunk<Q, PIECES>::STAGES_OF; i++) copy_chunk<Q, PIECES>(of, ring, i);
}

template <typename Q, u32 PIECES, bool IS_CHOSEN = true> DEVICE void matmul_experts_tiles(Tiles of, u8 *memory) {
    u8 *after;
    TileRing ring = begin_ring<Q, PIECES>(memory, SHARERS, after);
    ring.sums = (f32 *)after + ring.four * 2 * SHARERS * LANE_SUMS * 32;
    count_works<Q>(of);
    const Table table = table_of<Q>(of.p.weights);
    // Down of few rows reads, before it waits, what was there before this kernel.
    if (PIECES == 1) grid_dependency_launch();
    if (IS_CHOSEN) grid_dependency_wait();
    if (PIECES > 1) grid_dependency_launch();
    const u64 all = (u64)Tiles::run(of, 0).count * of.works, takers = (u64)grid_blocks_x() * (TEAMS / SHARERS);
    const u64 taker = block_x() * (TEAMS / SHARERS) + ring.four, end = all * (taker + 1) / takers;
    u64 work = all * taker / takers;
    begin_works<Q, PIECES>(of, ring, work, end);
    if (!IS_CHOSEN) grid_dependency_wait();
    while (work < end) {
        const u32 index = (u32)(work / of.works), first = (u32)(work - (u64)index * of.works);
        const u32 last = end - work < of.works - first ? first + (u32)(end - work) : of.works;
        const ExpertRun run = Tiles::run(of, index);
        if (run.pairs <= 4) multiply_run<Q, 4, PIECES>(of, run, first, last, table, ring);
        else multiply_run<Q, MANY_ROWS, PIECES>(of, run, first, last, table, ring);
        work += last - first;
    }
}

#define TILES_KERNEL(NAME, BITS, SCALES, GROUP, PIECES)                                                       \
    KERNEL_WAVES(TEAMS * TEAM, 2) void NAME(const u8 *weights, const u8 *codes, const u8 *groups,             \
                                            const f32 *bias, f32 *out, const ExpertRun *runs,                 \
                                            const u32 *order, u32 width, u32 cols, u32 tiles, u32 epilogue,   \
                                            u32 share, f32 limit) {                                           \
        DYNAMIC_SHARED(memory);                                                                               \
        constexpr bool FULL = SCALES == POWER;                                                                \
        const Rows p = {weights, (const f32 *)codes, nullptr, one_output(FULL ? bias : nullptr, nullptr, out, \
                        tiles, width, epilogue, FULL ? limit : 0.0f), 0.0f, MANY_ROWS,                        \
                        cols, tiles, cols};                                                                   \
        matmul_experts_tiles<Quant<BITS, SCALES, GROUP>, PIECES>(                                             \
            {p, (const f32x2 *)groups, runs, order, share, 0, 0}, memory);                                    \
    }
#define ROWS_TILES_KERNEL(NAME, BITS, SCALES, GROUP)                                                                 \
    KERNEL_WAVES(TEAMS * TEAM, 2) void NAME(                                                                         \
        const u8 *weights, const u8 *codes, const u8 *groups, const f32 *bias, const f32 *residual, f32 *out0,       \
        f32 *out1, f32 *out2, u32 end0, u32 end1, u32 width0, u32 width1, u32 width2,                                \
        u32 rows, u32 cols, u32 tiles, u32 epilogue, u32 end2, u32 width3, f32 *out3) {                              \
        DYNAMIC_SHARED(memory);                                                                                      \
        const Rows p = {weights, (const f32 *)codes, nullptr, {bias, residual, out0, out1, out2, end0, end1,         \
                        width0, width1, width2, epilogue, 0.0f, end2, width3, out3}, 0.0f, rows, cols, tiles, cols}; \
        matmul_experts_tiles<Quant<BITS, SCALES, GROUP>, 1, false>(                                                  \
            {p, (const f32x2 *)groups, nullptr, nullptr, 1, 0, 0}, memory);                                          \
    }
#else
#define TILES_KERNEL(NAME, BITS, SCALES, GROUP, PIECES)
#define ROWS_TILES_KERNEL(NAME, BITS, SCALES, GROUP)
#endif
#define EXPERTS_TILES_KERNEL(NAME, BITS, SCALES, GROUP) TILES_KERNEL(NAME, BITS, SCALES, GROUP, 1)
#define EXPERTS_FEW_KERNEL(NAME, BITS, SCALES, GROUP) TILES_KERNEL(NAME, BITS, SCALES, GROUP, (TEAMS / SHARERS))
