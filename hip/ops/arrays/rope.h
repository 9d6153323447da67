// Rotation of a pair, the same bits wherever it is: products are rounded as written, whatever a compiler would fuse.
#pragma once

#include "common/platform.h"

DEVICE void turn_pair(f32 low, f32 high, f32 sine, f32 cosine, f32 &first, f32 &second) {
    first = mul_add(low, cosine, -(high * sine)), second = mul_add(low, sine, high * cosine);
}
