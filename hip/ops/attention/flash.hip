// Attention of many queries of one sequence over the paged KV cache, as prompts need it, by the matrix
// unit (flash form: a running maximum and sum of each query):
//
//   out[r][h] = Σ_j softmax_j(scale · q[r][h]·K[j]) V[j],  j ≤ position of r (and > position - window)
//
// q: [rows][heads · dim] f32, before norm and rotation. `tiles`: [grid x] of (first row, rows ≤ 64,
// neighbouring tokens of one sequence); no rows: nothing to do; no position: zeros, for rows that are
// not used. Keys are taken a page at a time, in order: a query's result depends neither on the batch
// nor on the tile it is in.
//
// Launch: 4 waves; grid (tiles, heads). Each wave has 16 queries. Dot products of f16 (queries times
// scale, rounded; weights of values, rounded), sums in f32. Devices without a matrix unit use paged.hip.
#include "common/tile.h"
#include "ops/attention/flash.h"

#define THREADS (4 * WAVE)

// DIM: columns of a head, padded.
template <int DIM, int KV> DEVICE void attend(const Flash &p) {
    // Numbers from row to row in shared memory: rows that are read together lie in different banks.
    constexpr u32 WIDE = DIM + (PLATFORM_NVIDIA ? 16 : 8), NARROW = PLATFORM_NVIDIA ? 48 : 40;
    // What a thread loads of a page: 16-byte pieces of keys, and of values those of two tokens at once,
    // so that a column's numbers of both are one word.
    constexpr u32 KEYS = PAGE_TOKENS * DIM / 8 / THREADS, PAIRS = (2 * DIM + THREADS - 1) / THREADS;
    SHARED u16 queries[QUERIES * WIDE];
    SHARED u16 keys[PAGE_TOKENS * WIDE];
    SHARED u16 values[DIM * NARROW]; // [column][token]
    SHARED u16 weights[QUERIES * NARROW];
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 first = p.tiles[2 * block_x()], count = p.tiles[2 * block_x() + 1], head = block_y();
    if (count == 0) return;
    const u32 thread = thread_x(), lane = lane_id(), wave = uniform(thread / WAVE);
    const u32 position = p.positions[first];
    if (position == UNUSED) {
        for (u32 i = thread; i < count * p.dim; i += THREADS)
            p.out[((u64)(first + i / p.dim) * p.heads + head) * p.dim + i % p.dim] = 0.0f;
        return;
    }
    const Cache c = {p.cache, p.page_stride, p.layer_start, p.dim};
    const u32 kv_head = head / (p.heads / p.kv_heads);
    const u32 *pages = p.pages + (u64)p.slots[first] * p.max_pages;

    // Queries; scores are kept in base 2. Teams go on together: rows past the last are the last again.
    const u32 team = thread / 32, in_team = thread % 32;
    for (u32 base = 0; base < QUERIES; base += THREADS / 32) {
        const u32 i = base + team, row = i < count ? i : count - 1;
        const f32 *q = p.q + ((u64)(first + row) * p.heads + head) * p.dim;
        const f32x2 *rope = p.rope + (u64)(position + row) * p.pairs;
        const Turn<DIM / 32> turn = load_turn<DIM / 32>(p.q_norm, rope, p.pairs, p.interleaved, p.dim, in_team);
        f32 columns[DIM / 32];
        turn_head<DIM / 32>(load_head<DIM / 32>(q, turn, p.dim, in_team), p.q_norm, p.eps, turn, p.dim,
                            p.scale * 1.44269504f, columns);
        UNROLL for (u32 n = 0; n < DIM / 32; n++) queries[i * WIDE + n * 32 + in_team] = to_f16(columns[n]).bits;
    }

    const u32 last = position + count - 1;
    const u32 begin = p.window && position + 1 > p.window ? position + 1 - p.window : 0;
    Piece<KV> key[KEYS], value[2 * PAIRS];
    auto load = [&](u32 page) {
        const u8 *k = cache_keys<KV>(c, pages[page], kv_head), *v = k + tokens_bytes<KV>(p.dim);
        const u32 columns = padded<KV>(p.dim);
        const u32 tokens = last - page * PAGE_TOKENS; // past this one nothing was written yet
        UNROLL for (u32 i = 0; i < KEYS; i++) {
            const u32 at = thread + i * THREADS, token = at / (DIM / 8), column = at % (DIM / 8) * 8;
            key[i] = Piece<KV>{};
            if (column < columns && token <= tokens) key[i] = load_piece<KV>(k, p.dim, token, column);
        }
        UNROLL for (u32 i = 0; i < PAIRS; i++) {
            const u32 at = thread + i * THREADS, token = at % 16 * 2, column = at / 16 * 8;
            value[2 * i] = value[2 * i + 1] = Piece<KV>{};
            if (column < columns && token <= tokens) value[2 * i] = load_piece<KV>(v, p.dim, token, column);
            if (column < columns && token < tokens) value[2 * i + 1] = load_piece<KV>(v, p.dim, token + 1, column);
        }
    };
    TileC sums[DIM / 16];
    f32 top[TILE_C_ROWS], total[TILE_C_ROWS];
    UNROLL for (u32 d = 0; d < DIM / 16; d++) sums[d] = tile_zero();
    UNROLL for (u32 r = 0; r < TILE_C_ROWS; r++) top[r] = -1e30f, total[r] = 0.0f;
    u32 page = begin / PAGE_TOKENS;
    load(page);
    for (; page * PAGE_TOKENS <= last; page++) {
        barrier();
        UNROLL for (u32 i = 0; i < KEYS; i++) {
            const u32 at = thread + i * THREADS;
            store16(keys + at / (DIM / 8) * WIDE + at % (DIM / 8) * 8, decode<KV>(key[i]));
        }
        UNROLL for (u32 i = 0; i < PAIRS; i++) {
            const u32 at = thread + i * THREADS, token = at % 16 * 2, column = at / 16 * 8;
            if (column >= DIM) break;
            const u32x4 even = decode<KV>(value[2 * i]), odd = decode<KV>(value[2 * i + 1]);
            UNROLL for (u32 j = 0; j < 4; j++) {
                const u32 a = word(even, j), b = word(odd, j);
                *(u32 *)(values + (column + 2 * j) * NARROW + token) = (a & 0xffff) | b << 16;
                *(u32 *)(values + (column + 2 * j + 1) * NARROW + token) = a >> 16 | (b & 0xffff0000u);
            }
        }
        barrier();
        if ((page + 1) * PAGE_TOKENS <= last) load(page + 1);

        TileC scores[PAGE_TOKENS / 16];
        UNROLL for (u32 n = 0; n < PAGE_TOKENS / 16; n++) scores[n] = tile_zero();
        UNROLL for (u32 k = 0; k < DIM; k += 16) {
            const Tile16 a = tile_load_a(queries + wave * 16 * WIDE + k, WIDE);
            UNROLL for (u32 n = 0; n < PAGE_TOKENS / 16; n++)
                tile_multiply_f16(scores[n], a, tile_load_b(keys + n * 16 * WIDE + k, WIDE));
        }
        f32 most[TILE_C_ROWS];
        UNROLL for (u32 r = 0; r < TILE_C_ROWS; r++) most[r] = top[r];
        UNROLL for (u32 n = 0; n < PAGE_TOKENS / 16; n++) UNROLL for (u32 i = 0; i < TILE_C; i++) {
            const u32 at = position + wave * 16 + tile_c_row(lane, i);
            const u32 j = page * PAGE_TOKENS + n * 16 + tile_c_column(lane, i);
            const bool seen = j <= at && (p.window == 0 || j + p.window > at);
            scores[n].c[i] = seen ? scores[n].c[i] : -1e30f;
            most[tile_c_slot(i)] = maximum(most[tile_c_slot(i)], scores[n].c[i]);
        }
        f32 keep[TILE_C_ROWS];
        UNROLL for (u32 r = 0; r < TILE_C_ROWS; r++) {
            most[r] = tile_row_max(most[r]);
            keep[r] = fast_exp2(top[r] - most[r]);
            top[r] = most[r], total[r] *= keep[r];
        }
        UNROLL for (u32 n = 0; n < PAGE_TOKENS / 16; n++) UNROLL for (u32 i = 0; i < TILE_C; i++) {
            const f32 w = fast_exp2(scores[n].c[i] - top[tile_c_slot(i)]);
            total[tile_c_slot(i)] += w;
            weights[(wave * 16 + tile_c_row(lane, i)) * NARROW + n * 16 + tile_c_column(lane, i)] = to_f16(w).bits;
        }
        UNROLL for (u32 d = 0; d < DIM / 16; d++) UNROLL for (u32 i = 0; i < TILE_C; i++)
            sums[d].c[i] *= keep[tile_c_slot(i)];
        wave_barrier();
        UNROLL for (u32 k = 0; k < PAGE_TOKENS; k += 16) {
            const Tile16 a = tile_load_a(weights + wave * 16 * NARROW + k, NARROW);
            UNROLL for (u32 d = 0; d < DIM / 16; d++)
                tile_multiply_f16(sums[d], a, tile_load_b(values + d * 16 * NARROW + k, NARROW));
        }
    }
    UNROLL for (u32 r = 0; r < TILE_C_ROWS; r++) total[r] = 1.0f / tile_row_sum(total[r]);
    UNROLL for (u32 d = 0; d < DIM / 16; d++) UNROLL for (u32 i = 0; i < TILE_C; i++) {
        const u32 row = wave * 16 + tile_c_row(lane, i), column = d * 16 + tile_c_column(lane, i);
        if (row < count && column < p.dim)
            p.out[((u64)(first + row) * p.heads + head) * p.dim + column] = sums[d].c[i] * total[tile_c_slot(i)];
    }
}

#if HAS_MATRIX_UNIT
#define FLASH_KERNEL(NAME, DIM, KV)               \
    KERNEL(THREADS) void NAME(FLASH_PARAMETERS) { \
        const Flash p = FLASH_ARGUMENTS;          \
        attend<DIM, KV>(p);                       \
    }
FLASH_KERNEL(mlxrocm_attention_flash_64, 64, KV_F16)
FLASH_KERNEL(mlxrocm_attention_flash_128, 128, KV_F16)
FLASH_KERNEL(mlxrocm_attention_flash_64_q8, 64, KV_Q8)
FLASH_KERNEL(mlxrocm_attention_flash_128_q8, 128, KV_Q8)
FLASH_KERNEL(mlxrocm_attention_flash_64_q4, 64, KV_Q4)
FLASH_KERNEL(mlxrocm_attention_flash_128_q4, 128, KV_Q4)
#endif
