// Functions of complex numbers in f32, by the functions of functions.h. Each part is off by some units of the last place of
// the whole number's size; what lies near a branch point is computed by forms without cancellation (W. Kahan, Branch cuts;
// T. Hull and others, Implementing the complex arcsine and arccosine functions).
#pragma once

#include "elementwise.h"

struct alignas(8) Complex {
    f32 re, im;
};
// Behind those of elementwise.h (src/gpu/arrays/complex.rs).
enum ComplexFunction { CONJUGATE = CAST + 1, REAL, IMAG, TIMES_I };

DEVICE Complex complex_in(u64 bits) { return {bits_f32((u32)bits), bits_f32((u32)(bits >> 32))}; }
DEVICE Complex load_complex(const void *x, i64 at) {
    const u32x2 bits = load8((const u32x2 *)x + at);
    return {bits_f32(bits.x), bits_f32(bits.y)};
}
DEVICE void store_complex(void *x, i64 at, Complex z) { store8((u32x2 *)x + at, {f32_bits(z.re), f32_bits(z.im)}); }

DEVICE bool is_nan(Complex z) { return z.re != z.re || z.im != z.im; }
DEVICE bool is_zero(Complex z) { return z.re == 0.0f && z.im == 0.0f; }
DEVICE Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
DEVICE Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
// a · b + c · d with one rounding's error where both nearly cancel.
DEVICE f32 two_products(f32 a, f32 b, f32 c, f32 d) {
    const f32 second = product(c, d);
    const f32 sum = mul_add(a, b, second), lost = mul_add(c, d, -second);
    return absolute(sum) < infinity() ? sum + lost : sum;
}
DEVICE Complex operator*(Complex a, Complex b) {
    return {two_products(a.re, b.re, -a.im, b.im), two_products(a.re, b.im, a.im, b.re)};
}
// x as m · 2^power, 1 <= m < 2, of the larger part; 0 for what has none.
DEVICE i32 power_of(f32 x) {
    const u32 bits = f32_bits(x) & 0x7fffffffu;
    if (bits == 0 || bits >= INFINITY_BITS) return 0;
    return bits >> 23 ? (i32)(bits >> 23) - 127 : -118 - (i32)leading_zeros(bits);
}
DEVICE f32 size_of_number(Complex z) {
    const f32 a = absolute(z.re), b = absolute(z.im);
    if (a == infinity() || b == infinity()) return infinity();
    if (is_nan(z)) return nan();
    const i32 power = power_of(maximum(a, b));
    const f32 x = scaled(a, -power), y = scaled(b, -power);
    return scaled(exact_sqrt(mul_add(x, x, y * y)), power);
}
// As C's annex G has it where infinities or a divisor of 0 are.
DEVICE Complex operator/(Complex a, Complex b) {
    const i32 power = power_of(maximum(absolute(b.re), absolute(b.im)));
    const i32 of_a = minimum(power_of(maximum(absolute(a.re), absolute(a.im))), 124);
    const Complex c{scaled(b.re, -power), scaled(b.im, -power)}, x{scaled(a.re, -of_a), scaled(a.im, -of_a)};
    const f32 size = two_products(c.re, c.re, c.im, c.im);
    const i32 both = of_a - power;
    Complex q{two_products(x.re, c.re, x.im, c.im) / size, two_products(x.im, c.re, -x.re, c.im) / size};
    q = {scaled(scaled(q.re, both / 2), both - both / 2), scaled(scaled(q.im, both / 2), both - both / 2)};
    if (!(q.re != q.re && q.im != q.im)) return q;
    const bool a_infinite = absolute(a.re) == infinity() || absolute(a.im) == infinity();
    const bool b_infinite = absolute(b.re) == infinity() || absolute(b.im) == infinity();
    // 1 with the sign for infinite parts, 0 for others.
    const auto side = [](f32 v) { return with_sign(absolute(v) == infinity() ? 1.0f : 0.0f, v); };
    if (is_zero(b) && !(a.re != a.re && a.im != a.im)) {
        const f32 most = with_sign(infinity(), b.re);
        return {most * a.re, most * a.im};
    }
    if (a_infinite && !b_infinite && !is_nan(b)) {
        const Complex s{side(a.re), side(a.im)};
        return {infinity() * (s.re * b.re + s.im * b.im), infinity() * (s.im * b.re - s.re * b.im)};
    }
    if (b_infinite && !a_infinite && !is_nan(a)) {
        const Complex s{side(b.re), side(b.im)};
        return {0.0f * (a.re * s.re + a.im * s.im), 0.0f * (a.im * s.re - a.re * s.im)};
    }
    return q;
}

