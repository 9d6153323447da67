// The third launch of delta_chunks.h: a sequence's chunks one after the other, and its state. The state lies as delta.h has it.
//
// Launch: 8 waves; grid (value_dim / 32, value heads, slots of the batch): a block takes 32 rows of a head's state, in the sums of
// the matrix unit, a wave all 32 rows of 16 columns (of keys of 64 columns 16 rows). Of what is given per token a wave takes 16
// tokens and 16 rows.
#include "ops/recurrent/delta_chunks.h"
#include "ops/recurrent/delta.h"

// AMD has no registers for more.
#if defined(__GFX11__)
#define UNROLL_KEYS _Pragma("unroll 1")
#elif PLATFORM_AMD
#define UNROLL_KEYS _Pragma("unroll 2")
#else
#define UNROLL_KEYS UNROLL
#endif

#if defined(__GFX11__)
#define LATER_OVER_REST 1
#else
#define LATER_OVER_REST 0
#endif

struct States {
    const u16 *keys, *squares;
    const f32 *gates, *v;
    f32 *out, *state;
    u32 slots, floats;
    const Sequence *sequences;
    u32 v_width, heads, key_heads, ratio, tiled, value_dim;
};

// DIM: columns of the keys, padded. From row to row in shared memory: rows that are read together lie in different banks.
template <int DIM> struct StatesMemory {
    static constexpr u32 WIDE = DIM + (PLATFORM_NVIDIA ? 16 : 8), NARROW = CHUNK + (PLATFORM_NVIDIA ? 16 : 8);
    // Numbers of a half: of the state [row][column], of R, V' and V' times exp(L_64 − L) [row][token].
    static constexpr u32 STATE = ROWS * WIDE, VALUES = ROWS * NARROW;
    // RDNA 3: the last lie where R was, so that three blocks fit a pair of compute units.
    static constexpr u32 BYTES = (2 * STATE + (LATER_OVER_REST ? 4 : 6) * VALUES) * 2;
};
static_assert(StatesMemory<128>::BYTES <= 49152, "what NVIDIA gives without asking");

// Where the number of a row and column of the block's part of the state lies in it (delta.h).
template <int DIM> DEVICE u32 state_number(u32 row, u32 column) {
    const u32 thread = row % GROUPS * LANES + column % 32 / 4;
    return ((row / GROUPS * (DIM / 32) + column / 32) * THREADS + thread) * 4 + column % 4;
}

