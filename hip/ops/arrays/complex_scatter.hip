// Updates of complex numbers that meet what is there: meet and combine of scatter.hip.
//
// Launch: 256 threads, a thread an element.
#include "complex.h"
#include "meeting.h"

DEVICE Complex met(Complex now, Complex value, u32 how) {
    switch (how) {
    case SUM: return now + value;
    case PROD: return now * value;
    case MAX: return larger(now, value);
    case MIN: return smaller(now, value);
    default: return value;
    }
}

KERNEL(256) void mlxrocm_array_complex_meet(const void *updates, const i64 *places, const u32 *order, void *out, u32 count,
                                            u32 slices, u32 how, u32 slice, AXES, STRIDES(u), STRIDES(o)) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 i = block_x() * 256 + thread_x();
    if (i >= count) return;
    const u32 first = i / slice;
    const i64 place = places[order[first]];
    if (first > 0 && places[order[first - 1]] == place) return;
    const Index index = index_of(i % slice, slice, s1, s2, s3, s4, s5);
    const i64 in_slice = index.at(u0, u1, u2, u3, u4, u5), at = place + index.at(o0, o1, o2, o3, o4, o5);
    Complex now = load_complex(out, at);
    for (u32 j = first; j < slices && places[order[j]] == place; j++)
        now = met(now, load_complex(updates, (i64)order[j] * slice + in_slice), how);
    store_complex(out, at, now);
}

KERNEL(256) void mlxrocm_array_complex_combine(const void *updates, void *out, u32 count, u32 how, AXES, STRIDES(u),
                                               STRIDES(o)) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 i = block_x() * 256 + thread_x();
    if (i >= count) return;
    const Index index = index_of(i, count, s1, s2, s3, s4, s5);
    const i64 at = index.at(o0, o1, o2, o3, o4, o5);
    store_complex(out, at, met(load_complex(out, at), load_complex(updates, index.at(u0, u1, u2, u3, u4, u5)), how));
}
