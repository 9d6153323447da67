// Products of networks in f16 (product.h) by the matrix unit of NVIDIA's compute capability 9.0, x and W from
// shared memory. The sums' order is that of taps and columns of x, whatever the block is: a row gets the same bits
// in any batch.
//
// Launch: (CONSUMERS · SPLIT + 1) · 128 threads; grid: as many blocks as there are multiprocessors, or as there are tiles
// of 64 · CONSUMERS rows by COLUMNS, if these are fewer; a block makes one tile after the other, those of the same rows
// first. In shared memory (dynamic) lie a ring of STAGES steps of 64 columns, and what results take on their way. The last
// warpgroup fills the ring: rows of x by asynchronous copies of 16 bytes, which also gather the squares of a tap, tiles of W
// and a tile's bias by bulk copies, which take the thread that asks for one about 110 cycles: its four warps ask by turns.
// Each of the others makes 64 rows of the tile; with SPLIT > 1 (steps: a multiple of it) they share the steps of the same
// rows and add their sums in order. x and y: rows of multiples of 8 numbers, fewer than 2^32 of x.
//
// On an H200 128 by 256 reach 567 to 606 TFLOPS (16,384 rows, 768 by 2,304, 96 to 102 us; cuBLAS 639), at clocks of about
// 1.6 GHz, which its power allows: of a tile's 17,300 cycles the matrix unit has work in 13,000, the others are the tile's
// end. No faster were: W copied once for a cluster of two blocks (473), results by way of shared memory and bulk copies
// (534) or warps of their own (545), stored while the next tile is multiplied (537 to 571), one warpgroup two steps behind
// the other (556), two blocks of 128 by 128 a multiprocessor (490).
#include "common/copies_nvidia.h"
#include "common/rows_nvidia.h"
#include "common/warpgroup_nvidia.h"
#include "ops/network/product.h"

#if PLATFORM_NVIDIA && defined(__CUDA_ARCH_FEAT_SM90_ALL)

