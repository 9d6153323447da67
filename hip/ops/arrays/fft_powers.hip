// Transforms (fft.hip) of lines of a power of two of complex numbers, 8 <= n <= 4096, one behind the other, and of real lines of
// 2n numbers as n complex ones: with z[j] = x[2j] + i x[2j + 1], Z its transform, A = Z[k] and B the conjugate of Z[n - k],
//   X[k] = (A + B) / 2 - i w^k (A - B) / 2,   X[n - k] = the conjugate of (A + B) / 2 + i w^k (A - B) / 2,   w = e^(-πi/n).
// The first step has what is left of the radix 8. Roots lie as steps take them: e^(-2πi r k/(8d)) at r · d + k of a step behind
// `d` numbers that are transformed already.
//
// Launch: 512 threads, a block `lines` lines: 4096 numbers at most; small: 256 threads, 2048 numbers.
#include "fft.h"

#define POWER_THREADS 512
#define POWER_MOST 4096
#define SMALL_THREADS 256
#define SMALL_MOST 2048

// Neighbours of every stride lie in other banks.
DEVICE u32 spot(u32 i) { return i + i / 16; }

template <u32 THREADS, int R, typename FROM>
DEVICE void power_step(Complex *line, u32 log_n, u32 log_done, u32 total, const void *roots, const FROM &from) {
    constexpr int LOG = R == 2 ? 1 : R == 4 ? 2 : 3, EACH = 8 / R;
    const u32 log_apart = log_n - LOG, count = total >> LOG;
    Complex x[EACH][R];
    UNROLL for (int t = 0; t < EACH; t++) {
        const u32 b = minimum(thread_x() + t * THREADS, count - 1);
        const u32 first = b >> log_apart << log_n, at = b & ((1u << log_apart) - 1), k = at & ((1u << log_done) - 1);
        UNROLL for (int r = 0; r < R; r++) x[t][r] = from(first + at + ((u32)r << log_apart));
        if (log_done) UNROLL for (int r = 1; r < R; r++) x[t][r] = x[t][r] * load_complex(roots, ((u32)r << log_done) + k);
        transform<R, false>(x[t], nullptr, 0);
    }
    barrier();
    UNROLL for (int t = 0; t < EACH; t++) {
        const u32 b = thread_x() + t * THREADS;
        if (b >= count) continue;
        const u32 first = b >> log_apart << log_n, at = b & ((1u << log_apart) - 1), k = at & ((1u << log_done) - 1);
        UNROLL for (int r = 0; r < R; r++) line[spot(first + ((at - k) << LOG) + k + ((u32)r << log_done))] = x[t][r];
    }
    barrier();
}

#define POWERS \
    const void *x, void *out, const void *roots, const void *halves, u32 log_n, u32 lines, u32 all_lines, u32 inverse, f32 scale
// `halves`: e^(-πi k/n) for k <= n / 2, of real lines; null: the lines are complex. inverse: conjugates before and after.
// LOG_N: the length where it is known when this is compiled (a fourth of the instructions are for where numbers lie); else 0.
template <u32 THREADS, u32 LOG_N> DEVICE void powers(POWERS, Complex *line) {
    const u32 first = block_x() * lines, mine = minimum(lines, all_lines - first), n = 1u << log_n, total = mine << log_n;
    const u64 from = (u64)first << log_n;
    const auto given = [&](u32 i) {
        Complex value = load_complex(x, from + i);
        if (inverse) value.im = -value.im;
        return value;
    };
    const auto made = [&](u32 i) { return line[spot(i)]; };
    const u32 log_first = log_n % 3 ? log_n % 3 : 3;
    if (log_first == 3)
        power_step<THREADS, 8>(line, log_n, 0, total, roots, given);
    else if (log_first == 1)
        power_step<THREADS, 2>(line, log_n, 0, total, roots, given);
    else
        power_step<THREADS, 4>(line, log_n, 0, total, roots, given);
    if constexpr (LOG_N) {
        UNROLL for (u32 log_done = log_first; log_done < LOG_N; log_done += 3)
            power_step<THREADS, 8>(line, LOG_N, log_done, total, roots, made);
    } else {
        for (u32 log_done = log_first; log_done < log_n; log_done += 3)
            power_step<THREADS, 8>(line, log_n, log_done, total, roots, made);
    }
    if (!halves) {
        for (u32 i = thread_x(); i < total; i += THREADS) {
            const Complex value = scale * made(i);
            store8((u32x2 *)out + from + i, {f32_bits(value.re), f32_bits(inverse ? -value.im : value.im)});
        }
        return;
    }
    for (u32 i = thread_x(); i < total / 2; i += THREADS) {
        const u32 l = i >> (log_n - 1), begin = l << log_n;
        u32x2 *to = (u32x2 *)out + (u64)(first + l) * (n + 1);
        const auto both = [&](u32 k) {
            const Complex a = made(begin + k), b = conjugate(made(begin + ((n - k) & (n - 1))));
            const Complex even = 0.5f * (a + b), odd = less_i(0.5f * (a - b)) * load_complex(halves, k);
            const Complex low = scale * (even + odd), high = scale * conjugate(even - odd);
            store8(to + k, {f32_bits(low.re), f32_bits(low.im)});
            store8(to + n - k, {f32_bits(high.re), f32_bits(high.im)});
        };
        const u32 k = i & (n / 2 - 1);
        both(k);
        if (k == 0) both(n / 2);
    }
}
#define OF_LENGTH(THREADS, LOG_N) \
    powers<THREADS, LOG_N>(x, out, roots, halves, LOG_N ? LOG_N : log_n, lines, all_lines, inverse, scale, line)
KERNEL(POWER_THREADS) void mlxrocm_array_fft_powers(POWERS) {
    SHARED Complex line[POWER_MOST + POWER_MOST / 16];
    grid_dependency_launch();
    grid_dependency_wait();
    if (log_n == 12) return OF_LENGTH(POWER_THREADS, 12);
    OF_LENGTH(POWER_THREADS, 0);
}
KERNEL(SMALL_THREADS) void mlxrocm_array_fft_powers_small(POWERS) {
    SHARED Complex line[SMALL_MOST + SMALL_MOST / 16];
    grid_dependency_launch();
    grid_dependency_wait();
    if (log_n == 11) return OF_LENGTH(SMALL_THREADS, 11);
    if (log_n == 10) return OF_LENGTH(SMALL_THREADS, 10);
    OF_LENGTH(SMALL_THREADS, 0);
}
