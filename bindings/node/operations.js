// Made by bindings/generate.py from include/mlxrocm.json. Do not edit.

import {
  axisOrNone, dtypeNumber, dtypeOrNone, ints, list, many, NDArray, one, toArray, tuple,
} from './array.js';
import { text } from './library.js';

/** Absolute value of each element; of complex ones the modulus, as float32. */
export function abs(x) {
  return one('mlxrocm_array_abs', toArray(x));
}

/** Inverse cosine of each element. */
export function arccos(x) {
  return one('mlxrocm_array_arccos', toArray(x));
}

/** Inverse hyperbolic cosine of each element. */
export function arccosh(x) {
  return one('mlxrocm_array_arccosh', toArray(x));
}

/** Inverse sine of each element. */
export function arcsin(x) {
  return one('mlxrocm_array_arcsin', toArray(x));
}

/** Inverse hyperbolic sine of each element. */
export function arcsinh(x) {
  return one('mlxrocm_array_arcsinh', toArray(x));
}

/** Inverse tangent of each element. */
export function arctan(x) {
  return one('mlxrocm_array_arctan', toArray(x));
}

/** Inverse hyperbolic tangent of each element. */
export function arctanh(x) {
  return one('mlxrocm_array_arctanh', toArray(x));
}

/** Each bit of integers or truth values turned round. */
export function bitwiseInvert(x) {
  return one('mlxrocm_array_bitwise_invert', toArray(x));
}

/** Each element rounded up. */
export function ceil(x) {
  return one('mlxrocm_array_ceil', toArray(x));
}

/** Complex conjugate of each element. */
export function conjugate(x) {
  return one('mlxrocm_array_conjugate', toArray(x));
}

/** Cosine of each element. */
export function cos(x) {
  return one('mlxrocm_array_cos', toArray(x));
}

/** Hyperbolic cosine of each element. */
export function cosh(x) {
  return one('mlxrocm_array_cosh', toArray(x));
}

/** Error function of each element. */
export function erf(x) {
  return one('mlxrocm_array_erf', toArray(x));
}

/** Inverse of the error function of each element. */
export function erfinv(x) {
  return one('mlxrocm_array_erfinv', toArray(x));
}

/** Exponential of each element. */
export function exp(x) {
  return one('mlxrocm_array_exp', toArray(x));
}

/** Exponential minus one of each element, exact near 0. */
export function expm1(x) {
  return one('mlxrocm_array_expm1', toArray(x));
}

/** Each element rounded down. */
export function floor(x) {
  return one('mlxrocm_array_floor', toArray(x));
}

/** Imaginary part of each element; zeros of real ones. */
export function imag(x) {
  return one('mlxrocm_array_imag', toArray(x));
}

/** Natural logarithm of each element. */
export function log(x) {
  return one('mlxrocm_array_log', toArray(x));
}

/** Logarithm to base 2 of each element. */
export function log2(x) {
  return one('mlxrocm_array_log2', toArray(x));
}

/** Logarithm to base 10 of each element. */
export function log10(x) {
  return one('mlxrocm_array_log10', toArray(x));
}

/** Logarithm of one plus each element, exact near 0. */
export function log1p(x) {
  return one('mlxrocm_array_log1p', toArray(x));
}

/** Whether each element is 0. */
export function logicalNot(x) {
  return one('mlxrocm_array_logical_not', toArray(x));
}

/** The negative of each element; not of truth values. */
export function negative(x) {
  return one('mlxrocm_array_negative', toArray(x));
}

/** Real part of each element. */
export function real(x) {
  return one('mlxrocm_array_real', toArray(x));
}

/** One by the square root of each element. */
export function rsqrt(x) {
  return one('mlxrocm_array_rsqrt', toArray(x));
}

/** 1 / (1 + exp(-x)) of each element. */
export function sigmoid(x) {
  return one('mlxrocm_array_sigmoid', toArray(x));
}

/** -1, 0 or 1 by the sign of each element; of complex ones x / |x|. */
export function sign(x) {
  return one('mlxrocm_array_sign', toArray(x));
}

/** Sine of each element. */
export function sin(x) {
  return one('mlxrocm_array_sin', toArray(x));
}

/** Hyperbolic sine of each element. */
export function sinh(x) {
  return one('mlxrocm_array_sinh', toArray(x));
}

/** Square root of each element. */
export function sqrt(x) {
  return one('mlxrocm_array_sqrt', toArray(x));
}

/** Square of each element. */
export function square(x) {
  return one('mlxrocm_array_square', toArray(x));
}

/** Tangent of each element. */
export function tan(x) {
  return one('mlxrocm_array_tan', toArray(x));
}

/** Hyperbolic tangent of each element. */
export function tanh(x) {
  return one('mlxrocm_array_tanh', toArray(x));
}

/** Radians as degrees. */
export function degrees(x) {
  return one('mlxrocm_array_degrees', toArray(x));
}

/** Degrees as radians. */
export function radians(x) {
  return one('mlxrocm_array_radians', toArray(x));
}

/** One by each element. */
export function reciprocal(x) {
  return one('mlxrocm_array_reciprocal', toArray(x));
}

/** Each element rounded to decimals, halves to the even neighbour. */
export function round(x, decimals = 0) {
  return one('mlxrocm_array_round', toArray(x), decimals);
}

/** Each element without its fraction. */
export function trunc(x) {
  return one('mlxrocm_array_trunc', toArray(x));
}

/** Whether each element is NaN. */
export function isnan(x) {
  return one('mlxrocm_array_isnan', toArray(x));
}

/** Whether each element is infinite. */
export function isinf(x) {
  return one('mlxrocm_array_isinf', toArray(x));
}

/** Whether each element is neither NaN nor infinite. */
export function isfinite(x) {
  return one('mlxrocm_array_isfinite', toArray(x));
}

/** Whether each element is plus infinity. */
export function isposinf(x) {
  return one('mlxrocm_array_isposinf', toArray(x));
}

/** Whether each element is minus infinity. */
export function isneginf(x) {
  return one('mlxrocm_array_isneginf', toArray(x));
}

/** Each element, with numbers for NaN and infinities. */
export function nanToNum(x, nan = 0.0, posinf = NaN, neginf = NaN) {
  return one('mlxrocm_array_nan_to_num', toArray(x), nan, posinf, neginf);
}

/** The elements as another dtype: fractions are cut off, integers wrap, everything but 0 is true. */
export function astype(x, dtype) {
  return one('mlxrocm_array_astype', toArray(x), dtypeNumber(dtype));
}

/** The same bytes as another dtype; the last axis grows or shrinks with the size of an element. */
export function view(x, dtype) {
  return one('mlxrocm_array_view', toArray(x), dtypeNumber(dtype));
}

/** Sum. */
export function add(a, b) {
  return one('mlxrocm_array_add', toArray(a, b), toArray(b, a));
}

/** Angle of the point (b, a). */
export function arctan2(a, b) {
  return one('mlxrocm_array_arctan2', toArray(a, b), toArray(b, a));
}

