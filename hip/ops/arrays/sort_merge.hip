// merge: pairs of sorted runs of `run` keys (and places) of rows [rows][columns] become runs of twice the length; the last
// time, a row's elements or places in their order, as sort_tiles.hip writes them.
//
// A block makes SORTED_TILE neighbouring results: where these begin and end in both runs is searched for first.
//
// Launch: 256 threads; grid (rows · tiles).
#include "sort.h"

// As Tile::split, in global memory, by a wave: each lane looks at one of WAVE places, so that few loads wait for others.
template <typename K>
DEVICE u32 split_runs(Order<K> order, const K *a, u32 a_count, const K *b, u32 b_count, u32 taken) {
    u32 low = taken > b_count ? taken - b_count : 0, high = minimum(taken, a_count);
    while (low < high) {
        const u32 begin = low;
        const u64 apart = high - low;
        const auto place = [&](u32 lane) { return begin + (u32)(apart * lane / WAVE); };
        const u32 mine = place(lane_id());
        // Beyond the split all say so.
        const u32 before = WAVE - popcount(ballot(order.rank(b[taken - 1 - mine]) < order.rank(a[mine])));
        if (before < WAVE) high = place(before);
        if (before > 0) low = place(before - 1) + 1;
    }
    return low;
}

template <typename K, bool PLACES>
DEVICE void merge(const K *runs, const u32 *run_places, K *to, u32 *to_places, void *out, u32 columns, u32 step, u32 dtype,
                  u32 run, u32 tiles) {
    typedef Tile<K, PLACES> Shared;
    SHARED K keys[Shared::ROOM];
    SHARED u32 places[PLACES ? Shared::ROOM : 1], splits[2];
    const Shared tile = {keys, places};
    const Order<K> order = {is_float(dtype) ? 1u : 0u};
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 row = block_x() / tiles, begin = block_x() % tiles * SORTED_TILE, thread = thread_x();
    const u32 count = minimum((u32)SORTED_TILE, columns - begin);
    // A pair of runs: the second may be short or missing.
    const u32 pair = (u32)(begin / (2 * (u64)run) * 2 * run);
    const u32 a_count = minimum(run, columns - pair), b_count = minimum(run, columns - pair - a_count);
    const u64 at = (u64)row * columns + pair;
    const K *a = runs + at, *b = a + a_count;
    if (wave_id() < 2) {
        const u32 split = split_runs(order, a, a_count, b, b_count, begin - pair + (wave_id() ? count : 0));
        if (lane_id() == 0) splits[wave_id()] = split;
    }
    barrier();
    const u32 a_first = splits[0], b_first = begin - pair - a_first, of_a = splits[1] - a_first, of_b = count - of_a;
    UNROLL for (u32 n = 0; n < EACH; n++) {
        const u32 i = thread + n * SORTERS;
        if (i < count) {
            const u32 from = i < of_a ? a_first + i : a_count + b_first + (i - of_a);
            tile.put(i, a[from], PLACES ? run_places[at + from] : 0);
        }
    }
    barrier();
    K own[EACH];
    u32 own_places[EACH];
    tile.merge(order, 0, of_a, of_a, of_b, minimum(thread * EACH, count), own, own_places);
    barrier();
    tile.put_each(own, own_places);
    barrier();
    const i64 first = (i64)(row / step) * columns * step + row % step + (i64)begin * step;
    const bool is_last = 2 * (u64)run >= columns;
    for (u32 c = thread; c < count; c += SORTERS) {
        if (!is_last) {
            const u64 place = (u64)row * columns + begin + c;
            to[place] = tile.key(c);
            if (PLACES) to_places[place] = tile.place(c);
        } else if (PLACES) {
            ((u32 *)out)[first + (i64)c * step] = tile.place(c);
        } else {
            store_key(out, first + (i64)c * step, dtype, tile.key(c));
        }
    }
}

#define MERGE_KERNEL(NAME, K, PLACES)                                                                               \
    KERNEL(SORTERS)                                                                                                 \
    void NAME(const K *runs, const u32 *run_places, K *to, u32 *to_places, void *out, u32 columns, u32 step, u32 dtype, \
              u32 run, u32 tiles) {                                                                                 \
        merge<K, PLACES>(runs, run_places, to, to_places, out, columns, step, dtype, run, tiles);                   \
    }
MERGE_KERNEL(mlxrocm_array_sort_merge_32, u32, false)
MERGE_KERNEL(mlxrocm_array_sort_merge_64, u64, false)
MERGE_KERNEL(mlxrocm_array_argsort_merge_32, u32, true)
MERGE_KERNEL(mlxrocm_array_argsort_merge_64, u64, true)
