// Products of networks in f16 (product.h) by the matrix unit of NVIDIA's compute capability 9.0, x and W from
// shared memory. The sums' order is that of taps and columns of x, whatever the block is: a row gets the same bits
// in any batch.
//
// Launch: WARPGROUPS · 128 threads; grid (columns / COLUMNS, rows / (64 · WARPGROUPS)), rounded up, so that blocks that
// share rows of x run together. A ring of STAGES steps of 64 columns lies in shared memory (dynamic): rows of x come by
// asynchronous copies of 16 bytes, which also gather the squares of a tap, the block's part of tiles of W by bulk
// copies. x: rows of a multiple of 8 numbers.
//
// On an H200 128 by 128 with two blocks a multiprocessor reach 465 TFLOPS (16,384 rows, 768 by 2,304). 128 by 256 with
// one block, two steps of products in flight, were 4 % slower: nothing hides the end of a block there.
#include "common/warpgroup_nvidia.h"
#include "ops/network/product.h"

#if PLATFORM_NVIDIA && defined(__CUDA_ARCH_FEAT_SM90_ALL)

// TAPS: 1 or 9.
template <u32 WARPGROUPS, u32 COLUMNS, u32 STAGES, u32 TAPS> struct WarpgroupProduct {
    static constexpr u32 THREADS = WARPGROUPS * 128, ROWS = WARPGROUPS * 64;
    static constexpr u32 X_BYTES = ROWS * 128, W_BYTES = COLUMNS * 128, STAGE = X_BYTES + W_BYTES;
    // Steps whose copies are on the way while one is multiplied.
    static constexpr u32 X_PIECES = ROWS * 8 / THREADS, AHEAD = STAGES - 1;
    // Results take the stages' place.
    static constexpr u32 RESULT_STRIDE = COLUMNS + 8;
    static_assert(ROWS * RESULT_STRIDE * 4 <= STAGES * STAGE, "results have room");

    DEVICE void run(const ProductF16 &p, u8 *dynamic) {
        const u32 thread = thread_x(), piece = thread % 8;
        const u32 first_row = block_y() * ROWS, first_column = block_x() * COLUMNS;
        const u32 offset = (1024 - shared_address(dynamic) % 1024) % 1024;
        u8 *memory = dynamic + offset;
        const u32 base = shared_address(memory), full = base + STAGES * STAGE;
        const u32 across = divide_up(p.cols, STEP_COLS), steps = TAPS * across;
        const u8 *weights = p.weights + (u64)(first_column / 128) * steps * TILE_BYTES + first_column % 128 * 128;
        // A thread's pieces of rows: where they come from and where in a stage they go; rows past the last are zeros.
        const f16 *from[X_PIECES];
        u32 to[X_PIECES], there = 0;
        UNROLL for (u32 i = 0; i < X_PIECES; i++) {
            const u32 in_block = thread / 8 + THREADS / 8 * i, row = first_row + in_block;
            if (row < p.rows) there |= 1u << i;
            from[i] = p.x + p.row_start(row < p.rows ? row : p.rows - 1) + piece * 8;
            to[i] = base + in_block * 128 + ((piece ^ in_block % 8) * 16);
        }
        if (thread == 0) {
            UNROLL for (u32 i = 0; i < STAGES; i++) copy_barrier_init(full + 8 * i);
            copy_barrier_fence();
        }
        barrier();
        u32 tap = 0, column = 0, issued = 0, slot = 0;
        auto issue_weights = [&](u32 step, u32 stage) {
            copy_barrier_expect(full + 8 * stage, W_BYTES);
            copy_bulk(base + stage * STAGE + X_BYTES, weights + (u64)step * TILE_BYTES, W_BYTES, full + 8 * stage);
        };
        auto issue_rows = [&]() {
            if (issued < steps) {
                const bool in_row = column + piece * 8 < p.cols;
                UNROLL for (u32 i = 0; i < X_PIECES; i++) {
                    const u32 row = first_row + thread / 8 + THREADS / 8 * i;
                    const bool copied = in_row && (there >> i & 1) && (TAPS == 1 || tap_is_there(row, tap));
                    const f16 *x = from[i] + column;
                    if (TAPS > 1) x += (i64)tap_rows(tap) * (i64)p.cols;
                    copy16_or_zero(to[i] + slot * STAGE, copied ? x : p.x, copied);
                }
                column += STEP_COLS;
                if (TAPS > 1 && column >= p.cols) column = 0, tap++;
                issued++;
                slot = slot + 1 == STAGES ? 0 : slot + 1;
            }
            copy_commit();
        };
        // Weights do not wait for what comes before.
        if (thread == 0)
            for (u32 i = 0; i < AHEAD && i < steps; i++) issue_weights(i, i);
        grid_dependency_launch();
        grid_dependency_wait();
        UNROLL for (u32 i = 0; i < AHEAD; i++) issue_rows();
        f32 c[COLUMNS / 2];
        UNROLL for (u32 i = 0; i < COLUMNS / 2; i++) c[i] = 0.0f;
        u32 stage = 0, parity = 0;
        for (u32 step = 0; step < steps; step++) {
            copy_wait<AHEAD - 1>();
            copy_barrier_wait(full + 8 * stage, parity);
            shared_written();
            barrier();
            wgmma_fence();
            const u64 a = rows_of_128(base + stage * STAGE + thread / 128 * 8192);
            const u64 b = rows_of_128(base + stage * STAGE + X_BYTES);
            UNROLL for (u32 k = 0; k < 4; k++) wgmma_shared<COLUMNS>(c, a + 2 * k, b + 2 * k);
            wgmma_commit();
            // All have the step before behind them: its stage is filled again.
            if (thread == 0 && step + AHEAD < steps) issue_weights(step + AHEAD, slot);
            issue_rows();
            wgmma_wait<0>();
            if (++stage == STAGES) stage = 0, parity ^= 1;
        }
        UNROLL for (u32 i = 0; i < COLUMNS / 2; i += 16) asm volatile("" : ACCUMULATORS16(c, i));
        store(p, (f32 *)memory, c, first_row, first_column);
    }

    // By way of shared memory, so that a thread has neighbouring numbers of a row.
    DEVICE void store(const ProductF16 &p, f32 *results, const f32 *c, u32 first_row, u32 first_column) {
        const u32 thread = thread_x(), lane = thread % 32;
        const u32 row = thread / 32 * 16 + lane / 4, column = lane % 4 * 2;
        barrier();
        UNROLL for (u32 i = 0; i < COLUMNS / 2; i += 2)
            *(f32x2 *)(results + (row + i / 2 % 2 * 8) * RESULT_STRIDE + column + i / 4 * 8) = f32x2{c[i], c[i + 1]};
        barrier();
        constexpr u32 PIECES = COLUMNS / 8;
        const u32 from = thread % PIECES * 8, o = first_column + from;
        if (o >= p.columns) return;
        const bool whole = p.columns % 8 == 0;
        f32 bias[8];
        UNROLL for (u32 j = 0; j < 8; j++) bias[j] = p.bias && o + j < p.columns ? p.bias[o + j] : 0.0f;
        _Pragma("unroll 1") for (u32 m = thread / PIECES; m < ROWS; m += THREADS / PIECES) {
            const u32 r = first_row + m;
            if (r >= p.rows) break;
            const f32x4 low4 = load_f32x4(results + m * RESULT_STRIDE + from);
            const f32x4 high4 = load_f32x4(results + m * RESULT_STRIDE + from + 4);
            f32 v[8] = {low4.x, low4.y, low4.z, low4.w, high4.x, high4.y, high4.z, high4.w};
            const u64 at = (u64)r * p.columns + o;
            u32x4 beside = {0, 0, 0, 0};
            if (p.residual && whole) beside = load16(p.residual + at);
            UNROLL for (u32 j = 0; j < 8; j++) v[j] += bias[j];
            if (p.residual && whole) {
                UNROLL for (u32 j = 0; j < 4; j++) {
                    const f16x2 pair = {word(beside, j)};
                    v[2 * j] += low(pair), v[2 * j + 1] += high(pair);
                }
            } else if (p.residual) {
                UNROLL for (u32 j = 0; j < 8; j++) v[j] += o + j < p.columns ? p.beside(r, o + j) : 0.0f;
            }
            if (p.activation != NONE) activate<8>(v, p.activation);
            if (whole) {
                store16(p.y + at, u32x4{pair_bits(v[0], v[1]), pair_bits(v[2], v[3]), pair_bits(v[4], v[5]),
                                        pair_bits(v[6], v[7])});
            } else {
                UNROLL for (u32 j = 0; j < 8; j++)
                    if (o + j < p.columns) p.store(r, o + j, v[j]);
            }
        }
    }
};
#define WARPGROUP_KERNEL(NAME, WARPGROUPS, COLUMNS, STAGES, WAVES, TAPS)                     \
    KERNEL_WAVES(WARPGROUPS * 128, WAVES) void NAME(PRODUCT_PARAMETERS(f16, u8)) {                 \
        DYNAMIC_SHARED(memory);                                                                   \
        WarpgroupProduct<WARPGROUPS, COLUMNS, STAGES, TAPS>::run(PRODUCT_ARGUMENTS, memory); \
    }
WARPGROUP_KERNEL(mlxrocm_network_product_warpgroup, 2, 128, 3, 4, 1)
WARPGROUP_KERNEL(mlxrocm_network_product_warpgroup_small, 1, 32, 8, 2, 1)
WARPGROUP_KERNEL(mlxrocm_network_conv_warpgroup, 2, 128, 3, 4, 9)
WARPGROUP_KERNEL(mlxrocm_network_conv_warpgroup_small, 1, 32, 8, 2, 9)
#endif
