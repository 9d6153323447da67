// Numbers to codes of a few bits and back (codes.h), bit for bit as MLX's CPU has them (src/cpu/ops/quantized.rs): every
// step rounds to the dtype that MLX computes it in.
//
// quantize, affine: the end of a group that is farther from 0 is met exactly, scale = edge / round(edge / scale).
// quantize, others: scale = largest / (largest code), as E8M0 (upwards) or E4M3; codes are those nearest to x / scale.
// dequantize: out = scale · number + bias. requantize: x as it comes back, from f32 steps alone.
// to_fp8, from_fp8: E4M3.
//
// Launch: 256 threads, a thread a group (dequantize: 8 numbers, fp8: one).
#include "codes.h"

DEVICE f32 round_to(f32 x, u32 dtype) { return dtype == F16 ? to_f32(to_f16(x)) : dtype == BF16 ? to_f32(to_bf16(x)) : x; }
DEVICE f32 power_of_2(i32 e) { return bits_f32(e < -126 ? (e < -149 ? 0 : 1u << (e + 149)) : (u32)(e + 127) << 23); }
// The logarithm of a positive number, upwards, as that of the f32 logarithm: just above a power of two it is the power.
DEVICE i32 log2_up(f32 x) {
    const bool is_small = f32_bits(x) < 0x00800000u;
    const u32 raw = f32_bits(is_small ? x * 16777216.0f : x);
    const i32 e = (i32)(raw >> 23) - 127 - (is_small ? 24 : 0);
    const f32 above = (bits_f32((raw & 0x7fffff) | 0x3f800000u) - 1.0f) * 1.44269504f;
    return (f32)e + above > (f32)e ? e + 1 : e;
}
DEVICE u32 e4m3_code(f32 x) {
    const u32 sign = f32_bits(x) & 0x80000000u, raw = f32_bits(x) ^ sign;
    u32 code;
    if (raw >= 543u << 21)
        code = 0x7e;
    else if (raw < 121u << 23)
        code = f32_bits(bits_f32(raw) + bits_f32(141u << 23)) - (141u << 23);
    else
        code = (raw - (120u << 23) + 0x7ffff + (raw >> 20 & 1)) >> 20;
    return (code & 255) | sign >> 24;
}
DEVICE u32 e2m1_code(f32 x) {
    if (x != x) return 7;
    const f32 size = absolute(x);
    const u32 code = size > 5.0f ? 7 : size >= 3.5f ? 6 : size > 2.5f ? 5 : size >= 1.75f ? 4 : size > 1.25f ? 3 : size >= 0.75f ? 2 : size > 0.25f;
    return code | (f32_bits(x) >> 31) << 3;
}
// The first of the nearest codes; the first of all for NaN and infinities.
DEVICE u32 nearest_e2m1(f32 x, u32 dtype) {
    u32 best = 0;
    f32 least = absolute(round_to(x, dtype));
    for (u32 code = 1; code < 16; code++) {
        const f32 distance = absolute(round_to(x - e2m1_number(code), dtype));
        if (distance < least) best = code, least = distance;
    }
    return best;
}

// Codes of a group, from whose first word on they are written.
struct Packer {
    u32 *words;
    u64 waiting;
    u32 count;
    METHOD void put(u32 code, u32 bits) {
        waiting |= (u64)code << count, count += bits;
        if (count >= 32) *words++ = (u32)waiting, waiting >>= 32, count -= 32;
    }
};

KERNEL(256) void mlxrocm_array_quantize_affine(const void *x, u32 *codes, void *scales, void *biases, u32 groups, u32 group,
                                               u32 bits, u32 dtype) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 g = block_x() * 256 + thread_x();
    if (g >= groups) return;
    const i64 first = (i64)g * group;
    f32 max = -bits_f32(0x7f800000u), min = bits_f32(0x7f800000u);
    for (u32 i = 0; i < group; i++) {
        const f32 value = load_float(x, first + i, dtype);
        max = max < value ? value : max, min = value < min ? value : min;
    }
    const f32 most = (f32)((1u << bits) - 1);
    const bool below = absolute(min) > absolute(max);
    f32 scale = (max - min) / most;
    scale = scale < 1e-7f ? 1e-7f : scale;
    const f32 edge = below ? min : max;
    if (!below) scale = -scale;
    const f32 steps = round_even(edge / scale);
    f32 bias = 0.0f;
    if (steps != 0.0f) scale = edge / steps, bias = edge;
    Packer packer = {codes + (u64)g * (group * bits / 32), 0, 0};
    for (u32 i = 0; i < group; i++) {
        f32 step = round_even((load_float(x, first + i, dtype) - bias) / scale);
        step = step < 0.0f ? 0.0f : step;
        step = most < step ? most : step;
        packer.put(step == step ? (u32)step : 0, bits);
    }
    store_float(scales, g, dtype, scale);
    store_float(biases, g, dtype, bias);
}

