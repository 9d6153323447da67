//! Made by bindings/generate.py from include/mlxrocm.json. Do not edit.

const c = @import("c.zig").c;
const errors = @import("errors.zig");
const array = @import("array.zig");
const Array = array.Array;
const DType = array.DType;
const Error = errors.Error;
const check = errors.check;

/// Absolute value of each element; of complex ones the modulus, as float32.
pub fn abs(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_abs(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Inverse cosine of each element.
pub fn arccos(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_arccos(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Inverse hyperbolic cosine of each element.
pub fn arccosh(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_arccosh(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Inverse sine of each element.
pub fn arcsin(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_arcsin(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Inverse hyperbolic sine of each element.
pub fn arcsinh(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_arcsinh(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Inverse tangent of each element.
pub fn arctan(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_arctan(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Inverse hyperbolic tangent of each element.
pub fn arctanh(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_arctanh(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Each bit of integers or truth values turned round.
pub fn bitwiseInvert(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_bitwise_invert(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Each element rounded up.
pub fn ceil(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_ceil(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Complex conjugate of each element.
pub fn conjugate(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_conjugate(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Cosine of each element.
pub fn cos(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_cos(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Hyperbolic cosine of each element.
pub fn cosh(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_cosh(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Error function of each element.
pub fn erf(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_erf(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Inverse of the error function of each element.
pub fn erfinv(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_erfinv(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Exponential of each element.
pub fn exp(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_exp(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Exponential minus one of each element, exact near 0.
pub fn expm1(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_expm1(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Each element rounded down.
pub fn floor(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_floor(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Imaginary part of each element; zeros of real ones.
pub fn imag(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_imag(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Natural logarithm of each element.
pub fn log(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_log(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Logarithm to base 2 of each element.
pub fn log2(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_log2(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Logarithm to base 10 of each element.
pub fn log10(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_log10(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Logarithm of one plus each element, exact near 0.
pub fn log1p(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_log1p(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Whether each element is 0.
pub fn logicalNot(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_logical_not(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// The negative of each element; not of truth values.
pub fn negative(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_negative(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Real part of each element.
pub fn real(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_real(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// One by the square root of each element.
pub fn rsqrt(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_rsqrt(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// 1 / (1 + exp(-x)) of each element.
pub fn sigmoid(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_sigmoid(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// -1, 0 or 1 by the sign of each element; of complex ones x / |x|.
pub fn sign(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_sign(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Sine of each element.
pub fn sin(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_sin(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Hyperbolic sine of each element.
pub fn sinh(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_sinh(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Square root of each element.
pub fn sqrt(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_sqrt(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Square of each element.
pub fn square(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_square(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Tangent of each element.
pub fn tan(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_tan(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Hyperbolic tangent of each element.
pub fn tanh(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_tanh(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Radians as degrees.
pub fn degrees(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_degrees(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Degrees as radians.
pub fn radians(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_radians(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// One by each element.
pub fn reciprocal(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_reciprocal(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Each element rounded to decimals, halves to the even neighbour.
pub fn round(x_: Array, decimals_: i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_round(x_.handle, decimals_, &result, &failure), failure);
    return .{ .handle = result };
}

/// Each element without its fraction.
pub fn trunc(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_trunc(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Whether each element is NaN.
pub fn isnan(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_isnan(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Whether each element is infinite.
pub fn isinf(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_isinf(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Whether each element is neither NaN nor infinite.
pub fn isfinite(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_isfinite(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Whether each element is plus infinity.
pub fn isposinf(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_isposinf(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Whether each element is minus infinity.
pub fn isneginf(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_isneginf(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Each element, with numbers for NaN and infinities.
pub fn nanToNum(x_: Array, nan_: f64, posinf_: f64, neginf_: f64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_nan_to_num(x_.handle, nan_, posinf_, neginf_, &result, &failure), failure);
    return .{ .handle = result };
}

/// The elements as another dtype: fractions are cut off, integers wrap, everything but 0 is true.
pub fn astype(x_: Array, dtype_: DType) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_astype(x_.handle, @intFromEnum(dtype_), &result, &failure), failure);
    return .{ .handle = result };
}

/// The same bytes as another dtype; the last axis grows or shrinks with the size of an element.
pub fn view(x_: Array, dtype_: DType) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_view(x_.handle, @intFromEnum(dtype_), &result, &failure), failure);
    return .{ .handle = result };
}

/// Sum.
pub fn add(a_: Array, b_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_add(a_.handle, b_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Angle of the point (b, a).
pub fn arctan2(a_: Array, b_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_arctan2(a_.handle, b_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// And of the bits of integers or truth values.
pub fn bitwiseAnd(a_: Array, b_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_bitwise_and(a_.handle, b_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Or of the bits of integers or truth values.
pub fn bitwiseOr(a_: Array, b_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_bitwise_or(a_.handle, b_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Exclusive or of the bits of integers or truth values.
pub fn bitwiseXor(a_: Array, b_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_bitwise_xor(a_.handle, b_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Bits of integers moved up by b; 0 beyond the dtype's bits.
pub fn leftShift(a_: Array, b_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_left_shift(a_.handle, b_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Bits of integers moved down by b; by more than the dtype's bits as by all of them.
pub fn rightShift(a_: Array, b_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_right_shift(a_.handle, b_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Quotient, a fraction.
pub fn divide(a_: Array, b_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_divide(a_.handle, b_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Quotient, rounded down, but of complex numbers. An integer by 0 is 0.
pub fn floorDivide(a_: Array, b_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_floor_divide(a_.handle, b_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Whether a = b.
pub fn equal(a_: Array, b_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_equal(a_.handle, b_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Whether a > b.
pub fn greater(a_: Array, b_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_greater(a_.handle, b_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Whether a >= b.
pub fn greaterEqual(a_: Array, b_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_greater_equal(a_.handle, b_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Whether a < b.
pub fn less(a_: Array, b_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_less(a_.handle, b_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Whether a <= b.
pub fn lessEqual(a_: Array, b_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_less_equal(a_.handle, b_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// log(exp(a) + exp(b)) without overflow.
pub fn logaddexp(a_: Array, b_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_logaddexp(a_.handle, b_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Whether both are not 0.
pub fn logicalAnd(a_: Array, b_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_logical_and(a_.handle, b_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Whether one is not 0.
pub fn logicalOr(a_: Array, b_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_logical_or(a_.handle, b_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// The larger; NaN if one is NaN.
pub fn maximum(a_: Array, b_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_maximum(a_.handle, b_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// The smaller; NaN if one is NaN.
pub fn minimum(a_: Array, b_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_minimum(a_.handle, b_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Product.
pub fn multiply(a_: Array, b_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_multiply(a_.handle, b_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Whether a and b differ.
pub fn notEqual(a_: Array, b_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_not_equal(a_.handle, b_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// a to the power of b. Integers to a negative power are 0, but 1 and -1.
pub fn power(a_: Array, b_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_power(a_.handle, b_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Remainder of the quotient rounded down: it has b's sign. An integer by 0 leaves 0.
pub fn remainder(a_: Array, b_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_remainder(a_.handle, b_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Difference.
pub fn subtract(a_: Array, b_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_subtract(a_.handle, b_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Whether one is 0 and the other is not.
pub fn logicalXor(a_: Array, b_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_logical_xor(a_.handle, b_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Quotient, rounded down, and remainder, with b's sign.
pub fn divmod(a_: Array, b_: Array) Error![2]Array {
    var results = [_]?*c.mlxrocm_array{null} ** 2;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_divmod(a_.handle, b_.handle, &results[0], &results[1], &failure), failure);
    return .{ .{ .handle = results[0] }, .{ .handle = results[1] } };
}

/// Elements of a where the condition is not 0, of b elsewhere.
pub fn where(condition_: Array, a_: Array, b_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_where(condition_.handle, a_.handle, b_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Elements between a minimum and a maximum.
pub fn clip(x_: Array, minimum_: ?Array, maximum_: ?Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_clip(x_.handle, if (minimum_) |given| given.handle else null, if (maximum_) |given| given.handle else null, &result, &failure), failure);
    return .{ .handle = result };
}

/// Whether |a - b| <= atol + rtol |b|; equal infinities are close.
pub fn isclose(a_: Array, b_: Array, rtol_: f64, atol_: f64, equal_nan_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_isclose(a_.handle, b_.handle, rtol_, atol_, @intFromBool(equal_nan_), &result, &failure), failure);
    return .{ .handle = result };
}

/// Whether all elements are close, as by isclose.
pub fn allclose(a_: Array, b_: Array, rtol_: f64, atol_: f64, equal_nan_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_allclose(a_.handle, b_.handle, rtol_, atol_, @intFromBool(equal_nan_), &result, &failure), failure);
    return .{ .handle = result };
}

/// Whether shapes and all elements are equal.
pub fn arrayEqual(a_: Array, b_: Array, equal_nan_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_array_equal(a_.handle, b_.handle, @intFromBool(equal_nan_), &result, &failure), failure);
    return .{ .handle = result };
}

/// The value, broadcast to a shape.
pub fn full(shape_: []const i64, value_: Array, dtype_: DType) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_full(shape_.ptr, shape_.len, value_.handle, @intFromEnum(dtype_), &result, &failure), failure);
    return .{ .handle = result };
}

/// Zeros.
pub fn zeros(shape_: []const i64, dtype_: DType) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_zeros(shape_.ptr, shape_.len, @intFromEnum(dtype_), &result, &failure), failure);
    return .{ .handle = result };
}

/// Ones.
pub fn ones(shape_: []const i64, dtype_: DType) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_ones(shape_.ptr, shape_.len, @intFromEnum(dtype_), &result, &failure), failure);
    return .{ .handle = result };
}

/// Zeros of the shape of an array, on its device.
pub fn zerosLike(x_: Array, dtype_: ?DType) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_zeros_like(x_.handle, if (dtype_) |given| @as(i64, @intFromEnum(given)) else -1, &result, &failure), failure);
    return .{ .handle = result };
}

/// Ones of the shape of an array, on its device.
pub fn onesLike(x_: Array, dtype_: ?DType) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_ones_like(x_.handle, if (dtype_) |given| @as(i64, @intFromEnum(given)) else -1, &result, &failure), failure);
    return .{ .handle = result };
}

/// The value, broadcast to the shape of an array, on its device.
pub fn fullLike(x_: Array, value_: Array, dtype_: ?DType) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_full_like(x_.handle, value_.handle, if (dtype_) |given| @as(i64, @intFromEnum(given)) else -1, &result, &failure), failure);
    return .{ .handle = result };
}

/// A scalar.
pub fn number(value_: f64, dtype_: DType) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_number(value_, @intFromEnum(dtype_), &result, &failure), failure);
    return .{ .handle = result };
}

/// Start, start + step and so on, before stop; not of truth values.
pub fn arange(start_: f64, stop_: f64, step_: f64, dtype_: DType) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_arange(start_, stop_, step_, @intFromEnum(dtype_), &result, &failure), failure);
    return .{ .handle = result };
}

/// Numbers from start to stop, evenly spaced.
pub fn linspace(start_: f64, stop_: f64, count_: i64, dtype_: DType) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_linspace(start_, stop_, count_, @intFromEnum(dtype_), &result, &failure), failure);
    return .{ .handle = result };
}

/// Ones on a diagonal of a matrix of zeros.
pub fn eye(n_: i64, m_: i64, k_: i64, dtype_: DType) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_eye(n_, m_, k_, @intFromEnum(dtype_), &result, &failure), failure);
    return .{ .handle = result };
}

/// The identity matrix.
pub fn identity(n_: i64, dtype_: DType) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_identity(n_, @intFromEnum(dtype_), &result, &failure), failure);
    return .{ .handle = result };
}

/// Ones on and below a diagonal, zeros above.
pub fn tri(n_: i64, m_: i64, k_: i64, dtype_: DType) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_tri(n_, m_, k_, @intFromEnum(dtype_), &result, &failure), failure);
    return .{ .handle = result };
}

/// The last two axes with zeros above a diagonal.
pub fn tril(x_: Array, k_: i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_tril(x_.handle, k_, &result, &failure), failure);
    return .{ .handle = result };
}

/// The last two axes with zeros below a diagonal.
pub fn triu(x_: Array, k_: i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_triu(x_.handle, k_, &result, &failure), failure);
    return .{ .handle = result };
}

/// A matrix with a vector on a diagonal, or a diagonal of a matrix.
pub fn diag(x_: Array, k_: i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_diag(x_.handle, k_, &result, &failure), failure);
    return .{ .handle = result };
}

/// Diagonals of the matrices of two axes, as a last axis.
pub fn diagonal(x_: Array, offset_: i64, axis1_: i64, axis2_: i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_diagonal(x_.handle, offset_, axis1_, axis2_, &result, &failure), failure);
    return .{ .handle = result };
}

/// Sum of a diagonal.
pub fn trace(x_: Array, offset_: i64, axis1_: i64, axis2_: i64, dtype_: DType) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_trace(x_.handle, offset_, axis1_, axis2_, @intFromEnum(dtype_), &result, &failure), failure);
    return .{ .handle = result };
}

/// Products of every element of a with every one of b.
pub fn outer(a_: Array, b_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_outer(a_.handle, b_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Kronecker product.
pub fn kron(a_: Array, b_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_kron(a_.handle, b_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Whether all elements are not 0.
pub fn all(x_: Array, axes_: ?[]const i64, keepdims_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_all(x_.handle, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, @intFromBool(keepdims_), &result, &failure), failure);
    return .{ .handle = result };
}

/// Whether some element is not 0.
pub fn any(x_: Array, axes_: ?[]const i64, keepdims_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_any(x_.handle, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, @intFromBool(keepdims_), &result, &failure), failure);
    return .{ .handle = result };
}

/// Sum. Small integers and truth values become 32-bit integers.
pub fn sum(x_: Array, axes_: ?[]const i64, keepdims_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_sum(x_.handle, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, @intFromBool(keepdims_), &result, &failure), failure);
    return .{ .handle = result };
}

/// Product. Small integers and truth values become 32-bit integers.
pub fn prod(x_: Array, axes_: ?[]const i64, keepdims_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_prod(x_.handle, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, @intFromBool(keepdims_), &result, &failure), failure);
    return .{ .handle = result };
}

/// The smallest; NaN if there is one.
pub fn min(x_: Array, axes_: ?[]const i64, keepdims_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_min(x_.handle, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, @intFromBool(keepdims_), &result, &failure), failure);
    return .{ .handle = result };
}

/// The largest; NaN if there is one.
pub fn max(x_: Array, axes_: ?[]const i64, keepdims_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_max(x_.handle, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, @intFromBool(keepdims_), &result, &failure), failure);
    return .{ .handle = result };
}

/// Logarithm of the sum of exponentials, without overflow.
pub fn logsumexp(x_: Array, axes_: ?[]const i64, keepdims_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_logsumexp(x_.handle, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, @intFromBool(keepdims_), &result, &failure), failure);
    return .{ .handle = result };
}

/// Mean.
pub fn mean(x_: Array, axes_: ?[]const i64, keepdims_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_mean(x_.handle, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, @intFromBool(keepdims_), &result, &failure), failure);
    return .{ .handle = result };
}

/// Variance.
pub fn @"var"(x_: Array, axes_: ?[]const i64, keepdims_: bool, ddof_: i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_var(x_.handle, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, @intFromBool(keepdims_), ddof_, &result, &failure), failure);
    return .{ .handle = result };
}

/// Standard deviation.
pub fn std(x_: Array, axes_: ?[]const i64, keepdims_: bool, ddof_: i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_std(x_.handle, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, @intFromBool(keepdims_), ddof_, &result, &failure), failure);
    return .{ .handle = result };
}

/// Median; the mean of the middle two of an even number.
pub fn median(x_: Array, axes_: ?[]const i64, keepdims_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_median(x_.handle, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, @intFromBool(keepdims_), &result, &failure), failure);
    return .{ .handle = result };
}

/// How many elements are not 0.
pub fn countNonzero(x_: Array, axes_: ?[]const i64, keepdims_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_count_nonzero(x_.handle, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, @intFromBool(keepdims_), &result, &failure), failure);
    return .{ .handle = result };
}

/// The place (uint32) of the first smallest element; of NaN if there is one.
pub fn argmin(x_: Array, axis_: ?i64, keepdims_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_argmin(x_.handle, axis_ orelse c.MLXROCM_AXIS_NONE, @intFromBool(keepdims_), &result, &failure), failure);
    return .{ .handle = result };
}

/// The place (uint32) of the first largest element; of NaN if there is one.
pub fn argmax(x_: Array, axis_: ?i64, keepdims_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_argmax(x_.handle, axis_ orelse c.MLXROCM_AXIS_NONE, @intFromBool(keepdims_), &result, &failure), failure);
    return .{ .handle = result };
}

/// Softmax: exp(x) over its sum along axes, without overflow.
pub fn softmax(x_: Array, axes_: ?[]const i64, precise_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_softmax(x_.handle, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, @intFromBool(precise_), &result, &failure), failure);
    return .{ .handle = result };
}

/// How many elements axes have, as a scalar.
pub fn numberOfElements(x_: Array, axes_: ?[]const i64, inverted_: bool, dtype_: DType) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_number_of_elements(x_.handle, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, @intFromBool(inverted_), @intFromEnum(dtype_), &result, &failure), failure);
    return .{ .handle = result };
}

/// Running sum.
pub fn cumsum(x_: Array, axis_: ?i64, reverse_: bool, inclusive_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_cumsum(x_.handle, axis_ orelse c.MLXROCM_AXIS_NONE, @intFromBool(reverse_), @intFromBool(inclusive_), &result, &failure), failure);
    return .{ .handle = result };
}

/// Running product.
pub fn cumprod(x_: Array, axis_: ?i64, reverse_: bool, inclusive_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_cumprod(x_.handle, axis_ orelse c.MLXROCM_AXIS_NONE, @intFromBool(reverse_), @intFromBool(inclusive_), &result, &failure), failure);
    return .{ .handle = result };
}

/// Running maximum.
pub fn cummax(x_: Array, axis_: ?i64, reverse_: bool, inclusive_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_cummax(x_.handle, axis_ orelse c.MLXROCM_AXIS_NONE, @intFromBool(reverse_), @intFromBool(inclusive_), &result, &failure), failure);
    return .{ .handle = result };
}

/// Running minimum.
pub fn cummin(x_: Array, axis_: ?i64, reverse_: bool, inclusive_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_cummin(x_.handle, axis_ orelse c.MLXROCM_AXIS_NONE, @intFromBool(reverse_), @intFromBool(inclusive_), &result, &failure), failure);
    return .{ .handle = result };
}

/// Running logarithm of the sum of exponentials.
pub fn logcumsumexp(x_: Array, axis_: ?i64, reverse_: bool, inclusive_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_logcumsumexp(x_.handle, axis_ orelse c.MLXROCM_AXIS_NONE, @intFromBool(reverse_), @intFromBool(inclusive_), &result, &failure), failure);
    return .{ .handle = result };
}

/// Sorted, NaN last.
pub fn sort(x_: Array, axis_: ?i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_sort(x_.handle, axis_ orelse c.MLXROCM_AXIS_NONE, &result, &failure), failure);
    return .{ .handle = result };
}

/// The places (uint32) of the sorted elements; equal ones stay in order.
pub fn argsort(x_: Array, axis_: ?i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_argsort(x_.handle, axis_ orelse c.MLXROCM_AXIS_NONE, &result, &failure), failure);
    return .{ .handle = result };
}

/// With the kth element where sorting would put it, none larger before it and none smaller behind.
pub fn partition(x_: Array, kth_: i64, axis_: ?i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_partition(x_.handle, kth_, axis_ orelse c.MLXROCM_AXIS_NONE, &result, &failure), failure);
    return .{ .handle = result };
}

/// The places (uint32) that partition takes elements from.
pub fn argpartition(x_: Array, kth_: i64, axis_: ?i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_argpartition(x_.handle, kth_, axis_ orelse c.MLXROCM_AXIS_NONE, &result, &failure), failure);
    return .{ .handle = result };
}

/// The k largest, in no particular order.
pub fn topk(x_: Array, k_: i64, axis_: ?i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_topk(x_.handle, k_, axis_ orelse c.MLXROCM_AXIS_NONE, &result, &failure), failure);
    return .{ .handle = result };
}

/// Where values would be put into a sorted vector (uint32).
pub fn searchsorted(sorted_: Array, values_: Array, right_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_searchsorted(sorted_.handle, values_.handle, @intFromBool(right_), &result, &failure), failure);
    return .{ .handle = result };
}

/// The same elements, row after row, in another shape; one size may be -1: what is left.
pub fn reshape(x_: Array, shape_: []const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_reshape(x_.handle, shape_.ptr, shape_.len, &result, &failure), failure);
    return .{ .handle = result };
}

/// Neighbouring axes as one.
pub fn flatten(x_: Array, start_: i64, end_: i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_flatten(x_.handle, start_, end_, &result, &failure), failure);
    return .{ .handle = result };
}

/// An axis as several; one size may be -1: what is left.
pub fn unflatten(x_: Array, axis_: i64, shape_: []const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_unflatten(x_.handle, axis_, shape_.ptr, shape_.len, &result, &failure), failure);
    return .{ .handle = result };
}

/// New axes of size 1.
pub fn expandDims(x_: Array, axes_: []const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_expand_dims(x_.handle, axes_.ptr, axes_.len, &result, &failure), failure);
    return .{ .handle = result };
}

/// Axes of size 1 taken away.
pub fn squeeze(x_: Array, axes_: ?[]const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_squeeze(x_.handle, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, &result, &failure), failure);
    return .{ .handle = result };
}

/// Repeated along axes of size 1, and along new ones in front.
pub fn broadcastTo(x_: Array, shape_: []const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_broadcast_to(x_.handle, shape_.ptr, shape_.len, &result, &failure), failure);
    return .{ .handle = result };
}

/// Axes in another order.
pub fn transpose(x_: Array, axes_: ?[]const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_transpose(x_.handle, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, &result, &failure), failure);
    return .{ .handle = result };
}

/// Two axes in each other's place.
pub fn swapaxes(x_: Array, axis1_: i64, axis2_: i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_swapaxes(x_.handle, axis1_, axis2_, &result, &failure), failure);
    return .{ .handle = result };
}

/// An axis at another place.
pub fn moveaxis(x_: Array, source_: i64, destination_: i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_moveaxis(x_.handle, source_, destination_, &result, &failure), failure);
    return .{ .handle = result };
}

/// At least one axis.
pub fn atleast1d(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_atleast_1d(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// At least two axes.
pub fn atleast2d(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_atleast_2d(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// At least three axes.
pub fn atleast3d(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_atleast_3d(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Elements from start to before stop by step. Negative places count from the end, those beyond the array are its ends; a negative step goes backwards.
pub fn slice(x_: Array, start_: []const i64, stop_: []const i64, step_: []const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_slice(x_.handle, start_.ptr, start_.len, stop_.ptr, stop_.len, step_.ptr, step_.len, &result, &failure), failure);
    return .{ .handle = result };
}

/// Elements at the places, among the array's elements row after row, that strides and an offset give.
pub fn asStrided(x_: Array, shape_: []const i64, strides_: []const i64, offset_: i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_as_strided(x_.handle, shape_.ptr, shape_.len, strides_.ptr, strides_.len, offset_, &result, &failure), failure);
    return .{ .handle = result };
}

/// Row after row in memory.
pub fn contiguous(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_contiguous(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// The array, as one that derivatives do not pass.
pub fn stopGradient(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_stop_gradient(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// The array, computed after others.
pub fn depends(x_: Array, others_: []const Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_depends(x_.handle, array.handles(others_), others_.len, &result, &failure), failure);
    return .{ .handle = result };
}

/// Arrays one after the other along an axis.
pub fn concatenate(arrays_: []const Array, axis_: i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_concatenate(array.handles(arrays_), arrays_.len, axis_, &result, &failure), failure);
    return .{ .handle = result };
}

/// Arrays of one shape along a new axis.
pub fn stack(arrays_: []const Array, axis_: i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_stack(array.handles(arrays_), arrays_.len, axis_, &result, &failure), failure);
    return .{ .handle = result };
}

/// Each element several times, one after the other.
pub fn repeat(x_: Array, repeats_: i64, axis_: ?i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_repeat(x_.handle, repeats_, axis_ orelse c.MLXROCM_AXIS_NONE, &result, &failure), failure);
    return .{ .handle = result };
}

/// The whole array several times along each axis.
pub fn tile(x_: Array, reps_: []const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_tile(x_.handle, reps_.ptr, reps_.len, &result, &failure), failure);
    return .{ .handle = result };
}

/// Surrounded along every axis.
pub fn pad(x_: Array, low_: []const i64, high_: []const i64, mode_: i64, value_: ?Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_pad(x_.handle, low_.ptr, low_.len, high_.ptr, high_.len, mode_, if (value_) |given| given.handle else null, &result, &failure), failure);
    return .{ .handle = result };
}

/// Moved round; what leaves at an end comes in at the other.
pub fn roll(x_: Array, shifts_: []const i64, axes_: ?[]const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_roll(x_.handle, shifts_.ptr, shifts_.len, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, &result, &failure), failure);
    return .{ .handle = result };
}

/// Axes turned round: the last element first.
pub fn flip(x_: Array, axes_: ?[]const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_flip(x_.handle, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, &result, &failure), failure);
    return .{ .handle = result };
}

/// Cuts an array before places of an axis.
/// Fills `results`, which has room for all of them.
pub fn split(results: []Array, x_: Array, places_: []const i64, axis_: i64) Error!void {
    try array.room(results, places_.len + 1);
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_split(x_.handle, places_.ptr, places_.len, axis_, array.places(results), &failure), failure);
}

/// Cuts an axis into equal parts.
/// Fills `results`, which has room for all of them.
pub fn splitParts(results: []Array, x_: Array, parts_: usize, axis_: i64) Error!void {
    try array.room(results, parts_);
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_split_parts(x_.handle, parts_, axis_, array.places(results), &failure), failure);
}

/// Broadcasts arrays to the shape that all of them fit.
/// Fills `results`, which has room for all of them.
pub fn broadcastArrays(results: []Array, arrays_: []const Array) Error!void {
    try array.room(results, arrays_.len);
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_broadcast_arrays(array.handles(arrays_), arrays_.len, array.places(results), &failure), failure);
}

/// Coordinates of a grid: each vector along an axis of its own, repeated along the others.
/// Fills `results`, which has room for all of them.
pub fn meshgrid(results: []Array, arrays_: []const Array, sparse_: bool, swapped_: bool) Error!void {
    try array.room(results, arrays_.len);
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_meshgrid(array.handles(arrays_), arrays_.len, @intFromBool(sparse_), @intFromBool(swapped_), array.places(results), &failure), failure);
}

/// Slices of one axis at indices, which take the axis' place. Negative indices count from the end.
pub fn take(x_: Array, indices_: Array, axis_: ?i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_take(x_.handle, indices_.handle, axis_ orelse c.MLXROCM_AXIS_NONE, &result, &failure), failure);
    return .{ .handle = result };
}

/// The element at each index along an axis. Other axes are broadcast.
pub fn takeAlongAxis(x_: Array, indices_: Array, axis_: ?i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_take_along_axis(x_.handle, indices_.handle, axis_ orelse c.MLXROCM_AXIS_NONE, &result, &failure), failure);
    return .{ .handle = result };
}

/// Slices of given sizes that begin at indices along axes. The result has the indices' shape, then the sizes.
pub fn gather(x_: Array, indices_: []const Array, axes_: []const i64, sizes_: []const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_gather(x_.handle, array.handles(indices_), indices_.len, axes_.ptr, axes_.len, sizes_.ptr, sizes_.len, &result, &failure), failure);
    return .{ .handle = result };
}

/// A slice of given sizes that begins at computed places.
pub fn sliceDynamic(x_: Array, start_: Array, axes_: []const i64, sizes_: []const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_slice_dynamic(x_.handle, start_.handle, axes_.ptr, axes_.len, sizes_.ptr, sizes_.len, &result, &failure), failure);
    return .{ .handle = result };
}

/// With an update in place of the slice that begins at computed places.
pub fn sliceUpdateDynamic(x_: Array, update_: Array, start_: Array, axes_: []const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_slice_update_dynamic(x_.handle, update_.handle, start_.handle, axes_.ptr, axes_.len, &result, &failure), failure);
    return .{ .handle = result };
}

/// With elements of source, in order, where the mask is not 0.
pub fn maskedScatter(x_: Array, mask_: Array, source_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_masked_scatter(x_.handle, mask_.handle, source_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// With slices at indices along axes replaced by updates. Updates have the indices' shape, then that of slices of x's rank. Where places meet the last update stays.
pub fn scatter(x_: Array, indices_: []const Array, updates_: Array, axes_: []const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_scatter(x_.handle, array.handles(indices_), indices_.len, updates_.handle, axes_.ptr, axes_.len, &result, &failure), failure);
    return .{ .handle = result };
}

/// With the elements of a slice replaced by an update, which is broadcast to it.
pub fn sliceUpdate(x_: Array, update_: Array, start_: []const i64, stop_: []const i64, step_: []const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_slice_update(x_.handle, update_.handle, start_.ptr, start_.len, stop_.ptr, stop_.len, step_.ptr, step_.len, &result, &failure), failure);
    return .{ .handle = result };
}

/// With slices at indices along axes joined by sum with updates. Updates have the indices' shape, then that of slices of x's rank.
pub fn scatterAdd(x_: Array, indices_: []const Array, updates_: Array, axes_: []const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_scatter_add(x_.handle, array.handles(indices_), indices_.len, updates_.handle, axes_.ptr, axes_.len, &result, &failure), failure);
    return .{ .handle = result };
}

/// With the elements of a slice joined by sum with an update, which is broadcast to it.
pub fn sliceUpdateAdd(x_: Array, update_: Array, start_: []const i64, stop_: []const i64, step_: []const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_slice_update_add(x_.handle, update_.handle, start_.ptr, start_.len, stop_.ptr, stop_.len, step_.ptr, step_.len, &result, &failure), failure);
    return .{ .handle = result };
}

/// With slices at indices along axes joined by product with updates. Updates have the indices' shape, then that of slices of x's rank.
pub fn scatterProd(x_: Array, indices_: []const Array, updates_: Array, axes_: []const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_scatter_prod(x_.handle, array.handles(indices_), indices_.len, updates_.handle, axes_.ptr, axes_.len, &result, &failure), failure);
    return .{ .handle = result };
}

/// With the elements of a slice joined by product with an update, which is broadcast to it.
pub fn sliceUpdateProd(x_: Array, update_: Array, start_: []const i64, stop_: []const i64, step_: []const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_slice_update_prod(x_.handle, update_.handle, start_.ptr, start_.len, stop_.ptr, stop_.len, step_.ptr, step_.len, &result, &failure), failure);
    return .{ .handle = result };
}

/// With slices at indices along axes joined by maximum with updates. Updates have the indices' shape, then that of slices of x's rank.
pub fn scatterMax(x_: Array, indices_: []const Array, updates_: Array, axes_: []const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_scatter_max(x_.handle, array.handles(indices_), indices_.len, updates_.handle, axes_.ptr, axes_.len, &result, &failure), failure);
    return .{ .handle = result };
}

/// With the elements of a slice joined by maximum with an update, which is broadcast to it.
pub fn sliceUpdateMax(x_: Array, update_: Array, start_: []const i64, stop_: []const i64, step_: []const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_slice_update_max(x_.handle, update_.handle, start_.ptr, start_.len, stop_.ptr, stop_.len, step_.ptr, step_.len, &result, &failure), failure);
    return .{ .handle = result };
}

/// With slices at indices along axes joined by minimum with updates. Updates have the indices' shape, then that of slices of x's rank.
pub fn scatterMin(x_: Array, indices_: []const Array, updates_: Array, axes_: []const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_scatter_min(x_.handle, array.handles(indices_), indices_.len, updates_.handle, axes_.ptr, axes_.len, &result, &failure), failure);
    return .{ .handle = result };
}

/// With the elements of a slice joined by minimum with an update, which is broadcast to it.
pub fn sliceUpdateMin(x_: Array, update_: Array, start_: []const i64, stop_: []const i64, step_: []const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_slice_update_min(x_.handle, update_.handle, start_.ptr, start_.len, stop_.ptr, stop_.len, step_.ptr, step_.len, &result, &failure), failure);
    return .{ .handle = result };
}

/// With values put at indices along an axis. Values are broadcast to the indices.
pub fn putAlongAxis(x_: Array, indices_: Array, values_: Array, axis_: ?i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_put_along_axis(x_.handle, indices_.handle, values_.handle, axis_ orelse c.MLXROCM_AXIS_NONE, &result, &failure), failure);
    return .{ .handle = result };
}

/// With values added at indices along an axis. Values are broadcast to the indices.
pub fn scatterAddAxis(x_: Array, indices_: Array, values_: Array, axis_: ?i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_scatter_add_axis(x_.handle, indices_.handle, values_.handle, axis_ orelse c.MLXROCM_AXIS_NONE, &result, &failure), failure);
    return .{ .handle = result };
}

/// Product of the last two axes; the others are broadcast together. A vector is a row on the left and a column on the right.
pub fn matmul(a_: Array, b_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_matmul(a_.handle, b_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// alpha · a·b + beta · c; c is broadcast to the product.
pub fn addmm(c_: Array, a_: Array, b_: Array, alpha_: f64, beta_: f64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_addmm(c_.handle, a_.handle, b_.handle, alpha_, beta_, &result, &failure), failure);
    return .{ .handle = result };
}

/// Product of matrices whose blocks are multiplied by masks (truth values or numbers) first.
pub fn blockMaskedMm(a_: Array, b_: Array, block_size_: i64, mask_out_: ?Array, mask_lhs_: ?Array, mask_rhs_: ?Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_block_masked_mm(a_.handle, b_.handle, block_size_, if (mask_out_) |given| given.handle else null, if (mask_lhs_) |given| given.handle else null, if (mask_rhs_) |given| given.handle else null, &result, &failure), failure);
    return .{ .handle = result };
}

/// Products of matrices by index: of matrix lhs_indices[i] of a and matrix rhs_indices[i] of b.
pub fn gatherMm(a_: Array, b_: Array, lhs_indices_: ?Array, rhs_indices_: ?Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_gather_mm(a_.handle, b_.handle, if (lhs_indices_) |given| given.handle else null, if (rhs_indices_) |given| given.handle else null, &result, &failure), failure);
    return .{ .handle = result };
}

/// Products of parts of two matrices.
pub fn segmentedMm(a_: Array, b_: Array, segments_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_segmented_mm(a_.handle, b_.handle, segments_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Sums of products over pairs of axes.
pub fn tensordot(a_: Array, b_: Array, axes_a_: []const i64, axes_b_: []const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_tensordot(a_.handle, b_.handle, axes_a_.ptr, axes_a_.len, axes_b_.ptr, axes_b_.len, &result, &failure), failure);
    return .{ .handle = result };
}

/// Sums of products over the last axes.
pub fn inner(a_: Array, b_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_inner(a_.handle, b_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Sums of products over axes that are named by letters: "ij,jk->ik" is the product of two matrices. Spaces are nothing; `...` stands for axes without names, which are broadcast; without `->` the result has the letters that appear once, in the order of the alphabet.
pub fn einsum(subscripts_: []const u8, operands_: []const Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_einsum(subscripts_.ptr, subscripts_.len, array.handles(operands_), operands_.len, &result, &failure), failure);
    return .{ .handle = result };
}

/// Codes, scales and biases of groups along the last axis, in the affine mode.
pub fn quantize(w_: Array, group_size_: i64, bits_: i64) Error![3]Array {
    var results = [_]?*c.mlxrocm_array{null} ** 3;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_quantize(w_.handle, group_size_, bits_, &results[0], &results[1], &results[2], &failure), failure);
    return .{ .{ .handle = results[0] }, .{ .handle = results[1] }, .{ .handle = results[2] } };
}

/// Codes and scales of groups along the last axis, in a mode without biases.
pub fn quantizeFloat(w_: Array, mode_: []const u8, global_scale_: ?Array) Error![2]Array {
    var results = [_]?*c.mlxrocm_array{null} ** 2;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_quantize_float(w_.handle, mode_.ptr, mode_.len, if (global_scale_) |given| given.handle else null, &results[0], &results[1], &failure), failure);
    return .{ .{ .handle = results[0] }, .{ .handle = results[1] } };
}

/// The numbers of codes.
pub fn dequantize(w_: Array, scales_: Array, biases_: ?Array, group_size_: i64, bits_: i64, mode_: []const u8, global_scale_: ?Array, dtype_: ?DType) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_dequantize(w_.handle, scales_.handle, if (biases_) |given| given.handle else null, group_size_, bits_, mode_.ptr, mode_.len, if (global_scale_) |given| given.handle else null, if (dtype_) |given| @as(i64, @intFromEnum(given)) else -1, &result, &failure), failure);
    return .{ .handle = result };
}

/// Product with a quantized matrix.
pub fn quantizedMatmul(x_: Array, w_: Array, scales_: Array, biases_: ?Array, transpose_: bool, group_size_: i64, bits_: i64, mode_: []const u8) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_quantized_matmul(x_.handle, w_.handle, scales_.handle, if (biases_) |given| given.handle else null, @intFromBool(transpose_), group_size_, bits_, mode_.ptr, mode_.len, &result, &failure), failure);
    return .{ .handle = result };
}

/// Products with quantized matrices by index: matrix lhs_indices[i] of x with matrix rhs_indices[i] of w.
pub fn gatherQmm(x_: Array, w_: Array, scales_: Array, biases_: ?Array, lhs_indices_: ?Array, rhs_indices_: ?Array, transpose_: bool, group_size_: i64, bits_: i64, mode_: []const u8) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_gather_qmm(x_.handle, w_.handle, scales_.handle, if (biases_) |given| given.handle else null, if (lhs_indices_) |given| given.handle else null, if (rhs_indices_) |given| given.handle else null, @intFromBool(transpose_), group_size_, bits_, mode_.ptr, mode_.len, &result, &failure), failure);
    return .{ .handle = result };
}

/// Product x · wᵀ with both sides quantized: x on the way, w too if it has no scales.
pub fn qqmm(x_: Array, w_: Array, scales_: ?Array, mode_: []const u8, global_scale_x_: ?Array, global_scale_w_: ?Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_qqmm(x_.handle, w_.handle, if (scales_) |given| given.handle else null, mode_.ptr, mode_.len, if (global_scale_x_) |given| given.handle else null, if (global_scale_w_) |given| given.handle else null, &result, &failure), failure);
    return .{ .handle = result };
}

/// As qqmm, matrix lhs_indices[i] of x with matrix rhs_indices[i] of w.
pub fn gatherQqmm(x_: Array, w_: Array, scales_: ?Array, lhs_indices_: ?Array, rhs_indices_: ?Array, mode_: []const u8, global_scale_x_: ?Array, global_scale_w_: ?Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_gather_qqmm(x_.handle, w_.handle, if (scales_) |given| given.handle else null, if (lhs_indices_) |given| given.handle else null, if (rhs_indices_) |given| given.handle else null, mode_.ptr, mode_.len, if (global_scale_x_) |given| given.handle else null, if (global_scale_w_) |given| given.handle else null, &result, &failure), failure);
    return .{ .handle = result };
}

/// E4M3 codes (uint8) of numbers.
pub fn toFp8(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_to_fp8(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Numbers of E4M3 codes (uint8).
pub fn fromFp8(x_: Array, dtype_: DType) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_from_fp8(x_.handle, @intFromEnum(dtype_), &result, &failure), failure);
    return .{ .handle = result };
}

/// Convolution of [batch, …, channels] with [channels out, …, channels / groups], of one to three spatial axes. A list holds a number for each of these, one for all, or none for the usual.
pub fn convGeneral(x_: Array, weight_: Array, stride_: []const i64, padding_low_: []const i64, padding_high_: []const i64, kernel_dilation_: []const i64, input_dilation_: []const i64, groups_: i64, flip_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_conv_general(x_.handle, weight_.handle, stride_.ptr, stride_.len, padding_low_.ptr, padding_low_.len, padding_high_.ptr, padding_high_.len, kernel_dilation_.ptr, kernel_dilation_.len, input_dilation_.ptr, input_dilation_.len, groups_, @intFromBool(flip_), &result, &failure), failure);
    return .{ .handle = result };
}

/// Transposed convolution: back to the size of what a convolution with these numbers is made of.
pub fn convTranspose(x_: Array, weight_: Array, stride_: []const i64, padding_: []const i64, dilation_: []const i64, output_padding_: []const i64, groups_: i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_conv_transpose(x_.handle, weight_.handle, stride_.ptr, stride_.len, padding_.ptr, padding_.len, dilation_.ptr, dilation_.len, output_padding_.ptr, output_padding_.len, groups_, &result, &failure), failure);
    return .{ .handle = result };
}

/// Convolution of [batch, length, channels] with [channels out, length, channels / groups].
pub fn conv1d(x_: Array, weight_: Array, stride_: i64, padding_: i64, dilation_: i64, groups_: i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_conv1d(x_.handle, weight_.handle, stride_, padding_, dilation_, groups_, &result, &failure), failure);
    return .{ .handle = result };
}

/// Transposed convolution of 1 spatial axis: back to the size of what conv1d with these numbers is made of.
pub fn convTranspose1d(x_: Array, weight_: Array, stride_: i64, padding_: i64, dilation_: i64, output_padding_: i64, groups_: i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_conv_transpose1d(x_.handle, weight_.handle, stride_, padding_, dilation_, output_padding_, groups_, &result, &failure), failure);
    return .{ .handle = result };
}

/// Convolution of [batch, height, width, channels] with [channels out, height, width, channels / groups].
pub fn conv2d(x_: Array, weight_: Array, stride_: []const i64, padding_: []const i64, dilation_: []const i64, groups_: i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_conv2d(x_.handle, weight_.handle, stride_.ptr, stride_.len, padding_.ptr, padding_.len, dilation_.ptr, dilation_.len, groups_, &result, &failure), failure);
    return .{ .handle = result };
}

/// Transposed convolution of 2 spatial axes: back to the size of what conv2d with these numbers is made of.
pub fn convTranspose2d(x_: Array, weight_: Array, stride_: []const i64, padding_: []const i64, dilation_: []const i64, output_padding_: []const i64, groups_: i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_conv_transpose2d(x_.handle, weight_.handle, stride_.ptr, stride_.len, padding_.ptr, padding_.len, dilation_.ptr, dilation_.len, output_padding_.ptr, output_padding_.len, groups_, &result, &failure), failure);
    return .{ .handle = result };
}

/// Convolution of [batch, depth, height, width, channels] with [channels out, depth, height, width, channels / groups].
pub fn conv3d(x_: Array, weight_: Array, stride_: []const i64, padding_: []const i64, dilation_: []const i64, groups_: i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_conv3d(x_.handle, weight_.handle, stride_.ptr, stride_.len, padding_.ptr, padding_.len, dilation_.ptr, dilation_.len, groups_, &result, &failure), failure);
    return .{ .handle = result };
}

/// Transposed convolution of 3 spatial axes: back to the size of what conv3d with these numbers is made of.
pub fn convTranspose3d(x_: Array, weight_: Array, stride_: []const i64, padding_: []const i64, dilation_: []const i64, output_padding_: []const i64, groups_: i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_conv_transpose3d(x_.handle, weight_.handle, stride_.ptr, stride_.len, padding_.ptr, padding_.len, dilation_.ptr, dilation_.len, output_padding_.ptr, output_padding_.len, groups_, &result, &failure), failure);
    return .{ .handle = result };
}

/// Discrete Fourier transform along an axis.
pub fn fftFft(x_: Array, n_: i64, axis_: i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_fft_fft(x_.handle, n_, axis_, &result, &failure), failure);
    return .{ .handle = result };
}

/// Inverse discrete Fourier transform along an axis.
pub fn fftIfft(x_: Array, n_: i64, axis_: i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_fft_ifft(x_.handle, n_, axis_, &result, &failure), failure);
    return .{ .handle = result };
}

/// Discrete Fourier transform of real numbers along an axis: half of the frequencies.
pub fn fftRfft(x_: Array, n_: i64, axis_: i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_fft_rfft(x_.handle, n_, axis_, &result, &failure), failure);
    return .{ .handle = result };
}

/// The real numbers whose fft_rfft this is.
pub fn fftIrfft(x_: Array, n_: i64, axis_: i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_fft_irfft(x_.handle, n_, axis_, &result, &failure), failure);
    return .{ .handle = result };
}

/// Discrete Fourier transform along two axes.
pub fn fftFft2(x_: Array, sizes_: ?[]const i64, axes_: ?[]const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_fft_fft2(x_.handle, if (sizes_) |given| given.ptr else null, if (sizes_) |given| given.len else 0, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, &result, &failure), failure);
    return .{ .handle = result };
}

/// Inverse discrete Fourier transform along two axes.
pub fn fftIfft2(x_: Array, sizes_: ?[]const i64, axes_: ?[]const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_fft_ifft2(x_.handle, if (sizes_) |given| given.ptr else null, if (sizes_) |given| given.len else 0, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, &result, &failure), failure);
    return .{ .handle = result };
}

/// Discrete Fourier transform of real numbers along two axes; of the last one half of the frequencies.
pub fn fftRfft2(x_: Array, sizes_: ?[]const i64, axes_: ?[]const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_fft_rfft2(x_.handle, if (sizes_) |given| given.ptr else null, if (sizes_) |given| given.len else 0, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, &result, &failure), failure);
    return .{ .handle = result };
}

/// The real numbers whose fft_rfft2 this is.
pub fn fftIrfft2(x_: Array, sizes_: ?[]const i64, axes_: ?[]const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_fft_irfft2(x_.handle, if (sizes_) |given| given.ptr else null, if (sizes_) |given| given.len else 0, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, &result, &failure), failure);
    return .{ .handle = result };
}

/// Moves the frequency 0 from the first place of axes to the middle.
pub fn fftFftshift(x_: Array, axes_: ?[]const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_fft_fftshift(x_.handle, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, &result, &failure), failure);
    return .{ .handle = result };
}

/// Undoes fft_fftshift.
pub fn fftIfftshift(x_: Array, axes_: ?[]const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_fft_ifftshift(x_.handle, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, &result, &failure), failure);
    return .{ .handle = result };
}

/// The frequencies of the results of fft_fft, float32.
pub fn fftFftfreq(n_: i64, d_: f64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_fft_fftfreq(n_, d_, &result, &failure), failure);
    return .{ .handle = result };
}

/// The frequencies of the results of fft_rfft, float32.
pub fn fftRfftfreq(n_: i64, d_: f64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_fft_rfftfreq(n_, d_, &result, &failure), failure);
    return .{ .handle = result };
}

/// Discrete Fourier transform along axes.
pub fn fftFftn(x_: Array, sizes_: ?[]const i64, axes_: ?[]const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_fft_fftn(x_.handle, if (sizes_) |given| given.ptr else null, if (sizes_) |given| given.len else 0, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, &result, &failure), failure);
    return .{ .handle = result };
}

/// Inverse discrete Fourier transform along axes.
pub fn fftIfftn(x_: Array, sizes_: ?[]const i64, axes_: ?[]const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_fft_ifftn(x_.handle, if (sizes_) |given| given.ptr else null, if (sizes_) |given| given.len else 0, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, &result, &failure), failure);
    return .{ .handle = result };
}

/// Discrete Fourier transform of real numbers; of the last axis only half of the frequencies.
pub fn fftRfftn(x_: Array, sizes_: ?[]const i64, axes_: ?[]const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_fft_rfftn(x_.handle, if (sizes_) |given| given.ptr else null, if (sizes_) |given| given.len else 0, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, &result, &failure), failure);
    return .{ .handle = result };
}

/// The real numbers whose fft_rfftn this is.
pub fn fftIrfftn(x_: Array, sizes_: ?[]const i64, axes_: ?[]const i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_fft_irfftn(x_.handle, if (sizes_) |given| given.ptr else null, if (sizes_) |given| given.len else 0, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, &result, &failure), failure);
    return .{ .handle = result };
}

/// A discrete Fourier transform along axes with a normalization: "backward" divides inverse ones by their size n, as fft_ifftn does, "forward" divides the others by n, "ortho" both by the root of n.
pub fn fftNormed(x_: Array, sizes_: ?[]const i64, axes_: ?[]const i64, norm_: []const u8, inverse_: bool, real_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_fft_normed(x_.handle, if (sizes_) |given| given.ptr else null, if (sizes_) |given| given.len else 0, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, norm_.ptr, norm_.len, @intFromBool(inverse_), @intFromBool(real_), &result, &failure), failure);
    return .{ .handle = result };
}

/// Walsh–Hadamard transform of the last axis, of m · 2^k elements, m = 1, 12, 20 or 28.
pub fn hadamardTransform(x_: Array, scale_: f64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_hadamard_transform(x_.handle, scale_, &result, &failure), failure);
    return .{ .handle = result };
}

/// x · rsqrt(mean(x²) + eps) · weight over the last axis.
pub fn fastRmsNorm(x_: Array, weight_: ?Array, eps_: f64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_fast_rms_norm(x_.handle, if (weight_) |given| given.handle else null, eps_, &result, &failure), failure);
    return .{ .handle = result };
}

/// (x − mean) · rsqrt(variance + eps) · weight + bias over the last axis.
pub fn fastLayerNorm(x_: Array, weight_: ?Array, bias_: ?Array, eps_: f64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_fast_layer_norm(x_.handle, if (weight_) |given| given.handle else null, if (bias_) |given| given.handle else null, eps_, &result, &failure), failure);
    return .{ .handle = result };
}

/// Rotary position embedding of [batch, …, tokens, dim]: token t stands at (t + offset) · scale.
pub fn fastRope(x_: Array, dims_: i64, traditional_: bool, base_: f64, scale_: f64, offset_: Array, freqs_: ?Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_fast_rope(x_.handle, dims_, @intFromBool(traditional_), base_, scale_, offset_.handle, if (freqs_) |given| given.handle else null, &result, &failure), failure);
    return .{ .handle = result };
}

/// softmax(scale · q·kᵀ + mask) · v of [batch, heads, rows, dim] and [batch, kv heads, keys, dim].
pub fn fastScaledDotProductAttention(q_: Array, k_: Array, v_: Array, scale_: f64, causal_: bool, mask_: ?Array, sinks_: ?Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_fast_scaled_dot_product_attention(q_.handle, k_.handle, v_.handle, scale_, @intFromBool(causal_), if (mask_) |given| given.handle else null, if (sinks_) |given| given.handle else null, &result, &failure), failure);
    return .{ .handle = result };
}

/// Q with orthogonal columns and R, upper triangular.
pub fn linalgQr(x_: Array) Error![2]Array {
    var results = [_]?*c.mlxrocm_array{null} ** 2;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_linalg_qr(x_.handle, &results[0], &results[1], &failure), failure);
    return .{ .{ .handle = results[0] }, .{ .handle = results[1] } };
}

/// U, the singular values (the largest first) and Vᴴ.
pub fn linalgSvd(x_: Array) Error![3]Array {
    var results = [_]?*c.mlxrocm_array{null} ** 3;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_linalg_svd(x_.handle, &results[0], &results[1], &results[2], &failure), failure);
    return .{ .{ .handle = results[0] }, .{ .handle = results[1] }, .{ .handle = results[2] } };
}

/// The singular values, the largest first.
pub fn linalgSvdValues(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_linalg_svd_values(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// The inverse. Singular matrices fail when they are evaluated.
pub fn linalgInv(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_linalg_inv(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// The inverse of triangular matrices.
pub fn linalgTriInv(x_: Array, upper_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_linalg_tri_inv(x_.handle, @intFromBool(upper_), &result, &failure), failure);
    return .{ .handle = result };
}

/// L of L·Lᵀ. What is not positive definite fails when it is evaluated.
pub fn linalgCholesky(x_: Array, upper_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_linalg_cholesky(x_.handle, @intFromBool(upper_), &result, &failure), failure);
    return .{ .handle = result };
}

/// The inverse of the matrix whose factor this is.
pub fn linalgCholeskyInv(x_: Array, upper_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_linalg_cholesky_inv(x_.handle, @intFromBool(upper_), &result, &failure), failure);
    return .{ .handle = result };
}

/// The pseudoinverse.
pub fn linalgPinv(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_linalg_pinv(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// Eigenvalues (ascending) and eigenvectors (columns) of Hermitian matrices.
pub fn linalgEigh(x_: Array, upper_: bool) Error![2]Array {
    var results = [_]?*c.mlxrocm_array{null} ** 2;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_linalg_eigh(x_.handle, @intFromBool(upper_), &results[0], &results[1], &failure), failure);
    return .{ .{ .handle = results[0] }, .{ .handle = results[1] } };
}

/// Eigenvalues of Hermitian matrices, ascending.
pub fn linalgEigvalsh(x_: Array, upper_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_linalg_eigvalsh(x_.handle, @intFromBool(upper_), &result, &failure), failure);
    return .{ .handle = result };
}

/// Eigenvalues and eigenvectors (columns), complex.
pub fn linalgEig(x_: Array) Error![2]Array {
    var results = [_]?*c.mlxrocm_array{null} ** 2;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_linalg_eig(x_.handle, &results[0], &results[1], &failure), failure);
    return .{ .{ .handle = results[0] }, .{ .handle = results[1] } };
}

/// Eigenvalues, complex.
pub fn linalgEigvals(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_linalg_eigvals(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// The row of L·U that each row is, L and U.
pub fn linalgLu(x_: Array) Error![3]Array {
    var results = [_]?*c.mlxrocm_array{null} ** 3;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_linalg_lu(x_.handle, &results[0], &results[1], &results[2], &failure), failure);
    return .{ .{ .handle = results[0] }, .{ .handle = results[1] }, .{ .handle = results[2] } };
}

/// L and U in one array, and the row that each step changed places with.
pub fn linalgLuFactor(x_: Array) Error![2]Array {
    var results = [_]?*c.mlxrocm_array{null} ** 2;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_linalg_lu_factor(x_.handle, &results[0], &results[1], &failure), failure);
    return .{ .{ .handle = results[0] }, .{ .handle = results[1] } };
}

/// x of a·x = b.
pub fn linalgSolve(a_: Array, b_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_linalg_solve(a_.handle, b_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// x of a·x = b with a triangular a.
pub fn linalgSolveTriangular(a_: Array, b_: Array, upper_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_linalg_solve_triangular(a_.handle, b_.handle, @intFromBool(upper_), &result, &failure), failure);
    return .{ .handle = result };
}

/// The determinant.
pub fn linalgDet(x_: Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_linalg_det(x_.handle, &result, &failure), failure);
    return .{ .handle = result };
}

/// The determinant's sign and the logarithm of its size.
pub fn linalgSlogdet(x_: Array) Error![2]Array {
    var results = [_]?*c.mlxrocm_array{null} ** 2;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_linalg_slogdet(x_.handle, &results[0], &results[1], &failure), failure);
    return .{ .{ .handle = results[0] }, .{ .handle = results[1] } };
}

/// Vector product along an axis of 2 or 3 elements.
pub fn linalgCross(a_: Array, b_: Array, axis_: i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_linalg_cross(a_.handle, b_.handle, axis_, &result, &failure), failure);
    return .{ .handle = result };
}

/// Root of the sum of squares.
pub fn linalgNormL2(x_: Array, axes_: ?[]const i64, keepdims_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_linalg_norm_l2(x_.handle, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, @intFromBool(keepdims_), &result, &failure), failure);
    return .{ .handle = result };
}

/// Norm of vectors (one axis) or matrices (two).
pub fn linalgNorm(x_: Array, p_: f64, axes_: ?[]const i64, keepdims_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_linalg_norm(x_.handle, p_, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, @intFromBool(keepdims_), &result, &failure), failure);
    return .{ .handle = result };
}

