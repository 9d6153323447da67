// Kernels that mean the same on a CPU: the test compiles this file for the host too and compares bits.
// Every kernel: (a: inputs and results, b: inputs, c: results, n: lanes of the launch).
#ifdef HOST
extern "C" { int host_thread = 0; }
// Older compiler runtimes lack this conversion.
extern "C" __bf16 __truncsfbf2(float v) {
    unsigned bits = __builtin_bit_cast(unsigned, v);
    unsigned short s = v != v ? bits >> 16 | 64 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return __builtin_bit_cast(__bf16, s);
}
#define KERNEL extern "C" void
#define DEVICE static
#define I host_thread
#else
#include "device.h"
#define DEVICE static __device__
#define I ((int)(BID * BDIM + TID))
#endif
typedef signed char i8;
typedef unsigned char n8;
typedef unsigned short n16;
typedef unsigned int n32;
typedef unsigned long long n64;
typedef long long i64;
typedef _Float16 h;
typedef h h2 __attribute__((ext_vector_type(2)));
typedef h h4 __attribute__((ext_vector_type(4)));
typedef float f4 __attribute__((ext_vector_type(4)));
typedef int i4 __attribute__((ext_vector_type(4)));
typedef short s2 __attribute__((ext_vector_type(2)));
typedef unsigned short us2 __attribute__((ext_vector_type(2)));

template <typename T> DEVICE void floats(T *a, const T *b, T *c, int n) {
    int i = I;
    T x = a[i], y = b[i], z = x * y;
    T s = z + x;
    if (x > y) s = s - y * T(3);
    c[i] = s;
    c[i + n] = x / y;
    c[i + 2 * n] = x > s ? x : s;
    c[i + 3 * n] = x < y ? -s : y;
    c[i + 4 * n] = x >= y ? T(1) : x == y ? T(2) : x != x ? T(3) : T(-0.5);
    c[i + 5 * n] = x - y;
}
template <typename T> DEVICE void integers(T *a, const T *b, T *c, int n) {
    int i = I, bits = sizeof(T) * 8 - 1;
    T x = a[i], y = b[i];
    T z = x * y + x;
    c[i] = z;
    z ^= x << (y & bits);
    z |= y >> (x & bits);
    c[i + n] = z & ~(x & y);
    // The lowest number over -1 traps on hosts.
    T d = y == T(-1) ? T(1) : y;
    c[i + 2 * n] = d ? x / d : x;
    c[i + 3 * n] = d ? x % d : T(7);
    c[i + 4 * n] = x > z ? x : z < y ? z : y;
    c[i + 5 * n] = T(__builtin_popcountll((n64)z) + __builtin_clzll((n64)z | 1) + __builtin_ctzll((n64)z | 256));
    c[i + 6 * n] = __builtin_elementwise_add_sat(x, y);
    c[i + 7 * n] = __builtin_elementwise_sub_sat(x, y);
    c[i + 8 * n] = __builtin_elementwise_max(x, y) - __builtin_elementwise_min(x, T(3));
    c[i + 9 * n] = x < 0 ? -x : x;
}
template <typename T> DEVICE void pairs(T *a, const T *b, T *c, int n) {
    int i = I;
    T x = a[i], y = b[i];
    c[i] = x * y + x;
    c[i + n] = __builtin_elementwise_max(x, y) - __builtin_elementwise_min(x, y.yx);
    c[i + 2 * n] = x << (y & (T)15);
    c[i + 3 * n] = x >> (y & (T)15);
    c[i + 4 * n] = __builtin_elementwise_add_sat(x, y);
    c[i + 5 * n] = __builtin_elementwise_sub_sat(x, y);
}
#define F(T) KERNEL floats_##T(void *a, const void *b, void *c, int n) { floats((T *)a, (const T *)b, (T *)c, n); }
F(float) F(double) F(h) F(__bf16)
#define N(T) KERNEL integers_##T(void *a, const void *b, void *c, int n) { integers((T *)a, (const T *)b, (T *)c, n); }
N(int) N(n32) N(i64) N(n64) N(short) N(n16) N(i8) N(n8)
KERNEL pairs_s2(void *a, const void *b, void *c, int n) { pairs((s2 *)a, (const s2 *)b, (s2 *)c, n); }
KERNEL pairs_us2(void *a, const void *b, void *c, int n) { pairs((us2 *)a, (const us2 *)b, (us2 *)c, n); }

