// Updates of complex numbers and of f64 that meet what is there: meet and combine of scatter.hip.
//
// Launch: 256 threads, a thread an element.
#include "complex.h"
#include "f64_functions.h"
#include "meeting.h"

struct alignas(8) Double {
    f64 value;
};
DEVICE Double operator+(Double a, Double b) { return {a.value + b.value}; }
DEVICE Double operator*(Double a, Double b) { return {a.value * b.value}; }
DEVICE Double larger(Double a, Double b) { return {larger(a.value, b.value)}; }
DEVICE Double smaller(Double a, Double b) { return {smaller(a.value, b.value)}; }

DEVICE Double load(const Double *x) { return *x; }
DEVICE Complex load(const Complex *x) { return load_complex(x, 0); }

template <typename T> DEVICE T met(T now, T value, u32 how) {
    switch (how) {
    case SUM: return now + value;
    case PROD: return now * value;
    case MAX: return larger(now, value);
    case MIN: return smaller(now, value);
    default: return value;
    }
}

#define MEET_KERNEL(NAME, T)                                                                                          \
    KERNEL(256)                                                                                                       \
    void NAME(const T *updates, const i64 *places, const u32 *order, T *out, u32 count, u32 slices, u32 how, u32 slice, \
              AXES, STRIDES(u), STRIDES(o)) {                                                                         \
        grid_dependency_launch();                                                                                     \
        grid_dependency_wait();                                                                                       \
        const u32 i = block_x() * 256 + thread_x();                                                                   \
        if (i >= count) return;                                                                                       \
        const u32 first = i / slice;                                                                                  \
        const i64 place = places[order[first]];                                                                       \
        if (first > 0 && places[order[first - 1]] == place) return;                                                   \
        const Index index = index_of(i % slice, slice, s1, s2, s3, s4, s5);                                           \
        const i64 in_slice = index.at(u0, u1, u2, u3, u4, u5), at = place + index.at(o0, o1, o2, o3, o4, o5);         \
        T now = load(out + at);                                                                                       \
        for (u32 j = first; j < slices && places[order[j]] == place; j++)                                             \
            now = met(now, load(updates + (i64)order[j] * slice + in_slice), how);                                    \
        out[at] = now;                                                                                                \
    }
#define COMBINE_KERNEL(NAME, T)                                                                                       \
    KERNEL(256)                                                                                                       \
    void NAME(const T *updates, T *out, u32 count, u32 how, AXES, STRIDES(u), STRIDES(o)) {                           \
        grid_dependency_launch();                                                                                     \
        grid_dependency_wait();                                                                                       \
        const u32 i = block_x() * 256 + thread_x();                                                                   \
        if (i >= count) return;                                                                                       \
        const Index index = index_of(i, count, s1, s2, s3, s4, s5);                                                   \
        const i64 at = index.at(o0, o1, o2, o3, o4, o5);                                                              \
        out[at] = met(load(out + at), load(updates + index.at(u0, u1, u2, u3, u4, u5)), how);                         \
    }
MEET_KERNEL(mlxrocm_array_complex_meet, Complex)
MEET_KERNEL(mlxrocm_array_f64_meet, Double)
COMBINE_KERNEL(mlxrocm_array_complex_combine, Complex)
COMBINE_KERNEL(mlxrocm_array_f64_combine, Double)
