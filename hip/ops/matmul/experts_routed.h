// NVIDIA: products of one row with the matrices that it chooses, from the router's product on, in one launch:
//
//   logits = R n(x) + bias, as in rows.h; what they choose, as in hip/ops/experts/route.h; gate and up, as in experts.h
//
// CLUSTER blocks make the logits together: each those of some tiles of R, whose codes are under way before the launch in front has
// ended, from x that it prepares anyway; it writes them to all. The first cluster also writes them to memory, from where down
// chooses once more.
//
// Launch: as experts.h; grid (a multiple of CLUSTER, items), clusters of CLUSTER blocks along x. A team's units of a tile of R fit a
// stage, and a block's tiles of R the stages.
#pragma once

#include "ops/matmul/experts.h"

#define CLUSTER 8

#if PLATFORM_NVIDIA
// `RQ`: the router's form, of the same groups as that of the matrices.
template <typename RQ> struct RoutedSegments : Segments {
    static constexpr bool ROUTED = true;
    const u8 *router;
    const f32 *router_bias;
    f32 *out, *all; // in memory; in shared memory
    u32 router_tiles;
    bool writes;

    DEVICE u32 first_tile(const RoutedSegments &s, u32 rank) { return s.router_tiles * rank / CLUSTER; }
    DEVICE Share team_share(const Rows &p, u32 team) {
        Share of = {};
        of.units = (p.width + RQ::UNIT * BLOCK_COLS - 1) / (RQ::UNIT * BLOCK_COLS);
        of.from = of.units * team / TEAMS, of.count = of.units * (team + 1) / TEAMS - of.from;
        return of;
    }
    DEVICE void begin_router(const RoutedSegments &s, const Rows &p, u8 *ring, u32 stage_bytes, u32 barriers, u32 team, u32 lane) {
        const u32 rank = block_x() % CLUSTER, first = first_tile(s, rank), count = first_tile(s, rank + 1) - first;
        const Share share = team_share(p, team);
        cluster_arrive();
        if (lane != 0 || share.count == 0) return;
        for (u32 k = 0; k < count; k++) {
            const u32 bytes = share.count * RQ::UNIT_BYTES;
            copy_barrier_expect(barriers + 8 * k, bytes);
            copy_bulk(shared_address(ring + k * stage_bytes),
                      s.router + ((u64)(first + k) * share.units + share.from) * RQ::UNIT_BYTES, bytes, barriers + 8 * k);
        }
    }
    template <typename Q>
    DEVICE void route_here(const RoutedSegments &s, const Rows &p, const Shared<Q, 1> &shared, u8 *ring, u32 stage_bytes, u32 barriers,
                           u32 &stage, u32 &parity) {
        const u32 thread = thread_x(), team = uniform(thread / WAVE), lane = thread % TEAM, g = lane / 4, t = lane % 4;
        const u32 rank = block_x() % CLUSTER, first = first_tile(s, rank), count = first_tile(s, rank + 1) - first;
        const Share share = team_share(p, team);
        Shared<RQ, 1> of;
        of.partial = shared.partial, of.x = shared.x;
        const Table table = table_of<RQ>(s.router);
        for (u32 k = 0; k < count; k++) {
            Sums<1> sums = {};
            if (share.count > 0) {
                copy_barrier_wait(barriers + 8 * stage, parity);
                const u8 *codes = ring + stage * stage_bytes;
                for (u32 block = 0; block < share.count * RQ::UNIT; block++)
                    add_stored<RQ, 1>(table, codes, block, share.from, lane, g, t, 1, of, sums);
                wave_barrier();
                if (++stage == STAGES) stage = 0, parity ^= 1;
            }
            store_partial<RQ, 1>(of, 0, k, sums, team, g, t);
        }
        // All blocks of the cluster have begun.
        cluster_wait();
        barrier();
        const u32 numbers = count * TILE_ROWS;
        if (thread < numbers * CLUSTER) {
            const u32 number = thread % numbers, expert = first * TILE_ROWS + number;
            const f32 *from = of.partial + number * of.STRIDE;
            f32x4 v = *(const f32x4 *)from;
            UNROLL for (u32 i = 4; i < TEAMS; i += 4) {
                const f32x4 more = *(const f32x4 *)(from + i);
                v.x += more.x, v.y += more.y, v.z += more.z, v.w += more.w;
            }
            const f32 bias = s.router_bias ? s.router_bias[expert] : 0.0f;
            const f32 logit = mul_add((v.x + v.y) + (v.z + v.w), shared.factor[0], bias);
            cluster_store(s.all + expert, thread / numbers, logit);
            if (s.writes && thread < numbers && expert < s.of) s.out[expert] = logit, fence_device();
        }
        cluster_arrive();
        cluster_wait();
        grid_dependency_launch();
        if (team == TEAMS - 1) {
            route_256(s.all, s.index, s.weights, s.of, s.chosen, s.normalize);
            wave_barrier();
            if (lane == 0) s.experts[0] = minimum(s.index[s.choice], s.of - 1), s.weights[0] = 1.0f;
        }
        barrier();
    }
};