/// Norm of matrices.
pub fn linalgNormMatrix(x_: Array, order_: []const u8, axes_: ?[]const i64, keepdims_: bool) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_linalg_norm_matrix(x_.handle, order_.ptr, order_.len, if (axes_) |given| given.ptr else null, if (axes_) |given| given.len else 0, @intFromBool(keepdims_), &result, &failure), failure);
    return .{ .handle = result };
}

/// Starts the sequence of keys again that calls without a key take theirs from. It is the process' own.
pub fn randomSeed(seed_: u64) Error!void {
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_random_seed(seed_, &failure), failure);
}

/// The key of a seed.
pub fn randomKey(seed_: i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_random_key(seed_, &result, &failure), failure);
    return .{ .handle = result };
}

/// New keys of a key: [count, 2].
pub fn randomSplit(key_: Array, count_: i64) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_random_split(key_.handle, count_, &result, &failure), failure);
    return .{ .handle = result };
}

/// Random bits: unsigned integers.
pub fn randomBits(shape_: []const i64, width_: i64, key_: ?Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_random_bits(shape_.ptr, shape_.len, width_, if (key_) |given| given.handle else null, &result, &failure), failure);
    return .{ .handle = result };
}

/// Numbers evenly spread from low up to, but not, high.
pub fn randomUniform(low_: Array, high_: Array, shape_: []const i64, dtype_: DType, key_: ?Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_random_uniform(low_.handle, high_.handle, shape_.ptr, shape_.len, @intFromEnum(dtype_), if (key_) |given| given.handle else null, &result, &failure), failure);
    return .{ .handle = result };
}

