// Elements of the dtypes of arrays, and where they lie.
#pragma once

#include "common/platform.h"

// MLX's order (src/ir/dtype.rs); f64 and complex numbers are left to the CPU.
enum Dtype { BOOL, U8, U16, U32, U64, I8, I16, I32, I64, F16, F32, F64, BF16, C64 };

// To the nearest bf16 by one instruction where there is one: common/portable.h takes seven.
#if PLATFORM_NVIDIA && __CUDA_ARCH__ >= 800
DEVICE bf16 nearest_bf16(f32 x) {
    bf16 y;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
}
DEVICE bf16x2 nearest_bf16x2(f32 low, f32 high) {
    bf16x2 y;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(y.bits) : "f"(high), "f"(low));
    return y;
}
#else
DEVICE bf16 nearest_bf16(f32 x) { return to_bf16(x); }
DEVICE bf16x2 nearest_bf16x2(f32 low, f32 high) { return pack_bf16x2(low, high); }
#endif

DEVICE bool is_float(u32 dtype) { return dtype >= F16; }

DEVICE f32 load_float(const void *x, i64 at, u32 dtype) {
    if (dtype == F32) return ((const f32 *)x)[at];
    if (dtype == F16) return to_f32(((const f16 *)x)[at]);
    return to_f32(((const bf16 *)x)[at]);
}
DEVICE void store_float(void *x, i64 at, u32 dtype, f32 value) {
    if (dtype == F32)
        ((f32 *)x)[at] = value;
    else if (dtype == F16)
        ((f16 *)x)[at] = to_f16(value);
    else
        ((bf16 *)x)[at] = nearest_bf16(value);
}
// The bits of elements of `size` bytes (1, 2, 4, 8), which are on their way together: N of them a thread.
template <int N> DEVICE void load_bits(const void *x, const i64 (&at)[N], u32 size, u64 (&bits)[N]) {
    switch (size) {
    case 1: UNROLL for (int j = 0; j < N; j++) bits[j] = ((const u8 *)x)[at[j]]; return;
    case 2: UNROLL for (int j = 0; j < N; j++) bits[j] = ((const u16 *)x)[at[j]]; return;
    case 4: UNROLL for (int j = 0; j < N; j++) bits[j] = ((const u32 *)x)[at[j]]; return;
    default: UNROLL for (int j = 0; j < N; j++) bits[j] = ((const u64 *)x)[at[j]]; return;
    }
}
DEVICE void store_bits(void *x, i64 at, u32 size, u64 bits) {
    switch (size) {
    case 1: ((u8 *)x)[at] = (u8)bits; return;
    case 2: ((u16 *)x)[at] = (u16)bits; return;
    case 4: ((u32 *)x)[at] = (u32)bits; return;
    default: ((u64 *)x)[at] = bits; return;
    }
}
DEVICE u32 size_of(u32 dtype) { return dtype == BOOL ? 1 : dtype >= F16 ? (dtype == F32 ? 4 : 2) : 1u << ((dtype - 1) & 3); }
DEVICE f32 float_in(u64 bits, u32 dtype) {
    if (dtype == F32) return bits_f32((u32)bits);
    return dtype == F16 ? to_f32(f16{(u16)bits}) : to_f32(bf16{(u16)bits});
}
DEVICE i64 whole_in(u64 bits, u32 dtype) {
    switch (dtype) {
    case I8: return (i8)bits;
    case I16: return (i16)bits;
    case I32: return (i32)bits;
    default: return (i64)bits;
    }
}
// Whole numbers and truth values as 64 bits: signed ones with their sign.
DEVICE i64 load_whole(const void *x, i64 at, u32 dtype) {
    switch (dtype) {
    case BOOL:
    case U8: return ((const u8 *)x)[at];
    case U16: return ((const u16 *)x)[at];
    case U32: return ((const u32 *)x)[at];
    case I8: return ((const i8 *)x)[at];
    case I16: return ((const i16 *)x)[at];
    case I32: return ((const i32 *)x)[at];
    default: return ((const i64 *)x)[at];
    }
}
// Cut off to the dtype; truth values are 0 or 1.
DEVICE void store_whole(void *x, i64 at, u32 dtype, i64 value) {
    switch (dtype) {
    case BOOL: ((u8 *)x)[at] = value != 0; return;
    case U8:
    case I8: ((u8 *)x)[at] = (u8)value; return;
    case U16:
    case I16: ((u16 *)x)[at] = (u16)value; return;
    case U32:
    case I32: ((u32 *)x)[at] = (u32)value; return;
    default: ((i64 *)x)[at] = value; return;
    }
}
// A number as whole numbers of a dtype: what does not fit is the nearest that does, NaN is 0.
DEVICE i64 whole_of(f32 x, u32 dtype) {
    if (x != x) return 0;
    const bool is_signed = dtype >= I8;
    const u32 bits = size_of(dtype) * 8;
    const f32 top = bits_f32((127 + bits - (is_signed ? 1 : 0)) << 23); // 2^bits, 2^(bits-1)
    const u64 most = (is_signed ? 1ull << (bits - 1) : bits == 64 ? 0 : 1ull << bits) - 1;
    if (x >= top) return (i64)most;
    if (is_signed) return x <= -top ? -(i64)most - 1 : (i64)x;
    return x <= 0.0f ? 0 : (i64)(u64)x;
}
DEVICE f32 float_of(i64 x, u32 dtype) { return dtype == U64 ? (f32)(u64)x : (f32)x; }

// Element i of an array that is counted through sizes s0 … s5, the last one fastest: a number for each axis.
#define AXES u32 s1, u32 s2, u32 s3, u32 s4, u32 s5
#define STRIDES(x) i32 x##0, i32 x##1, i32 x##2, i32 x##3, i32 x##4, i32 x##5
struct Index {
    u32 i0, i1, i2, i3, i4, i5;
    METHOD i64 at(STRIDES(t)) const {
        return (i64)i0 * t0 + (i64)i1 * t1 + (i64)i2 * t2 + (i64)i3 * t3 + (i64)i4 * t4 + (i64)i5 * t5;
    }
};
// Element i of `count`. Where there is one axis nothing is divided.
DEVICE Index index_of(u32 i, u32 count, AXES) {
    if (s5 == count) return Index{0, 0, 0, 0, 0, i};
    Index index;
    index.i5 = i % s5, i /= s5;
    index.i4 = i % s4, i /= s4;
    index.i3 = i % s3, i /= s3;
    index.i2 = i % s2, i /= s2;
    index.i1 = i % s1, index.i0 = i / s1;
    return index;
}

// Elements that a thread of the kernels of single elements takes, 256 apart; those behind the last are the last.
#define PER_THREAD 4
#define BLOCK (256 * PER_THREAD)
