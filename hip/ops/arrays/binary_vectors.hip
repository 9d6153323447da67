// out[i] = f(a[i], b[i]), 16 bytes at a time, for the functions and dtypes that programs use most. vectors.h says how a and
// b may lie.
//
// Launch: 256 threads, a block 2048 elements of out (f32, i32) or 4096 (16 bits).
#include "vectors.h"

// 64 bytes of a and b are on their way.
template <u32 FUNCTION, u32 DTYPE> struct BinaryGroups {
    static constexpr int V = 16 / bytes_of(DTYPE), GROUPS = 2;
    const void *a, *b;
    void *out;
    Plane plane;
    i32 a_row, b_row;
    u32 a_step, b_step;

    METHOD void groups(const u32 (&at)[GROUPS], u32 valid) const {
        Bits<16> left[GROUPS], right[GROUPS];
        const Places<GROUPS> places = plane.places(at);
        load_groups<DTYPE, V>(left, a, places, a_row, a_step);
        load_groups<DTYPE, V>(right, b, places, b_row, b_step);
        spread<DTYPE, V>(left, a_step);
        spread<DTYPE, V>(right, b_step);
        UNROLL for (u32 j = 0; j < GROUPS; j++) {
            if (j >= valid) continue;
            if constexpr (DTYPE == I32) {
                Bits<16> made;
                UNROLL for (int i = 0; i < V; i++)
                    made.words[i] = (u32)binary_whole(FUNCTION, (i32)left[j].words[i], (i32)right[j].words[i], DTYPE);
                store_group((u8 *)out + (u64)at[j] * 4, made);
            } else {
                f32 values[V];
                UNROLL for (int i = 0; i < V; i++)
                    values[i] = binary_float(FUNCTION, number_in<DTYPE>(left[j], i), number_in<DTYPE>(right[j], i), DTYPE);
                store_numbers<DTYPE>(out, at[j], values);
            }
        }
    }
    METHOD void one(u32 at) const {
        const i64 at_a = plane.place(at, a_row, a_step), at_b = plane.place(at, b_row, b_step);
        if constexpr (DTYPE == I32)
            store_whole(out, at, DTYPE, binary_whole(FUNCTION, load_whole(a, at_a, DTYPE), load_whole(b, at_b, DTYPE), DTYPE));
        else
            store_float(out, at, DTYPE, binary_float(FUNCTION, load_float(a, at_a, DTYPE), load_float(b, at_b, DTYPE), DTYPE));
    }
};
#define BINARY_VECTORS \
    const void *a, const void *b, void *out, u32 count, u32 columns, u32 function, PLANE_STEPS(a), PLANE_STEPS(b)
template <u32 FUNCTION, u32 DTYPE>
DEVICE void binary_vectors(const void *a, const void *b, void *out, u32 count, u32 columns, PLANE_STEPS(a), PLANE_STEPS(b)) {
    using Groups = BinaryGroups<FUNCTION, DTYPE>;
    const Groups groups{a, b, out, Plane{count, columns}, a_row, b_row, a_step, b_step};
    over_groups<Groups::V, Groups::GROUPS>(groups, count);
}
#define BINARY_CASE(FUNCTION, DTYPE) \
    case FUNCTION: return binary_vectors<FUNCTION, DTYPE>(a, b, out, count, columns, a_row, a_step, b_row, b_step);
#define BINARY_BEGIN        \
    grid_dependency_launch(); \
    grid_dependency_wait();   \
    switch (function) {
#define FLOAT_CASES(DTYPE)       \
    BINARY_BEGIN                 \
    BINARY_CASE(ADD, DTYPE)      \
    BINARY_CASE(DIVIDE, DTYPE)   \
    BINARY_CASE(MAXIMUM, DTYPE)  \
    BINARY_CASE(MINIMUM, DTYPE)  \
    BINARY_CASE(MULTIPLY, DTYPE) \
    BINARY_CASE(SUBTRACT, DTYPE) \
    }

KERNEL(256) void mlxrocm_array_binary_f32(BINARY_VECTORS) { FLOAT_CASES(F32) }
KERNEL(256) void mlxrocm_array_binary_f16(BINARY_VECTORS) { FLOAT_CASES(F16) }
KERNEL(256) void mlxrocm_array_binary_bf16(BINARY_VECTORS) { FLOAT_CASES(BF16) }
KERNEL(256) void mlxrocm_array_binary_i32(BINARY_VECTORS) {
    BINARY_BEGIN
    BINARY_CASE(ADD, I32)
    BINARY_CASE(MAXIMUM, I32)
    BINARY_CASE(MINIMUM, I32)
    BINARY_CASE(MULTIPLY, I32)
    BINARY_CASE(SUBTRACT, I32)
    }
}
