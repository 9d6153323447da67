// GGUF's I-quants whose codes come from a grid (blocks of 256 columns), to tiles: see pack.h. An entry of the grid is the
// codes of four or eight columns, and a sign of each is stored apart, the highest bit of its code here. Kernels for products
// take the codes themselves: of entries of four columns 4 bits a weight, of eight 3, where the file has about 1.5 to 3.5.
//
// Where things lie in a block: src/formats/quantization.
#include "pack.h"

// The eight signs that seven stored bits stand for: the number of negative ones is even.
DEVICE u32 even_signs(u32 seven) { return (seven & 127) | (popcount(seven & 127) & 1) << 7; }
DEVICE u32 nibble(const u8 *from, u32 i) { return from[i / 2] >> i % 2 * 4 & 15; }
// A format G says what is in a block: G::BYTES, G::ENTRY (columns of an entry), G::GROUP, and of it `index` of an entry,
// `signs` of eight columns, the factor `sub` of a group, `d`.
template <typename G> struct OfGrid {
    static constexpr int BITS = G::ENTRY == 8 ? 3 : 4, KIND = G::ENTRY == 8 ? TABLE8 : TABLE16;
    DEVICE u32 quad(const FileRow &row, u32 q) {
        const u8 *block = row.data + q / 64 * G::BYTES;
        const u32 octet = q % 64 / 2, half = q % 2;
        const u32 *entries = (const u32 *)(row.scales + 32);
        const u32 entry = entries[G::index(block, G::ENTRY == 8 ? octet : q % 64)] >> (G::ENTRY == 8 ? 8 * half : 0);
        const u32 signs = G::signs(block, octet) >> 4 * half;
        // Columns 2j and 2j + 1 are fields j of the low and of the high half.
        const u32 codes = (entry & 15) | (entry >> 16 & 15) << 8 | (entry >> 4 & 15) << 16 | (entry >> 20 & 15) << 24;
        return codes | ((signs & 1) | (signs & 2) << 7 | (signs & 4) << 14 | (signs & 8) << 21) << (BITS - 1);
    }
    DEVICE u32x2 scale(const FileRow &row, u32, u32 group) {
        constexpr u32 GROUPS = 256 / G::GROUP;
        const u8 *block = row.data + group / GROUPS * G::BYTES;
        // Factors are odd numbers.
        const u32 factor = 2 * G::sub(block, group % GROUPS) + 1;
        const f32 unit = *(const f32 *)(row.scales + 16);
        return u32x2{G::d(block), KIND == TABLE8 ? factor : (u32)to_f16((f32)factor * unit).bits};
    }
};

// d, then for each group four entries and 32 bits: four times seven signs, the scale.
struct Iq2Xxs {
    static constexpr u32 BYTES = 66, ENTRY = 8, GROUP = 32;
    DEVICE u32 index(const u8 *block, u32 i) { return block[2 + i / 4 * 8 + i % 4]; }
    DEVICE u32 word(const u8 *block, u32 group) { return load4_any(block + 2 + group * 8 + 4); }
    DEVICE u32 signs(const u8 *block, u32 octet) { return even_signs(word(block, octet / 4) >> octet % 4 * 7); }
    DEVICE u32 sub(const u8 *block, u32 group) { return word(block, group) >> 28; }
    DEVICE u32 d(const u8 *block) { return load2(block); }
};

// d, 32 words of 16 bits (9 of the entry, seven signs), 16 nibbles of scales.
struct Iq2Xs {
    static constexpr u32 BYTES = 74, ENTRY = 8, GROUP = 16;
    DEVICE u32 index(const u8 *block, u32 i) { return load2(block + 2 + 2 * i) & 511; }
    DEVICE u32 signs(const u8 *block, u32 octet) { return even_signs(load2(block + 2 + 2 * octet) >> 9); }
    DEVICE u32 sub(const u8 *block, u32 group) { return nibble(block + 66, group); }
    DEVICE u32 d(const u8 *block) { return load2(block); }
};

