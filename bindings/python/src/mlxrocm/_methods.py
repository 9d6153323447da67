"""Made by bindings/generate.py from include/mlxrocm.json. Do not edit.

Operations as methods of arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._array import array
    from .dtypes import Dtype

# _operations, which cannot be imported before arrays are there.
_o: Any = None


class Methods:
    def abs(self) -> array:
        """Absolute value of each element; of complex ones the modulus, as float32."""
        return _o.abs(self)

    def all(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> array:
        """Whether all elements are not 0."""
        return _o.all(self, axis, keepdims)

    def any(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> array:
        """Whether some element is not 0."""
        return _o.any(self, axis, keepdims)

    def argmax(self, axis: int | None = None, keepdims: bool = False) -> array:
        """The place (uint32) of the first largest element; of NaN if there is one."""
        return _o.argmax(self, axis, keepdims)

    def argmin(self, axis: int | None = None, keepdims: bool = False) -> array:
        """The place (uint32) of the first smallest element; of NaN if there is one."""
        return _o.argmin(self, axis, keepdims)

    def astype(self, dtype: Dtype) -> array:
        """The elements as another dtype: fractions are cut off, integers wrap, everything but 0 is true."""
        return _o.astype(self, dtype)

    def conjugate(self) -> array:
        """Complex conjugate of each element."""
        return _o.conjugate(self)

    def cos(self) -> array:
        """Cosine of each element."""
        return _o.cos(self)

    def cummax(self, axis: int | None = None, reverse: bool = False, inclusive: bool = True) -> array:
        """Running maximum."""
        return _o.cummax(self, axis, reverse, inclusive)

    def cummin(self, axis: int | None = None, reverse: bool = False, inclusive: bool = True) -> array:
        """Running minimum."""
        return _o.cummin(self, axis, reverse, inclusive)

    def cumprod(self, axis: int | None = None, reverse: bool = False, inclusive: bool = True) -> array:
        """Running product."""
        return _o.cumprod(self, axis, reverse, inclusive)

    def cumsum(self, axis: int | None = None, reverse: bool = False, inclusive: bool = True) -> array:
        """Running sum."""
        return _o.cumsum(self, axis, reverse, inclusive)

    def diag(self, k: int = 0) -> array:
        """A matrix with a vector on a diagonal, or a diagonal of a matrix."""
        return _o.diag(self, k)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> array:
        """Diagonals of the matrices of two axes, as a last axis."""
        return _o.diagonal(self, offset, axis1, axis2)

    def exp(self) -> array:
        """Exponential of each element."""
        return _o.exp(self)

    def log(self) -> array:
        """Natural logarithm of each element."""
        return _o.log(self)

    def log10(self) -> array:
        """Logarithm to base 10 of each element."""
        return _o.log10(self)

    def log1p(self) -> array:
        """Logarithm of one plus each element, exact near 0."""
        return _o.log1p(self)

    def log2(self) -> array:
        """Logarithm to base 2 of each element."""
        return _o.log2(self)

    def logcumsumexp(self, axis: int | None = None, reverse: bool = False, inclusive: bool = True) -> array:
        """Running logarithm of the sum of exponentials."""
        return _o.logcumsumexp(self, axis, reverse, inclusive)

    def logsumexp(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> array:
        """Logarithm of the sum of exponentials, without overflow."""
        return _o.logsumexp(self, axis, keepdims)

    def max(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> array:
        """The largest; NaN if there is one."""
        return _o.max(self, axis, keepdims)

    def mean(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> array:
        """Mean."""
        return _o.mean(self, axis, keepdims)

    def median(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> array:
        """Median; the mean of the middle two of an even number."""
        return _o.median(self, axis, keepdims)

    def min(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> array:
        """The smallest; NaN if there is one."""
        return _o.min(self, axis, keepdims)

    def moveaxis(self, source: int, destination: int) -> array:
        """An axis at another place."""
        return _o.moveaxis(self, source, destination)

    def prod(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> array:
        """Product. Small integers and truth values become 32-bit integers."""
        return _o.prod(self, axis, keepdims)

    def reciprocal(self) -> array:
        """One by each element."""
        return _o.reciprocal(self)

    def round(self, decimals: int = 0) -> array:
        """Each element rounded to decimals, halves to the even neighbour."""
        return _o.round(self, decimals)

    def rsqrt(self) -> array:
        """One by the square root of each element."""
        return _o.rsqrt(self)

    def sin(self) -> array:
        """Sine of each element."""
        return _o.sin(self)

    def square(self) -> array:
        """Square of each element."""
        return _o.square(self)

    def squeeze(self, axis: int | Sequence[int] | None = None) -> array:
        """Axes of size 1 taken away."""
        return _o.squeeze(self, axis)

    def sqrt(self) -> array:
        """Square root of each element."""
        return _o.sqrt(self)

    def std(self, axis: int | Sequence[int] | None = None, keepdims: bool = False, ddof: int = 0) -> array:
        """Standard deviation."""
        return _o.std(self, axis, keepdims, ddof)

    def sum(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> array:
        """Sum. Small integers and truth values become 32-bit integers."""
        return _o.sum(self, axis, keepdims)

    def swapaxes(self, axis1: int = 0, axis2: int = 1) -> array:
        """Two axes in each other's place."""
        return _o.swapaxes(self, axis1, axis2)

    def var(self, axis: int | Sequence[int] | None = None, keepdims: bool = False, ddof: int = 0) -> array:
        """Variance."""
        return _o.var(self, axis, keepdims, ddof)

    def view(self, dtype: Dtype) -> array:
        """The same bytes as another dtype; the last axis grows or shrinks with the size of an element."""
        return _o.view(self, dtype)

    def __add__(self, other: Any) -> array:
        return _o._operate("mlxrocm_array_add", self, other)

    def __sub__(self, other: Any) -> array:
        return _o._operate("mlxrocm_array_subtract", self, other)

    def __mul__(self, other: Any) -> array:
        return _o._operate("mlxrocm_array_multiply", self, other)

    def __truediv__(self, other: Any) -> array:
        return _o._operate("mlxrocm_array_divide", self, other)

    def __floordiv__(self, other: Any) -> array:
        return _o._operate("mlxrocm_array_floor_divide", self, other)

    def __mod__(self, other: Any) -> array:
        return _o._operate("mlxrocm_array_remainder", self, other)

    def __pow__(self, other: Any) -> array:
        return _o._operate("mlxrocm_array_power", self, other)

    def __matmul__(self, other: Any) -> array:
        return _o._operate("mlxrocm_array_matmul", self, other)

    def __and__(self, other: Any) -> array:
        return _o._operate("mlxrocm_array_bitwise_and", self, other)

    def __or__(self, other: Any) -> array:
        return _o._operate("mlxrocm_array_bitwise_or", self, other)

    def __xor__(self, other: Any) -> array:
        return _o._operate("mlxrocm_array_bitwise_xor", self, other)

    def __lshift__(self, other: Any) -> array:
        return _o._operate("mlxrocm_array_left_shift", self, other)

    def __rshift__(self, other: Any) -> array:
        return _o._operate("mlxrocm_array_right_shift", self, other)

    def __eq__(self, other: Any) -> array:  # type: ignore[override]
        return _o._operate("mlxrocm_array_equal", self, other)

    def __ne__(self, other: Any) -> array:  # type: ignore[override]
        return _o._operate("mlxrocm_array_not_equal", self, other)

    def __lt__(self, other: Any) -> array:
        return _o._operate("mlxrocm_array_less", self, other)

    def __le__(self, other: Any) -> array:
        return _o._operate("mlxrocm_array_less_equal", self, other)

    def __gt__(self, other: Any) -> array:
        return _o._operate("mlxrocm_array_greater", self, other)

    def __ge__(self, other: Any) -> array:
        return _o._operate("mlxrocm_array_greater_equal", self, other)

    def __radd__(self, other: Any) -> array:
        return _o._operate("mlxrocm_array_add", self, other, True)

    def __rsub__(self, other: Any) -> array:
        return _o._operate("mlxrocm_array_subtract", self, other, True)

    def __rmul__(self, other: Any) -> array:
        return _o._operate("mlxrocm_array_multiply", self, other, True)

    def __rtruediv__(self, other: Any) -> array:
        return _o._operate("mlxrocm_array_divide", self, other, True)

    def __rfloordiv__(self, other: Any) -> array:
        return _o._operate("mlxrocm_array_floor_divide", self, other, True)

    def __rmod__(self, other: Any) -> array:
        return _o._operate("mlxrocm_array_remainder", self, other, True)

    def __rpow__(self, other: Any) -> array:
        return _o._operate("mlxrocm_array_power", self, other, True)

    def __rmatmul__(self, other: Any) -> array:
        return _o._operate("mlxrocm_array_matmul", self, other, True)

    def __rand__(self, other: Any) -> array:
        return _o._operate("mlxrocm_array_bitwise_and", self, other, True)

    def __ror__(self, other: Any) -> array:
        return _o._operate("mlxrocm_array_bitwise_or", self, other, True)

    def __rxor__(self, other: Any) -> array:
        return _o._operate("mlxrocm_array_bitwise_xor", self, other, True)

    def __rlshift__(self, other: Any) -> array:
        return _o._operate("mlxrocm_array_left_shift", self, other, True)

    def __rrshift__(self, other: Any) -> array:
        return _o._operate("mlxrocm_array_right_shift", self, other, True)

    def __iadd__(self, other: Any) -> Any:
        return _o._update("mlxrocm_array_add", self, other)

    def __isub__(self, other: Any) -> Any:
        return _o._update("mlxrocm_array_subtract", self, other)

    def __imul__(self, other: Any) -> Any:
        return _o._update("mlxrocm_array_multiply", self, other)

    def __itruediv__(self, other: Any) -> Any:
        return _o._update("mlxrocm_array_divide", self, other)

    def __ifloordiv__(self, other: Any) -> Any:
        return _o._update("mlxrocm_array_floor_divide", self, other)

    def __imod__(self, other: Any) -> Any:
        return _o._update("mlxrocm_array_remainder", self, other)

    def __ipow__(self, other: Any) -> Any:
        return _o._update("mlxrocm_array_power", self, other)

    def __imatmul__(self, other: Any) -> Any:
        return _o._update("mlxrocm_array_matmul", self, other)

    def __iand__(self, other: Any) -> Any:
        return _o._update("mlxrocm_array_bitwise_and", self, other)

    def __ior__(self, other: Any) -> Any:
        return _o._update("mlxrocm_array_bitwise_or", self, other)

    def __ixor__(self, other: Any) -> Any:
        return _o._update("mlxrocm_array_bitwise_xor", self, other)

    def __ilshift__(self, other: Any) -> Any:
        return _o._update("mlxrocm_array_left_shift", self, other)

    def __irshift__(self, other: Any) -> Any:
        return _o._update("mlxrocm_array_right_shift", self, other)

    def __neg__(self) -> array:
        return _o.negative(self)

    def __abs__(self) -> array:
        return _o.abs(self)

    def __invert__(self) -> array:
        return _o.bitwise_invert(self)

    # Elements are compared: arrays are no keys.
    __hash__ = None  # type: ignore[assignment]
