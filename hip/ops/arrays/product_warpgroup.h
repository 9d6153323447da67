// Products of 16-bit matrices (product.h) by the matrix unit of NVIDIA's compute capability 9.0, both from shared memory, sums
// in f32 along k in order. Left lies along k, right along k or across it (the unit turns it); all pieces are whole, n is a
// multiple of 8. Left may also be no matrix at all: LEFT says where its pieces are, and where a row of the result is, or STORES
// results itself.
//
// Launch: 384 threads; grid: as many blocks as there are multiprocessors, or tiles of 128 rows by COLUMNS, if these are fewer;
// a block makes one tile after the other, those of the same rows first. A ring of STAGES steps of 64 numbers of k lies in
// shared memory (dynamic: STAGES · ((128 + COLUMNS) · 128 + 16) + 1024 bytes, and what eight warps' results take on their way), as ops/network/product_warpgroup.hip has it: the
// last warpgroup fills it by asynchronous copies of 16 bytes, each of the others makes 64 rows of the tile. Where two tiles of so
// little depth fit the ring, these two take turns at the matrix unit: one stores its sums meanwhile.
#pragma once

#include "common/rows_nvidia.h"
#include "product.h"
#include "warpgroup_tiles.h"

#if PLATFORM_NVIDIA && defined(__CUDA_ARCH_FEAT_SM90_ALL)

// Left as a matrix. What fills a tile's steps begins with the tile and copies one step of 128 rows after the other.
struct LeftMatrix {
    static constexpr bool STORES = false;
    const Product &p;
    const u16 *x;
    u32 row, k, thread;

    METHOD void begin(u32 z, u32 first_row, u32 of_thread) {
        x = (const u16 *)p.left + p.left_offset(z), row = first_row, k = 0, thread = of_thread;
    }
    METHOD void copy(u32 to) {
        copy_along<128>(to, x, p.left_stride, row, p.m, k, p.k, thread);
        k += STEP;
    }
    METHOD u16 *out(u32 z, u32 r) const { return (u16 *)p.out + ((i64)z * p.m + r) * p.n; }
};

