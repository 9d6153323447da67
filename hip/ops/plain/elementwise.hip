// out[i] = f(a[i]) and out[i] = f(a[i], b[i]): operations of a graph that no rule has fused, f32. Which
// function is a number, the same for the whole launch: a branch that all lanes take alike.
//
// Launch: 256 threads, blocks of 1024 numbers each; arrays lie row after row. out may be a or b.
#include "common/log_add_exp.h"
#include "ops/arrays/functions.h"

enum UnaryFunction { ABS, NEGATIVE, SQUARE, SQRT, RSQRT, EXP, LOG, SIGMOID, TANH, EXPM1, ERF, FLOOR, LOG1P, FROM_I32 };
enum BinaryFunction { ADD, SUBTRACT, MULTIPLY, DIVIDE, MAXIMUM, MINIMUM, LOG_ADD_EXP };

DEVICE f32 unary(u32 function, f32 x) {
    switch (function) {
    case ABS: return absolute(x);
    case NEGATIVE: return -x;
    case SQUARE: return x * x;
    case SQRT: return fast_sqrt(x);
    case RSQRT: return fast_rsqrt(x);
    case EXP: return fast_exp(x);
    case LOG: return fast_log(x);
    case SIGMOID: return sigmoid(x);
    case TANH: return fast_tanh(x);
    case EXPM1: return exact_expm1(x);
    case ERF: return exact_erf(x);
    case FLOOR: return round_down(x);
    case LOG1P: return exact_log1p(x);
    // The bits of an i32.
    default: return (f32)(i32)f32_bits(x);
    }
}

// NaN wins, as in MLX; the platform's maximum and minimum drop it.
DEVICE f32 binary(u32 function, f32 a, f32 b) {
    switch (function) {
    case ADD: return a + b;
    case SUBTRACT: return a - b;
    case MULTIPLY: return a * b;
    case DIVIDE: return a / b;
    case MAXIMUM: return a != a ? a : b != b ? b : maximum(a, b);
    case MINIMUM: return a != a ? a : b != b ? b : minimum(a, b);
    // Equal infinities are their own sum.
    default: return a != a ? a : b != b ? b : a == b ? a + 0.693147180559945309417f : log_add_exp(a, b);
    }
}

KERNEL(256) void mlxrocm_unary_f32(const f32 *a, f32 *out, u32 count, u32 function) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 first = block_x() * 1024 + thread_x();
    for (u32 i = first; i < first + 1024; i += 256)
        if (i < count) out[i] = unary(function, a[i]);
}

KERNEL(256) void mlxrocm_binary_f32(const f32 *a, const f32 *b, f32 *out, u32 count, u32 function) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 first = block_x() * 1024 + thread_x();
    for (u32 i = first; i < first + 1024; i += 256)
        if (i < count) out[i] = binary(function, a[i], b[i]);
}