template <typename Q, typename RQ>
DEVICE void matmul_experts_routed(Rows p, const Chosen &chosen, const u8 *router, const f32 *router_bias, f32 *logits,
                                  u32 router_tiles, u8 *memory) {
    SHARED u32 experts[1], index[MAX_CHOSEN];
    SHARED f32 weights[MAX_CHOSEN], all[CLUSTER * STAGES * TILE_ROWS];
    const u32 item = block_y();
    p.to.out0 += (u64)item * p.to.width0;
    RoutedSegments<RQ> columns;
    columns.units = (p.width + Q::UNIT * BLOCK_COLS - 1) / (Q::UNIT * BLOCK_COLS);
    columns.count = 1, columns.cols = p.width, columns.padded = columns.units * Q::UNIT * BLOCK_COLS;
    columns.experts = experts, columns.weights = weights, columns.late = true, columns.logits = all;
    columns.choice = item, columns.index = index, columns.of = chosen.experts, columns.chosen = chosen.chosen;
    columns.normalize = chosen.normalize;
    columns.router = router, columns.router_bias = router_bias, columns.out = logits, columns.all = all;
    columns.router_tiles = router_tiles, columns.writes = item == 0 && block_x() < CLUSTER;
    Ring ring;
    matmul_rows<Q, 1, RoutedSegments<RQ>>(p, memory, columns, ring);
}

#define EXPERTS_ROUTED_KERNEL(NAME, BITS, SCALES, GROUP, ROUTER_BITS)                                                  \
    KERNEL_WAVES(TEAMS * TEAM, 2) void NAME(const u8 *weights, const f32 *x, const f32 *norm, f32 *out,                \
                                            const u8 *router, const f32 *router_bias, f32 *logits, u32 width, f32 eps, \
                                            u32 cols, u32 tiles, u32 router_tiles, u32 epilogue, u32 experts,          \
                                            u32 chosen, u32 normalize) {                                               \
        DYNAMIC_SHARED(memory);                                                                                        \
        const Rows p = {weights, x, norm, {nullptr, nullptr, out, nullptr, nullptr, tiles, tiles, width, 0, 0,         \
                        epilogue}, eps, 1, cols, tiles, cols};                                                         \
        const Chosen of = {nullptr, nullptr, logits, experts, 1, chosen, chosen, normalize, 0};                        \
        matmul_experts_routed<Quant<BITS, SCALES, GROUP>, Quant<ROUTER_BITS, SCALES, GROUP>>(                          \
            p, of, router, router_bias, logits, router_tiles, memory);                                                 \
    }
#else
#define EXPERTS_ROUTED_KERNEL(NAME, BITS, SCALES, GROUP, ROUTER_BITS)
#endif
