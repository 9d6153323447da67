// The Walsh-Hadamard transform of rows of odd · 2^k numbers, odd = 1, 12, 20 or 28, times `scale`; every step rounds to the
// dtype. First butterflies over the 2^k neighbours, then the rows of a Hadamard matrix over the others (a bit for each +1,
// the first column highest; Sloane's had.12, had.20.will and had.28.will).
//
// Launch: 256 threads, a block a row of up to 8,192 numbers in shared memory.
#include "dtype.h"

#define MOST 8192

CONSTANT_TABLE u32 H12[12] = {0xbff, 0x2aa, 0xec3, 0x896, 0xfb0, 0xa25, 0xcec, 0x989, 0xc3b, 0x962, 0xf0e, 0xa58};
CONSTANT_TABLE u32 H20[20] = {0x84336, 0x4238b, 0x211d5, 0x108fa, 0x0866d, 0x7c139, 0xba29c, 0xd914e, 0xe88a7, 0xf0653,
                              0x35a0f, 0x1ad17, 0x8d49b, 0xc685d, 0x6343e, 0x49a10, 0xa0d08, 0x54484, 0x2e042, 0x93021};
CONSTANT_TABLE u32 H28[28] = {0x818694c, 0x41c14a6, 0x20e2a13, 0x1071549, 0x0838ae4, 0x041e532, 0x030d299,
                              0x3d019d2, 0x1e82ca9, 0x8e43654, 0xc621b2a, 0xe210d95, 0xf00a6ca, 0x7807325,
                              0x5b3201e, 0xac9900f, 0x564c847, 0xab24463, 0xd590271, 0x6ac8178, 0xb4640bc,
                              0x66b70c0, 0xb35b820, 0xd8adc10, 0x6d54e08, 0x37a8704, 0x9ad4382, 0xcd6a181};

DEVICE f32 round_to(f32 x, u32 dtype) { return dtype == F16 ? to_f32(to_f16(x)) : dtype == BF16 ? to_f32(to_bf16(x)) : x; }

KERNEL(256) void mlxrocm_array_hadamard(const void *x, void *out, u32 columns, u32 odd, u32 dtype, f32 scale) {
    SHARED f32 row[MOST];
    grid_dependency_launch();
    grid_dependency_wait();
    const i64 first = (i64)block_x() * columns;
    const u32 even = columns / odd;
    for (u32 i = thread_x(); i < columns; i += 256) row[i] = load_float(x, first + i, dtype);
    for (u32 half = 1; half < even; half *= 2) {
        barrier();
        for (u32 pair = thread_x(); pair < columns / 2; pair += 256) {
            const u32 low = pair / half * 2 * half + pair % half;
            const f32 a = row[low], b = row[low + half];
            row[low] = round_to(a + b, dtype), row[low + half] = round_to(a - b, dtype);
        }
    }
    barrier();
    for (u32 i = thread_x(); i < columns; i += 256) {
        f32 sum = row[i];
        if (odd > 1) {
            const u32 line = i / even, column = i % even;
            const u32 signs = odd == 12 ? H12[line] : odd == 20 ? H20[line] : H28[line];
            sum = 0.0f;
            for (u32 k = 0; k < odd; k++) {
                const f32 value = row[k * even + column];
                sum += signs >> (odd - 1 - k) & 1 ? value : -value;
            }
        }
        store_float(out, first + i, dtype, product(sum, scale));
    }
}
