#include "device.h"
typedef _Float16 h2 __attribute__((ext_vector_type(2)));
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
typedef _Float16 h8 __attribute__((ext_vector_type(8)));
typedef _Float16 h16 __attribute__((ext_vector_type(16)));
typedef short s4 __attribute__((ext_vector_type(4)));
typedef short s8 __attribute__((ext_vector_type(8)));
typedef short s16 __attribute__((ext_vector_type(16)));
typedef float f4 __attribute__((ext_vector_type(4)));
typedef float f8 __attribute__((ext_vector_type(8)));
typedef float f16 __attribute__((ext_vector_type(16)));
typedef int i2 __attribute__((ext_vector_type(2)));
typedef int i4 __attribute__((ext_vector_type(4)));
typedef int i8 __attribute__((ext_vector_type(8)));
typedef int i16 __attribute__((ext_vector_type(16)));

// C[16][16] = A[16][k] * B[16][k]^T, one wave.
#if defined(__gfx1100__) || defined(__gfx1103__) || defined(__gfx1150__) || defined(__gfx1151__)
#define ROW(i, l) (2 * (i) + (l) / 16)
#define EACH 16
KERNEL mm_f16(const _Float16 *a, const _Float16 *b, float *c, int k) {
    int l = TID; f8 acc = {};
    for (int j = 0; j < k; j += 16) acc = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(*(const h16 *)(a + l % 16 * k + j), *(const h16 *)(b + l % 16 * k + j), acc);
    for (int i = 0; i < 8; i++) c[ROW(i, l) * 16 + l % 16] = acc[i];
}
KERNEL mm_bf16(const short *a, const short *b, float *c, int k) {
    int l = TID; f8 acc = {};
    for (int j = 0; j < k; j += 16) acc = __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(*(const s16 *)(a + l % 16 * k + j), *(const s16 *)(b + l % 16 * k + j), acc);
    for (int i = 0; i < 8; i++) c[ROW(i, l) * 16 + l % 16] = acc[i];
}
KERNEL mm_i8(const signed char *a, const signed char *b, int *c, int k) {
    int l = TID; i8 acc = {};
    for (int j = 0; j < k; j += 16) acc = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(true, *(const i4 *)(a + l % 16 * k + j), true, *(const i4 *)(b + l % 16 * k + j), acc, false);
    for (int i = 0; i < 8; i++) c[ROW(i, l) * 16 + l % 16] = acc[i];
}
KERNEL mm_u4(const u8 *a, const u8 *b, int *c, int k) {
    int l = TID; i8 acc = {};
    for (int j = 0; j < k; j += 16) acc = __builtin_amdgcn_wmma_i32_16x16x16_iu4_w32(false, *(const i2 *)(a + (l % 16 * k + j) / 2), true, *(const i2 *)(b + (l % 16 * k + j) / 2), acc, false);
    for (int i = 0; i < 8; i++) c[ROW(i, l) * 16 + l % 16] = acc[i];
}
#elif defined(__gfx1200__) || defined(__gfx1201__)
#define ROW(i, l) ((i) + 8 * ((l) / 16))
KERNEL mm_f16(const _Float16 *a, const _Float16 *b, float *c, int k) {
    int l = TID, at = l % 16 * k + l / 16 * 8; f8 acc = {};
    for (int j = 0; j < k; j += 16) acc = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(*(const h8 *)(a + at + j), *(const h8 *)(b + at + j), acc);
    for (int i = 0; i < 8; i++) c[ROW(i, l) * 16 + l % 16] = acc[i];
}
KERNEL mm_bf16(const short *a, const short *b, float *c, int k) {
    int l = TID, at = l % 16 * k + l / 16 * 8; f8 acc = {};
    for (int j = 0; j < k; j += 16) acc = __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(*(const s8 *)(a + at + j), *(const s8 *)(b + at + j), acc);
    for (int i = 0; i < 8; i++) c[ROW(i, l) * 16 + l % 16] = acc[i];
}
KERNEL mm_i8(const signed char *a, const signed char *b, int *c, int k) {
    int l = TID, at = l % 16 * k + l / 16 * 8; i8 acc = {};
    for (int j = 0; j < k; j += 16) acc = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12(true, *(const i2 *)(a + at + j), true, *(const i2 *)(b + at + j), acc, false);
    for (int i = 0; i < 8; i++) c[ROW(i, l) * 16 + l % 16] = acc[i];
}
KERNEL mm_u4(const u8 *a, const u8 *b, int *c, int k) {
    int l = TID, at = (l % 16 * k + l / 16 * 8) / 2; i8 acc = {};
    for (int j = 0; j < k; j += 16) acc = __builtin_amdgcn_wmma_i32_16x16x16_iu4_w32_gfx12(false, *(const int *)(a + at + j / 2), true, *(const int *)(b + at + j / 2), acc, false);
    for (int i = 0; i < 8; i++) c[ROW(i, l) * 16 + l % 16] = acc[i];
}
#elif defined(__gfx90a__) || defined(__gfx942__)
KERNEL mm_f16(const _Float16 *a, const _Float16 *b, float *c, int k) {
    int l = TID, at = l % 16 * k + l / 16 * 4; f4 acc = {};
    for (int j = 0; j < k; j += 16) acc = __builtin_amdgcn_mfma_f32_16x16x16f16(*(const h4 *)(a + at + j), *(const h4 *)(b + at + j), acc, 0, 0, 0);
    for (int i = 0; i < 4; i++) c[(4 * (l / 16) + i) * 16 + l % 16] = acc[i];
}
KERNEL mm_bf16(const short *a, const short *b, float *c, int k) {
    int l = TID, at = l % 16 * k + l / 16 * 4; f4 acc = {};
    for (int j = 0; j < k; j += 16) acc = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(*(const s4 *)(a + at + j), *(const s4 *)(b + at + j), acc, 0, 0, 0);
    for (int i = 0; i < 4; i++) c[(4 * (l / 16) + i) * 16 + l % 16] = acc[i];
}
KERNEL mm32_f16(const _Float16 *a, const _Float16 *b, float *c, int k) {
    int l = TID, at = l % 32 * k + l / 32 * 4; f16 acc = {};
    for (int j = 0; j < k; j += 8) acc = __builtin_amdgcn_mfma_f32_32x32x8f16(*(const h4 *)(a + at + j), *(const h4 *)(b + at + j), acc, 0, 0, 0);
    for (int i = 0; i < 16; i++) c[(i / 4 * 8 + 4 * (l / 32) + i % 4) * 32 + l % 32] = acc[i];
}
KERNEL mm32_bf16(const short *a, const short *b, float *c, int k) {
    int l = TID, at = l % 32 * k + l / 32 * 4; f16 acc = {};
    for (int j = 0; j < k; j += 8) acc = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(*(const s4 *)(a + at + j), *(const s4 *)(b + at + j), acc, 0, 0, 0);
    for (int i = 0; i < 16; i++) c[(i / 4 * 8 + 4 * (l / 32) + i % 4) * 32 + l % 32] = acc[i];
}
KERNEL mm_i8(const signed char *a, const signed char *b, int *c, int k) {
#if defined(__gfx942__)
    int l = TID, at = l % 16 * k + l / 16 * 8; i4 acc = {};
    for (int j = 0; j < k; j += 32) acc = __builtin_amdgcn_mfma_i32_16x16x32_i8(*(const long *)(a + at + j), *(const long *)(b + at + j), acc, 0, 0, 0);
#else
    int l = TID, at = l % 16 * k + l / 16 * 4; i4 acc = {};
    for (int j = 0; j < k; j += 16) acc = __builtin_amdgcn_mfma_i32_16x16x16i8(*(const int *)(a + at + j), *(const int *)(b + at + j), acc, 0, 0, 0);
#endif
    for (int i = 0; i < 4; i++) c[(4 * (l / 16) + i) * 16 + l % 16] = acc[i];
}
#endif

