"""Made by bindings/generate.py from include/mlxrocm.json. Do not edit.

The array operations in the C interface's form; core, linalg, fft, fast and random have MLX's.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from . import _methods
from ._array import (ArrayLike, Dtype, array, _array, _arrays, _axis, _dtype, _ints, _many, _one,
                     _operate, _tuple, _update)
from ._library import utf8 as _utf8
from .dtypes import float32 as FLOAT32, int32 as INT32


def abs(x: ArrayLike) -> array:
    """Absolute value of each element; of complex ones the modulus, as float32."""
    return _one("mlxrocm_array_abs", _array(x))


def arccos(x: ArrayLike) -> array:
    """Inverse cosine of each element."""
    return _one("mlxrocm_array_arccos", _array(x))


def arccosh(x: ArrayLike) -> array:
    """Inverse hyperbolic cosine of each element."""
    return _one("mlxrocm_array_arccosh", _array(x))


def arcsin(x: ArrayLike) -> array:
    """Inverse sine of each element."""
    return _one("mlxrocm_array_arcsin", _array(x))


def arcsinh(x: ArrayLike) -> array:
    """Inverse hyperbolic sine of each element."""
    return _one("mlxrocm_array_arcsinh", _array(x))


def arctan(x: ArrayLike) -> array:
    """Inverse tangent of each element."""
    return _one("mlxrocm_array_arctan", _array(x))


def arctanh(x: ArrayLike) -> array:
    """Inverse hyperbolic tangent of each element."""
    return _one("mlxrocm_array_arctanh", _array(x))


def bitwise_invert(x: ArrayLike) -> array:
    """Each bit of integers or truth values turned round."""
    return _one("mlxrocm_array_bitwise_invert", _array(x))


def ceil(x: ArrayLike) -> array:
    """Each element rounded up."""
    return _one("mlxrocm_array_ceil", _array(x))


def conjugate(x: ArrayLike) -> array:
    """Complex conjugate of each element."""
    return _one("mlxrocm_array_conjugate", _array(x))


def cos(x: ArrayLike) -> array:
    """Cosine of each element."""
    return _one("mlxrocm_array_cos", _array(x))


def cosh(x: ArrayLike) -> array:
    """Hyperbolic cosine of each element."""
    return _one("mlxrocm_array_cosh", _array(x))


def erf(x: ArrayLike) -> array:
    """Error function of each element."""
    return _one("mlxrocm_array_erf", _array(x))


def erfinv(x: ArrayLike) -> array:
    """Inverse of the error function of each element."""
    return _one("mlxrocm_array_erfinv", _array(x))


def exp(x: ArrayLike) -> array:
    """Exponential of each element."""
    return _one("mlxrocm_array_exp", _array(x))


def expm1(x: ArrayLike) -> array:
    """Exponential minus one of each element, exact near 0."""
    return _one("mlxrocm_array_expm1", _array(x))


def floor(x: ArrayLike) -> array:
    """Each element rounded down."""
    return _one("mlxrocm_array_floor", _array(x))


def imag(x: ArrayLike) -> array:
    """Imaginary part of each element; zeros of real ones."""
    return _one("mlxrocm_array_imag", _array(x))


def log(x: ArrayLike) -> array:
    """Natural logarithm of each element."""
    return _one("mlxrocm_array_log", _array(x))


def log2(x: ArrayLike) -> array:
    """Logarithm to base 2 of each element."""
    return _one("mlxrocm_array_log2", _array(x))


def log10(x: ArrayLike) -> array:
    """Logarithm to base 10 of each element."""
    return _one("mlxrocm_array_log10", _array(x))


def log1p(x: ArrayLike) -> array:
    """Logarithm of one plus each element, exact near 0."""
    return _one("mlxrocm_array_log1p", _array(x))


def logical_not(x: ArrayLike) -> array:
    """Whether each element is 0."""
    return _one("mlxrocm_array_logical_not", _array(x))


def negative(x: ArrayLike) -> array:
    """The negative of each element; not of truth values."""
    return _one("mlxrocm_array_negative", _array(x))


def real(x: ArrayLike) -> array:
    """Real part of each element."""
    return _one("mlxrocm_array_real", _array(x))


def rsqrt(x: ArrayLike) -> array:
    """One by the square root of each element."""
    return _one("mlxrocm_array_rsqrt", _array(x))


def sigmoid(x: ArrayLike) -> array:
    """1 / (1 + exp(-x)) of each element."""
    return _one("mlxrocm_array_sigmoid", _array(x))


def sign(x: ArrayLike) -> array:
    """-1, 0 or 1 by the sign of each element; of complex ones x / |x|."""
    return _one("mlxrocm_array_sign", _array(x))


def sin(x: ArrayLike) -> array:
    """Sine of each element."""
    return _one("mlxrocm_array_sin", _array(x))


def sinh(x: ArrayLike) -> array:
    """Hyperbolic sine of each element."""
    return _one("mlxrocm_array_sinh", _array(x))


def sqrt(x: ArrayLike) -> array:
    """Square root of each element."""
    return _one("mlxrocm_array_sqrt", _array(x))


def square(x: ArrayLike) -> array:
    """Square of each element."""
    return _one("mlxrocm_array_square", _array(x))


def tan(x: ArrayLike) -> array:
    """Tangent of each element."""
    return _one("mlxrocm_array_tan", _array(x))


def tanh(x: ArrayLike) -> array:
    """Hyperbolic tangent of each element."""
    return _one("mlxrocm_array_tanh", _array(x))


def degrees(x: ArrayLike) -> array:
    """Radians as degrees."""
    return _one("mlxrocm_array_degrees", _array(x))


def radians(x: ArrayLike) -> array:
    """Degrees as radians."""
    return _one("mlxrocm_array_radians", _array(x))


def reciprocal(x: ArrayLike) -> array:
    """One by each element."""
    return _one("mlxrocm_array_reciprocal", _array(x))


def round(x: ArrayLike, decimals: int = 0) -> array:
    """Each element rounded to decimals, halves to the even neighbour."""
    return _one("mlxrocm_array_round", _array(x), decimals)


def trunc(x: ArrayLike) -> array:
    """Each element without its fraction."""
    return _one("mlxrocm_array_trunc", _array(x))


def isnan(x: ArrayLike) -> array:
    """Whether each element is NaN."""
    return _one("mlxrocm_array_isnan", _array(x))


def isinf(x: ArrayLike) -> array:
    """Whether each element is infinite."""
    return _one("mlxrocm_array_isinf", _array(x))


def isfinite(x: ArrayLike) -> array:
    """Whether each element is neither NaN nor infinite."""
    return _one("mlxrocm_array_isfinite", _array(x))


def isposinf(x: ArrayLike) -> array:
    """Whether each element is plus infinity."""
    return _one("mlxrocm_array_isposinf", _array(x))


def isneginf(x: ArrayLike) -> array:
    """Whether each element is minus infinity."""
    return _one("mlxrocm_array_isneginf", _array(x))


def nan_to_num(x: ArrayLike, nan: float = 0.0, posinf: float = float('nan'), neginf: float = float('nan')) -> array:
    """Each element, with numbers for NaN and infinities."""
    return _one("mlxrocm_array_nan_to_num", _array(x), nan, posinf, neginf)


def astype(x: ArrayLike, dtype: Dtype) -> array:
    """The elements as another dtype: fractions are cut off, integers wrap, everything but 0 is true."""
    return _one("mlxrocm_array_astype", _array(x), _dtype(dtype))


def view(x: ArrayLike, dtype: Dtype) -> array:
    """The same bytes as another dtype; the last axis grows or shrinks with the size of an element."""
    return _one("mlxrocm_array_view", _array(x), _dtype(dtype))


def add(a: ArrayLike, b: ArrayLike) -> array:
    """Sum."""
    return _one("mlxrocm_array_add", _array(a, b), _array(b, a))


def arctan2(a: ArrayLike, b: ArrayLike) -> array:
    """Angle of the point (b, a)."""
    return _one("mlxrocm_array_arctan2", _array(a, b), _array(b, a))


def bitwise_and(a: ArrayLike, b: ArrayLike) -> array:
    """And of the bits of integers or truth values."""
    return _one("mlxrocm_array_bitwise_and", _array(a, b), _array(b, a))


def bitwise_or(a: ArrayLike, b: ArrayLike) -> array:
    """Or of the bits of integers or truth values."""
    return _one("mlxrocm_array_bitwise_or", _array(a, b), _array(b, a))


def bitwise_xor(a: ArrayLike, b: ArrayLike) -> array:
    """Exclusive or of the bits of integers or truth values."""
    return _one("mlxrocm_array_bitwise_xor", _array(a, b), _array(b, a))


def left_shift(a: ArrayLike, b: ArrayLike) -> array:
    """Bits of integers moved up by b; 0 beyond the dtype's bits."""
    return _one("mlxrocm_array_left_shift", _array(a, b), _array(b, a))


