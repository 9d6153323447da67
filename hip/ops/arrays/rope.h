// Rotation of pairs, the same bits wherever it is: products are rounded as written, whatever a compiler would fuse.
#pragma once

#include "functions.h"

// The angle of a pair, of `half`, for each position (times scale); `periods`: its own, or null.
DEVICE f32 rate_of_pair(const f32 *periods, f32 log2_base, u32 pair, u32 half) {
    return periods ? 1.0f / periods[pair] : exact_pow(2.0f, -log2_base * (f32)pair / (f32)half);
}
DEVICE f32 angle_at(i64 position, f32 scale, f32 rate) { return (f32)position * scale * rate; }

DEVICE void turn_pair(f32 low, f32 high, f32 sine, f32 cosine, f32 &first, f32 &second) {
    first = mul_add(low, cosine, -(high * sine)), second = mul_add(low, sine, high * cosine);
}