KERNEL pairs_h2(void *a, const void *b, void *c, int n) {
    int i = I;
    h2 x = ((h2 *)a)[i], y = ((const h2 *)b)[i], *o = (h2 *)c;
    o[i] = x * y;
    o[i + n] = x + y.yx;
    o[i + 2 * n] = x - y * (h2)(h)0.5;
    o[i + 3 * n] = -x * y.yx;
    o[i + 4 * n] = __builtin_elementwise_abs(x) + y;
}

#define CONVERT(S, D) KERNEL convert_##S##_##D(void *a, const void *b, void *c, int n) { ((D *)c)[I] = (D)((S *)a)[I]; }
#define CONVERTS(S) CONVERT(S, float) CONVERT(S, double) CONVERT(S, h)
CONVERTS(float) CONVERTS(double) CONVERTS(h) CONVERTS(int) CONVERTS(n32) CONVERTS(i64) CONVERTS(n64) CONVERTS(short) CONVERTS(n16) CONVERTS(n8) CONVERTS(i8)
CONVERT(float, __bf16) CONVERT(__bf16, float)

// Float to integer where the value fits (else it is undefined in C).
template <typename S, typename D> DEVICE void to_integer(S *a, D *c, float low, float high) {
    float v = (float)a[I];
    c[I] = v >= low && v <= high ? (D)a[I] : (D)0;
}
#define TO(S, D, low, high) KERNEL to_##S##_##D(void *a, const void *b, void *c, int n) { to_integer<S, D>((S *)a, (D *)c, low, high); }
#define TOS(S) TO(S, int, -2e9f, 2e9f) TO(S, n32, 0.f, 4e9f) TO(S, i64, -9e18f, 9e18f) TO(S, n64, 0.f, 1.8e19f) TO(S, short, -32768.f, 32767.f) TO(S, n8, 0.f, 255.f)
TOS(float) TOS(double) TOS(h)

KERNEL rounding(void *a, const void *b, void *c, int n) {
    float x = ((float *)a)[I], *o = (float *)c;
    o[I] = __builtin_floorf(x);
    o[I + n] = __builtin_ceilf(x);
    o[I + 2 * n] = __builtin_truncf(x);
    o[I + 3 * n] = __builtin_rintf(x);
    o[I + 4 * n] = __builtin_roundf(x);
    o[I + 5 * n] = __builtin_sqrtf(x);
    o[I + 6 * n] = __builtin_fmaf(x, x, ((const float *)b)[I]);
    o[I + 7 * n] = __builtin_copysignf(x, ((const float *)b)[I]);
    o[I + 8 * n] = __builtin_isnan(x) + 2 * __builtin_isinf(x) + 4 * __builtin_signbit(x) + 8 * __builtin_isnormal(x);
    o[I + 9 * n] = __builtin_ldexpf(x, (int)I % 60 - 30);
}
KERNEL rounding_double(void *a, const void *b, void *c, int n) {
    double x = ((double *)a)[I], *o = (double *)c;
    o[I] = __builtin_floor(x);
    o[I + n] = __builtin_ceil(x);
    o[I + 2 * n] = __builtin_trunc(x);
    o[I + 3 * n] = __builtin_rint(x);
    o[I + 5 * n] = __builtin_sqrt(x);
    o[I + 6 * n] = __builtin_fma(x, x, ((const double *)b)[I]);
    o[I + 4 * n] = __builtin_ldexp(x, (int)I % 900 - 450);
}

