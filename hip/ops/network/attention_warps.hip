// Attention of networks (attention.h) in f16 on NVIDIA: 64 rows, 64 keys, heads of DIM columns that begin at multiples
// of 8 numbers. Scores, weights and sums stay in registers; scores and sums in f32, weights of values rounded to
// f16, which the sum that they are divided by has too.
//
// Launch: 4 warps, each of 16 queries; grid (heads, items). All that a block reads comes by asynchronous copies at
// once. A row's pieces of 16 bytes are swapped in shared memory, so that eight rows' lie in different banks.
#include "common/matrix_loads_nvidia.h"
#include "common/matrix_nvidia.h"
#include "ops/network/attention.h"
#include "ops/network/turn.h"

#if PLATFORM_NVIDIA

template <u32 DIM> struct WarpAttention {
    static constexpr u32 PIECES = DIM / 8, SIDE_BYTES = MOST_ROWS * DIM * 2, TILES = DIM / 8;
    static constexpr u32 BYTES = 3 * SIDE_BYTES + MOST_ROWS * MOST_ROWS * 2;

    // Where a piece of a row lies.
    static METHOD u32 at(u32 row, u32 piece) {
        return row * DIM * 2 + (DIM == 32 ? piece ^ row / 2 % 4 : piece ^ row % 8) * 16;
    }
    static METHOD u32 bias_at(u32 row, u32 piece) { return row * 128 + (piece ^ row % 8) * 16; }

    static METHOD void copy(const f16 *from, u32 of_row, u32 to) {
        UNROLL for (u32 i = 0; i < MOST_ROWS * PIECES / 128; i++) {
            const u32 n = thread_x() + 128 * i, row = n / PIECES, piece = n % PIECES;
            copy16(to + at(row, piece), from + (u64)row * of_row + piece * 8);
        }
    }
    static METHOD void copy16(u32 to, const f16 *from) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
    }

    static METHOD void run(const NetworkAttention<f16> &p, u8 *memory) {
        grid_dependency_launch();
        grid_dependency_wait();
        const u32 head = block_x(), item = block_y(), of_kv = head / (p.heads / p.kv_heads);
        const u32 lane = lane_id(), first = thread_x() / 32 * 16, group = lane / 4, pair = lane % 4 * 2;
        const u32 q = shared_address(memory), k = q + SIDE_BYTES, v = k + SIDE_BYTES, biases = v + SIDE_BYTES;
        copy(p.q.head(item, head), p.q.of_row, q);
        copy(p.k.head(item, of_kv), p.k.of_row, k);
        copy_commit();
        if (p.bias) {
            const f16 *bias = p.bias + ((u64)item * p.heads + head) * MOST_ROWS * MOST_ROWS;
            UNROLL for (u32 i = 0; i < 4; i++) {
                const u32 n = thread_x() + 128 * i;
                copy16(biases + bias_at(n / 8, n % 8), bias + n * 8);
            }
        }
        copy(p.v.head(item, of_kv), p.v.of_row, v);
        copy_commit();
        copy_wait<1>();
        barrier();
        f32 scores[8][4];
        UNROLL for (u32 n = 0; n < 8; n++) UNROLL for (u32 i = 0; i < 4; i++) scores[n][i] = 0.0f;
        UNROLL for (u32 c = 0; c < PIECES; c += 2) {
            u32 a[4];
            load_matrices(a, q + at(first + lane % 16, c + lane / 16));
            UNROLL for (u32 n = 0; n < 8; n += 2) {
                u32 b[4];
                load_matrices(b, k + at(8 * n + lane / 16 * 8 + lane % 8, c + lane / 8 % 2));
                matrix_product(scores[n], a, b[0], b[1]);
                matrix_product(scores[n + 1], a, b[2], b[3]);
            }
        }
        copy_wait<0>();
        barrier();
        const f32 scale = p.scale * 1.44269504f;
        f32 top[2] = {-3.0e38f, -3.0e38f}, total[2] = {0.0f, 0.0f};
        UNROLL for (u32 n = 0; n < 8; n++) UNROLL for (u32 half = 0; half < 2; half++) {
            f32 *s = scores[n] + 2 * half;
            s[0] *= scale, s[1] *= scale;
            if (p.bias) {
                u32 bits;
                asm volatile("ld.shared.u32 %0, [%1];"
                             : "=r"(bits)
                             : "r"(biases + bias_at(first + group + 8 * half, n) + pair * 2));
                s[0] += low(f16x2{bits}) * 1.44269504f, s[1] += high(f16x2{bits}) * 1.44269504f;
            }
            top[half] = maximum(top[half], maximum(s[0], s[1]));
        }
        UNROLL for (u32 half = 0; half < 2; half++) {
            top[half] = maximum(top[half], shuffle_xor<1>(top[half]));
            top[half] = maximum(top[half], shuffle_xor<2>(top[half]));
        }
        u32 weights[8][2];
        UNROLL for (u32 n = 0; n < 8; n++) UNROLL for (u32 half = 0; half < 2; half++) {
            const f32 *s = scores[n] + 2 * half;
            const f16x2 two = pack_f16x2(fast_exp2(s[0] - top[half]), fast_exp2(s[1] - top[half]));
            total[half] += low(two) + high(two);
            weights[n][half] = two.bits;
        }
        UNROLL for (u32 half = 0; half < 2; half++) {
            total[half] += shuffle_xor<1>(total[half]);
            total[half] = 1.0f / (total[half] + shuffle_xor<2>(total[half]));
        }
        f32 sums[TILES][4];
        UNROLL for (u32 d = 0; d < TILES; d++) UNROLL for (u32 i = 0; i < 4; i++) sums[d][i] = 0.0f;
        UNROLL for (u32 j = 0; j < 8; j += 2) {
            const u32 a[4] = {weights[j][0], weights[j][1], weights[j + 1][0], weights[j + 1][1]};
            UNROLL for (u32 d = 0; d < TILES; d += 2) {
                u32 b[4];
                load_matrices_turned(b, v + at(8 * j + lane / 8 % 2 * 8 + lane % 8, d + lane / 16));
                matrix_product(sums[d], a, b[0], b[1]);
                matrix_product(sums[d + 1], a, b[2], b[3]);
            }
        }
        UNROLL for (u32 d = 0; d < TILES; d += 4) UNROLL for (u32 half = 0; half < 2; half++) {
            u32 w[4];
            UNROLL for (u32 i = 0; i < 4; i++) {
                const f32 *s = sums[d + i] + 2 * half;
                w[i] = pair_bits(s[0] * total[half], s[1] * total[half]);
            }
            turn(w);
            f16 *out = p.place(item, head, first + group + 8 * half) + (d + lane % 4) * 8;
            store16(out, u32x4{w[0], w[1], w[2], w[3]});
        }
    }
};

#define WARPS_KERNEL(NAME, DIM, WAVES)                                                   \
    KERNEL_WAVES(128, WAVES) void NAME(ATTENTION_PARAMETERS(f16)) {                      \
        SHARED __attribute__((aligned(128))) u8 memory[WarpAttention<DIM>::BYTES];       \
        const NetworkAttention<f16> p = ATTENTION_ARGUMENTS;                             \
        WarpAttention<DIM>::run(p, memory);                                              \
    }
WARPS_KERNEL(mlxrocm_network_attention_warps_32, 32, 7)
WARPS_KERNEL(mlxrocm_network_attention_warps_64, 64, 5)
#endif
