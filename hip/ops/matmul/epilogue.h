// What becomes of the sums of a matrix product: stored (up to three matrices, on NVIDIA four, of the same x lie one
// after the other, each a whole number of tiles, and have an output each), added to `residual`, or
// silu(y) · y of the tile after it (gate and up projections, interleaved tile by tile); with a limit, gpt-oss'
// function of gate (at most the limit) and up (at most so far from 0): gate · sigmoid(1.702 · gate) · (up + 1).
#pragma once

#include "common/math.h"

// STORE_FOUR: STORE where there are four matrices, on NVIDIA alone (on AMD some kernels would spill scalar registers). What only that needs comes last, also among kernels' arguments: those lie in
// lines of 64 bytes, and each more that is read takes time in which nothing else happens (1.4 % of a small model's decoding on an
// H200).
enum Epilogue { STORE, ADD, SILU, STORE_FOUR };

struct Outputs {
    const f32 *bias;            // [tiles · 16] or null
    const f32 *residual;        // as out0
    f32 *out0, *out1, *out2;    // [rows][width]
    u32 end0, end1;             // the first tile that is not of output 0, 1
    u32 width0, width1, width2; // columns of each output
    u32 epilogue;
    f32 limit = 0.0f;   // 0: none
    u32 end2 = 0, width3 = 0; // STORE_FOUR: the first tile that is not of output 2, and the fourth output
    f32 *out3 = nullptr;
};

// Of one matrix, `tiles` tiles.
DEVICE Outputs one_output(const f32 *bias, const f32 *residual, f32 *out, u32 tiles, u32 width, u32 epilogue, f32 limit = 0.0f) {
    return {bias, residual, out, nullptr, nullptr, tiles, tiles, width, 0, 0, epilogue, limit, 0, 0, nullptr};
}

// The sum of row `row` (of 16) of a tile.
DEVICE f32 add_bias(const Outputs &o, u32 tile, u32 row, f32 sum) {
    return o.bias ? sum + o.bias[tile * 16 + row] : sum;
}

// What is added to it; on NVIDIA it is on its way: who does not touch it yet does not wait.
DEVICE f32 bias_of(const Outputs &o, u32 tile, u32 row) {
    if (PLATFORM_AMD) return add_bias(o, tile, row, 0.0f);
    return o.bias ? o.bias[tile * 16 + row] : 0.0f;
}

// What follows is not read before it is known to be needed.
DEVICE void seldom() { asm volatile("" ::: "memory"); }

// Where a number of row `r` of x goes, null if nowhere, and what is added to it (null: nothing); STORE, ADD.
DEVICE f32 *number_place(const Outputs &o, u32 r, u32 tile, u32 row, const f32 *&residual) {
#if PLATFORM_NVIDIA
    if (o.epilogue == STORE_FOUR && tile >= o.end2) {
        seldom();
        const u32 column = (tile - o.end2) * 16 + row;
        residual = nullptr;
        return column < o.width3 ? o.out3 + (u64)r * o.width3 + column : nullptr;
    }
#endif
    const bool in0 = tile < o.end0, in1 = tile < o.end1;
    const u32 begin = in0 ? 0 : in1 ? o.end0 : o.end1;
    const u32 width = in0 ? o.width0 : in1 ? o.width1 : o.width2;
    f32 *out = in0 ? o.out0 : in1 ? o.out1 : o.out2;
    const u32 column = (tile - begin) * 16 + row;
    const u64 at = (u64)r * width + column;
    residual = o.epilogue == ADD ? o.residual + at : nullptr;
    return column < width ? out + at : nullptr;
}
DEVICE void store_number(const Outputs &o, u32 r, u32 tile, u32 row, f32 v) {
    const f32 *residual;
    f32 *to = number_place(o, r, tile, row, residual);
    if (to) *to = residual ? v + *residual : v;
}

// The same for SILU; `pair`: the tile of gates and the one of ups after it.
DEVICE f32 *silu_place(const Outputs &o, u32 r, u32 pair, u32 row) {
    const u32 column = pair * 16 + row;
    return column < o.width0 ? o.out0 + (u64)r * o.width0 + column : nullptr;
}
DEVICE f32 silu_product(const Outputs &o, f32 gate, f32 up) {
    if (o.limit == 0.0f) return silu(gate) * up;
    // Comparisons with NaN are false, so that NaN stays.
    gate = gate > o.limit ? o.limit : gate;
    up = up > o.limit ? o.limit : up < -o.limit ? -o.limit : up;
    return silu(1.702f * gate) * (1.0f / 1.702f) * (up + 1.0f);
}
DEVICE void store_silu(const Outputs &o, u32 r, u32 pair, u32 row, f32 gate, f32 up) {
    f32 *to = silu_place(o, r, pair, row);
    if (to) *to = silu_product(o, gate, up);
}

// Where numbers of a column go, row after row, for kernels that have many rows of it; `out` is null if nowhere.
struct OutputColumn {
    f32 *out;
    const f32 *residual; // null: nothing is added
    u32 width;
};
DEVICE OutputColumn number_column(const Outputs &o, u32 tile, u32 row) {
    const f32 *residual;
    f32 *out = number_place(o, 0, tile, row, residual);
    const u32 width = tile < o.end0 ? o.width0 : tile < o.end1 ? o.width1 : o.width2;
#if PLATFORM_NVIDIA
    if (o.epilogue == STORE_FOUR && tile >= o.end2) {
        seldom();
        return {out, residual, o.width3};
    }
#endif
    return {out, residual, width};
}
DEVICE OutputColumn silu_column(const Outputs &o, u32 pair, u32 row) {
    return {silu_place(o, 0, pair, row), nullptr, o.width0};
}
DEVICE void store_column(const OutputColumn &c, u32 r, f32 v) {
    const u64 at = (u64)r * c.width;
    if (c.out) store_global(c.out + at, c.residual ? v + c.residual[at] : v);
}
