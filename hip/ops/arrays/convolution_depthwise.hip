// Convolutions (convolution.h) whose groups are single channels, 16 bytes of channels at a time: sums in f32 along taps in
// order. Inputs are not dilated; channels are whole groups of 16 bytes, x and out are aligned to that. A block's taps lie in
// shared memory as f32.
//
// Launch: 256 threads, grid (blocks of 32 rows of out, blocks of 32 groups of channels): eight teams of 32 lanes take four
// rows each. line: (images · blocks of 64 rows of out, the same): eight rows each.
#include "convolution.h"
#include "vectors.h"

#define MOST_TAPS 32
#define ROWS_EACH 4
// A block's taps, by channels.
template <u32 DTYPE> DEVICE void load_taps(const Convolution &c, const void *w, f32 *taps) {
    constexpr u32 CHANNELS = 32 * 16 / bytes_of(DTYPE);
    const u32 first = block_y() * CHANNELS, count = c.taps(), mine = minimum(CHANNELS, c.channels - first);
    for (u32 i = thread_x(); i < mine * count; i += 256)
        taps[i % count * CHANNELS + i / count] = load_float(w, (i64)first * count + i, DTYPE);
    barrier();
}
template <u32 DTYPE> DEVICE void depthwise(const Convolution &c, const void *x, void *out, u32 rows, const f32 *taps) {
    constexpr int SIZE = bytes_of(DTYPE), V = 16 / SIZE, CHANNELS = 32 * V;
    const u32 first = block_y() * CHANNELS;
    const u32 lane = thread_x() % 32, channel = first + lane * V;
    if (channel >= c.channels) return;
    const u32 row = (block_x() * 8 + thread_x() / 32) * ROWS_EACH;
    const u8 *images[ROWS_EACH];
    i32 p0[ROWS_EACH], p1[ROWS_EACH], p2[ROWS_EACH];
    UNROLL for (u32 j = 0; j < ROWS_EACH; j++) {
        const u32 at = minimum(row + j, rows - 1), c2 = at % c.o2, c1 = at / c.o2 % c.o1, c0 = at / c.o2 / c.o1 % c.o0;
        images[j] = (const u8 *)x + ((u64)(at / c.o2 / c.o1 / c.o0) * c.x0 * c.x1 * c.x2 * c.channels + channel) * SIZE;
        p0[j] = (i32)(c0 * c.s0) - c.l0, p1[j] = (i32)(c1 * c.s1) - c.l1, p2[j] = (i32)(c2 * c.s2) - c.l2;
    }
    f32 sums[ROWS_EACH][V] = {};
    u32 tap = 0;
    for (u32 t0 = 0; t0 < c.k0; t0++) for (u32 t1 = 0; t1 < c.k1; t1++) for (u32 t2 = 0; t2 < c.k2; t2++, tap++) {
        const i32 d0 = (i32)((c.flip ? c.k0 - 1 - t0 : t0) * c.d0), d1 = (i32)((c.flip ? c.k1 - 1 - t1 : t1) * c.d1);
        const i32 d2 = (i32)((c.flip ? c.k2 - 1 - t2 : t2) * c.d2);
        Bits<16> bits[ROWS_EACH];
        bool inside[ROWS_EACH];
        UNROLL for (u32 j = 0; j < ROWS_EACH; j++) {
            const u32 at0 = (u32)(p0[j] + d0), at1 = (u32)(p1[j] + d1), at2 = (u32)(p2[j] + d2);
            inside[j] = at0 < c.x0 && at1 < c.x1 && at2 < c.x2;
            const u64 place = inside[j] ? ((u64)at0 * c.x1 + at1) * c.x2 + at2 : 0;
            bits[j] = load_group<16>(images[j] + place * c.channels * SIZE);
        }
        f32 of_tap[V];
        UNROLL for (int i = 0; i < V; i += 4) {
            const f32x4 four = load_f32x4(taps + tap * CHANNELS + lane * V + i);
            of_tap[i] = four.x, of_tap[i + 1] = four.y, of_tap[i + 2] = four.z, of_tap[i + 3] = four.w;
        }
        UNROLL for (u32 j = 0; j < ROWS_EACH; j++) {
            if (!inside[j]) continue;
            UNROLL for (int i = 0; i < V; i++) sums[j][i] = mul_add(number_in<DTYPE>(bits[j], i), of_tap[i], sums[j][i]);
        }
    }
    UNROLL for (u32 j = 0; j < ROWS_EACH; j++)
        if (row + j < rows) store_numbers<DTYPE>((u8 *)out + ((u64)(row + j) * c.width + channel) * SIZE, 0, sums[j]);
}
// Lines (one dimension, the first) of steps of 1 and TAPS taps: a thread takes LINE_ROWS neighbouring rows of out, whose rows of x are on
// their way at once.
#define LINE_ROWS 8
#define MOST_LINE_TAPS 4
template <u32 DTYPE, u32 TAPS> DEVICE void line(const Convolution &c, const void *x, void *out, const f32 *taps) {
    constexpr int SIZE = bytes_of(DTYPE), V = 16 / SIZE, CHANNELS = 32 * V, READ = LINE_ROWS + TAPS - 1;
    const u32 lane = thread_x() % 32, channel = block_y() * CHANNELS + lane * V, pieces = divide_up(c.o0, 8 * LINE_ROWS);
    if (channel >= c.channels) return;
    const u32 image = block_x() / pieces, row = ((block_x() - image * pieces) * 8 + thread_x() / 32) * LINE_ROWS;
    const u8 *from = (const u8 *)x + ((u64)image * c.x0 * c.channels + channel) * SIZE;
    Bits<16> rows[READ];
    UNROLL for (u32 i = 0; i < READ; i++) {
        const u32 at = (u32)((i32)(row + i) - c.l0);
        rows[i] = at < c.x0 ? load_group<16>(from + (u64)at * c.channels * SIZE) : Bits<16>{};
    }
    f32 of_taps[TAPS][V];
    UNROLL for (u32 t = 0; t < TAPS; t++) UNROLL for (int i = 0; i < V; i += 4) {
        // Rows are read in the order of taps.
        const f32x4 four = load_f32x4(taps + (c.flip ? TAPS - 1 - t : t) * CHANNELS + lane * V + i);
        of_taps[t][i] = four.x, of_taps[t][i + 1] = four.y, of_taps[t][i + 2] = four.z, of_taps[t][i + 3] = four.w;
    }
    UNROLL for (u32 j = 0; j < LINE_ROWS; j++) {
        if (row + j >= c.o0) break;
        f32 sums[V] = {};
        UNROLL for (u32 t = 0; t < TAPS; t++)
            UNROLL for (int i = 0; i < V; i++) sums[i] = mul_add(number_in<DTYPE>(rows[j + t], i), of_taps[t][i], sums[i]);
        store_numbers<DTYPE>((u8 *)out + (((u64)image * c.o0 + row + j) * c.width + channel) * SIZE, 0, sums);
    }
}
#define DEPTHWISE_KERNEL(NAME, DTYPE)                                                        \
    KERNEL(256) void NAME(CONVOLUTION_PARAMETERS) {                                          \
        SHARED __attribute__((aligned(16))) f32 taps[MOST_TAPS * 32 * 16 / bytes_of(DTYPE)]; \
        grid_dependency_launch();                                                            \
        grid_dependency_wait();                                                              \
        const Convolution c = CONVOLUTION_ARGUMENTS;                                         \
        load_taps<DTYPE>(c, w, taps);                                                        \
        depthwise<DTYPE>(c, x, out, rows, taps);                                             \
        (void)across, (void)dtype;                                                           \
    }