// e^z · 2^-2 and the factor 4 after the product: the size may overflow where the parts do not.
DEVICE Complex complex_exp(Complex z) {
    if (z.im == 0.0f) return {exact_exp(z.re), z.im};
    if (z.re == -infinity()) return {0.0f, 0.0f};
    if (z.re == infinity() && !(absolute(z.im) < infinity())) return {infinity(), nan()};
    const f32 size = z.re <= 90.0f ? exp_times(maximum(z.re, -104.0f), -2) : is_nan(z.re) ? z.re : infinity();
    return {product(size, exact_sin(z.im, 1)) * 4.0f, product(size, exact_sin(z.im, 0)) * 4.0f};
}
DEVICE f32 log_of_size(Complex z) {
    const f32 a = absolute(z.re), b = absolute(z.im), most = maximum(a, b), least = minimum(a, b);
    if (most > 0.5f && most < 1.5f && !is_nan(z))
        return 0.5f * exact_log1p(two_products(most - 1.0f, most + 1.0f, least, least));
    return exact_log(size_of_number(z));
}
DEVICE Complex complex_log(Complex z) { return {log_of_size(z), exact_atan2(z.im, z.re)}; }
DEVICE Complex complex_log1p(Complex z) {
    if (absolute(z.re) < 0.5f && absolute(z.im) < 0.5f)
        return {0.5f * exact_log1p(two_products(z.re, 2.0f + z.re, z.im, z.im)), exact_atan2(z.im, 1.0f + z.re)};
    return complex_log({1.0f + z.re, z.im});
}
DEVICE Complex complex_sqrt(Complex z) {
    if (is_zero(z)) return {0.0f, z.im};
    if (absolute(z.im) == infinity()) return {infinity(), z.im};
    const i32 power = power_of(maximum(absolute(z.re), absolute(z.im))) / 2 * 2;
    const Complex x{scaled(z.re, -power), scaled(z.im, -power)};
    const f32 root = exact_sqrt(0.5f * (absolute(x.re) + size_of_number(x)));
    const f32 a = scaled(root, power / 2), b = scaled(absolute(x.im) / (2.0f * root), power / 2);
    if (x.re == infinity()) return {infinity(), with_sign(0.0f, z.im)};
    if (x.re == -infinity()) return {0.0f, with_sign(infinity(), z.im)};
    return z.re >= 0.0f ? Complex{a, with_sign(b, z.im)} : Complex{b, with_sign(a, z.im)};
}
DEVICE Complex complex_tanh(Complex z) {
    if (absolute(z.re) > 11.0f) {
        const f32 small = 4.0f * exact_exp(-2.0f * absolute(z.re));
        return {with_sign(1.0f, z.re), small == 0.0f ? with_sign(0.0f, z.im) : exact_sin(z.im, 0) * exact_sin(z.im, 1) * small};
    }
    const f32 t = exact_tan(z.im), beta = mul_add(t, t, 1.0f), s = exact_sinh(z.re);
    const f32 rho = exact_sqrt(mul_add(s, s, 1.0f)), d = mul_add(beta * s, s, 1.0f);
    return {beta * rho * s / d, t / d};
}

