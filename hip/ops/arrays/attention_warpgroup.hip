// attention (attention.hip) of many queries in f16 and bf16 by the matrix unit of NVIDIA's compute capability 9.0, for heads of
// DIM columns, without a mask; where it is causal there are at least as many keys as queries. The scale is above 0.
//
// Scores, weights and sums stay in registers; scores and sums in f32, weights of values rounded to the dtype. While the
// weights of some keys are made, the unit multiplies those before with values.
//
// Launch: 384 threads; grid (batch · heads, tiles of 128 queries, the last ones first, as they see most keys). The last
// warpgroup copies 128 keys or values after the other to a ring of SLOTS in shared memory (dynamic: 1024 + (1 + SLOTS) · 256 ·
// DIM + 72 bytes), each of the others has 64 queries.
#include "scores.h"
#include "warpgroup_tiles.h"

#if PLATFORM_NVIDIA && defined(__CUDA_ARCH_FEAT_SM90_ALL)

// c += a · b of m64nNk16, a from registers, rows of b are k.
#define VALUES_64(TYPE)                                                                                             \
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32." TYPE "." TYPE " {" WGMMA_32 "}, {%32,%33,%34,%35}, %36, 1, 1, 1, 1;" \
                 : ACCUMULATORS16(c, 0), ACCUMULATORS16(c, 16)                                                      \
                 : WGMMA_A(a), "l"(b)                                                                               \
                 : "memory")
#define VALUES_128(TYPE)                                                                                            \
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32." TYPE "." TYPE " {" WGMMA_64 "}, {%64,%65,%66,%67}, %68, 1, 1, 1, 1;" \
                 : ACCUMULATORS16(c, 0), ACCUMULATORS16(c, 16), ACCUMULATORS16(c, 32), ACCUMULATORS16(c, 48)        \
                 : WGMMA_A(a), "l"(b)                                                                               \
                 : "memory")
template <u32 DIM, bool IS_BF16> DEVICE void weigh(f32 *c, const u32 *a, u64 b) {
    if constexpr (DIM == 64 && IS_BF16) VALUES_64("bf16");
    if constexpr (DIM == 64 && !IS_BF16) VALUES_64("f16");
    if constexpr (DIM == 128 && IS_BF16) VALUES_128("bf16");
    if constexpr (DIM == 128 && !IS_BF16) VALUES_128("f16");
}