/** And of the bits of integers or truth values. */
export function bitwiseAnd(a, b) {
  return one('mlxrocm_array_bitwise_and', toArray(a, b), toArray(b, a));
}

/** Or of the bits of integers or truth values. */
export function bitwiseOr(a, b) {
  return one('mlxrocm_array_bitwise_or', toArray(a, b), toArray(b, a));
}

/** Exclusive or of the bits of integers or truth values. */
export function bitwiseXor(a, b) {
  return one('mlxrocm_array_bitwise_xor', toArray(a, b), toArray(b, a));
}

/** Bits of integers moved up by b; 0 beyond the dtype's bits. */
export function leftShift(a, b) {
  return one('mlxrocm_array_left_shift', toArray(a, b), toArray(b, a));
}

/** Bits of integers moved down by b; by more than the dtype's bits as by all of them. */
export function rightShift(a, b) {
  return one('mlxrocm_array_right_shift', toArray(a, b), toArray(b, a));
}

/** Quotient, a fraction. */
export function divide(a, b) {
  return one('mlxrocm_array_divide', toArray(a, b), toArray(b, a));
}

/** Quotient, rounded down, but of complex numbers. An integer by 0 is 0. */
export function floorDivide(a, b) {
  return one('mlxrocm_array_floor_divide', toArray(a, b), toArray(b, a));
}

/** Whether a = b. */
export function equal(a, b) {
  return one('mlxrocm_array_equal', toArray(a, b), toArray(b, a));
}

/** Whether a > b. */
export function greater(a, b) {
  return one('mlxrocm_array_greater', toArray(a, b), toArray(b, a));
}

/** Whether a >= b. */
export function greaterEqual(a, b) {
  return one('mlxrocm_array_greater_equal', toArray(a, b), toArray(b, a));
}

/** Whether a < b. */
export function less(a, b) {
  return one('mlxrocm_array_less', toArray(a, b), toArray(b, a));
}

/** Whether a <= b. */
export function lessEqual(a, b) {
  return one('mlxrocm_array_less_equal', toArray(a, b), toArray(b, a));
}

/** log(exp(a) + exp(b)) without overflow. */
export function logaddexp(a, b) {
  return one('mlxrocm_array_logaddexp', toArray(a, b), toArray(b, a));
}

/** Whether both are not 0. */
export function logicalAnd(a, b) {
  return one('mlxrocm_array_logical_and', toArray(a, b), toArray(b, a));
}

/** Whether one is not 0. */
export function logicalOr(a, b) {
  return one('mlxrocm_array_logical_or', toArray(a, b), toArray(b, a));
}

/** The larger; NaN if one is NaN. */
export function maximum(a, b) {
  return one('mlxrocm_array_maximum', toArray(a, b), toArray(b, a));
}

/** The smaller; NaN if one is NaN. */
export function minimum(a, b) {
  return one('mlxrocm_array_minimum', toArray(a, b), toArray(b, a));
}

/** Product. */
export function multiply(a, b) {
  return one('mlxrocm_array_multiply', toArray(a, b), toArray(b, a));
}

/** Whether a and b differ. */
export function notEqual(a, b) {
  return one('mlxrocm_array_not_equal', toArray(a, b), toArray(b, a));
}

/** a to the power of b. Integers to a negative power are 0, but 1 and -1. */
export function power(a, b) {
  return one('mlxrocm_array_power', toArray(a, b), toArray(b, a));
}

/** Remainder of the quotient rounded down: it has b's sign. An integer by 0 leaves 0. */
export function remainder(a, b) {
  return one('mlxrocm_array_remainder', toArray(a, b), toArray(b, a));
}

/** Difference. */
export function subtract(a, b) {
  return one('mlxrocm_array_subtract', toArray(a, b), toArray(b, a));
}

/** Whether one is 0 and the other is not. */
export function logicalXor(a, b) {
  return one('mlxrocm_array_logical_xor', toArray(a, b), toArray(b, a));
}

/** Quotient, rounded down, and remainder, with b's sign. */
export function divmod(a, b) {
  return tuple(2, 'mlxrocm_array_divmod', toArray(a, b), toArray(b, a));
}

/** Elements of a where the condition is not 0, of b elsewhere. */
export function where(condition, a, b) {
  return one('mlxrocm_array_where', toArray(condition), toArray(a, b), toArray(b, a));
}

/** Elements between a minimum and a maximum. */
export function clip(x, minimum = null, maximum = null) {
  return one('mlxrocm_array_clip', toArray(x, minimum, maximum), toArray(minimum, x, maximum), toArray(maximum, x, minimum));
}

/** Whether |a - b| <= atol + rtol |b|; equal infinities are close. */
export function isclose(a, b, rtol = 1e-5, atol = 1e-8, equalNan = false) {
  return one('mlxrocm_array_isclose', toArray(a, b), toArray(b, a), rtol, atol, equalNan ? 1 : 0);
}

/** Whether all elements are close, as by isclose. */
export function allclose(a, b, rtol = 1e-5, atol = 1e-8, equalNan = false) {
  return one('mlxrocm_array_allclose', toArray(a, b), toArray(b, a), rtol, atol, equalNan ? 1 : 0);
}

/** Whether shapes and all elements are equal. */
export function arrayEqual(a, b, equalNan = false) {
  return one('mlxrocm_array_array_equal', toArray(a, b), toArray(b, a), equalNan ? 1 : 0);
}

/** The value, broadcast to a shape. */
export function full(shape, value, dtype = 'float32') {
  return one('mlxrocm_array_full', ...ints(shape), toArray(value), dtypeNumber(dtype));
}

/** Zeros. */
export function zeros(shape, dtype = 'float32') {
  return one('mlxrocm_array_zeros', ...ints(shape), dtypeNumber(dtype));
}

/** Ones. */
export function ones(shape, dtype = 'float32') {
  return one('mlxrocm_array_ones', ...ints(shape), dtypeNumber(dtype));
}

/** Zeros of the shape of an array, on its device. */
export function zerosLike(x, dtype = null) {
  return one('mlxrocm_array_zeros_like', toArray(x), dtypeOrNone(dtype));
}

/** Ones of the shape of an array, on its device. */
export function onesLike(x, dtype = null) {
  return one('mlxrocm_array_ones_like', toArray(x), dtypeOrNone(dtype));
}

/** The value, broadcast to the shape of an array, on its device. */
export function fullLike(x, value, dtype = null) {
  return one('mlxrocm_array_full_like', toArray(x, value), toArray(value, x), dtypeOrNone(dtype));
}

/** A scalar. */
export function number(value, dtype = 'float32') {
  return one('mlxrocm_array_number', value, dtypeNumber(dtype));
}

/** Start, start + step and so on, before stop; not of truth values. */
export function arange(start, stop, step, dtype = 'float32') {
  return one('mlxrocm_array_arange', start, stop, step, dtypeNumber(dtype));
}

/** Numbers from start to stop, evenly spaced. */
export function linspace(start, stop, count, dtype = 'float32') {
  return one('mlxrocm_array_linspace', start, stop, count, dtypeNumber(dtype));
}

