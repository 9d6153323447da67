// Discrete Fourier transforms of lines of n <= 4096 complex numbers, n a product of 2, 3, 5, 7, 11 and 13:
// out[k] = Σ_j x[j] w^(j k), w = e^(-2πi/n), by steps of a radix each (Stockham: what a step writes is in order), in place in
// shared memory: a step's inputs are all in registers before its results are written.
// A pass is such a transform of many lines, and what surrounds it, so that longer transforms are two passes (n = n1 · n2:
// columns, times w_N^(k1 · j2), then rows; Bailey's four steps), and those of lengths with larger primes are convolutions with
// e^(πi j²/n) (Bluestein). Element e of a line (o, s, i) is number g = e · g_step + s · g_line of a whole transform (o, i).
// Inverse transforms are conjugated before and after.
//
// Launch: 512 threads, a block `lines` lines: 4096 numbers at most (mlxrocm_array_fft_primes: 2048).
#include "functions.h"

#define MOST 4096
#define THREADS 512
// Keeps the loads of one butterfly behind those of the one before: registers are for one and results.
#define IN_ORDER() __asm__ volatile("" ::: "memory")

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

// e^(-2πi t/n) for t < n <= 2^24, to the last place: the angle's quarter is found in whole numbers.
DEVICE Complex unit_root(u32 t, u32 n) {
    const u32 quarter = (8 * t + n) / (2 * n);
    const f32 rest = (f32)((i32)(4 * t) - (i32)(quarter * n)), count = (f32)n;
    const f32 part = rest / count, part_low = mul_add(-part, count, rest) / count;
    const f32 angle = product(part, PI_HALF);
    const f32 low = mul_add(part, PI_HALF, -angle) + mul_add(part, -4.37113883e-8f, part_low * PI_HALF);
    const f32 sine = sin_near_zero(angle), cosine = cos_near_zero(angle);
    const f32 s = mul_add(low, cosine, sine), c = mul_add(-low, sine, cosine);
    switch (quarter & 3) {
    case 0: return {c, -s};
    case 1: return {-s, -c};
    case 2: return {-c, s};
    default: return {s, c};
    }
}
// e^(-πi j²/n).
DEVICE Complex chirp(u32 j, u32 n) { return unit_root((u32)((u64)j * j % (2 * n)), 2 * n); }

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

// A step of radix R: numbers of `done` are transformed already; `total` numbers of lines of n.
template <int R, bool LOOKED_UP> DEVICE void step(Complex *line, u32 n, u32 done, u32 total, const void *roots) {
    constexpr int MOST_HERE = LOOKED_UP ? MOST / 2 : MOST, EACH = (MOST_HERE / R + THREADS - 1) / THREADS;
    const u32 apart = n / R, count = total / R, every = n / (done * R);
    Complex x[EACH][R];
    UNROLL for (int t = 0; t < EACH; t++) {
        // Threads behind the last take it too: registers that only some have would be kept through all steps.
        const u32 b = minimum(thread_x() + t * THREADS, count - 1);
        const u32 first = b / apart * n, at = b % apart, k = at % done;
        UNROLL for (int r = 0; r < R; r++) x[t][r] = line[first + at + r * apart];
        if (done > 1) UNROLL for (int r = 1; r < R; r++) x[t][r] = x[t][r] * load_complex(roots, r * k * every);
        transform<R, LOOKED_UP>(x[t], roots, apart);
        IN_ORDER();
    }
    barrier();
    UNROLL for (int t = 0; t < EACH; t++) {
        const u32 b = thread_x() + t * THREADS;
        if (b >= count) continue;
        const u32 first = b / apart * n, at = b % apart, k = at % done;
        UNROLL for (int r = 0; r < R; r++) line[first + (at - k) * R + k + r * done] = x[t][r];
    }
    barrier();
}

enum Flags { CONJUGATE_IN = 1, REAL_IN = 2, HALF_IN = 4, CONJUGATE_LINE = 8, CONJUGATE_OUT = 16, REAL_OUT = 32, LINES_IN = 64,
             LINES_OUT = 128, CHIRP_IN = 256, CHIRP_OUT = 512, TWIDDLE = 1024 };

// roots: w^t for t < n. Lines (o, s, i): s_count, i_count of the last two. x: number g of (o, i) lies at
// o · x_outer + i + g · x_step, those behind the first `x_count` are 0; HALF_IN: those behind the middle of `whole` (CHIRP_IN:
// `chirps`) numbers are conjugates of as many - g. CHIRP_IN, CHIRP_OUT: times e^(-πi g²/chirps). Behind the line's transform: TWIDDLE: times
// e^(-2πi e s/whole); times factors[g] (null: none), times `scale`; the first `out_count` are written.
// LINES_IN, LINES_OUT: neighbouring lines lie side by side there, not a line's elements. radices: four bits each.
#define PASS                                                                                                        \
    const void *x, void *out, const void *roots, const void *factors, u32 n, u32 lines, u32 all_lines, u32 s_count, \
    u32 i_count, u32 flags, u32 x_step, u32 x_outer, u32 x_g_step, u32 x_g_line, u32 x_count, u32 out_step, u32     \
    out_outer, u32 out_g_step, u32 out_g_line, u32 out_count, u32 whole, u32 chirps, u32 radices, u32 more_radices, \
    f32 scale
