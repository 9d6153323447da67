// Functions of f64 for arrays, to within some units of the last place over the whole range, by the forms of functions.h:
// polynomials are fitted at Chebyshev nodes of the interval that each says.
#pragma once

#include "elementwise.h"

#if defined(__CUDACC_RTC__)
DEVICE u64 f64_bits(f64 x) { return (u64)__double_as_longlong(x); }
DEVICE f64 bits_f64(u64 x) { return __longlong_as_double((i64)x); }
DEVICE f64 mul_add(f64 a, f64 b, f64 c) { return __fma_rn(a, b, c); }
DEVICE f64 exact_sqrt(f64 x) { return __dsqrt_rn(x); }
DEVICE f64 round_down(f64 x) { return floor(x); }
DEVICE f64 round_even(f64 x) { return rint(x); }
#else
DEVICE u64 f64_bits(f64 x) { return __builtin_bit_cast(u64, x); }
DEVICE f64 bits_f64(u64 x) { return __builtin_bit_cast(f64, x); }
DEVICE f64 mul_add(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
DEVICE f64 exact_sqrt(f64 x) { return __builtin_sqrt(x); }
DEVICE f64 round_down(f64 x) { return __builtin_floor(x); }
DEVICE f64 round_even(f64 x) { return __builtin_rint(x); }
#endif
// Rounded: never fused.
DEVICE f64 product(f64 a, f64 b) {
#if PLATFORM_AMD
    f64 p = a * b;
    asm("" : "+v"(p));
#else
    f64 p;
    asm("mul.rn.f64 %0, %1, %2;" : "=d"(p) : "d"(a), "d"(b));
#endif
    return p;
}

#define SIGN_64 0x8000000000000000ull
#define LN2_64 0.693147180559945309417
#define PI_64 3.14159265358979323846
#define PI_64_LOW 1.2246467991473532e-16
#define LOG2_E 1.44269504088896340736

DEVICE f64 f64_infinity() { return bits_f64(0x7ff0000000000000ull); }
DEVICE f64 f64_nan() { return bits_f64(0x7ff8000000000000ull); }
DEVICE bool is_nan(f64 x) { return x != x; }
DEVICE f64 absolute(f64 x) { return bits_f64(f64_bits(x) & ~SIGN_64); }
DEVICE f64 with_sign(f64 x, f64 sign) { return bits_f64((f64_bits(x) & ~SIGN_64) | (f64_bits(sign) & SIGN_64)); }
DEVICE f64 toward_zero(f64 x) { return with_sign(round_down(absolute(x)), x); }
// 2^k for -1022 <= k <= 1023.
DEVICE f64 power_of_two_64(i32 k) { return bits_f64((u64)(k + 1023) << 52); }
// x · 2^k.
DEVICE f64 scaled(f64 x, i32 k) {
    const i32 half = k / 2;
    return product(product(x, power_of_two_64(half)), power_of_two_64(k - half));
}
template <int N> DEVICE f64 polynomial(f64 x, const f64 (&c)[N]) {
    f64 sum = c[N - 1];
    UNROLL for (int i = N - 2; i >= 0; i--) sum = mul_add(sum, x, c[i]);
    return sum;
}
// x + x³·(c[0] + c[1] x² + …).
template <int N> DEVICE f64 odd_series(f64 x, const f64 (&c)[N]) {
    const f64 z = x * x;
    return mul_add(x * z, polynomial(z, c), x);
}

// e^r - 1 for |r| <= ln(2)/2: r + r²·(1/2 + …).
DEVICE f64 exp_less_one(f64 r) {
    const f64 c[] = {0.5, 0.1666666666666667, 0.04166666666666667, 0.008333333333326084, 0.0013888888888883711, 0.0001984126987500228,
                     2.480158732567746e-05, 2.755725517000089e-06, 2.755727347871858e-07, 2.5105312729622103e-08, 2.09147553258932e-09};
    return mul_add(r * r, polynomial(r, c), r);
}
// x = k ln(2) + r.
DEVICE f64 exp_rest(f64 x, i32 &k) {
    const f64 times = round_even(product(x, LOG2_E));
    k = (i32)times;
    return mul_add(times, 4.2009150726810846e-11, mul_add(times, -0.6931471806019545, x));
}
// e^x · 2^power for -746 <= x <= 711.
DEVICE f64 exp_times(f64 x, i32 power) {
    i32 k;
    const f64 r = exp_rest(x, k);
    return scaled(1.0 + exp_less_one(r), k + power);
}
DEVICE f64 exact_exp(f64 x) {
    if (is_nan(x)) return x;
    return x > 711.0 ? f64_infinity() : x < -746.0 ? 0.0 : exp_times(x, 0);
}
// e^x / 2 for x >= 0.
DEVICE f64 half_exp(f64 x) { return is_nan(x) ? x : x > 711.0 ? f64_infinity() : exp_times(x, -1); }
DEVICE f64 exact_expm1(f64 x) {
    if (is_nan(x) || x > 711.0) return is_nan(x) ? x : f64_infinity();
    if (x < -40.0) return -1.0;
    i32 k;
    const f64 r = exp_rest(x, k), less = exp_less_one(r);
    if (k == 0) return less;
    // 2^k (1 + less) - 1, exact where it cancels.
    const f64 times = power_of_two_64(k > 1023 ? 1023 : k), more = k > 1023 ? 2.0 : 1.0;
    return product(mul_add(times, less, times - 1.0 / more), more);
}

// log(1 + f) for sqrt(1/2) <= 1 + f <= sqrt(2): f - (f²/2 - s·(f²/2 + s²·(2/3 + …))), s = f / (2 + f).
DEVICE f64 log_near_one(f64 f) {
    const f64 c[] = {0.6666666666666666, 0.40000000000001007, 0.2857142857072325, 0.22222222409750114,
                     0.18181793732111753, 0.15386342449645143, 0.13266048812203002, 0.131148348695975};
    const f64 s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
    return f + mul_add(s, mul_add(z, polynomial(z, c), half), -half);
}
// x = 2^k (1 + f).
DEVICE f64 log_parts(f64 x, i32 &k) {
    k = 0;
    if (f64_bits(x) < 0x0010000000000000ull) x *= 18014398509481984.0, k = -54;
    const u64 raw = f64_bits(x) - 0x3fe6a09e667f3bcdull; // sqrt(1/2)
    k += (i32)((i64)raw >> 52);
    return bits_f64((raw & 0x000fffffffffffffull) + 0x3fe6a09e667f3bcdull) - 1.0;
}
DEVICE bool log_is_special(f64 x) { return !(x > 0.0) || x == f64_infinity(); }
DEVICE f64 log_special(f64 x) { return x == 0.0 ? -f64_infinity() : x > 0.0 ? x : is_nan(x) ? x : f64_nan(); }
DEVICE f64 exact_log(f64 x) {
    if (log_is_special(x)) return log_special(x);
    i32 k;
    const f64 near = log_near_one(log_parts(x, k));
    return mul_add((f64)k, 0.6931471806019545, mul_add((f64)k, -4.2009150726810846e-11, near));
}
DEVICE f64 exact_log2(f64 x) {
    if (log_is_special(x)) return log_special(x);
    i32 k;
    const f64 near = log_near_one(log_parts(x, k));
    return mul_add(near, LOG2_E, (f64)k);
}
DEVICE f64 exact_log10(f64 x) {
    if (log_is_special(x)) return log_special(x);
    i32 k;
    const f64 near = log_near_one(log_parts(x, k));
    return mul_add((f64)k, 0.301029995663981195214, product(near, 0.434294481903251827651));
}
DEVICE f64 exact_log1p(f64 x) {
    if (absolute(x) < 0.29) return log_near_one(x);
    // What 1 + x loses is put back.
    const f64 sum = 1.0 + x, lost = x > 1.0 ? 1.0 - (sum - x) : x - (sum - 1.0);
    if (log_is_special(sum)) return log_special(sum);
    return exact_log(sum) + lost / sum;
}

// x - q π/2 in [-π/4, π/4], and q modulo 4.
DEVICE f64 reduced_angle(f64 x, u32 &quadrant) {
    const f64 size = absolute(x);
    if (size < 800000.0) {
        const f64 times = round_even(product(x, 0.636619772367581343076));
        quadrant = (u32)(i32)times & 3;
        f64 r = mul_add(times, -1.5707963267341256, x);
        r = mul_add(times, -6.077100506303966e-11, r);
        r = mul_add(times, -2.0222662487111665e-21, r);
        return mul_add(times, -8.4784276603689e-32, r);
    }
    // 2/π times the 53 bits of x, of which only what is behind the units and the last two bits before it count.
    CONSTANT_TABLE u32 two_over_pi[] = {
        0x00000000u, 0x00000000u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu,
        0xdebbc561u, 0xb7246e3au, 0x424dd2e0u, 0x06492eeau, 0x09d1921cu, 0xfe1deb1cu, 0xb129a73eu, 0xe88235f5u, 0x2ebb4484u,
        0xe99c7026u, 0xb45f7e41u, 0x3991d639u, 0x835339f4u, 0x9c845f8bu, 0xbdf9283bu, 0x1ff897ffu, 0xde05980fu, 0xef2f118bu,
        0x5a0a6d1fu, 0x6d367ecfu, 0x27cb09b7u, 0x4f463f66u, 0x9e5fea2du, 0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u, 0x8a5292eau,
        0x6bfb5fb1u, 0x1f8d5d08u, 0x56033046u, 0xfc7b6babu, 0xf0cfbc20u, 0x9af4361du};
    const u64 raw = f64_bits(size);
    const i32 exponent = (i32)(raw >> 52) - 1075; // size = m 2^exponent
    const u64 m = (raw & 0x000fffffffffffffull) | 0x0010000000000000ull;
    const u32 skipped = (u32)(exponent + 62); // bits of the table that are multiples of 4 after the product
    const u32 first = skipped / 32, shift = skipped % 32;
    // The low 192 bits of 192 bits of the table times m, the most significant word first.
    u32 words[6];
    u64 carry = 0;
    UNROLL for (i32 i = 5; i >= 0; i--) {
        const u64 pair = (u64)two_over_pi[first + i] << 32 | two_over_pi[first + i + 1];
        words[i] = (u32)(pair << shift >> 32);
    }
    u32 made[6];
    UNROLL for (i32 i = 5; i >= 0; i--) {
        carry += (m & 0xffffffffu) * words[i];
        made[i] = (u32)carry, carry >>= 32;
    }
    carry = 0;
    UNROLL for (i32 i = 5; i >= 1; i--) {
        carry += (m >> 32) * words[i] + made[i - 1];
        made[i - 1] = (u32)carry, carry >>= 32;
    }
    u64 high = (u64)made[0] << 32 | made[1], low = (u64)made[2] << 32 | made[3];
    quadrant = (u32)(high >> 62);
    high = high << 2 | low >> 62, low = low << 2 | made[4] >> 30;
    const bool is_negative = high >> 63;
    if (is_negative) quadrant++, high = ~high, low = ~low;
    f64 r = mul_add((f64)low, 5.42101086242752217e-20, (f64)high) * (0.5 * PI_64 * 5.42101086242752217e-20); // 2^-64
    if (is_negative != (x < 0.0)) r = -r;
    if (x < 0.0) quadrant = 0u - quadrant;
    quadrant &= 3;
    return r;
}
DEVICE f64 sin_near_zero(f64 x) {
    const f64 c[] = {-0.16666666666666666, 0.008333333333333331, -0.00019841269841264821, 2.7557319219150783e-06,
                     -2.5052106167335705e-08, 1.6058521349954986e-10, -7.586094789672621e-13};
    return odd_series(x, c);
}
DEVICE f64 cos_near_zero(f64 x) {
    const f64 c[] = {0.041666666666666664, -0.0013888888888888887, 2.480158730158451e-05, -2.755731922129809e-07,
                     2.0876755754879594e-09, -1.1470455178216906e-11, 4.745537017319258e-14};
    const f64 z = x * x, half = 0.5 * z, near = 1.0 - half;
    return near + mul_add(z * z, polynomial(z, c), (1.0 - near) - half);
}
// sin(x + turn π/2).
DEVICE f64 exact_sin(f64 x, u32 turn) {
    if (!(absolute(x) < f64_infinity())) return f64_nan();
    u32 quadrant;
    const f64 r = reduced_angle(x, quadrant);
    quadrant += turn;
    if (turn == 0 && x == 0.0) return x;
    const f64 value = quadrant & 1 ? cos_near_zero(r) : sin_near_zero(r);
    return quadrant & 2 ? -value : value;
}
DEVICE f64 exact_tan(f64 x) {
    if (!(absolute(x) < f64_infinity())) return f64_nan();
    if (x == 0.0) return x;
    u32 quadrant;
    const f64 r = reduced_angle(x, quadrant);
    return quadrant & 1 ? -cos_near_zero(r) / sin_near_zero(r) : sin_near_zero(r) / cos_near_zero(r);
}

// For |x| <= tan(π/8).
DEVICE f64 atan_near_zero(f64 x) {
    const f64 c[] = {-0.3333333333333333, 0.19999999999999785, -0.14285714285654638, 0.11111111104652255,
                     -0.09090908728587459, 0.07692295658327873, -0.06666412077725274, 0.058787824694439814,
                     -0.0522938047378184, 0.045467195095551666, -0.034445844423577385, 0.016148228546771868};
    return odd_series(x, c);
}
DEVICE f64 exact_atan(f64 x) {
    const f64 size = absolute(x);
    if (is_nan(x)) return x;
    f64 value;
    if (size > 2.41421356237309504880)
        value = 0.5 * PI_64 + (atan_near_zero(-1.0 / size) + 0.5 * PI_64_LOW);
    else if (size > 0.414213562373095048802)
        value = 0.25 * PI_64 + (atan_near_zero((size - 1.0) / (size + 1.0)) + 0.25 * PI_64_LOW);
    else
        value = atan_near_zero(size);
    return with_sign(value, x);
}
DEVICE f64 exact_atan2(f64 y, f64 x) {
    if (is_nan(x) || is_nan(y)) return f64_nan();
    const f64 up = absolute(y), right = absolute(x);
    f64 angle;
    if (up == 0.0 && right == 0.0)
        angle = 0.0;
    else if (up == f64_infinity() && right == f64_infinity())
        angle = 0.25 * PI_64;
    else
        angle = up > right ? 0.5 * PI_64 - (exact_atan(right / up) - 0.5 * PI_64_LOW) : exact_atan(up / right);
    return with_sign(f64_bits(x) >> 63 ? PI_64 - (angle - PI_64_LOW) : angle, y);
}
// For |x| <= 1/2.
DEVICE f64 asin_near_zero(f64 x) {
    const f64 c[] = {0.16666666666666669, 0.07499999999998425, 0.04464285714637338, 0.030381944137085216, 0.022372173002005596,
                     0.017352391265909227, 0.013971235301124539, 0.011478952690257387, 0.010324318288744113,
                     0.00545087818772055, 0.017419357964884856, -0.014881409392818066, 0.02877844261259304};
    return odd_series(x, c);
}
DEVICE f64 exact_asin(f64 x) {
    const f64 size = absolute(x);
    if (!(size <= 1.0)) return f64_nan();
    if (size <= 0.5) return asin_near_zero(x);
    return with_sign(0.5 * PI_64 - (2.0 * asin_near_zero(exact_sqrt(0.5 * (1.0 - size))) - 0.5 * PI_64_LOW), x);
}
DEVICE f64 exact_acos(f64 x) {
    const f64 size = absolute(x);
    if (!(size <= 1.0)) return f64_nan();
    if (size <= 0.5) return 0.5 * PI_64 - (asin_near_zero(x) - 0.5 * PI_64_LOW);
    const f64 angle = 2.0 * asin_near_zero(exact_sqrt(0.5 * (1.0 - size)));
    return x < 0.0 ? PI_64 - (angle - PI_64_LOW) : angle;
}

DEVICE f64 exact_sinh(f64 x) {
    const f64 size = absolute(x);
    if (size > 20.0) return with_sign(half_exp(size), x);
    const f64 t = exact_expm1(size);
    return with_sign(0.5 * (t + t / (t + 1.0)), x);
}
DEVICE f64 exact_cosh(f64 x) {
    const f64 half = half_exp(absolute(x));
    return half + 0.25 / half;
}
DEVICE f64 exact_tanh(f64 x) {
    const f64 size = absolute(x);
    if (is_nan(x)) return x;
    const f64 t = exact_expm1(2.0 * (size < 22.0 ? size : 22.0));
    return with_sign(size < 22.0 ? t / (t + 2.0) : 1.0, x);
}
DEVICE f64 exact_asinh(f64 x) {
    const f64 size = absolute(x);
    const f64 value = size > 1e150 ? exact_log(size) + LN2_64
                                   : exact_log1p(size + size * size / (1.0 + exact_sqrt(mul_add(size, size, 1.0))));
    return with_sign(value, x);
}
DEVICE f64 exact_acosh(f64 x) {
    if (!(x >= 1.0)) return f64_nan();
    if (x > 1e150) return exact_log(x) + LN2_64;
    const f64 less = x - 1.0;
    return exact_log1p(less + exact_sqrt(less * (x + 1.0)));
}
DEVICE f64 exact_atanh(f64 x) {
    const f64 size = absolute(x);
    return with_sign(0.5 * exact_log1p(2.0 * size / (1.0 - size)), x);
}

// -log(1 - erf(x)) / x is smooth where erf is not near 0.
DEVICE f64 exact_erf(f64 x) {
    const f64 size = absolute(x);
    if (is_nan(x)) return x;
    if (size < 0.93) {
        const f64 c[] = {0.1283791670955126, -0.3761263890318371, 0.11283791670952616, -0.026866170644588346,
                         0.005223977619370774, -0.0008548326622325384, 0.00012055316151564133, -1.4925184283183672e-05,
                         1.6453468165287543e-06, -1.625912755998082e-07, 1.395972649227999e-08, -8.285431816928349e-10};
        return mul_add(x, polynomial(x * x, c), x);
    }
    if (size > 6.0) return with_sign(1.0, x);
    f64 slope;
    if (size < 2.0) {
        const f64 c[] = {1.12837839466984, 0.6366273274754397, 0.10273860471264527, -0.019035239535730827,
                         -0.00038280676925999747, 0.001927866791198115, -0.0008169926191769486, 0.000189145846195693,
                         -1.9175919663466504e-05, -2.7430207826009322e-06, 1.3145234748152248e-06, -1.978815433494794e-07,
                         1.1660611345097996e-08};
        slope = polynomial(size, c);
    } else if (size < 4.0) {
        const f64 c[] = {1.1284126966125299, 0.6364769249798615, 0.10302269222302736, -0.019320304636115594,
                         -0.0002536844097361325, 0.0019691362312399645, -0.0009245464694092246, 0.0002724683548331978,
                         -5.7910015830247404e-05, 9.079796375937626e-06, -1.0318089472882576e-06, 8.070615892041128e-08,
                         -3.894665244608669e-09, 8.748998811160429e-11};
        slope = polynomial(size, c);
    } else {
        const f64 c[] = {1.1308368883006503, 0.6289040974975995, 0.11413685410782634, -0.029479437936354002,
                         0.006204068780894752, -0.00104612337767073, 0.00013907987995775536, -1.4285922061378798e-05,
                         1.1013716101879014e-06, -6.09579330906517e-08, 2.249494655035742e-09, -4.8123083513689436e-11,
                         4.228836113284816e-13};
        slope = polynomial(size, c);
    }
    return with_sign(1.0 - exact_exp(-size * slope), x);
}
// A first guess (S. Winitzki's), then Halley's steps.
DEVICE f64 erf_inverse(f64 y) {
    const f64 size = absolute(y);
    if (!(size < 1.0)) return size == 1.0 ? with_sign(f64_infinity(), y) : f64_nan();
    if (size < 1e-10) return y * 0.886226925452758013649;
    const f64 log = exact_log1p(-y * y), b = 2.0 / (PI_64 * 0.147) + 0.5 * log;
    f64 x = exact_sqrt(exact_sqrt(mul_add(b, b, log / -0.147)) - b);
    _Pragma("unroll 1") for (u32 turn = 0; turn < 4; turn++) {
        const f64 slope = 1.12837916709551257390 * exact_exp(-x * x);
        if (slope == 0.0) break;
        const f64 step = (exact_erf(x) - size) / slope;
        x -= step / (1.0 + x * step);
    }
    return with_sign(x, y);
}
// Of the smaller exponential: nothing overflows.
DEVICE f64 exact_sigmoid(f64 x) {
    const f64 small = exact_exp(-absolute(x));
    return (x < 0.0 ? small : 1.0) / (1.0 + small);
}

// log2(1 + f) for sqrt(1/2) <= 1 + f <= sqrt(2), and what it lacks: a power makes 700 of each last place of a logarithm.
// 2 atanh(s) = 2 s + 2/3 s³ + …, s = f / (2 + f); the first two terms to twice the digits.
DEVICE f64 log2_near_one(f64 f, f64 &low) {
    const f64 c[] = {0.40000000000001007, 0.2857142857072325, 0.22222222409750114, 0.18181793732111753,
                     0.15386342449645143, 0.13266048812203002, 0.131148348695975};
    const f64 sum = 2.0 + f, sum_low = f - (sum - 2.0);
    const f64 s = f / sum, s_low = mul_add(-s, sum_low, mul_add(-s, sum, f)) / sum;
    const f64 z = product(s, s), z_low = mul_add(s, s, -z);
    const f64 cube = product(z, s), cube_low = mul_add(z, s, -cube) + z_low * s;
    const f64 third = 0.66666666666666663, third_low = 3.7007434154171886e-17, term = product(cube, third);
    const f64 term_low = mul_add(cube, third, -term) + mul_add(cube, third_low, cube_low * third);
    const f64 log = 2.0 * s + term, lost = term - (log - 2.0 * s);
    const f64 tail = lost + (mul_add(cube * z, polynomial(z, c), term_low) + 2.0 * s_low);
    const f64 to_two_low = 2.0355273740931033e-17, high = product(log, LOG2_E);
    low = mul_add(log, LOG2_E, -high) + mul_add(log, to_two_low, product(tail, LOG2_E));
    return high;
}
// x^y. Of negative x only to whole powers.
DEVICE f64 exact_pow(f64 x, f64 y) {
    if (y == 0.0 || x == 1.0) return 1.0;
    if (is_nan(x) || is_nan(y)) return f64_nan();
    const f64 size = absolute(x), whole = toward_zero(y);
    const bool is_whole = whole == y, is_odd = is_whole && absolute(y) < 9007199254740992.0 && ((i64)whole & 1);
    f64 value;
    if (size == 1.0)
        value = 1.0;
    else if (size == 0.0 || size == f64_infinity())
        value = (size == 0.0) == (y < 0.0) ? f64_infinity() : 0.0;
    else if (absolute(y) == f64_infinity())
        return (size > 1.0) == (y > 0.0) ? f64_infinity() : 0.0;
    else {
        i32 k;
        f64 low;
        const f64 high = log2_near_one(log_parts(size, k), low);
        // y · (k + high + low) as a whole number and a rest: the products' own roundings are put back.
        const f64 a = product(y, (f64)k), b = product(y, high), c = product(y, low);
        const f64 times = round_even(a + b + c);
        if (times > 1100.0)
            value = f64_infinity();
        else if (times < -1100.0)
            value = 0.0;
        else {
            const f64 lost = mul_add(y, (f64)k, -a) + mul_add(y, high, -b);
            const f64 rest = ((a - times) + b) + (c + lost);
            value = scaled(1.0 + exp_less_one(product(rest, LN2_64)), (i32)times);
        }
    }
    if (x < 0.0 && !is_whole && size != f64_infinity()) return f64_nan();
    return is_odd && f64_bits(x) >> 63 ? -value : value;
}

// x modulo y for finite x >= 0 and y > 0, exactly: as of f32.
DEVICE f64 exact_modulo(f64 x, f64 y) {
    const u64 from = f64_bits(x), by = f64_bits(y);
    if (from < by) return x;
    const u32 from_power = maximum((u32)(from >> 52), 1u), power = maximum((u32)(by >> 52), 1u);
    const u64 divisor = by - ((u64)(power - 1) << 52);
    u64 rest = (from - ((u64)(from_power - 1) << 52)) % divisor;
    for (u32 apart = from_power - power; apart && rest;) {
        const u32 step = minimum(apart, 10u);
        rest = (rest << step) % divisor;
        apart -= step;
    }
    return scaled((f64)rest, (i32)power - 1075);
}

DEVICE f64 unary_f64(u32 function, f64 x) {
    switch (function) {
    case ABS: return absolute(x);
    case ACOS: return exact_acos(x);
    case ACOSH: return exact_acosh(x);
    case ASIN: return exact_asin(x);
    case ASINH: return exact_asinh(x);
    case ATAN: return exact_atan(x);
    case ATANH: return exact_atanh(x);
    case CEIL: return -round_down(-x);
    case COS: return exact_sin(x, 1);
    case COSH: return exact_cosh(x);
    case ERF: return exact_erf(x);
    case EXP: return exact_exp(x);
    case EXPM1: return exact_expm1(x);
    case FLOOR: return round_down(x);
    case LOG: return exact_log(x);
    case LOG2: return exact_log2(x);
    case LOG10: return exact_log10(x);
    case LOG1P: return exact_log1p(x);
    case NEGATIVE: return -x;
    case ROUND: return round_even(x);
    case RSQRT: return 1.0 / exact_sqrt(x);
    case SIGMOID: return exact_sigmoid(x);
    case SIGN: return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : 0.0;
    case SIN: return exact_sin(x, 0);
    case SINH: return exact_sinh(x);
    case SQRT: return exact_sqrt(x);
    case SQUARE: return product(x, x);
    case TAN: return exact_tan(x);
    case TANH: return exact_tanh(x);
    default: return x;
    }
}
// NaN wins; the later of equal ones.
DEVICE f64 larger(f64 a, f64 b) { return is_nan(a) || a > b ? a : b; }
DEVICE f64 smaller(f64 a, f64 b) { return is_nan(a) || a < b ? a : b; }
DEVICE f64 log_add_exp(f64 a, f64 b) {
    if (is_nan(a) || is_nan(b)) return f64_nan();
    const f64 most = a > b ? a : b, least = a > b ? b : a;
    if (least == -f64_infinity() || most == f64_infinity()) return most;
    return most + exact_log1p(exact_exp(least - most));
}
DEVICE f64 binary_f64(u32 function, f64 a, f64 b) {
    switch (function) {
    case ADD: return a + b;
    case ATAN2: return exact_atan2(a, b);
    case DIVIDE: return a / b;
    case FLOOR_DIVIDE: return round_down(a / b);
    case LOG_ADD_EXP: return log_add_exp(a, b);
    case MAXIMUM: return larger(a, b);
    case MINIMUM: return smaller(a, b);
    case MULTIPLY: return product(a, b);
    case POWER: return exact_pow(a, b);
    case SUBTRACT: return a - b;
    // a - b · (quotient rounded down), exactly: what is left has b's sign.
    default: {
        if (!(absolute(a) < f64_infinity()) || b == 0.0 || is_nan(b)) return f64_nan();
        if (absolute(b) == f64_infinity()) return a == 0.0 || (a < 0.0) == (b < 0.0) ? a : b;
        const f64 rest = exact_modulo(absolute(a), absolute(b));
        f64 result = a < 0.0 ? -rest : rest;
        if (result != 0.0 && (result < 0.0) != (b < 0.0)) result += b;
        return result;
    }
    }
}
DEVICE bool compare_f64(u32 function, f64 a, f64 b) {
    switch (function) {
    case EQUAL: return a == b;
    case NOT_EQUAL: return !(a == b);
    case NAN_EQUAL: return a == b || (is_nan(a) && is_nan(b));
    case GREATER: return a > b;
    case GREATER_EQUAL: return a >= b;
    case LESS: return a < b;
    case LOGICAL_AND: return a != 0.0 && b != 0.0;
    case LOGICAL_OR: return a != 0.0 || b != 0.0;
    default: return a <= b;
    }
}