/** Ones on a diagonal of a matrix of zeros. */
export function eye(n, m, k = 0, dtype = 'float32') {
  return one('mlxrocm_array_eye', n, m, k, dtypeNumber(dtype));
}

/** The identity matrix. */
export function identity(n, dtype = 'float32') {
  return one('mlxrocm_array_identity', n, dtypeNumber(dtype));
}

/** Ones on and below a diagonal, zeros above. */
export function tri(n, m, k = 0, dtype = 'float32') {
  return one('mlxrocm_array_tri', n, m, k, dtypeNumber(dtype));
}

/** The last two axes with zeros above a diagonal. */
export function tril(x, k = 0) {
  return one('mlxrocm_array_tril', toArray(x), k);
}

/** The last two axes with zeros below a diagonal. */
export function triu(x, k = 0) {
  return one('mlxrocm_array_triu', toArray(x), k);
}

/** A matrix with a vector on a diagonal, or a diagonal of a matrix. */
export function diag(x, k = 0) {
  return one('mlxrocm_array_diag', toArray(x), k);
}

/** Diagonals of the matrices of two axes, as a last axis. */
export function diagonal(x, offset = 0, axis1 = 0, axis2 = 1) {
  return one('mlxrocm_array_diagonal', toArray(x), offset, axis1, axis2);
}

/** Sum of a diagonal. */
export function trace(x, dtype, offset = 0, axis1 = 0, axis2 = 1) {
  return one('mlxrocm_array_trace', toArray(x), offset, axis1, axis2, dtypeNumber(dtype));
}

/** Products of every element of a with every one of b. */
export function outer(a, b) {
  return one('mlxrocm_array_outer', toArray(a, b), toArray(b, a));
}

/** Kronecker product. */
export function kron(a, b) {
  return one('mlxrocm_array_kron', toArray(a, b), toArray(b, a));
}

/** Whether all elements are not 0. */
export function all(x, axes = null, keepdims = false) {
  return one('mlxrocm_array_all', toArray(x), ...ints(axes), keepdims ? 1 : 0);
}

/** Whether some element is not 0. */
export function any(x, axes = null, keepdims = false) {
  return one('mlxrocm_array_any', toArray(x), ...ints(axes), keepdims ? 1 : 0);
}

/** Sum. Small integers and truth values become 32-bit integers. */
export function sum(x, axes = null, keepdims = false) {
  return one('mlxrocm_array_sum', toArray(x), ...ints(axes), keepdims ? 1 : 0);
}

/** Product. Small integers and truth values become 32-bit integers. */
export function prod(x, axes = null, keepdims = false) {
  return one('mlxrocm_array_prod', toArray(x), ...ints(axes), keepdims ? 1 : 0);
}

/** The smallest; NaN if there is one. */
export function min(x, axes = null, keepdims = false) {
  return one('mlxrocm_array_min', toArray(x), ...ints(axes), keepdims ? 1 : 0);
}

/** The largest; NaN if there is one. */
export function max(x, axes = null, keepdims = false) {
  return one('mlxrocm_array_max', toArray(x), ...ints(axes), keepdims ? 1 : 0);
}

/** Logarithm of the sum of exponentials, without overflow. */
export function logsumexp(x, axes = null, keepdims = false) {
  return one('mlxrocm_array_logsumexp', toArray(x), ...ints(axes), keepdims ? 1 : 0);
}

/** Mean. */
export function mean(x, axes = null, keepdims = false) {
  return one('mlxrocm_array_mean', toArray(x), ...ints(axes), keepdims ? 1 : 0);
}

/** Variance. */
export function variance(x, axes = null, keepdims = false, ddof = 0) {
  return one('mlxrocm_array_var', toArray(x), ...ints(axes), keepdims ? 1 : 0, ddof);
}

/** Standard deviation. */
export function std(x, axes = null, keepdims = false, ddof = 0) {
  return one('mlxrocm_array_std', toArray(x), ...ints(axes), keepdims ? 1 : 0, ddof);
}

/** Median; the mean of the middle two of an even number. */
export function median(x, axes = null, keepdims = false) {
  return one('mlxrocm_array_median', toArray(x), ...ints(axes), keepdims ? 1 : 0);
}

/** How many elements are not 0. */
export function countNonzero(x, axes = null, keepdims = false) {
  return one('mlxrocm_array_count_nonzero', toArray(x), ...ints(axes), keepdims ? 1 : 0);
}

/** The place (uint32) of the first smallest element; of NaN if there is one. */
export function argmin(x, axis = null, keepdims = false) {
  return one('mlxrocm_array_argmin', toArray(x), axisOrNone(axis), keepdims ? 1 : 0);
}

/** The place (uint32) of the first largest element; of NaN if there is one. */
export function argmax(x, axis = null, keepdims = false) {
  return one('mlxrocm_array_argmax', toArray(x), axisOrNone(axis), keepdims ? 1 : 0);
}

/** Softmax: exp(x) over its sum along axes, without overflow. */
export function softmax(x, axes = null, precise = false) {
  return one('mlxrocm_array_softmax', toArray(x), ...ints(axes), precise ? 1 : 0);
}

/** How many elements axes have, as a scalar. */
export function numberOfElements(x, axes = null, inverted = false, dtype = 'float32') {
  return one('mlxrocm_array_number_of_elements', toArray(x), ...ints(axes), inverted ? 1 : 0, dtypeNumber(dtype));
}

/** Running sum. */
export function cumsum(x, axis = null, reverse = false, inclusive = true) {
  return one('mlxrocm_array_cumsum', toArray(x), axisOrNone(axis), reverse ? 1 : 0, inclusive ? 1 : 0);
}

/** Running product. */
export function cumprod(x, axis = null, reverse = false, inclusive = true) {
  return one('mlxrocm_array_cumprod', toArray(x), axisOrNone(axis), reverse ? 1 : 0, inclusive ? 1 : 0);
}

/** Running maximum. */
export function cummax(x, axis = null, reverse = false, inclusive = true) {
  return one('mlxrocm_array_cummax', toArray(x), axisOrNone(axis), reverse ? 1 : 0, inclusive ? 1 : 0);
}

/** Running minimum. */
export function cummin(x, axis = null, reverse = false, inclusive = true) {
  return one('mlxrocm_array_cummin', toArray(x), axisOrNone(axis), reverse ? 1 : 0, inclusive ? 1 : 0);
}

/** Running logarithm of the sum of exponentials. */
export function logcumsumexp(x, axis = null, reverse = false, inclusive = true) {
  return one('mlxrocm_array_logcumsumexp', toArray(x), axisOrNone(axis), reverse ? 1 : 0, inclusive ? 1 : 0);
}

/** Sorted, NaN last. */
export function sort(x, axis = -1) {
  return one('mlxrocm_array_sort', toArray(x), axisOrNone(axis));
}

/** The places (uint32) of the sorted elements; equal ones stay in order. */
export function argsort(x, axis = -1) {
  return one('mlxrocm_array_argsort', toArray(x), axisOrNone(axis));
}

