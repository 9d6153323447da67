// What follows from the platform's names and is the same everywhere.
#pragma once

#include "types.h"

DEVICE u32 wave_id() { return uniform(thread_x() / WAVE); }

// Shuffles of other 32-bit types.

template <int MASK> DEVICE f32 shuffle_xor(f32 value) {
    return bits_f32(shuffle_xor<MASK>(f32_bits(value)));
}
template <int MASK> DEVICE i32 shuffle_xor(i32 value) { return (i32)shuffle_xor<MASK>((u32)value); }
template <int MASK> DEVICE f16x2 shuffle_xor(f16x2 value) {
    return f16x2{shuffle_xor<MASK>(value.bits)};
}
DEVICE f32 shuffle(f32 value, u32 lane) { return bits_f32(shuffle(f32_bits(value), lane)); }
DEVICE i32 shuffle(i32 value, u32 lane) { return (i32)shuffle((u32)value, lane); }
DEVICE f32 shuffle_down(f32 value, u32 distance) {
    return bits_f32(shuffle_down(f32_bits(value), distance));
}
DEVICE f32 broadcast(f32 value, u32 lane) { return bits_f32(broadcast(f32_bits(value), lane)); }
DEVICE i32 broadcast(i32 value, u32 lane) { return (i32)broadcast((u32)value, lane); }

// Integers.

DEVICE u32 minimum(u32 a, u32 b) { return a < b ? a : b; }
DEVICE u32 maximum(u32 a, u32 b) { return a > b ? a : b; }
DEVICE i32 minimum(i32 a, i32 b) { return a < b ? a : b; }
DEVICE i32 maximum(i32 a, i32 b) { return a > b ? a : b; }
DEVICE u32 divide_up(u32 a, u32 b) { return (a + b - 1) / b; }

// bfloat16: the upper half of an f32.

DEVICE f32 to_f32(bf16 x) { return bits_f32((u32)x.bits << 16); }
// Round to nearest even; a NaN stays one (quiet).
DEVICE u32 bf16_bits(f32 x) {
    u32 raw = f32_bits(x);
    u32 rounded = (raw + 0x7fff + (raw >> 16 & 1)) >> 16;
    return x == x ? rounded : (raw >> 16 | 0x40);
}
DEVICE bf16 to_bf16(f32 x) { return bf16{(u16)bf16_bits(x)}; }
DEVICE bf16x2 pack_bf16x2(f32 low, f32 high) {
    return bf16x2{bf16_bits(low) | bf16_bits(high) << 16};
}
DEVICE f32 low(bf16x2 x) { return bits_f32(x.bits << 16); }
DEVICE f32 high(bf16x2 x) { return bits_f32(x.bits & 0xffff0000u); }

// float16 pairs.

DEVICE f32 low(f16x2 x) { return to_f32(f16{(u16)x.bits}); }
DEVICE f32 high(f16x2 x) { return to_f32(f16{(u16)(x.bits >> 16)}); }
// Both halves the same number.
DEVICE f16x2 both(f16 x) { return f16x2{(u32)x.bits * 0x10001u}; }
DEVICE f16x2 both(f32 x) { return both(to_f16(x)); }

// Loads and stores of four f32.

DEVICE f32x4 load_f32x4(const f32 *from) {
    u32x4 raw = load16(from);
    return f32x4{bits_f32(raw.x), bits_f32(raw.y), bits_f32(raw.z), bits_f32(raw.w)};
}
DEVICE void store_f32x4(f32 *to, f32x4 value) {
    store16(to, u32x4{f32_bits(value.x), f32_bits(value.y), f32_bits(value.z), f32_bits(value.w)});
}

// One type's load and conversion, for kernels written once for several types.

DEVICE f32 to_f32(f32 x) { return x; }
template <typename T> struct from_f32;
template <> struct from_f32<f32> {
    DEVICE f32 make(f32 x) { return x; }
};
template <> struct from_f32<f16> {
    DEVICE f16 make(f32 x) { return to_f16(x); }
};
template <> struct from_f32<bf16> {
    DEVICE bf16 make(f32 x) { return to_bf16(x); }
};

// Word `i` of a vector; `i` is known when the kernel is compiled.
DEVICE u32 word(const u32x4 &v, int i) { return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w; }
