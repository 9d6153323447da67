// Functions of each element of networks that follow each other: call i of `calls` takes numbers, elements of buffers or
// of constants (so many of them again and again), or results of earlier calls; results that others read are
// stored. What lies between stays in shared memory.
//
// A call is CALL_WORDS words: function, 1 if it stores (2: f32 numbers, whatever T is), where (number in the arena of the first item, low and high
// word), numbers of an item there; then two sides: kind, cycle, first (low and high word: number in the arena or in the
// constants), numbers of an item, the number itself or which earlier call.
//
// Launch: 256 threads, an element each; grid (count / 256, items), rounded up. `long` (NVIDIA): LONG_EACH elements each,
// which takes fewer instructions, of up to LONG_CALLS calls.
#include "ops/network/numbers.h"

#define CALL_WORDS 17
#define SIDE_WORDS 6
#define MOST_CALLS 24
#define LONG_CALLS 4
#define LONG_EACH 4

// WIDE: elements of a buffer of f32 numbers; its place in the arena counts such.
enum Kind : u32 { NUMBER = 0, CONSTANTS = 1, ELEMENTS = 2, MADE = 3, WIDE = 4 };
enum Function : u32 { ADD, SUBTRACT, MULTIPLY, DIVIDE, LARGER, SMALLER, EXP, EXPM1, NEGATIVE, LOGISTIC, SQUARE, TANGENT };

DEVICE u64 place(const u32 *words) { return words[0] | (u64)words[1] << 32; }

template <typename T> DEVICE f32 side(const u32 *words, const T *arena, const f32 *constants, const f32 *made, u32 at) {
    const u32 in_cycle = at % words[1];
    switch (words[0]) {
    case NUMBER: return bits_f32(words[5]);
    case CONSTANTS: return constants[place(words + 2) + in_cycle];
    case MADE: return made[words[5] * 256 + thread_x()];
    case WIDE: return ((const f32 *)arena)[place(words + 2) + (u64)block_y() * words[4] + in_cycle];
    default: return to_f32(arena[place(words + 2) + (u64)block_y() * words[4] + in_cycle]);
    }
}
DEVICE f32 apply(u32 function, f32 a, f32 b) {
    switch (function) {
    case ADD: return a + b;
    case SUBTRACT: return a - b;
    case MULTIPLY: return a * b;
    case DIVIDE: return a / b;
    case LARGER: return a > b || a != a ? a : b;
    case SMALLER: return a < b || a != a ? a : b;
    case EXP: return fast_exp(a);
    case EXPM1: return absolute(a) < 0.0625f ? exp_minus_one(a) : fast_exp(a) - 1.0f;
    case NEGATIVE: return -a;
    case LOGISTIC: return sigmoid(a);
    case SQUARE: return a * a;
    default: return fast_tanh(a);
    }
}
template <typename T> DEVICE void chain(T *arena, const f32 *constants, const u32 *calls, u32 call_count, u32 count, f32 *made) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 at = block_x() * 256 + thread_x();
    if (at >= count) return;
    for (u32 i = 0; i < call_count; i++) {
        const u32 *words = calls + i * CALL_WORDS;
        const f32 a = side<T>(words + 5, arena, constants, made, at);
        const f32 b = side<T>(words + 5 + SIDE_WORDS, arena, constants, made, at);
        const f32 result = apply(words[0], a, b);
        made[i * 256 + thread_x()] = result;
        const u64 to = place(words + 2) + (u64)block_y() * words[4] + at;
        if (words[1] == 1) put(arena + to, result);
        if (words[1] == 2) ((f32 *)arena)[to] = result;
    }
}
#define CHAIN_KERNEL(NAME, T, OF, CALLS)                                                                 \
    KERNEL(256) void NAME(T *arena, const f32 *constants, const u32 *calls, u32 call_count, u32 count) { \
        SHARED f32 made[CALLS * 256];                                                                    \
        OF<T>(arena, constants, calls, call_count, count, made);                                         \
    }
CHAIN_KERNEL(mlxrocm_network_chain_f16, f16, chain, MOST_CALLS)
CHAIN_KERNEL(mlxrocm_network_chain_f32, f32, chain, MOST_CALLS)

#if PLATFORM_NVIDIA
// What a call has on one side for LONG_EACH elements, 256 apart.
template <typename T>
DEVICE void sides(const u32 *words, const T *arena, const f32 *constants, const f32 *made, u32 at, u32 count, f32 *v) {
    const u32 cycle = words[1], of = words[5];
    const u64 first = place(words + 2);
    u32 in_cycle[LONG_EACH];
    UNROLL for (u32 i = 0; i < LONG_EACH; i++) {
        const u32 element = minimum(at + i * 256, count - 1);
        in_cycle[i] = cycle >= count ? element : element % cycle;
    }
    switch (words[0]) {
    case NUMBER:
        UNROLL for (u32 i = 0; i < LONG_EACH; i++) v[i] = bits_f32(of);
        break;
    case CONSTANTS:
        UNROLL for (u32 i = 0; i < LONG_EACH; i++) v[i] = constants[first + in_cycle[i]];
        break;
    case MADE:
        UNROLL for (u32 i = 0; i < LONG_EACH; i++) v[i] = made[(of * LONG_EACH + i) * 256 + thread_x()];
        break;
    case WIDE:
        UNROLL for (u32 i = 0; i < LONG_EACH; i++)
            v[i] = ((const f32 *)arena)[first + (u64)block_y() * words[4] + in_cycle[i]];
        break;
    default:
        UNROLL for (u32 i = 0; i < LONG_EACH; i++) v[i] = to_f32(arena[first + (u64)block_y() * words[4] + in_cycle[i]]);
    }
}
template <typename T>
DEVICE void long_chain(T *arena, const f32 *constants, const u32 *calls, u32 call_count, u32 count, f32 *made) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 at = block_x() * (256 * LONG_EACH) + thread_x();
    if (at >= count) return;
    for (u32 call = 0; call < call_count; call++) {
        const u32 *words = calls + call * CALL_WORDS;
        f32 a[LONG_EACH], b[LONG_EACH];
        sides<T>(words + 5, arena, constants, made, at, count, a);
        sides<T>(words + 5 + SIDE_WORDS, arena, constants, made, at, count, b);
        const u64 to = place(words + 2) + (u64)block_y() * words[4];
        const u32 function = words[0], stores = words[1];
        UNROLL for (u32 i = 0; i < LONG_EACH; i++) {
            const f32 result = apply(function, a[i], b[i]);
            made[(call * LONG_EACH + i) * 256 + thread_x()] = result;
            if (at + i * 256 >= count) continue;
            if (stores == 1) put(arena + to + at + i * 256, result);
            if (stores == 2) ((f32 *)arena)[to + at + i * 256] = result;
        }
    }
}
CHAIN_KERNEL(mlxrocm_network_chain_long_f16, f16, long_chain, LONG_CALLS *LONG_EACH)
CHAIN_KERNEL(mlxrocm_network_chain_long_f32, f32, long_chain, LONG_CALLS *LONG_EACH)
#endif
