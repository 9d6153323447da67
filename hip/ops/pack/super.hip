// GGUF's K-quants and others with blocks of 256 columns, to tiles: see pack.h, and for where things lie in a block the files of
// src/formats/quantization.
#include "pack.h"

// Q2_K: 16 bytes of scales (s, m), 64 of codes, d, dmin. Field f of byte 32·h + l is column 128·h + 32·f + l.
struct Q2K {
    static constexpr int BITS = 2, KIND = SUPER_MIN;
    DEVICE u32 quad(const FileRow &row, u32 q) {
        const u32 col = q % 64 * 4;
        return load4_any(row.data + q / 64 * 84 + 16 + col / 128 * 32 + col % 32) >> col / 32 % 4 * 2 & 0x03030303u;
    }
    DEVICE u32x2 scale(const FileRow &row, u32, u32 group) {
        const u8 *block = row.data + group / 16 * 84;
        const u32 sub = block[group % 16];
        return u32x2{load4_any(block + 80), (sub & 15) | sub >> 4 << 8};
    }
};

// Q3_K: 32 bytes of third bits, 64 of the low ones (as Q2_K's), 12 of scales, d. Third bits of column 32·i + l: bit i of
// byte l.
struct Q3K {
    static constexpr int BITS = 3, KIND = SUPER_ZERO;
    DEVICE u32 quad(const FileRow &row, u32 q) {
        const u8 *block = row.data + q / 64 * 110;
        const u32 col = q % 64 * 4, l = col % 32;
        const u32 low = load4_any(block + 32 + col / 128 * 32 + l) >> col / 32 % 4 * 2 & 0x03030303u;
        return low | (load4_any(block + l) >> col / 32 & 0x01010101u) << 2;
    }
    // Six bits less 32: the low four in the nibbles of eight bytes, the high two in four more.
    DEVICE u32x2 scale(const FileRow &row, u32, u32 group) {
        const u8 *block = row.data + group / 16 * 110, *packed = block + 96;
        const u32 i = group % 16;
        const u32 low = packed[i % 8] >> i / 8 * 4 & 15, high = packed[8 + i % 4] >> i / 4 * 2 & 3;
        return u32x2{load2(block + 108), ((low | high << 4) - 32) & 0xff};
    }
};

// d, dmin and the scales of Q4_K and Q5_K (`min_scales` of q4_k.rs).
DEVICE u32x2 min_scale(const u8 *block, u32 i) {
    const u8 *packed = block + 4;
    const u32 s = packed[i % 4], m = packed[i % 4 + 4];
    u32 sub = s & 63, min = m & 63;
    if (i >= 4) {
        const u32 low = packed[i + 4];
        sub = (low & 15) | s >> 6 << 4, min = low >> 4 | m >> 6 << 4;
    }
    return u32x2{load4_any(block), sub | min << 8};
}

// Q4_K: d, dmin, 12 bytes of scales, 128 of codes: the nibbles of byte 32·j + l are columns 64·j + l and 64·j + 32 + l.
struct Q4K {
    static constexpr int BITS = 4, KIND = SUPER_MIN;
    DEVICE u32 quad(const FileRow &row, u32 q) {
        const u32 col = q % 64 * 4;
        return load4_any(row.data + q / 64 * 144 + 16 + col / 64 * 32 + col % 32) >> col / 32 % 2 * 4 & 0x0f0f0f0fu;
    }
    DEVICE u32x2 scale(const FileRow &row, u32, u32 group) { return min_scale(row.data + group / 8 * 144, group % 8); }
};

// Q5_K: d, dmin, 12 bytes of scales, 32 of fifth bits (as Q3_K's third ones), 128 as Q4_K's.
struct Q5K {
    static constexpr int BITS = 5, KIND = SUPER_MIN;
    DEVICE u32 quad(const FileRow &row, u32 q) {
        const u8 *block = row.data + q / 64 * 176;
        const u32 col = q % 64 * 4, l = col % 32;
        const u32 low = load4_any(block + 48 + col / 64 * 32 + l) >> col / 32 % 2 * 4 & 0x0f0f0f0fu;
        return low | (load4_any(block + 16 + l) >> col / 32 & 0x01010101u) << 4;
    }
    DEVICE u32x2 scale(const FileRow &row, u32, u32 group) { return min_scale(row.data + group / 8 * 176, group % 8); }
};