/** With the kth element where sorting would put it, none larger before it and none smaller behind. */
export function partition(x, kth, axis = -1) {
  return one('mlxrocm_array_partition', toArray(x), kth, axisOrNone(axis));
}

/** The places (uint32) that partition takes elements from. */
export function argpartition(x, kth, axis = -1) {
  return one('mlxrocm_array_argpartition', toArray(x), kth, axisOrNone(axis));
}

/** The k largest, in no particular order. */
export function topk(x, k, axis = -1) {
  return one('mlxrocm_array_topk', toArray(x), k, axisOrNone(axis));
}

/** Where values would be put into a sorted vector (uint32). */
export function searchsorted(sorted, values, right = false) {
  return one('mlxrocm_array_searchsorted', toArray(sorted, values), toArray(values, sorted), right ? 1 : 0);
}

/** The same elements, row after row, in another shape; one size may be -1: what is left. */
export function reshape(x, shape) {
  return one('mlxrocm_array_reshape', toArray(x), ...ints(shape));
}

/** Neighbouring axes as one. */
export function flatten(x, start = 0, end = -1) {
  return one('mlxrocm_array_flatten', toArray(x), start, end);
}

/** An axis as several; one size may be -1: what is left. */
export function unflatten(x, axis, shape) {
  return one('mlxrocm_array_unflatten', toArray(x), axis, ...ints(shape));
}

/** New axes of size 1. */
export function expandDims(x, axes) {
  return one('mlxrocm_array_expand_dims', toArray(x), ...ints(axes));
}

/** Axes of size 1 taken away. */
export function squeeze(x, axes = null) {
  return one('mlxrocm_array_squeeze', toArray(x), ...ints(axes));
}

/** Repeated along axes of size 1, and along new ones in front. */
export function broadcastTo(x, shape) {
  return one('mlxrocm_array_broadcast_to', toArray(x), ...ints(shape));
}

/** Axes in another order. */
export function transpose(x, axes = null) {
  return one('mlxrocm_array_transpose', toArray(x), ...ints(axes));
}

/** Two axes in each other's place. */
export function swapaxes(x, axis1 = 0, axis2 = 1) {
  return one('mlxrocm_array_swapaxes', toArray(x), axis1, axis2);
}

/** An axis at another place. */
export function moveaxis(x, source, destination) {
  return one('mlxrocm_array_moveaxis', toArray(x), source, destination);
}

/** At least one axis. */
export function atleast1d(x) {
  return one('mlxrocm_array_atleast_1d', toArray(x));
}

/** At least two axes. */
export function atleast2d(x) {
  return one('mlxrocm_array_atleast_2d', toArray(x));
}

/** At least three axes. */
export function atleast3d(x) {
  return one('mlxrocm_array_atleast_3d', toArray(x));
}

/** Elements from start to before stop by step. Negative places count from the end, those beyond the array are its ends; a negative step goes backwards. */
export function slice(x, start, stop, step) {
  return one('mlxrocm_array_slice', toArray(x), ...ints(start), ...ints(stop), ...ints(step));
}

/** Elements at the places, among the array's elements row after row, that strides and an offset give. */
export function asStrided(x, shape, strides, offset = 0) {
  return one('mlxrocm_array_as_strided', toArray(x), ...ints(shape), ...ints(strides), offset);
}

/** Row after row in memory. */
export function contiguous(x) {
  return one('mlxrocm_array_contiguous', toArray(x));
}

/** The array, as one that derivatives do not pass. */
export function stopGradient(x) {
  return one('mlxrocm_array_stop_gradient', toArray(x));
}

/** The array, computed after others. */
export function depends(x, others) {
  return one('mlxrocm_array_depends', toArray(x), ...list(others));
}

/** Arrays one after the other along an axis. */
export function concatenate(arrays, axis = 0) {
  return one('mlxrocm_array_concatenate', ...list(arrays), axis);
}

/** Arrays of one shape along a new axis. */
export function stack(arrays, axis = 0) {
  return one('mlxrocm_array_stack', ...list(arrays), axis);
}

/** Each element several times, one after the other. */
export function repeat(x, repeats, axis = null) {
  return one('mlxrocm_array_repeat', toArray(x), repeats, axisOrNone(axis));
}

/** The whole array several times along each axis. */
export function tile(x, reps) {
  return one('mlxrocm_array_tile', toArray(x), ...ints(reps));
}

/** Surrounded along every axis. */
export function pad(x, low, high, mode = 0, value = null) {
  return one('mlxrocm_array_pad', toArray(x, value), ...ints(low), ...ints(high), mode, toArray(value, x));
}

/** Moved round; what leaves at an end comes in at the other. */
export function roll(x, shifts, axes = null) {
  return one('mlxrocm_array_roll', toArray(x), ...ints(shifts), ...ints(axes));
}

/** Axes turned round: the last element first. */
export function flip(x, axes = null) {
  return one('mlxrocm_array_flip', toArray(x), ...ints(axes));
}

/** Cuts an array before places of an axis. */
export function split(x, places, axis = 0) {
  return many(ints(places)[1] + 1, 'mlxrocm_array_split', toArray(x), ...ints(places), axis);
}

/** Cuts an axis into equal parts. */
export function splitParts(x, parts, axis = 0) {
  return many(parts, 'mlxrocm_array_split_parts', toArray(x), parts, axis);
}

/** Broadcasts arrays to the shape that all of them fit. */
export function broadcastArrays(arrays) {
  return many(arrays.length, 'mlxrocm_array_broadcast_arrays', ...list(arrays));
}

/** Coordinates of a grid: each vector along an axis of its own, repeated along the others. */
export function meshgrid(arrays, sparse = false, swapped = false) {
  return many(arrays.length, 'mlxrocm_array_meshgrid', ...list(arrays), sparse ? 1 : 0, swapped ? 1 : 0);
}

/** Slices of one axis at indices, which take the axis' place. Negative indices count from the end. */
export function take(x, indices, axis = null) {
  return one('mlxrocm_array_take', toArray(x), toArray(indices), axisOrNone(axis));
}

/** The element at each index along an axis. Other axes are broadcast. */
export function takeAlongAxis(x, indices, axis = null) {
  return one('mlxrocm_array_take_along_axis', toArray(x), toArray(indices), axisOrNone(axis));
}

/** Slices of given sizes that begin at indices along axes. The result has the indices' shape, then the sizes. */
export function gather(x, indices, axes, sizes) {
  return one('mlxrocm_array_gather', toArray(x), ...list(indices), ...ints(axes), ...ints(sizes));
}

/** A slice of given sizes that begins at computed places. */
export function sliceDynamic(x, start, axes, sizes) {
  return one('mlxrocm_array_slice_dynamic', toArray(x), toArray(start), ...ints(axes), ...ints(sizes));
}

/** With an update in place of the slice that begins at computed places. */
export function sliceUpdateDynamic(x, update, start, axes) {
  return one('mlxrocm_array_slice_update_dynamic', toArray(x, update), toArray(update, x), toArray(start), ...ints(axes));
}

