// The gated delta rule (delta.h) of many tokens of a sequence, a chunk of 64 at a time, as products of matrices. With l_i the
// logarithm of token i's decay, L_i the sum of those of the chunk's tokens up to it, and S the state before the chunk:
//
//   A[i][j] = β_i exp(L_i − L_j) k_i·k_j  (j < i),      T = (1 + A)⁻¹
//   P[i][j] =     exp(L_i − L_j) q_i·k_j  (j ≤ i)
//   R[i] = β_i (v_i − exp(L_i) S k_i),    V' = T R
//   out[i] = exp(L_i) S q_i + Σ_j P[i][j] V'[j],        S <- exp(L_64) S + Σ_j exp(L_64 − L_j) V'[j] k_jᵀ
//
// (Yang, Kautz, Hatamizadeh, "Gated Delta Networks", 2024: the form for chunks.) What a product takes is the sum of two numbers of
// bf16 (the second is rounded), of whose products three of the four are added: 2⁻¹⁶ of a number is lost, however small it is.
//
// Three launches: delta_keys.hip of the chunks and key heads, delta_chunks.hip of the chunks and value heads, delta_states.hip of
// the sequences, chunk after chunk. Between them lie, chunk after chunk, tiles of 16 by 16 as the matrix unit takes them:
//
//   keys     [key heads] KeyTiles
//   squares  [value heads] of T, of P; what is right of the tiles at the diagonal is not there
//   gates    [value heads][3][64] of f32: exp(L_i), β_i, exp(L_64 − L_i)
//
// Sequences of fewer than CHUNK tokens are delta.h's. A token that is not there has k = 0, β = 0 and l = 0.
#pragma once

#include "common/tile.h"
#include "ops/recurrent/sequence.h"

#define CHUNK 64u
// Waves of a block of each launch.
#define KEY_WAVES 8
#define CHUNK_WAVES 4
#define STATE_WAVES 8
#define CHUNK_TILES 4

// The rows of a chunk; none if there is no such chunk.
struct Chunk {
    u32 first, count;
};

DEVICE u32 chunks_of(Sequence sequence) { return sequence.tokens < CHUNK ? 0 : (sequence.tokens + CHUNK - 1) / CHUNK; }

DEVICE Chunk find_chunk(const Sequence *sequences, u32 slots, u32 index) {
    for (u32 slot = 0; slot < slots; slot++) {
        const Sequence sequence = sequences[slot];
        const u32 chunks = chunks_of(sequence);
        if (index < chunks) return {sequence.first + index * CHUNK, minimum(CHUNK, sequence.tokens - index * CHUNK)};
        index -= chunks;
    }
    return {0, 0};
}

// x as the sum of two numbers of bf16: the first below, the second above.
DEVICE u32 halves(f32 x) {
    const u32 high = f32_bits(x) & 0xffff0000u;
    return high >> 16 | (u32)to_bf16(x - bits_f32(high)).bits << 16;
}

// Puts the halves of x where they belong, `low` numbers apart.
DEVICE void put(u16 *to, u32 low, f32 x) {
    const u32 both = halves(x);
    to[0] = (u16)both, to[low] = (u16)(both >> 16);
}

// A tile and its second half.
struct Halves {
    Tile16 high, low;
};
DEVICE void multiply(TileC &c, const Halves &a, const Halves &b) {
    tile_multiply_bf16(c, a.low, b.high);
    tile_multiply_bf16(c, a.high, b.low);
    tile_multiply_bf16(c, a.high, b.high);
}

