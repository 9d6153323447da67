// attention (attention.hip) of many queries in f16 and bf16 on NVIDIA, for heads of DIM columns and without a mask: 64 queries a
// block, 64 keys at a time, with a running maximum and sum of each query.
//
// Queries, scores, weights and sums stay in registers; scores and sums in f32, weights of values rounded to the dtype.
// Keys are on their way while those before are used, values while the scores are made; a row's pieces of 16 bytes are
// swapped in shared memory, so that eight rows' lie in different banks.
//
// Launch: 4 warps, each of 16 queries; grid (tiles of queries, the last ones first, as they see most keys; batch · heads).
#include "common/matrix_loads_nvidia.h"
#include "common/matrix_nvidia.h"
#include "scores.h"

#if PLATFORM_NVIDIA

DEVICE void multiply(f32 *c, const u32 *a, u32 b0, u32 b1, f16) { matrix_product(c, a, b0, b1); }
DEVICE void multiply(f32 *c, const u32 *a, u32 b0, u32 b1, bf16) { matrix_product_bf16(c, a, b0, b1); }
DEVICE u32 pair_of(f32 low, f32 high, f16) { return pack_f16x2(low, high).bits; }
DEVICE u32 pair_of(f32 low, f32 high, bf16) { return pack_bf16x2(low, high).bits; }

