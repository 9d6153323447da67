// Products of a quantized matrix with many rows x, as block.h has them, by the matrix unit of NVIDIA's
// compute capability 9.0 (wgmma), which takes W from registers and x from shared memory.
//
// x: what operand.hip makes for it, f16 in tiles of 128 rows and 64 columns. A warp's codes, as they lie
// in memory (quant.h), are its part of W in the order that the unit wants, so that they go from memory to
// registers and are decoded there.
//
// Launch: 256 threads, two warpgroups; grid (rows / 128, tiles / 8, splits (split.h)), rounded up. Each
// warpgroup makes 64 columns of y of 128 rows. A ring of STAGES tiles of x in shared memory is filled by the
// copy engine. Dynamic shared memory: WARPGROUP_BYTES.
#pragma once

#include "common/warpgroup_nvidia.h"
#include "ops/matmul/epilogue.h"
#include "ops/matmul/split.h"
#include "ops/matmul/weight.h"

#define STAGES 5
#define STAGE_BYTES 16384
#define X_ROWS 128
// Stages begin at multiples of 1024 bytes; results take their place in the end, rows of RESULT_STRIDE.
#define WARPGROUP_BYTES (STAGES * STAGE_BYTES + 1024 + 2 * STAGES * 8)
#define RESULT_STRIDE 132

#if PLATFORM_NVIDIA && defined(__CUDA_ARCH_FEAT_SM90_ALL)

struct Warpgroup {
    const u8 *weights;
    const u8 *x;       // [rows / 128][stride / 64][STAGE_BYTES]
    const f32 *scales; // [rows]
    Outputs to;
    f32 back;
    u32 rows, cols, tiles;
    Split split;
};

// The rows of a block, and where their results go: one after the other.
struct OwnRows {
    // Whether blocks of the same rows run together, not those of the same columns.
    static constexpr bool ROWS_TOGETHER = false;
    DEVICE u32 of_result(const OwnRows &, u32 first, u32 row) { return first + row; }
};

// A warp's codes and scales of one unit.
template <typename Q> struct UnitOf {
    static constexpr u32 SCALES = Q::UNIT * (Q::GROUP == 64 ? 1 : 2);
    u32x4 first[Q::FIRST_VECTORS], second[Q::SECOND_VECTORS + 1];
    ScaleWords words[SCALES];

    DEVICE void load(UnitOf &w, const u8 *at, u32 lane) {
        UNROLL for (u32 v = 0; v < Q::FIRST_VECTORS; v++) w.first[v] = load16_constant(at + v * 512 + lane * 16);
        UNROLL for (u32 v = 0; v < Q::SECOND_VECTORS; v++)
            w.second[v] = load16_constant(at + (Q::FIRST_VECTORS + v) * 512 + lane * 16);
        const u32 g = lane / 4, t = lane % 4;
        UNROLL for (u32 i = 0; i < SCALES; i++)
            w.words[i] = scale_words<Q>(at + Q::CODE_BYTES, Q::GROUP == 16 ? 2 * i + t / 2 : i, g);
    }

    // Block `b` as the fragments of its four steps of 16 columns.
    DEVICE void decode(const UnitOf &w, const Table &table, u32 b, f32 factor, u32 (*a)[4]) {
        GroupScale s;
        UNROLL for (u32 half = 0; half < 2; half++) {
            if (half == 0 || Q::GROUP != 64) s = decode_scale<Q>(w.words[Q::GROUP == 64 ? b : 2 * b + half]);
            UNROLL for (u32 h = 0; h < 2; h++) {
                const f32 scale = s.scale[h] * factor, bias = s.bias[h] * factor;
                UNROLL for (u32 i = 0; i < 4; i++) {
                    const f16x2 q = pair_f16<Q>(table, w.first, w.second, b * 16 + half * 8 + 2 * i + h);
                    a[half * 2 + i / 2][i % 2 * 2 + h] = weight_pair<Q>(q, scale, bias);
                }
            }
        }
    }
};

