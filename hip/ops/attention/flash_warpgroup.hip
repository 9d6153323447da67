// Attention of many queries of one sequence, as flash.hip has it, by the matrix unit of NVIDIA's compute
// capability 9.0 (wgmma): scores of a warpgroup's 64 queries and 64 keys at a time, both from shared memory;
// weights go from registers, values from shared memory as they lie.
//
// Launch: 128 threads, or 256 where an even number of query heads shares a key head; grid (tiles, heads),
// or half as many. A warpgroup has a head, those of a block share keys and values. The next KEYS keys and
// values are copied to shared memory meanwhile, rows of 128 bytes (64 columns), pieces of 16 bytes swapped as
// the unit wants them: piece i of row r lies at i ^ (r % 8).
// Dynamic shared memory: 1024 + warpgroups · QUERIES · DIM · 2 + 2 · 2 · KEYS · DIM · 2.
#include "common/warpgroup_nvidia.h"
#include "ops/attention/flash.h"

#define KEYS 64

#if PLATFORM_NVIDIA && defined(__CUDA_ARCH_FEAT_SM90_ALL)

// Where column `d` of row `r` lies among rows of 128 bytes, `rows` of them before the next 64 columns.
DEVICE u32 swapped(u32 rows, u32 r, u32 d) {
    return d / 64 * rows * 128 + r * 128 + ((d / 8 % 8 ^ r % 8) * 16) + d % 8 * 2;
}