// What the arcsine and the arccosine have in common, of z's absolute parts x, y: half the sum of the distances from 1 and -1,
// and x over it; the imaginary part's size.
struct Arc {
    f32 x, y, a, b, r, s, imaginary;
    METHOD explicit Arc(Complex z) {
        x = absolute(z.re), y = absolute(z.im);
        const f32 above = x + 1.0f, below = x - 1.0f, yy = y * y;
        r = size_of_number({above, y}), s = size_of_number({below, y});
        a = 0.5f * r + 0.5f * s, b = x / a;
        if (a > 1.5f)
            imaginary = a > 4096.0f ? exact_log(a) + LN2 : exact_log(a + exact_sqrt(mul_add(a, a, -1.0f)));
        else {
            const f32 first = y == 0.0f ? 0.0f : yy / (r + above);
            const f32 less = x < 1.0f ? 0.5f * (first + (y == 0.0f ? 0.0f : yy / (s - below))) : 0.5f * (first + (s + below));
            imaginary = exact_log1p(less + exact_sqrt(less * (a + 1.0f)));
        }
    }
    // Of the cosine of the real part, where it is near 0: sqrt(1 - b²) · a.
    METHOD f32 rest() const {
        const f32 sum = a + x, above = r + (x + 1.0f);
        if (x <= 1.0f) return exact_sqrt(0.5f * sum * (y == 0.0f ? 1.0f - x : y * y / above + (s - (x - 1.0f))));
        return y * exact_sqrt(0.5f * (sum / above + sum / (s + (x - 1.0f))));
    }
};
DEVICE Complex complex_asin(Complex z) {
    const Arc arc(z);
    const f32 real = arc.b <= 0.6417f ? exact_asin(arc.b) : exact_atan2(arc.x, arc.rest());
    return {with_sign(real, z.re), with_sign(arc.imaginary, z.im)};
}
DEVICE Complex complex_acos(Complex z) {
    const Arc arc(z);
    const f32 real = arc.b <= 0.6417f ? exact_acos(arc.b) : exact_atan2(arc.rest(), arc.x);
    return {f32_bits(z.re) >> 31 ? 3.14159265358979323846f - real : real, with_sign(arc.imaginary, -z.im)};
}
DEVICE Complex complex_atanh(Complex z) {
    const f32 x = absolute(z.re), y = absolute(z.im);
    f32 real, imaginary;
    if (x > 1e9f || y > 1e9f) {
        const f32 size = size_of_number(z);
        real = x / size / size, imaginary = PI_HALF;
    } else {
        const f32 less = 1.0f - x;
        real = 0.25f * exact_log1p(4.0f * x / two_products(less, less, y, y));
        imaginary = 0.5f * exact_atan2(2.0f * y, two_products(less, 1.0f + x, -y, y));
    }
    return {with_sign(real, z.re), with_sign(imaginary, z.im)};
}
// f(i z) / i.
template <typename F> DEVICE Complex turned_function(Complex z, F function) {
    const Complex w = function(Complex{-z.im, z.re});
    return {w.im, -w.re};
}

