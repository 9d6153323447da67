// Scalar and vector types of the kernels. Freestanding: nothing outside hip/ is included.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef float f32;
typedef double f64;

static_assert(sizeof(u16) == 2 && sizeof(u32) == 4 && sizeof(u64) == 8, "unexpected integer sizes");

// 16-bit floating point numbers in memory. They carry bits only: convert with `to_f32`, `to_f16`,
// `to_bf16`, compute in f32 or in packed pairs (`f16x2`, `bf16x2`).
struct f16 {
    u16 bits;
};
struct bf16 {
    u16 bits;
};

// Two 16-bit numbers in one register; the first is in the low half.
struct f16x2 {
    u32 bits;
};
struct bf16x2 {
    u32 bits;
};

// Vectors with the alignment of their size, so that one instruction moves them.
struct alignas(8) u32x2 {
    u32 x, y;
};
struct alignas(16) u32x4 {
    u32 x, y, z, w;
};
struct alignas(8) f32x2 {
    f32 x, y;
};
struct alignas(16) f32x4 {
    f32 x, y, z, w;
};