// Reads a special register here: what came of it before is not kept in registers until now.
#define READ_HERE(name, special) \
    u32 name; \
    asm volatile("mov.u32 %0, %%" special ";" : "=r"(name))

// The sums of a warpgroup: 64 columns of y of ROWS rows, by its share of the units.
template <typename Q, u32 ROWS, typename R> DEVICE void multiply_units(const Warpgroup &p, u32 base, f32 *c) {
    constexpr u32 BYTES = ROWS * BLOCK_COLS * 2;
    // Units whose codes are on the way; few rows leave registers for more.
    constexpr u32 AHEAD = Q::UNIT == 1 && ROWS <= 64 ? 4 : 2;
    READ_HERE(thread, "tid.x");
    const u32 warp = thread / 32, lane = thread % 32;
    const u32 full = base + STAGES * STAGE_BYTES, empty = full + STAGES * 8;
    const u32 all_units = (p.cols + Q::UNIT * BLOCK_COLS - 1) / (Q::UNIT * BLOCK_COLS);
    const u32 begin = split_begin(all_units), units = split_end(all_units) - begin, steps = units * Q::UNIT;
    const u32 block_of_rows = R::ROWS_TOGETHER ? block_y() : block_x();
    const u32 own_tile = (R::ROWS_TOGETHER ? block_x() : block_y()) * 8 + warp, tile = own_tile < p.tiles ? own_tile : p.tiles - 1;
    const u8 *weights = p.weights + ((u64)tile * all_units + begin) * Q::UNIT_BYTES;
    const u8 *x = p.x + ((u64)block_of_rows * ((p.cols + 255) / 256 * 4) + begin * Q::UNIT) * STAGE_BYTES;
    const f32 factor = 1.0f / p.back;
    if (thread == 0) {
        UNROLL for (u32 i = 0; i < STAGES; i++) {
            copy_barrier_init(full + 8 * i);
            copy_barrier_init(empty + 8 * i, 2);
        }
        copy_barrier_fence();
    }
    barrier();
    const Table table = table_of<Q>(p.weights);
    UnitOf<Q> ahead[AHEAD];
    UNROLL for (u32 i = 0; i < AHEAD; i++)
        if (i < units) UnitOf<Q>::load(ahead[i], weights + i * Q::UNIT_BYTES, lane);
    grid_dependency_launch();
    grid_dependency_wait();
    auto issue = [&](u32 step) {
        const u32 stage = step % STAGES;
        copy_barrier_expect(full + 8 * stage, BYTES);
        copy_bulk(base + stage * BYTES, x + (u64)step * STAGE_BYTES, BYTES, full + 8 * stage);
    };
    if (thread == 0)
        for (u32 i = 0; i < STAGES && i < steps; i++) issue(i);

    UNROLL for (u32 i = 0; i < ROWS / 2; i++) c[i] = 0.0f;
    u32 a[2][4][4];
    u32 stage = 0, parity = 0;
    auto multiply = [&](UnitOf<Q> &w, u32 unit, u32 which) __attribute__((always_inline)) {
        UNROLL for (u32 b = 0; b < Q::UNIT; b++) {
            const u32 step = unit * Q::UNIT + b;
            u32(*now)[4] = a[(which * Q::UNIT + b) % 2];
            UnitOf<Q>::decode(w, table, b, factor, now);
            if (b == Q::UNIT - 1 && unit + AHEAD < units)
                UnitOf<Q>::load(w, weights + (u64)(unit + AHEAD) * Q::UNIT_BYTES, lane);
            copy_barrier_wait(full + 8 * stage, parity);
            // Decoded by now, not between the products.
            UNROLL for (u32 k = 0; k < 4; k++)
                asm volatile("" : "+r"(now[k][0]), "+r"(now[k][1]), "+r"(now[k][2]), "+r"(now[k][3]));
            wgmma_fence();
            const u64 described = rows_of_128(base + stage * BYTES);
            UNROLL for (u32 k = 0; k < 4; k++) wgmma_rows<ROWS>(c, now[k], described + 2 * k);
            wgmma_commit();
            // The step before is done: its stage may be filled again.
            wgmma_wait<1>();
            if (step > 0) {
                const u32 before = stage == 0 ? STAGES - 1 : stage - 1;
                if (thread % 128 == 0) copy_barrier_arrive(empty + 8 * before);
                if (thread == 0 && step - 1 + STAGES < steps) {
                    copy_barrier_wait(empty + 8 * before, stage == 0 ? parity ^ 1 : parity);
                    issue(step - 1 + STAGES);
                }
            }
            if (++stage == STAGES) stage = 0, parity ^= 1;
        }
    };
    // AHEAD units at a time: registers of one are in use while the others' are written.
    u32 unit = 0;
    for (; unit + AHEAD <= units; unit += AHEAD)
        UNROLL for (u32 i = 0; i < AHEAD; i++) multiply(ahead[i], unit + i, i);
    UNROLL for (u32 i = 0; i + 1 < AHEAD; i++)
        if (unit + i < units) multiply(ahead[i], unit + i, i);
    wgmma_wait<0>();
    UNROLL for (u32 i = 0; i < ROWS / 2; i += 16) asm volatile("" : ACCUMULATORS16(c, i));
}

