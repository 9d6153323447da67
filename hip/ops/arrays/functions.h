// Functions of f32 for arrays, to within some units of the last place over the whole range, subnormals included; those
// of common/math.h are faster and less exact. Polynomials are fitted at Chebyshev nodes of the interval that each says.
#pragma once

#include "common/platform.h"

#define INFINITY_BITS 0x7f800000u
#define LN2 0.693147180559945309417f
#define PI_HALF 1.57079632679489661923f

DEVICE f32 infinity() { return bits_f32(INFINITY_BITS); }
DEVICE f32 nan() { return bits_f32(0x7fc00000u); }
DEVICE bool is_nan(f32 x) { return x != x; }
// NaN where one of the two is NaN.
#if PLATFORM_NVIDIA && __CUDA_ARCH__ >= 800
DEVICE f32 maximum_or_nan(f32 a, f32 b) {
    f32 y;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
    return y;
}
DEVICE f32 minimum_or_nan(f32 a, f32 b) {
    f32 y;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
    return y;
}
#else
DEVICE f32 maximum_or_nan(f32 a, f32 b) { return b > a || is_nan(b) ? b : a; }
DEVICE f32 minimum_or_nan(f32 a, f32 b) { return b < a || is_nan(b) ? b : a; }
#endif
DEVICE f32 with_sign(f32 x, f32 sign) {
    return bits_f32((f32_bits(x) & 0x7fffffffu) | (f32_bits(sign) & 0x80000000u));
}
// 2^k for -126 <= k <= 127.
DEVICE f32 power_of_two(i32 k) { return bits_f32((u32)(k + 127) << 23); }
// x · 2^k.
DEVICE f32 scaled(f32 x, i32 k) {
    const i32 half = k >> 1;
    return product(x * power_of_two(half), power_of_two(k - half));
}
// The same where neither x nor the result is 0, subnormal or infinite.
DEVICE f32 shifted(f32 x, i32 k) { return bits_f32(f32_bits(x) + ((u32)k << 23)); }
// a / b for 1 <= b <= 2^100 and |a| <= b: a division of all numbers is several times as long.
DEVICE f32 brief_quotient(f32 a, f32 b) {
    const f32 inverse = fast_rcp(b), quotient = a * inverse;
    return mul_add(mul_add(-b, quotient, a), inverse, quotient);
}
#if defined(__CUDACC_RTC__)
DEVICE f32 exact_sqrt(f32 x) { return __fsqrt_rn(x); }
#else
DEVICE f32 exact_sqrt(f32 x) { return __builtin_sqrtf(x); }
#endif
// 1 / sqrt(x), off by a unit at most; what is subnormal is scaled for the platform's.
DEVICE f32 brief_rsqrt(f32 x) {
    const bool is_small = x < bits_f32(0x00800000u);
    return fast_rsqrt(is_small ? x * 16777216.0f : x) * (is_small ? 4096.0f : 1.0f);
}
DEVICE f32 exact_rsqrt(f32 x) {
    const f32 root = brief_rsqrt(x), lost = mul_add(-(x * root), root, 1.0f);
    return x > 0.0f && x < bits_f32(0x7f800000u) ? mul_add(0.5f * root, lost, root) : root;
}
DEVICE f32 toward_zero(f32 x) { return with_sign(round_down(absolute(x)), x); }

template <int N> DEVICE f32 polynomial(f32 x, const f32 (&c)[N]) {
    f32 sum = c[N - 1];
    UNROLL for (int i = N - 2; i >= 0; i--) sum = mul_add(sum, x, c[i]);
    return sum;
}
// x + x³·(c[0] + c[1] x² + …).
template <int N> DEVICE f32 odd_series(f32 x, const f32 (&c)[N]) {
    const f32 z = x * x;
    return mul_add(x * z, polynomial(z, c), x);
}

