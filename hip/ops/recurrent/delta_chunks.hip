// The second launch of delta_chunks.h: the gates of a chunk and value head, T and P.
//
// T by its four blocks of 32: those at the diagonal column by column, T[i][c] = [i = c] − Σ_j A[i][j] T[j][c], then the one below,
// −T₂₂ (A₂₁ T₁₁); in f32.
//
// Launch: 4 waves, each with 16 rows; grid (chunks, value heads).
#include "common/log_add_exp.h"
#include "ops/recurrent/delta_chunks.h"

#define THREADS (CHUNK_WAVES * WAVE)
// Columns of T's blocks, and from row to row in shared memory.
#define SIDE (CHUNK / 2)
#define STRIDE (CHUNK + 4)
// RDNA 3's tiles take twice the registers.
#if defined(__GFX11__)
#define UNROLL_TILES _Pragma("unroll 2")
#else
#define UNROLL_TILES UNROLL
#endif
// Decays below e to this are taken for it: what they leave is lost beside anything else, and sums of logarithms stay exact.
#define LEAST_LOG (-30.0f)

struct Within {
    const u16 *keys;
    u16 *squares;
    f32 *gates;
    const f32 *decay, *beta, *rate, *floor;
    const Sequence *sequences;
    u32 slots, key_heads, ratio, tiled;
};

