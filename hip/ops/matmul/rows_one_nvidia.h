// Products of rows.h for one row of x on NVIDIA: each warp has a ring of stages in shared memory, which the copy engine fills with units
// of its part of a tile.
//
// Block b takes the works (tiles, or pairs of them for silu) b, b + blocks, …, which needs no division before the first copy.
//
// Without a norm, and where the matrix is known before, each warp makes its own columns of x into integers: no warp waits for another
// before the sums of a batch of tiles are there. With a norm prepare_x makes all, in the order of the squares that several rows have, too.
//
// Tried: own columns where there is a norm, too, with the squares read once more and their sum made by who stores the results: q, k and v
// 0.2 us slower; three or four stages, or the second one on its way before x is there (8B's widest matrix 3 % faster, the others 5 to
// 20 % slower); a stage's units from a division (0.1 us slower); stages of two units (2.4 TB/s of 4.5); 64 columns of x by the 32 lanes of a
// warp with redux.sync instead of eight columns a lane (4 to 10 % slower); a block's works one after the other, which takes two divisions (up
// to 4 % slower).
// With what was here before: prefetching the next product's weights to L2, at the start or the end of one (2 to 10 % slower; the o product's:
// same), one row a warp and two rows a warp with plain loads (1.7 TB/s), two arrays for codes and scales (more copies), registers for two
// blocks a multiprocessor (64: slower, and the overlap it allows gained nothing), blocks of 8 warps, of which two fit (8B shape: 13 %
// slower), x in f16 (1.16 times slower), several tiles a stage where a tile has few units (2 % slower), several products in one launch
// with barriers over the grid (as fast as launches).
//
// Launch: as rows.h, but for the works of a block.
#pragma once

#include "common/copies_nvidia.h"
#include "ops/matmul/rows.h"

#if PLATFORM_NVIDIA
// Adds the products of block `block` of the units at `codes` in shared memory, the first of which is unit `first` of x.
template <typename Q, int R, typename X>
DEVICE void add_stored(const Table &table, const u8 *codes, u32 block, u32 first, u32 lane, u32 g, u32 t, u32 rows, const X &x, Sums<R> &sums) {
    const u8 *at = codes + block / Q::UNIT * Q::UNIT_BYTES, *of_lane = at + lane * 16;
    const u32 b = block % Q::UNIT;
    BlockCodes<Q> of_block;
    read_plane<Q::FIRST>(of_block.first, of_lane, b);
    if constexpr (Q::SECOND > 0) read_plane<Q::SECOND>(of_block.second, of_lane + Q::FIRST_VECTORS * 512, b);
    auto scale_of = [&](u32 group) {
        return quad_scale<Q>(scale_words<Q>(at + Q::CODE_BYTES, b * (64 / Q::GROUP) + group, g));
    };
    const u32 number = first * Q::UNIT + block;
    if constexpr (Q::E4M3) add_floats<Q, R>(of_block, scale_of, number, g, t, rows, x, sums);
    else add_block<Q, R>(table, of_block, scale_of, number, g, t, rows, x, sums);
}

// Makes columns of x, those of the warp, into integers.
template <typename Q, typename C>
DEVICE void prepare_own(const Rows &p, const Shared<Q, 1> &s, const C &columns, u32 begin, u32 end) {
    constexpr u32 N = AT_ONCE<1>, PIECES = TEAM * 8;
    for (u32 base = begin; base < end; base += N * PIECES) {
        f32 x[N][8];
        UNROLL for (u32 i = 0; i < N; i++) {
            const u32 c = base + i * PIECES + lane_id() * 8;
            read_piece(x[i], p.x + C::place(columns, c), c < end && C::is_there(columns, p, c));
        }
        UNROLL for (u32 i = 0; i < N; i++) {
            const u32 c = base + i * PIECES + lane_id() * 8;
            // The whole warp goes on: neighbouring lanes make a group together.
            if (base + i * PIECES >= end) break;
            if constexpr (C::CHOSEN) {
                const f32 weight = C::weight(columns, c);
                UNROLL for (u32 j = 0; j < 8; j++) x[i][j] *= weight;
            }
            store_piece<Q>(s.x, x[i], 0, c, end);
        }
    }
}