// e^(r + low) for |r| <= ln(2)/2, minus 1: r + r²·(1/2 + …).
DEVICE f32 exp_less_one(f32 r) {
    const f32 c[] = {0.5f, 0.166665733f, 0.0416664556f, 0.00836377684f, 0.0013934545f};
    return mul_add(r * r, polynomial(r, c), r);
}
// x = k ln(2) + r for |x| < 2^20. What is added to 1.5 · 2^23 is rounded to a whole number, in the low bits of the sum.
DEVICE f32 exp_rest(f32 x, i32 &k) {
    const f32 sum = mul_add(x, 1.44269504088896340736f, 12582912.0f), times = sum - 12582912.0f;
    k = (i32)(f32_bits(sum) - 0x4b400000u);
    return mul_add(times, -1.42860677e-6f, mul_add(times, -0.693145751953125f, x));
}
// e^x · 2^power for -104 <= x <= 90.
DEVICE f32 exp_times(f32 x, i32 power) {
    i32 k;
    const f32 r = exp_rest(x, k);
    k += power;
    const i32 half = k >> 1;
    return product(shifted(1.0f + exp_less_one(r), half), power_of_two(k - half));
}
// e^x for -87 <= x <= 88: no result is subnormal.
DEVICE f32 normal_exp(f32 x) {
    i32 k;
    const f32 r = exp_rest(x, k);
    return shifted(1.0f + exp_less_one(r), k);
}
DEVICE f32 exact_exp(f32 x) {
    // Beyond these it is infinity or 0 by itself.
    const f32 value = exp_times(minimum(maximum(x, -104.0f), 90.0f), 0);
    return is_nan(x) ? x : value;
}
// For 16-bit results: off by 2^-17 at most. Squared, as small results of the platform's may be flushed.
DEVICE f32 brief_exp(f32 x) {
    const f32 root = fast_exp2(x * 0.721347520444481703680f);
    return product(root, root);
}
DEVICE f32 brief_sigmoid(f32 x) {
    const f32 small = brief_exp(-absolute(x));
    return product(x < 0.0f ? small : 1.0f, fast_rcp(1.0f + small));
}
// Both forms of every element; NaN is near.
DEVICE f32 brief_tanh(f32 x) {
    const f32 size = absolute(x), z = x * x;
    const f32 near = product(x, mul_add(z, mul_add(z, mul_add(z, -0.0539682540f, 0.133333333f), -0.333333333f), 1.0f));
    const f32 far = mul_add(-2.0f, fast_rcp(fast_exp2(size * 2.88539008177792681472f) + 1.0f), 1.0f);
    return size >= 0.3f ? with_sign(far, x) : near;
}
// e^x / 2 for x >= 0, which does not overflow before its half does.
DEVICE f32 half_exp(f32 x) { return is_nan(x) ? x : x > 90.0f ? infinity() : exp_times(x, -1); }
DEVICE f32 exact_expm1(f32 x) {
    if (is_nan(x) || x > 89.0f) return is_nan(x) ? x : infinity();
    if (x < -18.0f) return -1.0f;
    i32 k;
    const f32 r = exp_rest(x, k);
    const f32 less = exp_less_one(r);
    if (k == 0) return less;
    // 2^k (1 + less) - 1, exact where it cancels.
    const f32 times = scaled(1.0f, k > 127 ? 127 : k), more = k > 127 ? 2.0f : 1.0f;
    return product(mul_add(times, less, times - 1.0f / more), more);
}

