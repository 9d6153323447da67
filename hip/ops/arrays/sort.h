// What the kernels of sort_tiles.hip and sort_merge.hip share: elements as whole numbers in their order, and merges of two
// sorted runs in shared memory.
#pragma once

#include "dtype.h"
#include "functions.h"

// Elements of a thread.
#define EACH 8
// The most threads and elements of a block.
#define SORTERS 256
#define SORTED_TILE (SORTERS * EACH)

// Whole numbers in the order of the elements, from which these come back: floats of both signs, NaN last.
template <typename K> DEVICE K key_of(const void *x, i64 at, u32 dtype) {
    if (is_float(dtype)) {
        const f32 value = load_float(x, at, dtype);
        const u32 raw = is_nan(value) ? 0x7fc00000u : f32_bits(value);
        return raw >> 31 ? ~raw : raw | 0x80000000u;
    }
    const K whole = (K)load_whole(x, at, dtype);
    return dtype >= I8 ? whole ^ (K)1 << (sizeof(K) * 8 - 1) : whole;
}
template <typename K> DEVICE void store_key(void *out, i64 at, u32 dtype, K key) {
    if (is_float(dtype)) {
        const u32 raw = (u32)key >> 31 ? (u32)key & 0x7fffffffu : ~(u32)key;
        store_float(out, at, dtype, bits_f32(raw));
    } else {
        store_whole(out, at, dtype, (i64)(dtype >= I8 ? key ^ (K)1 << (sizeof(K) * 8 - 1) : key));
    }
}
// The two zeros are equal.
template <typename K> struct Order {
    u32 of_floats;
    METHOD K rank(K key) const { return key == (K)0x7fffffffu ? key + of_floats : key; }
};

// Elements in shared memory; a thread's eight neighbours lie in other banks than the next thread's.
template <typename K, bool PLACES> struct Tile {
    static constexpr u32 ROOM = SORTED_TILE + SORTED_TILE / 8;
    K *keys;
    u32 *places;
    static METHOD u32 spot(u32 i) { return i + i / 8; }
    METHOD K key(u32 i) const { return keys[spot(i)]; }
    METHOD u32 place(u32 i) const { return places[spot(i)]; }
    METHOD void put(u32 i, K key, u32 place) const {
        keys[spot(i)] = key;
        if (PLACES) places[spot(i)] = place;
    }
    // How many of the first `taken` of two merged runs are of the first; equal ones of the first come first.
    METHOD u32 split(Order<K> order, u32 a, u32 a_count, u32 b, u32 b_count, u32 taken) const {
        u32 low = taken > b_count ? taken - b_count : 0, high = minimum(taken, a_count);
        while (low < high) {
            const u32 middle = (low + high) / 2;
            if (order.rank(key(b + taken - 1 - middle)) < order.rank(key(a + middle)))
                high = middle;
            else
                low = middle + 1;
        }
        return low;
    }
    // EACH elements of two merged runs from the taken-th on; past their end, what lies there.
    METHOD void merge(Order<K> order, u32 a, u32 a_count, u32 b, u32 b_count, u32 taken, K *to, u32 *to_places) const {
        const u32 first = split(order, a, a_count, b, b_count, taken);
        u32 i = a + first, j = b + taken - first;
        const u32 a_end = a + a_count, b_end = b + b_count;
        K left = i < a_end ? key(i) : 0, right = j < b_end ? key(j) : 0;
        UNROLL for (u32 n = 0; n < EACH; n++) {
            const bool from_b = j < b_end && (i >= a_end || order.rank(right) < order.rank(left));
            const u32 from = from_b ? j : i;
            to[n] = from_b ? right : left;
            if (PLACES) to_places[n] = from < b_end ? place(from) : 0;
            if (from_b) {
                j++;
                if (j < b_end) right = key(j);
            } else {
                i++;
                if (i < a_end) left = key(i);
            }
        }
    }
    METHOD void put_each(const K *from, const u32 *from_places) const {
        UNROLL for (u32 n = 0; n < EACH; n++) put(thread_x() * EACH + n, from[n], PLACES ? from_places[n] : 0);
    }
};
