// Products of f32 matrices (product.h) by the matrix unit of NVIDIA's compute capability 9.0, of numbers in three parts of bf16
// (product_parts.h): the six largest of the nine products of parts. The unit cuts sums off where it aligns them, so it
// adds 64 numbers of k only, small products first, and the sums of these are added in f32.
//
// split: parts of an array, [3][plane]. 256 threads, eight numbers at a time; grid (SPLIT_BLOCKS).
// products: 384 threads; grid: as many blocks as there are multiprocessors, or tiles of 128 by 128, if these are fewer. A ring
// of two steps of 64 numbers of k, three parts of each side, lies in shared memory (dynamic: 2 · (96 · 1024 + 16) + 1024 bytes);
// the last warpgroup fills it, each of the others makes 64 rows of a tile. Nothing is done where must_be_f32 says so.
#include "product.h"
#include "product_parts.h"
#include "warpgroup_tiles.h"

#if PLATFORM_NVIDIA && defined(__CUDA_ARCH_FEAT_SM90_ALL)

KERNEL(256) void mlxrocm_array_product_split(const f32 *x, u16 *parts, u32 *exponents, u32 count, u32 plane) {
    SHARED u32 below, most;
    grid_dependency_launch();
    grid_dependency_wait();
    if (thread_x() == 0) below = most = 0;
    barrier();
    u32 low = 255, high = 0;
    for (u32 i = (block_x() * 256 + thread_x()) * 8; i < count; i += SPLIT_BLOCKS * 2048) {
        const f32x4 a = load_f32x4(x + i), b = load_f32x4(x + i + 4);
        f32 v[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
        UNROLL for (u32 j = 0; j < 8; j++) {
            const u32 exponent = f32_bits(v[j]) >> 23 & 255;
            if (v[j] != 0.0f) low = minimum(low, exponent), high = exponent > high ? exponent : high;
        }
        UNROLL for (u32 part = 0; part < 3; part++) {
            u32 words[4];
            UNROLL for (u32 j = 0; j < 4; j++) {
                words[j] = nearest_bf16x2(v[2 * j], v[2 * j + 1]).bits;
                v[2 * j] -= bits_f32(words[j] << 16), v[2 * j + 1] -= bits_f32(words[j] & 0xffff0000u);
            }
            store16(parts + (u64)part * plane + i, u32x4{words[0], words[1], words[2], words[3]});
        }
    }
    atomic_max(&below, 255 - low), atomic_max(&most, high);
    barrier();
    if (thread_x() == 0) exponents[block_x()] = below | most << 8;
}

template <u32 ACROSS> struct Parts {
    static constexpr u32 SIDE = 16384, STAGE = 6 * SIDE, STAGES = 2, BARRIERS = STAGES * STAGE, SUMS = 64;

    const Product &p;
    u32 left_plane, right_plane, base, down, tiles, steps;

    // Of a stage: it is full, it is free.
    METHOD u32 full(u32 stage) const { return base + BARRIERS + 8 * stage; }
    METHOD u32 free(u32 stage) const { return full(STAGES + stage); }
    METHOD u32 batch(u32 tile) const { return tile / p.across / down; }
    METHOD u32 first_row(u32 tile) const { return tile / p.across % down * 128; }
    METHOD u32 first_column(u32 tile) const { return tile % p.across * 128; }

    METHOD void run() const {
        const u32 thread = thread_x();
        if (thread == 0) {
            UNROLL for (u32 i = 0; i < STAGES; i++) copy_barrier_init(full(i), 128), copy_barrier_init(free(i), 8);
            copy_barrier_fence();
        }
        barrier();
        if (thread >= 256)
            fill(thread - 256);
        else
            multiply(thread);
    }
    METHOD void fill(u32 thread) const {
        u32 slot = 0, parity = 1;
        for (u32 tile = block_x(); tile < tiles; tile += grid_blocks_x()) {
            const u32 z = batch(tile), row = first_row(tile), column = first_column(tile);
            const u16 *left = (const u16 *)p.left + p.left_offset(z), *right = (const u16 *)p.right + p.right_offset(z);
            _Pragma("unroll 1") for (u32 step = 0; step < steps; step++) {
                copy_barrier_wait(free(slot), parity);
                _Pragma("unroll 1") for (u32 part = 0; part < 3; part++) {
                    const u32 to = base + slot * STAGE + part * SIDE;
                    copy_along<128>(to, left + (u64)part * left_plane, p.left_stride, row, p.m, step * STEP, p.k, thread);
                    const u16 *of_part = right + (u64)part * right_plane;
                    if (ACROSS)
                        copy_across<128>(to + 3 * SIDE, of_part, p.right_stride, column, p.n, step * STEP, p.k, thread);
                    else
                        copy_along<128>(to + 3 * SIDE, of_part, p.right_stride, column, p.n, step * STEP, p.k, thread);
                }
                copy_barrier_arrive_copied(full(slot));
                if (++slot == STAGES) slot = 0, parity ^= 1;
            }
        }
    }
    // Part i of left by part j of right.
    METHOD void product_of_parts(f32 *c, u32 stage, u32 group, u32 i, u32 j) const {
        const u32 right = stage + (3 + j) * SIDE;
        const u64 a = rows_of_128(stage + i * SIDE + group * 8192), b = ACROSS ? columns_of_128(right, 8192) : rows_of_128(right);
        UNROLL for (u32 k = 0; k < 4; k++) product_of<128, true, ACROSS>(c, a + 2 * k, b + (ACROSS ? 128 : 2) * k);
    }
    METHOD void multiply(u32 thread) const {
        const u32 group = uniform(thread / 128);
        u32 slot = 0, parity = 0;
        for (u32 tile = block_x(); tile < tiles; tile += grid_blocks_x()) {
            f32 sums[SUMS];
            UNROLL for (u32 i = 0; i < SUMS; i++) sums[i] = 0.0f;
            _Pragma("unroll 1") for (u32 step = 0; step < steps; step++) {
                f32 c[SUMS];
                UNROLL for (u32 i = 0; i < SUMS; i++) c[i] = 0.0f;
                UNROLL for (u32 i = 0; i < SUMS; i += 16) asm volatile("" : ACCUMULATORS16(c, i));
                copy_barrier_wait(full(slot), parity);
                shared_written();
                wgmma_fence();
                const u32 stage = base + slot * STAGE;
                product_of_parts(c, stage, group, 0, 2), product_of_parts(c, stage, group, 2, 0);
                product_of_parts(c, stage, group, 1, 1), product_of_parts(c, stage, group, 0, 1);
                product_of_parts(c, stage, group, 1, 0), product_of_parts(c, stage, group, 0, 0);
                wgmma_commit();
                wgmma_wait<0>();
                if (lane_id() == 0) copy_barrier_arrive(free(slot));
                if (++slot == STAGES) slot = 0, parity ^= 1;
                UNROLL for (u32 i = 0; i < SUMS; i += 16) asm volatile("" : ACCUMULATORS16(c, i));
                UNROLL for (u32 i = 0; i < SUMS; i++) sums[i] += c[i];
            }
            store(sums, batch(tile), first_row(tile) + group * 64 + thread % 128 / 32 * 16, first_column(tile));
        }
    }
    // Sums of a warp's 16 rows.
    METHOD void store(const f32 *sums, u32 z, u32 first_row, u32 first_column) const {
        const u32 row = first_row + lane_id() / 4, column = first_column + lane_id() % 4 * 2;
        const i64 of_plus = p.plus_offset(z);
        UNROLL for (u32 i = 0; i < SUMS; i++) {
            const u32 r = row + i / 2 % 2 * 8, o = column + i / 4 * 8 + i % 2;
            if (r < p.m && o < p.n) p.store(z, of_plus, r, o, F32, sums[i]);
        }
    }
};

#define PARTS_KERNEL(NAME, ACROSS)                                                                                \
    KERNEL_WAVES(384, 3)                                                                                          \
    void NAME(PRODUCT_PARAMETERS, const u32 *exponents, u32 left_plane, u32 right_plane) {                        \
        DYNAMIC_SHARED(memory);                                                                                   \
        grid_dependency_launch();                                                                                 \
        grid_dependency_wait();                                                                                   \
        const Product p = PRODUCT_ARGUMENTS;                                                                      \
        const u32 base = (shared_address(memory) + 1023) / 1024 * 1024, down = divide_up(m, 128);                 \
        if (must_be_f32(exponents, k)) return;                                                                    \
        Parts<ACROSS>{p, left_plane, right_plane, base, down, across * down * group,                              \
                      alpha == 0.0f ? 0 : divide_up(k, STEP)}.run();                                              \
    }
PARTS_KERNEL(mlxrocm_array_product_parts_f32, 0)
PARTS_KERNEL(mlxrocm_array_product_parts_across_f32, 1)
#endif