/** With elements of source, in order, where the mask is not 0. */
export function maskedScatter(x, mask, source) {
  return one('mlxrocm_array_masked_scatter', toArray(x, source), toArray(mask), toArray(source, x));
}

/** With slices at indices along axes replaced by updates. Updates have the indices' shape, then that of slices of x's rank. Where places meet the last update stays. */
export function scatter(x, indices, updates, axes) {
  return one('mlxrocm_array_scatter', toArray(x, updates), ...list(indices), toArray(updates, x), ...ints(axes));
}

/** With the elements of a slice replaced by an update, which is broadcast to it. */
export function sliceUpdate(x, update, start, stop, step) {
  return one('mlxrocm_array_slice_update', toArray(x, update), toArray(update, x), ...ints(start), ...ints(stop), ...ints(step));
}

/** With slices at indices along axes joined by sum with updates. Updates have the indices' shape, then that of slices of x's rank. */
export function scatterAdd(x, indices, updates, axes) {
  return one('mlxrocm_array_scatter_add', toArray(x, updates), ...list(indices), toArray(updates, x), ...ints(axes));
}

/** With the elements of a slice joined by sum with an update, which is broadcast to it. */
export function sliceUpdateAdd(x, update, start, stop, step) {
  return one('mlxrocm_array_slice_update_add', toArray(x, update), toArray(update, x), ...ints(start), ...ints(stop), ...ints(step));
}

/** With slices at indices along axes joined by product with updates. Updates have the indices' shape, then that of slices of x's rank. */
export function scatterProd(x, indices, updates, axes) {
  return one('mlxrocm_array_scatter_prod', toArray(x, updates), ...list(indices), toArray(updates, x), ...ints(axes));
}

/** With the elements of a slice joined by product with an update, which is broadcast to it. */
export function sliceUpdateProd(x, update, start, stop, step) {
  return one('mlxrocm_array_slice_update_prod', toArray(x, update), toArray(update, x), ...ints(start), ...ints(stop), ...ints(step));
}

/** With slices at indices along axes joined by maximum with updates. Updates have the indices' shape, then that of slices of x's rank. */
export function scatterMax(x, indices, updates, axes) {
  return one('mlxrocm_array_scatter_max', toArray(x, updates), ...list(indices), toArray(updates, x), ...ints(axes));
}

/** With the elements of a slice joined by maximum with an update, which is broadcast to it. */
export function sliceUpdateMax(x, update, start, stop, step) {
  return one('mlxrocm_array_slice_update_max', toArray(x, update), toArray(update, x), ...ints(start), ...ints(stop), ...ints(step));
}

/** With slices at indices along axes joined by minimum with updates. Updates have the indices' shape, then that of slices of x's rank. */
export function scatterMin(x, indices, updates, axes) {
  return one('mlxrocm_array_scatter_min', toArray(x, updates), ...list(indices), toArray(updates, x), ...ints(axes));
}

/** With the elements of a slice joined by minimum with an update, which is broadcast to it. */
export function sliceUpdateMin(x, update, start, stop, step) {
  return one('mlxrocm_array_slice_update_min', toArray(x, update), toArray(update, x), ...ints(start), ...ints(stop), ...ints(step));
}

/** With values put at indices along an axis. Values are broadcast to the indices. */
export function putAlongAxis(x, indices, values, axis = null) {
  return one('mlxrocm_array_put_along_axis', toArray(x, values), toArray(indices), toArray(values, x), axisOrNone(axis));
}

/** With values added at indices along an axis. Values are broadcast to the indices. */
export function scatterAddAxis(x, indices, values, axis = null) {
  return one('mlxrocm_array_scatter_add_axis', toArray(x, values), toArray(indices), toArray(values, x), axisOrNone(axis));
}

/** Product of the last two axes; the others are broadcast together. A vector is a row on the left and a column on the right. */
export function matmul(a, b) {
  return one('mlxrocm_array_matmul', toArray(a, b), toArray(b, a));
}

/** alpha · a·b + beta · c; c is broadcast to the product. */
export function addmm(c, a, b, alpha = 1.0, beta = 1.0) {
  return one('mlxrocm_array_addmm', toArray(c, a, b), toArray(a, c, b), toArray(b, c, a), alpha, beta);
}

/** Product of matrices whose blocks are multiplied by masks (truth values or numbers) first. */
export function blockMaskedMm(a, b, blockSize, maskOut = null, maskLhs = null, maskRhs = null) {
  return one('mlxrocm_array_block_masked_mm', toArray(a, b), toArray(b, a), blockSize, toArray(maskOut), toArray(maskLhs), toArray(maskRhs));
}

/** Products of matrices by index: of matrix lhs_indices[i] of a and matrix rhs_indices[i] of b. */
export function gatherMm(a, b, lhsIndices = null, rhsIndices = null) {
  return one('mlxrocm_array_gather_mm', toArray(a, b), toArray(b, a), toArray(lhsIndices), toArray(rhsIndices));
}

/** Products of parts of two matrices. */
export function segmentedMm(a, b, segments) {
  return one('mlxrocm_array_segmented_mm', toArray(a, b), toArray(b, a), toArray(segments));
}

/** Sums of products over pairs of axes. */
export function tensordot(a, b, axesA, axesB) {
  return one('mlxrocm_array_tensordot', toArray(a, b), toArray(b, a), ...ints(axesA), ...ints(axesB));
}

/** Sums of products over the last axes. */
export function inner(a, b) {
  return one('mlxrocm_array_inner', toArray(a, b), toArray(b, a));
}

/** Sums of products over axes that are named by letters: "ij,jk->ik" is the product of two matrices. Spaces are nothing; `...` stands for axes without names, which are broadcast; without `->` the result has the letters that appear once, in the order of the alphabet. */
export function einsum(subscripts, operands) {
  return one('mlxrocm_array_einsum', ...text(subscripts), ...list(operands));
}

/** Codes, scales and biases of groups along the last axis, in the affine mode. */
export function quantize(w, groupSize = 0, bits = 0) {
  return tuple(3, 'mlxrocm_array_quantize', toArray(w), groupSize, bits);
}

/** Codes and scales of groups along the last axis, in a mode without biases. */
export function quantizeFloat(w, mode, globalScale = null) {
  return tuple(2, 'mlxrocm_array_quantize_float', toArray(w, globalScale), ...text(mode), toArray(globalScale, w));
}

/** The numbers of codes. */
export function dequantize(w, scales, biases = null, groupSize = 0, bits = 0, mode = 'affine', globalScale = null, dtype = null) {
  return one('mlxrocm_array_dequantize', toArray(w, scales, biases, globalScale), toArray(scales, w, biases, globalScale), toArray(biases, w, scales, globalScale), groupSize, bits, ...text(mode), toArray(globalScale, w, scales, biases), dtypeOrNone(dtype));
}

/** Product with a quantized matrix. */
export function quantizedMatmul(x, w, scales, biases = null, transpose = true, groupSize = 0, bits = 0, mode = 'affine') {
  return one('mlxrocm_array_quantized_matmul', toArray(x, w, scales, biases), toArray(w, x, scales, biases), toArray(scales, x, w, biases), toArray(biases, x, w, scales), transpose ? 1 : 0, groupSize, bits, ...text(mode));
}