// Q6_K: 128 bytes of nibbles, 64 of high bits, 16 scales, d. Of column 128·h + 32·f + l: nibble f / 2 of byte
// 64·h + 32·(f % 2) + l, field f of byte 32·h + l.
struct Q6K {
    static constexpr int BITS = 6, KIND = SUPER_ZERO;
    DEVICE u32 quad(const FileRow &row, u32 q) {
        const u8 *block = row.data + q / 64 * 210;
        const u32 col = q % 64 * 4, half = col / 128, field = col / 32 % 4, l = col % 32;
        const u32 low = load4_any(block + half * 64 + field % 2 * 32 + l) >> field / 2 * 4 & 0x0f0f0f0fu;
        return low | (load4_any(block + 128 + half * 32 + l) >> field * 2 & 0x03030303u) << 4;
    }
    DEVICE u32x2 scale(const FileRow &row, u32, u32 group) {
        const u8 *block = row.data + group / 16 * 210;
        return u32x2{load2(block + 208), block[192 + group % 16]};
    }
};

// IQ4_XS: d, 16 bits with the two high bits of each scale, 4 bytes of low nibbles, then of each 32 columns the codes as those
// of IQ4_NL.
struct Iq4Xs {
    static constexpr int BITS = 4, KIND = TABLE16;
    DEVICE u32 quad(const FileRow &row, u32 q) {
        const u32 col = q % 64 * 4;
        return load4_any(row.data + q / 64 * 136 + 8 + col / 32 * 16 + col % 16) >> col % 32 / 16 * 4 & 0x0f0f0f0fu;
    }
    DEVICE u32x2 scale(const FileRow &row, u32, u32 group) {
        const u8 *block = row.data + group / 8 * 136;
        const u32 i = group % 8, low = block[4 + i / 2] >> i % 2 * 4 & 15, high = (block[2 + i / 4] >> i % 4 * 2) & 3;
        return u32x2{load2(block), to_f16((f32)(i32)(low | high << 4) - 32.0f).bits};
    }
};

// Ternary codes, 0 to 2, of which 1 is taken: the bias is -d.
DEVICE u32x2 ternary_scale(u32 d) { return u32x2{d, d ^ 0x8000}; }

// TQ2_0: 64 bytes of codes, as Q2_K's, d.
struct Tq2 {
    static constexpr int BITS = 2, KIND = PAIR_F16;
    DEVICE u32 quad(const FileRow &row, u32 q) {
        const u32 col = q % 64 * 4;
        return load4_any(row.data + q / 64 * 66 + col / 128 * 32 + col % 32) >> col / 32 % 4 * 2 & 0x03030303u;
    }
    DEVICE u32x2 scale(const FileRow &row, u32, u32 group) { return ternary_scale(load2(row.data + group * 66 + 64)); }
};

// TQ1_0: 48 bytes of five ternary digits, 4 of four, d. Digit i of byte j is column 32·i + j, of bytes 32 to 47
// 160 + 16·i + (j - 32), of the last four 240 + 4·i + (j - 48).
struct Tq1 {
    static constexpr int BITS = 2, KIND = PAIR_F16;
    DEVICE u32 quad(const FileRow &row, u32 q) {
        const u32 col = q % 64 * 4, first = col < 160 ? 0 : col < 240 ? 160 : 240, bytes = col < 160 ? 32 : col < 240 ? 16 : 4;
        const u32 start = col < 160 ? 0 : col < 240 ? 32 : 48, digit = (col - first) / bytes;
        const u32 four = load4_any(row.data + q / 64 * 54 + start + (col - first) % bytes);
        u32 power = 1, codes = 0;
        for (u32 i = 0; i < digit; i++) power *= 3;
        UNROLL for (u32 i = 0; i < 4; i++) codes |= (((four >> 8 * i & 0xff) * power & 0xff) * 3 >> 8) << 8 * i;
        return codes;
    }
    DEVICE u32x2 scale(const FileRow &row, u32, u32 group) { return ternary_scale(load2(row.data + group * 54 + 52)); }
};

PACK_KERNEL(mlxrocm_pack_q2_k, Q2K)
PACK_KERNEL(mlxrocm_pack_q3_k, Q3K)
PACK_KERNEL(mlxrocm_pack_q4_k, Q4K)
PACK_KERNEL(mlxrocm_pack_q5_k, Q5K)
PACK_KERNEL(mlxrocm_pack_q6_k, Q6K)
PACK_KERNEL(mlxrocm_pack_iq4_xs, Iq4Xs)
PACK_KERNEL(mlxrocm_pack_tq1_0, Tq1)
PACK_KERNEL(mlxrocm_pack_tq2_0, Tq2)
