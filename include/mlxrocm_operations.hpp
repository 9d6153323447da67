// mlxrocm_operations.hpp: made by bindings/generate.py from include/mlxrocm.json; do not edit. Include
// mlxrocm_array.hpp.
#ifndef MLXROCM_OPERATIONS_HPP
#define MLXROCM_OPERATIONS_HPP

namespace mlxrocm {
namespace ops {
// Absolute value of each element; of complex ones the modulus, as float32.
inline Array abs(const Array &x) {
    return detail::one(mlxrocm_array_abs, x.get());
}

// Inverse cosine of each element.
inline Array arccos(const Array &x) {
    return detail::one(mlxrocm_array_arccos, x.get());
}

// Inverse hyperbolic cosine of each element.
inline Array arccosh(const Array &x) {
    return detail::one(mlxrocm_array_arccosh, x.get());
}

// Inverse sine of each element.
inline Array arcsin(const Array &x) {
    return detail::one(mlxrocm_array_arcsin, x.get());
}

// Inverse hyperbolic sine of each element.
inline Array arcsinh(const Array &x) {
    return detail::one(mlxrocm_array_arcsinh, x.get());
}

// Inverse tangent of each element.
inline Array arctan(const Array &x) {
    return detail::one(mlxrocm_array_arctan, x.get());
}

// Inverse hyperbolic tangent of each element.
inline Array arctanh(const Array &x) {
    return detail::one(mlxrocm_array_arctanh, x.get());
}

// Each bit of integers or truth values turned round.
inline Array bitwise_invert(const Array &x) {
    return detail::one(mlxrocm_array_bitwise_invert, x.get());
}

// Each element rounded up.
inline Array ceil(const Array &x) {
    return detail::one(mlxrocm_array_ceil, x.get());
}

// Complex conjugate of each element.
inline Array conjugate(const Array &x) {
    return detail::one(mlxrocm_array_conjugate, x.get());
}

// Cosine of each element.
inline Array cos(const Array &x) {
    return detail::one(mlxrocm_array_cos, x.get());
}

// Hyperbolic cosine of each element.
inline Array cosh(const Array &x) {
    return detail::one(mlxrocm_array_cosh, x.get());
}

// Error function of each element.
inline Array erf(const Array &x) {
    return detail::one(mlxrocm_array_erf, x.get());
}

// Inverse of the error function of each element.
inline Array erfinv(const Array &x) {
    return detail::one(mlxrocm_array_erfinv, x.get());
}

// Exponential of each element.
inline Array exp(const Array &x) {
    return detail::one(mlxrocm_array_exp, x.get());
}

// Exponential minus one of each element, exact near 0.
inline Array expm1(const Array &x) {
    return detail::one(mlxrocm_array_expm1, x.get());
}

// Each element rounded down.
inline Array floor(const Array &x) {
    return detail::one(mlxrocm_array_floor, x.get());
}

// Imaginary part of each element; zeros of real ones.
inline Array imag(const Array &x) {
    return detail::one(mlxrocm_array_imag, x.get());
}

// Natural logarithm of each element.
inline Array log(const Array &x) {
    return detail::one(mlxrocm_array_log, x.get());
}

// Logarithm to base 2 of each element.
inline Array log2(const Array &x) {
    return detail::one(mlxrocm_array_log2, x.get());
}

// Logarithm to base 10 of each element.
inline Array log10(const Array &x) {
    return detail::one(mlxrocm_array_log10, x.get());
}

// Logarithm of one plus each element, exact near 0.
inline Array log1p(const Array &x) {
    return detail::one(mlxrocm_array_log1p, x.get());
}

// Whether each element is 0.
inline Array logical_not(const Array &x) {
    return detail::one(mlxrocm_array_logical_not, x.get());
}

// The negative of each element; not of truth values.
inline Array negative(const Array &x) {
    return detail::one(mlxrocm_array_negative, x.get());
}

// Real part of each element.
inline Array real(const Array &x) {
    return detail::one(mlxrocm_array_real, x.get());
}

// One by the square root of each element.
inline Array rsqrt(const Array &x) {
    return detail::one(mlxrocm_array_rsqrt, x.get());
}

// 1 / (1 + exp(-x)) of each element.
inline Array sigmoid(const Array &x) {
    return detail::one(mlxrocm_array_sigmoid, x.get());
}

// -1, 0 or 1 by the sign of each element; of complex ones x / |x|.
inline Array sign(const Array &x) {
    return detail::one(mlxrocm_array_sign, x.get());
}

// Sine of each element.
inline Array sin(const Array &x) {
    return detail::one(mlxrocm_array_sin, x.get());
}

// Hyperbolic sine of each element.
inline Array sinh(const Array &x) {
    return detail::one(mlxrocm_array_sinh, x.get());
}

// Square root of each element.
inline Array sqrt(const Array &x) {
    return detail::one(mlxrocm_array_sqrt, x.get());
}

// Square of each element.
inline Array square(const Array &x) {
    return detail::one(mlxrocm_array_square, x.get());
}

// Tangent of each element.
inline Array tan(const Array &x) {
    return detail::one(mlxrocm_array_tan, x.get());
}

// Hyperbolic tangent of each element.
inline Array tanh(const Array &x) {
    return detail::one(mlxrocm_array_tanh, x.get());
}

// Radians as degrees.
inline Array degrees(const Array &x) {
    return detail::one(mlxrocm_array_degrees, x.get());
}

// Degrees as radians.
inline Array radians(const Array &x) {
    return detail::one(mlxrocm_array_radians, x.get());
}

// One by each element.
inline Array reciprocal(const Array &x) {
    return detail::one(mlxrocm_array_reciprocal, x.get());
}

// Each element rounded to decimals, halves to the even neighbour.
inline Array round(const Array &x, std::int64_t decimals = 0) {
    return detail::one(mlxrocm_array_round, x.get(), decimals);
}

// Each element without its fraction.
inline Array trunc(const Array &x) {
    return detail::one(mlxrocm_array_trunc, x.get());
}

// Whether each element is NaN.
inline Array isnan(const Array &x) {
    return detail::one(mlxrocm_array_isnan, x.get());
}

// Whether each element is infinite.
inline Array isinf(const Array &x) {
    return detail::one(mlxrocm_array_isinf, x.get());
}

// Whether each element is neither NaN nor infinite.
inline Array isfinite(const Array &x) {
    return detail::one(mlxrocm_array_isfinite, x.get());
}

// Whether each element is plus infinity.
inline Array isposinf(const Array &x) {
    return detail::one(mlxrocm_array_isposinf, x.get());
}

// Whether each element is minus infinity.
inline Array isneginf(const Array &x) {
    return detail::one(mlxrocm_array_isneginf, x.get());
}

// Each element, with numbers for NaN and infinities.
inline Array nan_to_num(
        const Array &x, double nan = 0.0, double posinf = std::numeric_limits<double>::quiet_NaN(), double
        neginf = std::numeric_limits<double>::quiet_NaN()) {
    return detail::one(mlxrocm_array_nan_to_num, x.get(), nan, posinf, neginf);
}

// The elements as another dtype: fractions are cut off, integers wrap, everything but 0 is true.
inline Array astype(const Array &x, DType dtype) {
    return detail::one(mlxrocm_array_astype, x.get(), static_cast<std::uint32_t>(dtype));
}

// The same bytes as another dtype; the last axis grows or shrinks with the size of an element.
inline Array view(const Array &x, DType dtype) {
    return detail::one(mlxrocm_array_view, x.get(), static_cast<std::uint32_t>(dtype));
}

// Sum.
inline Array add(const Array &a, const Array &b) {
    return detail::one(mlxrocm_array_add, a.get(), b.get());
}

// Angle of the point (b, a).
inline Array arctan2(const Array &a, const Array &b) {
    return detail::one(mlxrocm_array_arctan2, a.get(), b.get());
}

// And of the bits of integers or truth values.
inline Array bitwise_and(const Array &a, const Array &b) {
    return detail::one(mlxrocm_array_bitwise_and, a.get(), b.get());
}

// Or of the bits of integers or truth values.
inline Array bitwise_or(const Array &a, const Array &b) {
    return detail::one(mlxrocm_array_bitwise_or, a.get(), b.get());
}

// Exclusive or of the bits of integers or truth values.
inline Array bitwise_xor(const Array &a, const Array &b) {
    return detail::one(mlxrocm_array_bitwise_xor, a.get(), b.get());
}

// Bits of integers moved up by b; 0 beyond the dtype's bits.
inline Array left_shift(const Array &a, const Array &b) {
    return detail::one(mlxrocm_array_left_shift, a.get(), b.get());
}

// Bits of integers moved down by b; by more than the dtype's bits as by all of them.
inline Array right_shift(const Array &a, const Array &b) {
    return detail::one(mlxrocm_array_right_shift, a.get(), b.get());
}

// Quotient, a fraction.
inline Array divide(const Array &a, const Array &b) {
    return detail::one(mlxrocm_array_divide, a.get(), b.get());
}

// Quotient, rounded down, but of complex numbers. An integer by 0 is 0.
inline Array floor_divide(const Array &a, const Array &b) {
    return detail::one(mlxrocm_array_floor_divide, a.get(), b.get());
}

// Whether a = b.
inline Array equal(const Array &a, const Array &b) {
    return detail::one(mlxrocm_array_equal, a.get(), b.get());
}

// Whether a > b.
inline Array greater(const Array &a, const Array &b) {
    return detail::one(mlxrocm_array_greater, a.get(), b.get());
}

// Whether a >= b.
inline Array greater_equal(const Array &a, const Array &b) {
    return detail::one(mlxrocm_array_greater_equal, a.get(), b.get());
}

// Whether a < b.
inline Array less(const Array &a, const Array &b) {
    return detail::one(mlxrocm_array_less, a.get(), b.get());
}

// Whether a <= b.
inline Array less_equal(const Array &a, const Array &b) {
    return detail::one(mlxrocm_array_less_equal, a.get(), b.get());
}

// log(exp(a) + exp(b)) without overflow.
inline Array logaddexp(const Array &a, const Array &b) {
    return detail::one(mlxrocm_array_logaddexp, a.get(), b.get());
}

// Whether both are not 0.
inline Array logical_and(const Array &a, const Array &b) {
    return detail::one(mlxrocm_array_logical_and, a.get(), b.get());
}

// Whether one is not 0.
inline Array logical_or(const Array &a, const Array &b) {
    return detail::one(mlxrocm_array_logical_or, a.get(), b.get());
}

// The larger; NaN if one is NaN.
inline Array maximum(const Array &a, const Array &b) {
    return detail::one(mlxrocm_array_maximum, a.get(), b.get());
}

// The smaller; NaN if one is NaN.
inline Array minimum(const Array &a, const Array &b) {
    return detail::one(mlxrocm_array_minimum, a.get(), b.get());
}

// Product.
inline Array multiply(const Array &a, const Array &b) {
    return detail::one(mlxrocm_array_multiply, a.get(), b.get());
}

// Whether a and b differ.
inline Array not_equal(const Array &a, const Array &b) {
    return detail::one(mlxrocm_array_not_equal, a.get(), b.get());
}

// a to the power of b. Integers to a negative power are 0, but 1 and -1.
inline Array power(const Array &a, const Array &b) {
    return detail::one(mlxrocm_array_power, a.get(), b.get());
}

// Remainder of the quotient rounded down: it has b's sign. An integer by 0 leaves 0.
inline Array remainder(const Array &a, const Array &b) {
    return detail::one(mlxrocm_array_remainder, a.get(), b.get());
}

// Difference.
inline Array subtract(const Array &a, const Array &b) {
    return detail::one(mlxrocm_array_subtract, a.get(), b.get());
}

// Whether one is 0 and the other is not.
inline Array logical_xor(const Array &a, const Array &b) {
    return detail::one(mlxrocm_array_logical_xor, a.get(), b.get());
}

// Quotient, rounded down, and remainder, with b's sign.
inline std::array<Array, 2> divmod(const Array &a, const Array &b) {
    return detail::several<2>(mlxrocm_array_divmod, a.get(), b.get());
}

// Elements of a where the condition is not 0, of b elsewhere.
inline Array where(const Array &condition, const Array &a, const Array &b) {
    return detail::one(mlxrocm_array_where, condition.get(), a.get(), b.get());
}

// Elements between a minimum and a maximum.
inline Array clip(const Array &x, const Array &minimum = {}, const Array &maximum = {}) {
    return detail::one(mlxrocm_array_clip, x.get(), minimum.get(), maximum.get());
}

// Whether |a - b| <= atol + rtol |b|; equal infinities are close.
inline Array isclose(
        const Array &a, const Array &b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false) {
    return detail::one(mlxrocm_array_isclose, a.get(), b.get(), rtol, atol, std::int32_t{equal_nan});
}

// Whether all elements are close, as by isclose.
inline Array allclose(
        const Array &a, const Array &b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false) {
    return detail::one(mlxrocm_array_allclose, a.get(), b.get(), rtol, atol, std::int32_t{equal_nan});
}

// Whether shapes and all elements are equal.
inline Array array_equal(const Array &a, const Array &b, bool equal_nan = false) {
    return detail::one(mlxrocm_array_array_equal, a.get(), b.get(), std::int32_t{equal_nan});
}

// The value, broadcast to a shape.
inline Array full(const std::vector<std::int64_t> &shape, const Array &value, DType dtype = DType::float32) {
    return detail::one(
        mlxrocm_array_full, shape.data(), shape.size(), value.get(), static_cast<std::uint32_t>(dtype));
}

// Zeros.
inline Array zeros(const std::vector<std::int64_t> &shape, DType dtype = DType::float32) {
    return detail::one(mlxrocm_array_zeros, shape.data(), shape.size(), static_cast<std::uint32_t>(dtype));
}

// Ones.
inline Array ones(const std::vector<std::int64_t> &shape, DType dtype = DType::float32) {
    return detail::one(mlxrocm_array_ones, shape.data(), shape.size(), static_cast<std::uint32_t>(dtype));
}

// Zeros of the shape of an array, on its device.
inline Array zeros_like(const Array &x, std::optional<DType> dtype = {}) {
    return detail::one(mlxrocm_array_zeros_like, x.get(), detail::or_none(dtype));
}

// Ones of the shape of an array, on its device.
inline Array ones_like(const Array &x, std::optional<DType> dtype = {}) {
    return detail::one(mlxrocm_array_ones_like, x.get(), detail::or_none(dtype));
}

// The value, broadcast to the shape of an array, on its device.
inline Array full_like(const Array &x, const Array &value, std::optional<DType> dtype = {}) {
    return detail::one(mlxrocm_array_full_like, x.get(), value.get(), detail::or_none(dtype));
}

// A scalar.
inline Array number(double value, DType dtype = DType::float32) {
    return detail::one(mlxrocm_array_number, value, static_cast<std::uint32_t>(dtype));
}

// Start, start + step and so on, before stop; not of truth values.
inline Array arange(double start, double stop, double step, DType dtype = DType::float32) {
    return detail::one(mlxrocm_array_arange, start, stop, step, static_cast<std::uint32_t>(dtype));
}

// Numbers from start to stop, evenly spaced.
inline Array linspace(double start, double stop, std::int64_t count, DType dtype = DType::float32) {
    return detail::one(mlxrocm_array_linspace, start, stop, count, static_cast<std::uint32_t>(dtype));
}

// Ones on a diagonal of a matrix of zeros.
inline Array eye(std::int64_t n, std::int64_t m, std::int64_t k = 0, DType dtype = DType::float32) {
    return detail::one(mlxrocm_array_eye, n, m, k, static_cast<std::uint32_t>(dtype));
}

// The identity matrix.
inline Array identity(std::int64_t n, DType dtype = DType::float32) {
    return detail::one(mlxrocm_array_identity, n, static_cast<std::uint32_t>(dtype));
}

// Ones on and below a diagonal, zeros above.
inline Array tri(std::int64_t n, std::int64_t m, std::int64_t k = 0, DType dtype = DType::float32) {
    return detail::one(mlxrocm_array_tri, n, m, k, static_cast<std::uint32_t>(dtype));
}

// The last two axes with zeros above a diagonal.
inline Array tril(const Array &x, std::int64_t k = 0) {
    return detail::one(mlxrocm_array_tril, x.get(), k);
}

// The last two axes with zeros below a diagonal.
inline Array triu(const Array &x, std::int64_t k = 0) {
    return detail::one(mlxrocm_array_triu, x.get(), k);
}

// A matrix with a vector on a diagonal, or a diagonal of a matrix.
inline Array diag(const Array &x, std::int64_t k = 0) {
    return detail::one(mlxrocm_array_diag, x.get(), k);
}

// Diagonals of the matrices of two axes, as a last axis.
inline Array diagonal(
        const Array &x, std::int64_t offset = 0, std::int64_t axis1 = 0, std::int64_t axis2 = 1) {
    return detail::one(mlxrocm_array_diagonal, x.get(), offset, axis1, axis2);
}

// Sum of a diagonal.
inline Array trace(
        const Array &x, DType dtype, std::int64_t offset = 0, std::int64_t axis1 = 0, std::int64_t axis2 = 1) {
    return detail::one(
        mlxrocm_array_trace, x.get(), offset, axis1, axis2, static_cast<std::uint32_t>(dtype));
}

// Products of every element of a with every one of b.
inline Array outer(const Array &a, const Array &b) {
    return detail::one(mlxrocm_array_outer, a.get(), b.get());
}

// Kronecker product.
inline Array kron(const Array &a, const Array &b) {
    return detail::one(mlxrocm_array_kron, a.get(), b.get());
}

// Whether all elements are not 0.
inline Array all(const Array &x, const Axes &axes = {}, bool keepdims = false) {
    return detail::one(mlxrocm_array_all, x.get(), axes.data(), axes.size(), std::int32_t{keepdims});
}

// Whether some element is not 0.
inline Array any(const Array &x, const Axes &axes = {}, bool keepdims = false) {
    return detail::one(mlxrocm_array_any, x.get(), axes.data(), axes.size(), std::int32_t{keepdims});
}

// Sum. Small integers and truth values become 32-bit integers.
inline Array sum(const Array &x, const Axes &axes = {}, bool keepdims = false) {
    return detail::one(mlxrocm_array_sum, x.get(), axes.data(), axes.size(), std::int32_t{keepdims});
}

// Product. Small integers and truth values become 32-bit integers.
inline Array prod(const Array &x, const Axes &axes = {}, bool keepdims = false) {
    return detail::one(mlxrocm_array_prod, x.get(), axes.data(), axes.size(), std::int32_t{keepdims});
}

// The smallest; NaN if there is one.
inline Array min(const Array &x, const Axes &axes = {}, bool keepdims = false) {
    return detail::one(mlxrocm_array_min, x.get(), axes.data(), axes.size(), std::int32_t{keepdims});
}

// The largest; NaN if there is one.
inline Array max(const Array &x, const Axes &axes = {}, bool keepdims = false) {
    return detail::one(mlxrocm_array_max, x.get(), axes.data(), axes.size(), std::int32_t{keepdims});
}

// Logarithm of the sum of exponentials, without overflow.
inline Array logsumexp(const Array &x, const Axes &axes = {}, bool keepdims = false) {
    return detail::one(mlxrocm_array_logsumexp, x.get(), axes.data(), axes.size(), std::int32_t{keepdims});
}

// Mean.
inline Array mean(const Array &x, const Axes &axes = {}, bool keepdims = false) {
    return detail::one(mlxrocm_array_mean, x.get(), axes.data(), axes.size(), std::int32_t{keepdims});
}

// Variance.
inline Array var(const Array &x, const Axes &axes = {}, bool keepdims = false, std::int64_t ddof = 0) {
    return detail::one(mlxrocm_array_var, x.get(), axes.data(), axes.size(), std::int32_t{keepdims}, ddof);
}

// Standard deviation.
inline Array std(const Array &x, const Axes &axes = {}, bool keepdims = false, std::int64_t ddof = 0) {
    return detail::one(mlxrocm_array_std, x.get(), axes.data(), axes.size(), std::int32_t{keepdims}, ddof);
}

// Median; the mean of the middle two of an even number.
inline Array median(const Array &x, const Axes &axes = {}, bool keepdims = false) {
    return detail::one(mlxrocm_array_median, x.get(), axes.data(), axes.size(), std::int32_t{keepdims});
}

// How many elements are not 0.
inline Array count_nonzero(const Array &x, const Axes &axes = {}, bool keepdims = false) {
    return detail::one(
        mlxrocm_array_count_nonzero, x.get(), axes.data(), axes.size(), std::int32_t{keepdims});
}

// The place (uint32) of the first smallest element; of NaN if there is one.
inline Array argmin(const Array &x, Axis axis = {}, bool keepdims = false) {
    return detail::one(mlxrocm_array_argmin, x.get(), axis.number(), std::int32_t{keepdims});
}

// The place (uint32) of the first largest element; of NaN if there is one.
inline Array argmax(const Array &x, Axis axis = {}, bool keepdims = false) {
    return detail::one(mlxrocm_array_argmax, x.get(), axis.number(), std::int32_t{keepdims});
}

// Softmax: exp(x) over its sum along axes, without overflow.
inline Array softmax(const Array &x, const Axes &axes = {}, bool precise = false) {
    return detail::one(mlxrocm_array_softmax, x.get(), axes.data(), axes.size(), std::int32_t{precise});
}

// How many elements axes have, as a scalar.
inline Array number_of_elements(
        const Array &x, const Axes &axes = {}, bool inverted = false, DType dtype = DType::float32) {
    return detail::one(
        mlxrocm_array_number_of_elements, x.get(), axes.data(), axes.size(), std::int32_t{inverted},
        static_cast<std::uint32_t>(dtype));
}

// Running sum.
inline Array cumsum(const Array &x, Axis axis = {}, bool reverse = false, bool inclusive = true) {
    return detail::one(
        mlxrocm_array_cumsum, x.get(), axis.number(), std::int32_t{reverse}, std::int32_t{inclusive});
}

// Running product.
inline Array cumprod(const Array &x, Axis axis = {}, bool reverse = false, bool inclusive = true) {
    return detail::one(
        mlxrocm_array_cumprod, x.get(), axis.number(), std::int32_t{reverse}, std::int32_t{inclusive});
}

// Running maximum.
inline Array cummax(const Array &x, Axis axis = {}, bool reverse = false, bool inclusive = true) {
    return detail::one(
        mlxrocm_array_cummax, x.get(), axis.number(), std::int32_t{reverse}, std::int32_t{inclusive});
}

// Running minimum.
inline Array cummin(const Array &x, Axis axis = {}, bool reverse = false, bool inclusive = true) {
    return detail::one(
        mlxrocm_array_cummin, x.get(), axis.number(), std::int32_t{reverse}, std::int32_t{inclusive});
}

// Running logarithm of the sum of exponentials.
inline Array logcumsumexp(const Array &x, Axis axis = {}, bool reverse = false, bool inclusive = true) {
    return detail::one(
        mlxrocm_array_logcumsumexp, x.get(), axis.number(), std::int32_t{reverse}, std::int32_t{inclusive});
}

// Sorted, NaN last.
inline Array sort(const Array &x, Axis axis = -1) {
    return detail::one(mlxrocm_array_sort, x.get(), axis.number());
}

// The places (uint32) of the sorted elements; equal ones stay in order.
inline Array argsort(const Array &x, Axis axis = -1) {
    return detail::one(mlxrocm_array_argsort, x.get(), axis.number());
}

// With the kth element where sorting would put it, none larger before it and none smaller behind.
inline Array partition(const Array &x, std::int64_t kth, Axis axis = -1) {
    return detail::one(mlxrocm_array_partition, x.get(), kth, axis.number());
}

// The places (uint32) that partition takes elements from.
inline Array argpartition(const Array &x, std::int64_t kth, Axis axis = -1) {
    return detail::one(mlxrocm_array_argpartition, x.get(), kth, axis.number());
}

// The k largest, in no particular order.
inline Array topk(const Array &x, std::int64_t k, Axis axis = -1) {
    return detail::one(mlxrocm_array_topk, x.get(), k, axis.number());
}

// Where values would be put into a sorted vector (uint32).
inline Array searchsorted(const Array &sorted, const Array &values, bool right = false) {
    return detail::one(mlxrocm_array_searchsorted, sorted.get(), values.get(), std::int32_t{right});
}

// The same elements, row after row, in another shape; one size may be -1: what is left.
inline Array reshape(const Array &x, const std::vector<std::int64_t> &shape) {
    return detail::one(mlxrocm_array_reshape, x.get(), shape.data(), shape.size());
}

// Neighbouring axes as one.
inline Array flatten(const Array &x, std::int64_t start = 0, std::int64_t end = -1) {
    return detail::one(mlxrocm_array_flatten, x.get(), start, end);
}

// An axis as several; one size may be -1: what is left.
inline Array unflatten(const Array &x, std::int64_t axis, const std::vector<std::int64_t> &shape) {
    return detail::one(mlxrocm_array_unflatten, x.get(), axis, shape.data(), shape.size());
}

// New axes of size 1.
inline Array expand_dims(const Array &x, const std::vector<std::int64_t> &axes) {
    return detail::one(mlxrocm_array_expand_dims, x.get(), axes.data(), axes.size());
}

// Axes of size 1 taken away.
inline Array squeeze(const Array &x, const Axes &axes = {}) {
    return detail::one(mlxrocm_array_squeeze, x.get(), axes.data(), axes.size());
}

// Repeated along axes of size 1, and along new ones in front.
inline Array broadcast_to(const Array &x, const std::vector<std::int64_t> &shape) {
    return detail::one(mlxrocm_array_broadcast_to, x.get(), shape.data(), shape.size());
}

// Axes in another order.
inline Array transpose(const Array &x, const Axes &axes = {}) {
    return detail::one(mlxrocm_array_transpose, x.get(), axes.data(), axes.size());
}

// Two axes in each other's place.
inline Array swapaxes(const Array &x, std::int64_t axis1 = 0, std::int64_t axis2 = 1) {
    return detail::one(mlxrocm_array_swapaxes, x.get(), axis1, axis2);
}

// An axis at another place.
inline Array moveaxis(const Array &x, std::int64_t source, std::int64_t destination) {
    return detail::one(mlxrocm_array_moveaxis, x.get(), source, destination);
}

// At least one axis.
inline Array atleast_1d(const Array &x) {
    return detail::one(mlxrocm_array_atleast_1d, x.get());
}

// At least two axes.
inline Array atleast_2d(const Array &x) {
    return detail::one(mlxrocm_array_atleast_2d, x.get());
}

// At least three axes.
inline Array atleast_3d(const Array &x) {
    return detail::one(mlxrocm_array_atleast_3d, x.get());
}

// Elements from start to before stop by step. Negative places count from the end, those beyond the array
// are its ends; a negative step goes backwards.
inline Array slice(
        const Array &x, const std::vector<std::int64_t> &start, const std::vector<std::int64_t> &stop, const
        std::vector<std::int64_t> &step) {
    return detail::one(
        mlxrocm_array_slice, x.get(), start.data(), start.size(), stop.data(), stop.size(), step.data(),
        step.size());
}

// Elements at the places, among the array's elements row after row, that strides and an offset give.
inline Array as_strided(
        const Array &x, const std::vector<std::int64_t> &shape, const std::vector<std::int64_t> &strides,
        std::int64_t offset = 0) {
    return detail::one(
        mlxrocm_array_as_strided, x.get(), shape.data(), shape.size(), strides.data(), strides.size(),
        offset);
}

// Row after row in memory.
inline Array contiguous(const Array &x) {
    return detail::one(mlxrocm_array_contiguous, x.get());
}

// The array, as one that derivatives do not pass.
inline Array stop_gradient(const Array &x) {
    return detail::one(mlxrocm_array_stop_gradient, x.get());
}

// The array, computed after others.
inline Array depends(const Array &x, const std::vector<Array> &others) {
    return detail::one(mlxrocm_array_depends, x.get(), detail::handles(others).data(), others.size());
}

// Arrays one after the other along an axis.
inline Array concatenate(const std::vector<Array> &arrays, std::int64_t axis = 0) {
    return detail::one(mlxrocm_array_concatenate, detail::handles(arrays).data(), arrays.size(), axis);
}

// Arrays of one shape along a new axis.
inline Array stack(const std::vector<Array> &arrays, std::int64_t axis = 0) {
    return detail::one(mlxrocm_array_stack, detail::handles(arrays).data(), arrays.size(), axis);
}

// Each element several times, one after the other.
inline Array repeat(const Array &x, std::int64_t repeats, Axis axis = {}) {
    return detail::one(mlxrocm_array_repeat, x.get(), repeats, axis.number());
}

// The whole array several times along each axis.
inline Array tile(const Array &x, const std::vector<std::int64_t> &reps) {
    return detail::one(mlxrocm_array_tile, x.get(), reps.data(), reps.size());
}

// Surrounded along every axis.
inline Array pad(
        const Array &x, const std::vector<std::int64_t> &low, const std::vector<std::int64_t> &high,
        std::int64_t mode = 0, const Array &value = {}) {
    return detail::one(
        mlxrocm_array_pad, x.get(), low.data(), low.size(), high.data(), high.size(), mode, value.get());
}

// Moved round; what leaves at an end comes in at the other.
inline Array roll(const Array &x, const std::vector<std::int64_t> &shifts, const Axes &axes = {}) {
    return detail::one(mlxrocm_array_roll, x.get(), shifts.data(), shifts.size(), axes.data(), axes.size());
}

// Axes turned round: the last element first.
inline Array flip(const Array &x, const Axes &axes = {}) {
    return detail::one(mlxrocm_array_flip, x.get(), axes.data(), axes.size());
}

// Cuts an array before places of an axis.
inline std::vector<Array> split(
        const Array &x, const std::vector<std::int64_t> &places, std::int64_t axis = 0) {
    return detail::many(places.size() + 1, mlxrocm_array_split, x.get(), places.data(), places.size(), axis);
}

// Cuts an axis into equal parts.
inline std::vector<Array> split_parts(const Array &x, std::size_t parts, std::int64_t axis = 0) {
    return detail::many(parts, mlxrocm_array_split_parts, x.get(), parts, axis);
}

// Broadcasts arrays to the shape that all of them fit.
inline std::vector<Array> broadcast_arrays(const std::vector<Array> &arrays) {
    return detail::many(
        arrays.size(), mlxrocm_array_broadcast_arrays, detail::handles(arrays).data(), arrays.size());
}

// Coordinates of a grid: each vector along an axis of its own, repeated along the others.
inline std::vector<Array> meshgrid(
        const std::vector<Array> &arrays, bool sparse = false, bool swapped = false) {
    return detail::many(
        arrays.size(), mlxrocm_array_meshgrid, detail::handles(arrays).data(), arrays.size(),
        std::int32_t{sparse}, std::int32_t{swapped});
}

// Slices of one axis at indices, which take the axis' place. Negative indices count from the end.
inline Array take(const Array &x, const Array &indices, Axis axis = {}) {
    return detail::one(mlxrocm_array_take, x.get(), indices.get(), axis.number());
}

// The element at each index along an axis. Other axes are broadcast.
inline Array take_along_axis(const Array &x, const Array &indices, Axis axis = {}) {
    return detail::one(mlxrocm_array_take_along_axis, x.get(), indices.get(), axis.number());
}

// Slices of given sizes that begin at indices along axes. The result has the indices' shape, then the
// sizes.
inline Array gather(
        const Array &x, const std::vector<Array> &indices, const std::vector<std::int64_t> &axes, const
        std::vector<std::int64_t> &sizes) {
    return detail::one(
        mlxrocm_array_gather, x.get(), detail::handles(indices).data(), indices.size(), axes.data(),
        axes.size(), sizes.data(), sizes.size());
}

// A slice of given sizes that begins at computed places.
inline Array slice_dynamic(
        const Array &x, const Array &start, const std::vector<std::int64_t> &axes, const
        std::vector<std::int64_t> &sizes) {
    return detail::one(
        mlxrocm_array_slice_dynamic, x.get(), start.get(), axes.data(), axes.size(), sizes.data(),
        sizes.size());
}

// With an update in place of the slice that begins at computed places.
inline Array slice_update_dynamic(
        const Array &x, const Array &update, const Array &start, const std::vector<std::int64_t> &axes) {
    return detail::one(
        mlxrocm_array_slice_update_dynamic, x.get(), update.get(), start.get(), axes.data(), axes.size());
}

// With elements of source, in order, where the mask is not 0.
inline Array masked_scatter(const Array &x, const Array &mask, const Array &source) {
    return detail::one(mlxrocm_array_masked_scatter, x.get(), mask.get(), source.get());
}

// With slices at indices along axes replaced by updates. Updates have the indices' shape, then that of
// slices of x's rank. Where places meet the last update stays.
inline Array scatter(
        const Array &x, const std::vector<Array> &indices, const Array &updates, const
        std::vector<std::int64_t> &axes) {
    return detail::one(
        mlxrocm_array_scatter, x.get(), detail::handles(indices).data(), indices.size(), updates.get(),
        axes.data(), axes.size());
}

// With the elements of a slice replaced by an update, which is broadcast to it.
inline Array slice_update(
        const Array &x, const Array &update, const std::vector<std::int64_t> &start, const
        std::vector<std::int64_t> &stop, const std::vector<std::int64_t> &step) {
    return detail::one(
        mlxrocm_array_slice_update, x.get(), update.get(), start.data(), start.size(), stop.data(),
        stop.size(), step.data(), step.size());
}

// With slices at indices along axes joined by sum with updates. Updates have the indices' shape, then that
// of slices of x's rank.
inline Array scatter_add(
        const Array &x, const std::vector<Array> &indices, const Array &updates, const
        std::vector<std::int64_t> &axes) {
    return detail::one(
        mlxrocm_array_scatter_add, x.get(), detail::handles(indices).data(), indices.size(), updates.get(),
        axes.data(), axes.size());
}

// With the elements of a slice joined by sum with an update, which is broadcast to it.
inline Array slice_update_add(
        const Array &x, const Array &update, const std::vector<std::int64_t> &start, const
        std::vector<std::int64_t> &stop, const std::vector<std::int64_t> &step) {
    return detail::one(
        mlxrocm_array_slice_update_add, x.get(), update.get(), start.data(), start.size(), stop.data(),
        stop.size(), step.data(), step.size());
}

// With slices at indices along axes joined by product with updates. Updates have the indices' shape, then
// that of slices of x's rank.
inline Array scatter_prod(
        const Array &x, const std::vector<Array> &indices, const Array &updates, const
        std::vector<std::int64_t> &axes) {
    return detail::one(
        mlxrocm_array_scatter_prod, x.get(), detail::handles(indices).data(), indices.size(), updates.get(),
        axes.data(), axes.size());
}

// With the elements of a slice joined by product with an update, which is broadcast to it.
inline Array slice_update_prod(
        const Array &x, const Array &update, const std::vector<std::int64_t> &start, const
        std::vector<std::int64_t> &stop, const std::vector<std::int64_t> &step) {
    return detail::one(
        mlxrocm_array_slice_update_prod, x.get(), update.get(), start.data(), start.size(), stop.data(),
        stop.size(), step.data(), step.size());
}

// With slices at indices along axes joined by maximum with updates. Updates have the indices' shape, then
// that of slices of x's rank.
inline Array scatter_max(
        const Array &x, const std::vector<Array> &indices, const Array &updates, const
        std::vector<std::int64_t> &axes) {
    return detail::one(
        mlxrocm_array_scatter_max, x.get(), detail::handles(indices).data(), indices.size(), updates.get(),
        axes.data(), axes.size());
}

// With the elements of a slice joined by maximum with an update, which is broadcast to it.
inline Array slice_update_max(
        const Array &x, const Array &update, const std::vector<std::int64_t> &start, const
        std::vector<std::int64_t> &stop, const std::vector<std::int64_t> &step) {
    return detail::one(
        mlxrocm_array_slice_update_max, x.get(), update.get(), start.data(), start.size(), stop.data(),
        stop.size(), step.data(), step.size());
}

// With slices at indices along axes joined by minimum with updates. Updates have the indices' shape, then
// that of slices of x's rank.
inline Array scatter_min(
        const Array &x, const std::vector<Array> &indices, const Array &updates, const
        std::vector<std::int64_t> &axes) {
    return detail::one(
        mlxrocm_array_scatter_min, x.get(), detail::handles(indices).data(), indices.size(), updates.get(),
        axes.data(), axes.size());
}

// With the elements of a slice joined by minimum with an update, which is broadcast to it.
inline Array slice_update_min(
        const Array &x, const Array &update, const std::vector<std::int64_t> &start, const
        std::vector<std::int64_t> &stop, const std::vector<std::int64_t> &step) {
    return detail::one(
        mlxrocm_array_slice_update_min, x.get(), update.get(), start.data(), start.size(), stop.data(),
        stop.size(), step.data(), step.size());
}

// With values put at indices along an axis. Values are broadcast to the indices.
inline Array put_along_axis(const Array &x, const Array &indices, const Array &values, Axis axis = {}) {
    return detail::one(mlxrocm_array_put_along_axis, x.get(), indices.get(), values.get(), axis.number());
}

// With values added at indices along an axis. Values are broadcast to the indices.
inline Array scatter_add_axis(const Array &x, const Array &indices, const Array &values, Axis axis = {}) {
    return detail::one(mlxrocm_array_scatter_add_axis, x.get(), indices.get(), values.get(), axis.number());
}

// Product of the last two axes; the others are broadcast together. A vector is a row on the left and a
// column on the right.
inline Array matmul(const Array &a, const Array &b) {
    return detail::one(mlxrocm_array_matmul, a.get(), b.get());
}

// alpha · a·b + beta · c; c is broadcast to the product.
inline Array addmm(const Array &c, const Array &a, const Array &b, double alpha = 1.0, double beta = 1.0) {
    return detail::one(mlxrocm_array_addmm, c.get(), a.get(), b.get(), alpha, beta);
}

// Product of matrices whose blocks are multiplied by masks (truth values or numbers) first.
inline Array block_masked_mm(
        const Array &a, const Array &b, std::int64_t block_size, const Array &mask_out = {}, const Array
        &mask_lhs = {}, const Array &mask_rhs = {}) {
    return detail::one(
        mlxrocm_array_block_masked_mm, a.get(), b.get(), block_size, mask_out.get(), mask_lhs.get(),
        mask_rhs.get());
}

// Products of matrices by index: of matrix lhs_indices[i] of a and matrix rhs_indices[i] of b.
inline Array gather_mm(
        const Array &a, const Array &b, const Array &lhs_indices = {}, const Array &rhs_indices = {}) {
    return detail::one(mlxrocm_array_gather_mm, a.get(), b.get(), lhs_indices.get(), rhs_indices.get());
}

// Products of parts of two matrices.
inline Array segmented_mm(const Array &a, const Array &b, const Array &segments) {
    return detail::one(mlxrocm_array_segmented_mm, a.get(), b.get(), segments.get());
}

// Sums of products over pairs of axes.
inline Array tensordot(
        const Array &a, const Array &b, const std::vector<std::int64_t> &axes_a, const
        std::vector<std::int64_t> &axes_b) {
    return detail::one(
        mlxrocm_array_tensordot, a.get(), b.get(), axes_a.data(), axes_a.size(), axes_b.data(),
        axes_b.size());
}

// Sums of products over the last axes.
inline Array inner(const Array &a, const Array &b) {
    return detail::one(mlxrocm_array_inner, a.get(), b.get());
}

// Sums of products over axes that are named by letters: "ij,jk->ik" is the product of two matrices. Spaces
// are nothing; `...` stands for axes without names, which are broadcast; without `->` the result has the
// letters that appear once, in the order of the alphabet.
inline Array einsum(const std::string &subscripts, const std::vector<Array> &operands) {
    return detail::one(
        mlxrocm_array_einsum, subscripts.data(), subscripts.size(), detail::handles(operands).data(),
        operands.size());
}

// Codes, scales and biases of groups along the last axis, in the affine mode.
inline std::array<Array, 3> quantize(const Array &w, std::int64_t group_size = 0, std::int64_t bits = 0) {
    return detail::several<3>(mlxrocm_array_quantize, w.get(), group_size, bits);
}

// Codes and scales of groups along the last axis, in a mode without biases.
inline std::array<Array, 2> quantize_float(
        const Array &w, const std::string &mode, const Array &global_scale = {}) {
    return detail::several<2>(
        mlxrocm_array_quantize_float, w.get(), mode.data(), mode.size(), global_scale.get());
}

// The numbers of codes.
inline Array dequantize(
        const Array &w, const Array &scales, const Array &biases = {}, std::int64_t group_size = 0,
        std::int64_t bits = 0, const std::string &mode = "affine", const Array &global_scale = {},
        std::optional<DType> dtype = {}) {
    return detail::one(
        mlxrocm_array_dequantize, w.get(), scales.get(), biases.get(), group_size, bits, mode.data(),
        mode.size(), global_scale.get(), detail::or_none(dtype));
}

// Product with a quantized matrix.
inline Array quantized_matmul(
        const Array &x, const Array &w, const Array &scales, const Array &biases = {}, bool transpose =
        true, std::int64_t group_size = 0, std::int64_t bits = 0, const std::string &mode = "affine") {
    return detail::one(
        mlxrocm_array_quantized_matmul, x.get(), w.get(), scales.get(), biases.get(),
        std::int32_t{transpose}, group_size, bits, mode.data(), mode.size());
}

// Products with quantized matrices by index: matrix lhs_indices[i] of x with matrix rhs_indices[i] of w.
inline Array gather_qmm(
        const Array &x, const Array &w, const Array &scales, const Array &biases = {}, const Array
        &lhs_indices = {}, const Array &rhs_indices = {}, bool transpose = true, std::int64_t group_size =
        0, std::int64_t bits = 0, const std::string &mode = "affine") {
    return detail::one(
        mlxrocm_array_gather_qmm, x.get(), w.get(), scales.get(), biases.get(), lhs_indices.get(),
        rhs_indices.get(), std::int32_t{transpose}, group_size, bits, mode.data(), mode.size());
}

// Product x · wᵀ with both sides quantized: x on the way, w too if it has no scales.
inline Array qqmm(
        const Array &x, const Array &w, const Array &scales = {}, const std::string &mode = "nvfp4", const
        Array &global_scale_x = {}, const Array &global_scale_w = {}) {
    return detail::one(
        mlxrocm_array_qqmm, x.get(), w.get(), scales.get(), mode.data(), mode.size(), global_scale_x.get(),
        global_scale_w.get());
}

// As qqmm, matrix lhs_indices[i] of x with matrix rhs_indices[i] of w.
inline Array gather_qqmm(
        const Array &x, const Array &w, const Array &scales = {}, const Array &lhs_indices = {}, const Array
        &rhs_indices = {}, const std::string &mode = "nvfp4", const Array &global_scale_x = {}, const Array
        &global_scale_w = {}) {
    return detail::one(
        mlxrocm_array_gather_qqmm, x.get(), w.get(), scales.get(), lhs_indices.get(), rhs_indices.get(),
        mode.data(), mode.size(), global_scale_x.get(), global_scale_w.get());
}

// E4M3 codes (uint8) of numbers.
inline Array to_fp8(const Array &x) {
    return detail::one(mlxrocm_array_to_fp8, x.get());
}

// Numbers of E4M3 codes (uint8).
inline Array from_fp8(const Array &x, DType dtype = DType::float32) {
    return detail::one(mlxrocm_array_from_fp8, x.get(), static_cast<std::uint32_t>(dtype));
}

// Convolution of [batch, …, channels] with [channels out, …, channels / groups], of one to three spatial
// axes. A list holds a number for each of these, one for all, or none for the usual.
inline Array conv_general(
        const Array &x, const Array &weight, const std::vector<std::int64_t> &stride, const
        std::vector<std::int64_t> &padding_low, const std::vector<std::int64_t> &padding_high, const
        std::vector<std::int64_t> &kernel_dilation, const std::vector<std::int64_t> &input_dilation,
        std::int64_t groups = 1, bool flip = false) {
    return detail::one(
        mlxrocm_array_conv_general, x.get(), weight.get(), stride.data(), stride.size(), padding_low.data(),
        padding_low.size(), padding_high.data(), padding_high.size(), kernel_dilation.data(),
        kernel_dilation.size(), input_dilation.data(), input_dilation.size(), groups, std::int32_t{flip});
}

// Transposed convolution: back to the size of what a convolution with these numbers is made of.
inline Array conv_transpose(
        const Array &x, const Array &weight, const std::vector<std::int64_t> &stride, const
        std::vector<std::int64_t> &padding, const std::vector<std::int64_t> &dilation, const
        std::vector<std::int64_t> &output_padding, std::int64_t groups = 1) {
    return detail::one(
        mlxrocm_array_conv_transpose, x.get(), weight.get(), stride.data(), stride.size(), padding.data(),
        padding.size(), dilation.data(), dilation.size(), output_padding.data(), output_padding.size(),
        groups);
}

// Convolution of [batch, length, channels] with [channels out, length, channels / groups].
inline Array conv1d(
        const Array &x, const Array &weight, std::int64_t stride = 1, std::int64_t padding = 0, std::int64_t
        dilation = 1, std::int64_t groups = 1) {
    return detail::one(mlxrocm_array_conv1d, x.get(), weight.get(), stride, padding, dilation, groups);
}

// Transposed convolution of 1 spatial axis: back to the size of what conv1d with these numbers is made of.
inline Array conv_transpose1d(
        const Array &x, const Array &weight, std::int64_t stride = 1, std::int64_t padding = 0, std::int64_t
        dilation = 1, std::int64_t output_padding = 0, std::int64_t groups = 1) {
    return detail::one(
        mlxrocm_array_conv_transpose1d, x.get(), weight.get(), stride, padding, dilation, output_padding,
        groups);
}

// Convolution of [batch, height, width, channels] with [channels out, height, width, channels / groups].
inline Array conv2d(
        const Array &x, const Array &weight, const std::vector<std::int64_t> &stride, const
        std::vector<std::int64_t> &padding, const std::vector<std::int64_t> &dilation, std::int64_t groups =
        1) {
    return detail::one(
        mlxrocm_array_conv2d, x.get(), weight.get(), stride.data(), stride.size(), padding.data(),
        padding.size(), dilation.data(), dilation.size(), groups);
}

// Transposed convolution of 2 spatial axes: back to the size of what conv2d with these numbers is made of.
inline Array conv_transpose2d(
        const Array &x, const Array &weight, const std::vector<std::int64_t> &stride, const
        std::vector<std::int64_t> &padding, const std::vector<std::int64_t> &dilation, const
        std::vector<std::int64_t> &output_padding, std::int64_t groups = 1) {
    return detail::one(
        mlxrocm_array_conv_transpose2d, x.get(), weight.get(), stride.data(), stride.size(), padding.data(),
        padding.size(), dilation.data(), dilation.size(), output_padding.data(), output_padding.size(),
        groups);
}

// Convolution of [batch, depth, height, width, channels] with [channels out, depth, height, width, channels
// / groups].
inline Array conv3d(
        const Array &x, const Array &weight, const std::vector<std::int64_t> &stride, const
        std::vector<std::int64_t> &padding, const std::vector<std::int64_t> &dilation, std::int64_t groups =
        1) {
    return detail::one(
        mlxrocm_array_conv3d, x.get(), weight.get(), stride.data(), stride.size(), padding.data(),
        padding.size(), dilation.data(), dilation.size(), groups);
}

// Transposed convolution of 3 spatial axes: back to the size of what conv3d with these numbers is made of.
inline Array conv_transpose3d(
        const Array &x, const Array &weight, const std::vector<std::int64_t> &stride, const
        std::vector<std::int64_t> &padding, const std::vector<std::int64_t> &dilation, const
        std::vector<std::int64_t> &output_padding, std::int64_t groups = 1) {
    return detail::one(
        mlxrocm_array_conv_transpose3d, x.get(), weight.get(), stride.data(), stride.size(), padding.data(),
        padding.size(), dilation.data(), dilation.size(), output_padding.data(), output_padding.size(),
        groups);
}

// Discrete Fourier transform along an axis.
inline Array fft_fft(const Array &x, std::int64_t n = 0, std::int64_t axis = -1) {
    return detail::one(mlxrocm_array_fft_fft, x.get(), n, axis);
}

// Inverse discrete Fourier transform along an axis.
inline Array fft_ifft(const Array &x, std::int64_t n = 0, std::int64_t axis = -1) {
    return detail::one(mlxrocm_array_fft_ifft, x.get(), n, axis);
}

// Discrete Fourier transform of real numbers along an axis: half of the frequencies.
inline Array fft_rfft(const Array &x, std::int64_t n = 0, std::int64_t axis = -1) {
    return detail::one(mlxrocm_array_fft_rfft, x.get(), n, axis);
}

// The real numbers whose fft_rfft this is.
inline Array fft_irfft(const Array &x, std::int64_t n = 0, std::int64_t axis = -1) {
    return detail::one(mlxrocm_array_fft_irfft, x.get(), n, axis);
}

// Discrete Fourier transform along two axes.
inline Array fft_fft2(const Array &x, const Axes &sizes = {}, const Axes &axes = {}) {
    return detail::one(
        mlxrocm_array_fft_fft2, x.get(), sizes.data(), sizes.size(), axes.data(), axes.size());
}

// Inverse discrete Fourier transform along two axes.
inline Array fft_ifft2(const Array &x, const Axes &sizes = {}, const Axes &axes = {}) {
    return detail::one(
        mlxrocm_array_fft_ifft2, x.get(), sizes.data(), sizes.size(), axes.data(), axes.size());
}

// Discrete Fourier transform of real numbers along two axes; of the last one half of the frequencies.
inline Array fft_rfft2(const Array &x, const Axes &sizes = {}, const Axes &axes = {}) {
    return detail::one(
        mlxrocm_array_fft_rfft2, x.get(), sizes.data(), sizes.size(), axes.data(), axes.size());
}

// The real numbers whose fft_rfft2 this is.
inline Array fft_irfft2(const Array &x, const Axes &sizes = {}, const Axes &axes = {}) {
    return detail::one(
        mlxrocm_array_fft_irfft2, x.get(), sizes.data(), sizes.size(), axes.data(), axes.size());
}

// Moves the frequency 0 from the first place of axes to the middle.
inline Array fft_fftshift(const Array &x, const Axes &axes = {}) {
    return detail::one(mlxrocm_array_fft_fftshift, x.get(), axes.data(), axes.size());
}

// Undoes fft_fftshift.
inline Array fft_ifftshift(const Array &x, const Axes &axes = {}) {
    return detail::one(mlxrocm_array_fft_ifftshift, x.get(), axes.data(), axes.size());
}

// The frequencies of the results of fft_fft, float32.
inline Array fft_fftfreq(std::int64_t n, double d = 1.0) {
    return detail::one(mlxrocm_array_fft_fftfreq, n, d);
}

// The frequencies of the results of fft_rfft, float32.
inline Array fft_rfftfreq(std::int64_t n, double d = 1.0) {
    return detail::one(mlxrocm_array_fft_rfftfreq, n, d);
}

// Discrete Fourier transform along axes.
inline Array fft_fftn(const Array &x, const Axes &sizes = {}, const Axes &axes = {}) {
    return detail::one(
        mlxrocm_array_fft_fftn, x.get(), sizes.data(), sizes.size(), axes.data(), axes.size());
}

// Inverse discrete Fourier transform along axes.
inline Array fft_ifftn(const Array &x, const Axes &sizes = {}, const Axes &axes = {}) {
    return detail::one(
        mlxrocm_array_fft_ifftn, x.get(), sizes.data(), sizes.size(), axes.data(), axes.size());
}

// Discrete Fourier transform of real numbers; of the last axis only half of the frequencies.
inline Array fft_rfftn(const Array &x, const Axes &sizes = {}, const Axes &axes = {}) {
    return detail::one(
        mlxrocm_array_fft_rfftn, x.get(), sizes.data(), sizes.size(), axes.data(), axes.size());
}

// The real numbers whose fft_rfftn this is.
inline Array fft_irfftn(const Array &x, const Axes &sizes = {}, const Axes &axes = {}) {
    return detail::one(
        mlxrocm_array_fft_irfftn, x.get(), sizes.data(), sizes.size(), axes.data(), axes.size());
}

// A discrete Fourier transform along axes with a normalization: "backward" divides inverse ones by their
// size n, as fft_ifftn does, "forward" divides the others by n, "ortho" both by the root of n.
inline Array fft_normed(
        const Array &x, const std::string &norm, bool inverse, bool real, const Axes &sizes = {}, const Axes
        &axes = {}) {
    return detail::one(
        mlxrocm_array_fft_normed, x.get(), sizes.data(), sizes.size(), axes.data(), axes.size(),
        norm.data(), norm.size(), std::int32_t{inverse}, std::int32_t{real});
}

// Walsh–Hadamard transform of the last axis, of m · 2^k elements, m = 1, 12, 20 or 28.
inline Array hadamard_transform(const Array &x, double scale = std::numeric_limits<double>::quiet_NaN()) {
    return detail::one(mlxrocm_array_hadamard_transform, x.get(), scale);
}

// x · rsqrt(mean(x²) + eps) · weight over the last axis.
inline Array fast_rms_norm(const Array &x, const Array &weight = {}, double eps = 1e-5) {
    return detail::one(mlxrocm_array_fast_rms_norm, x.get(), weight.get(), eps);
}

// (x − mean) · rsqrt(variance + eps) · weight + bias over the last axis.
inline Array fast_layer_norm(
        const Array &x, const Array &weight = {}, const Array &bias = {}, double eps = 1e-5) {
    return detail::one(mlxrocm_array_fast_layer_norm, x.get(), weight.get(), bias.get(), eps);
}

// Rotary position embedding of [batch, …, tokens, dim]: token t stands at (t + offset) · scale.
inline Array fast_rope(
        const Array &x, std::int64_t dims, bool traditional, double base, double scale, const Array &offset,
        const Array &freqs = {}) {
    return detail::one(
        mlxrocm_array_fast_rope, x.get(), dims, std::int32_t{traditional}, base, scale, offset.get(),
        freqs.get());
}

// softmax(scale · q·kᵀ + mask) · v of [batch, heads, rows, dim] and [batch, kv heads, keys, dim].
inline Array fast_scaled_dot_product_attention(
        const Array &q, const Array &k, const Array &v, double scale, bool causal, const Array &mask = {},
        const Array &sinks = {}) {
    return detail::one(
        mlxrocm_array_fast_scaled_dot_product_attention, q.get(), k.get(), v.get(), scale,
        std::int32_t{causal}, mask.get(), sinks.get());
}

// Q with orthogonal columns and R, upper triangular.
inline std::array<Array, 2> linalg_qr(const Array &x) {
    return detail::several<2>(mlxrocm_array_linalg_qr, x.get());
}

// U, the singular values (the largest first) and Vᴴ.
inline std::array<Array, 3> linalg_svd(const Array &x) {
    return detail::several<3>(mlxrocm_array_linalg_svd, x.get());
}

// The singular values, the largest first.
inline Array linalg_svd_values(const Array &x) {
    return detail::one(mlxrocm_array_linalg_svd_values, x.get());
}

// The inverse. Singular matrices fail when they are evaluated.
inline Array linalg_inv(const Array &x) {
    return detail::one(mlxrocm_array_linalg_inv, x.get());
}

// The inverse of triangular matrices.
inline Array linalg_tri_inv(const Array &x, bool upper = false) {
    return detail::one(mlxrocm_array_linalg_tri_inv, x.get(), std::int32_t{upper});
}

// L of L·Lᵀ. What is not positive definite fails when it is evaluated.
inline Array linalg_cholesky(const Array &x, bool upper = false) {
    return detail::one(mlxrocm_array_linalg_cholesky, x.get(), std::int32_t{upper});
}

// The inverse of the matrix whose factor this is.
inline Array linalg_cholesky_inv(const Array &x, bool upper = false) {
    return detail::one(mlxrocm_array_linalg_cholesky_inv, x.get(), std::int32_t{upper});
}

// The pseudoinverse.
inline Array linalg_pinv(const Array &x) {
    return detail::one(mlxrocm_array_linalg_pinv, x.get());
}

// Eigenvalues (ascending) and eigenvectors (columns) of Hermitian matrices.
inline std::array<Array, 2> linalg_eigh(const Array &x, bool upper = false) {
    return detail::several<2>(mlxrocm_array_linalg_eigh, x.get(), std::int32_t{upper});
}

// Eigenvalues of Hermitian matrices, ascending.
inline Array linalg_eigvalsh(const Array &x, bool upper = false) {
    return detail::one(mlxrocm_array_linalg_eigvalsh, x.get(), std::int32_t{upper});
}

// Eigenvalues and eigenvectors (columns), complex.
inline std::array<Array, 2> linalg_eig(const Array &x) {
    return detail::several<2>(mlxrocm_array_linalg_eig, x.get());
}

// Eigenvalues, complex.
inline Array linalg_eigvals(const Array &x) {
    return detail::one(mlxrocm_array_linalg_eigvals, x.get());
}

// The row of L·U that each row is, L and U.
inline std::array<Array, 3> linalg_lu(const Array &x) {
    return detail::several<3>(mlxrocm_array_linalg_lu, x.get());
}

// L and U in one array, and the row that each step changed places with.
inline std::array<Array, 2> linalg_lu_factor(const Array &x) {
    return detail::several<2>(mlxrocm_array_linalg_lu_factor, x.get());
}

// x of a·x = b.
inline Array linalg_solve(const Array &a, const Array &b) {
    return detail::one(mlxrocm_array_linalg_solve, a.get(), b.get());
}

// x of a·x = b with a triangular a.
inline Array linalg_solve_triangular(const Array &a, const Array &b, bool upper = false) {
    return detail::one(mlxrocm_array_linalg_solve_triangular, a.get(), b.get(), std::int32_t{upper});
}

// The determinant.
inline Array linalg_det(const Array &x) {
    return detail::one(mlxrocm_array_linalg_det, x.get());
}

// The determinant's sign and the logarithm of its size.
inline std::array<Array, 2> linalg_slogdet(const Array &x) {
    return detail::several<2>(mlxrocm_array_linalg_slogdet, x.get());
}

// Vector product along an axis of 2 or 3 elements.
inline Array linalg_cross(const Array &a, const Array &b, std::int64_t axis = -1) {
    return detail::one(mlxrocm_array_linalg_cross, a.get(), b.get(), axis);
}

// Root of the sum of squares.
inline Array linalg_norm_l2(const Array &x, const Axes &axes = {}, bool keepdims = false) {
    return detail::one(
        mlxrocm_array_linalg_norm_l2, x.get(), axes.data(), axes.size(), std::int32_t{keepdims});
}

// Norm of vectors (one axis) or matrices (two).
inline Array linalg_norm(const Array &x, double p, const Axes &axes = {}, bool keepdims = false) {
    return detail::one(
        mlxrocm_array_linalg_norm, x.get(), p, axes.data(), axes.size(), std::int32_t{keepdims});
}

// Norm of matrices.
inline Array linalg_norm_matrix(
        const Array &x, const std::string &order, const Axes &axes = {}, bool keepdims = false) {
    return detail::one(
        mlxrocm_array_linalg_norm_matrix, x.get(), order.data(), order.size(), axes.data(), axes.size(),
        std::int32_t{keepdims});
}

// Starts the sequence of keys again that calls without a key take theirs from. It is the process' own.
inline void random_seed(std::uint64_t seed) {
    detail::call(mlxrocm_array_random_seed, seed);
}

// The key of a seed.
inline Array random_key(std::int64_t seed) {
    return detail::one(mlxrocm_array_random_key, seed);
}

// New keys of a key: [count, 2].
inline Array random_split(const Array &key, std::int64_t count = 2) {
    return detail::one(mlxrocm_array_random_split, key.get(), count);
}

// Random bits: unsigned integers.
inline Array random_bits(
        const std::vector<std::int64_t> &shape, std::int64_t width = 4, const Array &key = {}) {
    return detail::one(mlxrocm_array_random_bits, shape.data(), shape.size(), width, key.get());
}

// Numbers evenly spread from low up to, but not, high.
inline Array random_uniform(
        const Array &low, const Array &high, const std::vector<std::int64_t> &shape, DType dtype =
        DType::float32, const Array &key = {}) {
    return detail::one(
        mlxrocm_array_random_uniform, low.get(), high.get(), shape.data(), shape.size(),
        static_cast<std::uint32_t>(dtype), key.get());
}

// Normally distributed numbers.
inline Array random_normal(
        const std::vector<std::int64_t> &shape, DType dtype = DType::float32, const Array &loc = {}, const
        Array &scale = {}, const Array &key = {}) {
    return detail::one(
        mlxrocm_array_random_normal, shape.data(), shape.size(), static_cast<std::uint32_t>(dtype),
        loc.get(), scale.get(), key.get());
}

// Normally distributed vectors.
inline Array random_multivariate_normal(
        const Array &mean, const Array &cov, const std::vector<std::int64_t> &shape, DType dtype =
        DType::float32, const Array &key = {}) {
    return detail::one(
        mlxrocm_array_random_multivariate_normal, mean.get(), cov.get(), shape.data(), shape.size(),
        static_cast<std::uint32_t>(dtype), key.get());
}

// Integers from low up to, but not, high.
inline Array random_randint(
        const Array &low, const Array &high, const std::vector<std::int64_t> &shape, DType dtype =
        DType::int32, const Array &key = {}) {
    return detail::one(
        mlxrocm_array_random_randint, low.get(), high.get(), shape.data(), shape.size(),
        static_cast<std::uint32_t>(dtype), key.get());
}

// Truth values, each true with probability p.
inline Array random_bernoulli(
        const Array &p, const std::vector<std::int64_t> &shape, const Array &key = {}) {
    return detail::one(mlxrocm_array_random_bernoulli, p.get(), shape.data(), shape.size(), key.get());
}

// Normally distributed numbers between two bounds.
inline Array random_truncated_normal(
        const Array &lower, const Array &upper, const std::vector<std::int64_t> &shape, DType dtype =
        DType::float32, const Array &key = {}) {
    return detail::one(
        mlxrocm_array_random_truncated_normal, lower.get(), upper.get(), shape.data(), shape.size(),
        static_cast<std::uint32_t>(dtype), key.get());
}

// Numbers of the standard Gumbel distribution.
inline Array random_gumbel(
        const std::vector<std::int64_t> &shape, DType dtype = DType::float32, const Array &key = {}) {
    return detail::one(
        mlxrocm_array_random_gumbel, shape.data(), shape.size(), static_cast<std::uint32_t>(dtype),
        key.get());
}

// Laplace distributed numbers.
inline Array random_laplace(
        const std::vector<std::int64_t> &shape, DType dtype = DType::float32, double loc = 0.0, double scale
        = 1.0, const Array &key = {}) {
    return detail::one(
        mlxrocm_array_random_laplace, shape.data(), shape.size(), static_cast<std::uint32_t>(dtype), loc,
        scale, key.get());
}

// A place (uint32) along an axis for each row, with the probability of the softmax of its logits.
inline Array random_categorical(const Array &logits, std::int64_t axis = -1, const Array &key = {}) {
    return detail::one(mlxrocm_array_random_categorical, logits.get(), axis, key.get());
}

// As random_categorical, several places for each row as a last axis.
inline Array random_categorical_num_samples(
        const Array &logits, std::int64_t num_samples, std::int64_t axis = -1, const Array &key = {}) {
    return detail::one(
        mlxrocm_array_random_categorical_num_samples, logits.get(), axis, num_samples, key.get());
}

// As random_categorical, in a shape that the rows are broadcast to.
inline Array random_categorical_shape(
        const Array &logits, const std::vector<std::int64_t> &shape, std::int64_t axis = -1, const Array
        &key = {}) {
    return detail::one(
        mlxrocm_array_random_categorical_shape, logits.get(), axis, shape.data(), shape.size(), key.get());
}

// Slices along an axis in random order.
inline Array random_permutation(const Array &x, std::int64_t axis = 0, const Array &key = {}) {
    return detail::one(mlxrocm_array_random_permutation, x.get(), axis, key.get());
}

// The numbers (uint32) below a count in random order.
inline Array random_permutation_arange(std::int64_t count, const Array &key = {}) {
    return detail::one(mlxrocm_array_random_permutation_arange, count, key.get());
}

// The array of an npy file (numpy's). Its elements stay in the file, which is mapped: do not truncate it
// meanwhile; save replaces it as a whole. Also fails with IO, INVALID_FILE (damaged) and UNSUPPORTED
// (elements of no dtype).
inline Array load(const std::string &path) {
    return detail::one(mlxrocm_array_load, path.data(), path.size());
}

// Saves an array as an npy file (numpy's), which is there whole or not at all. It is computed if it is not
// yet.
inline void save(const Array &array, const std::string &path) {
    detail::call(mlxrocm_array_save, array.get(), path.data(), path.size());
}

} // namespace ops
} // namespace mlxrocm

#endif // MLXROCM_OPERATIONS_HPP
