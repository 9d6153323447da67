// sort: rows in order, NaN last, equal ones as they were; or their places. Rows of more than a tile become sorted runs of
// keys (and places), [rows][columns], which sort_merge.hip joins.
//
// A row is `columns` elements, `step` apart; rows count through `step` inner and any outer places of arrays that lie row
// after row. Keys go through a network (sort_network.h); places as the lower half of keys of 64 bits, so that equal ones stay
// as they were. Of equal elements only zeros can be told from one another: those of both signs are written as they were.
// Places of 64-bit elements: a thread sorts eight neighbours in registers, then runs are merged in shared memory, each thread
// finding where its eight results begin.
//
// Launch: 32 to 256 threads, eight elements each, a power of two; a block a tile of a row; grid (rows · tiles).
#include "sort_network.h"

// What a block sorts.
struct Part {
    u32 columns, step, dtype, tiles, row, begin, count;
    i64 first; // of its elements
};
DEVICE Part part_of(u32 columns, u32 step, u32 dtype, u32 tiles) {
    const u32 size = block_size_x() * EACH, row = block_x() / tiles, begin = block_x() % tiles * size;
    const i64 first = (i64)(row / step) * columns * step + row % step + (i64)begin * step;
    return Part{columns, step, dtype, tiles, row, begin, minimum(size, columns - begin), first};
}

// Keys of a block's elements, what is behind the end the last of all; those of few elements in the first threads.
template <typename K, typename KEY> DEVICE void load_keys(const Part &p, K (&own)[EACH], const KEY &key) {
    const u32 thread = thread_x(), threads = block_size_x();
    const bool few = 2 * p.count <= threads * EACH;
    UNROLL for (u32 n = 0; n < EACH; n++) {
        const u32 c = few ? thread * EACH + n : thread + n * threads;
        own[n] = c < p.count ? key(c) : ~(K)0;
    }
}

// Zeros of both signs, which lie side by side in `tile`, as they were; by the first wave.
DEVICE void zeros_as_they_were(const Part &p, const void *x, const Tile<u32, false> &tile) {
    const u32 lane = lane_id(), size = block_size_x() * EACH;
    u32 at = 0;
    for (u32 i = lane; i < size; i += WAVE) at += popcount(ballot(tile.key(i) < 0x7fffffffu));
    wave_barrier();
    for (u32 i = 0; i < p.count; i += WAVE) {
        const u32 key = i + lane < p.count ? key_of<u32>(x, p.first + (i64)(i + lane) * p.step, p.dtype) : 0;
        const bool is_zero = key == 0x7fffffffu || key == 0x80000000u;
        const wave_mask zeros = ballot(is_zero), before = ((wave_mask)1 << lane) - 1;
        if (is_zero) tile.put(at + popcount(zeros & before), key, 0);
        at += popcount(zeros);
    }
}

template <typename K> DEVICE void sort_elements(const Part &p, const void *x, void *out, K *runs) {
    typedef Tile<K, false> Shared;
    SHARED K keys[Shared::ROOM];
    SHARED u32 signs[SORTERS / WAVE];
    const Shared tile = {keys, nullptr};
    const u32 thread = thread_x(), threads = block_size_x();
    K own[EACH];
    load_keys(p, own, [&](u32 c) { return key_of<K>(x, p.first + (i64)c * p.step, p.dtype); });
    // Which zeros a wave has: of minus, of plus.
    bool minus = false, plus = false;
    UNROLL for (u32 n = 0; n < EACH; n++) minus = minus || own[n] == (K)0x7fffffffu, plus = plus || own[n] == (K)0x80000000u;
    const u32 of_wave = (ballot(minus) ? 1 : 0) | (ballot(plus) ? 2 : 0);
    if (lane_id() == 0) signs[wave_id()] = is_float(p.dtype) ? of_wave : 0;
    sort_network(own, p.count, keys);
    barrier();
    tile.put_each(own, nullptr);
    barrier();
    if constexpr (sizeof(K) == 4) {
        u32 both = 0;
        for (u32 i = 0; i < threads / WAVE; i++) both |= signs[i];
        if (uniform(both) == 3) {
            if (wave_id() == 0) zeros_as_they_were(p, x, tile);
            barrier();
        }
    }
    for (u32 c = thread; c < p.count; c += threads) {
        if (p.tiles > 1)
            runs[(u64)p.row * p.columns + p.begin + c] = tile.key(c);
        else
            store_key(out, p.first + (i64)c * p.step, p.dtype, tile.key(c));
    }
}

