// Attention of networks (attention.h) in f16 by the matrix unit: 64 rows, 64 keys, heads of up to DIM (64 at most) columns. Scores and
// sums in f32, weights of values rounded to f16, times 2^15 on AMD (MI200's matrix unit takes numbers below 2^-14
// as zeros); the sum that they are divided by has them as they are multiplied.
//
// Launch: 4 waves, each of 16 queries; grid (heads, items).
#include "common/tile.h"
#include "ops/network/attention.h"

template <u32 DIM> struct AttentionLayout {
    // Numbers from row to row in shared memory: rows that are read together lie in different banks.
    static constexpr u32 WIDE = DIM + (PLATFORM_NVIDIA ? 16 : 8), NARROW = MOST_ROWS + (PLATFORM_NVIDIA ? 16 : 8);
    // Keys, values [column][key], weights (before them queries, behind them results), biases.
    static constexpr u32 VALUES = MOST_ROWS * WIDE, WEIGHTS = VALUES + DIM * NARROW;
    static constexpr u32 BIASES = WEIGHTS + MOST_ROWS * NARROW, NUMBERS = BIASES + MOST_ROWS * NARROW;
};

// Eight numbers of a row of `columns` from `column` on, zeros past its end.
DEVICE u32x4 load_eight(const f16 *row, u32 column, u32 columns, bool aligned) {
    if (column >= columns) return u32x4{0, 0, 0, 0};
    if (aligned) return load16(row + column);
    u32 words[4];
    UNROLL for (u32 i = 0; i < 4; i++) {
        const u32 at = column + 2 * i;
        words[i] = (at < columns ? row[at].bits : 0) | (u32)(at + 1 < columns ? row[at + 1].bits : 0) << 16;
    }
    return u32x4{words[0], words[1], words[2], words[3]};
}
DEVICE bool is_aligned(const Side<f16> &side, u32 columns) {
    return ((side.of_item | side.first | side.of_head | side.of_row | columns) & 7) == 0;
}

