// Products of two matrices of every item (scores.hip) in f16 on NVIDIA: 64 rows of a and of b, `cols` a multiple of
// 64, places multiples of 8.
//
// Launch: 4 warps, each of 16 rows of a; grid (1, items). Steps of 64 columns come by asynchronous copies, up to two
// ahead. A row's pieces of 16 bytes are swapped in shared memory, so that eight rows' lie in different banks.
#include "common/matrix_loads_nvidia.h"
#include "common/matrix_nvidia.h"
#include "ops/network/numbers.h"

#if PLATFORM_NVIDIA

#define SCORES_SIDE 64
#define SCORES_SLOTS 3

DEVICE u32 place_in_step(u32 row, u32 piece) { return row * 128 + (piece ^ row % 8) * 16; }
DEVICE void copy_step(const f16 *from, u32 cols, u32 to) {
    UNROLL for (u32 i = 0; i < SCORES_SIDE * 8 / 128; i++) {
        const u32 n = thread_x() + 128 * i, row = n / 8, piece = n % 8;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + place_in_step(row, piece)),
                     "l"(from + (u64)row * cols + piece * 8)
                     : "memory");
    }
}

KERNEL(128) void mlxrocm_network_scores_warps(const f16 *a, const f16 *b, f32 *out, u32 cols, u32 a_item, u32 a_first, u32 b_item,
                                              u32 b_first, f32 scale) {
    SHARED __attribute__((aligned(128))) u8 memory[SCORES_SLOTS * 2 * SCORES_SIDE * 128];
    grid_dependency_launch();
    grid_dependency_wait();
    constexpr u32 SIDE_BYTES = SCORES_SIDE * 128;
    const u32 lane = lane_id(), first = thread_x() / 32 * 16, base = shared_address(memory), steps = cols / 64;
    const f16 *x = a + (u64)block_y() * a_item + a_first, *y = b + (u64)block_y() * b_item + b_first;
    auto copy = [&](u32 step) {
        if (step < steps) {
            const u32 to = base + step % SCORES_SLOTS * 2 * SIDE_BYTES;
            copy_step(x + step * 64, cols, to), copy_step(y + step * 64, cols, to + SIDE_BYTES);
        }
        copy_commit();
    };
    copy(0), copy(1);
    f32 sums[8][4];
    UNROLL for (u32 n = 0; n < 8; n++) UNROLL for (u32 i = 0; i < 4; i++) sums[n][i] = 0.0f;
    for (u32 step = 0; step < steps; step++) {
        copy_wait<1>();
        barrier();
        copy(step + 2);
        const u32 of_a = base + step % SCORES_SLOTS * 2 * SIDE_BYTES, of_b = of_a + SIDE_BYTES;
        UNROLL for (u32 c = 0; c < 8; c += 2) {
            u32 rows[4];
            load_matrices(rows, of_a + place_in_step(first + lane % 16, c + lane / 16));
            UNROLL for (u32 n = 0; n < 8; n += 2) {
                u32 columns[4];
                load_matrices(columns, of_b + place_in_step(8 * n + lane / 16 * 8 + lane % 8, c + lane / 8 % 2));
                matrix_product(sums[n], rows, columns[0], columns[1]);
                matrix_product(sums[n + 1], rows, columns[2], columns[3]);
            }
        }
    }
    UNROLL for (u32 n = 0; n < 8; n++) UNROLL for (u32 half = 0; half < 2; half++) {
        const u64 row = (u64)block_y() * SCORES_SIDE + first + lane / 4 + 8 * half;
        const u32x2 two = {f32_bits(sums[n][2 * half] * scale), f32_bits(sums[n][2 * half + 1] * scale)};
        store8(out + row * SCORES_SIDE + n * 8 + lane % 4 * 2, two);
    }
}
#endif
