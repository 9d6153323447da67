// take: out[j][r] = x[index[j] along one axis][r], r the elements of a slice (sizes s0 … s5, `slice` of them).
// take_along: out[i] = x[index[i] along one axis, i elsewhere], out of sizes s0 … s5.
// take_along_rows: the same along rows of `limit` elements of x, `columns` of index and out, all row after row.
// put: out[place(i)] = x[place(i)]: x, of sizes s0 … s5, into a part of out.
// Elements have `size` bytes. Negative indices count from the end; those outside are the nearest inside.
//
// Launch: 256 threads, a thread an element of out (put: of x; take_along_rows: a block 1024).
#include "dtype.h"

DEVICE void move(const void *x, i64 from, void *out, i64 to, u32 size) {
    const i64 at[1] = {from};
    u64 bits[1];
    load_bits(x, at, size, bits);
    store_bits(out, to, size, bits[0]);
}
DEVICE i64 inside(const void *index, i64 at, u32 dtype, u32 limit) {
    i64 i = load_whole(index, at, dtype);
    if (dtype == U64 && i < 0) i = limit;
    if (i < 0) i += limit;
    return i < 0 ? 0 : i >= (i64)limit ? (i64)limit - 1 : i;
}

KERNEL(256) void mlxrocm_array_take(const void *x, const void *index, void *out, u32 count, u32 size, u32 index_dtype,
                                    u32 slice, u32 limit, i32 step, AXES, STRIDES(x)) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 i = block_x() * 256 + thread_x();
    if (i >= count) return;
    const i64 first = inside(index, i / slice, index_dtype, limit) * step;
    move(x, first + index_of(i % slice, slice, s1, s2, s3, s4, s5).at(x0, x1, x2, x3, x4, x5), out, i, size);
}

KERNEL(256) void mlxrocm_array_take_along(const void *x, const void *index, void *out, u32 count, u32 size,
                                          u32 index_dtype, u32 limit, i32 step, AXES, STRIDES(x), STRIDES(i)) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 at = block_x() * 256 + thread_x();
    if (at >= count) return;
    const Index place = index_of(at, count, s1, s2, s3, s4, s5);
    const i64 along = inside(index, place.at(i0, i1, i2, i3, i4, i5), index_dtype, limit) * step;
    move(x, along + place.at(x0, x1, x2, x3, x4, x5), out, at, size);
}

KERNEL(256) void mlxrocm_array_take_along_rows(const void *x, const void *index, void *out, u32 count, u32 size,
                                               u32 index_dtype, u32 limit, u32 columns) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 first = block_x() * BLOCK + thread_x();
    i64 from[PER_THREAD];
    u64 bits[PER_THREAD];
    UNROLL for (u32 j = 0; j < PER_THREAD; j++) {
        const u32 at = minimum(first + j * 256, count - 1);
        from[j] = inside(index, at, index_dtype, limit) + (i64)(at / columns) * limit;
    }
    load_bits(x, from, size, bits);
    UNROLL for (u32 j = 0; j < PER_THREAD; j++)
        if (first + j * 256 < count) store_bits(out, first + j * 256, size, bits[j]);
}

KERNEL(256) void mlxrocm_array_put(const void *x, void *out, u32 count, u32 size, AXES, STRIDES(x), STRIDES(o)) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 i = block_x() * 256 + thread_x();
    if (i >= count) return;
    const Index place = index_of(i, count, s1, s2, s3, s4, s5);
    move(x, place.at(x0, x1, x2, x3, x4, x5), out, place.at(o0, o1, o2, o3, o4, o5), size);
}
