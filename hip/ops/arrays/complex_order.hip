// Orders of complex numbers: by the real, then the imaginary part, zeros of both signs alike, behind all others those with a
// NaN, which are alike.
// complex_keys: out[i] = a whole number in the order of x[i], which the sorts and searches of 64-bit numbers take.
//
// Launch: 256 threads, a thread an element; x and out lie row after row.
#include "complex.h"

DEVICE u32 key_of_part(f32 x) {
    const u32 raw = f32_bits(x == 0.0f ? 0.0f : x);
    return raw >> 31 ? ~raw : raw | 0x80000000u;
}

KERNEL(256) void mlxrocm_array_complex_keys(const void *x, u64 *out, u32 count) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 i = block_x() * 256 + thread_x();
    if (i >= count) return;
    const Complex z = load_complex(x, i);
    out[i] = is_nan(z) ? ~0ull : (u64)key_of_part(z.re) << 32 | key_of_part(z.im);
}
