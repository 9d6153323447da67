// Discrete Fourier transforms of lines of n <= 4096 complex numbers, n a product of 2, 3, 5, 7, 11 and 13:
// out[k] = Σ_j x[j] w^(j k), w = e^(-2πi/n), by steps of a radix each (Stockham: what a step writes is in order), in place in
// shared memory: a step's inputs are all in registers before its results are written.
// A pass is such a transform of many lines, and what surrounds it, so that longer transforms are two passes (n = n1 · n2:
// columns, times w_N^(k1 · j2), then rows; Bailey's four steps), and those of lengths with larger primes are convolutions with
// e^(πi j²/n) (Bluestein). Element e of a line (o, s, i) is number g = e · g_step + s · g_line of a whole transform (o, i).
// Inverse transforms are conjugated before and after.
//
// Launch: 512 threads, a block `lines` lines: 4096 numbers at most (mlxrocm_array_fft_primes: 2048).
#include "fft.h"

#define MOST 4096
#define THREADS 512
// Keeps the loads of one butterfly behind those of the one before: registers are for one and results.
#define IN_ORDER() __asm__ volatile("" ::: "memory")

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
