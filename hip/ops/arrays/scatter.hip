// Slices read and written where indices say, and updates that meet what is there.
//
// place: places[j] (+)= index[j] inside 0 … limit, times step: where slice j begins, axis by axis. Negative indices count
//   from the end; those outside are the nearest inside.
// gather: out[j][e] = x[places[j] + e], e counting through a slice.
// claim, replace: of updates of one place the last one stays: the largest number claims it.
// meet: out[place][e] = out[place][e] ∘ update[j] …, of the slices j of one place in order; `order` are the slices' numbers
//   sorted by place, so the first of those that share one goes through the others.
// combine: out[place(i)] ∘= update[i], all places different.
// masked: out[i] = mask[i] ? source[how many before i the mask holds for] : x[i].
//
// Launch: 256 threads, a thread an element (place, claim: a slice).
#include "scatter.h"

DEVICE i64 meet_whole(i64 now, i64 value, u32 dtype, u32 how) {
    const bool is_less = dtype == U64 ? (u64)now < (u64)value : now < value;
    const bool is_more = dtype == U64 ? (u64)now > (u64)value : now > value;
    switch (how) {
    case SUM: return dtype == BOOL ? now | value : (i64)((u64)now + (u64)value);
    case PROD: return (i64)((u64)now * (u64)value);
    case MAX: return is_less ? value : now;
    case MIN: return is_more ? value : now;
    default: return value;
    }
}

KERNEL(256) void mlxrocm_array_place(const void *index, i64 *places, u32 count, u32 dtype, i64 limit, i64 slice, i64 step,
                                     u32 adds) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 j = block_x() * 256 + thread_x();
    if (j >= count) return;
    const i64 i = begin_of(index, j, dtype, limit, slice) * step;
    places[j] = adds ? places[j] + i : i;
}

// Adds where the line of each element begins.
KERNEL(256) void mlxrocm_array_place_lines(i64 *places, u32 count, AXES, STRIDES(x)) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 i = block_x() * 256 + thread_x();
    if (i < count) places[i] += index_of(i, count, s1, s2, s3, s4, s5).at(x0, x1, x2, x3, x4, x5);
}

KERNEL(256) void mlxrocm_array_gather(const void *x, const i64 *places, void *out, u32 count, u32 size, u32 slice, AXES,
                                      STRIDES(x)) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 i = block_x() * 256 + thread_x();
    if (i >= count) return;
    const i64 from[1] = {places[i / slice] + index_of(i % slice, slice, s1, s2, s3, s4, s5).at(x0, x1, x2, x3, x4, x5)};
    u64 bits[1];
    load_bits(x, from, size, bits);
    store_bits(out, i, size, bits[0]);
}

KERNEL(256) void mlxrocm_array_clear_claims(u32 *claims, u32 count) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 i = block_x() * 256 + thread_x();
    if (i < count) claims[i] = 0;
}
// All places are multiples of `unit`.
KERNEL(256) void mlxrocm_array_claim(const i64 *places, u32 *claims, u32 count, u32 unit) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 j = block_x() * 256 + thread_x();
    if (j < count) atomic_max(claims + (unit == 1 ? places[j] : places[j] / unit), j + 1);
}
// Which of the parts of `unit` elements a place begins.
KERNEL(256) void mlxrocm_array_place_units(const i64 *places, u32 *units, u32 count, u32 unit) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 j = block_x() * 256 + thread_x();
    if (j < count) units[j] = (u32)(places[j] / unit);
}
// Without claims there is one slice.
KERNEL(256) void mlxrocm_array_replace(const void *updates, const i64 *places, const u32 *claims, void *out, u32 count, u32 size,
                                       u32 slice, AXES, STRIDES(u), STRIDES(o)) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 i = block_x() * 256 + thread_x();
    if (i >= count) return;
    const u32 j = i / slice;
    const i64 place = places[j];
    if (claims && claims[place] != j + 1) return;
    const Index index = index_of(i % slice, slice, s1, s2, s3, s4, s5);
    const i64 from[1] = {(i64)j * slice + index.at(u0, u1, u2, u3, u4, u5)};
    u64 bits[1];
    load_bits(updates, from, size, bits);
    store_bits(out, place + index.at(o0, o1, o2, o3, o4, o5), size, bits[0]);
}

