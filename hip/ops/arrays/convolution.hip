// Convolutions (convolution.h) as products whose left matrix is not there: its row is a place of out, its columns are taps and
// channels, read from x. 16-bit ones by the matrix unit; sums in f32 along taps and channels in order.
// direct: few channels a group (depthwise ones): a thread an element.
//
// Launch: 256 threads; grid (blocks of 64 columns of a group · groups, blocks of 64 rows); direct: 256 elements a block.
#include "convolution.h"
#include "product_tiles.h"

// A group's left matrix.
struct Places16 {
    const Convolution &c;
    const u16 *x; // from the group's first channel on
    u32 rows, inner;

    METHOD u16 number(u32 row, u32 i) const {
        const u32 channels = c.group_channels();
        const i64 from = c.source(row, i / channels);
        return from < 0 ? 0 : x[from + i % channels];
    }
    METHOD u32x4 piece(u32 row, u32 i) const {
        if (row >= rows || i >= inner) return u32x4{0, 0, 0, 0};
        const u32 channels = c.group_channels();
        if (channels % 8 == 0 && c.channels % 8 == 0 && ((u64)x & 15) == 0) {
            const i64 from = c.source(row, i / channels);
            return from < 0 ? u32x4{0, 0, 0, 0} : load16(x + from + i % channels);
        }
        u64 words[2] = {0, 0};
        _Pragma("unroll 1") for (u32 j = 0; j < minimum(inner - i, 8u); j++) {
            const u64 bits = (u64)number(row, i + j) << (j % 4 * 16);
            words[0] |= j < 4 ? bits : 0, words[1] |= j < 4 ? 0 : bits;
        }
        return u32x4{(u32)words[0], (u32)(words[0] >> 32), (u32)words[1], (u32)(words[1] >> 32)};
    }
};

template <bool IS_BF16> DEVICE void convolve(const Convolution &c, const void *x, const void *w, void *out, u32 rows, u32 across,
                                             u16 *a, u16 *b) {
    const u32 group = block_x() / across, width = c.group_width(), inner = c.taps() * c.group_channels();
    const Places16 left = {c, (const u16 *)x + group * c.group_channels(), rows, inner};
    const Plain16<false> right = {(const u16 *)w + (u64)group * width * inner, inner, width, inner};
    multiply_tiles<IS_BF16, 64, 64>(left, true, right, true, rows, width, inner, block_y() * 64, block_x() % across * 64, a, b,
                                    [&](u32 row, u32 column, f32 sum) {
                                        store_float(out, (i64)row * c.width + group * width + column, IS_BF16 ? BF16 : F16, sum);
                                    });
}
#define CONVOLUTION_KERNEL(NAME, IS_BF16)                                    \
    KERNEL(256) void NAME(CONVOLUTION_PARAMETERS) {                          \
        SHARED __attribute__((aligned(16))) u16 a[64 * STEP], b[64 * STEP];  \
        grid_dependency_launch();                                            \
        grid_dependency_wait();                                              \
        const Convolution c = CONVOLUTION_ARGUMENTS;                         \
        convolve<IS_BF16>(c, x, w, out, rows, across, a, b);                 \
        (void)dtype;                                                         \
    }
CONVOLUTION_KERNEL(mlxrocm_array_convolution_f16, false)
CONVOLUTION_KERNEL(mlxrocm_array_convolution_bf16, true)

KERNEL(256) void mlxrocm_array_convolution_direct(CONVOLUTION_PARAMETERS) {
    grid_dependency_launch();
    grid_dependency_wait();
    const Convolution c = CONVOLUTION_ARGUMENTS;
    const u64 at = (u64)block_x() * 256 + thread_x();
    if (at >= (u64)rows * width) return;
    const u32 row = (u32)(at / width), column = (u32)(at % width), in = c.group_channels(), group = column / c.group_width();
    f32 sum = 0.0f;
    for (u32 tap = 0; tap < c.taps(); tap++) {
        const i64 from = c.source(row, tap);
        if (from < 0) continue;
        const i64 of_w = ((i64)column * c.taps() + tap) * in;
        for (u32 i = 0; i < in; i++)
            sum = mul_add(load_float(x, from + group * in + i, dtype), load_float(w, of_w + i, dtype), sum);
    }
    store_float(out, (i64)at, dtype, sum);
    (void)across;
}
