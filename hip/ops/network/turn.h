// NVIDIA only: words of four lanes that follow each other, turned over.
#pragma once

#include "common/platform.h"

#if PLATFORM_NVIDIA
// Two lanes whose numbers differ by MASK: the first one's b and the second one's a change places.
template <u32 MASK> DEVICE void exchange(u32 &a, u32 &b) {
    const bool second = lane_id() & MASK;
    const u32 first_word = a, second_word = b, other = shuffle_xor<MASK>(second ? first_word : second_word);
    a = second ? other : first_word;
    b = second ? second_word : other;
}
// Four lanes that follow each other have word j of pieces 0 to 3 in w[0] to w[3]: lane j gets the words of piece j.
DEVICE void turn(u32 *w) {
    exchange<1>(w[0], w[1]), exchange<1>(w[2], w[3]);
    exchange<2>(w[0], w[2]), exchange<2>(w[1], w[3]);
}
#endif
