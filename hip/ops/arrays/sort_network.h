// Eight keys of each thread of a block in order, as a bitonic network: those of thread t become the keys 8 t … 8 t + 7.
//
// Blocks of `size` keys are sorted up and down by turns, from eight on, and two of these become one of twice the size by
// comparisons of keys size / 2, size / 4, … 1 apart. Down is up with all bits turned over. Keys of other threads come from lanes,
// or by way of shared memory where they are 32 threads away.
#pragma once

#include "sort.h"

template <typename K> DEVICE void in_order(K &a, K &b) {
    const K low = b < a ? b : a, high = b < a ? a : b;
    a = low, b = high;
}
template <u32 DISTANCE> DEVICE u32 of_lane(u32 key) { return shuffle_xor<DISTANCE>(key); }
template <u32 DISTANCE> DEVICE u64 of_lane(u64 key) {
    return (u64)shuffle_xor<DISTANCE>((u32)(key >> 32)) << 32 | shuffle_xor<DISTANCE>((u32)key);
}
// The lower thread keeps the lower ones.
template <u32 DISTANCE, typename K> DEVICE void over_lanes(K (&own)[EACH]) {
    const bool upper = thread_x() & DISTANCE;
    UNROLL for (u32 n = 0; n < EACH; n++) {
        const K other = of_lane<DISTANCE>(own[n]);
        own[n] = (other < own[n]) != upper ? other : own[n];
    }
}

// Sorts blocks of `count` keys and more; `room`: as many keys as the block has.
template <typename K> DEVICE void sort_network(K (&own)[EACH], u32 count, K *room) {
    const u32 thread = thread_x(), threads = block_size_x();
    K turned = 0;
    auto turn = [&](bool down) {
        const K now = down ? ~(K)0 : 0;
        UNROLL for (u32 n = 0; n < EACH; n++) own[n] ^= turned ^ now;
        turned = now;
    };
    turn(thread & 1);
    constexpr u8 PAIRS[] = {0, 2, 1, 3, 4, 6, 5, 7, 0, 4, 1, 5, 2, 6, 3, 7, 0, 1, 2, 3, 4, 5, 6, 7,
                            2, 4, 3, 5, 1, 4, 3, 6, 1, 2, 3, 4, 5, 6};
    UNROLL for (u32 i = 0; i < sizeof PAIRS; i += 2) in_order(own[PAIRS[i]], own[PAIRS[i + 1]]);
    _Pragma("unroll 1") for (u32 size = 2 * EACH; size <= threads * EACH; size *= 2) {
        turn(thread * EACH & size);
        _Pragma("unroll 1") for (u32 distance = size / (2 * EACH); distance >= 32; distance /= 2) {
            barrier();
            UNROLL for (u32 n = 0; n < EACH; n++) room[n * threads + thread] = own[n];
            barrier();
            UNROLL for (u32 n = 0; n < EACH; n++) {
                const K other = room[n * threads + (thread ^ distance)];
                own[n] = (other < own[n]) != ((thread & distance) != 0) ? other : own[n];
            }
        }
        if (size >= 32 * EACH) over_lanes<16>(own);
        if (size >= 16 * EACH) over_lanes<8>(own);
        if (size >= 8 * EACH) over_lanes<4>(own);
        if (size >= 4 * EACH) over_lanes<2>(own);
        over_lanes<1>(own);
        UNROLL for (u32 distance = EACH / 2; distance > 0; distance /= 2)
            UNROLL for (u32 n = 0; n < EACH; n++) if (!(n & distance)) in_order(own[n], own[n | distance]);
        if (size >= count) break;
    }
    turn(false);
}
