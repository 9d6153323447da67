// The functions of single elements, by their numbers (src/gpu/arrays/numbers.rs). Kernels that know a function when they
// are compiled (vectors.h, generated chains) call the same with a constant. 16-bit numbers are computed in f32, whole
// numbers in 64 bits. Whether a product is fused with a sum is written out where it shows, here and in functions.h: a
// function has the same bits alone and in a chain, whoever compiles it.
#pragma once

#include "dtype.h"
#include "functions.h"

enum UnaryFunction {
    ABS, ACOS, ACOSH, ASIN, ASINH, ATAN, ATANH, INVERT, CEIL, COS, COSH, ERF, EXP, EXPM1, FLOOR, LOG, LOG2, LOG10, LOG1P,
    NOT, NEGATIVE, ROUND, RSQRT, SIGMOID, SIGN, SIN, SINH, SQRT, SQUARE, TAN, TANH, CAST
};
enum BinaryFunction {
    ADD, ATAN2, AND, OR, XOR, LEFT, RIGHT, DIVIDE, FLOOR_DIVIDE, EQUAL, NAN_EQUAL, GREATER, GREATER_EQUAL, LESS,
    LESS_EQUAL, LOG_ADD_EXP, LOGICAL_AND, LOGICAL_OR, MAXIMUM, MINIMUM, MULTIPLY, NOT_EQUAL, POWER, REMAINDER, SUBTRACT
};

DEVICE f32 unary_float(u32 function, f32 x, u32 dtype) {
    switch (function) {
    case ABS: return absolute(x);
    case ACOS: return exact_acos(x);
    case ACOSH: return exact_acosh(x);
    case ASIN: return exact_asin(x);
    case ASINH: return exact_asinh(x);
    case ATAN: return exact_atan(x);
    case ATANH: return exact_atanh(x);
    case CEIL: return -round_down(-x);
    case COS: return dtype == F32 ? exact_sin(x, 1) : brief_sin(x, 1, dtype == BF16);
    case COSH: return exact_cosh(x);
    case ERF: return dtype == F32 ? exact_erf(x) : brief_erf(x);
    case EXP: return dtype == F32 ? exact_exp(x) : brief_exp(x);
    case EXPM1: return exact_expm1(x);
    case FLOOR: return round_down(x);
    case LOG: return dtype == F32 ? exact_log(x) : brief_log(x);
    case LOG2: return exact_log2(x);
    case LOG10: return exact_log10(x);
    case LOG1P: return exact_log1p(x);
    case NEGATIVE: return -x;
    case ROUND: return round_even(x);
    case RSQRT: return dtype == F32 ? exact_rsqrt(x) : brief_rsqrt(x);
    case SIGMOID: return dtype == F32 ? exact_sigmoid(x) : brief_sigmoid(x);
    case SIGN: return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : 0.0f;
    case SIN: return dtype == F32 ? exact_sin(x, 0) : brief_sin(x, 0, dtype == BF16);
    case SINH: return exact_sinh(x);
    case SQRT: return exact_sqrt(x);
    case SQUARE: return product(x, x);
    case TAN: return exact_tan(x);
    case TANH: return dtype == F32 ? exact_tanh(x) : brief_tanh(x);
    default: return x;
    }
}
DEVICE i64 unary_whole(u32 function, i64 x, u32 dtype) {
    const bool is_signed = dtype >= I8;
    switch (function) {
    case ABS: return is_signed && x < 0 ? (i64)(0 - (u64)x) : x;
    case INVERT: return dtype == BOOL ? !x : ~x;
    case NEGATIVE: return (i64)(0 - (u64)x);
    case SIGN: return x == 0 ? 0 : is_signed && x < 0 ? -1 : 1;
    case SQUARE: return (i64)((u64)x * (u64)x);
    default: return x;
    }
}