// d, 32 entries, 32 bytes of signs, 8 with two high bits of four entries each, 16 nibbles of scales.
struct Iq2S {
    static constexpr u32 BYTES = 82, ENTRY = 8, GROUP = 16;
    DEVICE u32 index(const u8 *block, u32 i) { return block[2 + i] | (block[66 + i / 4] >> i % 4 * 2 & 3) << 8; }
    DEVICE u32 signs(const u8 *block, u32 octet) { return block[34 + octet]; }
    DEVICE u32 sub(const u8 *block, u32 group) { return nibble(block + 74, group); }
    DEVICE u32 d(const u8 *block) { return load2(block); }
};

// d, 64 entries, for each group 32 bits as IQ2_XXS'.
struct Iq3Xxs {
    static constexpr u32 BYTES = 98, ENTRY = 4, GROUP = 32;
    DEVICE u32 index(const u8 *block, u32 i) { return block[2 + i]; }
    DEVICE u32 word(const u8 *block, u32 group) { return load4_any(block + 66 + group * 4); }
    DEVICE u32 signs(const u8 *block, u32 octet) { return even_signs(word(block, octet / 4) >> octet % 4 * 7); }
    DEVICE u32 sub(const u8 *block, u32 group) { return word(block, group) >> 28; }
    DEVICE u32 d(const u8 *block) { return load2(block); }
};

// d, 64 entries, 8 bytes with a high bit of eight entries each, 32 of signs, 8 nibbles of scales.
struct Iq3S {
    static constexpr u32 BYTES = 110, ENTRY = 4, GROUP = 32;
    DEVICE u32 index(const u8 *block, u32 i) { return block[2 + i] | (block[66 + i / 8] >> i % 8 & 1) << 8; }
    DEVICE u32 signs(const u8 *block, u32 octet) { return block[74 + octet]; }
    DEVICE u32 sub(const u8 *block, u32 group) { return nibble(block + 106, group); }
    DEVICE u32 d(const u8 *block) { return load2(block); }
};

// d, 32 entries, for each group 16 bits: three high bits of four entries, the scale, which way values are moved.
struct Iq1S {
    static constexpr u32 BYTES = 50, ENTRY = 8, GROUP = 32;
    DEVICE u32 word(const u8 *block, u32 group) { return load2(block + 34 + group * 2); }
    DEVICE u32 index(const u8 *block, u32 i) { return block[2 + i] | (word(block, i / 4) >> i % 4 * 3 & 7) << 8; }
    DEVICE u32 signs(const u8 *block, u32 octet) { return word(block, octet / 4) >> 15 ? 0xff : 0; }
    DEVICE u32 sub(const u8 *block, u32 group) { return word(block, group) >> 12 & 7; }
    DEVICE u32 d(const u8 *block) { return load2(block); }
};

// 32 entries, a nibble for each (three high bits, which way values are moved), four words of 16 bits: four scales and four
// bits of d.
struct Iq1M {
    static constexpr u32 BYTES = 56, ENTRY = 8, GROUP = 16;
    DEVICE u32 index(const u8 *block, u32 i) { return block[i] | (nibble(block + 32, i) & 7) << 8; }
    DEVICE u32 signs(const u8 *block, u32 octet) { return nibble(block + 32, octet) & 8 ? 0xff : 0; }
    DEVICE u32 sub(const u8 *block, u32 group) { return load2(block + 48 + group / 4 * 2) >> group % 4 * 3 & 7; }
    DEVICE u32 d(const u8 *block) {
        u32 bits = 0;
        UNROLL for (u32 i = 0; i < 4; i++) bits |= (u32)(block[49 + 2 * i] >> 4) << 4 * i;
        return bits;
    }
};

PACK_KERNEL(mlxrocm_pack_iq2_xxs, OfGrid<Iq2Xxs>)
PACK_KERNEL(mlxrocm_pack_iq2_xs, OfGrid<Iq2Xs>)
PACK_KERNEL(mlxrocm_pack_iq2_s, OfGrid<Iq2S>)
PACK_KERNEL(mlxrocm_pack_iq3_xxs, OfGrid<Iq3Xxs>)
PACK_KERNEL(mlxrocm_pack_iq3_s, OfGrid<Iq3S>)
PACK_KERNEL(mlxrocm_pack_iq1_s, OfGrid<Iq1S>)
PACK_KERNEL(mlxrocm_pack_iq1_m, OfGrid<Iq1M>)
