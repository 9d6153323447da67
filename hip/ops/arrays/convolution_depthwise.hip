// Convolutions (convolution.h) whose channels do not see each other and have a result each, a multiple of 16 bytes of them, all
// aligned so: out[b][o][c] = Σ_t x[b][p(o, t)][c] · w[c][t]. Sums in f32 along the taps.
//
// Launch: 256 threads, each 16 bytes of channels of ROWS places of out that follow each other, neighbours of the same places.
#include "convolution.h"
#include "vectors.h"

#define ROWS 4

template <u32 DTYPE> DEVICE void convolve(const Convolution &c, const void *x, const void *w, void *out, u32 rows) {
    constexpr u32 SIZE = bytes_of(DTYPE), V = 16 / SIZE;
    const u32 pieces = c.channels / V;
    const u64 at = (u64)block_x() * 256 + thread_x();
    const u32 first = (u32)(at / pieces) * ROWS, channel = (u32)(at % pieces) * V, taps = c.taps();
    if (first >= rows) return;
    f32 sums[ROWS][V] = {};
    for (u32 tap = 0; tap < taps; tap++) {
        Bits<16> bits[ROWS];
        UNROLL for (u32 r = 0; r < ROWS; r++) {
            const i64 from = c.source(minimum(first + r, rows - 1), tap);
            UNROLL for (u32 i = 0; i < 4; i++) bits[r].words[i] = 0;
            if (from >= 0) bits[r] = load_group<16>((const u8 *)x + (from + channel) * SIZE);
        }
        UNROLL for (u32 i = 0; i < V; i++) {
            const f32 weight = load_float(w, (i64)(channel + i) * taps + tap, DTYPE);
            UNROLL for (u32 r = 0; r < ROWS; r++) sums[r][i] = mul_add(number_in<DTYPE>(bits[r], i), weight, sums[r][i]);
        }
    }
    UNROLL for (u32 r = 0; r < ROWS; r++) {
        if (first + r >= rows) break;
        store_numbers<DTYPE>((u8 *)out + ((u64)(first + r) * c.channels + channel) * SIZE, 0, sums[r]);
    }
}
#define DEPTHWISE_KERNEL(NAME, DTYPE)               \
    KERNEL(256) void NAME(CONVOLUTION_PARAMETERS) { \
        grid_dependency_launch();                   \
        grid_dependency_wait();                     \
        const Convolution c = CONVOLUTION_ARGUMENTS; \
        convolve<DTYPE>(c, x, w, out, rows);        \
        (void)across, (void)dtype;                  \
    }
DEPTHWISE_KERNEL(mlxrocm_array_convolution_depthwise_f32, F32)
DEPTHWISE_KERNEL(mlxrocm_array_convolution_depthwise_f16, F16)
DEPTHWISE_KERNEL(mlxrocm_array_convolution_depthwise_bf16, BF16)
