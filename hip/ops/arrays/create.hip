// arange: out[i] = start + i · step, whole numbers in 64 bits, others in f64 and rounded once.
// random_bits: words of Threefry-2x32 (20 rounds) of keys of two words each: of a key's n words, i and i + ceil(n / 2) are
//   those of the counters i and i + ceil(n / 2); the one in the middle of an odd n has no partner, and 0 for it. A key's words
//   fill `bytes` bytes of out.
// erf_inverse: by M. Giles' polynomials (Approximating the erfinv function, 2012).
//
// Launch: 256 threads, a thread an element (random_bits: a pair of words).
#include "dtype.h"
#include "functions.h"

KERNEL(256) void mlxrocm_array_arange(void *out, u32 count, u32 dtype, i64 start, i64 step, u64 start_bits, u64 step_bits) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 i = block_x() * 256 + thread_x();
    if (i >= count) return;
    if (!is_float(dtype)) {
        store_whole(out, i, dtype, (i64)((u64)start + i * (u64)step));
        return;
    }
    const f64 exact = __builtin_bit_cast(f64, start_bits) + (f64)i * __builtin_bit_cast(f64, step_bits);
    f32 value = (f32)exact;
    if (dtype != F32 && (f64)value != exact && value == value && absolute(value) < infinity()) {
        // Rounded to odd, so that it is rounded once in all.
        const bool is_over = absolute(value) > __builtin_fabs(exact);
        value = bits_f32((f32_bits(value) - is_over) | 1);
    }
    store_float(out, i, dtype, value);
}

DEVICE u32 turned(u32 x, u32 by) { return x << by | x >> (32 - by); }
DEVICE u32x2 threefry(u32 key0, u32 key1, u32 a, u32 b) {
    const u32 keys[3] = {key0, key1, key0 ^ key1 ^ 0x1bd11bdau};
    a += keys[0], b += keys[1];
    UNROLL for (u32 round = 0; round < 5; round++) {
        const u32 turns = round % 2 ? 0x18101d11u : 0x061a0f0du; // 17 29 16 24, 13 15 26 6
        UNROLL for (u32 i = 0; i < 4; i++) a += b, b = turned(b, turns >> (8 * i) & 255) ^ a;
        a += keys[(round + 1) % 3], b += keys[(round + 2) % 3] + round + 1;
    }
    return u32x2{a, b};
}
DEVICE void put_word(u8 *out, u64 first, u32 word, u32 i, u32 bytes) {
    u8 *to = out + first + (u64)i * 4;
    if (((u64)to & 3) == 0 && i * 4 + 4 <= bytes) {
        *(u32 *)to = word;
        return;
    }
    for (u32 b = 0; b < 4; b++)
        if (i * 4 + b < bytes) to[b] = (u8)(word >> (8 * b));
}
KERNEL(256) void mlxrocm_array_random_bits(const u32 *keys, u8 *out, u32 count, u32 bytes) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 words = divide_up(bytes, 4), pairs = divide_up(words, 2), at = block_x() * 256 + thread_x();
    if (at >= count) return;
    const u32 key = at / pairs, i = at % pairs, partner = i + pairs;
    const u32x2 made = threefry(keys[2 * key], keys[2 * key + 1], i, partner < words ? partner : 0);
    put_word(out, (u64)key * bytes, made.x, i, bytes);
    if (partner < words) put_word(out, (u64)key * bytes, made.y, partner, bytes);
}

DEVICE f32 erf_inverse(f32 x) {
    if (absolute(x) == 1.0f) return x * infinity();
    if (!(absolute(x) < 1.0f)) return nan();
    f32 w = -exact_log1p(-x * x), p;
    if (w < 5.0f) {
        w -= 2.5f;
        p = 2.81022636e-08f, p = mul_add(p, w, 3.43273939e-07f), p = mul_add(p, w, -3.5233877e-06f);
        p = mul_add(p, w, -4.39150654e-06f), p = mul_add(p, w, 0.00021858087f), p = mul_add(p, w, -0.00125372503f);
        p = mul_add(p, w, -0.00417768164f), p = mul_add(p, w, 0.246640727f), p = mul_add(p, w, 1.50140941f);
    } else {
        w = exact_sqrt(w) - 3.0f;
        p = -0.000200214257f, p = mul_add(p, w, 0.000100950558f), p = mul_add(p, w, 0.00134934322f);
        p = mul_add(p, w, -0.00367342844f), p = mul_add(p, w, 0.00573950773f), p = mul_add(p, w, -0.0076224613f);
        p = mul_add(p, w, 0.00943887047f), p = mul_add(p, w, 1.00167406f), p = mul_add(p, w, 2.83297682f);
    }
    return p * x;
}
KERNEL(256) void mlxrocm_array_erf_inverse(const void *x, void *out, u32 count, u32 dtype) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 i = block_x() * 256 + thread_x();
    if (i < count) store_float(out, i, dtype, erf_inverse(load_float(x, i, dtype)));
}
