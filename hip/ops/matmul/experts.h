// Products of a row with the matrices of a stack [experts][out, in] that `index` names for it, as decoding
// needs them:
//
//   y[i][o] = Σ_k w[i][k] · (Σ_c W[index[i][k]][o][c] · n(x[i / share])[k · cols + c] + bias[index[i][k]][o]),
//             k < segments
//
// With `logits` [rows][experts], up to MAX_ROUTED experts, index and weights are what the router (hip/ops/experts/route.h) makes of
// them, `chosen` of a row (with a shared one), which each block does for itself: no kernel stands between. n as in rows.h (with one segment only);
// then an epilogue, of row i of `residual` and `out`. Gate and up, interleaved tile by tile: an item i a (row, choice) pair,
// `share` of which have the same x, one segment. Down (`sums`): an item a row, a segment a choice, whose w is its weight.
// Without `weights` and `logits`, and without `sums`, w = 1.
//
// Biases and a limit (epilogue.h) are for mxfp4, gpt-oss' format, alone: others would pay for them with registers.
//
// Launch: as rows.h for one row; grid (any number of blocks, items).
#pragma once

#include "ops/experts/route.h"
#include "ops/matmul/rows.h"

// The most segments.
#define MAX_CHOSEN 32

struct Chosen {
    const u32 *index;   // [items][segments]
    const f32 *weights; // the same, or null
    const f32 *logits;  // or null
    u32 experts, segments, share, chosen, normalize, shared, sums;
};

// The columns of x: one segment after the other in memory, each padded to whole units in shared memory.
struct Segments : Whole {
    static constexpr bool CHOSEN = true;
    u32 count, cols, padded, units; // segments; columns, padded columns and units of one
    u32 *experts;
    f32 *weights;
#if PLATFORM_NVIDIA
    // Of one segment, whose weight is 1.
    bool late = false;
    const f32 *logits;
    u32 *index;
    u32 choice, of, chosen, normalize, shared;
#endif

    DEVICE bool is_there(const Segments &s, const Rows &, u32 c) { return c < s.count * s.padded && c % s.padded < s.cols; }
    DEVICE u32 place(const Segments &s, u32 c) { return c / s.padded * s.cols + c % s.padded; }
    DEVICE f32 weight(const Segments &s, u32 c) {
#if PLATFORM_NVIDIA
        if (s.late) return 1.0f;
#endif
        return c < s.count * s.padded ? s.weights[c / s.padded] : 0.0f;
    }
#if PLATFORM_NVIDIA
    DEVICE bool is_late(const Segments &s) { return s.late; }
    // By the last warp, which often has no columns.
    DEVICE void choose(const Segments &s) {
        if (thread_x() / WAVE != TEAMS - 1) return;
        route_few(s.logits, s.index, s.weights, s.of, s.chosen, s.normalize, s.shared);
        wave_barrier();
        if (lane_id() == 0) s.experts[0] = minimum(s.index[s.choice], s.of - 1), s.weights[0] = 1.0f;
    }
#endif
    // `bias`: [experts][tiles · 16] or null.
    DEVICE f32 bias(const Segments &s, const Rows &p, u32 tile, u32 row) {
        f32 sum = 0.0f;
        for (u32 k = 0; p.to.bias && k < s.count; k++)
            sum = mul_add(s.weights[k], p.to.bias[((u64)s.experts[k] * p.tiles + tile) * 16 + row], sum);
        return sum;
    }
    // Unit `unit` of all segments' of a tile.
    template <typename Q> DEVICE const u8 *unit_at(const Segments &s, const Rows &p, u32 tile, u32 unit) {
        const u32 segment = unit / s.units, tiles = s.experts[segment] * p.tiles + tile;
        return p.weights + ((u64)tiles * s.units + (unit - segment * s.units)) * Q::UNIT_BYTES;
    }
};

template <typename Q> DEVICE void matmul_experts(Rows p, const Chosen &chosen, u8 *memory) {
    SHARED u32 experts[MAX_CHOSEN], index[MAX_CHOSEN];
    SHARED f32 weights[MAX_CHOSEN];
    const u32 item = block_y(), thread = thread_x();
    p.x += (u64)(item / chosen.share) * chosen.segments * p.width;
    p.to.out0 += (u64)item * p.to.width0;
    p.to.residual += p.to.residual ? (u64)item * p.to.width0 : 0;
    Segments columns;
    columns.units = (p.width + Q::UNIT * BLOCK_COLS - 1) / (Q::UNIT * BLOCK_COLS);
    columns.count = chosen.segments, columns.cols = p.width, columns.padded = columns.units * Q::UNIT * BLOCK_COLS;
    columns.experts = experts, columns.weights = weights;
    // Which matrices are read was decided by the kernel before, for down by the one before that, which had ended when the
    // kernel before let this one begin.
#if PLATFORM_NVIDIA
    columns.late = chosen.logits && !chosen.sums;
    if (!chosen.sums && !columns.late) grid_dependency_wait();
    if (columns.late) {
        columns.logits = chosen.logits + (u64)(item / chosen.chosen) * chosen.experts, columns.choice = item % chosen.chosen;
        columns.index = index, columns.of = chosen.experts, columns.chosen = chosen.chosen, columns.normalize = chosen.normalize;
        columns.shared = chosen.shared;
    } else
#else
    if (!chosen.sums) grid_dependency_wait();
#endif
    if (chosen.logits) {
        const u32 row = chosen.sums ? item : item / chosen.chosen;
        if (thread < ROUTE_LANES)
            route_few(chosen.logits + (u64)row * chosen.experts, index, weights, chosen.experts, chosen.chosen, chosen.normalize,
                      chosen.shared);
        barrier();
        // An item is a row, or one choice of it.
        if (thread < chosen.segments) {
            experts[thread] = minimum(index[chosen.sums ? thread : item % chosen.chosen], chosen.experts - 1);
            if (!chosen.sums) weights[0] = 1.0f;
        }
    } else if (thread < chosen.segments) {
        const u32 at = item * chosen.segments + thread;
        experts[thread] = minimum(chosen.index[at], chosen.experts - 1);
        weights[thread] = chosen.weights ? chosen.weights[at] : 1.0f;
    }
    barrier();
#if PLATFORM_NVIDIA
    matmul_row<Q, Segments>(p, memory, columns);
#else
    matmul_rows<Q, 1, Segments>(p, memory, columns);
#endif
}

#define EXPERTS_KERNEL(NAME, BITS, SCALES, GROUP)                                                                  \
    KERNEL_WAVES(TEAMS * TEAM, 2) void NAME(const u8 *weights, const f32 *x, const f32 *norm, const f32 *bias,     \
                                            const f32 *residual, f32 *out, const u32 *index,                       \
                                            const f32 *expert_weights, const f32 *logits, u32 width, f32 eps,      \
                                            u32 cols, u32 tiles, u32 epilogue, u32 experts, u32 segments,          \
                                            u32 share, u32 chosen, u32 normalize, u32 shared, u32 sums,            \
                                            f32 limit) {                                                           \
        DYNAMIC_SHARED(memory);                                                                                    \
        constexpr bool FULL = SCALES == POWER;                                                                     \
        const Rows p = {weights, x, norm, one_output(FULL ? bias : nullptr, residual, out, tiles, width, epilogue, \
                        FULL ? limit : 0.0f), eps, 1, cols, tiles, cols};                                          \
        const Chosen of = {index, expert_weights, logits, experts, segments, share, chosen, normalize, shared,     \
                           sums};                                                                                  \
        matmul_experts<Quant<BITS, SCALES, GROUP>>(p, of, memory);                                                 \
    }