// `whole`: a scale of all, or null.
KERNEL(256) void mlxrocm_array_quantize_float(const void *x, const f32 *whole, u32 *codes, u8 *scales, u32 groups, u32 group,
                                              u32 bits, u32 mode, u32 dtype) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 g = block_x() * 256 + thread_x();
    if (g >= groups) return;
    const i64 first = (i64)g * group;
    const f32 encoding = whole ? 2688.0f / *whole : 1.0f;
    f32 most = 0.0f;
    for (u32 i = 0; i < group; i++) {
        const f32 value = absolute(load_float(x, first + i, dtype));
        most = value != value ? value : most < value ? value : most;
    }
    f32 scale = round_to(most / (bits == 4 ? 6.0f : 448.0f), dtype);
    u32 wide = dtype;
    if (mode == NVFP4) {
        const u32 code = e4m3_code(product(scale, encoding));
        scales[g] = (u8)code, wide = F32;
        scale = round_to(e4m3_number(code), dtype);
    } else if (scale != scale) {
        scales[g] = 0;
    } else if (scale > 3.4028235e38f) {
        scales[g] = 255;
    } else {
        const i32 e = scale == 0.0f ? 0 : log2_up(scale);
        scales[g] = (u8)(e + 127);
        scale = round_to(power_of_2(e), dtype);
    }
    Packer packer = {codes + (u64)g * (group * bits / 32), 0, 0};
    for (u32 i = 0; i < group; i++) {
        f32 value = round_to(load_float(x, first + i, dtype) / scale, dtype);
        if (mode == NVFP4) value = product(value, encoding);
        packer.put(bits == 4 ? nearest_e2m1(value, wide) : e4m3_code(value), bits);
    }
}

// As it comes back from a mode of floating point codes.
KERNEL(256) void mlxrocm_array_requantize(const void *x, const f32 *whole, void *out, u32 groups, u32 group, u32 bits,
                                          u32 mode, u32 dtype) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 g = block_x() * 256 + thread_x();
    if (g >= groups) return;
    const i64 first = (i64)g * group;
    const f32 encoding = whole ? 2688.0f / *whole : 1.0f;
    f32 most = 0.0f;
    for (u32 i = 0; i < group; i++) {
        const f32 value = absolute(load_float(x, first + i, dtype));
        most = most < value ? value : most;
    }
    f32 scale = most / (bits == 4 ? 6.0f : 448.0f);
    if (mode == NVFP4)
        scale = e4m3_number(e4m3_code(product(scale, encoding))) / encoding;
    else if (scale > 3.4028235e38f)
        scale = bits_f32(0x7f800000u);
    else
        scale = power_of_2(scale == 0.0f ? -127 : maximum(log2_up(scale), -127));
    for (u32 i = 0; i < group; i++) {
        const f32 size = scale == 0.0f ? 0.0f : load_float(x, first + i, dtype) / scale;
        const f32 back = bits == 4 ? e2m1_number(e2m1_code(size)) : e4m3_number(e4m3_code(size));
        store_float(out, first + i, dtype, product(scale, back));
    }
}

KERNEL(256) void mlxrocm_array_dequantize(const u32 *codes, const void *scales, const void *biases, void *out, u32 count,
                                          u32 group, u32 bits, u32 mode, u32 scale_dtype, u32 bias_dtype, u32 sum_dtype,
                                          u32 dtype) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 first = (block_x() * 256 + thread_x()) * 8;
    if (first >= count) return;
    const u32 g = first / group, mask = (1u << bits) - 1;
    const u64 window = bits_from(codes, (u64)first * bits, 8 * bits);
    f32 scale, bias = 0.0f;
    if (mode == AFFINE) {
        scale = load_float(scales, g, scale_dtype), bias = load_float(biases, g, bias_dtype);
    } else {
        const u32 code = ((const u8 *)scales)[g];
        scale = round_to(mode == NVFP4 ? e4m3_number(code) : e8m0_number(code), dtype);
        if (biases) scale = product(scale, *(const f32 *)biases / 2688.0f);
    }
    f32 values[8];
    UNROLL for (u32 i = 0; i < 8; i++) {
        const u32 code = (u32)(window >> (i * bits)) & mask;
        if (mode == AFFINE)
            values[i] = round_to(round_to(product((f32)code, scale), scale_dtype) + bias, sum_dtype);
        else
            values[i] = product(mode == MXFP8 ? e4m3_number(code) : e2m1_number(code), scale);
    }
    // Groups are whole eights, and `out` begins at a multiple of 16 bytes.
    if (dtype == F32) {
        f32 *to = (f32 *)out + first;
        store_f32x4(to, f32x4{values[0], values[1], values[2], values[3]});
        store_f32x4(to + 4, f32x4{values[4], values[5], values[6], values[7]});
        return;
    }
    u32 words[4];
    UNROLL for (u32 i = 0; i < 4; i++)
        words[i] = dtype == F16 ? pack_f16x2(values[2 * i], values[2 * i + 1]).bits : pack_bf16x2(values[2 * i], values[2 * i + 1]).bits;
    store16((u16 *)out + first, u32x4{words[0], words[1], words[2], words[3]});
}

KERNEL(256) void mlxrocm_array_to_fp8(const void *x, u8 *out, u32 count, u32 dtype) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 i = block_x() * 256 + thread_x();
    if (i < count) out[i] = (u8)e4m3_code(load_float(x, i, dtype));
}
KERNEL(256) void mlxrocm_array_from_fp8(const u8 *x, void *out, u32 count, u32 dtype) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 i = block_x() * 256 + thread_x();
    if (i < count) store_float(out, i, dtype, e4m3_number(x[i]));
}