def right_shift(a: ArrayLike, b: ArrayLike) -> array:
    """Bits of integers moved down by b; by more than the dtype's bits as by all of them."""
    return _one("mlxrocm_array_right_shift", _array(a, b), _array(b, a))


def divide(a: ArrayLike, b: ArrayLike) -> array:
    """Quotient, a fraction."""
    return _one("mlxrocm_array_divide", _array(a, b), _array(b, a))


def floor_divide(a: ArrayLike, b: ArrayLike) -> array:
    """Quotient, rounded down, but of complex numbers. An integer by 0 is 0."""
    return _one("mlxrocm_array_floor_divide", _array(a, b), _array(b, a))


def equal(a: ArrayLike, b: ArrayLike) -> array:
    """Whether a = b."""
    return _one("mlxrocm_array_equal", _array(a, b), _array(b, a))


def greater(a: ArrayLike, b: ArrayLike) -> array:
    """Whether a > b."""
    return _one("mlxrocm_array_greater", _array(a, b), _array(b, a))


def greater_equal(a: ArrayLike, b: ArrayLike) -> array:
    """Whether a >= b."""
    return _one("mlxrocm_array_greater_equal", _array(a, b), _array(b, a))


def less(a: ArrayLike, b: ArrayLike) -> array:
    """Whether a < b."""
    return _one("mlxrocm_array_less", _array(a, b), _array(b, a))


def less_equal(a: ArrayLike, b: ArrayLike) -> array:
    """Whether a <= b."""
    return _one("mlxrocm_array_less_equal", _array(a, b), _array(b, a))


def logaddexp(a: ArrayLike, b: ArrayLike) -> array:
    """log(exp(a) + exp(b)) without overflow."""
    return _one("mlxrocm_array_logaddexp", _array(a, b), _array(b, a))


def logical_and(a: ArrayLike, b: ArrayLike) -> array:
    """Whether both are not 0."""
    return _one("mlxrocm_array_logical_and", _array(a, b), _array(b, a))


def logical_or(a: ArrayLike, b: ArrayLike) -> array:
    """Whether one is not 0."""
    return _one("mlxrocm_array_logical_or", _array(a, b), _array(b, a))


def maximum(a: ArrayLike, b: ArrayLike) -> array:
    """The larger; NaN if one is NaN."""
    return _one("mlxrocm_array_maximum", _array(a, b), _array(b, a))


def minimum(a: ArrayLike, b: ArrayLike) -> array:
    """The smaller; NaN if one is NaN."""
    return _one("mlxrocm_array_minimum", _array(a, b), _array(b, a))


def multiply(a: ArrayLike, b: ArrayLike) -> array:
    """Product."""
    return _one("mlxrocm_array_multiply", _array(a, b), _array(b, a))


def not_equal(a: ArrayLike, b: ArrayLike) -> array:
    """Whether a and b differ."""
    return _one("mlxrocm_array_not_equal", _array(a, b), _array(b, a))


def power(a: ArrayLike, b: ArrayLike) -> array:
    """a to the power of b. Integers to a negative power are 0, but 1 and -1."""
    return _one("mlxrocm_array_power", _array(a, b), _array(b, a))


def remainder(a: ArrayLike, b: ArrayLike) -> array:
    """Remainder of the quotient rounded down: it has b's sign. An integer by 0 leaves 0."""
    return _one("mlxrocm_array_remainder", _array(a, b), _array(b, a))


def subtract(a: ArrayLike, b: ArrayLike) -> array:
    """Difference."""
    return _one("mlxrocm_array_subtract", _array(a, b), _array(b, a))


def logical_xor(a: ArrayLike, b: ArrayLike) -> array:
    """Whether one is 0 and the other is not."""
    return _one("mlxrocm_array_logical_xor", _array(a, b), _array(b, a))


def divmod(a: ArrayLike, b: ArrayLike) -> tuple[array, array]:
    """Quotient, rounded down, and remainder, with b's sign."""
    return _tuple(2, "mlxrocm_array_divmod", _array(a, b), _array(b, a))


def where(condition: ArrayLike, a: ArrayLike, b: ArrayLike) -> array:
    """Elements of a where the condition is not 0, of b elsewhere."""
    return _one("mlxrocm_array_where", _array(condition), _array(a, b), _array(b, a))


def clip(x: ArrayLike, minimum: ArrayLike | None = None, maximum: ArrayLike | None = None) -> array:
    """Elements between a minimum and a maximum."""
    return _one("mlxrocm_array_clip", _array(x, minimum, maximum), _array(minimum, x, maximum), _array(maximum, x, minimum))