// DIM: columns of a head, padded.
template <int DIM, int KV> DEVICE void attend(const Flash &p, u8 *memory) {
    constexpr u32 ROWS_AT_ONCE = 2, HALF = KEYS * DIM * 2, STAGE = 2 * HALF;
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 first = p.tiles[2 * block_x()], count = p.tiles[2 * block_x() + 1];
    if (count == 0) return;
    const u32 threads = block_size_x(), thread = thread_x(), warp = thread / 32, lane = thread % 32;
    const u32 group = thread / 128, head = block_y() * (threads / 128) + group;
    const u32 position = p.positions[first];
    if (position == UNUSED) {
        for (u32 i = thread % 128; i < count * p.dim; i += 128)
            p.out[((u64)(first + i / p.dim) * p.heads + head) * p.dim + i % p.dim] = 0.0f;
        return;
    }
    const u32 start = shared_address(memory), base = (start + 1023) / 1024 * 1024;
    u8 *aligned = memory + (base - start);
    const u32 kv_head = head / (p.heads / p.kv_heads), columns = padded<KV>(p.dim);
    const u8 *cache = p.cache + p.layer_start + (u64)kv_head * 2 * tokens_bytes<KV>(p.dim);
    const u32 *pages = p.pages + (u64)p.slots[first] * p.max_pages;
    const u32 last = position + count - 1;
    const u32 begin = p.window && position + 1 > p.window ? position + 1 - p.window : 0;

    // Keys and values outside begin ..= last are zeros.
    auto load = [&](u32 step) {
        u8 *to = aligned + step % 2 * STAGE;
        for (u32 i = thread; i < KEYS * DIM / 8; i += threads) {
            const u32 r = i / (DIM / 8), d = i % (DIM / 8) * 8, j = step * KEYS + r;
            const bool there = j >= begin && j <= last && d < columns;
            const u8 *k = cache + (there ? pages[j / PAGE_TOKENS] : 0) * p.page_stride;
            const u32 at = swapped(KEYS, r, d), column = there ? d : 0;
            UNROLL for (u32 which = 0; which < 2; which++) {
                const u8 *tokens = k + which * tokens_bytes<KV>(p.dim);
                if constexpr (KV == KV_F16) {
                    copy16_async_or_zero(to + which * HALF + at,
                                         piece_codes<KV>(tokens, p.dim, j % PAGE_TOKENS, column), there);
                } else {
                    Piece<KV> piece = {};
                    if (there) piece = load_piece<KV>(tokens, p.dim, j % PAGE_TOKENS, column);
                    store16(to + which * HALF + at, decode<KV>(piece));
                }
            }
        }
        copy_commit();
    };
    u32 step = begin / KEYS;
    load(step);

    // Queries; scores are kept in base 2. Rows past the last are the last again.
    const u32 queries = base + 2 * STAGE + group * QUERIES * DIM * 2;
    for (u32 row = warp % 4 * ROWS_AT_ONCE; row < QUERIES; row += 4 * ROWS_AT_ONCE) {
        Turn<DIM / 32> turns[ROWS_AT_ONCE];
        f32 q[ROWS_AT_ONCE][DIM / 32];
        UNROLL for (u32 i = 0; i < ROWS_AT_ONCE; i++) {
            const u32 r = minimum(row + i, count - 1);
            const f32x2 *rope = p.rope + (u64)(position + r) * p.pairs;
            turns[i] = load_turn<DIM / 32>(p.q_norm, rope, p.pairs, p.interleaved, p.dim, lane);
            const f32 *from = p.q + ((u64)(first + r) * p.heads + head) * p.dim;
            turn_head<DIM / 32>(load_head<DIM / 32>(from, turns[i], p.dim, lane), p.q_norm, p.eps, turns[i], p.dim,
                                p.scale * 1.44269504f, q[i]);
        }
        u8 *to = aligned + (queries - base);
        UNROLL for (u32 i = 0; i < ROWS_AT_ONCE; i++) UNROLL for (u32 n = 0; n < DIM / 32; n++)
            *(u16 *)(to + swapped(QUERIES, row + i, n * 32 + lane)) = to_f16(q[i][n]).bits;
    }

    const u32 g = lane / 4, t = lane % 4;
    const u32 own_first = position + warp % 4 * 16; // of the warp's queries
    f32 sums[DIM / 2], top[2] = {-1e30f, -1e30f}, total[2] = {0.0f, 0.0f};
    UNROLL for (u32 i = 0; i < DIM / 2; i++) sums[i] = 0.0f;
    for (; step * KEYS <= last; step++) {
        const u32 stage = base + step % 2 * STAGE;
        if ((step + 1) * KEYS <= last) {
            load(step + 1);
            copy_wait<1>();
        } else {
            copy_wait<0>();
        }
        shared_written();
        barrier();
        f32 scores[KEYS / 2];
        UNROLL for (u32 i = 0; i < KEYS / 2; i++) scores[i] = 0.0f;
        wgmma_fence();
        UNROLL for (u32 k = 0; k < DIM; k += 16) {
            const u32 at = k % 64 * 2;
            wgmma_64(scores, rows_of_128(queries + k / 64 * QUERIES * 128 + at),
                     rows_of_128(stage + k / 64 * KEYS * 128 + at));
        }
        wgmma_commit();
        wgmma_wait<0>();
        UNROLL for (u32 i = 0; i < KEYS / 2; i += 16) asm volatile("" : ACCUMULATORS16(scores, i));

        // scores[i]: query g + i / 2 % 2 * 8, key i / 4 * 8 + 2 t + i % 2.
        const bool all_seen = step * KEYS >= begin && (step + 1) * KEYS <= own_first + 1 &&
                              (p.window == 0 || step * KEYS + p.window > own_first + 15);
        if (!all_seen) {
            UNROLL for (u32 i = 0; i < KEYS / 2; i++) {
                const u32 at = own_first + g + i / 2 % 2 * 8, j = step * KEYS + i / 4 * 8 + 2 * t + i % 2;
                const bool seen = j >= begin && j <= at && (p.window == 0 || j + p.window > at);
                scores[i] = seen ? scores[i] : -1e30f;
            }
        }
        f32 keep[2];
        UNROLL for (u32 r = 0; r < 2; r++) {
            f32 most = top[r];
            UNROLL for (u32 i = 0; i < KEYS / 2; i += 4)
                most = maximum(most, maximum(scores[i + 2 * r], scores[i + 2 * r + 1]));
            most = maximum(most, shuffle_xor<1>(most));
            most = maximum(most, shuffle_xor<2>(most));
            keep[r] = fast_exp2(top[r] - most);
            top[r] = most, total[r] *= keep[r];
        }
        u32 weights[KEYS / 16][4];
        UNROLL for (u32 i = 0; i < KEYS / 2; i += 2) {
            const u32 r = i / 2 % 2;
            const f32 a = fast_exp2(scores[i] - top[r]), b = fast_exp2(scores[i + 1] - top[r]);
            total[r] += a + b;
            weights[i / 8][i / 4 % 2 * 2 + r] = pack_f16x2(a, b).bits;
        }
        UNROLL for (u32 i = 0; i < DIM / 2; i++) sums[i] *= keep[i / 2 % 2];
        UNROLL for (u32 i = 0; i < DIM / 2; i += 16) asm volatile("" : ACCUMULATORS16(sums, i));
        UNROLL for (u32 k = 0; k < KEYS / 16; k++)
            asm volatile("" : "+r"(weights[k][0]), "+r"(weights[k][1]), "+r"(weights[k][2]), "+r"(weights[k][3]));
        wgmma_fence();
        UNROLL for (u32 k = 0; k < KEYS / 16; k++)
            wgmma_columns<DIM>(sums, weights[k], columns_of_128(stage + HALF + k * 2048, KEYS * 128));
        wgmma_commit();
        wgmma_wait<0>();
        UNROLL for (u32 i = 0; i < DIM / 2; i += 16) asm volatile("" : ACCUMULATORS16(sums, i));
        barrier();
    }
    UNROLL for (u32 r = 0; r < 2; r++) {
        total[r] += shuffle_xor<1>(total[r]);
        total[r] += shuffle_xor<2>(total[r]);
        total[r] = 1.0f / (total[r] + sink_weight(p.sinks, head, top[r]));
    }
    UNROLL for (u32 i = 0; i < DIM / 2; i += 2) {
        const u32 row = warp % 4 * 16 + g + i / 2 % 2 * 8, column = i / 4 * 8 + 2 * t;
        f32 *to = p.out + ((u64)(first + row) * p.heads + head) * p.dim + column;
        if (row < count && column < p.dim) to[0] = sums[i] * total[i / 2 % 2];
        if (row < count && column + 1 < p.dim) to[1] = sums[i + 1] * total[i / 2 % 2];
    }
}