/** Products with quantized matrices by index: matrix lhs_indices[i] of x with matrix rhs_indices[i] of w. */
export function gatherQmm(x, w, scales, biases = null, lhsIndices = null, rhsIndices = null, transpose = true, groupSize = 0, bits = 0, mode = 'affine') {
  return one('mlxrocm_array_gather_qmm', toArray(x, w, scales, biases), toArray(w, x, scales, biases), toArray(scales, x, w, biases), toArray(biases, x, w, scales), toArray(lhsIndices), toArray(rhsIndices), transpose ? 1 : 0, groupSize, bits, ...text(mode));
}

/** Product x · wᵀ with both sides quantized: x on the way, w too if it has no scales. */
export function qqmm(x, w, scales = null, mode = 'nvfp4', globalScaleX = null, globalScaleW = null) {
  return one('mlxrocm_array_qqmm', toArray(x, w, scales, globalScaleX, globalScaleW), toArray(w, x, scales, globalScaleX, globalScaleW), toArray(scales, x, w, globalScaleX, globalScaleW), ...text(mode), toArray(globalScaleX, x, w, scales, globalScaleW), toArray(globalScaleW, x, w, scales, globalScaleX));
}

/** As qqmm, matrix lhs_indices[i] of x with matrix rhs_indices[i] of w. */
export function gatherQqmm(x, w, scales = null, lhsIndices = null, rhsIndices = null, mode = 'nvfp4', globalScaleX = null, globalScaleW = null) {
  return one('mlxrocm_array_gather_qqmm', toArray(x, w, scales, globalScaleX, globalScaleW), toArray(w, x, scales, globalScaleX, globalScaleW), toArray(scales, x, w, globalScaleX, globalScaleW), toArray(lhsIndices), toArray(rhsIndices), ...text(mode), toArray(globalScaleX, x, w, scales, globalScaleW), toArray(globalScaleW, x, w, scales, globalScaleX));
}

/** E4M3 codes (uint8) of numbers. */
export function toFp8(x) {
  return one('mlxrocm_array_to_fp8', toArray(x));
}

/** Numbers of E4M3 codes (uint8). */
export function fromFp8(x, dtype = 'float32') {
  return one('mlxrocm_array_from_fp8', toArray(x), dtypeNumber(dtype));
}

/** Convolution of [batch, …, channels] with [channels out, …, channels / groups], of one to three spatial axes. A list holds a number for each of these, one for all, or none for the usual. */
export function convGeneral(x, weight, stride, paddingLow, paddingHigh, kernelDilation, inputDilation, groups = 1, flip = false) {
  return one('mlxrocm_array_conv_general', toArray(x, weight), toArray(weight, x), ...ints(stride), ...ints(paddingLow), ...ints(paddingHigh), ...ints(kernelDilation), ...ints(inputDilation), groups, flip ? 1 : 0);
}

/** Transposed convolution: back to the size of what a convolution with these numbers is made of. */
export function convTranspose(x, weight, stride, padding, dilation, outputPadding, groups = 1) {
  return one('mlxrocm_array_conv_transpose', toArray(x, weight), toArray(weight, x), ...ints(stride), ...ints(padding), ...ints(dilation), ...ints(outputPadding), groups);
}

/** Convolution of [batch, length, channels] with [channels out, length, channels / groups]. */
export function conv1d(x, weight, stride = 1, padding = 0, dilation = 1, groups = 1) {
  return one('mlxrocm_array_conv1d', toArray(x, weight), toArray(weight, x), stride, padding, dilation, groups);
}

/** Transposed convolution of 1 spatial axis: back to the size of what conv1d with these numbers is made of. */
export function convTranspose1d(x, weight, stride = 1, padding = 0, dilation = 1, outputPadding = 0, groups = 1) {
  return one('mlxrocm_array_conv_transpose1d', toArray(x, weight), toArray(weight, x), stride, padding, dilation, outputPadding, groups);
}

/** Convolution of [batch, height, width, channels] with [channels out, height, width, channels / groups]. */
export function conv2d(x, weight, stride, padding, dilation, groups = 1) {
  return one('mlxrocm_array_conv2d', toArray(x, weight), toArray(weight, x), ...ints(stride), ...ints(padding), ...ints(dilation), groups);
}

/** Transposed convolution of 2 spatial axes: back to the size of what conv2d with these numbers is made of. */
export function convTranspose2d(x, weight, stride, padding, dilation, outputPadding, groups = 1) {
  return one('mlxrocm_array_conv_transpose2d', toArray(x, weight), toArray(weight, x), ...ints(stride), ...ints(padding), ...ints(dilation), ...ints(outputPadding), groups);
}

/** Convolution of [batch, depth, height, width, channels] with [channels out, depth, height, width, channels / groups]. */
export function conv3d(x, weight, stride, padding, dilation, groups = 1) {
  return one('mlxrocm_array_conv3d', toArray(x, weight), toArray(weight, x), ...ints(stride), ...ints(padding), ...ints(dilation), groups);
}

/** Transposed convolution of 3 spatial axes: back to the size of what conv3d with these numbers is made of. */
export function convTranspose3d(x, weight, stride, padding, dilation, outputPadding, groups = 1) {
  return one('mlxrocm_array_conv_transpose3d', toArray(x, weight), toArray(weight, x), ...ints(stride), ...ints(padding), ...ints(dilation), ...ints(outputPadding), groups);
}

/** Discrete Fourier transform along an axis. */
export function fftFft(x, n = 0, axis = -1) {
  return one('mlxrocm_array_fft_fft', toArray(x), n, axis);
}

/** Inverse discrete Fourier transform along an axis. */
export function fftIfft(x, n = 0, axis = -1) {
  return one('mlxrocm_array_fft_ifft', toArray(x), n, axis);
}

/** Discrete Fourier transform of real numbers along an axis: half of the frequencies. */
export function fftRfft(x, n = 0, axis = -1) {
  return one('mlxrocm_array_fft_rfft', toArray(x), n, axis);
}

/** The real numbers whose fft_rfft this is. */
export function fftIrfft(x, n = 0, axis = -1) {
  return one('mlxrocm_array_fft_irfft', toArray(x), n, axis);
}

/** Discrete Fourier transform along two axes. */
export function fftFft2(x, sizes = null, axes = null) {
  return one('mlxrocm_array_fft_fft2', toArray(x), ...ints(sizes), ...ints(axes));
}

/** Inverse discrete Fourier transform along two axes. */
export function fftIfft2(x, sizes = null, axes = null) {
  return one('mlxrocm_array_fft_ifft2', toArray(x), ...ints(sizes), ...ints(axes));
}

/** Discrete Fourier transform of real numbers along two axes; of the last one half of the frequencies. */
export function fftRfft2(x, sizes = null, axes = null) {
  return one('mlxrocm_array_fft_rfft2', toArray(x), ...ints(sizes), ...ints(axes));
}

