// A gated delta net's layer of few tokens in one launch: the short convolution of its q, k and v (conv.hip), the gated delta rule
// (delta.h) and, where a norm is given, the norm of each head times the SiLU of a gate (gated_norm.hip), with the operations of
// these in the same order: the same bits.
//
// What does not come from the launches in front, the state above all, is asked for before they have ended.
//
// Launch: 512 threads; grid (value heads, slots of the batch). Keys of up to 64 or 128 columns, values of up to 128, up to four
// taps. A thread convolves one channel: q's, then k's, then v's; 8 lanes take two rows of the state, a quarter of the threads
// what is a block's of delta.h.
#include "common/math.h"
#include "ops/recurrent/delta.h"

#define STEP_THREADS 512
#define STEP_VALUES 128
#define STEP_TAPS 4

struct DeltaStep {
    const f32 *x, *taps;
    f32 *tail;
    const f32 *decay, *beta, *rate, *floor, *z, *norm;
    f32 *out, *state;
    u32 slots, floats;
    const Sequence *sequences;
    u32 channels, tap_count, with_silu, q_column, k_column, v_column, heads, ratio, tiled, key_dim, value_dim;
    f32 eps, norm_eps;
};

template <int DIM> DEVICE void delta_step(const DeltaStep &p) {
    constexpr u32 COLUMNS = DIM / WAVE, PIECES = DIM / 32, TAIL = STEP_TAPS - 1, WAVES = STEP_VALUES / WAVE;
    static_assert(2 * DIM + STEP_VALUES <= STEP_THREADS && STEP_VALUES == STEP_THREADS / THREADS * ROWS, "a thread a channel");
    SHARED f32x4 keys[2][DIM / 4]; // q and k, not normalized
    SHARED f32 values[STEP_VALUES], results[STEP_VALUES];
    grid_dependency_launch();
    const Sequence sequence = p.sequences[block_y()];
    if (sequence.tokens == 0) {
        grid_dependency_wait();
        return;
    }
    const u32 head = block_x(), thread = thread_x(), lane = lane_id();
    const u32 key_head = p.tiled ? head % p.ratio : head / p.ratio;
    const u32 block = thread / THREADS, part = thread % LANES, row = thread % THREADS / LANES;
    const u32 blocks = (p.value_dim + ROWS - 1) / ROWS;
    const bool has_rows = block < blocks;
    const u64 place = (((u64)head * blocks + block) * OWN * PIECES * THREADS + thread % THREADS) * 4;
    const u64 from = state_place(sequence, p.slots, p.floats, false), to = state_place(sequence, p.slots, p.floats, true);
    const bool reads = has_rows && !sequence.fresh();
    f32x4 s[OWN][PIECES];
    UNROLL for (u32 r = 0; r < OWN; r++) UNROLL for (u32 c = 0; c < PIECES; c++) {
        s[r][c] = f32x4{0.0f, 0.0f, 0.0f, 0.0f};
        if (reads) s[r][c] = *(const f32x4 *)(p.state + from + place + (u64)(r * PIECES + c) * THREADS * 4);
    }
    // The thread's channel, `at` its place among q's, k's or v's.
    const u32 which = thread < 2 * DIM ? thread / DIM : 2, at = thread - which * DIM;
    const u32 width = which == 2 ? p.value_dim : p.key_dim, of_head = which == 2 ? head : key_head;
    const bool convolves = at < width;
    const u32 channel = (which == 0 ? p.q_column : which == 1 ? p.k_column : p.v_column) + of_head * width + at;
    // Of the value heads that share a key head the first keeps its tail.
    const bool keeps = convolves && (which == 2 || (p.tiled ? head < p.ratio : head % p.ratio == 0));
    const u32 missing = STEP_TAPS - p.tap_count;
    f32 window[TAIL], weight[STEP_TAPS];
    UNROLL for (u32 j = 0; j < STEP_TAPS; j++) {
        const bool there = convolves && j >= missing;
        weight[j] = there ? p.taps[(u64)(j - missing) * p.channels + channel] : 0.0f;
        if (j < TAIL)
            window[j] = there && !sequence.fresh() ? p.tail[from + (u64)(j - missing) * p.channels + channel] : 0.0f;
    }
    const bool is_result = thread < p.value_dim;
    const f32 norm = p.norm && is_result ? p.norm[thread] : 1.0f;
    const f32 rate = p.rate ? p.rate[head] : 0.0f, floor = p.floor ? p.floor[head] : 0.0f;
    const f32 q_scale = fast_rsqrt((f32)p.key_dim);
    grid_dependency_wait();
    for (u32 token = 0; token < sequence.tokens; token++) {
        const u64 batch = sequence.first + token, result = (batch * p.heads + head) * p.value_dim + thread;
        const f32 x = convolves ? p.x[batch * p.channels + channel] : 0.0f;
        const f32 a = p.decay[batch * p.heads + head], b = p.beta[batch * p.heads + head];
        const f32 z = p.norm && is_result ? p.z[result] : 0.0f;
        f32 sum = 0.0f;
        UNROLL for (u32 j = 0; j < TAIL; j++) sum = mul_add(weight[j], window[j], sum);
        sum = mul_add(weight[TAIL], x, sum);
        UNROLL for (u32 j = 0; j + 1 < TAIL; j++) window[j] = window[j + 1];
        window[TAIL - 1] = x;
        if (p.with_silu) sum = silu(sum);
        if (which < 2) ((f32 *)keys[which])[at] = sum;
        else if (at < STEP_VALUES) values[at] = sum;
        const f32 decay = p.rate ? fast_exp(rate * log_add_exp(a, floor)) : a, beta = p.rate ? sigmoid(b) : b;
        barrier();
        // Each wave for itself: the lengths of q and k.
        f32 scales[2];
        UNROLL for (u32 i = 0; i < 2; i++) {
            f32 squares = 0.0f;
            UNROLL for (u32 c = 0; c < COLUMNS; c++) {
                const f32 v = ((const f32 *)keys[i])[c * WAVE + lane];
                squares = mul_add(v, v, squares);
            }
            scales[i] = fast_rsqrt(wave_sum(squares) + p.eps) * (i ? 1.0f : q_scale);
        }
        f32x4 key[PIECES], query[PIECES];
        UNROLL for (u32 c = 0; c < PIECES; c++) {
            const f32x4 q = keys[0][c * LANES + part], k = keys[1][c * LANES + part];
            query[c] = f32x4{q.x * scales[0], q.y * scales[0], q.z * scales[0], q.w * scales[0]};
            key[c] = f32x4{k.x * scales[1], k.y * scales[1], k.z * scales[1], k.w * scales[1]};
        }
        f32 of_rows[OWN], sums[OWN];
        UNROLL for (u32 r = 0; r < OWN; r++) of_rows[r] = values[block * ROWS + r * GROUPS + row];
        auto decayed = [&](const f32x4 &v, u32) { return f32x4{v.x * decay, v.y * decay, v.z * decay, v.w * decay}; };
        take_token<PIECES, true>(s, key, query, decayed, beta, of_rows, sums);
        UNROLL for (u32 r = 0; r < OWN; r++) {
            const f32 of_row = wave_sum<LANES>(sums[r]);
            if (part == 0) results[block * ROWS + r * GROUPS + row] = of_row;
        }
        barrier();
        if (thread >= STEP_VALUES) continue;
        f32 y = results[thread];
        if (p.norm) {
            f32 squares = 0.0f;
            UNROLL for (u32 i = 0; i < WAVES; i++) {
                const f32 v = results[i * WAVE + lane], of_wave = wave_sum(i * WAVE + lane < p.value_dim ? v * v : 0.0f);
                squares = i ? squares + of_wave : of_wave;
            }
            y = y * fast_rsqrt(squares / (f32)p.value_dim + p.norm_eps) * norm * silu(z);
        }
        if (is_result) p.out[result] = y;
    }
    UNROLL for (u32 r = 0; r < OWN; r++) UNROLL for (u32 c = 0; c < PIECES; c++)
        if (has_rows) *(f32x4 *)(p.state + to + place + (u64)(r * PIECES + c) * THREADS * 4) = s[r][c];
    UNROLL for (u32 j = 0; j < TAIL; j++)
        if (keeps && j >= missing) p.tail[to + (u64)(j - missing) * p.channels + channel] = window[j];
    // What reads all rows of the batch finds numbers.
    const u64 end = sequence.first + sequence.tokens;
    for (u32 i = 0; is_result && i < sequence.unused(); i++) p.out[((end + i) * p.heads + head) * p.value_dim + thread] = 0.0f;
}

#define DELTA_STEP(NAME, DIM)                                                                                              \
    KERNEL(STEP_THREADS) void NAME(                                                                                        \
        const f32 *x, const f32 *taps, f32 *tail, const f32 *decay, const f32 *beta, const f32 *rate, const f32 *floor,    \
        const f32 *z, const f32 *norm, f32 *out, f32 *state, u32 slots, u32 floats, const Sequence *sequences,             \
        u32 channels, u32 tap_count, u32 with_silu, u32 q_column, u32 k_column, u32 v_column, u32 heads, u32 ratio,        \
        u32 tiled, u32 key_dim, u32 value_dim, f32 eps, f32 norm_eps) {                                                    \
        delta_step<DIM>({x, taps, tail, decay, beta, rate, floor, z, norm, out, state, slots, floats, sequences, channels, \
                         tap_count, with_silu, q_column, k_column, v_column, heads, ratio, tiled, key_dim, value_dim, eps, \
                         norm_eps});                                                                                       \
    }
DELTA_STEP(mlxrocm_delta_step_64, 64)
DELTA_STEP(mlxrocm_delta_step_128, 128)
