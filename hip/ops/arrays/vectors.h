// Elements in groups of 16 bytes: arrays whose elements lie side by side along the columns of out, or are one number for
// a whole row, or for all. out lies row after row; element (row, column) of an input is `row_step` · row + `step` · column
// elements after its first, where step is 0 or 1. Where all lie alike there is one row.
#pragma once

#include "elementwise.h"

// The bits of a group of 4, 8 or 16 bytes.
template <int BYTES> struct Bits {
    u32 words[BYTES / 4];
};
template <int BYTES> DEVICE Bits<BYTES> load_group(const void *from) {
    Bits<BYTES> bits;
    if constexpr (BYTES == 16) {
        const u32x4 raw = load16(from);
        bits.words[0] = raw.x, bits.words[1] = raw.y, bits.words[2] = raw.z, bits.words[3] = raw.w;
    } else if constexpr (BYTES == 8) {
        const u32x2 raw = load8(from);
        bits.words[0] = raw.x, bits.words[1] = raw.y;
    } else
        bits.words[0] = load4(from);
    return bits;
}
// Four groups are loaded by here, all of them: else the compiler moves each load behind the branch that stands before its use, and
// there is one on its way at a time.
DEVICE void loaded(Bits<16> *bits) {
#if PLATFORM_NVIDIA
#define LOADED(j) "+r"(bits[j].words[0]), "+r"(bits[j].words[1]), "+r"(bits[j].words[2]), "+r"(bits[j].words[3])
#else
#define LOADED(j) "+v"(bits[j].words[0]), "+v"(bits[j].words[1]), "+v"(bits[j].words[2]), "+v"(bits[j].words[3])
#endif
    asm volatile("" : LOADED(0), LOADED(1), LOADED(2), LOADED(3));
}
template <int BYTES> DEVICE void store_group(void *to, const Bits<BYTES> &bits) {
    if constexpr (BYTES == 16)
        store16(to, u32x4{bits.words[0], bits.words[1], bits.words[2], bits.words[3]});
    else if constexpr (BYTES == 8)
        store8(to, u32x2{bits.words[0], bits.words[1]});
    else
        *(u32 *)to = bits.words[0];
}
DEVICE constexpr int maximum_of(int a, int b) { return a > b ? a : b; }
DEVICE constexpr int bytes_of(u32 dtype) {
    return dtype == BOOL || dtype == U8 || dtype == I8 ? 1 : dtype == U16 || dtype == I16 || dtype == F16 || dtype == BF16 ? 2 : 4;
}

// Element i as a number: f32 of floats, 32 bits of whole numbers and truth values.
template <u32 DTYPE, int BYTES> DEVICE u32 bits_in(const Bits<BYTES> &bits, int i) {
    constexpr int SIZE = bytes_of(DTYPE);
    return SIZE == 4 ? bits.words[i] : bits.words[i * SIZE / 4] >> (i * SIZE % 4 * 8) & (SIZE == 2 ? 0xffffu : 0xffu);
}
template <u32 DTYPE, int BYTES> DEVICE f32 number_in(const Bits<BYTES> &bits, int i) {
    return float_in(bits_in<DTYPE>(bits, i), DTYPE);
}
template <u32 DTYPE, int V> DEVICE void store_numbers(void *out, u32 at, const f32 (&values)[V]) {
    constexpr int SIZE = bytes_of(DTYPE);
    Bits<V * SIZE> bits;
    UNROLL for (int i = 0; i < V * SIZE / 4; i++) {
        if constexpr (DTYPE == F32)
            bits.words[i] = f32_bits(values[i]);
        else if constexpr (DTYPE == F16)
            bits.words[i] = pack_f16x2(values[2 * i], values[2 * i + 1]).bits;
        else
            bits.words[i] = nearest_bf16x2(values[2 * i], values[2 * i + 1]).bits;
    }
    store_group((u8 *)out + (u64)at * SIZE, bits);
}

// Where groups of out are: their rows and first columns.
template <int GROUPS> struct Places {
    u32 rows[GROUPS], columns[GROUPS];
};
struct Plane {
    u32 count, columns;
    template <int GROUPS> METHOD Places<GROUPS> places(const u32 (&at)[GROUPS]) const {
        Places<GROUPS> places;
        if (columns == count) {
            UNROLL for (int j = 0; j < GROUPS; j++) places.rows[j] = 0, places.columns[j] = at[j];
        } else {
            UNROLL for (int j = 0; j < GROUPS; j++) {
                places.rows[j] = at[j] / columns;
                places.columns[j] = at[j] - places.rows[j] * columns;
            }
        }
        return places;
    }
    // Where element `at` of out is in an input.
    METHOD i64 place(u32 at, i32 row_step, u32 step) const {
        const u32 row = columns == count ? 0 : at / columns;
        return (i64)row * row_step + (step ? at - row * columns : 0);
    }
};
// Groups of `V` elements; of an input with step 0 the one element, which `spread` makes V of once all loads are on their
// way. Branches that all threads take alike, none between the loads of an input.
template <u32 DTYPE, int V, int GROUPS>
DEVICE void load_groups(Bits<V * bytes_of(DTYPE)> (&bits)[GROUPS], const void *x, const Places<GROUPS> &places, i32 row_step, u32 step) {
    constexpr int SIZE = bytes_of(DTYPE);
    if (step) {
        UNROLL for (int j = 0; j < GROUPS; j++)
            bits[j] = load_group<V * SIZE>((const u8 *)x + ((i64)places.rows[j] * row_step + places.columns[j]) * SIZE);
    } else {
        UNROLL for (int j = 0; j < GROUPS; j++) {
            const u8 *from = (const u8 *)x + (i64)places.rows[j] * row_step * SIZE;
            u32 word = SIZE == 4 ? *(const u32 *)from : SIZE == 2 ? *(const u16 *)from : *from;
            // Else clang cuts a word off the wide loads above, to load it for both branches at once.
#if PLATFORM_AMD
            asm("" : "+v"(word));
#else
            asm("" : "+r"(word));
#endif
            bits[j].words[0] = word;
        }
    }
}
template <u32 DTYPE, int V, int GROUPS> DEVICE void spread(Bits<V * bytes_of(DTYPE)> (&bits)[GROUPS], u32 step) {
    constexpr int SIZE = bytes_of(DTYPE);
    if (step) return;
    UNROLL for (int j = 0; j < GROUPS; j++) {
        const u32 word = bits[j].words[0] * (SIZE == 4 ? 1u : SIZE == 2 ? 0x10001u : 0x1010101u);
        UNROLL for (int i = 0; i < V * SIZE / 4; i++) bits[j].words[i] = word;
    }
}
#define PLANE_STEPS(x) i32 x##_row, u32 x##_step

// Calls a struct's `groups` for `GROUPS` groups of V elements a thread, and its `one` for what is left of them.
template <int V, int GROUPS, typename Function> DEVICE void over_groups(Function &&function, u32 count) {
    const u32 groups = count / V, first = block_x() * (256 * GROUPS) + thread_x();
    if (first < groups) {
        u32 at[GROUPS];
        UNROLL for (int j = 0; j < GROUPS; j++) at[j] = minimum(first + j * 256, groups - 1) * V;
        function.groups(at, (groups - first + 255) / 256);
    }
    if (block_x() == 0 && thread_x() < count % V) function.one(count - count % V + thread_x());
}
