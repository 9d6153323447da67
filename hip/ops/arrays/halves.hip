// Rounds matrices of f32 for product_halves.h: times a power of two to f16, so that the largest finite number of each row (along k;
// else of each column) is one from 2^14 to 2^15. A number that is at least 2^-28 of it keeps 11 bits, as TF32 has; smaller ones lose
// what is less than 2^-39 of it. Infinities and NaN stay. The copy lies as x; powers are what takes it back.
//
// along: rows of `inner` numbers along k, `stride` apart; powers[row]. Launch: 256 threads, grid (rows).
// across: matrices of `inner` rows of k, `stride` apart, of `columns` numbers; powers[matrix · stride + column]. Launch: 256
// threads, grid (columns / 32, matrices), rounded up. Both read four numbers at a time, and x twice.
#include "common/reduce.h"

// The largest exponent of finite numbers.
struct Power {
    u32 most = 0;

    METHOD void see(const f32x4 &v) { see(v.x), see(v.y), see(v.z), see(v.w); }
    METHOD void see(f32 v) {
        const u32 exponent = f32_bits(v) >> 23 & 255;
        most = exponent < 255 && exponent > most ? exponent : most;
    }
};
// 141 is the exponent of 2^14. Where all are less than 2^-112, the largest becomes less than that.
DEVICE i32 power_of(u32 most) { return (i32)(most < 15 ? 15 : most) - 141; }
DEVICE u32x2 rounded(const f32x4 &v, i32 a, i32 b, i32 c, i32 d) {
    const auto factor = [](i32 power) { return bits_f32((u32)(127 - power) << 23); };
    return u32x2{pack_f16x2(v.x * factor(a), v.y * factor(b)).bits, pack_f16x2(v.z * factor(c), v.w * factor(d)).bits};
}

KERNEL(256) void mlxrocm_array_halves_along(const f32 *x, u16 *halves, i32 *powers, u32 inner, i64 stride) {
    SHARED f32 waves[256 / WAVE];
    grid_dependency_launch();
    grid_dependency_wait();
    const f32 *row = x + block_x() * stride;
    Power of_thread;
    for (u32 first = thread_x() * 4; first < inner; first += 4096)
        UNROLL for (u32 i = 0; i < 4; i++)
            if (first + 1024 * i < inner) of_thread.see(load_f32x4(row + first + 1024 * i));
    const i32 power = power_of((u32)block_max<256>((f32)of_thread.most, waves));
    if (thread_x() == 0) powers[block_x()] = power;
    u16 *to = halves + block_x() * stride;
    for (u32 first = thread_x() * 4; first < inner; first += 4096)
        UNROLL for (u32 i = 0; i < 4; i++) {
            const u32 at = first + 1024 * i;
            if (at < inner) store8(to + at, rounded(load_f32x4(row + at), power, power, power, power));
        }
}

KERNEL(256) void mlxrocm_array_halves_across(const f32 *x, u16 *halves, i32 *powers, u32 inner, u32 columns, i64 stride) {
    SHARED u32 most[32];
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 lane = thread_x() % 8 * 4, column = block_x() * 32 + lane, begin = thread_x() / 8;
    const i64 matrix = block_y() * stride * inner + column;
    const bool there = column < columns;
    if (thread_x() < 32) most[thread_x()] = 0;
    barrier();
    Power a, b, c, d;
    for (u32 first = there ? begin : inner; first < inner; first += 256)
        UNROLL for (u32 i = 0; i < 8; i++) {
            const u32 k = first + 32 * i;
            if (k >= inner) continue;
            const f32x4 v = load_f32x4(x + matrix + k * stride);
            a.see(v.x), b.see(v.y), c.see(v.z), d.see(v.w);
        }
    atomic_max(&most[lane], a.most), atomic_max(&most[lane + 1], b.most);
    atomic_max(&most[lane + 2], c.most), atomic_max(&most[lane + 3], d.most);
    barrier();
    const u32 own = block_x() * 32 + thread_x();
    if (thread_x() < 32 && own < columns) powers[block_y() * stride + own] = power_of(most[thread_x()]);
    const i32 p0 = power_of(most[lane]), p1 = power_of(most[lane + 1]), p2 = power_of(most[lane + 2]), p3 = power_of(most[lane + 3]);
    for (u32 first = there ? begin : inner; first < inner; first += 256)
        UNROLL for (u32 i = 0; i < 8; i++) {
            const u32 k = first + 32 * i;
            if (k < inner) store8(halves + matrix + k * stride, rounded(load_f32x4(x + matrix + k * stride), p0, p1, p2, p3));
        }
}