DEPTHWISE_KERNEL(mlxrocm_array_convolution_depthwise_f32, F32)
DEPTHWISE_KERNEL(mlxrocm_array_convolution_depthwise_f16, F16)
DEPTHWISE_KERNEL(mlxrocm_array_convolution_depthwise_bf16, BF16)
#define LINE_KERNEL(NAME, DTYPE)                                                                  \
    KERNEL(256) void NAME(CONVOLUTION_PARAMETERS) {                                               \
        SHARED __attribute__((aligned(16))) f32 taps[MOST_LINE_TAPS * 32 * 16 / bytes_of(DTYPE)]; \
        grid_dependency_launch();                                                                 \
        grid_dependency_wait();                                                                   \
        const Convolution c = CONVOLUTION_ARGUMENTS;                                              \
        load_taps<DTYPE>(c, w, taps);                                                             \
        switch (c.k0) {                                                                           \
        case 2: line<DTYPE, 2>(c, x, out, taps); break;                                           \
        case 3: line<DTYPE, 3>(c, x, out, taps); break;                                           \
        default: line<DTYPE, 4>(c, x, out, taps);                                                 \
        }                                                                                         \
        (void)across, (void)dtype, (void)rows;                                                    \
    }
LINE_KERNEL(mlxrocm_array_convolution_line_f32, F32)
LINE_KERNEL(mlxrocm_array_convolution_line_f16, F16)
LINE_KERNEL(mlxrocm_array_convolution_line_bf16, BF16)