template <int DIM> DEVICE void pass_chunks(const States &p, u8 *memory) {
    typedef StatesMemory<DIM> M;
    constexpr u32 KEY_TILES = DIM / 16, TILES = CHUNK_TILES, OWN_TILES = ROWS / 16 * KEY_TILES / STATE_WAVES;
    u16 *of_state = (u16 *)memory, *of_rest = of_state + 2 * M::STATE, *of_change = of_rest + 2 * M::VALUES;
    u16 *of_later = LATER_OVER_REST ? of_rest : of_change + 2 * M::VALUES;
    grid_dependency_launch();
    grid_dependency_wait();
    const Sequence sequence = p.sequences[block_z()];
    const u32 count = chunks_of(sequence);
    if (count == 0) return;
    u32 chunk = 0;
    for (u32 slot = 0; slot < block_z(); slot++) chunk += chunks_of(p.sequences[slot]);
    const u32 head = block_y(), lane = lane_id(), wave = uniform(wave_id()), first_row = block_x() * ROWS;
    const u32 key_head = p.tiled ? head % p.ratio : head / p.ratio;
    const u64 place = ((u64)head * grid_blocks_x() + block_x()) * ROWS * DIM;
    const f32 *from = p.state + state_place(sequence, p.slots, p.floats, false) + place;
    f32 *to = p.state + state_place(sequence, p.slots, p.floats, true) + place;
    // Tiles of the state: of the wave's `o`-th the first row and column.
    auto tile_row = [&](u32 o) { return (wave + o * STATE_WAVES) / KEY_TILES * 16; };
    const u32 key_tile = wave % KEY_TILES * 16;
    TileC s[OWN_TILES];
    UNROLL for (u32 o = 0; o < OWN_TILES; o++) UNROLL for (u32 i = 0; i < TILE_C; i++) {
        const u32 number = state_number<DIM>(tile_row(o) + tile_c_row(lane, i), key_tile + tile_c_column(lane, i));
        s[o].c[i] = sequence.fresh() ? 0.0f : from[number];
    }
    // Tokens of the wave, its rows of the block's, and where its first number lies in [row][token].
    const u32 token_tile = wave % TILES, token = token_tile * 16, row = wave / TILES * 16;
    for (u32 done = 0; done < count; done++, chunk++) {
        const u32 batch = sequence.first + done * CHUNK, tokens = minimum(CHUNK, sequence.tokens - done * CHUNK);
        const KeyTiles<DIM> tiles = {p.keys + ((u64)chunk * p.key_heads + key_head) * KeyTiles<DIM>::ALL};
        const u16 *triangle = p.squares + ((u64)chunk * p.heads + head) * 2 * SQUARE_NUMBERS;
        const f32 *gates = p.gates + ((u64)chunk * p.heads + head) * 3 * CHUNK;
        UNROLL for (u32 o = 0; o < OWN_TILES; o++) UNROLL for (u32 i = 0; i < TILE_C; i++)
            put(of_state + (tile_row(o) + tile_c_row(lane, i)) * M::WIDE + key_tile + tile_c_column(lane, i), M::STATE, s[o].c[i]);
        f32 value[TILE_C], grown[TILE_C_ROWS], beta[TILE_C_ROWS], later[TILE_C_ROWS];
        UNROLL for (u32 i = 0; i < TILE_C; i++) {
            const u32 at = token + tile_c_row(lane, i), column = first_row + row + tile_c_column(lane, i);
            const bool is_there = at < tokens && column < p.value_dim;
            value[i] = is_there ? p.v[(u64)(batch + at) * p.v_width + (u64)head * p.value_dim + column] : 0.0f;
        }
        UNROLL for (u32 r = 0; r < TILE_C_ROWS; r++) {
            const f32 *gate = gates + token + tile_c_slot_row(lane, r);
            grown[r] = gate[0], beta[r] = gate[CHUNK], later[r] = gate[2 * CHUNK];
        }
        const f32 decay = gates[CHUNK - 1];
        barrier_shared();
        TileC known = tile_zero(), out = tile_zero();
        UNROLL_KEYS for (u32 c = 0; c < KEY_TILES; c++) {
            const Halves keys = tiles.k(token_tile, c), queries = tiles.q(token_tile, c);
            const Halves states = load_halves<false>(of_state + row * M::WIDE + c * 16, M::WIDE, M::STATE);
            multiply(known, keys, states);
            multiply(out, queries, states);
        }
        Halves of_rows[TILES];
        UNROLL for (u32 c = 0; c < TILES; c++)
            if (c <= token_tile) of_rows[c] = kept(triangle + square_tile(token_tile, c));
        // Where a token's number of a row goes.
        auto at = [&](u32 i) { return (row + tile_c_column(lane, i)) * M::NARROW + token + tile_c_row(lane, i); };
        UNROLL for (u32 i = 0; i < TILE_C; i++) {
            const u32 r = tile_c_slot(i);
            put(of_rest + at(i), M::VALUES, beta[r] * (value[i] - grown[r] * known.c[i]));
            out.c[i] *= grown[r];
        }
        barrier_shared();
        TileC change = tile_zero();
        UNROLL for (u32 c = 0; c < TILES; c++) {
            if (c > token_tile) continue;
            multiply(change, of_rows[c], load_halves<false>(of_rest + row * M::NARROW + c * 16, M::NARROW, M::VALUES));
            of_rows[c] = kept(triangle + SQUARE_NUMBERS + square_tile(token_tile, c));
        }
        UNROLL for (u32 i = 0; i < TILE_C; i++) {
            put(of_change + at(i), M::VALUES, change.c[i]);
            if (!LATER_OVER_REST) put(of_later + at(i), M::VALUES, change.c[i] * later[tile_c_slot(i)]);
        }
        barrier_shared();
        if (LATER_OVER_REST) UNROLL for (u32 i = 0; i < TILE_C; i++)
            put(of_later + at(i), M::VALUES, change.c[i] * later[tile_c_slot(i)]);
        UNROLL for (u32 c = 0; c < TILES; c++) {
            if (c > token_tile) continue;
            multiply(out, of_rows[c], load_halves<false>(of_change + row * M::NARROW + c * 16, M::NARROW, M::VALUES));
        }
        if (LATER_OVER_REST) barrier_shared();
        UNROLL for (u32 o = 0; o < OWN_TILES; o++) UNROLL for (u32 i = 0; i < TILE_C; i++) s[o].c[i] *= decay;
        UNROLL_KEYS for (u32 c = 0; c < TILES; c++) {
            const Halves keys = tiles.turned(key_tile / 16, c);
            UNROLL for (u32 o = 0; o < OWN_TILES; o++)
                multiply(s[o], load_halves<true>(of_later + tile_row(o) * M::NARROW + c * 16, M::NARROW, M::VALUES), keys);
        }
        UNROLL for (u32 i = 0; i < TILE_C; i++) {
            const u32 of = token + tile_c_row(lane, i), column = first_row + row + tile_c_column(lane, i);
            if (of < tokens && column < p.value_dim)
                p.out[((u64)(batch + of) * p.heads + head) * p.value_dim + column] = out.c[i];
        }
    }
    // What reads all rows of the batch finds numbers.
    const u64 end = sequence.first + sequence.tokens;
    for (u32 i = thread_x(); i < sequence.unused() * ROWS; i += STATE_WAVES * WAVE)
        if (first_row + i % ROWS < p.value_dim)
            p.out[((end + i / ROWS) * p.heads + head) * p.value_dim + first_row + i % ROWS] = 0.0f;
    UNROLL for (u32 o = 0; o < OWN_TILES; o++) UNROLL for (u32 i = 0; i < TILE_C; i++)
        to[state_number<DIM>(tile_row(o) + tile_c_row(lane, i), key_tile + tile_c_column(lane, i))] = s[o].c[i];
}

#if HAS_MATRIX_UNIT
#define STATES_KERNEL(NAME, DIM)                                                                                           \
    KERNEL(STATE_WAVES * WAVE) void NAME(const u16 *keys, const u16 *squares, const f32 *gates, const f32 *v, f32 *out,          \
                                   f32 *state, u32 slots, u32 floats, const Sequence *sequences, u32 v_width,        \
                                   u32 heads, u32 key_heads, u32 ratio, u32 tiled, u32 value_dim) {                        \
        SHARED __attribute__((aligned(16))) u8 memory[StatesMemory<DIM>::BYTES];                                           \
        pass_chunks<DIM>({keys, squares, gates, v, out, state, slots, floats, sequences, v_width, heads, key_heads,  \
                          ratio, tiled, value_dim}, memory);                                                               \
    }
STATES_KERNEL(mlxrocm_delta_states_64, 64)
STATES_KERNEL(mlxrocm_delta_states_128, 128)
#endif