template <int DIM> DEVICE void within_chunk(const Within &p) {
    constexpr u32 TILES = CHUNK_TILES;
    SHARED __attribute__((aligned(16))) f32 a[CHUNK][STRIDE], t[CHUNK][STRIDE];
    SHARED f32 logs[CHUNK], betas[CHUNK], sums[CHUNK];
    grid_dependency_launch();
    grid_dependency_wait();
    const Chunk chunk = find_chunk(p.sequences, p.slots, block_x());
    if (chunk.count == 0) return;
    const u32 heads = grid_blocks_y(), head = block_y(), thread = thread_x(), lane = lane_id(), wave = uniform(wave_id());
    const u32 key_head = p.tiled ? head % p.ratio : head / p.ratio;
    const u64 place = (u64)block_x() * heads + head;
    if (thread < CHUNK) {
        f32 log = 0.0f, beta = 0.0f;
        if (thread < chunk.count) {
            const u64 at = (u64)(chunk.first + thread) * heads + head;
            const f32 d = p.decay[at], b = p.beta[at];
            log = p.rate ? p.rate[head] * log_add_exp(d, p.floor[head]) : fast_log(d);
            log = log < LEAST_LOG ? LEAST_LOG : log;
            beta = p.rate ? sigmoid(b) : b;
        }
        logs[thread] = log, betas[thread] = beta;
    }
    barrier_shared();
    if (thread < CHUNK) {
        f32 sum = 0.0f, all = 0.0f;
        for (u32 i = 0; i < CHUNK; i++) {
            all += logs[i];
            sum = i == thread ? all : sum;
        }
        sums[thread] = sum;
        f32 *gates = p.gates + place * 3 * CHUNK + thread;
        gates[0] = fast_exp(sum), gates[CHUNK] = betas[thread], gates[2 * CHUNK] = fast_exp(all - sum);
    }
    const KeyTiles<DIM> tiles = {p.keys + ((u64)block_x() * p.key_heads + key_head) * KeyTiles<DIM>::ALL};
    TileC of_k[TILES], of_q[TILES];
    UNROLL for (u32 n = 0; n < TILES; n++) of_k[n] = of_q[n] = tile_zero();
    UNROLL_TILES for (u32 c = 0; c < DIM / 16; c++) {
        const Halves keys = tiles.k(wave, c), queries = tiles.q(wave, c);
        UNROLL for (u32 n = 0; n < TILES; n++) {
            if (n > wave) continue;
            const Halves others = tiles.k(n, c);
            multiply(of_k[n], keys, others);
            multiply(of_q[n], queries, others);
        }
    }
    barrier_shared();
    UNROLL for (u32 n = 0; n < TILES; n++) {
        UNROLL for (u32 i = 0; i < TILE_C; i++) {
            const u32 row = wave * 16 + tile_c_row(lane, i), column = n * 16 + tile_c_column(lane, i);
            const f32 decay = column <= row ? fast_exp(sums[row] - sums[column]) : 0.0f;
            a[row][column] = column < row ? betas[row] * decay * of_k[n].c[i] : 0.0f;
            of_q[n].c[i] = column <= row ? decay * of_q[n].c[i] : 0.0f;
        }
    }
    barrier_shared();
    if (thread < CHUNK) {
        const u32 block = thread / SIDE * SIDE, column = thread % SIDE;
        f32 own[SIDE];
        UNROLL for (u32 i = 0; i < SIDE; i++) {
            f32 sum = i == column ? 1.0f : 0.0f, other = 0.0f;
            UNROLL for (u32 j = 0; j < i; j += 4) {
                const f32x4 of = *(const f32x4 *)&a[block + i][block + j];
                sum = mul_add(-of.x, own[j], sum);
                if (j + 1 < i) other = mul_add(-of.y, own[j + 1], other);
                if (j + 2 < i) sum = mul_add(-of.z, own[j + 2], sum);
                if (j + 3 < i) other = mul_add(-of.w, own[j + 3], other);
            }
            own[i] = sum + other; // 0 above the diagonal
            t[block + i][block + column] = own[i];
        }
    }
    barrier_shared();
    // Four neighbouring columns a thread; what A has at the top left is not needed any more.
    for (u32 i = thread; i < SIDE * SIDE / 4; i += THREADS) {
        const u32 row = i / (SIDE / 4), column = i % (SIDE / 4) * 4;
        f32 sum[4] = {};
        for (u32 j = 0; j < SIDE; j++)
            UNROLL for (u32 c = 0; c < 4; c++) sum[c] = mul_add(a[SIDE + row][j], t[j][column + c], sum[c]);
        UNROLL for (u32 c = 0; c < 4; c++) a[row][column + c] = sum[c];
    }
    barrier_shared();
    for (u32 i = thread; i < SIDE * SIDE / 4; i += THREADS) {
        const u32 row = i / (SIDE / 4), column = i % (SIDE / 4) * 4;
        f32 sum[4] = {};
        for (u32 j = 0; j < SIDE; j++)
            UNROLL for (u32 c = 0; c < 4; c++) sum[c] = mul_add(t[SIDE + row][SIDE + j], a[j][column + c], sum[c]);
        UNROLL for (u32 c = 0; c < 4; c++) t[SIDE + row][column + c] = -sum[c];
    }
    barrier_shared();
    // P in A's place.
    UNROLL for (u32 n = 0; n < TILES; n++) UNROLL for (u32 i = 0; i < TILE_C; i++)
        a[wave * 16 + tile_c_row(lane, i)][n * 16 + tile_c_column(lane, i)] = of_q[n].c[i];
    wave_barrier();
    u16 *to = p.squares + place * 2 * SQUARE_NUMBERS;
    for (u32 n = 0; n <= wave; n++) {
        keep(to + square_tile(wave, n), make_halves<false>(&t[wave * 16][n * 16], STRIDE));
        keep(to + SQUARE_NUMBERS + square_tile(wave, n), make_halves<false>(&a[wave * 16][n * 16], STRIDE));
    }
}

#if HAS_MATRIX_UNIT
#define CHUNKS_KERNEL(NAME, DIM)                                                                                        \
    KERNEL(THREADS) void NAME(const u16 *keys, u16 *squares, f32 *gates, const f32 *decay, const f32 *beta,             \
                              const f32 *rate, const f32 *floor, const Sequence *sequences, u32 slots, u32 key_heads,   \
                              u32 ratio, u32 tiled) {                                                                   \
        within_chunk<DIM>({keys, squares, gates, decay, beta, rate, floor, sequences, slots, key_heads, ratio, tiled}); \
    }
CHUNKS_KERNEL(mlxrocm_delta_chunks_64, 64)
CHUNKS_KERNEL(mlxrocm_delta_chunks_128, 128)
#endif
