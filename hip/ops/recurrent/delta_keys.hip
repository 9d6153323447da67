// The first launch of delta_chunks.h: q and k of a chunk, by their lengths, as halves of bf16:
//
//   k = k' / |k'|,   q = q' / (|q'| √key_dim)   (lengths with ε under the root)
//
// Launch: 8 waves, each with every eighth token; grid (chunks, key heads). Keys of up to 64 or 128 columns.
#include "ops/recurrent/delta_chunks.h"

struct Keys {
    const f32 *q, *k;
    u16 *keys;
    const Sequence *sequences;
    u32 slots, q_width, k_width, key_dim;
    f32 eps;
};

template <int DIM> DEVICE void prepare_keys(const Keys &p) {
    typedef KeyTiles<DIM> Tiles;
    constexpr u32 COLUMNS = DIM / WAVE, STRIDE = DIM + 4;
    SHARED __attribute__((aligned(16))) f32 vectors[CHUNK][STRIDE];
    grid_dependency_launch();
    grid_dependency_wait();
    const Chunk chunk = find_chunk(p.sequences, p.slots, block_x());
    if (chunk.count == 0) return;
    const u32 head = block_y(), lane = lane_id(), wave = wave_id();
    u16 *keys = p.keys + ((u64)block_x() * grid_blocks_y() + head) * Tiles::ALL;
    const f32 q_scale = fast_rsqrt((f32)p.key_dim);
    UNROLL for (u32 is_k = 0; is_k < 2; is_k++) {
        for (u32 token = wave; token < CHUNK; token += KEY_WAVES) {
            const bool is_there = token < chunk.count;
            const u64 row = chunk.first + (is_there ? token : 0);
            const f32 *x = (is_k ? p.k + row * p.k_width : p.q + row * p.q_width) + (u64)head * p.key_dim;
            f32 kept[COLUMNS], squares = 0.0f;
            UNROLL for (u32 c = 0; c < COLUMNS; c++) {
                const u32 column = c * WAVE + lane;
                kept[c] = is_there && column < p.key_dim ? x[column] : 0.0f;
                squares = mul_add(kept[c], kept[c], squares);
            }
            const f32 scale = fast_rsqrt(wave_sum(squares) + p.eps) * (is_k ? 1.0f : q_scale);
            UNROLL for (u32 c = 0; c < COLUMNS; c++) vectors[token][c * WAVE + lane] = kept[c] * scale;
        }
        barrier_shared();
        u16 *to = keys + is_k * Tiles::EACH;
        for (u32 tile = wave; tile < CHUNK_TILES * Tiles::COLUMNS; tile += KEY_WAVES) {
            const u32 token = tile / Tiles::COLUMNS, column = tile % Tiles::COLUMNS;
            keep(to + tile * 2 * TILE_NUMBERS, make_halves<false>(&vectors[token * 16][column * 16], STRIDE));
            if (is_k) {
                const u32 turned = (column * CHUNK_TILES + token) * 2 * TILE_NUMBERS;
                keep(to + Tiles::EACH + turned, make_halves<true>(&vectors[token * 16][column * 16], STRIDE));
            }
        }
        barrier_shared();
    }
}

#if HAS_MATRIX_UNIT
#define KEYS_KERNEL(NAME, DIM)                                                                                     \
    KERNEL(KEY_WAVES * WAVE) void NAME(const f32 *q, const f32 *k, u16 *keys, const Sequence *sequences, u32 slots,    \
                                   u32 q_width, u32 k_width, u32 key_dim, f32 eps) {                               \
        prepare_keys<DIM>({q, k, keys, sequences, slots, q_width, k_width, key_dim, eps});                         \
    }
KEYS_KERNEL(mlxrocm_delta_keys_64, 64)
KEYS_KERNEL(mlxrocm_delta_keys_128, 128)
#endif
