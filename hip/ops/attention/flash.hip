// Attention of many queries of one sequence over the paged KV cache, as prompts need it, in tiles (flash
// form: a running maximum and sum of each query):
//
//   out[r][h] = Σ_j softmax_j(scale · q[r][h]·K[j]) V[j],  j ≤ position of r (and > position - window)
//
// where the softmax's sum also has exp(sinks[h]), if there are sinks.
//
// q: [rows][heads · dim] f32, before norm and rotation. `tiles`: [grid x] of (first row, rows ≤ 64,
// neighbouring tokens of one sequence); no rows: nothing to do; no position: zeros, for rows that are
// not used. Keys are taken a page at a time, in order: a query's result depends neither on the batch
// nor on the tile it is in.
//
// Dot products of f16 (queries times scale, rounded; weights of values, rounded), sums in f32. `top`: the
// exponent that a query's weights are relative to.
//
// Launch: 4 waves, each of 16 queries; for heads of 256 columns 8 waves, each two of which share 16 queries:
// each has the scores of half a page's keys and half the sums' columns, so that sums take as many registers
// as for 128 columns. Keys and values of a page then lie in the same shared memory, one after the other; the
// barriers this takes also hand over what the two waves have found. Grid (tiles, heads). NVIDIA, 256 columns:
// dynamic shared memory of Layout<256>::BYTES, as a kernel's own may be 48 KB.
//
// RDNA 2 has no matrix unit. There, 16 queries of 64 columns take 1024 dot products a lane for a page, which
// fetch the queries' (weights') numbers from other lanes themselves (tile.h), and 44 loads of 16 bytes: a
// third of the time is what shared memory needs for two SIMDs.
#include "common/tile.h"
#include "ops/attention/flash.h"

// DIM: columns of a head, padded.
template <int DIM> struct Layout {
    // Waves that share 16 queries, and threads of a block.
    static constexpr u32 SHARERS = DIM > 128 ? 2 : 1, THREADS = SHARERS * QUERIES / 16 * WAVE;
    // Numbers from row to row in shared memory: rows that are read together lie in different banks.
    static constexpr u32 WIDE = DIM + (PLATFORM_NVIDIA ? 16 : 8), NARROW = PLATFORM_NVIDIA ? 48 : 40;
    // Where what is in shared memory: queries, weights [query][token], keys, values [column][token] (sharers:
    // where the keys were); of sharers, a number of each query [sharer][query].
    static constexpr u32 WEIGHTS = QUERIES * WIDE * 2, KEYS = WEIGHTS + QUERIES * NARROW * 2;
    static constexpr u32 VALUES = KEYS + (SHARERS == 1 ? PAGE_TOKENS * WIDE * 2 : 0);
    static constexpr u32 SHARED_NUMBERS = VALUES + DIM * NARROW * 2;
    static constexpr u32 BYTES = SHARED_NUMBERS + (SHARERS == 1 ? 0 : SHARERS * QUERIES * 4);
};

// Weights are kept times 2^15, in the sum that they are divided by too: MI200's matrix unit takes f16 numbers
// below 2^-14 as zeros, which those of most keys are beside one that is seen far better.
DEVICE f32 lifted(f32 top) { return PLATFORM_AMD ? top - 15.0f : top; }
DEVICE f32 lowered(f32 top) { return PLATFORM_AMD ? top + 15.0f : top; }

