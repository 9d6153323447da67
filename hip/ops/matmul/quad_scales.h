// Scales on AMD, for the products of rows.h: the four lanes 4g … 4g + 3 that share rows of a tile (quant.h)
// need the same scales, in groups of 16 columns two and two. Each lane reads those of another block and gives
// them to the others by DPP, so that no byte is asked for twice (but for the 32 bytes that a K-quant with a
// fixed zero has once in 256 columns: twice).
#pragma once

#include "common/quant.h"

#if PLATFORM_AMD
// The scales of four blocks, of the lane's rows. The four lanes of a row need the same ones (in groups of 16,
// two and two): each reads a block's, and gives them to the others.
template <typename Q> struct QuadScales {
    static constexpr u32 SLOTS = Q::GROUP == 64 ? 1 : 2, HELD = Q::GROUP == 16 ? 2 : 1;
    ScaleWords held[HELD][SLOTS];
    u32 super; // of a K-quant: 16 bits of what its 256 columns have once, those from bit 16t (16 · (t % 2)) on
};

// Reads those of the blocks from unit `from` on that are before unit `end`; `unit_at`: where a unit is.
template <typename Q, typename F>
DEVICE void read_scales(QuadScales<Q> &scales, F unit_at, u32 from, u32 end, u32 g, u32 t) {
    UNROLL for (u32 h = 0; h < scales.HELD; h++) {
        const u32 block = Q::GROUP == 16 ? t % 2 + 2 * h : t, unit = from + block / Q::UNIT;
        if (unit >= end) continue;
        const auto at = unit_at(unit) + Q::CODE_BYTES;
        UNROLL for (u32 slot = 0; slot < scales.SLOTS; slot++) {
            const u32 i = block % Q::UNIT * scales.SLOTS + slot;
            scales.held[h][slot] = scale_words<Q>(at, Q::GROUP == 16 ? i * 2 + t / 2 : i, g);
        }
        if (h > 0) continue;
        if constexpr (Q::SCALES == SUPER_MIN) scales.super = *(const u16 *)(at + g * 8 + t * 2);
        if constexpr (Q::SCALES == SUPER_ZERO || Q::TABLE) scales.super = *(const u16 *)(at + g * 4 + t % 2 * 2);
    }
}

// Those of a block and a slot of it.
template <typename Q> DEVICE ScaleWords scales_of(const QuadScales<Q> &scales, u32 block, u32 slot) {
    ScaleWords w;
    UNROLL for (u32 i = 0; i < 4; i++) {
        if constexpr (Q::GROUP == 16)
            w.words[i] = of_quad(scales.held[block / 2][slot].words[i], block % 2, block % 2 + 2);
        else w.words[i] = of_quad(scales.held[0][slot].words[i], block, block);
    }
    auto super = [&](u32 low) { return of_quad(scales.super, low, low) | of_quad(scales.super, low + 1, low + 1) << 16; };
    if constexpr (Q::SUPER) w.words[0] = super(0);
    if constexpr (Q::SCALES == SUPER_MIN) w.words[1] = super(2);
    return w;
}

// The words with those of one of the two rows where the first row's are: of the second if `is_second`.
template <typename Q> DEVICE ScaleWords row_words(ScaleWords w, bool is_second) {
    if constexpr (Q::SCALES == PAIR_F32) {
        w.words[0] = is_second ? w.words[2] : w.words[0], w.words[1] = is_second ? w.words[3] : w.words[1];
    } else if constexpr (Q::GROUP_BYTES == 64) {
        w.words[0] = is_second ? w.words[1] : w.words[0];
    } else if constexpr (Q::SCALES == SUPER_MIN) {
        w.words[0] = is_second ? w.words[1] : w.words[0], w.words[2] >>= is_second ? 16 : 0;
    } else {
        w.words[0] >>= (is_second ? Q::SCALES == POWER || Q::SCALES == FLOAT8 ? 8 : 16 : 0);
        w.words[1] >>= (is_second ? Q::SCALES == TABLE16 ? 16 : 8 : 0);
    }
    return w;
}
#endif
