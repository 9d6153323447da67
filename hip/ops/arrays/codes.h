// Numbers of a few bits in MLX's modes of quantization (docs: src/cpu/ops/quantized.rs): a row's codes follow one another
// from the lowest bit of 32-bit words on, and `group` neighbours share a scale.
//   affine: scale · code + bias, 2, 3, 4, 5, 6 or 8 bits; scales and biases of one dtype.
//   mxfp4, mxfp8, nvfp4: scale · number of the code (E2M1, E4M3, E2M1); scales are E8M0, E8M0, E4M3.
#pragma once

#include "dtype.h"

enum Mode { AFFINE, MXFP4, MXFP8, NVFP4 };

// `count` bits (up to 64) from `bit` on. A word that none of them is in is not read.
DEVICE u64 bits_from(const u32 *words, u64 bit, u32 count) {
    const u64 first = bit / 32;
    const u32 shift = (u32)bit % 32;
    u64 both = words[first];
    if (shift + count > 32) both |= (u64)words[first + 1] << 32;
    return both >> shift;
}
DEVICE f32 e2m1_number(u32 code) { return to_f32(f16{(u16)((code & 7) << 9 | (code & 8) << 12)}) * 16384.0f; }
DEVICE f32 e4m3_number(u32 code) {
    if ((code & 127) == 127) return bits_f32(0x7fc00000u);
    return to_f32(f16{(u16)((code & 127) << 7 | (code & 128) << 8)}) * 256.0f;
}
DEVICE f32 e8m0_number(u32 code) { return bits_f32(code == 0 ? 0x00400000u : code << 23); }

// A quantized matrix: rows of `inner` numbers.
struct Codes {
    const u32 *words;
    const void *scales, *biases;
    u32 inner, group, bits, mode, dtype;
    f32 factor; // of every scale

    // What a group's codes are multiplied with, and what is added.
    METHOD f32x2 scale(u64 row, u32 i) const {
        const i64 at = (i64)(row * (inner / group) + i / group);
        if (mode == AFFINE) return f32x2{load_float(scales, at, dtype) * factor, load_float(biases, at, dtype)};
        const u32 code = ((const u8 *)scales)[at];
        return f32x2{(mode == NVFP4 ? e4m3_number(code) : e8m0_number(code)) * factor, 0.0f};
    }
    METHOD f32 number(u32 code) const {
        return mode == AFFINE ? (f32)code : mode == MXFP8 ? e4m3_number(code) : e2m1_number(code);
    }
    // COUNT codes of a row from `i` on, which is a multiple of COUNT; of one group.
    template <u32 COUNT> METHOD u64 window(u64 row, u32 i) const {
        return bits_from(words, (row * inner + i) * bits, COUNT * bits);
    }
    template <u32 COUNT> METHOD void numbers(u64 row, u32 i, f32 (&values)[COUNT]) const {
        const u64 codes = window<COUNT>(row, i);
        const f32x2 of_group = scale(row, i);
        const u32 mask = (1u << bits) - 1;
        UNROLL for (u32 j = 0; j < COUNT; j++)
            values[j] = mul_add(of_group.x, number((u32)(codes >> (j * bits)) & mask), of_group.y);
    }
};
