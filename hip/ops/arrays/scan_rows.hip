// out[c] = x[0] ∘ … ∘ x[c] of rows of f32, f16 or bf16 that lie one after the other, aligned to 16 bytes: sum, least or
// largest, forwards or backwards, with x[c] or without. Sums are f32, always in the same order.
//
// Launch: 256 threads, a block a row, 16 bytes a thread at a time; the next 16 are on their way meanwhile.
#include "vectors.h"

enum Scan { SUM, PROD, MIN, MAX };

template <u32 SCAN> DEVICE f32 joined(f32 a, f32 b) {
    if constexpr (SCAN == SUM) return a + b;
    if constexpr (SCAN == MIN) return is_nan(a) || a < b ? a : b;
    return is_nan(a) || a > b ? a : b;
}
template <u32 SCAN> DEVICE f32 neutral() { return SCAN == SUM ? 0.0f : SCAN == MIN ? infinity() : -infinity(); }

#define SCANNED const void *x, void *out, u32 columns, u32 scan, u32 backwards, u32 inclusive
template <u32 SCAN, u32 DTYPE>
DEVICE void scan_rows(const void *x, void *out, u32 columns, u32 backwards, u32 inclusive, f32 (*waves)[256 / WAVE]) {
    constexpr int SIZE = bytes_of(DTYPE), V = 16 / SIZE;
    const u8 *row = (const u8 *)x + (u64)block_x() * columns * SIZE;
    u8 *to = (u8 *)out + (u64)block_x() * columns * SIZE;
    const u32 groups = columns / V;
    f32 carried = neutral<SCAN>();
    // Backwards groups and their elements are counted from the end.
    const u32 first = minimum(thread_x(), groups - 1);
    Bits<16> next = load_group<16>(row + (backwards ? groups - 1 - first : first) * 16ull);
    u32 turn = 0;
    for (u32 begin = 0; begin < groups; begin += 256, turn = 1 - turn) {
        const u32 group = begin + thread_x();
        const Bits<16> bits = next;
        const u32 later = minimum(group + 256, groups - 1);
        next = load_group<16>(row + (backwards ? groups - 1 - later : later) * 16ull);
        f32 values[V], total = neutral<SCAN>();
        UNROLL for (int i = 0; i < V; i++) {
            const f32 value = backwards ? number_in<DTYPE>(bits, V - 1 - i) : number_in<DTYPE>(bits, i);
            const f32 before = total;
            total = i == 0 ? value : joined<SCAN>(total, value);
            values[i] = inclusive ? total : before;
        }
        if (group >= groups) total = neutral<SCAN>();
        // Of the lanes before, and of the waves before.
        f32 up_to = total;
        UNROLL for (u32 distance = 1; distance < WAVE; distance *= 2) {
            const f32 before = shuffle(up_to, lane_id() >= distance ? lane_id() - distance : 0);
            up_to = lane_id() >= distance ? joined<SCAN>(before, up_to) : up_to;
        }
        if (lane_id() == WAVE - 1) waves[turn][wave_id()] = up_to;
        barrier();
        f32 before = carried;
        UNROLL for (u32 wave = 0; wave < 256 / WAVE; wave++) {
            const f32 of_wave = waves[turn][wave];
            if (wave < wave_id()) before = joined<SCAN>(before, of_wave);
            carried = joined<SCAN>(carried, of_wave);
        }
        const f32 beside = shuffle(up_to, lane_id() > 0 ? lane_id() - 1 : 0);
        if (lane_id() > 0) before = joined<SCAN>(before, beside);
        if (group < groups) {
            f32 made[V];
            UNROLL for (int i = 0; i < V; i++) {
                const f32 value = i == 0 && !inclusive ? before : joined<SCAN>(before, values[i]);
                made[i] = value;
            }
            if (backwards) {
                UNROLL for (int i = 0; i < V / 2; i++) {
                    const f32 kept = made[i];
                    made[i] = made[V - 1 - i], made[V - 1 - i] = kept;
                }
            }
            store_numbers<DTYPE>(to + (backwards ? groups - 1 - group : group) * 16ull, 0, made);
        }
    }
}
#define GIVEN x, out, columns, backwards, inclusive, waves
#define SCAN_ROWS(DTYPE)                                   \
    SHARED f32 waves[2][256 / WAVE];                       \
    grid_dependency_launch();                              \
    grid_dependency_wait();                                \
    switch (scan) {                                        \
    case SUM: return scan_rows<SUM, DTYPE>(GIVEN);         \
    case MIN: return scan_rows<MIN, DTYPE>(GIVEN);         \
    default: return scan_rows<MAX, DTYPE>(GIVEN);          \
    }
KERNEL(256) void mlxrocm_array_scan_rows_f32(SCANNED) { SCAN_ROWS(F32) }
KERNEL(256) void mlxrocm_array_scan_rows_f16(SCANNED) { SCAN_ROWS(F16) }
KERNEL(256) void mlxrocm_array_scan_rows_bf16(SCANNED) { SCAN_ROWS(BF16) }
