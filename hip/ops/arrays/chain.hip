// What generated chains of elementwise operations are made of (src/gpu/arrays/chains/source.rs puts a kernel behind this
// file's text before its kernel): each operation with its dtypes, rounded to its dtype as if it had been stored.
// full: out[i] = x[0], 16 bytes at a time, of elements of 1, 2, 4 or 8 bytes.
//
// Launch: full: 256 threads, a block 1024 units of 16 bytes; `rest` bytes behind them are written byte by byte.
#include "vectors.h"

DEVICE constexpr bool floats(u32 dtype) { return dtype >= F16; }
// As if it had been stored and loaded.
template <u32 DTYPE> DEVICE f32 rounded(f32 x) {
    if constexpr (DTYPE == F16) return to_f32(to_f16(x));
    if constexpr (DTYPE == BF16) return to_f32(nearest_bf16(x));
    return x;
}
template <u32 DTYPE> DEVICE i64 rounded(i64 x) {
    if constexpr (DTYPE == BOOL) return x != 0;
    if constexpr (DTYPE == U8) return (u8)x;
    if constexpr (DTYPE == U16) return (u16)x;
    if constexpr (DTYPE == U32) return (u32)x;
    if constexpr (DTYPE == I8) return (i8)x;
    if constexpr (DTYPE == I16) return (i16)x;
    if constexpr (DTYPE == I32) return (i32)x;
    return x;
}
template <u32 FUNCTION, u32 FROM, u32 TO, typename T> DEVICE auto unary_of(T x) {
    if constexpr (floats(FROM)) {
        const f32 value = unary_float(FUNCTION, x, FROM);
        if constexpr (floats(TO))
            return rounded<TO>(value);
        else if constexpr (TO == BOOL)
            return (i64)((value != 0.0f) != (FUNCTION == NOT));
        else
            return rounded<TO>(whole_of(value, TO));
    } else {
        const i64 value = unary_whole(FUNCTION, x, FROM);
        if constexpr (floats(TO))
            return rounded<TO>(float_of(value, FROM));
        else
            return rounded<TO>(FUNCTION == NOT ? (i64)(value == 0) : value);
    }
}
template <u32 FUNCTION, u32 FROM, u32 TO, typename T> DEVICE auto binary_of(T a, T b) {
    if constexpr (floats(FROM)) {
        if constexpr (TO == BOOL)
            return (i64)compare_float(FUNCTION, a, b);
        else
            return rounded<TO>(binary_float(FUNCTION, a, b, FROM));
    } else if constexpr (TO == BOOL && (FROM != BOOL || (FUNCTION >= EQUAL && FUNCTION <= LOGICAL_OR) || FUNCTION == NOT_EQUAL))
        return (i64)compare_whole(FUNCTION, a, b, FROM);
    else
        return rounded<TO>(binary_whole(FUNCTION, a, b, FROM));
}
template <u32 DTYPE> DEVICE auto element_in(u64 bits) {
    if constexpr (floats(DTYPE))
        return float_in(bits, DTYPE);
    else
        return whole_in(bits, DTYPE);
}
template <u32 DTYPE> DEVICE u64 element_at(const void *x, i64 at) {
    constexpr u32 SIZE = DTYPE == U64 || DTYPE == I64 ? 8 : bytes_of(DTYPE);
    if constexpr (SIZE == 1) return ((const u8 *)x)[at];
    if constexpr (SIZE == 2) return ((const u16 *)x)[at];
    if constexpr (SIZE == 4) return ((const u32 *)x)[at];
    return ((const u64 *)x)[at];
}
template <u32 DTYPE> DEVICE void store_element(void *out, u32 at, f32 value) { store_float(out, at, DTYPE, value); }
template <u32 DTYPE> DEVICE void store_element(void *out, u32 at, i64 value) { store_whole(out, at, DTYPE, value); }
template <u32 DTYPE, int V> DEVICE void store_elements(void *out, u32 at, const f32 (&values)[V]) {
    store_numbers<DTYPE>(out, at, values);
}
template <u32 DTYPE, int V> DEVICE void store_elements(void *out, u32 at, const i64 (&values)[V]) {
    constexpr int SIZE = bytes_of(DTYPE), EACH = 4 / SIZE;
    Bits<V * SIZE> bits;
    UNROLL for (int w = 0; w < V / EACH; w++) {
        bits.words[w] = 0;
        UNROLL for (int i = 0; i < EACH; i++)
            bits.words[w] |= ((u32)values[w * EACH + i] & (SIZE == 4 ? ~0u : (1u << SIZE * 8 % 32) - 1)) << i * SIZE * 8 % 32;
    }
    store_group((u8 *)out + (u64)at * SIZE, bits);
}

// Generated kernels come before this line.
KERNEL(256) void mlxrocm_array_full(const void *x, void *out, u32 units, u32 rest, u32 size) {
    grid_dependency_launch();
    grid_dependency_wait();
    const i64 at[1] = {0};
    u64 bits[1];
    load_bits(x, at, size, bits);
    u64 pattern = bits[0];
    if (size == 1) pattern *= 0x0101010101010101ull;
    if (size == 2) pattern *= 0x0001000100010001ull;
    if (size == 4) pattern |= pattern << 32;
    const u32x4 unit{(u32)pattern, (u32)(pattern >> 32), (u32)pattern, (u32)(pattern >> 32)};
    const u32 first = block_x() * 1024 + thread_x();
    UNROLL for (u32 j = 0; j < 4; j++)
        if (first + j * 256 < units) store16((u8 *)out + (u64)(first + j * 256) * 16, unit);
    if (block_x() == 0 && thread_x() < rest)
        ((u8 *)out)[(u64)units * 16 + thread_x()] = (u8)(pattern >> (thread_x() % 8 * 8));
}
