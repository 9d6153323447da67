// A function that is known when this is compiled, of groups of elements: vectors.h.
#pragma once

#include "vectors.h"

// Groups of f32 of a thread. On NVIDIA four make long functions slower: tanh of 64 MB takes 35.1 us instead of 34.0 (H200).
#if PLATFORM_NVIDIA
#define F32_GROUPS 2
#else
#define F32_GROUPS 4
#endif
// f32 takes 4 elements at a time, 16-bit numbers 8; what has both, 4 of 4 groups. 32 bytes of x and more are on their way.
template <u32 FUNCTION, u32 FROM, u32 TO> struct UnaryGroups {
    static constexpr int V = 16 / maximum_of(bytes_of(FROM), bytes_of(TO)), GROUPS = FROM == F32 && TO == F32 ? F32_GROUPS : 16 / V;
    const void *x;
    void *out;
    Plane plane;
    i32 row_step;
    u32 step;

    METHOD void groups(const u32 (&at)[GROUPS], u32 valid) const {
        Bits<V * bytes_of(FROM)> bits[GROUPS];
        load_groups<FROM, V>(bits, x, plane.places(at), row_step, step);
        spread<FROM, V>(bits, step);
        UNROLL for (u32 j = 0; j < GROUPS; j++) {
            f32 values[V];
            UNROLL for (int i = 0; i < V; i++) values[i] = unary_float(FUNCTION, number_in<FROM>(bits[j], i), FROM);
            if (j < valid) store_numbers<TO>(out, at[j], values);
        }
    }
    METHOD void one(u32 at) const {
        store_float(out, at, TO, unary_float(FUNCTION, load_float(x, plane.place(at, row_step, step), FROM), FROM));
    }
};
#define UNARY_VECTORS const void *x, void *out, u32 count, u32 columns, u32 function, PLANE_STEPS(x)
template <u32 FUNCTION, u32 FROM, u32 TO>
DEVICE void unary_vectors(const void *x, void *out, u32 count, u32 columns, PLANE_STEPS(x)) {
    using Groups = UnaryGroups<FUNCTION, FROM, TO>;
    over_groups<Groups::V, Groups::GROUPS>(Groups{x, out, Plane{count, columns}, x_row, x_step}, count);
}
#define UNARY_CASE(FUNCTION, DTYPE) \
    case FUNCTION: return unary_vectors<FUNCTION, DTYPE, DTYPE>(x, out, count, columns, x_row, x_step);
// The functions that have such a form (src/gpu/arrays/planes.rs).
#define UNARY_CASES(DTYPE)                                                                                         \
    grid_dependency_launch();                                                                                      \
    grid_dependency_wait();                                                                                        \
    switch (function) {                                                                                            \
        UNARY_CASE(ABS, DTYPE)                                                                                     \
        UNARY_CASE(COS, DTYPE)                                                                                     \
        UNARY_CASE(ERF, DTYPE)                                                                                     \
        UNARY_CASE(EXP, DTYPE)                                                                                     \
        UNARY_CASE(LOG, DTYPE)                                                                                     \
        UNARY_CASE(NEGATIVE, DTYPE)                                                                                \
        UNARY_CASE(RSQRT, DTYPE)                                                                                   \
        UNARY_CASE(SIGMOID, DTYPE)                                                                                 \
        UNARY_CASE(SIN, DTYPE)                                                                                     \
        UNARY_CASE(SQRT, DTYPE)                                                                                    \
        UNARY_CASE(SQUARE, DTYPE)                                                                                  \
        UNARY_CASE(TANH, DTYPE)                                                                                    \
    }