/// Normally distributed numbers.
pub fn randomNormal(shape_: []const i64, dtype_: DType, loc_: ?Array, scale_: ?Array, key_: ?Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_random_normal(shape_.ptr, shape_.len, @intFromEnum(dtype_), if (loc_) |given| given.handle else null, if (scale_) |given| given.handle else null, if (key_) |given| given.handle else null, &result, &failure), failure);
    return .{ .handle = result };
}

/// Normally distributed vectors.
pub fn randomMultivariateNormal(mean_: Array, cov_: Array, shape_: []const i64, dtype_: DType, key_: ?Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_random_multivariate_normal(mean_.handle, cov_.handle, shape_.ptr, shape_.len, @intFromEnum(dtype_), if (key_) |given| given.handle else null, &result, &failure), failure);
    return .{ .handle = result };
}

/// Integers from low up to, but not, high.
pub fn randomRandint(low_: Array, high_: Array, shape_: []const i64, dtype_: DType, key_: ?Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_random_randint(low_.handle, high_.handle, shape_.ptr, shape_.len, @intFromEnum(dtype_), if (key_) |given| given.handle else null, &result, &failure), failure);
    return .{ .handle = result };
}

/// Truth values, each true with probability p.
pub fn randomBernoulli(p_: Array, shape_: []const i64, key_: ?Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_random_bernoulli(p_.handle, shape_.ptr, shape_.len, if (key_) |given| given.handle else null, &result, &failure), failure);
    return .{ .handle = result };
}