KERNEL vectors(void *a, const void *b, void *c, int n) {
    int i = I;
    f4 x = ((f4 *)a)[i];
    i4 z = ((const i4 *)b)[i];
    f4 r = x * 2.f + __builtin_convertvector(z & 1023, f4);
    ((f4 *)c)[i] = r;
    struct P { float a, b, c; };
    P p = ((P *)b)[i];
    p.a = (float)(__builtin_bit_cast(n32, p.b) >> 9);
    ((P *)((f4 *)c + n))[i] = p;
    n8 *bytes = (n8 *)c + 28 * n;
    bytes[3 * i] = ((const n8 *)b)[3 * i + 1];
    bytes[3 * i + 1] = ((const n8 *)b)[3 * i + 2] + ((i8 *)a)[i];
    bytes[3 * i + 2] = ((const n16 *)b)[i] >> 3;
    short *shorts = (short *)((n8 *)c + 32 * n);
    shorts[i] = ((short *)a)[i] * 3 + ((const i8 *)b)[i];
}

// Uniform values: scalar arithmetic.
KERNEL scalars(void *a, const void *b, void *c, int n) {
    const int *v = (const int *)b;
    const n8 *u = (const n8 *)b;
    const short *s = (const short *)b;
    n32 sum = 0;
    for (int k = 0; k < 24; k++) {
        int x = v[k] + v[k + 1] * v[k + 2];
        x += s[k] * u[k + 3];
        if (x > 5) x = x / (v[k + 5] | 1);
        n64 q = (n64)(n32)x * (n32)v[k + 3] + (n32)x;
        q = q / 7 + (q >> (k & 63)) + ((i64)q >> 3) + (q << (v[k] & 63));
        float f = (float)(x & 0xffff) * 0.5f;
        if (f > 300.f) f = f - 1.5f;
        sum = sum * 31 + (n32)x + (n32)q + (n32)(q >> 32) + (n32)(int)f;
        sum += __builtin_popcount(x) + __builtin_clz(x | 1) + __builtin_ctz(x | 16) + __builtin_popcountll(q) + __builtin_clzll(q | 1);
        sum ^= (n32)(x < 0 ? -x : x) + (n32)((x << 7) >> 11) + ((n32)x >> 5 & 0x3ff);
        sum += (n32)__builtin_elementwise_min(x, v[k + 4]) ^ (n32)__builtin_elementwise_max((n32)x, (n32)v[k + 4]);
    }
    ((n32 *)c)[I] = sum + I;
}

// Arrays with indexes known only at run time.
KERNEL indexed(void *a, const void *b, void *c, int n) {
    const int *v = (const int *)b;
    int buffer[16];
    for (int k = 0; k < 16; k++) buffer[k] = ((int *)a)[(I + k) % n];
    int s = 0;
    for (int k = 0; k < 40; k++) {
        s += buffer[(k * 5 + v[k]) & 15];
        buffer[(k + v[0]) & 15] ^= s;
        buffer[(k + I) & 15] += k;
    }
    for (int k = 0; k < 10; k++) ((int *)c)[I + k * n] = buffer[k] + s;
}

KERNEL loops(void *a, const void *b, void *c, int n) {
    n32 x = ((n32 *)a)[I], y = ((const n32 *)b)[I] | 1, steps = 0;
    while (x != 0 && y != 0 && steps < 100) {
        if (x & 1) { if (x > y) x -= y; else { y -= x; if (y & 2) steps++; } }
        else if (y % 3 == 0) y /= 3;
        else x >>= 1;
        steps++;
    }
    ((n32 *)c)[I] = x + y * 7 + steps * 1000003;
    switch (steps % 7) {
    case 0: steps *= 3; break;
    case 1: steps ^= x; break;
    case 2: steps += y; break;
    case 3: steps = ~steps; break;
    case 4: steps <<= 2; break;
    default: steps -= 9;
    }
    ((n32 *)c)[I + n] = steps;
}