/** The real numbers whose fft_rfft2 this is. */
export function fftIrfft2(x, sizes = null, axes = null) {
  return one('mlxrocm_array_fft_irfft2', toArray(x), ...ints(sizes), ...ints(axes));
}

/** Moves the frequency 0 from the first place of axes to the middle. */
export function fftFftshift(x, axes = null) {
  return one('mlxrocm_array_fft_fftshift', toArray(x), ...ints(axes));
}

/** Undoes fft_fftshift. */
export function fftIfftshift(x, axes = null) {
  return one('mlxrocm_array_fft_ifftshift', toArray(x), ...ints(axes));
}

/** The frequencies of the results of fft_fft, float32. */
export function fftFftfreq(n, d = 1.0) {
  return one('mlxrocm_array_fft_fftfreq', n, d);
}

/** The frequencies of the results of fft_rfft, float32. */
export function fftRfftfreq(n, d = 1.0) {
  return one('mlxrocm_array_fft_rfftfreq', n, d);
}

/** Discrete Fourier transform along axes. */
export function fftFftn(x, sizes = null, axes = null) {
  return one('mlxrocm_array_fft_fftn', toArray(x), ...ints(sizes), ...ints(axes));
}

/** Inverse discrete Fourier transform along axes. */
export function fftIfftn(x, sizes = null, axes = null) {
  return one('mlxrocm_array_fft_ifftn', toArray(x), ...ints(sizes), ...ints(axes));
}

/** Discrete Fourier transform of real numbers; of the last axis only half of the frequencies. */
export function fftRfftn(x, sizes = null, axes = null) {
  return one('mlxrocm_array_fft_rfftn', toArray(x), ...ints(sizes), ...ints(axes));
}

/** The real numbers whose fft_rfftn this is. */
export function fftIrfftn(x, sizes = null, axes = null) {
  return one('mlxrocm_array_fft_irfftn', toArray(x), ...ints(sizes), ...ints(axes));
}

/** A discrete Fourier transform along axes with a normalization: "backward" divides inverse ones by their size n, as fft_ifftn does, "forward" divides the others by n, "ortho" both by the root of n. */
export function fftNormed(x, norm, inverse, real, sizes = null, axes = null) {
  return one('mlxrocm_array_fft_normed', toArray(x), ...ints(sizes), ...ints(axes), ...text(norm), inverse ? 1 : 0, real ? 1 : 0);
}

/** Walsh–Hadamard transform of the last axis, of m · 2^k elements, m = 1, 12, 20 or 28. */
export function hadamardTransform(x, scale = NaN) {
  return one('mlxrocm_array_hadamard_transform', toArray(x), scale);
}

/** x · rsqrt(mean(x²) + eps) · weight over the last axis. */
export function fastRmsNorm(x, weight = null, eps = 1e-5) {
  return one('mlxrocm_array_fast_rms_norm', toArray(x, weight), toArray(weight, x), eps);
}

/** (x − mean) · rsqrt(variance + eps) · weight + bias over the last axis. */
export function fastLayerNorm(x, weight = null, bias = null, eps = 1e-5) {
  return one('mlxrocm_array_fast_layer_norm', toArray(x, weight, bias), toArray(weight, x, bias), toArray(bias, x, weight), eps);
}

/** Rotary position embedding of [batch, …, tokens, dim]: token t stands at (t + offset) · scale. */
export function fastRope(x, dims, traditional, base, scale, offset, freqs = null) {
  return one('mlxrocm_array_fast_rope', toArray(x), dims, traditional ? 1 : 0, base, scale, toArray(offset), toArray(freqs));
}

/** softmax(scale · q·kᵀ + mask) · v of [batch, heads, rows, dim] and [batch, kv heads, keys, dim]. */
export function fastScaledDotProductAttention(q, k, v, scale, causal, mask = null, sinks = null) {
  return one('mlxrocm_array_fast_scaled_dot_product_attention', toArray(q, k, v, sinks), toArray(k, q, v, sinks), toArray(v, q, k, sinks), scale, causal ? 1 : 0, toArray(mask), toArray(sinks, q, k, v));
}

/** Q with orthogonal columns and R, upper triangular. */
export function linalgQr(x) {
  return tuple(2, 'mlxrocm_array_linalg_qr', toArray(x));
}

/** U, the singular values (the largest first) and Vᴴ. */
export function linalgSvd(x) {
  return tuple(3, 'mlxrocm_array_linalg_svd', toArray(x));
}

/** The singular values, the largest first. */
export function linalgSvdValues(x) {
  return one('mlxrocm_array_linalg_svd_values', toArray(x));
}

/** The inverse. Singular matrices fail when they are evaluated. */
export function linalgInv(x) {
  return one('mlxrocm_array_linalg_inv', toArray(x));
}

/** The inverse of triangular matrices. */
export function linalgTriInv(x, upper = false) {
  return one('mlxrocm_array_linalg_tri_inv', toArray(x), upper ? 1 : 0);
}

/** L of L·Lᵀ. What is not positive definite fails when it is evaluated. */
export function linalgCholesky(x, upper = false) {
  return one('mlxrocm_array_linalg_cholesky', toArray(x), upper ? 1 : 0);
}

/** The inverse of the matrix whose factor this is. */
export function linalgCholeskyInv(x, upper = false) {
  return one('mlxrocm_array_linalg_cholesky_inv', toArray(x), upper ? 1 : 0);
}

/** The pseudoinverse. */
export function linalgPinv(x) {
  return one('mlxrocm_array_linalg_pinv', toArray(x));
}

/** Eigenvalues (ascending) and eigenvectors (columns) of Hermitian matrices. */
export function linalgEigh(x, upper = false) {
  return tuple(2, 'mlxrocm_array_linalg_eigh', toArray(x), upper ? 1 : 0);
}

/** Eigenvalues of Hermitian matrices, ascending. */
export function linalgEigvalsh(x, upper = false) {
  return one('mlxrocm_array_linalg_eigvalsh', toArray(x), upper ? 1 : 0);
}

/** Eigenvalues and eigenvectors (columns), complex. */
export function linalgEig(x) {
  return tuple(2, 'mlxrocm_array_linalg_eig', toArray(x));
}

/** Eigenvalues, complex. */
export function linalgEigvals(x) {
  return one('mlxrocm_array_linalg_eigvals', toArray(x));
}

/** The row of L·U that each row is, L and U. */
export function linalgLu(x) {
  return tuple(3, 'mlxrocm_array_linalg_lu', toArray(x));
}

/** L and U in one array, and the row that each step changed places with. */
export function linalgLuFactor(x) {
  return tuple(2, 'mlxrocm_array_linalg_lu_factor', toArray(x));
}

/** x of a·x = b. */
export function linalgSolve(a, b) {
  return one('mlxrocm_array_linalg_solve', toArray(a, b), toArray(b, a));
}

/** x of a·x = b with a triangular a. */
export function linalgSolveTriangular(a, b, upper = false) {
  return one('mlxrocm_array_linalg_solve_triangular', toArray(a, b), toArray(b, a), upper ? 1 : 0);
}