/// Normally distributed numbers between two bounds.
pub fn randomTruncatedNormal(lower_: Array, upper_: Array, shape_: []const i64, dtype_: DType, key_: ?Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_random_truncated_normal(lower_.handle, upper_.handle, shape_.ptr, shape_.len, @intFromEnum(dtype_), if (key_) |given| given.handle else null, &result, &failure), failure);
    return .{ .handle = result };
}

/// Numbers of the standard Gumbel distribution.
pub fn randomGumbel(shape_: []const i64, dtype_: DType, key_: ?Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_random_gumbel(shape_.ptr, shape_.len, @intFromEnum(dtype_), if (key_) |given| given.handle else null, &result, &failure), failure);
    return .{ .handle = result };
}

/// Laplace distributed numbers.
pub fn randomLaplace(shape_: []const i64, dtype_: DType, loc_: f64, scale_: f64, key_: ?Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_random_laplace(shape_.ptr, shape_.len, @intFromEnum(dtype_), loc_, scale_, if (key_) |given| given.handle else null, &result, &failure), failure);
    return .{ .handle = result };
}

/// A place (uint32) along an axis for each row, with the probability of the softmax of its logits.
pub fn randomCategorical(logits_: Array, axis_: i64, key_: ?Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_random_categorical(logits_.handle, axis_, if (key_) |given| given.handle else null, &result, &failure), failure);
    return .{ .handle = result };
}