#define PASS_ARGUMENTS                                                                                           \
    x, out, roots, factors, n, lines, all_lines, s_count, i_count, flags, x_step, x_outer, x_g_step, x_g_line,   \
    x_count, out_step, out_outer, out_g_step, out_g_line, out_count, whole, chirps, radices, more_radices, scale
template <bool PRIMES> DEVICE void pass(PASS, Complex *line) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 first_line = block_x() * lines, mine = minimum(lines, all_lines - first_line), total = mine * n;
    for (u32 at = thread_x(); at < total; at += THREADS) {
        const bool by_lines = flags & LINES_IN;
        const u32 l = by_lines ? at % mine : at / n, e = by_lines ? at / mine : at % n;
        const u32 number = first_line + l, i = number % i_count, s = number / i_count % s_count, o = number / i_count / s_count;
        u32 g = e * x_g_step + s * x_g_line;
        Complex value{0.0f, 0.0f};
        const u32 mirror = !PRIMES && (flags & CHIRP_IN) ? chirps : whole;
        const bool mirrored = (flags & HALF_IN) && g > mirror / 2;
        const u32 from = !mirrored ? g : g < mirror ? mirror - g : x_count;
        if (from < x_count) {
            const u64 place = (u64)o * x_outer + i + (u64)from * x_step;
            if (flags & REAL_IN)
                value.re = ((const f32 *)x)[place];
            else
                value = load_complex(x, place);
        }
        if (mirrored != ((flags & CONJUGATE_IN) != 0)) value.im = -value.im;
        if (!PRIMES && (flags & CHIRP_IN) && g < chirps) value = value * chirp(g, chirps);
        line[l * n + e] = value;
    }
    barrier();
    u32 done = 1;
    // Four bits a radix.
    for (u64 left = radices | (u64)more_radices << 32; left; left >>= 4) {
        const u32 radix = (u32)left & 15;
        if constexpr (PRIMES) switch (radix) {
            case 2: step<2, true>(line, n, done, total, roots); break;
            case 3: step<3, true>(line, n, done, total, roots); break;
            case 5: step<5, true>(line, n, done, total, roots); break;
            case 11: step<11, true>(line, n, done, total, roots); break;
            case 13: step<13, true>(line, n, done, total, roots); break;
        }
        else switch (radix) {
            case 2: step<2, false>(line, n, done, total, roots); break;
            case 3: step<3, false>(line, n, done, total, roots); break;
            case 4: step<4, false>(line, n, done, total, roots); break;
            case 5: step<5, false>(line, n, done, total, roots); break;
            case 7: step<7, false>(line, n, done, total, roots); break;
            case 8: step<8, false>(line, n, done, total, roots); break;
        }
        done *= radix;
    }
    for (u32 at = thread_x(); at < total; at += THREADS) {
        const bool by_lines = flags & LINES_OUT;
        const u32 l = by_lines ? at % mine : at / n, e = by_lines ? at / mine : at % n;
        const u32 number = first_line + l, i = number % i_count, s = number / i_count % s_count, o = number / i_count / s_count;
        const u32 g = e * out_g_step + s * out_g_line;
        if (g >= out_count) continue;
        Complex value = line[l * n + e];
        if (flags & TWIDDLE) value = value * unit_root(e * s, whole);
        if (!PRIMES && factors) value = value * load_complex(factors, g);
        if (flags & CONJUGATE_LINE) value.im = -value.im;
        if (!PRIMES && (flags & CHIRP_OUT)) value = value * chirp(g, chirps);
        value = scale * (flags & CONJUGATE_OUT ? conjugate(value) : value);
        const u64 place = (u64)o * out_outer + i + (u64)g * out_step;
        if (flags & REAL_OUT)
            ((f32 *)out)[place] = value.re;
        else
            store8((u32x2 *)out + place, {f32_bits(value.re), f32_bits(value.im)});
    }
}

// Of radices 2, 3, 4, 5, 7 and 8.
KERNEL(512) void mlxrocm_array_fft(PASS) {
    SHARED Complex line[MOST];
    pass<false>(PASS_ARGUMENTS, line);
}
// Of 2, 3, 5, 11 and 13. Convolutions (CHIRP_IN, CHIRP_OUT, factors) are of powers of two: never here.
KERNEL(512) void mlxrocm_array_fft_primes(PASS) {
    SHARED Complex line[MOST / 2];
    pass<true>(PASS_ARGUMENTS, line);
}
