// Functions of each element of networks that follow each other: call i of `calls` takes numbers, elements of buffers or
// of constants (so many of them again and again), or results of earlier calls; results that others read are
// stored. What lies between stays in shared memory.
//
// A call is CALL_WORDS words: function, 1 if it stores, where (number in the arena of the first item, low and high
// word), numbers of an item there; then two sides: kind, cycle, first (low and high word: number in the arena or in the
// constants), numbers of an item, the number itself or which earlier call.
//
// Launch: 256 threads, an element each; grid (count / 256, items), rounded up.
#include "ops/network/numbers.h"

#define CALL_WORDS 17
#define SIDE_WORDS 6
#define MOST_CALLS 24

enum Kind : u32 { NUMBER = 0, CONSTANTS = 1, ELEMENTS = 2, MADE = 3 };
enum Function : u32 { ADD, SUBTRACT, MULTIPLY, DIVIDE, LARGER, SMALLER, EXP, EXPM1, NEGATIVE, LOGISTIC, SQUARE, TANGENT };

DEVICE u64 place(const u32 *words) { return words[0] | (u64)words[1] << 32; }

template <typename T> DEVICE f32 side(const u32 *words, const T *arena, const f32 *constants, const f32 *made, u32 at) {
    const u32 in_cycle = at % words[1];
    switch (words[0]) {
    case NUMBER: return bits_f32(words[5]);
    case CONSTANTS: return constants[place(words + 2) + in_cycle];
    case MADE: return made[words[5] * 256 + thread_x()];
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
        if (words[1]) put(arena + place(words + 2) + (u64)block_y() * words[4] + at, result);
    }
}
#define CHAIN_KERNEL(NAME, T)                                                                                   \
    KERNEL(256) void NAME(T *arena, const f32 *constants, const u32 *calls, u32 call_count, u32 count) { \
        SHARED f32 made[MOST_CALLS * 256];                                                                      \
        chain<T>(arena, constants, calls, call_count, count, made);                                             \
    }
CHAIN_KERNEL(mlxrocm_network_chain_f16, f16)
CHAIN_KERNEL(mlxrocm_network_chain_f32, f32)