// The most units of a stage of about so many bytes, and the bytes of a stage of so many.
template <typename Q> constexpr u32 units_in(u32 bytes) { return bytes / Q::UNIT_BYTES > 0 ? bytes / Q::UNIT_BYTES : 1; }
template <typename Q> constexpr u32 stage_of(u32 units) { return (units * Q::UNIT_BYTES + 127) / 128 * 128; }

// A thread's number of a batch of works, from `first` on, as `begin_result` of rows.h.
template <typename Q, typename C> DEVICE Result begin_row(const Rows &p, const C &columns, u32 first, u32 works, u32 pairs) {
    Result result = {};
    const u32 k = thread_x() / TILE_ROWS, in_tile = thread_x() % TILE_ROWS, work = first + k * grid_blocks_x(), tile = work * pairs;
    if (k >= Shared<Q, 1>::BATCH / pairs || work >= works) return result;
    result.number = k * pairs * TILE_ROWS + in_tile;
    result.bias = C::bias(columns, p, tile, in_tile);
    if (pairs == 2) {
        result.bias_up = C::bias(columns, p, tile + 1, in_tile);
        result.to = silu_place(p.to, 0, work, in_tile);
    } else {
        const f32 *residual;
        result.to = number_place(p.to, 0, tile, in_tile, residual);
        if (result.to && residual) result.residual = *residual;
    }
    return result;
}