// NaN wins, as in MLX; the platform's maximum and minimum drop it.
DEVICE f32 binary_float(u32 function, f32 a, f32 b, u32 dtype) {
    switch (function) {
    case ADD: return a + b;
    case ATAN2: return exact_atan2(a, b);
    case DIVIDE: return a / b;
    // The quotient is one of the dtype before it is rounded down.
    case FLOOR_DIVIDE: return round_down(dtype == F16 ? to_f32(to_f16(a / b)) : dtype == BF16 ? to_f32(nearest_bf16(a / b)) : a / b);
    case LOG_ADD_EXP: {
        if (is_nan(a) || is_nan(b)) return nan();
        const f32 most = maximum(a, b), least = minimum(a, b);
        if (least == -infinity() || most == infinity()) return most;
        return most + exact_log1p(exact_exp(least - most));
    }
    case MAXIMUM: return is_nan(a) || a > b ? a : b;
    case MINIMUM: return is_nan(a) || a < b ? a : b;
    case MULTIPLY: return product(a, b);
    case POWER: return exact_pow(a, b);
    case SUBTRACT: return a - b;
    // a - b · (quotient rounded down), exactly: what is left has b's sign.
    default: {
        if (!(absolute(a) < infinity()) || b == 0.0f || is_nan(b)) return nan();
        if (absolute(b) == infinity()) return a == 0.0f || (a < 0.0f) == (b < 0.0f) ? a : b;
        const f32 rest = exact_modulo(absolute(a), absolute(b));
        f32 result = a < 0.0f ? -rest : rest;
        if (result != 0.0f && (result < 0.0f) != (b < 0.0f)) result += b;
        return result;
    }
    }
}
DEVICE bool compare_float(u32 function, f32 a, f32 b) {
    switch (function) {
    case EQUAL: return a == b;
    case NOT_EQUAL: return !(a == b);
    case NAN_EQUAL: return a == b || (is_nan(a) && is_nan(b));
    case GREATER: return a > b;
    case GREATER_EQUAL: return a >= b;
    case LESS: return a < b;
    default: return a <= b;
    }
}
DEVICE bool is_less(i64 a, i64 b, u32 dtype) { return dtype == U64 ? (u64)a < (u64)b : a < b; }
DEVICE bool compare_whole(u32 function, i64 a, i64 b, u32 dtype) {
    switch (function) {
    case EQUAL:
    case NAN_EQUAL: return a == b;
    case NOT_EQUAL: return a != b;
    case GREATER: return is_less(b, a, dtype);
    case GREATER_EQUAL: return !is_less(a, b, dtype);
    case LESS: return is_less(a, b, dtype);
    case LOGICAL_AND: return a && b;
    case LOGICAL_OR: return a || b;
    default: return !is_less(b, a, dtype);
    }
}
DEVICE i64 power_whole(i64 a, i64 b, bool is_signed) {
    if (is_signed && b < 0) return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
    u64 power = 1, base = (u64)a;
    for (u64 left = (u64)b; left; left >>= 1, base *= base)
        if (left & 1) power *= base;
    return (i64)power;
}
DEVICE i64 binary_whole(u32 function, i64 a, i64 b, u32 dtype) {
    const bool is_signed = dtype >= I8;
    const u32 bits = size_of(dtype) * 8;
    switch (function) {
    case ADD: return (i64)((u64)a + (u64)b);
    case AND: return a & b;
    case OR: return a | b;
    case XOR: return a ^ b;
    // By as many bits as there are, or more: nothing is left but the sign.
    case LEFT: return (u64)b < bits ? (i64)((u64)a << b) : 0;
    case RIGHT: return (u64)b < bits ? (is_signed ? a >> b : (i64)((u64)a >> b)) : is_signed && a < 0 ? -1 : 0;
    case MAXIMUM: return is_less(a, b, dtype) ? b : a;
    case MINIMUM: return is_less(b, a, dtype) ? b : a;
    case MULTIPLY: return (i64)((u64)a * (u64)b);
    case POWER: return power_whole(a, b, is_signed);
    case SUBTRACT: return (i64)((u64)a - (u64)b);
    default: {
        const bool wants_rest = function == REMAINDER;
        if (b == 0) return 0;
        if (!is_signed) return (i64)(wants_rest ? (u64)a % (u64)b : (u64)a / (u64)b);
        // The least number over -1 wraps.
        if (b == -1) return wants_rest ? 0 : (i64)(0 - (u64)a);
        const i64 quotient = a / b, rest = a - quotient * b;
        const bool is_off = rest != 0 && (rest < 0) != (b < 0);
        return wants_rest ? rest + (is_off ? b : 0) : quotient - is_off;
    }
    }
}