// log(1 + f) for sqrt(1/2) <= 1 + f <= sqrt(2): f - f²/2 + f³·(1/3 - …).
DEVICE f32 log_near_one(f32 f) {
    const f32 c[] = {0.333333313f,  -0.249999881f, 0.200007215f,  -0.166685432f, 0.142494589f,
                     -0.124091893f, 0.116647445f,  -0.115867265f, 0.071601741f};
    const f32 square = f * f;
    return mul_add(square * f, polynomial(f, c), mul_add(-0.5f, square, f));
}
// x = 2^k (1 + f).
DEVICE f32 log_parts(f32 x, i32 &k) {
    k = 0;
    if (x < bits_f32(0x00800000u)) x *= 16777216.0f, k = -24;
    const u32 raw = f32_bits(x) - 0x3f3504f3u; // sqrt(1/2)
    k += (i32)raw >> 23;
    return bits_f32((raw & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
}
DEVICE bool log_is_special(f32 x) { return !(x > 0.0f) || x == infinity(); }
DEVICE f32 log_special(f32 x) { return x == 0.0f ? -infinity() : x > 0.0f ? x : is_nan(x) ? x : nan(); }
DEVICE f32 exact_log(f32 x) {
    if (log_is_special(x)) return log_special(x);
    i32 k;
    const f32 near = log_near_one(log_parts(x, k));
    return mul_add((f32)k, 0.693145751953125f, mul_add((f32)k, 1.42860677e-6f, near));
}
// For 16-bit results: the platform's is not exact near 1, where the logarithm is small.
DEVICE f32 brief_log(f32 x) {
    const bool is_small = x < bits_f32(0x00800000u);
    const f32 far = mul_add(fast_log2(is_small ? x * 16777216.0f : x), LN2, is_small ? -24.0f * LN2 : 0.0f);
    const f32 f = x - 1.0f, near = mul_add(f * f, mul_add(f, mul_add(f, -0.25f, 0.333333333f), -0.5f), f);
    return absolute(f) < 0.0625f ? near : far;
}
DEVICE f32 exact_log2(f32 x) {
    if (log_is_special(x)) return log_special(x);
    i32 k;
    const f32 near = log_near_one(log_parts(x, k));
    return mul_add(near, 1.44269504088896340736f, (f32)k);
}
DEVICE f32 exact_log10(f32 x) {
    if (log_is_special(x)) return log_special(x);
    i32 k;
    const f32 near = log_near_one(log_parts(x, k));
    return mul_add((f32)k, 0.301029995663981195214f, product(near, 0.434294481903251827651f));
}
DEVICE f32 exact_log1p(f32 x) {
    if (absolute(x) < 0.29f) return log_near_one(x);
    // What 1 + x loses is put back.
    const f32 sum = 1.0f + x, lost = x > 1.0f ? 1.0f - (sum - x) : x - (sum - 1.0f);
    if (log_is_special(sum)) return log_special(sum);
    return exact_log(sum) + lost / sum;
}

// x - q π/2 in [-π/4, π/4], and q modulo 4.
DEVICE f32 reduced_angle(f32 x, u32 &quadrant) {
    const f32 size = absolute(x);
    if (size < 40000.0f) {
        const f32 times = round_even(x * 0.636619772367581343076f);
        quadrant = (u32)(i32)times & 3;
        f32 r = mul_add(times, -1.5703125f, x);
        r = mul_add(times, -4.837512969970703125e-4f, r);
        r = mul_add(times, -7.54978995489e-8f, r);
        return mul_add(times, 1.7151245100058819e-15f, r);
    }
    // 2/π times the 24 bits of x, of which only what is behind the units and the last two bits before it count.
    CONSTANT_TABLE u32 two_over_pi[] = {0x00000000u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u};
    const u32 raw = f32_bits(size);
    const i32 exponent = (i32)(raw >> 23) - 150; // size = m 2^exponent
    const u64 m = (raw & 0x007fffffu) | 0x00800000u;
    const i32 skipped = exponent + 30; // bits of the table that are multiples of 4 after the product
    const u32 first = (u32)skipped / 32, shift = (u32)skipped % 32;
    u32 window[3];
    UNROLL for (u32 i = 0; i < 3; i++) {
        const u64 pair = (u64)two_over_pi[first + i] << 32 | two_over_pi[first + i + 1];
        window[i] = (u32)(pair << shift >> 32);
    }
    // 96 bits of the table times m: the top bits of the low 96 are quadrant and fraction.
    const u64 low = m * window[2], middle = m * window[1] + (low >> 32), high = m * window[0] + (middle >> 32);
    u64 product = high << 32 | (middle & 0xffffffffu);
    quadrant = (u32)(product >> 62);
    i64 fraction = (i64)(product << 2);
    if (fraction < 0) quadrant++;
    f32 r = (f32)fraction * (PI_HALF * 5.42101086242752217e-20f); // 2^-64
    if (x < 0.0f) r = -r, quadrant = 0u - quadrant;
    quadrant &= 3;
    return r;
}
DEVICE f32 sin_near_zero(f32 x) {
    const f32 c[] = {-0.166666672f, 0.00833333191f, -0.000198400827f, 2.72494685e-06f};
    return odd_series(x, c);
}
DEVICE f32 cos_near_zero(f32 x) {
    const f32 c[] = {0.0416666642f, -0.00138883013f, 2.45475821e-05f};
    const f32 z = x * x;
    return mul_add(z * z, polynomial(z, c), mul_add(-0.5f, z, 1.0f));
}
// sin(x + turn π/2).
DEVICE f32 exact_sin(f32 x, u32 turn) {
    if (!(absolute(x) < infinity())) return nan();
    u32 quadrant;
    const f32 r = reduced_angle(x, quadrant);
    quadrant += turn;
    if (turn == 0 && x == 0.0f) return x;
    const f32 value = quadrant & 1 ? cos_near_zero(r) : sin_near_zero(r);
    return quadrant & 2 ? -value : value;
}
// The same for 16-bit results. `is_large`: whether there are such x.
DEVICE f32 brief_sin(f32 x, u32 turn, bool is_large) {
    if (is_large && !(absolute(x) < 40000.0f)) return exact_sin(x, turn);
    const f32 sum = mul_add(x, 0.636619772367581343076f, 12582912.0f), times = sum - 12582912.0f;
    f32 r = mul_add(times, -1.5703125f, x);
    r = mul_add(times, -4.837512969970703125e-4f, r);
    r = mul_add(times, -7.54978995489e-8f, r);
    const f32 z = r * r;
    const f32 sine = product(r, mul_add(z, mul_add(z, 0.00816294271f, -0.16663377f), 1.0f));
    const f32 cosine = mul_add(z, mul_add(z, mul_add(z, -0.00135912513f, 0.0416557342f), -0.499998838f), 1.0f);
    const u32 quadrant = f32_bits(sum) + turn;
    return bits_f32(f32_bits(quadrant & 1 ? cosine : sine) ^ (quadrant & 2) << 30);
}
DEVICE f32 exact_tan(f32 x) {
    if (!(absolute(x) < infinity())) return nan();
    if (x == 0.0f) return x;
    u32 quadrant;
    const f32 r = reduced_angle(x, quadrant);
    return quadrant & 1 ? -cos_near_zero(r) / sin_near_zero(r) : sin_near_zero(r) / cos_near_zero(r);
}

// For |x| <= tan(π/8), tan of the half.
DEVICE f32 atan_near_zero(f32 x) {
    const f32 c[] = {-0.333333313f, 0.199995503f, -0.142642319f, 0.107462987f, -0.0645937622f};
    return odd_series(x, c);
}
DEVICE f32 exact_atan(f32 x) {
    const f32 size = absolute(x);
    f32 value;
    if (is_nan(x))
        return x;
    else if (size > 2.41421356237309504880f)
        value = PI_HALF + atan_near_zero(-1.0f / size);
    else if (size > 0.414213562373095048802f)
        value = 0.785398163397448309616f + atan_near_zero((size - 1.0f) / (size + 1.0f));
    else
        value = atan_near_zero(size);
    return with_sign(value, x);
}
DEVICE f32 exact_atan2(f32 y, f32 x) {
    if (is_nan(x) || is_nan(y)) return nan();
    const f32 pi = 3.14159265358979323846f, up = absolute(y), right = absolute(x);
    f32 angle;
    if (up == 0.0f && right == 0.0f)
        angle = 0.0f;
    else if (up == infinity() && right == infinity())
        angle = 0.5f * PI_HALF;
    else
        angle = up > right ? PI_HALF - exact_atan(right / up) : exact_atan(up / right);
    return with_sign(f32_bits(x) >> 31 ? pi - angle : angle, y);
}
// For |x| <= 1/2.
DEVICE f32 asin_near_zero(f32 x) {
    const f32 c[] = {0.166666731f, 0.0749880895f, 0.0450107008f, 0.0264942776f, 0.0382064506f};
    return odd_series(x, c);
}
DEVICE f32 exact_asin(f32 x) {
    const f32 size = absolute(x);
    if (!(size <= 1.0f)) return nan();
    if (size <= 0.5f) return asin_near_zero(x);
    return with_sign(PI_HALF - 2.0f * asin_near_zero(exact_sqrt(0.5f * (1.0f - size))), x);
}
DEVICE f32 exact_acos(f32 x) {
    const f32 size = absolute(x);
    if (!(size <= 1.0f)) return nan();
    if (size <= 0.5f) return PI_HALF - asin_near_zero(x);
    const f32 angle = 2.0f * asin_near_zero(exact_sqrt(0.5f * (1.0f - size)));
    return x < 0.0f ? 3.14159265358979323846f - angle : angle;
}

DEVICE f32 exact_sinh(f32 x) {
    const f32 size = absolute(x);
    if (size < 1.0f) {
        const f32 c[] = {0.166666672f, 0.00833333936f, 0.000198381007f, 2.80629024e-06f};
        return odd_series(x, c);
    }
    const f32 half = half_exp(size);
    return with_sign(half - 0.25f / half, x);
}
DEVICE f32 exact_cosh(f32 x) {
    const f32 half = half_exp(absolute(x));
    return half + 0.25f / half;
}
// Both forms of every element: lanes that part take them one after the other. NaN is near.
DEVICE f32 exact_tanh(f32 x) {
    const f32 size = absolute(x);
    const f32 c[] = {-0.333333284f, 0.133327827f, -0.0538524985f, 0.0210036412f, -0.006104948f};
    const f32 near = odd_series(x, c);
    const f32 far = mul_add(-2.0f, brief_quotient(1.0f, normal_exp(2.0f * minimum(size, 10.0f)) + 1.0f), 1.0f);
    return size >= 0.625f ? with_sign(far, x) : near;
}
DEVICE f32 exact_asinh(f32 x) {
    const f32 size = absolute(x);
    if (size < 0.5f) {
        const f32 c[] = {-0.166666642f, 0.0749959424f, -0.0445087329f, 0.0287977029f, -0.0143165393f};
        return odd_series(x, c);
    }
    const f32 value = size > 4096.0f ? exact_log(size) + LN2
                                     : exact_log(size + exact_sqrt(mul_add(size, size, 1.0f)));
    return with_sign(value, x);
}
DEVICE f32 exact_acosh(f32 x) {
    if (!(x >= 1.0f)) return nan();
    if (x > 4096.0f) return exact_log(x) + LN2;
    const f32 less = x - 1.0f;
    return exact_log1p(less + exact_sqrt(mul_add(less, less, 2.0f * less)));
}
DEVICE f32 exact_atanh(f32 x) {
    const f32 size = absolute(x);
    if (size < 0.5f) {
        const f32 c[] = {0.333333313f, 0.200004965f, 0.142632425f, 0.114782251f, 0.0645500422f, 0.158137545f};
        return odd_series(x, c);
    }
    return with_sign(0.5f * exact_log((1.0f + size) / (1.0f - size)), x);
}

DEVICE f32 exact_erf(f32 x) {
    const f32 size = absolute(x);
    // NaN is near.
    if (!(size >= 0.93f)) {
        const f32 c[] = {0.128379166f,    -0.376126349f,    0.112836927f,   -0.0268592108f,
                         0.00520050153f, -0.000813607476f, 8.33997183e-05f};
        return mul_add(x, polynomial(x * x, c), x);
    }
    const f32 c[] = {1.12887979f,    0.634231031f,     0.10773363f,    -0.0250442531f,
                     0.00426103128f, -0.000487762853f, 3.28548304e-05f, -9.5785083e-07f};
    const f32 least = minimum(size, 4.0f);
    return with_sign(1.0f - normal_exp(-least * polynomial(least, c)), x);
}
// For 16-bit results; both forms of every element. NaN is near.
DEVICE f32 brief_erf(f32 x) {
    const f32 size = absolute(x), least = minimum(size, 4.0f);
    const f32 n[] = {0.128378525f, -0.376090139f, 0.11250376f, -0.0257653669f, 0.00368594727f};
    const f32 c[] = {1.62620556f, 0.9240942f, 0.141929358f, -0.0261064023f, 0.0022946063f};
    const f32 near = mul_add(x, polynomial(x * x, n), x), far = 1.0f - fast_exp2(-least * polynomial(least, c));
    return size >= 0.93f ? with_sign(far, x) : near;
}
// Of the smaller exponential: nothing overflows.
DEVICE f32 exact_sigmoid(f32 x) {
    const f32 small = exact_exp(-absolute(x));
    return brief_quotient(x < 0.0f ? small : 1.0f, 1.0f + small);
}

// log2(1 + f) for sqrt(1/2) <= 1 + f <= sqrt(2), and what it lacks: a power makes 88 of each last place of a logarithm.
// 2 atanh(s), s = f / (2 + f).
DEVICE f32 log2_near_one(f32 f, f32 &low) {
    const f32 c[] = {0.666666667f, 0.4f, 0.285714286f, 0.222222222f, 0.181818182f};
    const f32 sum = 2.0f + f, sum_low = f - (sum - 2.0f);
    const f32 s = f / sum, s_low = mul_add(-s, sum_low, mul_add(-s, sum, f)) / sum;
    const f32 z = s * s, tail = mul_add(s * z, polynomial(z, c), product(2.0f, s_low));
    const f32 to_two = 1.44269502162933349609f, to_two_low = 1.92596299e-8f;
    const f32 high = product(2.0f * s, to_two);
    low = mul_add(2.0f * s, to_two, -high) + mul_add(2.0f * s, to_two_low, product(tail, to_two));
    return high;
}
// x^y. Of negative x only to whole powers.
DEVICE f32 exact_pow(f32 x, f32 y) {
    if (y == 0.0f || x == 1.0f) return 1.0f;
    if (is_nan(x) || is_nan(y)) return nan();
    const f32 size = absolute(x), whole = toward_zero(y);
    const bool is_whole = whole == y, is_odd = is_whole && absolute(y) < 16777216.0f && ((i32)whole & 1);
    f32 value;
    if (size == 1.0f)
        value = 1.0f;
    else if (size == 0.0f || size == infinity())
        value = (size == 0.0f) == (y < 0.0f) ? infinity() : 0.0f;
    else if (absolute(y) == infinity())
        return (size > 1.0f) == (y > 0.0f) ? infinity() : 0.0f;
    else {
        i32 k;
        f32 low;
        const f32 high = log2_near_one(log_parts(size, k), low);
        // y · (k + high + low) as a whole number and a rest: the products' own roundings are put back.
        const f32 a = product(y, (f32)k), b = product(y, high), c = product(y, low);
        const f32 times = round_even(a + b + c);
        if (times > 200.0f)
            value = infinity();
        else if (times < -200.0f)
            value = 0.0f;
        else {
            const f32 lost = mul_add(y, (f32)k, -a) + mul_add(y, high, -b);
            const f32 rest = ((a - times) + b) + (c + lost);
            value = scaled(1.0f + exp_less_one(product(rest, LN2)), (i32)times);
        }
    }
    if (x < 0.0f && !is_whole && size != infinity()) return nan();
    return is_odd && f32_bits(x) >> 31 ? -value : value;
}

// x modulo y for finite x >= 0 and y > 0, exactly: both are whole numbers times powers of two, and division goes on by 8
// bits of the quotient a step.
DEVICE f32 exact_modulo(f32 x, f32 y) {
    const u32 from = f32_bits(x), by = f32_bits(y);
    if (from < by) return x;
    const u32 from_power = maximum(from >> 23, 1u), power = maximum(by >> 23, 1u);
    const u32 divisor = by - ((power - 1) << 23);
    u32 rest = (from - ((from_power - 1) << 23)) % divisor;
    for (u32 apart = from_power - power; apart && rest;) {
        const u32 step = minimum(apart, 8u);
        rest = (rest << step) % divisor;
        apart -= step;
    }
    return scaled((f32)rest, (i32)power - 150);
}