/// As random_categorical, several places for each row as a last axis.
pub fn randomCategoricalNumSamples(logits_: Array, axis_: i64, num_samples_: i64, key_: ?Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_random_categorical_num_samples(logits_.handle, axis_, num_samples_, if (key_) |given| given.handle else null, &result, &failure), failure);
    return .{ .handle = result };
}

/// As random_categorical, in a shape that the rows are broadcast to.
pub fn randomCategoricalShape(logits_: Array, axis_: i64, shape_: []const i64, key_: ?Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_random_categorical_shape(logits_.handle, axis_, shape_.ptr, shape_.len, if (key_) |given| given.handle else null, &result, &failure), failure);
    return .{ .handle = result };
}

/// Slices along an axis in random order.
pub fn randomPermutation(x_: Array, axis_: i64, key_: ?Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_random_permutation(x_.handle, axis_, if (key_) |given| given.handle else null, &result, &failure), failure);
    return .{ .handle = result };
}

/// The numbers (uint32) below a count in random order.
pub fn randomPermutationArange(count_: i64, key_: ?Array) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_random_permutation_arange(count_, if (key_) |given| given.handle else null, &result, &failure), failure);
    return .{ .handle = result };
}

/// The array of an npy file (numpy's). Its elements stay in the file, which is mapped: do not truncate it meanwhile; save replaces it as a whole. Also fails with IO, INVALID_FILE (damaged) and UNSUPPORTED (elements of no dtype).
pub fn load(path_: []const u8) Error!Array {
    var result: ?*c.mlxrocm_array = null;
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_load(path_.ptr, path_.len, &result, &failure), failure);
    return .{ .handle = result };
}

/// Saves an array as an npy file (numpy's), which is there whole or not at all. It is computed if it is not yet.
pub fn save(array_: Array, path_: []const u8) Error!void {
    var failure: ?*c.mlxrocm_error = null;
    try check(c.mlxrocm_array_save(array_.handle, path_.ptr, path_.len, &failure), failure);
}