template <typename T, u32 DIM, bool IS_BF16> struct Warpgroups {
    static constexpr u32 ROWS = 128, KEYS = 128, SLOTS = 4, HALF = KEYS * 128, SIDE = DIM / 64 * HALF, BARRIERS = (1 + SLOTS) * SIDE;

    const Scores<T> &p;
    const u16 *q, *k, *v;
    u16 *out;
    u32 base, head, first, steps;

    METHOD u32 slot(u32 i) const { return base + (1 + i) * SIDE; }
    // Queries are here; a slot is full, it is free.
    METHOD u32 asked() const { return base + BARRIERS; }
    METHOD u32 full(u32 i) const { return base + BARRIERS + 8 + 8 * i; }
    METHOD u32 free(u32 i) const { return full(SLOTS + i); }

    METHOD void run() const {
        const u32 thread = thread_x();
        if (thread == 0) {
            copy_barrier_init(asked(), 128);
            UNROLL for (u32 i = 0; i < SLOTS; i++) {
                copy_barrier_init(full(i), 128);
                copy_barrier_init(free(i), 8);
            }
            copy_barrier_fence();
        }
        barrier();
        grid_dependency_launch();
        grid_dependency_wait();
        if (thread >= 256) {
            asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
            fill(thread - 256);
        } else {
            asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
            attend(thread);
        }
    }

    static METHOD void copy(u32 to, const u16 *x, u32 first, u32 rows, u32 thread) {
        UNROLL for (u32 part = 0; part < DIM / 64; part++)
            copy_along<128>(to + part * HALF, x, DIM, first, rows, part * 64, DIM, thread);
    }
    // Keys 0, keys 1, values 0, keys 2, values 1, …
    METHOD void fill(u32 thread) const {
        copy(base, q, first, p.rows, thread);
        copy_barrier_arrive_copied(asked());
        u32 at = 0, parity = 1;
        _Pragma("unroll 1") for (u32 i = 1; i < 2 * steps + 1; i++) {
            // Behind the first and before the last, keys and values by turns.
            const bool values = i == 2 * steps || (i > 1 && i % 2 == 1);
            const u32 step = i == 2 * steps ? steps - 1 : i == 1 ? 0 : values ? (i - 3) / 2 : i / 2;
            copy_barrier_wait(free(at), parity);
            copy(slot(at), values ? v : k, step * KEYS, p.keys, thread);
            copy_barrier_arrive_copied(full(at));
            if (++at == SLOTS) at = 0, parity ^= 1;
        }
    }

    METHOD void attend(u32 thread) const {
        const u32 group = uniform(thread / 128), lane = lane_id();
        const u32 own = first + group * 64 + thread % 128 / 32 * 16; // of the warp's queries
        const u32 queries = base + group * 8192;
        const f32 scale = p.scale * LOG2_E;
        f32 sums[DIM / 2], scores[KEYS / 2], top[2] = {nothing(), nothing()}, total[2] = {0.0f, 0.0f}, keep[2];
        u32 weights[KEYS / 16][4];
        UNROLL for (u32 i = 0; i < DIM / 2; i++) sums[i] = 0.0f;
        u32 at = 0, parity = 0;
        copy_barrier_wait(asked(), 0);
        score(scores, queries, slot(at), full(at), parity);
        wgmma_wait<0>();
        release(at, parity);
        hold<KEYS / 2>(scores);
        weigh_keys(scores, top, total, keep, scale, own, 0, lane);
        pack(weights, scores);
        _Pragma("unroll 1") for (u32 step = 0; step + 1 < steps; step++) {
            hold_all(sums, weights);
            score(scores, queries, slot(at), full(at), parity);
            const u32 of_values = at + 1 == SLOTS ? 0 : at + 1;
            values(sums, weights, slot(of_values), full(of_values), of_values ? parity : parity ^ 1);
            wgmma_wait<1>();
            release(at, parity);
            hold<KEYS / 2>(scores);
            weigh_keys(scores, top, total, keep, scale, own, (step + 1) * KEYS, lane);
            wgmma_wait<0>();
            release(at, parity);
            hold<DIM / 2>(sums);
            UNROLL for (u32 i = 0; i < DIM / 2; i++) sums[i] *= keep[i / 2 % 2];
            // Only now: until here the unit read the weights before.
            hold<KEYS / 2>(scores);
            pack(weights, scores);
        }
        hold_all(sums, weights);
        values(sums, weights, slot(at), full(at), parity);
        wgmma_wait<0>();
        hold<DIM / 2>(sums);
        f32 share[2];
        UNROLL for (u32 r = 0; r < 2; r++) {
            total[r] += shuffle_xor<1>(total[r]);
            total[r] += shuffle_xor<2>(total[r]);
            share[r] = 1.0f / (total[r] + p.sink_weight(head, top[r] * scale));
        }
        UNROLL for (u32 i = 0; i < DIM / 2; i++) sums[i] *= share[i / 2 % 2];
        store_sums<DIM, IS_BF16>(sums, [&](u32 r, u32 o) { return own + r < p.rows ? out + (u64)(own + r) * DIM + o : nullptr; });
    }
    // They stay in these registers.
    template <u32 COUNT> static METHOD void hold(f32 *c) { UNROLL for (u32 i = 0; i < COUNT; i += 16) asm volatile("" : ACCUMULATORS16(c, i)); }
    // What the unit multiplies, before its products begin.
    static METHOD void hold_all(f32 *sums, u32 (&weights)[KEYS / 16][4]) {
        hold<DIM / 2>(sums);
        UNROLL for (u32 i = 0; i < KEYS / 16; i++)
            asm volatile("" : "+r"(weights[i][0]), "+r"(weights[i][1]), "+r"(weights[i][2]), "+r"(weights[i][3]));
    }
    // A warp is done with a slot, and goes to the next.
    METHOD void release(u32 &at, u32 &parity) const {
        if (lane_id() == 0) copy_barrier_arrive(free(at));
        if (++at == SLOTS) at = 0, parity ^= 1;
    }
    METHOD void score(f32 *scores, u32 queries, u32 keys, u32 barrier, u32 parity) const {
        UNROLL for (u32 i = 0; i < KEYS / 2; i++) scores[i] = 0.0f;
        hold<KEYS / 2>(scores);
        copy_barrier_wait(barrier, parity);
        shared_written();
        wgmma_fence();
        UNROLL for (u32 d = 0; d < DIM; d += 16) {
            const u32 from = d / 64 * HALF + d % 64 * 2;
            product_of<KEYS, IS_BF16, 0>(scores, rows_of_128(queries + from), rows_of_128(keys + from));
        }
        wgmma_commit();
    }
    METHOD void values(f32 *sums, u32 (&weights)[KEYS / 16][4], u32 from, u32 barrier, u32 parity) const {
        copy_barrier_wait(barrier, parity);
        shared_written();
        wgmma_fence();
        UNROLL for (u32 i = 0; i < KEYS / 16; i++) weigh<DIM, IS_BF16>(sums, weights[i], columns_of_128(from + i * 2048, HALF));
        wgmma_commit();
    }
    static METHOD void pack(u32 (&weights)[KEYS / 16][4], const f32 *c) {
        UNROLL for (u32 i = 0; i < KEYS / 2; i += 2) {
            u32 &to = weights[i / 8][i / 2 % 4];
            if (IS_BF16)
                asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(to) : "f"(c[i + 1]), "f"(c[i]));
            else
                to = pack_f16x2(c[i], c[i + 1]).bits;
        }
    }
    // Scores become weights, of keys from `begin` on. scores[i]: query lane / 4 + i / 2 % 2 · 8, key i / 4 · 8 + lane % 4 · 2 + i % 2. `top` is not
    // scaled yet; keep: how much of what was is left.
    METHOD void weigh_keys(f32 *scores, f32 *top, f32 *total, f32 *keep, f32 scale, u32 own, u32 begin, u32 lane) const {
        const u32 more = p.causal ? p.keys - p.rows : p.keys;
        // Keys that not all of these queries see.
        if (begin + KEYS > (p.causal ? minimum(p.keys, own + 1 + more) : p.keys)) {
            UNROLL for (u32 r = 0; r < 2; r++) {
                const u32 seen = p.causal ? minimum(p.keys, own + lane / 4 + r * 8 + 1 + more) : p.keys;
                const u32 left = seen > begin + lane % 4 * 2 ? seen - begin - lane % 4 * 2 : 0;
                UNROLL for (u32 i = 2 * r; i < KEYS / 2; i += 4) {
                    if (i / 4 * 8 >= left) scores[i] = nothing();
                    if (i / 4 * 8 + 1 >= left) scores[i + 1] = nothing();
                }
            }
        }
        UNROLL for (u32 r = 0; r < 2; r++) {
            f32 most = top[r];
            UNROLL for (u32 i = 2 * r; i < KEYS / 2; i += 4) most = maximum(most, maximum(scores[i], scores[i + 1]));
            most = maximum(most, shuffle_xor<1>(most));
            most = maximum(most, shuffle_xor<2>(most));
            const f32 offset = most == nothing() ? 0.0f : -most * scale;
            keep[r] = fast_exp2(mul_add(top[r], scale, offset));
            f32 sum = 0.0f;
            UNROLL for (u32 i = 2 * r; i < KEYS / 2; i += 4) {
                scores[i] = fast_exp2(mul_add(scores[i], scale, offset)), scores[i + 1] = fast_exp2(mul_add(scores[i + 1], scale, offset));
                sum += scores[i] + scores[i + 1];
            }
            top[r] = most, total[r] = mul_add(total[r], keep[r], sum);
        }
    }
};

