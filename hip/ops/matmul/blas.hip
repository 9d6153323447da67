// What goes before and after a product by the vendor's BLAS, which takes weights in f16 and gives bare sums:
//
//   decode: a quantized matrix (quant.h), or one of bf16 or f32, to rows [tiles · 16][cols] of f16, with the roundings of block.h
//   finish: sums [rows][tiles · 16] f32, times the row's scale (operand.hip) and `back`, then as epilogue.h says
#include "common/any_quant.h"
#include "ops/matmul/epilogue.h"
#include "ops/matmul/weight.h"

// Launch: 256 threads; grid (tiles, cols / DECODE_COLS), rounded up. A thread has 8 columns of a row, which share
// their scales. `cols` is a multiple of 8.
#define DECODE_COLS 128
KERNEL(256) void mlxrocm_matmul_decode(const u8 *weights, u16 *out, u32 bits, u32 scales, u32 group, f32 back,
                                       u32 cols) {
    grid_dependency_launch();
    grid_dependency_wait();
    const AnyQuant q = any_quant(bits, scales, group);
    const u32 tile = block_x(), row = thread_x() / 16, c = block_y() * DECODE_COLS + thread_x() % 16 * 8;
    if (c >= cols) return;
    const u8 *unit = weights + any_unit(q, tile, c, cols);
    const u32 in_unit = c % (q.unit * 64);
    const AnyScale s = any_scale(unit, q, row, in_unit);
    const f32 factor = 1.0f / back, scale = s.scale * factor, bias = s.bias * factor;
    // As weight_pair of weight.h.
    const bool is_16 = scales == PAIR_F16 || scales == PAIR_BF16 || scales == ZERO || scales == POWER ||
                       scales == FLOAT8;
    const f16x2 both_scales = pack_f16x2(scale, scale), biases = pack_f16x2(bias, bias);
    u32 w[4];
    UNROLL for (u32 i = 0; i < 4; i++) {
        const f16x2 codes = any_pair(unit, q, any_codes(unit, q, row, in_unit + 2 * i));
        w[i] = is_16 ? mul_add(codes, both_scales, biases).bits
                     : pack_f16x2(mul_add(low(codes), scale, bias), mul_add(high(codes), scale, bias)).bits;
    }
    store16(out + ((u64)tile * 16 + row) * cols + c, u32x4{w[0], w[1], w[2], w[3]});
}

// Launch: 256 threads, 8 of `count` numbers each; `count` is a multiple of 8.
DEVICE void decode_dense(u16 *out, u32x4 a, u32x4 b, f32 factor, f32) {
    store16(out, u32x4{pack_f16x2(bits_f32(a.x) * factor, bits_f32(a.y) * factor).bits,
                       pack_f16x2(bits_f32(a.z) * factor, bits_f32(a.w) * factor).bits,
                       pack_f16x2(bits_f32(b.x) * factor, bits_f32(b.y) * factor).bits,
                       pack_f16x2(bits_f32(b.z) * factor, bits_f32(b.w) * factor).bits});
}
DEVICE void decode_dense(u16 *out, u32x4 a, u32x4, f32 factor, bf16 type) {
    store16(out, u32x4{dense_pair(a.x, factor, type), dense_pair(a.y, factor, type), dense_pair(a.z, factor, type),
                       dense_pair(a.w, factor, type)});
}
#define DECODE_KERNEL(NAME, T)                                                              \
    KERNEL(256) void NAME(const T *weights, u16 *out, f32 back, u64 count) {                \
        grid_dependency_launch();                                                           \
        grid_dependency_wait();                                                             \
        const u64 at = ((u64)block_x() * 256 + thread_x()) * 8;                             \
        if (at >= count) return;                                                            \
        const u32x4 first = load16_stream(weights + at);                                    \
        const u32x4 second = sizeof(T) == 4 ? load16_stream(weights + at + 4) : u32x4{};    \
        decode_dense(out + at, first, second, 1.0f / back, T{});                            \
    }
DECODE_KERNEL(mlxrocm_matmul_decode_f32, f32)
DECODE_KERNEL(mlxrocm_matmul_decode_bf16, bf16)

// Launch: 256 threads; grid (rows, numbers of a row / 1024), rounded up. Output 0 may be `sums` itself.
#define FINISH_NUMBERS 1024
KERNEL(256) void mlxrocm_matmul_finish(const f32 *sums, const f32 *scales, const f32 *bias, const f32 *residual,
                                       f32 *out0, f32 *out1, f32 *out2, u32 end0, u32 end1, u32 width0,
                                       u32 width1, u32 width2, f32 back, u32 tiles, u32 epilogue, u32 end2, u32 width3, f32 *out3) {
    grid_dependency_launch();
    grid_dependency_wait();
    const Outputs to = {bias, residual, out0, out1, out2, end0, end1, width0, width1, width2, epilogue, 0.0f, end2, width3, out3};
    const u32 r = block_x(), count = epilogue == SILU ? tiles * 8 : tiles * 16;
    const f32 scale = scales[r] * back;
    const f32 *row = sums + (u64)r * tiles * 16;
    UNROLL for (u32 i = 0; i < FINISH_NUMBERS / 256; i++) {
        const u32 n = block_y() * FINISH_NUMBERS + i * 256 + thread_x(), column = n % 16;
        if (n >= count) return;
        if (epilogue == SILU) {
            const u32 gate = n / 16 * 2, up = gate + 1;
            store_silu(to, r, n / 16, column, add_bias(to, gate, column, row[gate * 16 + column] * scale),
                       add_bias(to, up, column, row[up * 16 + column] * scale));
        } else {
            store_number(to, r, n / 16, column, add_bias(to, n / 16, column, row[n] * scale));
        }
    }
}