template <typename Q, typename C> DEVICE void matmul_row(const Rows &p, u8 *memory, const C &columns) {
    const u32 team = warp_number(), lane = lane_id(), g = lane / 4, t = lane % 4;
    constexpr u32 BATCH = Shared<Q, 1>::BATCH;
    // Barriers come first, the rings last.
    const u32 barriers = shared_address(memory) + team * STAGES * 8;
    const bool leads = is_elected();
    if (leads) {
        UNROLL for (u32 i = 0; i < STAGES; i++) copy_barrier_init(barriers + 8 * i);
        copy_barrier_fence();
    }
    wave_barrier();
    const Shared<Q, 1> s = shared_memory<Q, 1>(memory + TEAMS * STAGES * 8, columns_of(p, columns), 1);
    u8 *rings = memory + ((u32)((u8 *)(s.x.groups + s.padded / Q::GROUP) - memory) + 127) / 128 * 128;
    // The host gives stages of ROW_STAGE_BYTES where there is room.
    constexpr u32 LARGE = units_in<Q>(ROW_STAGE_BYTES), SMALL = units_in<Q>(STAGE_BYTES);
    const bool is_large = dynamic_shared_bytes() >= (u32)(rings - memory) + TEAMS * STAGES * stage_of<Q>(LARGE);
    const u32 most = is_large ? LARGE : SMALL, stage_bytes = is_large ? stage_of<Q>(LARGE) : stage_of<Q>(SMALL);
    const u8 *ring = rings + team * STAGES * stage_bytes;
    const u32 pairs = p.to.epilogue == SILU ? 2 : 1, works = p.tiles / pairs, blocks = grid_blocks_x();
    Share share;
    share.units = units_of<Q>(p);
    if constexpr (C::CHOSEN) share.units = columns.count * columns.units;
    share.from = share.units * team / TEAMS, share.count = share.units * (team + 1) / TEAMS - share.from;
    // Units of a stage: where a tile has two, half of its.
    const u32 each = share.count <= most ? share.count : minimum((share.count + 1) / 2, most);
    const u64 tile_bytes = (u64)share.units * Q::UNIT_BYTES;
    // Those of the one from the team's `unit` on.
    auto together = [&](u32 unit) {
        u32 n = minimum(share.count - unit, each);
        if constexpr (C::CHOSEN) n = minimum(n, columns.units - (share.from + unit) % columns.units);
        return n;
    };
    // What is copied next: units from `unit` on of tile `half` of work `work`.
    u32 work = share.count > 0 ? block_x() : works, half = 0, unit = 0;
    const u8 *weights = p.weights + work * pairs * tile_bytes + share.from * Q::UNIT_BYTES;
    const u64 further = (blocks - 1) * pairs * tile_bytes;
    auto issue = [&](u32 stage) {
        if (work >= works) return;
        const u32 n = together(unit);
        if (leads) {
            const u8 *from = weights + unit * Q::UNIT_BYTES;
            if constexpr (C::CHOSEN) from = C::template unit_at<Q>(columns, p, work * pairs + half, share.from + unit);
            copy_barrier_expect(barriers + 8 * stage, n * Q::UNIT_BYTES);
            copy_bulk(shared_address(ring + stage * stage_bytes), from, n * Q::UNIT_BYTES, barriers + 8 * stage);
        }
        unit += n;
        if (unit < share.count) return;
        unit = 0, weights += tile_bytes, half++;
        if (half == pairs) half = 0, work += blocks, weights += further;
    };
    // One stage only: more would make x, which everybody waits for, queue behind the weights.
    const bool is_late = C::is_late(columns);
    if (!is_late) issue(0), grid_dependency_launch();
    const Table table = table_of<Q>(p.weights);
    Norm<1> norm = {};
    read_norm<1>(norm, p, 0);
    grid_dependency_wait();
    if (is_late) grid_dependency_launch(), C::choose(columns);
    if (p.norm || is_late) {
        prepare_x<Q, 1>(p, s, norm, columns, [] {});
    } else {
        constexpr u32 COLS = Q::UNIT * BLOCK_COLS;
        prepare_own<Q>(p, s, columns, share.from * COLS, (share.from + share.count) * COLS);
        if (thread_x() == 0) s.factor[0] = 1.0f;
        wave_barrier();
    }
    if (is_late) issue(0);
    UNROLL for (u32 i = 1; i < STAGES; i++) issue(i);
    u32 stage = 0, parity = 0, buffer = 0;
    for (u32 first = block_x(); first < works; first += BATCH / pairs * blocks, buffer ^= 1) {
        const Result result = begin_row<Q>(p, columns, first, works, pairs);
        for (u32 k = 0; k < BATCH && first + k / pairs * blocks < works; k++) {
            Sums<1> sums = {};
            for (u32 done = 0, n; done < share.count; done += n) {
                n = together(done);
                copy_barrier_wait(barriers + 8 * stage, parity);
                const u8 *codes = ring + stage * stage_bytes;
                auto add = [&](u32 block) {
                    add_stored<Q, 1>(table, codes, block, share.from + done, lane, g, t, 1, s, sums);
                };
                // As many blocks at a time as registers are there for. A stage of 4,096 or 5,120 columns has no rest.
                constexpr u32 BLOCKS = Q::GROUP == 16 ? 2 : 3;
                const u32 count = n * Q::UNIT;
                if (BLOCKS == 3 && count == 4) {
                    UNROLL for (u32 j = 0; j < 4; j++) add(j);
                } else if (BLOCKS == 3 && count == 5) {
                    UNROLL for (u32 j = 0; j < 5; j++) add(j);
                } else {
                    u32 block = 0;
                    for (; block + BLOCKS <= count; block += BLOCKS) {
                        UNROLL for (u32 j = 0; j < BLOCKS; j++) add(block + j);
                    }
                    for (; block < count; block++) add(block);
                }
                wave_barrier();
                issue(stage);
                if (++stage == STAGES) stage = 0, parity ^= 1;
            }
            store_partial<Q, 1>(s, buffer, k, sums, team, g, t);
        }
        barrier();
        finish<C, Q, 1>(p, s, buffer, result);
    }
}
#endif