// What becomes of a block's sums: its part of a split, or y.
template <u32 ROWS, typename R> DEVICE void finish(const Warpgroup &p, f32 *results, const f32 *c, const R &rows_of) {
    READ_HERE(thread, "tid.x");
    READ_HERE(across, "ctaid.x");
    READ_HERE(down, "ctaid.y");
    const u32 block_of_rows = R::ROWS_TOGETHER ? down : across, block_of_tiles = R::ROWS_TOGETHER ? across : down;
    const u32 warp = thread / 32, lane = thread % 32;
    const u32 first_row = block_of_rows * X_ROWS, first_tile = block_of_tiles * 8;
    const u32 rows = minimum(p.rows - first_row, ROWS);
    const bool is_split = grid_blocks_z() > 1;
    if (is_split) {
        f32 *part = split_part(p.split, block_z());
        UNROLL for (u32 i = 0; i < ROWS / 8; i++)
            if (i / 2 * 16 < rows) store_part(part, i, c + i * 4);
        if (!is_last_block(p.split.counters + split_block(), grid_blocks_z())) return;
    }
    // All have read all of x: results take its place, [row][128 columns]. A quad of sums is of rows 2t, 2t + 1
    // of 8 and two columns.
    barrier();
    const u32 g = lane / 4, t = lane % 4, column = (warp / 4 * 64) + warp % 4 * 16;
    auto put = [&](u32 i, const f32 *quad) {
        UNROLL for (u32 j = 0; j < 4; j++)
            results[(i * 8 + 2 * t + j % 2) * RESULT_STRIDE + column + g + j / 2 * 8] = quad[j];
    };
    if (is_split) {
        const f32 *part = split_part(p.split, 0);
        // Sixteen rows at a time.
        _Pragma("unroll 1") for (u32 i = 0; i * 8 < rows; i += 2) {
            f32x4 sums[2];
            sum_parts<2, 8>(part, i, sums);
            UNROLL for (u32 j = 0; j < 2; j++) {
                const f32 quad[4] = {sums[j].x, sums[j].y, sums[j].z, sums[j].w};
                put(i + j, quad);
            }
        }
    } else {
        UNROLL for (u32 i = 0; i < ROWS / 8; i++) put(i, c + i * 4);
    }
    barrier();
    // A thread has one column (of gates, with that of ups) of every second (fourth) row. What it reads of BATCH
    // rows is on the way at once.
    constexpr u32 BATCH = 8;
    const bool is_silu = p.to.epilogue == SILU;
    const u32 columns = is_silu ? 64 : 128, step = 256 / columns, in_row = thread % columns;
    const u32 at = is_silu ? in_row / 16 * 32 + in_row % 16 : in_row, tile = first_tile + at / 16;
    if (tile >= p.tiles) return;
    const f32 bias = add_bias(p.to, tile, at % 16, 0.0f);
    const f32 up_bias = is_silu ? add_bias(p.to, tile + 1, at % 16, 0.0f) : 0.0f;
    _Pragma("unroll 1") for (u32 begin = thread / columns; begin < rows; begin += BATCH * step) {
        f32 scales[BATCH], residuals[BATCH];
        f32 *to[BATCH];
        UNROLL for (u32 i = 0; i < BATCH; i++) {
            const u32 row = minimum(begin + i * step, rows - 1), r = R::of_result(rows_of, first_row, row);
            const f32 *residual = nullptr;
            to[i] = is_silu ? silu_place(p.to, r, tile / 2, at % 16) : number_place(p.to, r, tile, at % 16, residual);
            scales[i] = p.scales[first_row + row];
            // Any number will do where there is no place.
            residuals[i] = residual ? *(to[i] ? residual : p.to.residual) : 0.0f;
        }
        UNROLL for (u32 i = 0; i < BATCH; i++) {
            if (!to[i] || begin + i * step >= rows) continue;
            const f32 *sums = results + (begin + i * step) * RESULT_STRIDE + at;
            const f32 scale = scales[i] * p.back;
            const f32 v = sums[0] * scale + bias;
            *to[i] = is_silu ? silu_product(p.to, v, sums[16] * scale + up_bias) : v + residuals[i];
        }
    }
}