def isclose(a: ArrayLike, b: ArrayLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> array:
    """Whether |a - b| <= atol + rtol |b|; equal infinities are close."""
    return _one("mlxrocm_array_isclose", _array(a, b), _array(b, a), rtol, atol, bool(equal_nan))


def allclose(a: ArrayLike, b: ArrayLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> array:
    """Whether all elements are close, as by isclose."""
    return _one("mlxrocm_array_allclose", _array(a, b), _array(b, a), rtol, atol, bool(equal_nan))


def array_equal(a: ArrayLike, b: ArrayLike, equal_nan: bool = False) -> array:
    """Whether shapes and all elements are equal."""
    return _one("mlxrocm_array_array_equal", _array(a, b), _array(b, a), bool(equal_nan))


def full(shape: int | Sequence[int], value: ArrayLike, dtype: Dtype = FLOAT32) -> array:
    """The value, broadcast to a shape."""
    return _one("mlxrocm_array_full", *_ints(shape), _array(value), _dtype(dtype))


def zeros(shape: int | Sequence[int], dtype: Dtype = FLOAT32) -> array:
    """Zeros."""
    return _one("mlxrocm_array_zeros", *_ints(shape), _dtype(dtype))


def ones(shape: int | Sequence[int], dtype: Dtype = FLOAT32) -> array:
    """Ones."""
    return _one("mlxrocm_array_ones", *_ints(shape), _dtype(dtype))


def zeros_like(x: ArrayLike, dtype: Dtype | None = None) -> array:
    """Zeros of the shape of an array, on its device."""
    return _one("mlxrocm_array_zeros_like", _array(x), -1 if dtype is None else _dtype(dtype))


def ones_like(x: ArrayLike, dtype: Dtype | None = None) -> array:
    """Ones of the shape of an array, on its device."""
    return _one("mlxrocm_array_ones_like", _array(x), -1 if dtype is None else _dtype(dtype))


def full_like(x: ArrayLike, value: ArrayLike, dtype: Dtype | None = None) -> array:
    """The value, broadcast to the shape of an array, on its device."""
    return _one("mlxrocm_array_full_like", _array(x, value), _array(value, x), -1 if dtype is None else _dtype(dtype))


def number(value: float, dtype: Dtype = FLOAT32) -> array:
    """A scalar."""
    return _one("mlxrocm_array_number", value, _dtype(dtype))


def arange(start: float, stop: float, step: float, dtype: Dtype = FLOAT32) -> array:
    """Start, start + step and so on, before stop; not of truth values."""
    return _one("mlxrocm_array_arange", start, stop, step, _dtype(dtype))


def linspace(start: float, stop: float, count: int, dtype: Dtype = FLOAT32) -> array:
    """Numbers from start to stop, evenly spaced."""
    return _one("mlxrocm_array_linspace", start, stop, count, _dtype(dtype))


def eye(n: int, m: int, k: int = 0, dtype: Dtype = FLOAT32) -> array:
    """Ones on a diagonal of a matrix of zeros."""
    return _one("mlxrocm_array_eye", n, m, k, _dtype(dtype))


def identity(n: int, dtype: Dtype = FLOAT32) -> array:
    """The identity matrix."""
    return _one("mlxrocm_array_identity", n, _dtype(dtype))


def tri(n: int, m: int, k: int = 0, dtype: Dtype = FLOAT32) -> array:
    """Ones on and below a diagonal, zeros above."""
    return _one("mlxrocm_array_tri", n, m, k, _dtype(dtype))


def tril(x: ArrayLike, k: int = 0) -> array:
    """The last two axes with zeros above a diagonal."""
    return _one("mlxrocm_array_tril", _array(x), k)


def triu(x: ArrayLike, k: int = 0) -> array:
    """The last two axes with zeros below a diagonal."""
    return _one("mlxrocm_array_triu", _array(x), k)


def diag(x: ArrayLike, k: int = 0) -> array:
    """A matrix with a vector on a diagonal, or a diagonal of a matrix."""
    return _one("mlxrocm_array_diag", _array(x), k)


def diagonal(x: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> array:
    """Diagonals of the matrices of two axes, as a last axis."""
    return _one("mlxrocm_array_diagonal", _array(x), offset, axis1, axis2)


def trace(x: ArrayLike, dtype: Dtype, offset: int = 0, axis1: int = 0, axis2: int = 1) -> array:
    """Sum of a diagonal."""
    return _one("mlxrocm_array_trace", _array(x), offset, axis1, axis2, _dtype(dtype))


def outer(a: ArrayLike, b: ArrayLike) -> array:
    """Products of every element of a with every one of b."""
    return _one("mlxrocm_array_outer", _array(a, b), _array(b, a))


def kron(a: ArrayLike, b: ArrayLike) -> array:
    """Kronecker product."""
    return _one("mlxrocm_array_kron", _array(a, b), _array(b, a))


def all(x: ArrayLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> array:
    """Whether all elements are not 0."""
    return _one("mlxrocm_array_all", _array(x), *_ints(axis), bool(keepdims))


def any(x: ArrayLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> array:
    """Whether some element is not 0."""
    return _one("mlxrocm_array_any", _array(x), *_ints(axis), bool(keepdims))


def sum(x: ArrayLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> array:
    """Sum. Small integers and truth values become 32-bit integers."""
    return _one("mlxrocm_array_sum", _array(x), *_ints(axis), bool(keepdims))


def prod(x: ArrayLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> array:
    """Product. Small integers and truth values become 32-bit integers."""
    return _one("mlxrocm_array_prod", _array(x), *_ints(axis), bool(keepdims))


def min(x: ArrayLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> array:
    """The smallest; NaN if there is one."""
    return _one("mlxrocm_array_min", _array(x), *_ints(axis), bool(keepdims))


def max(x: ArrayLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> array:
    """The largest; NaN if there is one."""
    return _one("mlxrocm_array_max", _array(x), *_ints(axis), bool(keepdims))


def logsumexp(x: ArrayLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> array:
    """Logarithm of the sum of exponentials, without overflow."""
    return _one("mlxrocm_array_logsumexp", _array(x), *_ints(axis), bool(keepdims))


def mean(x: ArrayLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> array:
    """Mean."""
    return _one("mlxrocm_array_mean", _array(x), *_ints(axis), bool(keepdims))


def var(x: ArrayLike, axis: int | Sequence[int] | None = None, keepdims: bool = False, ddof: int = 0) -> array:
    """Variance."""
    return _one("mlxrocm_array_var", _array(x), *_ints(axis), bool(keepdims), ddof)


def std(x: ArrayLike, axis: int | Sequence[int] | None = None, keepdims: bool = False, ddof: int = 0) -> array:
    """Standard deviation."""
    return _one("mlxrocm_array_std", _array(x), *_ints(axis), bool(keepdims), ddof)


def median(x: ArrayLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> array:
    """Median; the mean of the middle two of an even number."""
    return _one("mlxrocm_array_median", _array(x), *_ints(axis), bool(keepdims))


def count_nonzero(x: ArrayLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> array:
    """How many elements are not 0."""
    return _one("mlxrocm_array_count_nonzero", _array(x), *_ints(axis), bool(keepdims))


def argmin(x: ArrayLike, axis: int | None = None, keepdims: bool = False) -> array:
    """The place (uint32) of the first smallest element; of NaN if there is one."""
    return _one("mlxrocm_array_argmin", _array(x), _axis(axis), bool(keepdims))


def argmax(x: ArrayLike, axis: int | None = None, keepdims: bool = False) -> array:
    """The place (uint32) of the first largest element; of NaN if there is one."""
    return _one("mlxrocm_array_argmax", _array(x), _axis(axis), bool(keepdims))


def softmax(x: ArrayLike, axis: int | Sequence[int] | None = None, precise: bool = False) -> array:
    """Softmax: exp(x) over its sum along axes, without overflow."""
    return _one("mlxrocm_array_softmax", _array(x), *_ints(axis), bool(precise))


def number_of_elements(x: ArrayLike, axis: int | Sequence[int] | None = None, inverted: bool = False, dtype: Dtype = FLOAT32) -> array:
    """How many elements axes have, as a scalar."""
    return _one("mlxrocm_array_number_of_elements", _array(x), *_ints(axis), bool(inverted), _dtype(dtype))


def cumsum(x: ArrayLike, axis: int | None = None, reverse: bool = False, inclusive: bool = True) -> array:
    """Running sum."""
    return _one("mlxrocm_array_cumsum", _array(x), _axis(axis), bool(reverse), bool(inclusive))


def cumprod(x: ArrayLike, axis: int | None = None, reverse: bool = False, inclusive: bool = True) -> array:
    """Running product."""
    return _one("mlxrocm_array_cumprod", _array(x), _axis(axis), bool(reverse), bool(inclusive))


def cummax(x: ArrayLike, axis: int | None = None, reverse: bool = False, inclusive: bool = True) -> array:
    """Running maximum."""
    return _one("mlxrocm_array_cummax", _array(x), _axis(axis), bool(reverse), bool(inclusive))


def cummin(x: ArrayLike, axis: int | None = None, reverse: bool = False, inclusive: bool = True) -> array:
    """Running minimum."""
    return _one("mlxrocm_array_cummin", _array(x), _axis(axis), bool(reverse), bool(inclusive))


def logcumsumexp(x: ArrayLike, axis: int | None = None, reverse: bool = False, inclusive: bool = True) -> array:
    """Running logarithm of the sum of exponentials."""
    return _one("mlxrocm_array_logcumsumexp", _array(x), _axis(axis), bool(reverse), bool(inclusive))


def sort(x: ArrayLike, axis: int | None = -1) -> array:
    """Sorted, NaN last."""
    return _one("mlxrocm_array_sort", _array(x), _axis(axis))


def argsort(x: ArrayLike, axis: int | None = -1) -> array:
    """The places (uint32) of the sorted elements; equal ones stay in order."""
    return _one("mlxrocm_array_argsort", _array(x), _axis(axis))


def partition(x: ArrayLike, kth: int, axis: int | None = -1) -> array:
    """With the kth element where sorting would put it, none larger before it and none smaller behind."""
    return _one("mlxrocm_array_partition", _array(x), kth, _axis(axis))


def argpartition(x: ArrayLike, kth: int, axis: int | None = -1) -> array:
    """The places (uint32) that partition takes elements from."""
    return _one("mlxrocm_array_argpartition", _array(x), kth, _axis(axis))


def topk(x: ArrayLike, k: int, axis: int | None = -1) -> array:
    """The k largest, in no particular order."""
    return _one("mlxrocm_array_topk", _array(x), k, _axis(axis))


def searchsorted(sorted: ArrayLike, values: ArrayLike, right: bool = False) -> array:
    """Where values would be put into a sorted vector (uint32)."""
    return _one("mlxrocm_array_searchsorted", _array(sorted, values), _array(values, sorted), bool(right))


def reshape(x: ArrayLike, shape: int | Sequence[int]) -> array:
    """The same elements, row after row, in another shape; one size may be -1: what is left."""
    return _one("mlxrocm_array_reshape", _array(x), *_ints(shape))


def flatten(x: ArrayLike, start: int = 0, end: int = -1) -> array:
    """Neighbouring axes as one."""
    return _one("mlxrocm_array_flatten", _array(x), start, end)


def unflatten(x: ArrayLike, axis: int, shape: int | Sequence[int]) -> array:
    """An axis as several; one size may be -1: what is left."""
    return _one("mlxrocm_array_unflatten", _array(x), axis, *_ints(shape))


def expand_dims(x: ArrayLike, axis: int | Sequence[int]) -> array:
    """New axes of size 1."""
    return _one("mlxrocm_array_expand_dims", _array(x), *_ints(axis))


def squeeze(x: ArrayLike, axis: int | Sequence[int] | None = None) -> array:
    """Axes of size 1 taken away."""
    return _one("mlxrocm_array_squeeze", _array(x), *_ints(axis))


def broadcast_to(x: ArrayLike, shape: int | Sequence[int]) -> array:
    """Repeated along axes of size 1, and along new ones in front."""
    return _one("mlxrocm_array_broadcast_to", _array(x), *_ints(shape))


def transpose(x: ArrayLike, axis: int | Sequence[int] | None = None) -> array:
    """Axes in another order."""
    return _one("mlxrocm_array_transpose", _array(x), *_ints(axis))


def swapaxes(x: ArrayLike, axis1: int = 0, axis2: int = 1) -> array:
    """Two axes in each other's place."""
    return _one("mlxrocm_array_swapaxes", _array(x), axis1, axis2)


def moveaxis(x: ArrayLike, source: int, destination: int) -> array:
    """An axis at another place."""
    return _one("mlxrocm_array_moveaxis", _array(x), source, destination)


def atleast_1d(x: ArrayLike) -> array:
    """At least one axis."""
    return _one("mlxrocm_array_atleast_1d", _array(x))


def atleast_2d(x: ArrayLike) -> array:
    """At least two axes."""
    return _one("mlxrocm_array_atleast_2d", _array(x))


def atleast_3d(x: ArrayLike) -> array:
    """At least three axes."""
    return _one("mlxrocm_array_atleast_3d", _array(x))


def slice(x: ArrayLike, start: int | Sequence[int], stop: int | Sequence[int], step: int | Sequence[int]) -> array:
    """Elements from start to before stop by step. Negative places count from the end, those beyond the array are its ends; a negative step goes backwards."""
    return _one("mlxrocm_array_slice", _array(x), *_ints(start), *_ints(stop), *_ints(step))


def as_strided(x: ArrayLike, shape: int | Sequence[int], strides: int | Sequence[int], offset: int = 0) -> array:
    """Elements at the places, among the array's elements row after row, that strides and an offset give."""
    return _one("mlxrocm_array_as_strided", _array(x), *_ints(shape), *_ints(strides), offset)


def contiguous(x: ArrayLike) -> array:
    """Row after row in memory."""
    return _one("mlxrocm_array_contiguous", _array(x))


def stop_gradient(x: ArrayLike) -> array:
    """The array, as one that derivatives do not pass."""
    return _one("mlxrocm_array_stop_gradient", _array(x))


def depends(x: ArrayLike, others: Sequence[ArrayLike]) -> array:
    """The array, computed after others."""
    return _one("mlxrocm_array_depends", _array(x), *_arrays(others))


def concatenate(arrays: Sequence[ArrayLike], axis: int = 0) -> array:
    """Arrays one after the other along an axis."""
    return _one("mlxrocm_array_concatenate", *_arrays(arrays), axis)


def stack(arrays: Sequence[ArrayLike], axis: int = 0) -> array:
    """Arrays of one shape along a new axis."""
    return _one("mlxrocm_array_stack", *_arrays(arrays), axis)


def repeat(x: ArrayLike, repeats: int, axis: int | None = None) -> array:
    """Each element several times, one after the other."""
    return _one("mlxrocm_array_repeat", _array(x), repeats, _axis(axis))


def tile(x: ArrayLike, reps: int | Sequence[int]) -> array:
    """The whole array several times along each axis."""
    return _one("mlxrocm_array_tile", _array(x), *_ints(reps))


def pad(x: ArrayLike, low: int | Sequence[int], high: int | Sequence[int], mode: int = 0, value: ArrayLike | None = None) -> array:
    """Surrounded along every axis."""
    return _one("mlxrocm_array_pad", _array(x, value), *_ints(low), *_ints(high), mode, _array(value, x))


def roll(x: ArrayLike, shifts: int | Sequence[int], axis: int | Sequence[int] | None = None) -> array:
    """Moved round; what leaves at an end comes in at the other."""
    return _one("mlxrocm_array_roll", _array(x), *_ints(shifts), *_ints(axis))


def flip(x: ArrayLike, axis: int | Sequence[int] | None = None) -> array:
    """Axes turned round: the last element first."""
    return _one("mlxrocm_array_flip", _array(x), *_ints(axis))


def split(x: ArrayLike, places: int | Sequence[int], axis: int = 0) -> list[array]:
    """Cuts an array before places of an axis."""
    return _many(len(_ints(places)[0] or ()) + 1, "mlxrocm_array_split", _array(x), *_ints(places), axis)


def split_parts(x: ArrayLike, parts: int, axis: int = 0) -> list[array]:
    """Cuts an axis into equal parts."""
    return _many(parts, "mlxrocm_array_split_parts", _array(x), parts, axis)


def broadcast_arrays(arrays: Sequence[ArrayLike]) -> list[array]:
    """Broadcasts arrays to the shape that all of them fit."""
    return _many(len(arrays), "mlxrocm_array_broadcast_arrays", *_arrays(arrays))


def meshgrid(arrays: Sequence[ArrayLike], sparse: bool = False, swapped: bool = False) -> list[array]:
    """Coordinates of a grid: each vector along an axis of its own, repeated along the others."""
    return _many(len(arrays), "mlxrocm_array_meshgrid", *_arrays(arrays), bool(sparse), bool(swapped))


def take(x: ArrayLike, indices: ArrayLike, axis: int | None = None) -> array:
    """Slices of one axis at indices, which take the axis' place. Negative indices count from the end."""
    return _one("mlxrocm_array_take", _array(x), _array(indices), _axis(axis))


def take_along_axis(x: ArrayLike, indices: ArrayLike, axis: int | None = None) -> array:
    """The element at each index along an axis. Other axes are broadcast."""
    return _one("mlxrocm_array_take_along_axis", _array(x), _array(indices), _axis(axis))


def gather(x: ArrayLike, indices: Sequence[ArrayLike], axis: int | Sequence[int], sizes: int | Sequence[int]) -> array:
    """Slices of given sizes that begin at indices along axes. The result has the indices' shape, then the sizes."""
    return _one("mlxrocm_array_gather", _array(x), *_arrays(indices), *_ints(axis), *_ints(sizes))


def slice_dynamic(x: ArrayLike, start: ArrayLike, axis: int | Sequence[int], sizes: int | Sequence[int]) -> array:
    """A slice of given sizes that begins at computed places."""
    return _one("mlxrocm_array_slice_dynamic", _array(x), _array(start), *_ints(axis), *_ints(sizes))


def slice_update_dynamic(x: ArrayLike, update: ArrayLike, start: ArrayLike, axis: int | Sequence[int]) -> array:
    """With an update in place of the slice that begins at computed places."""
    return _one("mlxrocm_array_slice_update_dynamic", _array(x, update), _array(update, x), _array(start), *_ints(axis))


def masked_scatter(x: ArrayLike, mask: ArrayLike, source: ArrayLike) -> array:
    """With elements of source, in order, where the mask is not 0."""
    return _one("mlxrocm_array_masked_scatter", _array(x, source), _array(mask), _array(source, x))


def scatter(x: ArrayLike, indices: Sequence[ArrayLike], updates: ArrayLike, axis: int | Sequence[int]) -> array:
    """With slices at indices along axes replaced by updates. Updates have the indices' shape, then that of slices of x's rank. Where places meet the last update stays."""
    return _one("mlxrocm_array_scatter", _array(x, updates), *_arrays(indices), _array(updates, x), *_ints(axis))


def slice_update(x: ArrayLike, update: ArrayLike, start: int | Sequence[int], stop: int | Sequence[int], step: int | Sequence[int]) -> array:
    """With the elements of a slice replaced by an update, which is broadcast to it."""
    return _one("mlxrocm_array_slice_update", _array(x, update), _array(update, x), *_ints(start), *_ints(stop), *_ints(step))


def scatter_add(x: ArrayLike, indices: Sequence[ArrayLike], updates: ArrayLike, axis: int | Sequence[int]) -> array:
    """With slices at indices along axes joined by sum with updates. Updates have the indices' shape, then that of slices of x's rank."""
    return _one("mlxrocm_array_scatter_add", _array(x, updates), *_arrays(indices), _array(updates, x), *_ints(axis))


def slice_update_add(x: ArrayLike, update: ArrayLike, start: int | Sequence[int], stop: int | Sequence[int], step: int | Sequence[int]) -> array:
    """With the elements of a slice joined by sum with an update, which is broadcast to it."""
    return _one("mlxrocm_array_slice_update_add", _array(x, update), _array(update, x), *_ints(start), *_ints(stop), *_ints(step))


def scatter_prod(x: ArrayLike, indices: Sequence[ArrayLike], updates: ArrayLike, axis: int | Sequence[int]) -> array:
    """With slices at indices along axes joined by product with updates. Updates have the indices' shape, then that of slices of x's rank."""
    return _one("mlxrocm_array_scatter_prod", _array(x, updates), *_arrays(indices), _array(updates, x), *_ints(axis))


def slice_update_prod(x: ArrayLike, update: ArrayLike, start: int | Sequence[int], stop: int | Sequence[int], step: int | Sequence[int]) -> array:
    """With the elements of a slice joined by product with an update, which is broadcast to it."""
    return _one("mlxrocm_array_slice_update_prod", _array(x, update), _array(update, x), *_ints(start), *_ints(stop), *_ints(step))


def scatter_max(x: ArrayLike, indices: Sequence[ArrayLike], updates: ArrayLike, axis: int | Sequence[int]) -> array:
    """With slices at indices along axes joined by maximum with updates. Updates have the indices' shape, then that of slices of x's rank."""
    return _one("mlxrocm_array_scatter_max", _array(x, updates), *_arrays(indices), _array(updates, x), *_ints(axis))


def slice_update_max(x: ArrayLike, update: ArrayLike, start: int | Sequence[int], stop: int | Sequence[int], step: int | Sequence[int]) -> array:
    """With the elements of a slice joined by maximum with an update, which is broadcast to it."""
    return _one("mlxrocm_array_slice_update_max", _array(x, update), _array(update, x), *_ints(start), *_ints(stop), *_ints(step))


def scatter_min(x: ArrayLike, indices: Sequence[ArrayLike], updates: ArrayLike, axis: int | Sequence[int]) -> array:
    """With slices at indices along axes joined by minimum with updates. Updates have the indices' shape, then that of slices of x's rank."""
    return _one("mlxrocm_array_scatter_min", _array(x, updates), *_arrays(indices), _array(updates, x), *_ints(axis))


def slice_update_min(x: ArrayLike, update: ArrayLike, start: int | Sequence[int], stop: int | Sequence[int], step: int | Sequence[int]) -> array:
    """With the elements of a slice joined by minimum with an update, which is broadcast to it."""
    return _one("mlxrocm_array_slice_update_min", _array(x, update), _array(update, x), *_ints(start), *_ints(stop), *_ints(step))


def put_along_axis(x: ArrayLike, indices: ArrayLike, values: ArrayLike, axis: int | None = None) -> array:
    """With values put at indices along an axis. Values are broadcast to the indices."""
    return _one("mlxrocm_array_put_along_axis", _array(x, values), _array(indices), _array(values, x), _axis(axis))


def scatter_add_axis(x: ArrayLike, indices: ArrayLike, values: ArrayLike, axis: int | None = None) -> array:
    """With values added at indices along an axis. Values are broadcast to the indices."""
    return _one("mlxrocm_array_scatter_add_axis", _array(x, values), _array(indices), _array(values, x), _axis(axis))


def matmul(a: ArrayLike, b: ArrayLike) -> array:
    """Product of the last two axes; the others are broadcast together. A vector is a row on the left and a column on the right."""
    return _one("mlxrocm_array_matmul", _array(a, b), _array(b, a))


def addmm(c: ArrayLike, a: ArrayLike, b: ArrayLike, alpha: float = 1.0, beta: float = 1.0) -> array:
    """alpha · a·b + beta · c; c is broadcast to the product."""
    return _one("mlxrocm_array_addmm", _array(c, a, b), _array(a, c, b), _array(b, c, a), alpha, beta)


def block_masked_mm(a: ArrayLike, b: ArrayLike, block_size: int, mask_out: ArrayLike | None = None, mask_lhs: ArrayLike | None = None, mask_rhs: ArrayLike | None = None) -> array:
    """Product of matrices whose blocks are multiplied by masks (truth values or numbers) first."""
    return _one("mlxrocm_array_block_masked_mm", _array(a, b), _array(b, a), block_size, _array(mask_out), _array(mask_lhs), _array(mask_rhs))


def gather_mm(a: ArrayLike, b: ArrayLike, lhs_indices: ArrayLike | None = None, rhs_indices: ArrayLike | None = None) -> array:
    """Products of matrices by index: of matrix lhs_indices[i] of a and matrix rhs_indices[i] of b."""
    return _one("mlxrocm_array_gather_mm", _array(a, b), _array(b, a), _array(lhs_indices), _array(rhs_indices))


def segmented_mm(a: ArrayLike, b: ArrayLike, segments: ArrayLike) -> array:
    """Products of parts of two matrices."""
    return _one("mlxrocm_array_segmented_mm", _array(a, b), _array(b, a), _array(segments))


def tensordot(a: ArrayLike, b: ArrayLike, axes_a: int | Sequence[int], axes_b: int | Sequence[int]) -> array:
    """Sums of products over pairs of axes."""
    return _one("mlxrocm_array_tensordot", _array(a, b), _array(b, a), *_ints(axes_a), *_ints(axes_b))


def inner(a: ArrayLike, b: ArrayLike) -> array:
    """Sums of products over the last axes."""
    return _one("mlxrocm_array_inner", _array(a, b), _array(b, a))


def einsum(subscripts: str, operands: Sequence[ArrayLike]) -> array:
    """Sums of products over axes that are named by letters: 'ij,jk->ik' is the product of two matrices. Spaces are nothing; `...` stands for axes without names, which are broadcast; without `->` the result has the letters that appear once, in the order of the alphabet."""
    return _one("mlxrocm_array_einsum", *_utf8(subscripts), *_arrays(operands))


def quantize(w: ArrayLike, group_size: int = 0, bits: int = 0) -> tuple[array, array, array]:
    """Codes, scales and biases of groups along the last axis, in the affine mode."""
    return _tuple(3, "mlxrocm_array_quantize", _array(w), group_size, bits)


def quantize_float(w: ArrayLike, mode: str, global_scale: ArrayLike | None = None) -> tuple[array, array]:
    """Codes and scales of groups along the last axis, in a mode without biases."""
    return _tuple(2, "mlxrocm_array_quantize_float", _array(w, global_scale), *_utf8(mode), _array(global_scale, w))


def dequantize(w: ArrayLike, scales: ArrayLike, biases: ArrayLike | None = None, group_size: int = 0, bits: int = 0, mode: str = "affine", global_scale: ArrayLike | None = None, dtype: Dtype | None = None) -> array:
    """The numbers of codes."""
    return _one("mlxrocm_array_dequantize", _array(w, scales, biases, global_scale), _array(scales, w, biases, global_scale), _array(biases, w, scales, global_scale), group_size, bits, *_utf8(mode), _array(global_scale, w, scales, biases), -1 if dtype is None else _dtype(dtype))


def quantized_matmul(x: ArrayLike, w: ArrayLike, scales: ArrayLike, biases: ArrayLike | None = None, transpose: bool = True, group_size: int = 0, bits: int = 0, mode: str = "affine") -> array:
    """Product with a quantized matrix."""
    return _one("mlxrocm_array_quantized_matmul", _array(x, w, scales, biases), _array(w, x, scales, biases), _array(scales, x, w, biases), _array(biases, x, w, scales), bool(transpose), group_size, bits, *_utf8(mode))


def gather_qmm(x: ArrayLike, w: ArrayLike, scales: ArrayLike, biases: ArrayLike | None = None, lhs_indices: ArrayLike | None = None, rhs_indices: ArrayLike | None = None, transpose: bool = True, group_size: int = 0, bits: int = 0, mode: str = "affine") -> array:
    """Products with quantized matrices by index: matrix lhs_indices[i] of x with matrix rhs_indices[i] of w."""
    return _one("mlxrocm_array_gather_qmm", _array(x, w, scales, biases), _array(w, x, scales, biases), _array(scales, x, w, biases), _array(biases, x, w, scales), _array(lhs_indices), _array(rhs_indices), bool(transpose), group_size, bits, *_utf8(mode))


def qqmm(x: ArrayLike, w: ArrayLike, scales: ArrayLike | None = None, mode: str = "nvfp4", global_scale_x: ArrayLike | None = None, global_scale_w: ArrayLike | None = None) -> array:
    """Product x · wᵀ with both sides quantized: x on the way, w too if it has no scales."""
    return _one("mlxrocm_array_qqmm", _array(x, w, scales, global_scale_x, global_scale_w), _array(w, x, scales, global_scale_x, global_scale_w), _array(scales, x, w, global_scale_x, global_scale_w), *_utf8(mode), _array(global_scale_x, x, w, scales, global_scale_w), _array(global_scale_w, x, w, scales, global_scale_x))


def gather_qqmm(x: ArrayLike, w: ArrayLike, scales: ArrayLike | None = None, lhs_indices: ArrayLike | None = None, rhs_indices: ArrayLike | None = None, mode: str = "nvfp4", global_scale_x: ArrayLike | None = None, global_scale_w: ArrayLike | None = None) -> array:
    """As qqmm, matrix lhs_indices[i] of x with matrix rhs_indices[i] of w."""
    return _one("mlxrocm_array_gather_qqmm", _array(x, w, scales, global_scale_x, global_scale_w), _array(w, x, scales, global_scale_x, global_scale_w), _array(scales, x, w, global_scale_x, global_scale_w), _array(lhs_indices), _array(rhs_indices), *_utf8(mode), _array(global_scale_x, x, w, scales, global_scale_w), _array(global_scale_w, x, w, scales, global_scale_x))


def to_fp8(x: ArrayLike) -> array:
    """E4M3 codes (uint8) of numbers."""
    return _one("mlxrocm_array_to_fp8", _array(x))


def from_fp8(x: ArrayLike, dtype: Dtype = FLOAT32) -> array:
    """Numbers of E4M3 codes (uint8)."""
    return _one("mlxrocm_array_from_fp8", _array(x), _dtype(dtype))


def conv_general(x: ArrayLike, weight: ArrayLike, stride: int | Sequence[int], padding_low: int | Sequence[int], padding_high: int | Sequence[int], kernel_dilation: int | Sequence[int], input_dilation: int | Sequence[int], groups: int = 1, flip: bool = False) -> array:
    """Convolution of [batch, …, channels] with [channels out, …, channels / groups], of one to three spatial axes. A list holds a number for each of these, one for all, or none for the usual."""
    return _one("mlxrocm_array_conv_general", _array(x, weight), _array(weight, x), *_ints(stride), *_ints(padding_low), *_ints(padding_high), *_ints(kernel_dilation), *_ints(input_dilation), groups, bool(flip))


def conv_transpose(x: ArrayLike, weight: ArrayLike, stride: int | Sequence[int], padding: int | Sequence[int], dilation: int | Sequence[int], output_padding: int | Sequence[int], groups: int = 1) -> array:
    """Transposed convolution: back to the size of what a convolution with these numbers is made of."""
    return _one("mlxrocm_array_conv_transpose", _array(x, weight), _array(weight, x), *_ints(stride), *_ints(padding), *_ints(dilation), *_ints(output_padding), groups)


def conv1d(x: ArrayLike, weight: ArrayLike, stride: int = 1, padding: int = 0, dilation: int = 1, groups: int = 1) -> array:
    """Convolution of [batch, length, channels] with [channels out, length, channels / groups]."""
    return _one("mlxrocm_array_conv1d", _array(x, weight), _array(weight, x), stride, padding, dilation, groups)


def conv_transpose1d(x: ArrayLike, weight: ArrayLike, stride: int = 1, padding: int = 0, dilation: int = 1, output_padding: int = 0, groups: int = 1) -> array:
    """Transposed convolution of 1 spatial axis: back to the size of what conv1d with these numbers is made of."""
    return _one("mlxrocm_array_conv_transpose1d", _array(x, weight), _array(weight, x), stride, padding, dilation, output_padding, groups)


def conv2d(x: ArrayLike, weight: ArrayLike, stride: int | Sequence[int], padding: int | Sequence[int], dilation: int | Sequence[int], groups: int = 1) -> array:
    """Convolution of [batch, height, width, channels] with [channels out, height, width, channels / groups]."""
    return _one("mlxrocm_array_conv2d", _array(x, weight), _array(weight, x), *_ints(stride), *_ints(padding), *_ints(dilation), groups)


def conv_transpose2d(x: ArrayLike, weight: ArrayLike, stride: int | Sequence[int], padding: int | Sequence[int], dilation: int | Sequence[int], output_padding: int | Sequence[int], groups: int = 1) -> array:
    """Transposed convolution of 2 spatial axes: back to the size of what conv2d with these numbers is made of."""
    return _one("mlxrocm_array_conv_transpose2d", _array(x, weight), _array(weight, x), *_ints(stride), *_ints(padding), *_ints(dilation), *_ints(output_padding), groups)


def conv3d(x: ArrayLike, weight: ArrayLike, stride: int | Sequence[int], padding: int | Sequence[int], dilation: int | Sequence[int], groups: int = 1) -> array:
    """Convolution of [batch, depth, height, width, channels] with [channels out, depth, height, width, channels / groups]."""
    return _one("mlxrocm_array_conv3d", _array(x, weight), _array(weight, x), *_ints(stride), *_ints(padding), *_ints(dilation), groups)


def conv_transpose3d(x: ArrayLike, weight: ArrayLike, stride: int | Sequence[int], padding: int | Sequence[int], dilation: int | Sequence[int], output_padding: int | Sequence[int], groups: int = 1) -> array:
    """Transposed convolution of 3 spatial axes: back to the size of what conv3d with these numbers is made of."""
    return _one("mlxrocm_array_conv_transpose3d", _array(x, weight), _array(weight, x), *_ints(stride), *_ints(padding), *_ints(dilation), *_ints(output_padding), groups)


def fft_fft(x: ArrayLike, n: int = 0, axis: int = -1) -> array:
    """Discrete Fourier transform along an axis."""
    return _one("mlxrocm_array_fft_fft", _array(x), n, axis)


def fft_ifft(x: ArrayLike, n: int = 0, axis: int = -1) -> array:
    """Inverse discrete Fourier transform along an axis."""
    return _one("mlxrocm_array_fft_ifft", _array(x), n, axis)


def fft_rfft(x: ArrayLike, n: int = 0, axis: int = -1) -> array:
    """Discrete Fourier transform of real numbers along an axis: half of the frequencies."""
    return _one("mlxrocm_array_fft_rfft", _array(x), n, axis)


def fft_irfft(x: ArrayLike, n: int = 0, axis: int = -1) -> array:
    """The real numbers whose fft_rfft this is."""
    return _one("mlxrocm_array_fft_irfft", _array(x), n, axis)


def fft_fft2(x: ArrayLike, sizes: int | Sequence[int] | None = None, axis: int | Sequence[int] | None = None) -> array:
    """Discrete Fourier transform along two axes."""
    return _one("mlxrocm_array_fft_fft2", _array(x), *_ints(sizes), *_ints(axis))


def fft_ifft2(x: ArrayLike, sizes: int | Sequence[int] | None = None, axis: int | Sequence[int] | None = None) -> array:
    """Inverse discrete Fourier transform along two axes."""
    return _one("mlxrocm_array_fft_ifft2", _array(x), *_ints(sizes), *_ints(axis))


def fft_rfft2(x: ArrayLike, sizes: int | Sequence[int] | None = None, axis: int | Sequence[int] | None = None) -> array:
    """Discrete Fourier transform of real numbers along two axes; of the last one half of the frequencies."""
    return _one("mlxrocm_array_fft_rfft2", _array(x), *_ints(sizes), *_ints(axis))


def fft_irfft2(x: ArrayLike, sizes: int | Sequence[int] | None = None, axis: int | Sequence[int] | None = None) -> array:
    """The real numbers whose fft_rfft2 this is."""
    return _one("mlxrocm_array_fft_irfft2", _array(x), *_ints(sizes), *_ints(axis))


def fft_fftshift(x: ArrayLike, axis: int | Sequence[int] | None = None) -> array:
    """Moves the frequency 0 from the first place of axes to the middle."""
    return _one("mlxrocm_array_fft_fftshift", _array(x), *_ints(axis))


def fft_ifftshift(x: ArrayLike, axis: int | Sequence[int] | None = None) -> array:
    """Undoes fft_fftshift."""
    return _one("mlxrocm_array_fft_ifftshift", _array(x), *_ints(axis))


def fft_fftfreq(n: int, d: float = 1.0) -> array:
    """The frequencies of the results of fft_fft, float32."""
    return _one("mlxrocm_array_fft_fftfreq", n, d)


def fft_rfftfreq(n: int, d: float = 1.0) -> array:
    """The frequencies of the results of fft_rfft, float32."""
    return _one("mlxrocm_array_fft_rfftfreq", n, d)


def fft_fftn(x: ArrayLike, sizes: int | Sequence[int] | None = None, axis: int | Sequence[int] | None = None) -> array:
    """Discrete Fourier transform along axes."""
    return _one("mlxrocm_array_fft_fftn", _array(x), *_ints(sizes), *_ints(axis))


def fft_ifftn(x: ArrayLike, sizes: int | Sequence[int] | None = None, axis: int | Sequence[int] | None = None) -> array:
    """Inverse discrete Fourier transform along axes."""
    return _one("mlxrocm_array_fft_ifftn", _array(x), *_ints(sizes), *_ints(axis))


def fft_rfftn(x: ArrayLike, sizes: int | Sequence[int] | None = None, axis: int | Sequence[int] | None = None) -> array:
    """Discrete Fourier transform of real numbers; of the last axis only half of the frequencies."""
    return _one("mlxrocm_array_fft_rfftn", _array(x), *_ints(sizes), *_ints(axis))


def fft_irfftn(x: ArrayLike, sizes: int | Sequence[int] | None = None, axis: int | Sequence[int] | None = None) -> array:
    """The real numbers whose fft_rfftn this is."""
    return _one("mlxrocm_array_fft_irfftn", _array(x), *_ints(sizes), *_ints(axis))


def fft_normed(x: ArrayLike, norm: str, inverse: bool, real: bool, sizes: int | Sequence[int] | None = None, axis: int | Sequence[int] | None = None) -> array:
    """A discrete Fourier transform along axes with a normalization: 'backward' divides inverse ones by their size n, as fft_ifftn does, 'forward' divides the others by n, 'ortho' both by the root of n."""
    return _one("mlxrocm_array_fft_normed", _array(x), *_ints(sizes), *_ints(axis), *_utf8(norm), bool(inverse), bool(real))


def hadamard_transform(x: ArrayLike, scale: float = float('nan')) -> array:
    """Walsh–Hadamard transform of the last axis, of m · 2^k elements, m = 1, 12, 20 or 28."""
    return _one("mlxrocm_array_hadamard_transform", _array(x), scale)


def fast_rms_norm(x: ArrayLike, weight: ArrayLike | None = None, eps: float = 1e-5) -> array:
    """x · rsqrt(mean(x²) + eps) · weight over the last axis."""
    return _one("mlxrocm_array_fast_rms_norm", _array(x, weight), _array(weight, x), eps)


def fast_layer_norm(x: ArrayLike, weight: ArrayLike | None = None, bias: ArrayLike | None = None, eps: float = 1e-5) -> array:
    """(x − mean) · rsqrt(variance + eps) · weight + bias over the last axis."""
    return _one("mlxrocm_array_fast_layer_norm", _array(x, weight, bias), _array(weight, x, bias), _array(bias, x, weight), eps)


def fast_rope(x: ArrayLike, dims: int, traditional: bool, base: float, scale: float, offset: ArrayLike, freqs: ArrayLike | None = None) -> array:
    """Rotary position embedding of [batch, …, tokens, dim]: token t stands at (t + offset) · scale."""
    return _one("mlxrocm_array_fast_rope", _array(x), dims, bool(traditional), base, scale, _array(offset), _array(freqs))


def fast_scaled_dot_product_attention(q: ArrayLike, k: ArrayLike, v: ArrayLike, scale: float, causal: bool, mask: ArrayLike | None = None, sinks: ArrayLike | None = None) -> array:
    """softmax(scale · q·kᵀ + mask) · v of [batch, heads, rows, dim] and [batch, kv heads, keys, dim]."""
    return _one("mlxrocm_array_fast_scaled_dot_product_attention", _array(q, k, v, sinks), _array(k, q, v, sinks), _array(v, q, k, sinks), scale, bool(causal), _array(mask), _array(sinks, q, k, v))


def linalg_qr(x: ArrayLike) -> tuple[array, array]:
    """Q with orthogonal columns and R, upper triangular."""
    return _tuple(2, "mlxrocm_array_linalg_qr", _array(x))


def linalg_svd(x: ArrayLike) -> tuple[array, array, array]:
    """U, the singular values (the largest first) and Vᴴ."""
    return _tuple(3, "mlxrocm_array_linalg_svd", _array(x))


def linalg_svd_values(x: ArrayLike) -> array:
    """The singular values, the largest first."""
    return _one("mlxrocm_array_linalg_svd_values", _array(x))


def linalg_inv(x: ArrayLike) -> array:
    """The inverse. Singular matrices fail when they are evaluated."""
    return _one("mlxrocm_array_linalg_inv", _array(x))


def linalg_tri_inv(x: ArrayLike, upper: bool = False) -> array:
    """The inverse of triangular matrices."""
    return _one("mlxrocm_array_linalg_tri_inv", _array(x), bool(upper))


def linalg_cholesky(x: ArrayLike, upper: bool = False) -> array:
    """L of L·Lᵀ. What is not positive definite fails when it is evaluated."""
    return _one("mlxrocm_array_linalg_cholesky", _array(x), bool(upper))


def linalg_cholesky_inv(x: ArrayLike, upper: bool = False) -> array:
    """The inverse of the matrix whose factor this is."""
    return _one("mlxrocm_array_linalg_cholesky_inv", _array(x), bool(upper))


def linalg_pinv(x: ArrayLike) -> array:
    """The pseudoinverse."""
    return _one("mlxrocm_array_linalg_pinv", _array(x))


def linalg_eigh(x: ArrayLike, upper: bool = False) -> tuple[array, array]:
    """Eigenvalues (ascending) and eigenvectors (columns) of Hermitian matrices."""
    return _tuple(2, "mlxrocm_array_linalg_eigh", _array(x), bool(upper))


def linalg_eigvalsh(x: ArrayLike, upper: bool = False) -> array:
    """Eigenvalues of Hermitian matrices, ascending."""
    return _one("mlxrocm_array_linalg_eigvalsh", _array(x), bool(upper))


def linalg_eig(x: ArrayLike) -> tuple[array, array]:
    """Eigenvalues and eigenvectors (columns), complex."""
    return _tuple(2, "mlxrocm_array_linalg_eig", _array(x))


def linalg_eigvals(x: ArrayLike) -> array:
    """Eigenvalues, complex."""
    return _one("mlxrocm_array_linalg_eigvals", _array(x))


def linalg_lu(x: ArrayLike) -> tuple[array, array, array]:
    """The row of L·U that each row is, L and U."""
    return _tuple(3, "mlxrocm_array_linalg_lu", _array(x))


def linalg_lu_factor(x: ArrayLike) -> tuple[array, array]:
    """L and U in one array, and the row that each step changed places with."""
    return _tuple(2, "mlxrocm_array_linalg_lu_factor", _array(x))


def linalg_solve(a: ArrayLike, b: ArrayLike) -> array:
    """x of a·x = b."""
    return _one("mlxrocm_array_linalg_solve", _array(a, b), _array(b, a))


def linalg_solve_triangular(a: ArrayLike, b: ArrayLike, upper: bool = False) -> array:
    """x of a·x = b with a triangular a."""
    return _one("mlxrocm_array_linalg_solve_triangular", _array(a, b), _array(b, a), bool(upper))


def linalg_det(x: ArrayLike) -> array:
    """The determinant."""
    return _one("mlxrocm_array_linalg_det", _array(x))


def linalg_slogdet(x: ArrayLike) -> tuple[array, array]:
    """The determinant's sign and the logarithm of its size."""
    return _tuple(2, "mlxrocm_array_linalg_slogdet", _array(x))


def linalg_cross(a: ArrayLike, b: ArrayLike, axis: int = -1) -> array:
    """Vector product along an axis of 2 or 3 elements."""
    return _one("mlxrocm_array_linalg_cross", _array(a, b), _array(b, a), axis)


def linalg_norm_l2(x: ArrayLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> array:
    """Root of the sum of squares."""
    return _one("mlxrocm_array_linalg_norm_l2", _array(x), *_ints(axis), bool(keepdims))


def linalg_norm(x: ArrayLike, p: float, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> array:
    """Norm of vectors (one axis) or matrices (two)."""
    return _one("mlxrocm_array_linalg_norm", _array(x), p, *_ints(axis), bool(keepdims))


def linalg_norm_matrix(x: ArrayLike, order: str, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> array:
    """Norm of matrices."""
    return _one("mlxrocm_array_linalg_norm_matrix", _array(x), *_utf8(order), *_ints(axis), bool(keepdims))


def random_seed(seed: int) -> None:
    """Starts the sequence of keys again that calls without a key take theirs from. It is the process' own."""
    _tuple(0, "mlxrocm_array_random_seed", seed)


def random_key(seed: int) -> array:
    """The key of a seed."""
    return _one("mlxrocm_array_random_key", seed)


def random_split(key: ArrayLike, count: int = 2) -> array:
    """New keys of a key: [count, 2]."""
    return _one("mlxrocm_array_random_split", _array(key), count)


def random_bits(shape: int | Sequence[int], width: int = 4, key: ArrayLike | None = None) -> array:
    """Random bits: unsigned integers."""
    return _one("mlxrocm_array_random_bits", *_ints(shape), width, _array(key))


def random_uniform(low: ArrayLike, high: ArrayLike, shape: int | Sequence[int], dtype: Dtype = FLOAT32, key: ArrayLike | None = None) -> array:
    """Numbers evenly spread from low up to, but not, high."""
    return _one("mlxrocm_array_random_uniform", _array(low, high), _array(high, low), *_ints(shape), _dtype(dtype), _array(key))


def random_normal(shape: int | Sequence[int], dtype: Dtype = FLOAT32, loc: ArrayLike | None = None, scale: ArrayLike | None = None, key: ArrayLike | None = None) -> array:
    """Normally distributed numbers."""
    return _one("mlxrocm_array_random_normal", *_ints(shape), _dtype(dtype), _array(loc, scale), _array(scale, loc), _array(key))


def random_multivariate_normal(mean: ArrayLike, cov: ArrayLike, shape: int | Sequence[int], dtype: Dtype = FLOAT32, key: ArrayLike | None = None) -> array:
    """Normally distributed vectors."""
    return _one("mlxrocm_array_random_multivariate_normal", _array(mean, cov), _array(cov, mean), *_ints(shape), _dtype(dtype), _array(key))


def random_randint(low: ArrayLike, high: ArrayLike, shape: int | Sequence[int], dtype: Dtype = INT32, key: ArrayLike | None = None) -> array:
    """Integers from low up to, but not, high."""
    return _one("mlxrocm_array_random_randint", _array(low, high), _array(high, low), *_ints(shape), _dtype(dtype), _array(key))


def random_bernoulli(p: ArrayLike, shape: int | Sequence[int], key: ArrayLike | None = None) -> array:
    """Truth values, each true with probability p."""
    return _one("mlxrocm_array_random_bernoulli", _array(p), *_ints(shape), _array(key))


def random_truncated_normal(lower: ArrayLike, upper: ArrayLike, shape: int | Sequence[int], dtype: Dtype = FLOAT32, key: ArrayLike | None = None) -> array:
    """Normally distributed numbers between two bounds."""
    return _one("mlxrocm_array_random_truncated_normal", _array(lower, upper), _array(upper, lower), *_ints(shape), _dtype(dtype), _array(key))


def random_gumbel(shape: int | Sequence[int], dtype: Dtype = FLOAT32, key: ArrayLike | None = None) -> array:
    """Numbers of the standard Gumbel distribution."""
    return _one("mlxrocm_array_random_gumbel", *_ints(shape), _dtype(dtype), _array(key))


def random_laplace(shape: int | Sequence[int], dtype: Dtype = FLOAT32, loc: float = 0.0, scale: float = 1.0, key: ArrayLike | None = None) -> array:
    """Laplace distributed numbers."""
    return _one("mlxrocm_array_random_laplace", *_ints(shape), _dtype(dtype), loc, scale, _array(key))


def random_categorical(logits: ArrayLike, axis: int = -1, key: ArrayLike | None = None) -> array:
    """A place (uint32) along an axis for each row, with the probability of the softmax of its logits."""
    return _one("mlxrocm_array_random_categorical", _array(logits), axis, _array(key))


def random_categorical_num_samples(logits: ArrayLike, num_samples: int, axis: int = -1, key: ArrayLike | None = None) -> array:
    """As random_categorical, several places for each row as a last axis."""
    return _one("mlxrocm_array_random_categorical_num_samples", _array(logits), axis, num_samples, _array(key))


def random_categorical_shape(logits: ArrayLike, shape: int | Sequence[int], axis: int = -1, key: ArrayLike | None = None) -> array:
    """As random_categorical, in a shape that the rows are broadcast to."""
    return _one("mlxrocm_array_random_categorical_shape", _array(logits), axis, *_ints(shape), _array(key))


def random_permutation(x: ArrayLike, axis: int = 0, key: ArrayLike | None = None) -> array:
    """Slices along an axis in random order."""
    return _one("mlxrocm_array_random_permutation", _array(x), axis, _array(key))


def random_permutation_arange(count: int, key: ArrayLike | None = None) -> array:
    """The numbers (uint32) below a count in random order."""
    return _one("mlxrocm_array_random_permutation_arange", count, _array(key))


def load(path: str) -> array:
    """The array of an npy file (numpy's). Its elements stay in the file, which is mapped: do not truncate it meanwhile; save replaces it as a whole. Also fails with IO, INVALID_FILE (damaged) and UNSUPPORTED (elements of no dtype)."""
    return _one("mlxrocm_array_load", *_utf8(path))


def save(array: ArrayLike, path: str) -> None:
    """Saves an array as an npy file (numpy's), which is there whole or not at all. It is computed if it is not yet."""
    _tuple(0, "mlxrocm_array_save", _array(array), *_utf8(path))


_methods._o = sys.modules[__name__]