#define WARPGROUP_KERNEL(NAME, T, DIM, IS_BF16)                                                                           \
    KERNEL_WAVES(384, 3)                                                                                                  \
    void NAME(const T *q, const T *k, const T *v, const void *mask, const T *sinks, T *out, SCORES_PARAMETERS) {          \
        DYNAMIC_SHARED(memory);                                                                                           \
        const Scores<T> p = SCORES_ARGUMENTS;                                                                             \
        const u32 base = (shared_address(memory) + 1023) / 1024 * 1024, first = (grid_blocks_y() - 1 - block_y()) * 128;  \
        const u32 head = block_x() % p.heads, batch = block_x() / p.heads, end = p.seen(first, minimum(first + 128, p.rows) - 1); \
        const u64 of_kv = (u64)(batch * p.kv_heads + head / (p.heads / p.kv_heads)) * p.keys * DIM;                       \
        const u64 of_q = (u64)block_x() * p.rows * DIM;                                                                   \
        Warpgroups<T, DIM, IS_BF16>{p, (const u16 *)q + of_q, (const u16 *)k + of_kv, (const u16 *)v + of_kv,             \
                                    (u16 *)out + of_q, base, head, first, divide_up(end, 128)}.run();                     \
    }
WARPGROUP_KERNEL(mlxrocm_array_attention_warpgroup_64_f16, f16, 64, false)
WARPGROUP_KERNEL(mlxrocm_array_attention_warpgroup_64_bf16, bf16, 64, true)
WARPGROUP_KERNEL(mlxrocm_array_attention_warpgroup_128_f16, f16, 128, false)
WARPGROUP_KERNEL(mlxrocm_array_attention_warpgroup_128_bf16, bf16, 128, true)
#endif