// One slice, which begins along one axis where a number says.
KERNEL(256) void mlxrocm_array_replace_at(const void *updates, const void *start, void *out, u32 count, u32 size, u32 dtype,
                                          i64 limit, i64 slice, i64 step, AXES, STRIDES(u), STRIDES(o)) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 i = block_x() * 256 + thread_x();
    if (i >= count) return;
    const Index index = index_of(i, count, s1, s2, s3, s4, s5);
    const i64 from[1] = {index.at(u0, u1, u2, u3, u4, u5)};
    u64 bits[1];
    load_bits(updates, from, size, bits);
    const i64 to = begin_of(start, 0, dtype, limit, slice) * step + index.at(o0, o1, o2, o3, o4, o5);
    store_bits(out, to, size, bits[0]);
}

KERNEL(256) void mlxrocm_array_meet(const void *updates, const i64 *places, const u32 *order, void *out, u32 count, u32 slices,
                                    u32 dtype, u32 how, u32 slice, AXES, STRIDES(u), STRIDES(o)) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 i = block_x() * 256 + thread_x();
    if (i >= count) return;
    const u32 first = i / slice;
    const i64 place = places[order[first]];
    if (first > 0 && places[order[first - 1]] == place) return;
    const Index index = index_of(i % slice, slice, s1, s2, s3, s4, s5);
    const i64 in_slice = index.at(u0, u1, u2, u3, u4, u5), at = place + index.at(o0, o1, o2, o3, o4, o5);
    if (is_float(dtype)) {
        f32 now = load_float(out, at, dtype);
        for (u32 j = first; j < slices && places[order[j]] == place; j++)
            now = meet_float(now, load_float(updates, (i64)order[j] * slice + in_slice, dtype), dtype, how);
        store_float(out, at, dtype, now);
    } else {
        i64 now = load_whole(out, at, dtype);
        for (u32 j = first; j < slices && places[order[j]] == place; j++)
            now = meet_whole(now, load_whole(updates, (i64)order[j] * slice + in_slice, dtype), dtype, how);
        store_whole(out, at, dtype, now);
    }
}

KERNEL(256) void mlxrocm_array_combine(const void *updates, void *out, u32 count, u32 dtype, u32 how, AXES, STRIDES(u), STRIDES(o)) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 i = block_x() * 256 + thread_x();
    if (i >= count) return;
    const Index index = index_of(i, count, s1, s2, s3, s4, s5);
    const i64 from = index.at(u0, u1, u2, u3, u4, u5), at = index.at(o0, o1, o2, o3, o4, o5);
    if (is_float(dtype)) {
        store_float(out, at, dtype, meet_float(load_float(out, at, dtype), load_float(updates, from, dtype), dtype, how));
    } else {
        store_whole(out, at, dtype, meet_whole(load_whole(out, at, dtype), load_whole(updates, from, dtype), dtype, how));
    }
}

// `sources`: elements of source; places beyond them take the last.
KERNEL(256) void mlxrocm_array_masked(const void *x, const u8 *mask, const u32 *before, const void *source, void *out, u32 count,
                                      u32 size, u32 sources) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 i = block_x() * 256 + thread_x();
    if (i >= count) return;
    const bool holds = mask[i] != 0 && sources > 0;
    const i64 from[1] = {holds ? minimum(before[i], sources - 1) : i};
    u64 bits[1];
    load_bits(holds ? source : x, from, size, bits);
    store_bits(out, i, size, bits[0]);
}