// Places of elements of up to 32 bits.
DEVICE void sort_places(const Part &p, const void *x, void *out, u32 *runs, u32 *run_places) {
    typedef Tile<u64, false> Shared;
    SHARED u64 keys[Shared::ROOM];
    const Shared tile = {keys, nullptr};
    const Order<u32> order = {is_float(p.dtype) ? 1u : 0u};
    u64 own[EACH];
    load_keys(p, own, [&](u32 c) {
        return (u64)order.rank(key_of<u32>(x, p.first + (i64)c * p.step, p.dtype)) << 32 | (p.begin + c);
    });
    sort_network(own, p.count, keys);
    barrier();
    tile.put_each(own, nullptr);
    barrier();
    for (u32 c = thread_x(); c < p.count; c += block_size_x()) {
        const u64 key = tile.key(c), to = (u64)p.row * p.columns + p.begin + c;
        if (p.tiles > 1)
            runs[to] = (u32)(key >> 32), run_places[to] = (u32)key;
        else
            ((u32 *)out)[p.first + (i64)c * p.step] = (u32)key;
    }
}

DEVICE void merge_places(const Part &p, const void *x, void *out, u64 *runs, u32 *run_places) {
    typedef Tile<u64, true> Shared;
    SHARED u64 keys[Shared::ROOM];
    SHARED u32 places[Shared::ROOM];
    const Shared tile = {keys, places};
    const Order<u64> order = {0};
    const u32 threads = block_size_x(), size = threads * EACH, thread = thread_x();
    UNROLL for (u32 n = 0; n < EACH; n++) {
        const u32 c = thread + n * threads;
        // What is behind the end is the last of all.
        tile.put(c, c < p.count ? key_of<u64>(x, p.first + (i64)c * p.step, p.dtype) : ~(u64)0, p.begin + c);
    }
    barrier();
    u64 own[EACH];
    u32 own_places[EACH];
    UNROLL for (u32 n = 0; n < EACH; n++)
        own[n] = tile.key(thread * EACH + n), own_places[n] = tile.place(thread * EACH + n);
    UNROLL for (u32 turn = 0; turn < EACH; turn++) UNROLL for (u32 n = turn % 2; n + 1 < EACH; n += 2) {
        if (own[n + 1] < own[n]) {
            const u64 key = own[n];
            own[n] = own[n + 1], own[n + 1] = key;
            const u32 place = own_places[n];
            own_places[n] = own_places[n + 1], own_places[n + 1] = place;
        }
    }
    for (u32 run = EACH; run < size && run < p.count; run *= 2) {
        barrier();
        tile.put_each(own, own_places);
        barrier();
        const u32 pair = thread * EACH / (2 * run) * 2 * run;
        tile.merge(order, pair, run, pair + run, run, thread * EACH - pair, own, own_places);
    }
    barrier();
    tile.put_each(own, own_places);
    barrier();
    for (u32 c = thread; c < p.count; c += threads) {
        if (p.tiles > 1) {
            const u64 to = (u64)p.row * p.columns + p.begin + c;
            runs[to] = tile.key(c), run_places[to] = tile.place(c);
        } else {
            ((u32 *)out)[p.first + (i64)c * p.step] = tile.place(c);
        }
    }
}

#define SORT_KERNEL(NAME, K, CALL)                                                                                  \
    KERNEL(SORTERS)                                                                                                  \
    void NAME(const void *x, void *out, K *runs, u32 *run_places, u32 columns, u32 step, u32 dtype, u32 tiles) {     \
        grid_dependency_launch();                                                                                    \
        grid_dependency_wait();                                                                                      \
        const Part p = part_of(columns, step, dtype, tiles);                                                         \
        CALL;                                                                                                        \
        (void)run_places;                                                                                            \
    }
SORT_KERNEL(mlxrocm_array_sort_32, u32, sort_elements(p, x, out, runs))
SORT_KERNEL(mlxrocm_array_sort_64, u64, sort_elements(p, x, out, runs))
SORT_KERNEL(mlxrocm_array_argsort_32, u32, sort_places(p, x, out, runs, run_places))
SORT_KERNEL(mlxrocm_array_argsort_64, u64, merge_places(p, x, out, runs, run_places))
