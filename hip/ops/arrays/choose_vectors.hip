// Whether a[i] compares with b[i], and a[i] where c[i] holds, else b[i]: 16 bytes of a and b at a time. vectors.h says how
// inputs may lie.
//
// Launch: 256 threads, a block 2048 elements of out (of 4 bytes) or 4096 (of 2).
#include "vectors.h"

#define COMPARE_VECTORS \
    const void *a, const void *b, void *out, u32 count, u32 columns, u32 holds, PLANE_STEPS(a), PLANE_STEPS(b)
// Bit 0 of `holds`: where a < b; 1: a == b; 2: a > b; 3: one is NaN.
template <u32 DTYPE> struct CompareGroups {
    static constexpr int V = 16 / bytes_of(DTYPE), GROUPS = 2;
    const void *a, *b;
    void *out;
    Plane plane;
    u32 holds;
    i32 a_row, b_row;
    u32 a_step, b_step;

    METHOD u32 compared(f32 x, f32 y) const { return holds >> (x < y ? 0 : x == y ? 1 : x > y ? 2 : 3) & 1; }
    METHOD void groups(const u32 (&at)[GROUPS], u32 valid) const {
        Bits<16> left[GROUPS], right[GROUPS];
        const Places<GROUPS> places = plane.places(at);
        load_groups<DTYPE, V>(left, a, places, a_row, a_step);
        load_groups<DTYPE, V>(right, b, places, b_row, b_step);
        spread<DTYPE, V>(left, a_step);
        spread<DTYPE, V>(right, b_step);
        UNROLL for (u32 j = 0; j < GROUPS; j++) {
            Bits<V> made;
            UNROLL for (int w = 0; w < V / 4; w++) {
                made.words[w] = 0;
                UNROLL for (int i = 0; i < 4; i++)
                    made.words[w] |= compared(number_in<DTYPE>(left[j], 4 * w + i), number_in<DTYPE>(right[j], 4 * w + i)) << 8 * i;
            }
            if (j < valid) store_group((u8 *)out + at[j], made);
        }
    }
    METHOD void one(u32 at) const {
        const f32 x = load_float(a, plane.place(at, a_row, a_step), DTYPE), y = load_float(b, plane.place(at, b_row, b_step), DTYPE);
        ((u8 *)out)[at] = (u8)compared(x, y);
    }
};
template <u32 DTYPE> DEVICE void compare_vectors(COMPARE_VECTORS) {
    grid_dependency_launch();
    grid_dependency_wait();
    using Groups = CompareGroups<DTYPE>;
    const Groups groups{a, b, out, Plane{count, columns}, holds, a_row, b_row, a_step, b_step};
    over_groups<Groups::V, Groups::GROUPS>(groups, count);
}
#define COMPARED a, b, out, count, columns, holds, a_row, a_step, b_row, b_step
KERNEL(256) void mlxrocm_array_compare_f32(COMPARE_VECTORS) { compare_vectors<F32>(COMPARED); }
KERNEL(256) void mlxrocm_array_compare_f16(COMPARE_VECTORS) { compare_vectors<F16>(COMPARED); }
KERNEL(256) void mlxrocm_array_compare_bf16(COMPARE_VECTORS) { compare_vectors<BF16>(COMPARED); }

// The dtype stands for its size.
template <u32 DTYPE> struct SelectGroups {
    static constexpr int V = 16 / bytes_of(DTYPE), GROUPS = 2;
    const void *c, *a, *b;
    void *out;
    Plane plane;
    i32 c_row, a_row, b_row;
    u32 c_step, a_step, b_step;

    METHOD void groups(const u32 (&at)[GROUPS], u32 valid) const {
        Bits<16> left[GROUPS], right[GROUPS];
        Bits<V> which[GROUPS];
        const Places<GROUPS> places = plane.places(at);
        load_groups<BOOL, V>(which, c, places, c_row, c_step);
        load_groups<DTYPE, V>(left, a, places, a_row, a_step);
        load_groups<DTYPE, V>(right, b, places, b_row, b_step);
        spread<BOOL, V>(which, c_step);
        spread<DTYPE, V>(left, a_step);
        spread<DTYPE, V>(right, b_step);
        UNROLL for (u32 j = 0; j < GROUPS; j++) {
            Bits<16> made;
            UNROLL for (int w = 0; w < 4; w++) {
                u32 mask = 0;
                UNROLL for (int i = 0; i < V / 4; i++)
                    mask |= bits_in<BOOL>(which[j], w * V / 4 + i) ? (DTYPE == F32 ? ~0u : 0xffffu << 16 * i) : 0;
                made.words[w] = (left[j].words[w] & mask) | (right[j].words[w] & ~mask);
            }
            if (j < valid) store_group((u8 *)out + (u64)at[j] * bytes_of(DTYPE), made);
        }
    }
    METHOD void one(u32 at) const {
        const bool holds = ((const u8 *)c)[plane.place(at, c_row, c_step)];
        const i64 from = holds ? plane.place(at, a_row, a_step) : plane.place(at, b_row, b_step);
        if (DTYPE == F32)
            ((u32 *)out)[at] = ((const u32 *)(holds ? a : b))[from];
        else
            ((u16 *)out)[at] = ((const u16 *)(holds ? a : b))[from];
    }
};
#define SELECT_VECTORS                                                                                       \
    const void *c, const void *a, const void *b, void *out, u32 count, u32 columns, PLANE_STEPS(c), PLANE_STEPS(a), \
        PLANE_STEPS(b)
template <u32 DTYPE> DEVICE void select_vectors(SELECT_VECTORS) {
    grid_dependency_launch();
    grid_dependency_wait();
    using Groups = SelectGroups<DTYPE>;
    const Groups groups{c, a, b, out, Plane{count, columns}, c_row, a_row, b_row, c_step, a_step, b_step};
    over_groups<Groups::V, Groups::GROUPS>(groups, count);
}
#define SELECTED c, a, b, out, count, columns, c_row, c_step, a_row, a_step, b_row, b_step
KERNEL(256) void mlxrocm_array_select_4(SELECT_VECTORS) { select_vectors<F32>(SELECTED); }
KERNEL(256) void mlxrocm_array_select_2(SELECT_VECTORS) { select_vectors<F16>(SELECTED); }