// Dot products and packed halves, by lane.
KERNEL dots(const int *a, const int *b, int *c) {
    int i = TID;
#if defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx1030__)
    c[i] = __builtin_amdgcn_sdot4(a[i], b[i], i, false);
    c[i + 64] = __builtin_amdgcn_sdot8(a[i], b[i], i, false);
#else
    c[i] = __builtin_amdgcn_sudot4(true, a[i], true, b[i], i, false);
    c[i + 64] = __builtin_amdgcn_sudot8(true, a[i], true, b[i], i, false);
#endif
    c[i + 128] = __builtin_amdgcn_udot4(a[i], b[i], i, false);
}
KERNEL halves(const h2 *a, const h2 *b, h2 *c, float *d) {
    int i = TID;
    h2 x = a[i], y = b[i];
    c[i] = __builtin_elementwise_max(x * y + (h2){(_Float16)1, (_Float16)-2}, x - y.yx);
    d[i] = __builtin_amdgcn_fdot2(x, y, 0.5f, false);
    d[i + 64] = (float)x.x * 3.0f + (float)y.y;
    _Float16 s = x.x / y.x + x.y;
    d[i + 128] = (float)s;
    d[i + 192] = (float)(_Float16)__builtin_sqrtf((float)x.y * (float)x.y);
}

// Reduction by DPP in one row of 16, and a row rotation.
KERNEL dpp(const float *a, float *c) {
    int i = TID;
    float v = a[i];
    #define STEP(ctrl) v += __builtin_bit_cast(float, __builtin_amdgcn_update_dpp(0, __builtin_bit_cast(int, v), ctrl, 0xf, 0xf, true))
    STEP(0xB1); STEP(0x4E); STEP(0x141); STEP(0x140);
    c[i] = v;
    c[i + 64] = __builtin_bit_cast(float, __builtin_amdgcn_update_dpp(__builtin_bit_cast(int, -1.0f), __builtin_bit_cast(int, a[i]), 0x113, 0xf, 0xf, false));
}
