// attention (attention.hip) of many queries in f16 and bf16 by the matrix unit, for heads of up to DIM columns, a multiple
// of 8, as many of values as of keys: 64 queries a block, 32 keys at a time, with a running maximum and sum of each query.
//
// q: [batch][heads][rows][dim], k and v: [batch][kv_heads][keys][dim]. Products of q and k as they are, scores and sums
// in f32, weights of values rounded to the dtype, times 2^15 on AMD in f16: MI200's matrix unit takes numbers below 2^-14
// as zeros.
//
// Launch: 4 waves, each of 16 queries; grid (tiles of queries, the last ones first, as they see most keys; batch · heads).
#include "common/tile.h"
#include "scores.h"

#define QUERIES 64
#define STEP 32
// What a mask of truth values becomes where it hides.
#define HIDDEN 1

template <u32 DIM> struct TilesLayout {
    // Numbers from row to row in shared memory: rows that are read together lie in different banks.
    static constexpr u32 WIDE = DIM + (PLATFORM_NVIDIA ? 16 : 8), NARROW = STEP + (PLATFORM_NVIDIA ? 16 : 8);
    // Queries, weights [query][key], keys, values [column][key].
    static constexpr u32 WEIGHTS = QUERIES * WIDE, KEYS = WEIGHTS + QUERIES * NARROW, VALUES = KEYS + STEP * WIDE;
    static constexpr u32 NUMBERS = VALUES + DIM * NARROW;
};

DEVICE void multiply(TileC &c, const Tile16 &a, const Tile16 &b, f16) { tile_multiply_f16(c, a, b); }
DEVICE void multiply(TileC &c, const Tile16 &a, const Tile16 &b, bf16) { tile_multiply_bf16(c, a, b); }
DEVICE constexpr bool is_f16(f16) { return true; }
DEVICE constexpr bool is_f16(bf16) { return false; }
DEVICE constexpr f32 lift(f16) { return PLATFORM_AMD ? 15.0f : 0.0f; }
DEVICE constexpr f32 lift(bf16) { return 0.0f; }

