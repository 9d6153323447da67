// State space models whose every number decays on its own (Mamba's first form): for each token of a sequence and each channel h,
// with the channel's state S [columns],
//   S[c] <- decay[h][c] · S[c] + beta[h] · v[h] · k[c],  out[h] = Σ_c S[c] · q[c],
// k and q of the channel's key head, h / ratio or h mod ratio (`tiled`). Token after token by the same operations, however many are in
// the batch. S is read from one copy of the slot and written to the other (sequence.h), [channels][columns].
//
// q, k: [tokens][width], of which a head has `columns`; v: [tokens][v_width]; decay: [tokens][channels · columns]; beta, out:
// [tokens][channels].
//
// Launch: 128 threads, a channel each; grid (channels / 128, slots of the batch). Up to 16 columns.
#include "common/platform.h"
#include "ops/recurrent/sequence.h"

#define THREADS 128

struct Scan {
    const f32 *q, *k, *v, *decay, *beta;
    f32 *out, *state;
    u32 slots, floats;
    const Sequence *sequences;
    u32 q_width, k_width, v_width, channels, ratio, tiled, columns;
};

template <int COLUMNS> DEVICE void selective_scan(const Scan &p) {
    grid_dependency_launch();
    grid_dependency_wait();
    const Sequence sequence = p.sequences[block_y()];
    const u32 channel = block_x() * THREADS + thread_x();
    if (sequence.tokens == 0 || channel >= p.channels) return;
    const u32 key = (p.tiled ? channel % p.ratio : channel / p.ratio) * p.columns;
    const f32 *from = p.state + state_place(sequence, p.slots, p.floats, false) + (u64)channel * p.columns;
    f32 *to = p.state + state_place(sequence, p.slots, p.floats, true) + (u64)channel * p.columns;
    f32 s[COLUMNS];
    UNROLL for (u32 c = 0; c < COLUMNS; c++) s[c] = c < p.columns && !sequence.fresh() ? from[c] : 0.0f;
    for (u64 token = sequence.first; token < sequence.first + sequence.tokens; token++) {
        const f32 *decay = p.decay + (token * p.channels + channel) * p.columns;
        const f32 *k = p.k + token * p.k_width + key, *q = p.q + token * p.q_width + key;
        const f32 change = p.beta[token * p.channels + channel] * p.v[token * p.v_width + channel];
        f32 sum = 0.0f;
        UNROLL for (u32 c = 0; c < COLUMNS; c++) {
            if (c < p.columns) {
                s[c] = mul_add(change, k[c], decay[c] * s[c]);
                sum = mul_add(s[c], q[c], sum);
            }
        }
        p.out[token * p.channels + channel] = sum;
    }
    // What reads all rows of the batch finds numbers.
    const u64 end = sequence.first + sequence.tokens;
    for (u32 i = 0; i < sequence.unused(); i++) p.out[(end + i) * p.channels + channel] = 0.0f;
    UNROLL for (u32 c = 0; c < COLUMNS; c++)
        if (c < p.columns) to[c] = s[c];
}

#define SELECTIVE_SCAN(NAME, COLUMNS)                                                                                  \
    KERNEL(THREADS) void NAME(const f32 *q, const f32 *k, const f32 *v, const f32 *decay, const f32 *beta, f32 *out,   \
                              f32 *state, u32 slots, u32 floats, const Sequence *sequences, u32 q_width, u32 k_width,  \
                              u32 v_width, u32 channels, u32 ratio, u32 tiled, u32 columns) {                          \
        selective_scan<COLUMNS>({q, k, v, decay, beta, out, state, slots, floats, sequences, q_width, k_width, v_width, \
                                 channels, ratio, tiled, columns});                                                    \
    }
SELECTIVE_SCAN(mlxrocm_selective_scan_16, 16)
