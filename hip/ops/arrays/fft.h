// Complex numbers of Fourier transforms, and transforms of a few of them in registers: fft.hip, fft_powers.hip.
#pragma once

#include "functions.h"

struct alignas(8) Complex {
    f32 re, im;
};
DEVICE Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
DEVICE Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
DEVICE Complex operator*(Complex a, Complex b) {
    return {mul_add(a.re, b.re, -(a.im * b.im)), mul_add(a.re, b.im, a.im * b.re)};
}
DEVICE Complex operator*(f32 a, Complex b) { return {a * b.re, a * b.im}; }
DEVICE Complex less_i(Complex a) { return {a.im, -a.re}; } // times -i
DEVICE Complex conjugate(Complex a) { return {a.re, -a.im}; }
DEVICE Complex load_complex(const void *x, u64 at) {
    const u32x2 bits = load8((const u32x2 *)x + at);
    return {bits_f32(bits.x), bits_f32(bits.y)};
}

// cos and sin of 2π j/R for j <= (R - 1)/2. LOOKED_UP: of the table: constants of many radices would stay in
// scalar registers, which there are too few of.
template <int R, bool LOOKED_UP> DEVICE void odd_roots(f32 (&c)[R / 2 + 1], f32 (&s)[R / 2 + 1], const void *roots, u32 every) {
    c[0] = 1.0f, s[0] = 0.0f;
    if constexpr (LOOKED_UP) UNROLL for (int j = 1; j <= R / 2; j++) {
        const Complex root = load_complex(roots, j * every);
        c[j] = root.re, s[j] = -root.im;
    }
    if constexpr (!LOOKED_UP && R == 3) c[1] = -0.5f, s[1] = 0.866025403784438647f;
    if constexpr (!LOOKED_UP && R == 5) {
        c[1] = 0.309016994374947424f, c[2] = -0.809016994374947424f;
        s[1] = 0.951056516295153572f, s[2] = 0.587785252292473129f;
    }
    if constexpr (!LOOKED_UP && R == 7) {
        c[1] = 0.623489801858733531f, c[2] = -0.222520933956314404f, c[3] = -0.900968867902419126f;
        s[1] = 0.781831482468029809f, s[2] = 0.974927912181823607f, s[3] = 0.433883739117558120f;
    }
}
template <int R, bool LOOKED_UP> DEVICE void transform(Complex (&x)[R], const void *roots, u32 every) {
    if constexpr (R == 2) {
        const Complex a = x[0];
        x[0] = a + x[1], x[1] = a - x[1];
    } else if constexpr (R == 4) {
        const Complex a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = less_i(x[1] - x[3]);
        x[0] = a + c, x[1] = b + d, x[2] = a - c, x[3] = b - d;
    } else if constexpr (R == 8) {
        Complex even[4] = {x[0], x[2], x[4], x[6]}, odd[4] = {x[1], x[3], x[5], x[7]};
        transform<4, LOOKED_UP>(even, roots, every), transform<4, LOOKED_UP>(odd, roots, every);
        const f32 half = 0.707106781186547524f;
        odd[1] = half * (odd[1] + less_i(odd[1]));
        odd[2] = less_i(odd[2]);
        odd[3] = half * (less_i(odd[3]) - odd[3]);
        UNROLL for (int k = 0; k < 4; k++) x[k] = even[k] + odd[k], x[k + 4] = even[k] - odd[k];
    } else {
        constexpr int H = R / 2;
        f32 c[H + 1], s[H + 1];
        odd_roots<R, LOOKED_UP>(c, s, roots, every);
        Complex sums[H + 1], apart[H + 1];
        Complex total = x[0];
        UNROLL for (int j = 1; j <= H; j++) sums[j] = x[j] + x[R - j], apart[j] = x[j] - x[R - j], total = total + sums[j];
        const Complex first = x[0];
        x[0] = total;
        UNROLL for (int k = 1; k <= H; k++) {
            Complex a = first, b{0.0f, 0.0f};
            UNROLL for (int j = 1; j <= H; j++) {
                const int at = j * k % R;
                const f32 cosine = c[at <= H ? at : R - at], sine = at <= H ? s[at] : -s[R - at];
                a = {mul_add(cosine, sums[j].re, a.re), mul_add(cosine, sums[j].im, a.im)};
                b = {mul_add(sine, apart[j].re, b.re), mul_add(sine, apart[j].im, b.im)};
            }
            x[k] = a + less_i(b), x[R - k] = a - less_i(b);
        }
    }
}