template <int DIM, int KV> DEVICE void attend(const Flash &p, u8 *memory) {
    typedef Layout<DIM> L;
    constexpr u32 SHARERS = L::SHARERS, THREADS = L::THREADS, WIDE = L::WIDE, NARROW = L::NARROW;
    // What a thread loads of a page: 16-byte pieces of keys, and of values those of two tokens at once,
    // so that a column's numbers of both are one word.
    constexpr u32 KEYS = PAGE_TOKENS * DIM / 8 / THREADS, PAIRS = (2 * DIM + THREADS - 1) / THREADS;
    // A wave's tiles: of scores, of sums.
    constexpr u32 SCORES = PAGE_TOKENS / 16 / SHARERS, SUMS = DIM / 16 / SHARERS;
    u16 *queries = (u16 *)memory, *weights = (u16 *)(memory + L::WEIGHTS);
    u16 *keys = (u16 *)(memory + L::KEYS), *values = (u16 *)(memory + L::VALUES);
    f32 *numbers = (f32 *)(memory + L::SHARED_NUMBERS);
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 first = p.tiles[2 * block_x()], count = p.tiles[2 * block_x() + 1], head = block_y();
    if (count == 0) return;
    const u32 thread = thread_x(), lane = lane_id(), wave = uniform(thread / WAVE);
    const u32 first_query = wave % (QUERIES / 16) * 16, sharer = wave / (QUERIES / 16);
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
    const u32 team = thread / 32;
    for (u32 base = 0; base < QUERIES; base += THREADS / 32) {
        u32 in_team = thread % 32;
#if PLATFORM_AMD
        // Where a lane's columns lie is found anew for each query: kept, it takes too many scalar registers.
        asm volatile("" : "+v"(in_team));
#endif
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
    // Tokens past the last one were not written yet.
    auto load_keys = [&](u32 page) {
        const u8 *k = cache_keys<KV>(c, pages[page], kv_head);
        UNROLL for (u32 i = 0; i < KEYS; i++) {
            const u32 at = thread + i * THREADS, token = at / (DIM / 8), column = at % (DIM / 8) * 8;
            key[i] = Piece<KV>{};
            if (column < padded<KV>(p.dim) && token <= last - page * PAGE_TOKENS)
                key[i] = load_piece<KV>(k, p.dim, token, column);
        }
    };
    auto load_values = [&](u32 page) {
        const u8 *v = cache_keys<KV>(c, pages[page], kv_head) + tokens_bytes<KV>(p.dim);
        const u32 columns = padded<KV>(p.dim), tokens = last - page * PAGE_TOKENS;
        UNROLL for (u32 i = 0; i < PAIRS; i++) {
            const u32 at = thread + i * THREADS, token = at % 16 * 2, column = at / 16 * 8;
            value[2 * i] = value[2 * i + 1] = Piece<KV>{};
            if (column < columns && token <= tokens) value[2 * i] = load_piece<KV>(v, p.dim, token, column);
            if (column < columns && token < tokens) value[2 * i + 1] = load_piece<KV>(v, p.dim, token + 1, column);
        }
    };
    auto store_values = [&]() {
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
    };
    // Sharers put down a number of each of their queries; behind a barrier each has the other's.
    auto put_numbers = [&](const f32 *own) {
        UNROLL for (u32 r = 0; r < TILE_C_ROWS; r++)
            if (tile_c_column(lane, 0) == 0)
                numbers[sharer * QUERIES + first_query + tile_c_slot_row(lane, r)] = own[r];
    };
    auto other_number = [&](u32 r) {
        return numbers[(sharer ^ 1) * QUERIES + first_query + tile_c_slot_row(lane, r)];
    };
    TileC sums[SUMS];
    f32 top[TILE_C_ROWS], total[TILE_C_ROWS];
    UNROLL for (u32 d = 0; d < SUMS; d++) sums[d] = tile_zero();
    UNROLL for (u32 r = 0; r < TILE_C_ROWS; r++) top[r] = -1e30f, total[r] = 0.0f;
    u32 page = begin / PAGE_TOKENS;
    load_keys(page);
    load_values(page);
    for (; page * PAGE_TOKENS <= last; page++) {
        const bool more = (page + 1) * PAGE_TOKENS <= last;
        barrier();
        UNROLL for (u32 i = 0; i < KEYS; i++) {
            const u32 at = thread + i * THREADS;
            store16(keys + at / (DIM / 8) * WIDE + at % (DIM / 8) * 8, decode<KV>(key[i]));
        }
        if constexpr (SHARERS == 1) store_values();
        barrier();
        if (more) load_keys(page + 1);
        if constexpr (SHARERS == 1)
            if (more) load_values(page + 1);

        const u32 first_key = sharer * SCORES * 16;
        TileC scores[SCORES];
        UNROLL for (u32 n = 0; n < SCORES; n++) scores[n] = tile_zero();
        UNROLL_K for (u32 k = 0; k < DIM; k += 16) {
            const Tile16 a = tile_load_a(queries + first_query * WIDE + k, WIDE);
            UNROLL for (u32 n = 0; n < SCORES; n++)
                tile_multiply_f16(scores[n], a, tile_load_b(keys + (first_key + n * 16) * WIDE + k, WIDE));
        }
        f32 most[TILE_C_ROWS];
        UNROLL for (u32 r = 0; r < TILE_C_ROWS; r++) most[r] = lowered(top[r]);
        UNROLL for (u32 n = 0; n < SCORES; n++) UNROLL for (u32 i = 0; i < TILE_C; i++) {
            const u32 at = position + first_query + tile_c_row(lane, i);
            const u32 j = page * PAGE_TOKENS + first_key + n * 16 + tile_c_column(lane, i);
            const bool seen = j <= at && (p.window == 0 || j + p.window > at);
            scores[n].c[i] = seen ? scores[n].c[i] : -1e30f;
            most[tile_c_slot(i)] = maximum(most[tile_c_slot(i)], scores[n].c[i]);
        }
        UNROLL for (u32 r = 0; r < TILE_C_ROWS; r++) most[r] = tile_row_max(most[r]);
        if constexpr (SHARERS == 2) {
            put_numbers(most);
            barrier();
            store_values();
            UNROLL for (u32 r = 0; r < TILE_C_ROWS; r++) most[r] = maximum(most[r], other_number(r));
        }
        f32 keep[TILE_C_ROWS];
        UNROLL for (u32 r = 0; r < TILE_C_ROWS; r++) {
            const f32 now = lifted(most[r]);
            keep[r] = fast_exp2(top[r] - now);
            top[r] = now, total[r] *= keep[r];
        }
        UNROLL for (u32 n = 0; n < SCORES; n++) UNROLL for (u32 i = 0; i < TILE_C; i++) {
            const f32 w = fast_exp2(scores[n].c[i] - top[tile_c_slot(i)]);
            const u32 token = first_key + n * 16 + tile_c_column(lane, i);
            total[tile_c_slot(i)] += w;
            weights[(first_query + tile_c_row(lane, i)) * NARROW + token] = to_f16(w).bits;
        }
        UNROLL for (u32 d = 0; d < SUMS; d++) UNROLL for (u32 i = 0; i < TILE_C; i++)
            sums[d].c[i] *= keep[tile_c_slot(i)];
        if constexpr (SHARERS == 1) {
            wave_barrier();
        } else {
            barrier();
            if (more) load_values(page + 1);
        }
        UNROLL_K for (u32 k = 0; k < PAGE_TOKENS; k += 16) {
            const Tile16 a = tile_load_a(weights + first_query * NARROW + k, NARROW);
            UNROLL for (u32 d = 0; d < SUMS; d++)
                tile_multiply_f16(sums[d], a, tile_load_b(values + (sharer * SUMS + d) * 16 * NARROW + k, NARROW));
        }
    }
    UNROLL for (u32 r = 0; r < TILE_C_ROWS; r++) total[r] = tile_row_sum(total[r]);
    if constexpr (SHARERS == 2) {
        put_numbers(total);
        barrier();
        UNROLL for (u32 r = 0; r < TILE_C_ROWS; r++) total[r] += other_number(r);
    }
    UNROLL for (u32 r = 0; r < TILE_C_ROWS; r++) total[r] = 1.0f / (total[r] + sink_weight(p.sinks, head, top[r]));
    UNROLL for (u32 d = 0; d < SUMS; d++) UNROLL for (u32 i = 0; i < TILE_C; i++) {
        const u32 row = first_query + tile_c_row(lane, i);
        const u32 column = (sharer * SUMS + d) * 16 + tile_c_column(lane, i);
        if (row < count && column < p.dim)
            p.out[((u64)(first + row) * p.heads + head) * p.dim + column] = sums[d].c[i] * total[tile_c_slot(i)];
    }
}

#define FLASH_KERNEL(NAME, DIM, KV, MEMORY)                    \
    KERNEL(Layout<DIM>::THREADS) void NAME(FLASH_PARAMETERS) { \
        MEMORY(DIM);                                           \
        const Flash p = FLASH_ARGUMENTS;                       \
        attend<DIM, KV>(p, memory);                            \
    }
#define OWN_MEMORY(DIM) SHARED __attribute__((aligned(16))) u8 memory[Layout<DIM>::BYTES]
#if PLATFORM_NVIDIA
// What the host gives the kernel.
#define WIDE_BYTES 66048
static_assert(Layout<256>::BYTES == WIDE_BYTES);
#define WIDE_MEMORY(DIM) DYNAMIC_SHARED(memory)
#else
#define WIDE_MEMORY OWN_MEMORY
#endif
FLASH_KERNEL(mlxrocm_attention_flash_64, 64, KV_F16, OWN_MEMORY)
FLASH_KERNEL(mlxrocm_attention_flash_128, 128, KV_F16, OWN_MEMORY)
FLASH_KERNEL(mlxrocm_attention_flash_256, 256, KV_F16, WIDE_MEMORY)
FLASH_KERNEL(mlxrocm_attention_flash_64_q8, 64, KV_Q8, OWN_MEMORY)
FLASH_KERNEL(mlxrocm_attention_flash_128_q8, 128, KV_Q8, OWN_MEMORY)
FLASH_KERNEL(mlxrocm_attention_flash_256_q8, 256, KV_Q8, WIDE_MEMORY)
FLASH_KERNEL(mlxrocm_attention_flash_64_q4, 64, KV_Q4, OWN_MEMORY)
FLASH_KERNEL(mlxrocm_attention_flash_128_q4, 128, KV_Q4, OWN_MEMORY)
FLASH_KERNEL(mlxrocm_attention_flash_256_q4, 256, KV_Q4, WIDE_MEMORY)
