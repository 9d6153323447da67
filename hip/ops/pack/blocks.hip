// GGUF's blocks of 32 columns, to tiles: see pack.h. A block is d (f16; of MXFP4 a byte), of Q4_1 and Q5_1 m, of Q8_1 a
// sum that nobody needs, of Q5 the 32 fifth bits, and the codes: bytes, or nibbles of 16 bytes, the low ones first. Those
// of IQ4_NL are places in a table, whose scale is d, times 1 for all columns.
#include "pack.h"

// Bytes of a block, of what comes before its codes, and of the fifth bits among them.
template <int BITS_, int KIND_, int BYTES, int HEAD> struct Blocks {
    static constexpr int BITS = BITS_, KIND = KIND_;
    DEVICE const u8 *block(const u8 *row, u32 number) { return row + number * BYTES; }
    DEVICE u32 quad(const FileRow &row, u32 q) {
        const u8 *from = block(row.data, q / 8);
        const u32 col = q % 8 * 4;
        // Signed codes.
        if constexpr (BITS == 8) return load4_any(from + HEAD + col) ^ 0x80808080u;
        const u32 codes = load4_any(from + HEAD + col % 16) >> col / 16 * 4 & 0x0f0f0f0fu;
        if constexpr (BITS == 4) return codes;
        const u32 fifth = load4_any(from + HEAD - 4) >> col;
        return codes | (fifth & 1) << 4 | (fifth & 2) << 11 | (fifth & 4) << 18 | (fifth & 8) << 25;
    }
    DEVICE u32x2 scale(const FileRow &row, u32, u32 group) {
        const u8 *from = block(row.data, group);
        if constexpr (KIND == POWER) return u32x2{from[0], 0};
        if constexpr (KIND == TABLE16) return u32x2{0x3c00, load2(from)};
        if constexpr (KIND == ZERO) return u32x2{load2(from), 0};
        const u32 pair = load4_any(from);
        return u32x2{pair & 0xffff, pair >> 16};
    }
};

PACK_KERNEL(mlxrocm_pack_q4_0, Blocks<4, ZERO, 18, 2>)
PACK_KERNEL(mlxrocm_pack_q4_1, Blocks<4, PAIR_F16, 20, 4>)
PACK_KERNEL(mlxrocm_pack_q5_0, Blocks<5, ZERO, 22, 6>)
PACK_KERNEL(mlxrocm_pack_q5_1, Blocks<5, PAIR_F16, 24, 8>)
PACK_KERNEL(mlxrocm_pack_q8_0, Blocks<8, ZERO, 34, 2>)
PACK_KERNEL(mlxrocm_pack_q8_1, Blocks<8, ZERO, 36, 4>)
PACK_KERNEL(mlxrocm_pack_mxfp4, Blocks<4, POWER, 17, 1>)
PACK_KERNEL(mlxrocm_pack_iq4_nl, Blocks<4, TABLE16, 18, 2>)

// NVFP4: four scales, then 64 codes: of each 16 the nibbles of eight bytes, the low ones first. A scale has no sign, and what
// is no number is 0.
struct Nvfp4 {
    static constexpr int BITS = 4, KIND = FLOAT8;
    DEVICE u32 quad(const FileRow &row, u32 q) {
        const u32 col = q % 16 * 4;
        return load4_any(row.data + q / 16 * 36 + 4 + col / 16 * 8 + col % 8) >> col % 16 / 8 * 4 & 0x0f0f0f0fu;
    }
    DEVICE u32x2 scale(const FileRow &row, u32, u32 group) {
        const u32 byte = row.data[group / 4 * 36 + group % 4];
        return u32x2{byte == 0x7f ? 0 : byte & 0x7f, 0};
    }
};
PACK_KERNEL(mlxrocm_pack_nvfp4, Nvfp4)