template <u32 COLUMNS, u32 STAGES, bool IS_BF16, u32 ACROSS, typename LEFT> struct Warpgroups {
    static constexpr u32 ROWS = 128, LEFT_BYTES = ROWS * 128, STAGE = LEFT_BYTES + COLUMNS * 128, BARRIERS = STAGES * STAGE, STAGED = BARRIERS + STAGES * 16;

    const Product &p;
    LEFT left;
    u32 base, down, tiles, steps;

    // Of a stage: it is full, it is free.
    METHOD u32 full(u32 stage) const { return base + BARRIERS + 8 * stage; }
    METHOD u32 free(u32 stage) const { return full(STAGES + stage); }
    METHOD u32 batch(u32 tile) const { return tile / p.across / down; }
    METHOD u32 first_row(u32 tile) const { return tile / p.across % down * ROWS; }
    METHOD u32 first_column(u32 tile) const { return tile % p.across * COLUMNS; }

    METHOD void run() {
        const u32 thread = thread_x();
        if (thread == 0) {
            UNROLL for (u32 i = 0; i < STAGES; i++) {
                copy_barrier_init(full(i), 128);
                copy_barrier_init(free(i), 8);
            }
            copy_barrier_fence();
        }
        barrier();
        grid_dependency_launch();
        grid_dependency_wait();
        // Together what a block of 384 threads has at 168 each: with one more nobody would ever get them.
        constexpr bool MANY = COLUMNS >= 192;
        if (thread >= 256) {
            if (MANY) asm volatile("setmaxnreg.dec.sync.aligned.u32 88;");
            fill(thread - 256);
        } else {
            if (MANY) asm volatile("setmaxnreg.inc.sync.aligned.u32 208;");
            multiply(thread);
        }
    }

    METHOD void fill(u32 thread) {
        u32 slot = 0, parity = 1;
        for (u32 tile = block_x(); tile < tiles; tile += grid_blocks_x()) {
            const u32 z = batch(tile), row = first_row(tile), column = first_column(tile);
            const u16 *right = (const u16 *)p.right + p.right_offset(z);
            left.begin(z, row, thread);
            _Pragma("unroll 1") for (u32 step = 0; step < steps; step++) {
                copy_barrier_wait(free(slot), parity);
                const u32 to = base + slot * STAGE;
                left.copy(to);
                if (ACROSS)
                    copy_across<COLUMNS>(to + LEFT_BYTES, right, p.right_stride, column, p.n, step * STEP, p.k, thread);
                else
                    copy_along<COLUMNS>(to + LEFT_BYTES, right, p.right_stride, column, p.n, step * STEP, p.k, thread);
                copy_barrier_arrive_copied(full(slot));
                if (++slot == STAGES) slot = 0, parity ^= 1;
            }
        }
    }

    METHOD void multiply(u32 thread) const {
        const u32 group = uniform(thread / 128);
        // (With less room one would wait for steps that the other has not freed.)
        const bool by_turns = steps > 0 && 2 * steps <= STAGES;
        if (by_turns && group == 1) pass_turn(0);
        u32 slot = 0, parity = 0;
        for (u32 tile = block_x(); tile < tiles; tile += grid_blocks_x()) {
            if (by_turns) await_turn(group);
            f32 c[COLUMNS / 2];
            UNROLL for (u32 i = 0; i < COLUMNS / 2; i++) c[i] = 0.0f;
            // They stay in these registers.
            UNROLL for (u32 i = 0; i < COLUMNS / 2; i += 16) asm volatile("" : ACCUMULATORS16(c, i));
            u32 before = slot;
            _Pragma("unroll 1") for (u32 step = 0; step < steps; step++) {
                copy_barrier_wait(full(slot), parity);
                shared_written();
                wgmma_fence();
                const u32 right = base + slot * STAGE + LEFT_BYTES;
                const u64 a = rows_of_128(base + slot * STAGE + group * 8192);
                const u64 b = ACROSS ? columns_of_128(right, 8192) : rows_of_128(right);
                UNROLL for (u32 k = 0; k < 4; k++)
                    product_of<COLUMNS, IS_BF16, ACROSS>(c, a + 2 * k, b + (ACROSS ? 128 : 2) * k);
                wgmma_commit();
                if (step > 0) {
                    wgmma_wait<1>();
                    release(before);
                }
                before = slot;
                if (++slot == STAGES) slot = 0, parity ^= 1;
            }
            wgmma_wait<0>();
            if (steps > 0) release(before);
            // Nobody waits for the last turn of all.
            if (by_turns && (group == 0 || tile + grid_blocks_x() < tiles)) pass_turn(1 - group);
            UNROLL for (u32 i = 0; i < COLUMNS / 2; i += 16) asm volatile("" : ACCUMULATORS16(c, i));
            store(c, batch(tile), first_row(tile) + group * 64 + thread % 128 / 32 * 16, first_column(tile));
        }
    }

    // Turns of the two warpgroups that multiply.
    METHOD void await_turn(u32 group) const { asm volatile("bar.sync %0, 256;" ::"r"(1 + group) : "memory"); }
    METHOD void pass_turn(u32 group) const { asm volatile("bar.arrive %0, 256;" ::"r"(1 + group) : "memory"); }
    // A warp is done with a stage.
    METHOD void release(u32 stage) const {
        if (lane_id() == 0) copy_barrier_arrive(free(stage));
    }

    // Stores sums of 16 rows.
    METHOD void store(f32 *c, u32 z, u32 first_row, u32 first_column) const {
        if constexpr (LEFT::STORES) return left.template store<COLUMNS>(c, z, first_row, first_column);
        else store_16(c, z, first_row, first_column);
    }
    METHOD void store_16(f32 *c, u32 z, u32 first_row, u32 first_column) const {
        const u32 lane = lane_id(), row = first_row + lane / 4, column = first_column + lane % 4 * 2;
        if (p.alpha != 1.0f) UNROLL for (u32 i = 0; i < COLUMNS / 2; i++) c[i] *= p.alpha;
        if (p.beta != 0.0f) {
            const i64 of_plus = p.plus_offset(z);
            UNROLL for (u32 i = 0; i < COLUMNS / 2; i++) {
                const u32 r = minimum(row + i / 2 % 2 * 8, p.m - 1), o = minimum(column + i / 4 * 8 + i % 2, p.n - 1);
                const i64 at = of_plus + r * p.plus_row + o * p.plus_column;
                c[i] += p.beta * (IS_BF16 ? to_f32(((const bf16 *)p.plus)[at]) : to_f32(((const f16 *)p.plus)[at]));
            }
        }
        const auto pack = [](f32 a, f32 b) { return IS_BF16 ? pack_bf16x2(a, b).bits : pack_f16x2(a, b).bits; };
        store_rows<COLUMNS>(c, base + STAGED + uniform(thread_x() / 32) * staged_bytes(COLUMNS), pack, [&](u32 r, u32 o) {
            const bool there = first_row + r < p.m && first_column + o < p.n;
            return there ? left.out(z, first_row + r) + (first_column + o) : nullptr;
        });
    }
};

// `group` is the number of batches.
#define WARPGROUP_KERNEL(NAME, COLUMNS, STAGES, IS_BF16, ACROSS)                                              \
    KERNEL_WAVES(384, 3) void NAME(PRODUCT_PARAMETERS) {                                                      \
        DYNAMIC_SHARED(memory);                                                                               \
        const Product p = PRODUCT_ARGUMENTS;                                                                  \
        const u32 base = (shared_address(memory) + 1023) / 1024 * 1024, down = divide_up(m, 128);             \
        Warpgroups<COLUMNS, STAGES, IS_BF16, ACROSS, LeftMatrix>{                                             \
            p, {p, nullptr, 0, 0, 0}, base, down, across * down * group, alpha == 0.0f ? 0 : divide_up(k, STEP)}.run(); \
    }
#endif