// Tiles that come from shared memory: the halves of numbers `low` apart.
template <bool IS_A> DEVICE Halves load_halves(const u16 *first, u32 stride, u32 low) {
    return {tile_load<IS_A>(first, stride), tile_load<IS_A>(first + low, stride)};
}
// The same of f32; TURNED: whose rows lie one beside the other.
template <bool TURNED> DEVICE Halves make_halves(const f32 *first, u32 stride) {
    Halves tile;
    const u32 lane = lane_id();
    UNROLL for (u32 row = 0; row < LANE_ROWS; row++) {
        const u32 index = tile_b_row(lane, row);
        UNROLL for (u32 i = 0; i < LANE_K / 2; i++) {
            const u32 k = tile_k(lane) + 2 * i;
            const u32 a = halves(TURNED ? first[k * stride + index] : first[index * stride + k]);
            const u32 b = halves(TURNED ? first[(k + 1) * stride + index] : first[index * stride + k + 1]);
            tile.high.r[row * (LANE_K / 2) + i] = (a & 0xffffu) | b << 16;
            tile.low.r[row * (LANE_K / 2) + i] = a >> 16 | (b & 0xffff0000u);
        }
    }
    return tile;
}

// Tiles as they lie in global memory: what a lane holds side by side, lane after lane (of RDNA 3 the lower lanes, whose numbers
// the upper ones have too). A and B are alike where there is a matrix unit.
#define TILE_NUMBERS 256
#define TILE_LANES (128 / LANE_REGISTERS)
DEVICE void keep_tile(u16 *to, const Tile16 &tile) {
    const u32 lane = lane_id();
    if (lane >= TILE_LANES) return;
    u32 *words = (u32 *)to + lane * LANE_REGISTERS;
    if constexpr (LANE_REGISTERS == 2) store8(words, u32x2{tile.r[0], tile.r[1]});
    else
        UNROLL for (u32 i = 0; i < LANE_REGISTERS; i += 4)
            store16(words + i, u32x4{tile.r[i], tile.r[i + 1], tile.r[i + 2], tile.r[i + 3]});
}
DEVICE Tile16 kept_tile(const u16 *from) {
    Tile16 tile;
    const u32 *words = (const u32 *)from + lane_id() % TILE_LANES * LANE_REGISTERS;
    if constexpr (LANE_REGISTERS == 2) {
        const u32x2 v = load8(words);
        tile.r[0] = v.x, tile.r[1] = v.y;
    } else {
        UNROLL for (u32 i = 0; i < LANE_REGISTERS; i += 4) {
            const u32x4 v = load16(words + i);
            tile.r[i] = v.x, tile.r[i + 1] = v.y, tile.r[i + 2] = v.z, tile.r[i + 3] = v.w;
        }
    }
    return tile;
}
DEVICE void keep(u16 *to, const Halves &tile) { keep_tile(to, tile.high), keep_tile(to + TILE_NUMBERS, tile.low); }
DEVICE Halves kept(const u16 *from) { return {kept_tile(from), kept_tile(from + TILE_NUMBERS)}; }

// Of a chunk and key head: tiles of q [token][column], of k, of k turned over [column][token].
template <int DIM> struct KeyTiles {
    static constexpr u32 COLUMNS = DIM / 16, EACH = CHUNK_TILES * COLUMNS * 2 * TILE_NUMBERS, ALL = 3 * EACH;
    const u16 *at;
    METHOD Halves q(u32 token, u32 column) const { return kept(at + (token * COLUMNS + column) * 2 * TILE_NUMBERS); }
    METHOD Halves k(u32 token, u32 column) const { return kept(at + EACH + (token * COLUMNS + column) * 2 * TILE_NUMBERS); }
    METHOD Halves turned(u32 column, u32 token) const {
        return kept(at + 2 * EACH + (column * CHUNK_TILES + token) * 2 * TILE_NUMBERS);
    }
};
// Of a chunk and value head: tiles of T, then of P.
#define SQUARE_TILES (CHUNK_TILES * CHUNK_TILES)
#define SQUARE_NUMBERS (SQUARE_TILES * 2 * TILE_NUMBERS)
DEVICE u32 square_tile(u32 row, u32 column) { return (row * CHUNK_TILES + column) * 2 * TILE_NUMBERS; }