template <typename T, u32 DIM>
DEVICE void attend(const Scores<T> &p, const T *q, const T *k, const T *v, T *out, u16 *memory) {
    typedef TilesLayout<DIM> L;
    constexpr u32 THREADS = QUERIES / 16 * WAVE, WIDE = L::WIDE, NARROW = L::NARROW;
    // What a thread loads at a time: 16-byte pieces of keys, and of values those of two keys at once, so that a
    // column's numbers of both are one word.
    constexpr u32 KEYS = STEP * DIM / 8 / THREADS, PAIRS = (2 * DIM + THREADS - 1) / THREADS;
    constexpr u32 SCORES = STEP / 16, SUMS = DIM / 16;
    // Where there is no matrix unit, moved rows of more turns are too many registers (tile.h), and with bf16 so are keys
    // that are loaded ahead.
    constexpr bool LEAN = !HAS_MATRIX_UNIT && !is_f16(T{});
#if HAS_MATRIX_UNIT || AMD_RDNA2
    constexpr u32 TURNS = LEAN ? 1 : DIM / 16;
#else
    constexpr u32 TURNS = 1;
#endif
    constexpr f32 LIFT = lift(T{});
    u16 *queries = memory, *weights = memory + L::WEIGHTS, *keys = memory + L::KEYS, *values = memory + L::VALUES;
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 thread = thread_x(), lane = lane_id(), first_query = uniform(thread / WAVE) * 16;
    const u32 first = (grid_blocks_x() - 1 - block_x()) * QUERIES, count = minimum((u32)QUERIES, p.rows - first);
    const u32 head = block_y() % p.heads, batch = block_y() / p.heads;
    const u64 of_kv = (u64)(batch * p.kv_heads + head / (p.heads / p.kv_heads)) * p.keys * p.dim;
    const u64 of_q = ((u64)block_y() * p.rows + first) * p.dim;
    q += of_q, out += of_q, k += of_kv, v += of_kv;

    for (u32 at = thread; at < QUERIES * DIM / 8; at += THREADS) {
        const u32 row = at / (DIM / 8), column = at % (DIM / 8) * 8;
        u32x4 piece = {0, 0, 0, 0};
        if (column < p.dim && row < count) piece = load16(q + (u64)row * p.dim + column);
        store16(queries + row * WIDE + column, piece);
    }
    const u32 end = p.seen(first, first + count - 1);
    u32x4 key[KEYS], value[2 * PAIRS];
    auto load = [&](u32 begin) {
        UNROLL for (u32 i = 0; i < KEYS; i++) {
            const u32 at = thread + i * THREADS, row = begin + at / (DIM / 8), column = at % (DIM / 8) * 8;
            key[i] = u32x4{0, 0, 0, 0};
            if (column < p.dim && row < p.keys) key[i] = load16(k + (u64)row * p.dim + column);
        }
        UNROLL for (u32 i = 0; i < PAIRS; i++) {
            const u32 at = thread + i * THREADS, row = begin + at % 16 * 2, column = at / 16 * 8;
            value[2 * i] = value[2 * i + 1] = u32x4{0, 0, 0, 0};
            if (column < p.dim && row < p.keys) value[2 * i] = load16(v + (u64)row * p.dim + column);
            if (column < p.dim && row + 1 < p.keys) value[2 * i + 1] = load16(v + (u64)(row + 1) * p.dim + column);
        }
    };
    TileC sums[SUMS];
    f32 top[TILE_C_ROWS], total[TILE_C_ROWS];
    const i64 of_mask = p.mask_of(batch, head, 0);
    // Queries before the first key.
    const bool is_short = p.causal && first + p.keys < p.rows;
    UNROLL for (u32 d = 0; d < SUMS; d++) sums[d] = tile_zero();
    UNROLL for (u32 r = 0; r < TILE_C_ROWS; r++) top[r] = nothing(), total[r] = 0.0f;
    if (!LEAN) load(0);
    for (u32 begin = 0; begin < end; begin += STEP) {
        if (LEAN) load(begin);
        barrier();
        UNROLL for (u32 i = 0; i < KEYS; i++) {
            const u32 at = thread + i * THREADS;
            store16(keys + at / (DIM / 8) * WIDE + at % (DIM / 8) * 8, key[i]);
        }
        UNROLL for (u32 i = 0; i < PAIRS; i++) {
            const u32 at = thread + i * THREADS, token = at % 16 * 2, column = at / 16 * 8;
            if (column >= DIM) break;
            UNROLL for (u32 j = 0; j < 4; j++) {
                const u32 a = word(value[2 * i], j), b = word(value[2 * i + 1], j);
                *(u32 *)(values + (column + 2 * j) * NARROW + token) = (a & 0xffff) | b << 16;
                *(u32 *)(values + (column + 2 * j + 1) * NARROW + token) = a >> 16 | (b & 0xffff0000u);
            }
        }
        barrier();
        if (!LEAN && begin + STEP < end) load(begin + STEP);

        TileC scores[SCORES];
        UNROLL for (u32 n = 0; n < SCORES; n++) scores[n] = tile_zero();
        _Pragma("unroll TURNS") for (u32 c = 0; c < DIM; c += 16) {
            const Tile16 a = tile_load_a(queries + first_query * WIDE + c, WIDE);
            UNROLL for (u32 n = 0; n < SCORES; n++)
                multiply(scores[n], a, tile_load_b(keys + n * 16 * WIDE + c, WIDE), T{});
        }
        f32 most[TILE_C_ROWS], keep[TILE_C_ROWS];
        UNROLL for (u32 n = 0; n < SCORES; n++) UNROLL for (u32 i = 0; i < TILE_C; i++) scores[n].c[i] *= p.scale * LOG2_E;
        if (p.mask) {
            // By way of where the weights will be.
            wave_barrier();
            _Pragma("unroll 4") for (u32 at = lane; at < 16 * STEP; at += WAVE) {
                const u32 row = first + first_query + at / STEP, column = begin + at % STEP;
                const i64 place = of_mask + (i64)minimum(row, p.rows - 1) * p.mask_row +
                                  (i64)minimum(column, p.keys - 1) * p.mask_key;
                const u16 bits = p.mask_is_truth ? (((const u8 *)p.mask)[place] ? 0 : HIDDEN) : ((const T *)p.mask)[place].bits;
                weights[(first_query + at / STEP) * NARROW + at % STEP] = bits;
            }
            wave_barrier();
            UNROLL for (u32 n = 0; n < SCORES; n++) UNROLL for (u32 i = 0; i < TILE_C; i++) {
                const T more = {weights[(first_query + tile_c_row(lane, i)) * NARROW + n * 16 + tile_c_column(lane, i)]};
                scores[n].c[i] = p.mask_is_truth && more.bits ? p.hidden() : scores[n].c[i] + p.addend(to_f32(more));
            }
            wave_barrier();
        }
        // Keys that not all of these queries see.
        if (begin + STEP > (p.causal ? minimum(p.keys, first + first_query + 1 + p.keys - p.rows) : p.keys) || is_short) {
            UNROLL for (u32 n = 0; n < SCORES; n++) UNROLL for (u32 i = 0; i < TILE_C; i++) {
                const u32 row = first + first_query + tile_c_row(lane, i);
                const u32 column = begin + n * 16 + tile_c_column(lane, i);
                f32 &score = scores[n].c[i];
                if (p.causal && column + p.rows > row + p.keys) score = p.hidden();
                if (column >= p.keys) score = nothing();
            }
        }
        UNROLL for (u32 r = 0; r < TILE_C_ROWS; r++) most[r] = top[r] + LIFT;
        UNROLL for (u32 n = 0; n < SCORES; n++) UNROLL for (u32 i = 0; i < TILE_C; i++)
            most[tile_c_slot(i)] = maximum(most[tile_c_slot(i)], scores[n].c[i]);
        UNROLL for (u32 r = 0; r < TILE_C_ROWS; r++) {
            const f32 now = tile_row_max(most[r]) - LIFT;
            keep[r] = fade(top[r], now);
            top[r] = now, total[r] *= keep[r];
        }
        UNROLL for (u32 n = 0; n < SCORES; n++) UNROLL for (u32 i = 0; i < TILE_C; i++) {
            const f32 w = fade(scores[n].c[i], top[tile_c_slot(i)]);
            total[tile_c_slot(i)] += w;
            weights[(first_query + tile_c_row(lane, i)) * NARROW + n * 16 + tile_c_column(lane, i)] =
                from_f32<T>::make(w).bits;
        }
        UNROLL for (u32 d = 0; d < SUMS; d++) UNROLL for (u32 i = 0; i < TILE_C; i++)
            sums[d].c[i] *= keep[tile_c_slot(i)];
        wave_barrier();
        _Pragma("unroll TURNS") for (u32 c = 0; c < STEP; c += 16) {
            const Tile16 a = tile_load_a(weights + first_query * NARROW + c, NARROW);
            UNROLL for (u32 d = 0; d < SUMS; d++)
                multiply(sums[d], a, tile_load_b(values + d * 16 * NARROW + c, NARROW), T{});
        }
    }
    UNROLL for (u32 r = 0; r < TILE_C_ROWS; r++)
        total[r] = 1.0f / (tile_row_sum(total[r]) + p.sink_weight(head, top[r]));
    // By way of shared memory (each wave's own queries), so that a lane has neighbouring numbers.
    UNROLL for (u32 d = 0; d < SUMS; d++) UNROLL for (u32 i = 0; i < TILE_C; i++)
        queries[(first_query + tile_c_row(lane, i)) * WIDE + d * 16 + tile_c_column(lane, i)] =
            from_f32<T>::make(sums[d].c[i] * total[tile_c_slot(i)]).bits;
    wave_barrier();
    for (u32 at = lane; at < 16 * DIM / 8; at += WAVE) {
        const u32 row = first_query + at / (DIM / 8), column = at % (DIM / 8) * 8;
        if (row < count && column < p.dim) store16(out + (u64)row * p.dim + column, load16(queries + row * WIDE + column));
    }
}

#define TILES_KERNEL(NAME, T, DIM)                                                                      \
    KERNEL(4 * WAVE)                                                                                     \
    void NAME(const T *q, const T *k, const T *v, const void *mask, const T *sinks, T *out, SCORES_PARAMETERS) { \
        SHARED __attribute__((aligned(16))) u16 memory[TilesLayout<DIM>::NUMBERS];                      \
        const Scores<T> p = SCORES_ARGUMENTS;                                                           \
        attend<T, DIM>(p, q, k, v, out, memory);                                                        \
    }
TILES_KERNEL(mlxrocm_array_attention_tiles_64_f16, f16, 64)
TILES_KERNEL(mlxrocm_array_attention_tiles_64_bf16, bf16, 64)
TILES_KERNEL(mlxrocm_array_attention_tiles_128_f16, f16, 128)
// RDNA 1 and 2 have too few registers for it, as they have no products of bf16.
#if !defined(__GFX10__)
TILES_KERNEL(mlxrocm_array_attention_tiles_128_bf16, bf16, 128)
#endif