template <typename T, u32 DIM> struct Warps {
    static constexpr u32 ROWS = 64, PIECES = DIM / 8, BYTES = ROWS * DIM * 2;

    // Where a piece of a row lies.
    static METHOD u32 at(u32 row, u32 piece) { return row * DIM * 2 + (piece ^ row % 8) * 16; }
    // Rows of `count`; those past the last become zeros.
    static METHOD void copy(u32 to, const T *from, u32 count) {
        UNROLL for (u32 i = 0; i < ROWS * PIECES / 128; i++) {
            const u32 n = thread_x() + 128 * i, row = n / PIECES, piece = n % PIECES;
            const T *place = from + (u64)minimum(row, count - 1) * DIM + piece * 8;
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to + at(row, piece)), "l"(place),
                         "r"(row < count ? 16 : 0) : "memory");
        }
    }

    static METHOD void run(const Scores<T> &p, const T *q, const T *k, const T *v, T *out, u8 *memory) {
        grid_dependency_launch();
        grid_dependency_wait();
        const u32 lane = lane_id(), own = thread_x() / 32 * 16, group = lane / 4, pair = lane % 4 * 2;
        const u32 keys = shared_address(memory), values = keys + 2 * BYTES;
        const u32 first = (grid_blocks_x() - 1 - block_x()) * ROWS, count = minimum(ROWS, p.rows - first);
        const u32 head = block_y() % p.heads, batch = block_y() / p.heads;
        const u64 of_kv = (u64)(batch * p.kv_heads + head / (p.heads / p.kv_heads)) * p.keys * DIM;
        const u64 of_q = ((u64)block_y() * p.rows + first) * DIM;
        k += of_kv, v += of_kv;
        copy(values, q + of_q, count);
        copy_commit();
        copy(keys, k, p.keys);
        copy_commit();
        copy_wait<1>();
        barrier();
        u32 queries[PIECES / 2][4];
        UNROLL for (u32 c = 0; c < PIECES; c += 2)
            load_matrices(queries[c / 2], values + at(own + lane % 16, c + lane / 16));

        const u32 end = p.seen(first, first + count - 1);
        const f32 scale = p.scale * LOG2_E;
        f32 sums[PIECES][4], top[2] = {nothing(), nothing()}, total[2] = {0.0f, 0.0f};
        UNROLL for (u32 d = 0; d < PIECES; d++) UNROLL for (u32 i = 0; i < 4; i++) sums[d][i] = 0.0f;
        u32 now = keys, next = keys + BYTES;
        for (u32 begin = 0; begin < end; begin += ROWS) {
            // These keys are here, and nobody needs the values and keys before any more.
            copy_wait<0>();
            barrier();
            copy(values, v + (u64)begin * DIM, p.keys - begin);
            copy_commit();
            if (begin + ROWS < end) copy(next, k + (u64)(begin + ROWS) * DIM, p.keys - begin - ROWS);
            copy_commit();
            f32 scores[8][4];
            UNROLL for (u32 n = 0; n < 8; n++) UNROLL for (u32 i = 0; i < 4; i++) scores[n][i] = 0.0f;
            UNROLL for (u32 c = 0; c < PIECES; c += 2) UNROLL for (u32 n = 0; n < 8; n += 2) {
                u32 b[4];
                load_matrices(b, now + at(8 * n + lane / 16 * 8 + lane % 8, c + lane / 8 % 2));
                multiply(scores[n], queries[c / 2], b[0], b[1], T{});
                multiply(scores[n + 1], queries[c / 2], b[2], b[3], T{});
            }
            UNROLL for (u32 n = 0; n < 8; n++) UNROLL for (u32 i = 0; i < 4; i++) scores[n][i] *= scale;
            // Keys that not all of these queries see.
            const bool is_short = p.causal && first + p.keys < p.rows;
            const u32 seen_by_all = p.causal ? minimum(p.keys, first + own + 1 + p.keys - p.rows) : p.keys;
            if (is_short || begin + ROWS > seen_by_all) {
                UNROLL for (u32 n = 0; n < 8; n++) UNROLL for (u32 i = 0; i < 4; i++) {
                    const u32 row = first + own + group + i / 2 * 8, key = begin + 8 * n + pair + i % 2;
                    if (p.causal && key + p.rows > row + p.keys) scores[n][i] = p.hidden();
                    if (key >= p.keys) scores[n][i] = nothing();
                }
            }
            u32 weights[8][2];
            UNROLL for (u32 half = 0; half < 2; half++) {
                f32 most = top[half];
                UNROLL for (u32 n = 0; n < 8; n++)
                    most = maximum(most, maximum(scores[n][2 * half], scores[n][2 * half + 1]));
                most = maximum(most, shuffle_xor<1>(most));
                most = maximum(most, shuffle_xor<2>(most));
                const f32 keep = fade(top[half], most), base = most == nothing() ? 0.0f : most;
                top[half] = most, total[half] *= keep;
                UNROLL for (u32 d = 0; d < PIECES; d++) sums[d][2 * half] *= keep, sums[d][2 * half + 1] *= keep;
                UNROLL for (u32 n = 0; n < 8; n++) {
                    const f32 a = fast_exp2(scores[n][2 * half] - base), b = fast_exp2(scores[n][2 * half + 1] - base);
                    total[half] += a + b;
                    weights[n][half] = pair_of(a, b, T{});
                }
            }
            copy_wait<1>();
            barrier();
            UNROLL for (u32 j = 0; j < 8; j += 2) {
                const u32 a[4] = {weights[j][0], weights[j][1], weights[j + 1][0], weights[j + 1][1]};
                UNROLL for (u32 d = 0; d < PIECES; d += 2) {
                    u32 b[4];
                    load_matrices_turned(b, values + at(8 * j + lane / 8 % 2 * 8 + lane % 8, d + lane / 16));
                    multiply(sums[d], a, b[0], b[1], T{});
                    multiply(sums[d + 1], a, b[2], b[3], T{});
                }
            }
            const u32 free = now;
            now = next, next = free;
        }
        UNROLL for (u32 half = 0; half < 2; half++) {
            total[half] += shuffle_xor<1>(total[half]);
            total[half] += shuffle_xor<2>(total[half]);
            const f32 share = 1.0f / (total[half] + p.sink_weight(head, top[half]));
            const u32 row = own + group + 8 * half;
            if (row < count) UNROLL for (u32 d = 0; d < PIECES; d++)
                *(u32 *)(out + of_q + (u64)row * DIM + d * 8 + pair) =
                    pair_of(sums[d][2 * half] * share, sums[d][2 * half + 1] * share, T{});
        }
    }
};

#define WARPS_KERNEL(NAME, T, DIM)                                                                                    \
    KERNEL(128)                                                                                                       \
    void NAME(const T *q, const T *k, const T *v, const void *mask, const T *sinks, T *out, SCORES_PARAMETERS) {      \
        SHARED __attribute__((aligned(128))) u8 memory[3 * Warps<T, DIM>::BYTES];                                     \
        const Scores<T> p = SCORES_ARGUMENTS;                                                                         \
        Warps<T, DIM>::run(p, q, k, v, out, memory);                                                                  \
    }
WARPS_KERNEL(mlxrocm_array_attention_warps_64_f16, f16, 64)
WARPS_KERNEL(mlxrocm_array_attention_warps_64_bf16, bf16, 64)
WARPS_KERNEL(mlxrocm_array_attention_warps_128_f16, f16, 128)
WARPS_KERNEL(mlxrocm_array_attention_warps_128_bf16, bf16, 128)
#endif