template <typename Q, u32 ROWS, typename R> DEVICE void matmul_rows(const Warpgroup &p, u8 *memory, const R &rows_of) {
    const u32 offset = (1024 - shared_address(memory) % 1024) % 1024;
    f32 c[ROWS / 2];
    multiply_units<Q, ROWS, R>(p, shared_address(memory) + offset, c);
    finish<ROWS>(p, (f32 *)(memory + offset), c, rows_of);
}

// Products and x as many as the block's rows need.
template <typename Q, typename R> DEVICE void matmul_warpgroup(const Warpgroup &p, u8 *memory, u32 rows, const R &rows_of) {
    if (rows <= 32) matmul_rows<Q, 32>(p, memory, rows_of);
    else if (rows <= 64) matmul_rows<Q, 64>(p, memory, rows_of);
    else matmul_rows<Q, 128>(p, memory, rows_of);
}

// Two blocks a multiprocessor where the registers allow it.
template <typename Q> struct Occupancy {
    static constexpr int WAVES = Q::UNIT == 1 && Q::SCALES != PAIR_F32 ? 4 : 2;
};
#define QUANT_KERNEL(NAME, BITS, SCALES, GROUP)                                                                                \
    typedef Quant<BITS, SCALES, GROUP> NAME##_quant;                                                                           \
    KERNEL_WAVES(256, Occupancy<NAME##_quant>::WAVES) void NAME(                                                               \
                          const u8 *weights, const u8 *x, const f32 *scales, const f32 *bias,                                  \
                          const f32 *residual, f32 *out0, f32 *out1, f32 *out2, u32 end0,                                      \
                          u32 end1, u32 width0, u32 width1, u32 width2,                                                        \
                          f32 back, u32 rows, u32 cols, u32 tiles, u32 epilogue, f32 *parts,                                   \
                          u32 *counters, u32 end2, u32 width3, f32 *out3) {                                                    \
        DYNAMIC_SHARED(memory);                                                                                                \
        const Warpgroup p = {weights, x, scales, {bias, residual, out0, out1, out2, end0, end1, width0,                        \
                             width1, width2, epilogue, 0.0f, end2, width3, out3}, back, rows, cols, tiles, {parts, counters}}; \
        matmul_warpgroup<NAME##_quant>(p, memory, p.rows - block_x() * X_ROWS, OwnRows{});                                     \
    }
#else
#define QUANT_KERNEL(NAME, BITS, SCALES, GROUP)
#endif