// TAPS: 1 or 9. SPLIT: warpgroups that share the steps of the same rows, each every SPLIT-th.
template <u32 CONSUMERS, u32 COLUMNS, u32 STAGES, u32 TAPS, u32 SPLIT = 1> struct WarpgroupProduct {
    static_assert(SPLIT == 1 || (CONSUMERS == 1 && STAGES % SPLIT == 0), "each stage has one warpgroup that reads it");
    static constexpr u32 MULTIPLY = CONSUMERS * SPLIT * 128, ROWS = CONSUMERS * 64, X_BYTES = ROWS * 128, W_BYTES = COLUMNS * 128, STAGE = X_BYTES + W_BYTES;
    // Rows of x of which a thread copies a piece; columns of a tile of W that follow each other.
    static constexpr u32 X_PIECES = ROWS / 16, PART = COLUMNS % 128 == 0 ? 128 : COLUMNS % 64 == 0 ? 64 : COLUMNS;
    // Behind the stages.
    static constexpr u32 BIASES = STAGES * STAGE, BARRIERS = BIASES + STAGES * COLUMNS * 4, STAGED = BARRIERS + STAGES * 16, PARTS = STAGED + CONSUMERS * 4 * staged_bytes(COLUMNS);

    const ProductF16 &p;
    u32 base, across, steps, tiles;

    // Of a stage: its barriers (it is full, it is free), its bias.
    METHOD u32 full(u32 stage) const { return base + BARRIERS + 8 * stage; }
    METHOD u32 free(u32 stage) const { return full(STAGES + stage); }
    METHOD u32 bias(u32 stage) const { return base + BIASES + stage * COLUMNS * 4; }

    METHOD u32 first_row(u32 tile) const { return tile / across * ROWS; }
    METHOD u32 first_column(u32 tile) const { return tile % across * COLUMNS; }

    METHOD void run() const {
        const u32 thread = thread_x();
        if (thread == 0) {
            UNROLL for (u32 i = 0; i < STAGES; i++) {
                copy_barrier_init(full(i), 128 + 1);
                copy_barrier_init(free(i), CONSUMERS * 4);
            }
            copy_barrier_fence();
        }
        barrier();
        grid_dependency_launch();
        // Sums of many columns take more registers than there are for each thread.
        constexpr bool MANY = COLUMNS >= 192;
        if (thread >= MULTIPLY) {
            if (MANY) asm volatile("setmaxnreg.dec.sync.aligned.u32 72;");
            fill(thread - MULTIPLY);
        } else {
            if (MANY) asm volatile("setmaxnreg.inc.sync.aligned.u32 216;");
            multiply(thread);
        }
    }

    // Brings W's part of a step and, with a tile's first one, the bias to a stage.
    METHOD void issue_weights(u32 first, u32 step, u32 slot) const {
        const u32 bias_bytes = p.bias && step == 0 ? minimum(p.columns - first, COLUMNS) * 4 : 0;
        copy_barrier_expect(full(slot), W_BYTES + bias_bytes);
        UNROLL for (u32 i = 0; i < COLUMNS; i += PART) {
            u32 column = first + i;
            // W ends with whole tiles; nobody looks at what is read instead.
            if (column >= divide_up(p.columns, 128u) * 128) column = 0;
            const u8 *from = p.weights + ((u64)(column / 128) * steps + step) * TILE_BYTES + column % 128 * 128;
            copy_bulk(base + slot * STAGE + X_BYTES + i * 128, from, PART * 128, full(slot));
        }
        if (bias_bytes > 0) copy_bulk(bias(slot), p.bias + first, bias_bytes, full(slot));
    }

    METHOD void fill(u32 thread) const {
        // Each warp has stages whose weights it asks for: that takes one thread a while.
        const u32 piece = thread % 8, warp = warp_number() % 4;
        const bool asks = is_elected();
        // Weights do not wait for what comes before.
        if (asks) {
            u32 tile = block_x(), step = 0, first = first_column(tile);
            for (u32 slot = 0; slot < STAGES && tile < tiles; slot++) {
                if (slot % 4 == warp) issue_weights(first, step, slot);
                if (++step < steps) continue;
                step = 0, tile += grid_blocks_x();
                if (tile < tiles) first = first_column(tile);
            }
        }
        u32 slot = 0, parity = 1;
        bool first_round = true;
        for (u32 tile = block_x(); tile < tiles; tile += grid_blocks_x()) {
            // Where a thread's pieces of rows come from; rows past the last are zeros.
            u32 from[X_PIECES], there = 0;
            const u32 row = first_row(tile) + thread / 8, first = first_column(tile);
            UNROLL for (u32 i = 0; i < X_PIECES; i++) {
                const u32 r = minimum(row + 16 * i, p.rows - 1);
                if (row + 16 * i < p.rows) there |= 1u << i;
                from[i] = p.item_rows >= p.rows ? r * p.cols + p.first : (u32)p.row_start(r);
                from[i] += piece * 8;
            }
            if (tile == block_x()) grid_dependency_wait();
            u32 tap = 0, column = 0;
            _Pragma("unroll 1") for (u32 step = 0; step < steps; step++) {
                if (!first_round) {
                    copy_barrier_wait(free(slot), parity);
                    if (asks && slot % 4 == warp) issue_weights(first, step, slot);
                }
                const bool in_row = column + piece * 8 < p.cols;
                UNROLL for (u32 i = 0; i < X_PIECES; i++) {
                    const u32 in_tile = thread / 8 + 16 * i;
                    bool copied = in_row && (there >> i & 1);
                    const f16 *x = p.x + (from[i] + column);
                    if (TAPS > 1) {
                        copied = copied && tap_is_there(first_row(tile) + in_tile, tap);
                        x += (i64)tap_rows(tap) * (i64)p.cols;
                    }
                    const u32 to = base + slot * STAGE + in_tile * 128 + ((piece ^ in_tile % 8) * 16);
                    copy16_or_zero(to, copied ? x : p.x, copied);
                }
                copy_barrier_arrive_copied(full(slot));
                column += STEP_COLS;
                if (TAPS > 1 && column >= p.cols) column = 0, tap++;
                if (++slot == STAGES) slot = 0, parity ^= 1, first_round = false;
            }
        }
    }

    METHOD void multiply(u32 thread) const {
        const u32 group = CONSUMERS == 1 ? 0 : uniform(thread / 128), part = SPLIT == 1 ? 0 : uniform(thread / 128);
        // What is read beside products and written may be another kernel's.
        grid_dependency_wait();
        u32 slot = part, parity = 0;
        // Whether a stage is needed again.
        const bool again = steps > STAGES || tiles > grid_blocks_x();
        for (u32 tile = block_x(); tile < tiles; tile += grid_blocks_x()) {
            f32 c[COLUMNS / 2];
            copy_barrier_wait(full(slot), parity);
            begin(c, bias(slot), part == 0);
            // They stay in these registers.
            UNROLL for (u32 i = 0; i < COLUMNS / 2; i += 16) asm volatile("" : ACCUMULATORS16(c, i));
            u32 before = slot;
            _Pragma("unroll 1") for (u32 step = part; step < steps; step += SPLIT) {
                copy_barrier_wait(full(slot), parity);
                shared_written();
                wgmma_fence();
                const u64 a = rows_of_128(base + slot * STAGE + group * 8192);
                const u64 b = rows_of_128(base + slot * STAGE + X_BYTES);
                UNROLL for (u32 k = 0; k < 4; k++) wgmma_shared<COLUMNS>(c, a + 2 * k, b + 2 * k);
                wgmma_commit();
                if (step > part && again) {
                    wgmma_wait<1>();
                    release(before);
                }
                before = slot, slot += SPLIT;
                if (slot >= STAGES) slot -= STAGES, parity ^= 1;
            }
            wgmma_wait<0>();
            release(before);
            UNROLL for (u32 i = 0; i < COLUMNS / 2; i += 16) asm volatile("" : ACCUMULATORS16(c, i));
            if (SPLIT > 1) {
                add_parts(c, part, thread % 128);
                if (part > 0) continue;
            }
            store(c, first_row(tile) + group * 64 + thread % 128 / 32 * 16, first_column(tile));
        }
    }

    // The first warpgroup gets the sums of all, added in their order.
    METHOD void add_parts(f32 *c, u32 part, u32 thread) const {
        const u32 at = base + PARTS + thread * 4;
        if (part > 0)
            UNROLL for (u32 i = 0; i < COLUMNS / 2; i++)
                asm volatile("st.shared.f32 [%0], %1;" ::"r"(at + ((part - 1) * (COLUMNS / 2) + i) * 512), "f"(c[i]) : "memory");
        asm volatile("bar.sync 1, %0;" ::"n"(MULTIPLY) : "memory");
        if (part == 0)
            UNROLL for (u32 other = 0; other + 1 < SPLIT; other++) UNROLL for (u32 i = 0; i < COLUMNS / 2; i++) {
                f32 v;
                asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(at + (other * (COLUMNS / 2) + i) * 512));
                c[i] += v;
            }
        // What is read here is written for the next tile.
        if (tiles > grid_blocks_x()) asm volatile("bar.sync 1, %0;" ::"n"(MULTIPLY) : "memory");
    }

    // A warp is done with a stage.
    METHOD void release(u32 stage) const {
        if (is_elected()) copy_barrier_arrive(free(stage));
    }

    // Sums begin with the bias; without branches, between which they could not stay in their registers.
    METHOD void begin(f32 *c, u32 from, bool adds) const {
        const u32 mask = p.bias && adds ? 0xffffffffu : 0;
        UNROLL for (u32 i = 0; i < COLUMNS / 8; i++) {
            u32 x, y;
            asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "r"(from + i * 32 + lane_id() % 4 * 8));
            c[4 * i] = c[4 * i + 2] = bits_f32(x & mask), c[4 * i + 1] = c[4 * i + 3] = bits_f32(y & mask);
        }
    }

    // Stores sums of 16 rows.
    METHOD void store(f32 *c, u32 first_row, u32 first_column) const {
        const u32 lane = lane_id(), row = first_row + lane / 4, column = first_column + lane % 4 * 2;
        if (p.residual) {
            UNROLL for (u32 i = 0; i < COLUMNS / 4; i++) {
                const u32 r = minimum(row + i % 2 * 8, p.rows - 1), o = minimum(column + i / 2 * 8, p.columns - 2);
                const f16x2 pair = {load4(p.residual + (u64)r * p.columns + o)};
                c[2 * i] += low(pair), c[2 * i + 1] += high(pair);
            }
        }
        if (p.activation != NONE) activate<COLUMNS / 2>(c, p.activation);
        store_rows<COLUMNS>(c, base + STAGED + uniform(thread_x() / 32) * staged_bytes(COLUMNS), pair_bits, [&](u32 in_tile, u32 o) {
            const u32 r = first_row + in_tile;
            const bool there = r < p.rows && first_column + o < p.columns;
            return there ? (u16 *)p.y + (u64)r * p.columns + (first_column + o) : nullptr;
        });
    }
};
#define WARPGROUP_KERNEL(NAME, CONSUMERS, COLUMNS, STAGES, TAPS, SPLIT)                                       \
    KERNEL_WAVES((CONSUMERS * SPLIT + 1) * 128, CONSUMERS * SPLIT + 1) void NAME(PRODUCT_PARAMETERS(f16, u8)) {               \
        DYNAMIC_SHARED(memory);                                                                               \
        typedef WarpgroupProduct<CONSUMERS, COLUMNS, STAGES, TAPS, SPLIT> Product;                             \
        const u32 base = (shared_address(memory) + 1023) / 1024 * 1024, across = divide_up(columns, COLUMNS); \
        const ProductF16 p = PRODUCT_ARGUMENTS;                                                               \
        Product{p, base, across, TAPS * divide_up(cols, STEP_COLS), across * divide_up(rows, Product::ROWS)}.run(); \
    }
WARPGROUP_KERNEL(mlxrocm_network_product_warpgroup_256, 2, 256, 4, 1, 1)
WARPGROUP_KERNEL(mlxrocm_network_product_warpgroup_192, 2, 192, 5, 1, 1)
WARPGROUP_KERNEL(mlxrocm_network_product_warpgroup_64, 2, 64, 8, 1, 1)
WARPGROUP_KERNEL(mlxrocm_network_product_warpgroup_32, 1, 32, 16, 1, 1)
WARPGROUP_KERNEL(mlxrocm_network_product_warpgroup_split, 1, 32, 16, 1, 4)
WARPGROUP_KERNEL(mlxrocm_network_conv_warpgroup_256, 2, 256, 4, 9, 1)
WARPGROUP_KERNEL(mlxrocm_network_conv_warpgroup_64, 2, 64, 8, 9, 1)
WARPGROUP_KERNEL(mlxrocm_network_conv_warpgroup_32, 1, 32, 16, 9, 1)
#endif