template <u32 DIM> DEVICE void attend(const NetworkAttention<f16> &p, u16 *memory) {
    typedef AttentionLayout<DIM> L;
    constexpr u32 THREADS = 4 * WAVE, WIDE = L::WIDE, NARROW = L::NARROW, COLUMNS = DIM / 16, KEYS = MOST_ROWS / 16;
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 head = block_x(), item = block_y(), of_kv = head / (p.heads / p.kv_heads);
    const u32 thread = thread_x(), lane = lane_id(), first_query = uniform(thread / WAVE) * 16;
    u16 *keys = memory, *values = memory + L::VALUES, *weights = memory + L::WEIGHTS;
    // Queries lie where their weights will: each wave has its own.
    u16 *own = weights + first_query * NARROW;
    const f16 *k = p.k.head(item, of_kv), *v = p.v.head(item, of_kv), *q = p.q.head(item, head);
    const bool k_aligned = is_aligned(p.k, p.dim), v_aligned = is_aligned(p.v, p.width);
    for (u32 at = thread; at < MOST_ROWS * DIM / 8; at += THREADS) {
        const u32 key = at / (DIM / 8), column = at % (DIM / 8) * 8;
        store16(keys + key * WIDE + column, load_eight(k + (u64)key * p.k.of_row, column, p.dim, k_aligned));
    }
    // Two keys at a time, so that a column's numbers of both are one word.
    for (u32 at = thread; at < MOST_ROWS / 2 * DIM / 8; at += THREADS) {
        const u32 key = at / (DIM / 8) * 2, column = at % (DIM / 8) * 8;
        const u32x4 even = load_eight(v + (u64)key * p.v.of_row, column, p.width, v_aligned);
        const u32x4 odd = load_eight(v + (u64)(key + 1) * p.v.of_row, column, p.width, v_aligned);
        UNROLL for (u32 j = 0; j < 4; j++) {
            const u32 a = word(even, j), b = word(odd, j);
            *(u32 *)(values + (column + 2 * j) * NARROW + key) = (a & 0xffff) | b << 16;
            *(u32 *)(values + (column + 2 * j + 1) * NARROW + key) = a >> 16 | (b & 0xffff0000u);
        }
    }
    u16 *biases = memory + L::BIASES + first_query * NARROW;
    if (p.bias) {
        const f16 *bias = p.bias + (((u64)item * p.heads + head) * MOST_ROWS + first_query) * MOST_ROWS;
        for (u32 at = lane; at < 16 * MOST_ROWS / 8; at += WAVE)
            store16(biases + at / 8 * NARROW + at % 8 * 8, load16(bias + at * 8));
    }
    const bool q_aligned = is_aligned(p.q, p.dim);
    for (u32 at = lane; at < 16 * DIM / 8; at += WAVE) {
        const u32 row = at / (DIM / 8), column = at % (DIM / 8) * 8;
        store16(own + row * NARROW + column,
                load_eight(q + (u64)(first_query + row) * p.q.of_row, column, p.dim, q_aligned));
    }
    TileC scores[KEYS];
    UNROLL for (u32 n = 0; n < KEYS; n++) scores[n] = tile_zero();
    barrier();
    UNROLL_K for (u32 c = 0; c < DIM; c += 16) {
        const Tile16 a = tile_load_a(own + c, NARROW);
        UNROLL for (u32 n = 0; n < KEYS; n++)
            tile_multiply_f16(scores[n], a, tile_load_b(keys + n * 16 * WIDE + c, WIDE));
    }
    wave_barrier();
    const f32 scale = p.scale * 1.44269504f;
    f32 top[TILE_C_ROWS], total[TILE_C_ROWS];
    UNROLL for (u32 r = 0; r < TILE_C_ROWS; r++) top[r] = -3.0e38f, total[r] = 0.0f;
    UNROLL for (u32 n = 0; n < KEYS; n++) UNROLL for (u32 i = 0; i < TILE_C; i++) {
        f32 bias = 0.0f;
        if (p.bias) bias = to_f32(f16{biases[tile_c_row(lane, i) * NARROW + n * 16 + tile_c_column(lane, i)]});
        scores[n].c[i] = scores[n].c[i] * scale + bias * 1.44269504f;
        top[tile_c_slot(i)] = maximum(top[tile_c_slot(i)], scores[n].c[i]);
    }
    UNROLL for (u32 r = 0; r < TILE_C_ROWS; r++) top[r] = tile_row_max(top[r]) - (PLATFORM_AMD ? 15.0f : 0.0f);
    UNROLL for (u32 n = 0; n < KEYS; n++) UNROLL for (u32 i = 0; i < TILE_C; i++) {
        const f16 weight = to_f16(fast_exp2(scores[n].c[i] - top[tile_c_slot(i)]));
        total[tile_c_slot(i)] += to_f32(weight);
        own[tile_c_row(lane, i) * NARROW + n * 16 + tile_c_column(lane, i)] = weight.bits;
    }
    UNROLL for (u32 r = 0; r < TILE_C_ROWS; r++) total[r] = 1.0f / tile_row_sum(total[r]);
    wave_barrier();
    TileC sums[COLUMNS];
    UNROLL for (u32 d = 0; d < COLUMNS; d++) sums[d] = tile_zero();
    UNROLL_K for (u32 j = 0; j < MOST_ROWS; j += 16) {
        const Tile16 a = tile_load_a(own + j, NARROW);
        UNROLL for (u32 d = 0; d < COLUMNS; d++)
            tile_multiply_f16(sums[d], a, tile_load_b(values + d * 16 * NARROW + j, NARROW));
    }
    // By way of shared memory, so that a lane has neighbouring numbers.
    wave_barrier();
    UNROLL for (u32 d = 0; d < COLUMNS; d++) UNROLL for (u32 i = 0; i < TILE_C; i++) {
        f16 result;
        put(&result, sums[d].c[i] * total[tile_c_slot(i)]);
        own[tile_c_row(lane, i) * NARROW + d * 16 + tile_c_column(lane, i)] = result.bits;
    }
    wave_barrier();
    for (u32 at = lane; at < 16 * DIM / 8; at += WAVE) {
        const u32 row = at / (DIM / 8), column = at % (DIM / 8) * 8;
        f16 *out = p.place(item, head, first_query + row) + column;
        const u16 *from = own + row * NARROW + column;
        if (p.width % 8 == 0) {
            if (column < p.width) store16(out, load16(from));
        } else {
            for (u32 j = 0; j < 8 && column + j < p.width; j++) out[j].bits = from[j];
        }
    }
}

#define TILES_KERNEL(NAME, DIM)                                                         \
    KERNEL(4 * WAVE) void NAME(ATTENTION_PARAMETERS(f16)) {                             \
        SHARED __attribute__((aligned(16))) u16 memory[AttentionLayout<DIM>::NUMBERS]; \
        const NetworkAttention<f16> p = ATTENTION_ARGUMENTS;                            \
        attend<DIM>(p, memory);                                                         \
    }
TILES_KERNEL(mlxrocm_network_attention_32, 32)
TILES_KERNEL(mlxrocm_network_attention_64, 64)