DEVICE Complex complex_unary(u32 function, Complex z) {
    switch (function) {
    case ACOS: return complex_acos(z);
    case ACOSH: {
        const Complex w = complex_acos(z);
        return f32_bits(w.im) >> 31 ? Complex{-w.im, w.re} : Complex{w.im, -w.re};
    }
    case ASIN: return complex_asin(z);
    case ASINH: return turned_function(z, complex_asin);
    case ATAN: return turned_function(z, complex_atanh);
    case ATANH: return complex_atanh(z);
    case COS: return {exact_sin(z.re, 1) * exact_cosh(z.im), -(exact_sin(z.re, 0) * exact_sinh(z.im))};
    case COSH: return {exact_cosh(z.re) * exact_sin(z.im, 1), exact_sinh(z.re) * exact_sin(z.im, 0)};
    case EXP: return complex_exp(z);
    case LOG: return complex_log(z);
    case LOG2: {
        const Complex w = complex_log(z);
        return {w.re / LN2, w.im / LN2};
    }
    case LOG10: {
        const Complex w = complex_log(z);
        return {w.re / 2.30258509299404568402f, w.im / 2.30258509299404568402f};
    }
    case LOG1P: return complex_log1p(z);
    case NEGATIVE: return {-z.re, -z.im};
    case ROUND: return {round_even(z.re), round_even(z.im)};
    case RSQRT: return Complex{1.0f, 0.0f} / complex_sqrt(z);
    case SIGN: {
        if (is_zero(z)) return z;
        const f32 size = size_of_number(z);
        return {z.re / size, z.im / size};
    }
    case SIN: return {exact_sin(z.re, 0) * exact_cosh(z.im), exact_sin(z.re, 1) * exact_sinh(z.im)};
    case SINH: return {exact_sinh(z.re) * exact_sin(z.im, 1), exact_cosh(z.re) * exact_sin(z.im, 0)};
    case SQRT: return complex_sqrt(z);
    case SQUARE: return z * z;
    case TAN: return turned_function(z, complex_tanh);
    case TANH: return complex_tanh(z);
    case CONJUGATE: return {z.re, -z.im};
    case TIMES_I: return {-z.im, z.re};
    default: return z;
    }
}

// By the real, then the imaginary part; nothing is larger or smaller than what has a NaN.
DEVICE bool is_less(Complex a, Complex b) { return !is_nan(a) && !is_nan(b) && (a.re < b.re || (a.re == b.re && a.im < b.im)); }
DEVICE bool is_same(Complex a, Complex b) { return a.re == b.re && a.im == b.im; }
// Part by part: of whole numbers an address would be chosen, and they would have to lie in memory for it.
DEVICE Complex chosen(bool is_a, Complex a, Complex b) { return {is_a ? a.re : b.re, is_a ? a.im : b.im}; }
DEVICE Complex larger(Complex a, Complex b) { return chosen(is_nan(a) || is_less(b, a), a, b); }
DEVICE Complex smaller(Complex a, Complex b) { return chosen(is_nan(a) || is_less(a, b), a, b); }
DEVICE Complex complex_power(Complex a, Complex b) {
    if (is_zero(b)) return {1.0f, 0.0f};
    if (is_zero(a)) return b.re > 0.0f ? Complex{0.0f, 0.0f} : Complex{nan(), nan()};
    return complex_exp(b * complex_log(a));
}
DEVICE Complex complex_binary(u32 function, Complex a, Complex b) {
    switch (function) {
    case ADD: return a + b;
    // MLX rounds no complex quotient.
    case DIVIDE:
    case FLOOR_DIVIDE: return a / b;
    case LOG_ADD_EXP: {
        if (is_nan(a) || is_nan(b)) return {nan(), nan()};
        const Complex low = smaller(a, b), high = larger(a, b);
        if (low.re == -infinity() || high.re == infinity()) return high;
        return high + complex_log1p(complex_exp(low - high));
    }
    case MAXIMUM: return larger(a, b);
    case MINIMUM: return smaller(a, b);
    case MULTIPLY: return a * b;
    case POWER: return complex_power(a, b);
    default: return a - b;
    }
}
DEVICE bool complex_compare(u32 function, Complex a, Complex b) {
    switch (function) {
    case EQUAL: return is_same(a, b);
    case NOT_EQUAL: return !is_same(a, b);
    case NAN_EQUAL: return is_same(a, b) || (is_nan(a) && is_nan(b));
    case GREATER: return is_less(b, a);
    case GREATER_EQUAL: return is_less(b, a) || is_same(a, b);
    case LESS: return is_less(a, b);
    case LOGICAL_AND: return !is_zero(a) && !is_zero(b);
    case LOGICAL_OR: return !is_zero(a) || !is_zero(b);
    default: return is_less(a, b) || is_same(a, b);
    }
}
