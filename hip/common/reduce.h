// Reductions over a wave and over a block. Always the same order of operations, so the same inputs
// give the same bits; every lane (thread) gets the result.
#pragma once

#include "platform.h"

struct Sum {
    DEVICE f32 identity() { return 0.0f; }
    DEVICE f32 combine(f32 a, f32 b) { return a + b; }
};
struct Maximum {
    DEVICE f32 identity() { return bits_f32(0xff800000u); }
    DEVICE f32 combine(f32 a, f32 b) { return maximum(a, b); }
};

// Over groups of WIDTH neighbouring lanes (a power of two up to WAVE), as a butterfly: addition
// commutes, so all lanes of a group end with the same bits.
template <typename Op, int WIDTH = WAVE, typename T> DEVICE T wave_reduce(T value) {
    if constexpr (WIDTH > 1) value = Op::combine(value, shuffle_xor<1>(value));
    if constexpr (WIDTH > 2) value = Op::combine(value, shuffle_xor<2>(value));
    if constexpr (WIDTH > 4) value = Op::combine(value, shuffle_xor<4>(value));
    if constexpr (WIDTH > 8) value = Op::combine(value, shuffle_xor<8>(value));
    if constexpr (WIDTH > 16) value = Op::combine(value, shuffle_xor<16>(value));
    if constexpr (WIDTH > 32) value = Op::combine(value, shuffle_xor<32>(value));
    return value;
}
template <int WIDTH = WAVE> DEVICE f32 wave_sum(f32 value) { return wave_reduce<Sum, WIDTH>(value); }
template <int WIDTH = WAVE> DEVICE f32 wave_max(f32 value) { return wave_reduce<Maximum, WIDTH>(value); }

// Over a block of THREADS threads (a multiple of WAVE) in one dimension. `scratch` is shared memory
// of THREADS / WAVE numbers that nobody uses between the call's barriers; after the call it may be
// used again only behind a barrier.
template <typename Op, int THREADS> DEVICE f32 block_reduce(f32 value, f32 *scratch) {
    static_assert(THREADS % WAVE == 0, "a block is made of whole waves");
    value = wave_reduce<Op>(value);
    if constexpr (THREADS == WAVE) {
        return value;
    } else {
        if (lane_id() == 0) scratch[wave_id()] = value;
        barrier();
        f32 result = scratch[0];
        UNROLL for (int i = 1; i < THREADS / WAVE; i++) result = Op::combine(result, scratch[i]);
        return result;
    }
}
template <int THREADS> DEVICE f32 block_sum(f32 value, f32 *scratch) {
    return block_reduce<Sum, THREADS>(value, scratch);
}
template <int THREADS> DEVICE f32 block_max(f32 value, f32 *scratch) {
    return block_reduce<Maximum, THREADS>(value, scratch);
}

// Whether of the `count` blocks that share `counter` this is the last to come here, which then sees what
// the others wrote before. All threads of a block call it together; the last block sets the counter to 0 again.
// `last`: shared memory that nobody uses once all threads have come here.
DEVICE bool is_last_block(u32 *counter, u32 count, u32 *last) {
    // NVIDIA: the one thread's fence also orders what the barrier ordered before it.
    if (PLATFORM_AMD) fence_device();
    barrier();
    if (thread_x() == 0) {
        *last = atomic_add_acq_rel(counter, 1) == count - 1;
        if (*last) *counter = 0;
    }
    barrier();
    if (PLATFORM_AMD && *last) fence_device();
    return *last;
}
DEVICE bool is_last_block(u32 *counter, u32 count) {
    SHARED u32 last;
    return is_last_block(counter, count, &last);
}
