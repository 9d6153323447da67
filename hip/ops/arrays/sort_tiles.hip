// sort: rows in order, NaN last, equal ones as they were; or their places. Rows of more than a tile become sorted runs of
// keys (and places), [rows][columns], which sort_merge.hip joins.
//
// A row is `columns` elements, `step` apart; rows count through `step` inner and any outer places of arrays that lie row
// after row. A thread sorts eight neighbours in registers, then runs are merged in shared memory, each thread finding
// where its eight results begin.
//
// Launch: 32 to 256 threads, eight elements each, a power of two; a block a tile of a row; grid (rows · tiles).
#include "sort.h"

template <typename K, bool PLACES>
DEVICE void sort(const void *x, void *out, K *runs, u32 *run_places, u32 columns, u32 step, u32 dtype, u32 tiles) {
    typedef Tile<K, PLACES> Shared;
    SHARED K keys[Shared::ROOM];
    SHARED u32 places[PLACES ? Shared::ROOM : 1];
    const Shared tile = {keys, places};
    const Order<K> order = {is_float(dtype) ? 1u : 0u};
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 threads = block_size_x(), size = threads * EACH, thread = thread_x();
    const u32 row = block_x() / tiles, begin = block_x() % tiles * size, count = minimum(size, columns - begin);
    const i64 first = (i64)(row / step) * columns * step + row % step + (i64)begin * step;
    UNROLL for (u32 n = 0; n < EACH; n++) {
        const u32 c = thread + n * threads;
        // What is behind the end is the last of all.
        tile.put(c, c < count ? key_of<K>(x, first + (i64)c * step, dtype) : ~(K)0, begin + c);
    }
    barrier();
    K own[EACH];
    u32 own_places[EACH];
    UNROLL for (u32 n = 0; n < EACH; n++) {
        own[n] = tile.key(thread * EACH + n);
        if (PLACES) own_places[n] = tile.place(thread * EACH + n);
    }
    UNROLL for (u32 turn = 0; turn < EACH; turn++) UNROLL for (u32 n = turn % 2; n + 1 < EACH; n += 2) {
        if (order.rank(own[n + 1]) < order.rank(own[n])) {
            const K key = own[n];
            own[n] = own[n + 1], own[n + 1] = key;
            if (PLACES) {
                const u32 place = own_places[n];
                own_places[n] = own_places[n + 1], own_places[n + 1] = place;
            }
        }
    }
    for (u32 run = EACH; run < size && run < count; run *= 2) {
        barrier();
        tile.put_each(own, own_places);
        barrier();
        const u32 pair = thread * EACH / (2 * run) * 2 * run;
        tile.merge(order, pair, run, pair + run, run, thread * EACH - pair, own, own_places);
    }
    barrier();
    tile.put_each(own, own_places);
    barrier();
    for (u32 c = thread; c < count; c += threads) {
        if (tiles > 1) {
            const u64 to = (u64)row * columns + begin + c;
            runs[to] = tile.key(c);
            if (PLACES) run_places[to] = tile.place(c);
        } else if (PLACES) {
            ((u32 *)out)[first + (i64)c * step] = tile.place(c);
        } else {
            store_key(out, first + (i64)c * step, dtype, tile.key(c));
        }
    }
}

#define SORT_KERNEL(NAME, K, PLACES)                                                                                     \
    KERNEL(SORTERS)                                                                                                      \
    void NAME(const void *x, void *out, K *runs, u32 *run_places, u32 columns, u32 step, u32 dtype, u32 tiles) {         \
        sort<K, PLACES>(x, out, runs, run_places, columns, step, dtype, tiles);                                          \
    }
SORT_KERNEL(mlxrocm_array_sort_32, u32, false)
SORT_KERNEL(mlxrocm_array_sort_64, u64, false)
SORT_KERNEL(mlxrocm_array_argsort_32, u32, true)
SORT_KERNEL(mlxrocm_array_argsort_64, u64, true)
