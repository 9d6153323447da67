// Functions of each element of networks that follow each other: call i of `calls` takes numbers, elements of buffers or
// of constants (so many of them again and again), or results of earlier calls; results that others read are
// stored. What lies between stays in shared memory.
//
// A call is CALL_WORDS words: function, 1 if it stores, where (number in the arena of the first item, low and high
// word), numbers of an item there; then two sides: kind, cycle, first (low and high word: number in the arena or in the
// constants), numbers of an item, the number itself or which earlier call.
//
// Launch: CHAIN_THREADS threads, EACH elements each; grid (count / (EACH · CHAIN_THREADS), items), rounded up.
#include "ops/network/numbers.h"

#define CALL_WORDS 17
#define SIDE_WORDS 6
#define MOST_CALLS 24
#define CHAIN_THREADS 64
#define EACH 4

enum Kind : u32 { NUMBER = 0, CONSTANTS = 1, ELEMENTS = 2, MADE = 3 };
enum Function : u32 { ADD, SUBTRACT, MULTIPLY, DIVIDE, LARGER, SMALLER, EXP, EXPM1, NEGATIVE, LOGISTIC, SQUARE, TANGENT };

DEVICE u64 place(const u32 *words) { return words[0] | (u64)words[1] << 32; }

// What a call has on one side for this thread's elements.
template <typename T>
DEVICE void side(const u32 *words, const T *arena, const f32 *constants, const f32 *made, u32 at, u32 count, f32 *v) {
    const u32 kind = words[0], cycle = words[1], of = words[5];
    const u64 first = place(words + 2) + (kind == ELEMENTS ? (u64)block_y() * words[4] : 0);
    UNROLL for (u32 i = 0; i < EACH; i++) {
        const u32 element = minimum(at + i * CHAIN_THREADS, count - 1), in_cycle = cycle >= count ? element : element % cycle;
        switch (kind) {
        case NUMBER: v[i] = bits_f32(of); break;
        case CONSTANTS: v[i] = constants[first + in_cycle]; break;
        case MADE: v[i] = made[(of * EACH + i) * CHAIN_THREADS + thread_x()]; break;
        default: v[i] = to_f32(arena[first + in_cycle]);
        }
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
    const u32 at = block_x() * (EACH * CHAIN_THREADS) + thread_x();
    if (at >= count) return;
    for (u32 call = 0; call < call_count; call++) {
        const u32 *words = calls + call * CALL_WORDS;
        f32 a[EACH], b[EACH];
        side<T>(words + 5, arena, constants, made, at, count, a);
        side<T>(words + 5 + SIDE_WORDS, arena, constants, made, at, count, b);
        T *const to = words[1] ? arena + place(words + 2) + (u64)block_y() * words[4] : nullptr;
        const u32 function = words[0];
        UNROLL for (u32 i = 0; i < EACH; i++) {
            const f32 result = apply(function, a[i], b[i]);
            made[(call * EACH + i) * CHAIN_THREADS + thread_x()] = result;
            if (to && at + i * CHAIN_THREADS < count) put(to + at + i * CHAIN_THREADS, result);
        }
    }
}
#define CHAIN_KERNEL(NAME, T)                                                                                   \
    KERNEL(CHAIN_THREADS) void NAME(T *arena, const f32 *constants, const u32 *calls, u32 call_count, u32 count) { \
        SHARED f32 made[MOST_CALLS * EACH * CHAIN_THREADS];                                                                      \
        chain<T>(arena, constants, calls, call_count, count, made);                                             \
    }
CHAIN_KERNEL(mlxrocm_network_chain_f16, f16)
CHAIN_KERNEL(mlxrocm_network_chain_f32, f32)
