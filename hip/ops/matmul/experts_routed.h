// NVIDIA: products of one row with the matrices that it chooses, from the router's product on, in one launch:
//
//   logits = R n(x) + bias, as in rows.h; what they choose, as in hip/ops/experts/route.h; gate and up, as in experts.h
//
// The first blocks each make the logits of a tile of R, whose codes are on their way before the launch in front has ended, from
// the x that all blocks prepare anyway. `slots`: [experts] zeros, through which the others get them: a number that is not zero is
// there (a logit 0 is written as -0, which chooses the same). `next`: the slots of the launch of this kind that comes next, which
// are left zeros. Blocks begin in the order of their numbers, so that those that are waited for run. What is chosen, and its
// weights, one block writes for down (`index`, `expert_weights`), before that is let begin.
//
// Launch: as experts.h; grid (any number of blocks, choices), more blocks than R has tiles.
#pragma once

#include "ops/matmul/experts.h"

// Stages of a team's ring, each half as large as those of rows.h: nothing is on its way before the matrices are chosen.
#define ROUTED_STAGES 4
// The most experts, with a shared one.
#define MOST_ROUTED_HERE 257
static_assert(MOST_ROUTED_HERE == FEW_ROUTED + 1, "what a wave routes");
// Bytes of a team's barriers: of the stages, and the router's.
#define ROUTED_BARRIERS ((ROUTED_STAGES + 1) * 8)

#if PLATFORM_NVIDIA
struct RoutedBy {
    const u8 *weights; // of R
    const f32 *bias;   // [tiles · 16] or null
    u32 *index;        // [chosen]
    f32 *weights_of;   // the same
    u32 *slots, *next;
    u32 tiles;
};

DEVICE u32 load_slot(const u32 *from) {
    u32 value;
    asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    return value;
}
DEVICE void store_slot(u32 *to, u32 value) { asm volatile("st.relaxed.gpu.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory"); }

// Adds blocks of x's columns, two at a time.
template <typename Q>
DEVICE void add_blocks(const Table &table, const u8 *codes, u32 blocks, u32 first, u32 lane, u32 g, u32 t, const Shared<Q, 1> &s, Sums<1> &sums) {
    auto add = [&](u32 block) { add_stored<Q, 1>(table, codes, block, first, lane, g, t, 1, s, sums); };
    u32 block = 0;
    for (; block + 2 <= blocks; block += 2) add(block), add(block + 1);
    if (block < blocks) add(block);
}

// The logits of the block's tile of R, `ring` holding the team's `count` units of it from `from` on.
template <typename RQ, typename Q>
DEVICE void make_logits(const RoutedBy &by, u32 experts, const Shared<Q, 1> &shared, const u8 *ring, u32 from, u32 count, u32 tile) {
    const u32 thread = thread_x(), team = uniform(thread / WAVE), lane = thread % TEAM, g = lane / 4, t = lane % 4;
    Shared<RQ, 1> s;
    s.partial = shared.partial, s.x = shared.x;
    const Table table = table_of<RQ>(by.weights);
    Sums<1> sums = {};
    add_blocks<RQ>(table, ring, count * RQ::UNIT, from, lane, g, t, s, sums);
    store_partial<RQ, 1>(s, 0, 0, sums, team, g, t);
    barrier();
    const u32 expert = tile * TILE_ROWS + thread;
    if (thread >= TILE_ROWS || expert >= experts) return;
    // As `finish` of rows.h.
    const f32 *of = s.partial + thread * s.STRIDE;
    f32x4 v = *(const f32x4 *)of;
    UNROLL for (u32 i = 4; i < TEAMS; i += 4) {
        const f32x4 more = *(const f32x4 *)(of + i);
        v.x += more.x, v.y += more.y, v.z += more.z, v.w += more.w;
    }
    const f32 logit = mul_add((v.x + v.y) + (v.z + v.w), shared.factor[0], by.bias ? by.bias[expert] : 0.0f);
    const u32 bits = f32_bits(logit);
    store_slot(by.slots + expert, bits ? bits : 0x80000000u);
}