// Of heads of 256 columns one block has a multiprocessor's registers.
#define FLASH_KERNEL(NAME, DIM, KV)                                   \
    KERNEL_WAVES(256, DIM > 128 ? 2 : 4) void NAME(FLASH_PARAMETERS) { \
        DYNAMIC_SHARED(memory);                                       \
        const Flash p = FLASH_ARGUMENTS;                              \
        attend<DIM, KV>(p, memory);                                   \
    }
FLASH_KERNEL(mlxrocm_attention_warpgroup_64, 64, KV_F16)
FLASH_KERNEL(mlxrocm_attention_warpgroup_128, 128, KV_F16)
FLASH_KERNEL(mlxrocm_attention_warpgroup_256, 256, KV_F16)
FLASH_KERNEL(mlxrocm_attention_warpgroup_64_q8, 64, KV_Q8)
FLASH_KERNEL(mlxrocm_attention_warpgroup_128_q8, 128, KV_Q8)
FLASH_KERNEL(mlxrocm_attention_warpgroup_256_q8, 256, KV_Q8)
FLASH_KERNEL(mlxrocm_attention_warpgroup_64_q4, 64, KV_Q4)
FLASH_KERNEL(mlxrocm_attention_warpgroup_128_q4, 128, KV_Q4)
FLASH_KERNEL(mlxrocm_attention_warpgroup_256_q4, 256, KV_Q4)
#endif
