// out[r][c] = f(Σ_j weight[j][c] · x[r − (taps − 1) + j][c]) over the tokens of r's sequence: a causal convolution of
// each channel, f the SiLU or nothing. Tokens before the batch's come from the slot (zeros in a fresh sequence), which
// keeps the last taps − 1 rows of x: one copy is read, the other written (sequence.h).
//
// Launch: CHANNELS threads, a channel each; grid (channels / CHANNELS, rows). Rows whose position is UNUSED become zero.
#include "common/math.h"
#include "sequence.h"

#define CHANNELS 256
KERNEL(CHANNELS)
void mlxrocm_short_conv_f32(const f32 *x, const f32 *weight, f32 *out, f32 *state, u32 slots, u32 floats, const u32 *positions,
                            const u32 *slice_of, const Sequence *sequences, u32 channels, u32 taps, u32 with_silu) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 row = block_y(), channel = block_x() * CHANNELS + thread_x();
    if (channel >= channels) return;
    if (positions[row] == 0xffffffffu) {
        out[(u64)row * channels + channel] = 0.0f;
        return;
    }
    const Sequence sequence = sequences[slice_of[row]];
    const u32 token = row - sequence.first, tail = taps - 1;
    const f32 *old = state + state_place(sequence, slots, floats, false) + channel;
    f32 *next = state + state_place(sequence, slots, floats, true) + channel;
    x += (u64)row * channels + channel;
    f32 sum = 0.0f;
    for (u32 j = 0; j < taps; j++) {
        const u32 back = tail - j;
        f32 value = 0.0f;
        if (token >= back)
            value = *(x - (u64)back * channels);
        else if (!sequence.fresh())
            value = old[(u64)(token + j) * channels];
        sum = mul_add(weight[(u64)j * channels + channel], value, sum);
    }
    out[(u64)row * channels + channel] = with_silu ? silu(sum) : sum;
    if (token + tail >= sequence.tokens) next[(u64)(token + tail - sequence.tokens) * channels] = *x;
    if (token == 0)
        for (u32 t = 0; t + sequence.tokens < tail; t++)
            next[(u64)t * channels] = sequence.fresh() ? 0.0f : old[(u64)(t + sequence.tokens) * channels];
}
