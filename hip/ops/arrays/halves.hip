// Rounds matrices of f32 for product_halves.h: times a power of two to f16, so that the largest finite number of each row (along k;
// else of each column) is one from 2^14 to 2^15. A number that is at least 2^-28 of it keeps 11 bits, as TF32 has; smaller ones lose
// what is less than 2^-39 of it. Infinities and NaN stay. The copy lies as x; powers are what takes it back.
//
// along: rows of `inner` numbers along k, `stride` apart; powers[row]. Launch: 256 threads, grid (rows).
// across: matrices of `inner` rows of k, `stride` apart, of `columns` numbers; powers[matrix · stride + column]. Launch: 1,024
// threads, grid (columns / 32, matrices), rounded up. Both read x twice.
#include "common/reduce.h"
#include "vectors.h"

// The largest exponent of finite numbers.
DEVICE u32 larger(u32 most, u32 number) {
    const u32 exponent = number >> 23 & 255;
    return exponent < 255 && exponent > most ? exponent : most;
}
// 141 is the exponent of 2^14. Where all are less than 2^-112, the largest becomes less than that.
DEVICE i32 power_of(u32 most) { return (i32)(most < 15 ? 15 : most) - 141; }
DEVICE f32 scaled(u32 number, i32 power) { return bits_f32(number) * bits_f32((u32)(127 - power) << 23); }
DEVICE u32x2 rounded(const Bits<16> &x, const i32 *powers) {
    const u32 *v = x.words;
    return u32x2{pack_f16x2(scaled(v[0], powers[0]), scaled(v[1], powers[1])).bits,
                 pack_f16x2(scaled(v[2], powers[2]), scaled(v[3], powers[3])).bits};
}
// take(number of the group, bits) of groups of four numbers, `step` groups apart, four on their way; behind the last group it
// comes again, with numbers of none.
template <typename FROM, typename TAKE> DEVICE void each_group(u32 first, u32 step, u32 count, const FROM &from, const TAKE &take) {
    for (u32 group = first; group < count; group += 4 * step) {
        Bits<16> bits[4];
        UNROLL for (u32 j = 0; j < 4; j++) bits[j] = load_group<16>(from(minimum(group + j * step, count - 1)));
        loaded(bits);
        UNROLL for (u32 j = 0; j < 4; j++) take(group + j * step, bits[j]);
    }
}

KERNEL(256) void mlxrocm_array_halves_along(const f32 *x, u16 *halves, i32 *powers, u32 inner, i64 stride) {
    SHARED f32 waves[256 / WAVE];
    grid_dependency_launch();
    grid_dependency_wait();
    const i64 row = block_x() * stride;
    const auto from = [&](u32 group) { return x + row + group * 4; };
    u32 most = 0;
    each_group(thread_x(), 256, inner / 4, from, [&](u32, const Bits<16> &bits) {
        UNROLL for (u32 i = 0; i < 4; i++) most = larger(most, bits.words[i]);
    });
    const i32 power = power_of((u32)block_max<256>((f32)most, waves)), all[4] = {power, power, power, power};
    if (thread_x() == 0) powers[block_x()] = power;
    each_group(thread_x(), 256, inner / 4, from, [&](u32 group, const Bits<16> &bits) {
        if (group < inner / 4) store8(halves + row + group * 4, rounded(bits, all));
    });
}

KERNEL(1024) void mlxrocm_array_halves_across(const f32 *x, u16 *halves, i32 *powers, u32 inner, u32 columns, i64 stride) {
    SHARED u32 most[32];
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 lane = thread_x() % 8 * 4, first = thread_x() / 8, column = block_x() * 32;
    const i64 matrix = block_y() * stride * inner + column + lane;
    const u32 count = column + lane < columns ? inner : 0;
    const auto from = [&](u32 k) { return x + matrix + k * stride; };
    if (thread_x() < 32) most[thread_x()] = 0;
    barrier();
    u32 own[4] = {};
    each_group(first, 128, count, from, [&](u32, const Bits<16> &bits) {
        UNROLL for (u32 i = 0; i < 4; i++) own[i] = larger(own[i], bits.words[i]);
    });
    UNROLL for (u32 i = 0; i < 4; i++) atomic_max(&most[lane + i], own[i]);
    barrier();
    if (thread_x() < 32 && column + thread_x() < columns)
        powers[block_y() * stride + column + thread_x()] = power_of(most[thread_x()]);
    i32 of_columns[4];
    UNROLL for (u32 i = 0; i < 4; i++) of_columns[i] = power_of(most[lane + i]);
    each_group(first, 128, count, from, [&](u32 k, const Bits<16> &bits) {
        if (k < count) store8(halves + matrix + k * stride, rounded(bits, of_columns));
    });
}