/** The determinant. */
export function linalgDet(x) {
  return one('mlxrocm_array_linalg_det', toArray(x));
}

/** The determinant's sign and the logarithm of its size. */
export function linalgSlogdet(x) {
  return tuple(2, 'mlxrocm_array_linalg_slogdet', toArray(x));
}

/** Vector product along an axis of 2 or 3 elements. */
export function linalgCross(a, b, axis = -1) {
  return one('mlxrocm_array_linalg_cross', toArray(a, b), toArray(b, a), axis);
}

/** Root of the sum of squares. */
export function linalgNormL2(x, axes = null, keepdims = false) {
  return one('mlxrocm_array_linalg_norm_l2', toArray(x), ...ints(axes), keepdims ? 1 : 0);
}

/** Norm of vectors (one axis) or matrices (two). */
export function linalgNorm(x, p, axes = null, keepdims = false) {
  return one('mlxrocm_array_linalg_norm', toArray(x), p, ...ints(axes), keepdims ? 1 : 0);
}

/** Norm of matrices. */
export function linalgNormMatrix(x, order, axes = null, keepdims = false) {
  return one('mlxrocm_array_linalg_norm_matrix', toArray(x), ...text(order), ...ints(axes), keepdims ? 1 : 0);
}

/** Starts the sequence of keys again that calls without a key take theirs from. It is the process' own. */
export function randomSeed(seed) {
  tuple(0, 'mlxrocm_array_random_seed', seed);
}

/** The key of a seed. */
export function randomKey(seed) {
  return one('mlxrocm_array_random_key', seed);
}

/** New keys of a key: [count, 2]. */
export function randomSplit(key, count = 2) {
  return one('mlxrocm_array_random_split', toArray(key), count);
}

/** Random bits: unsigned integers. */
export function randomBits(shape, width = 4, key = null) {
  return one('mlxrocm_array_random_bits', ...ints(shape), width, toArray(key));
}

/** Numbers evenly spread from low up to, but not, high. */
export function randomUniform(low, high, shape, dtype = 'float32', key = null) {
  return one('mlxrocm_array_random_uniform', toArray(low, high), toArray(high, low), ...ints(shape), dtypeNumber(dtype), toArray(key));
}

/** Normally distributed numbers. */
export function randomNormal(shape, dtype = 'float32', loc = null, scale = null, key = null) {
  return one('mlxrocm_array_random_normal', ...ints(shape), dtypeNumber(dtype), toArray(loc, scale), toArray(scale, loc), toArray(key));
}

/** Normally distributed vectors. */
export function randomMultivariateNormal(mean, cov, shape, dtype = 'float32', key = null) {
  return one('mlxrocm_array_random_multivariate_normal', toArray(mean, cov), toArray(cov, mean), ...ints(shape), dtypeNumber(dtype), toArray(key));
}

/** Integers from low up to, but not, high. */
export function randomRandint(low, high, shape, dtype = 'int32', key = null) {
  return one('mlxrocm_array_random_randint', toArray(low, high), toArray(high, low), ...ints(shape), dtypeNumber(dtype), toArray(key));
}

/** Truth values, each true with probability p. */
export function randomBernoulli(p, shape, key = null) {
  return one('mlxrocm_array_random_bernoulli', toArray(p), ...ints(shape), toArray(key));
}

/** Normally distributed numbers between two bounds. */
export function randomTruncatedNormal(lower, upper, shape, dtype = 'float32', key = null) {
  return one('mlxrocm_array_random_truncated_normal', toArray(lower, upper), toArray(upper, lower), ...ints(shape), dtypeNumber(dtype), toArray(key));
}

/** Numbers of the standard Gumbel distribution. */
export function randomGumbel(shape, dtype = 'float32', key = null) {
  return one('mlxrocm_array_random_gumbel', ...ints(shape), dtypeNumber(dtype), toArray(key));
}

/** Laplace distributed numbers. */
export function randomLaplace(shape, dtype = 'float32', loc = 0.0, scale = 1.0, key = null) {
  return one('mlxrocm_array_random_laplace', ...ints(shape), dtypeNumber(dtype), loc, scale, toArray(key));
}

/** A place (uint32) along an axis for each row, with the probability of the softmax of its logits. */
export function randomCategorical(logits, axis = -1, key = null) {
  return one('mlxrocm_array_random_categorical', toArray(logits), axis, toArray(key));
}

/** As random_categorical, several places for each row as a last axis. */
export function randomCategoricalNumSamples(logits, numSamples, axis = -1, key = null) {
  return one('mlxrocm_array_random_categorical_num_samples', toArray(logits), axis, numSamples, toArray(key));
}

/** As random_categorical, in a shape that the rows are broadcast to. */
export function randomCategoricalShape(logits, shape, axis = -1, key = null) {
  return one('mlxrocm_array_random_categorical_shape', toArray(logits), axis, ...ints(shape), toArray(key));
}

/** Slices along an axis in random order. */
export function randomPermutation(x, axis = 0, key = null) {
  return one('mlxrocm_array_random_permutation', toArray(x), axis, toArray(key));
}

/** The numbers (uint32) below a count in random order. */
export function randomPermutationArange(count, key = null) {
  return one('mlxrocm_array_random_permutation_arange', count, toArray(key));
}

/** The array of an npy file (numpy's). Its elements stay in the file, which is mapped: do not truncate it meanwhile; save replaces it as a whole. Also fails with IO, INVALID_FILE (damaged) and UNSUPPORTED (elements of no dtype). */
export function load(path) {
  return one('mlxrocm_array_load', ...text(path));
}

/** Saves an array as an npy file (numpy's), which is there whole or not at all. It is computed if it is not yet. */
export function save(array, path) {
  tuple(0, 'mlxrocm_array_save', toArray(array), ...text(path));
}

// Operations that are methods of arrays too.
for (const method of [
  abs,
  conjugate,
  cos,
  exp,
  log,
  log2,
  log10,
  log1p,
  negative,
  rsqrt,
  sin,
  sqrt,
  square,
  reciprocal,
  round,
  astype,
  view,
  add,
  arctan2,
  bitwiseAnd,
  bitwiseOr,
  bitwiseXor,
  leftShift,
  rightShift,
  divide,
  floorDivide,
  equal,
  greater,
  greaterEqual,
  less,
  lessEqual,
  logaddexp,
  logicalAnd,
  logicalOr,
  maximum,
  minimum,
  multiply,
  notEqual,
  power,
  remainder,
  subtract,
  logicalXor,
  divmod,
  diag,
  diagonal,
  outer,
  kron,
  all,
  any,
  sum,
  prod,
  min,
  max,
  logsumexp,
  mean,
  variance,
  std,
  median,
  argmin,
  argmax,
  softmax,
  cumsum,
  cumprod,
  cummax,
  cummin,
  logcumsumexp,
  sort,
  reshape,
  flatten,
  squeeze,
  transpose,
  swapaxes,
  moveaxis,
  matmul,
  inner,
]) {
  NDArray.prototype[method.name] = function (...rest) {
    return method(this, ...rest);
  };
}