template <typename Q, typename RQ>
DEVICE void matmul_experts_routed(Rows p, const Chosen &chosen, const RoutedBy &by, u8 *memory) {
    constexpr u32 CHUNK = units_in<Q>(STAGE_BYTES / 2), STAGE = stage_of<Q>(CHUNK), BATCH = Shared<Q, 1>::BATCH;
    SHARED u32 expert[1], index[MAX_CHOSEN];
    SHARED f32 weights[MAX_CHOSEN], all[MOST_ROUTED_HERE];
    const u32 thread = thread_x(), team = warp_number(), lane = thread % TEAM, g = lane / 4, t = lane % 4;
    const u32 number = block_y() * grid_blocks_x() + block_x();
    u8 *ring = memory + team * ROUTED_STAGES * STAGE;
    u8 *after_ring = memory + TEAMS * ROUTED_STAGES * STAGE, *after = after_ring + TEAMS * ROUTED_BARRIERS;
    const u32 barriers = shared_address(after_ring) + team * ROUTED_BARRIERS, router_barrier = barriers + ROUTED_STAGES * 8;
    const bool leads = is_elected();
    if (leads) {
        UNROLL for (u32 i = 0; i <= ROUTED_STAGES; i++) copy_barrier_init(barriers + 8 * i);
        copy_barrier_fence();
    }
    wave_barrier();
    const u32 router_units = (p.width + RQ::UNIT * BLOCK_COLS - 1) / (RQ::UNIT * BLOCK_COLS);
    const u32 from = router_units * team / TEAMS, count = router_units * (team + 1) / TEAMS - from;
    // The last one makes none, as there are more than tiles.
    const bool makes = number < by.tiles, is_last = number + 1 == grid_blocks_x() * grid_blocks_y();
    if (makes && leads && count > 0) {
        copy_barrier_expect(router_barrier, count * RQ::UNIT_BYTES);
        copy_bulk(shared_address(ring), by.weights + ((u64)number * router_units + from) * RQ::UNIT_BYTES, count * RQ::UNIT_BYTES,
                  router_barrier);
    }
    Segments columns;
    columns.units = (p.width + Q::UNIT * BLOCK_COLS - 1) / (Q::UNIT * BLOCK_COLS);
    columns.count = 1, columns.cols = p.width, columns.padded = columns.units * Q::UNIT * BLOCK_COLS;
    columns.experts = expert, columns.weights = weights, columns.late = true;
    p.to.out0 += (u64)block_y() * p.to.width0;
    const Share share = share_of<Q>(p, columns, team);
    const Shared<Q, 1> s = shared_memory<Q, 1>(after, columns.padded, 1);
    const Table table = table_of<Q>(p.weights);
    Norm<1> norm = {};
    read_norm<1>(norm, p, 0);
    grid_dependency_wait();
    prepare_x<Q, 1>(p, s, norm, columns, [] {});
    if (makes) {
        if (count > 0) copy_barrier_wait(router_barrier, 0);
        make_logits<RQ, Q>(by, chosen.experts, s, ring, from, count, number);
    }
    if (team == TEAMS - 1) {
        for (u32 i = lane; i < chosen.experts; i += WAVE) {
            u32 bits = load_slot(by.slots + i);
            while (bits == 0) bits = load_slot(by.slots + i);
            all[i] = bits_f32(bits);
        }
        wave_barrier();
        route_256(all, index, weights, chosen.experts, chosen.chosen, chosen.normalize, chosen.shared);
        wave_barrier();
        if (lane == 0) expert[0] = minimum(index[block_y()], chosen.experts - 1);
        if (is_last && lane < chosen.chosen) {
            by.index[lane] = index[lane], by.weights_of[lane] = weights[lane];
            fence_device();
        }
    }
    for (u32 i = thread; is_last && i < chosen.experts; i += TEAMS * TEAM) by.next[i] = 0;
    barrier();
    // Down begins when all blocks let it: what it reads before it waits is there.
    grid_dependency_launch();
    const u8 *weights_of = p.weights + ((u64)expert[0] * p.tiles + share.begin) * share.units * Q::UNIT_BYTES +
                           share.from * Q::UNIT_BYTES;
    const u64 tile_bytes = (u64)share.units * Q::UNIT_BYTES;
    u32 unit = 0, left = share.count > 0 ? share.end - share.begin : 0, stage = 0, parity = 0;
    auto issue = [&](u32 stage) {
        if (left == 0) return;
        const u32 n = minimum(share.count - unit, CHUNK);
        if (leads) {
            copy_barrier_expect(barriers + 8 * stage, n * Q::UNIT_BYTES);
            copy_bulk(shared_address(ring + stage * STAGE), weights_of + unit * Q::UNIT_BYTES, n * Q::UNIT_BYTES, barriers + 8 * stage);
        }
        unit += n;
        if (unit == share.count) unit = 0, weights_of += tile_bytes, left--;
    };
    UNROLL for (u32 i = 0; i < ROUTED_STAGES; i++) issue(i);
    u32 buffer = 0;
    for (u32 tile = share.begin; tile < share.end; tile += BATCH, buffer ^= 1) {
        const u32 now = minimum(share.end - tile, BATCH);
        const Result result = begin_result<1>(p, columns, tile, now);
        for (u32 k = 0; k < now; k++) {
            Sums<1> sums = {};
            for (u32 done = 0; done < share.count; done += CHUNK) {
                const u32 n = minimum(share.count - done, CHUNK);
                copy_barrier_wait(barriers + 8 * stage, parity);
                const u8 *codes = ring + stage * STAGE;
                add_blocks<Q>(table, codes, n * Q::UNIT, share.from + done, lane, g, t, s, sums);
                wave_barrier();
                issue(stage);
                if (++stage == ROUTED_STAGES) stage = 0, parity ^= 1;
            }
            store_partial<Q, 1>(s, buffer, k, sums, team, g, t);
        }
        barrier();
        finish<Segments, Q, 1>(p, s, buffer, result);
    }
}

#define EXPERTS_ROUTED_KERNEL(NAME, BITS, SCALES, GROUP, ROUTER_BITS)                                            \
    KERNEL_WAVES(TEAMS * TEAM, 2) void NAME(const u8 *weights, const f32 *x, const f32 *norm, f32 *out,          \
                                            const u8 *router, const f32 *router_bias, u32 *index,                \
                                            f32 *expert_weights, u32 *slots, u32 *next, u32 width, f32 eps,      \
                                            u32 cols, u32 tiles, u32 router_tiles, u32 epilogue, u32 experts,    \
                                            u32 chosen, u32 normalize, u32 shared) {                             \
        DYNAMIC_SHARED(memory);                                                                                  \
        const Rows p = {weights, x, norm, one_output(nullptr, nullptr, out, tiles, width, epilogue),             \
                        eps, 1, cols, tiles, cols};                                                              \
        const Chosen of = {nullptr, nullptr, nullptr, experts, 1, chosen, chosen, normalize, shared, 0};         \
        const RoutedBy by = {router, router_bias, index, expert_weights, slots, next, router_tiles};             \
        matmul_experts_routed<Quant<BITS, SCALES, GROUP>, Quant<ROUTER_BITS, SCALES, GROUP>>(p, of, by, memory); \
    }
#else
#define EXPERTS_ROUTED_KERNEL(NAME, BITS, SCALES, GROUP, ROUTER_BITS)
#endif
