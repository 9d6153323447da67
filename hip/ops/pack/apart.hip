// Formats whose scales lie apart from the codes (MLX's, compressed-tensors' integers, 8-bit floats), to tiles: see pack.h. A
// row's codes are one stream of bits, the lowest of each byte first; scales and biases are a number a group each, of the
// launch's kind. Where there are no biases, codes are integers around the middle one.
#include "pack.h"

template <int BITS_> struct Apart {
    static constexpr int BITS = BITS_, KIND = ANY_KIND;
    // Rows begin at multiples of four bytes, as 32 columns take that many.
    DEVICE u32 quad(const FileRow &row, u32 q) {
        if constexpr (BITS == 8) return load4(row.data + 4 * q);
        constexpr u32 MASK = (1u << BITS) - 1;
        // Of odd numbers of bits every second quad begins within a byte.
        const u32 at = q * BITS / 2, shift = BITS % 2 * (q % 2) * 4;
        const u32 word = (BITS == 4 ? load2(row.data + at) : load4_any(row.data + at)) >> shift;
        u32 codes = 0;
        UNROLL for (int i = 0; i < 4; i++) codes |= (word >> BITS * i & MASK) << 8 * i;
        return codes;
    }
    DEVICE u32x2 scale(const FileRow &row, u32 kind, u32 group) {
        constexpr f32 MIDDLE = 1 << (BITS - 1);
        if (kind == POWER || kind == FLOAT8) return u32x2{row.scales[group], 0};
        if (kind == SINGLE) return u32x2{load4(row.scales + group * 4), 0};
        if (kind == PAIR_F32) {
            const u32 scale = load4(row.scales + group * 4);
            return u32x2{scale, row.biases ? load4(row.biases + group * 4) : f32_bits(-MIDDLE * bits_f32(scale))};
        }
        if (kind != ZERO && !row.biases) {
            // Exact: the middle is a power of two.
            const u32 scale = load2(row.scales + group * 2);
            const f32 bias = -MIDDLE * (kind == PAIR_F16 ? low(f16x2{scale}) : bits_f32(scale << 16));
            return u32x2{scale, kind == PAIR_F16 ? (u32)to_f16(bias).bits : f32_bits(bias) >> 16};
        }
        return u32x2{load2(row.scales + group * 2), kind == ZERO ? 0 : load2(row.biases + group * 2)};
    }
};

PACK_KERNEL(mlxrocm_pack_apart_2, Apart<2>)
PACK_KERNEL(mlxrocm_pack_apart_3, Apart<3>)
PACK_KERNEL(mlxrocm_pack_apart_4, Apart<4>)
PACK_KERNEL(mlxrocm_pack_apart_5, Apart<5>)
PACK_KERNEL(mlxrocm_pack_apart_6, Apart<6>)
PACK_KERNEL(mlxrocm_pack_apart_8, Apart<8>)
