// out[r][c] = f(Σ_j weight[j][c] · x[r − (taps − 1) + j][c]) over the tokens of r's sequence: a causal convolution of
// each channel, f the SiLU or nothing. Tokens before the batch's come from the slot (zeros in a fresh sequence), which
// keeps the last taps − 1 rows of x: one copy is read, the other written (sequence.h).
//
// Launch: 256 threads, each with a channel, or, of many rows, with FOUR neighbouring ones; grid (blocks of channels, rows). Rows
// whose position is UNUSED become zero.
#include "common/math.h"
#include "sequence.h"

#define CHANNELS 256
#define FOUR 4

struct Conv {
    const f32 *x, *weight;
    f32 *out, *state;
    u32 slots, floats;
    const u32 *positions, *slice_of;
    const Sequence *sequences;
    u32 channels, taps, with_silu;
};

template <u32 EACH> struct Channels {
    f32 c[EACH];
    DEVICE Channels load(const f32 *from) {
        if constexpr (EACH == 1) {
            return {{*from}};
        } else {
            const f32x4 v = *(const f32x4 *)from;
            return {{v.x, v.y, v.z, v.w}};
        }
    }
    METHOD void store(f32 *to) const {
        if constexpr (EACH == 1) *to = c[0];
        else *(f32x4 *)to = f32x4{c[0], c[1], c[2], c[3]};
    }
};

template <u32 EACH> DEVICE void short_conv(const Conv &p) {
    typedef Channels<EACH> Values;
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 row = block_y(), channel = (block_x() * CHANNELS + thread_x()) * EACH, channels = p.channels;
    if (channel >= channels) return;
    Values sum = {};
    if (p.positions[row] == 0xffffffffu) {
        sum.store(p.out + (u64)row * channels + channel);
        return;
    }
    const Sequence sequence = p.sequences[p.slice_of[row]];
    const u32 token = row - sequence.first, tail = p.taps - 1;
    const f32 *old = p.state + state_place(sequence, p.slots, p.floats, false) + channel;
    f32 *next = p.state + state_place(sequence, p.slots, p.floats, true) + channel;
    const f32 *x = p.x + (u64)row * channels + channel;
    for (u32 j = 0; j < p.taps; j++) {
        const u32 back = tail - j;
        Values value = {};
        if (token >= back)
            value = Values::load(x - (u64)back * channels);
        else if (!sequence.fresh())
            value = Values::load(old + (u64)(token + j) * channels);
        const Values weight = Values::load(p.weight + (u64)j * channels + channel);
        UNROLL for (u32 i = 0; i < EACH; i++) sum.c[i] = mul_add(weight.c[i], value.c[i], sum.c[i]);
    }
    if (p.with_silu) UNROLL for (u32 i = 0; i < EACH; i++) sum.c[i] = silu(sum.c[i]);
    sum.store(p.out + (u64)row * channels + channel);
    if (token + tail >= sequence.tokens) Values::load(x).store(next + (u64)(token + tail - sequence.tokens) * channels);
    if (token == 0)
        for (u32 t = 0; t + sequence.tokens < tail; t++) {
            Values value = {};
            if (!sequence.fresh()) value = Values::load(old + (u64)(t + sequence.tokens) * channels);
            value.store(next + (u64)t * channels);
        }
}

#define CONV_KERNEL(NAME, EACH)                                                                                             \
    KERNEL(CHANNELS) void NAME(const f32 *x, const f32 *weight, f32 *out, f32 *state, u32 slots, u32 floats,                \
                               const u32 *positions, const u32 *slice_of, const Sequence *sequences, u32 channels, u32 taps, \
                               u32 with_silu) {                                                                             \
        short_conv<EACH>({x, weight, out, state, slots, floats, positions, slice_of, sequences, channels, taps, with_silu}); \
    }
CONV_KERNEL(mlxrocm_short_conv_f32, 1)
CONV_KERNEL(mlxrocm_short_conv_four_f32, FOUR)
