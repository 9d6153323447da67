"""Arrays and their operations under MLX's names: `import mlxrocm.core as mx`.

Operations are lazy, on the CPU, and may be called from any thread. What is not here, or in linalg, fft, fast and
random, MLX has and this library does not.

"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from . import _operations as _o
from ._abi import PAD_CONSTANT, PAD_EDGE, PAD_REFLECT, PAD_SYMMETRIC
from ._array import ArrayLike, array, evaluate, from_dlpack
from ._files import einsum, load, save, save_gguf, save_safetensors
from .dtypes import (
    Dtype, bfloat16, bool_, complex64, float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32,
    uint64,
)  # fmt: skip

pi, e, euler_gamma = 3.141592653589793, 2.718281828459045, 0.5772156649015329
inf, nan, newaxis = float("inf"), float("nan"), None

_MODES = {"constant": PAD_CONSTANT, "edge": PAD_EDGE, "reflect": PAD_REFLECT, "symmetric": PAD_SYMMETRIC}


def _leaves(arrays: tuple[Any, ...]) -> list[array]:
    found: list[array] = []

    def walk(tree: Any) -> None:
        if isinstance(tree, array):
            found.append(tree)
        elif isinstance(tree, (dict, list, tuple)):
            for item in tree.values() if isinstance(tree, dict) else tree:
                walk(item)

    walk(arrays)
    return found


def eval(*arrays: Any) -> None:
    """Computes the elements of arrays, lists and dicts of them, all in one go; other things in these are passed over."""
    evaluate(_leaves(arrays))


def async_eval(*arrays: Any) -> None:
    """As eval, but what GPUs compute is only queued: `wait`, or whatever reads the arrays, waits for it."""
    evaluate(_leaves(arrays), "eval_async")


def wait(*arrays: Any) -> None:
    """Waits for what async_eval queued."""
    evaluate(_leaves(arrays), "wait")


def asarray(value: ArrayLike, dtype: Dtype | None = None) -> array:
    """The value itself if it is an array of that dtype, else an array of it."""
    return value if isinstance(value, array) and dtype in (None, value.dtype) else array(value, dtype)


def full(shape: int | Sequence[int], vals: ArrayLike, dtype: Dtype | None = None) -> array:
    """The value, broadcast to a shape."""
    value = asarray(vals)
    return _o.full(shape, value, dtype or value.dtype)


def zeros_like(a: array, dtype: Dtype | None = None) -> array:
    return _o.zeros(a.shape, dtype or a.dtype)


def ones_like(a: array, dtype: Dtype | None = None) -> array:
    return _o.ones(a.shape, dtype or a.dtype)


def full_like(a: array, vals: ArrayLike, dtype: Dtype | None = None) -> array:
    return full(a.shape, vals, dtype or a.dtype)


def arange(start: float = 0, stop: float | None = None, step: float = 1, dtype: Dtype | None = None) -> array:
    """arange(stop), or start, start + step and so on before stop."""
    if stop is None:
        start, stop = 0, start
    if dtype is None:
        numbers = [operator.index(v) if hasattr(v, "__index__") else v for v in (start, stop, step)]
        dtype = array(numbers).dtype
    return _o.arange(start, stop, step, dtype)


def linspace(start: float, stop: float, num: int = 50, endpoint: bool = True, dtype: Dtype = float32) -> array:
    """`num` numbers from start to stop, evenly spaced; without the endpoint the last one is a step before stop."""
    if not endpoint and num > 0:
        stop -= (stop - start) / num
    return _o.linspace(start, stop, num, dtype)


def cumsum(a: ArrayLike, axis: int | None = None, *, reverse: bool = False, inclusive: bool = True,
           dtype: Dtype | None = None) -> array:  # fmt: skip
    """Running sum."""
    return _o.cumsum(a if dtype is None else asarray(a).astype(dtype), axis, reverse, inclusive)


def cumprod(a: ArrayLike, axis: int | None = None, *, reverse: bool = False, inclusive: bool = True,
            dtype: Dtype | None = None) -> array:  # fmt: skip
    """Running product."""
    return _o.cumprod(a if dtype is None else asarray(a).astype(dtype), axis, reverse, inclusive)


def searchsorted(sorted_sequence: ArrayLike, values: ArrayLike, *, side: str = "left") -> array:
    """Where values would be put into a sorted vector (uint32): before (left) or behind (right) equal ones."""
    if side not in ("left", "right"):
        raise ValueError(f'searchsorted: side is "left" or "right", not {side!r}')
    return _o.searchsorted(sorted_sequence, values, side == "right")


def eye(n: int, m: int | None = None, k: int = 0, dtype: Dtype = float32) -> array:
    """Ones on a diagonal of a matrix of zeros."""
    return _o.eye(n, n if m is None else m, k, dtype)


def tri(n: int, m: int | None = None, k: int = 0, dtype: Dtype = float32) -> array:
    """Ones on and below a diagonal, zeros above."""
    return _o.tri(n, n if m is None else m, k, dtype)


def trace(a: array, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Dtype | None = None) -> array:
    """Sum of a diagonal; without a dtype that of a sum."""
    return _o.trace(a, dtype or _o.sum(a).dtype, offset, axis1, axis2)


def clip(a: ArrayLike, a_min: ArrayLike | None = None, a_max: ArrayLike | None = None) -> array:
    """Elements between a minimum and a maximum; None: no such bound."""
    return _o.clip(a, a_min, a_max)


def concatenate(arrays: Sequence[ArrayLike], axis: int | None = 0) -> array:
    """Arrays one behind the other along an axis; None: made flat before."""
    if axis is None:
        arrays, axis = [_o.reshape(item, -1) for item in arrays], 0
    return _o.concatenate(arrays, axis)


def flatten(a: ArrayLike, start_axis: int = 0, end_axis: int = -1) -> array:
    """Neighbouring axes as one."""
    return _o.flatten(a, start_axis, end_axis)


def unflatten(a: ArrayLike, axis: int, shape: Sequence[int]) -> array:
    """An axis as several; one size may be -1: what is left."""
    return _o.unflatten(a, axis, shape)


def permute_dims(a: ArrayLike, axes: Sequence[int] | None = None) -> array:
    """Axes in another order."""
    return _o.transpose(a, axes)


def transpose(a: ArrayLike, axes: Sequence[int] | None = None) -> array:
    """Axes in another order; None: turned round."""
    return _o.transpose(a, axes)


def split(a: ArrayLike, indices_or_sections: Any, axis: int = 0) -> list[array]:
    """Equal parts, or parts cut before the places of an axis."""
    if hasattr(indices_or_sections, "__index__"):
        return _o.split_parts(a, indices_or_sections, axis)
    return _o.split(a, indices_or_sections, axis)


def broadcast_arrays(*arrays: ArrayLike) -> list[array]:
    """Arrays broadcast to the shape that all of them fit."""
    return _o.broadcast_arrays(arrays)


def meshgrid(*arrays: ArrayLike, sparse: bool = False, indexing: str = "xy") -> list[array]:
    """Coordinates of a grid."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f'meshgrid: indexing is "xy" or "ij", not {indexing!r}')
    return _o.meshgrid(arrays, sparse, indexing == "xy")


def pad(a: ArrayLike, pad_width: Any, mode: str = "constant", constant_values: ArrayLike = 0) -> array:
    """Surrounded along every axis; pad_width is a number, (before, after), or a list of such pairs: one, or one for each axis."""
    a = asarray(a)
    if hasattr(pad_width, "__index__"):
        pad_width = (pad_width, pad_width)
    if len(pad_width) and hasattr(pad_width[0], "__index__"):
        pad_width = [pad_width if len(pad_width) == 2 else (pad_width[0],) * 2]
    if len(pad_width) == 1:
        pad_width = list(pad_width) * a.ndim
    if mode not in _MODES:
        raise ValueError(f"pad: mode is one of {', '.join(_MODES)}, not {mode!r}")
    low, high = [w[0] for w in pad_width], [w[-1] for w in pad_width]
    return _o.pad(a, low, high, _MODES[mode], constant_values)


def roll(a: ArrayLike, shift: int | Sequence[int], axis: int | Sequence[int] | None = None) -> array:
    """Moved round; what leaves at an end comes in at the other."""
    return _o.roll(a, shift, axis)


def slice(a: ArrayLike, start_indices: array, axes: Sequence[int], slice_size: Sequence[int]) -> array:
    """A slice of a given size that begins at computed places. x[1:3] takes one at known places."""
    return _o.slice_dynamic(a, start_indices, axes, slice_size)


def slice_update(a: ArrayLike, update: ArrayLike, start_indices: array, axes: Sequence[int]) -> array:
    """With an update in place of the slice that begins at computed places."""
    return _o.slice_update_dynamic(a, update, start_indices, axes)


def depends(inputs: array | Sequence[array], dependencies: array | Sequence[array]) -> Any:
    """The arrays, computed after the others."""
    others = [dependencies] if isinstance(dependencies, array) else list(dependencies)
    if isinstance(inputs, array):
        return _o.depends(inputs, others)
    return [_o.depends(item, others) for item in inputs]


def tensordot(a: ArrayLike, b: ArrayLike, axes: Any = 2) -> array:
    """Sums of products over the last `axes` axes of a and the first of b, or over pairs of axes."""
    a, b = asarray(a), asarray(b)
    if hasattr(axes, "__index__"):
        axes = (list(range(a.ndim - axes, a.ndim)), list(range(axes)))
    return _o.tensordot(a, b, axes[0], axes[1])


def quantize(w: ArrayLike, group_size: int | None = None, bits: int | None = None, mode: str = "affine",
             global_scale: array | None = None) -> tuple[array, ...]:  # fmt: skip
    """Codes and scales of groups along the last axis; in the affine mode also biases."""
    if mode == "affine":
        return _o.quantize(w, group_size or 0, bits or 0)
    return _o.quantize_float(w, mode, global_scale)


def dequantize(w: array, scales: array, biases: array | None = None, group_size: int | None = None,
               bits: int | None = None, mode: str = "affine", global_scale: array | None = None,
               dtype: Dtype | None = None) -> array:  # fmt: skip
    """The numbers of codes; None: the mode's own sizes, the scales' dtype."""
    return _o.dequantize(w, scales, biases, group_size or 0, bits or 0, mode, global_scale, dtype)


def gather_mm(a: ArrayLike, b: ArrayLike, lhs_indices: array | None = None, rhs_indices: array | None = None, *,
              sorted_indices: bool = False) -> array:  # fmt: skip
    """Products of matrices by index; whether the indices are sorted is found out."""
    return _o.gather_mm(a, b, lhs_indices, rhs_indices)


def gather_qmm(x: ArrayLike, w: array, scales: array, biases: array | None = None, lhs_indices: array | None = None,
               rhs_indices: array | None = None, transpose: bool = True, group_size: int | None = None,
               bits: int | None = None, mode: str = "affine", *, sorted_indices: bool = False) -> array:  # fmt: skip
    """Products with quantized matrices by index; whether the indices are sorted is found out."""
    return _o.gather_qmm(x, w, scales, biases, lhs_indices, rhs_indices, transpose, group_size or 0, bits or 0, mode)


def quantized_matmul(x: ArrayLike, w: array, scales: array, biases: array | None = None, transpose: bool = True,
                     group_size: int | None = None, bits: int | None = None, mode: str = "affine") -> array:  # fmt: skip
    """Product with a quantized matrix."""
    return _o.quantized_matmul(x, w, scales, biases, transpose, group_size or 0, bits or 0, mode)


def _sizes(value: Any) -> list[int]:
    return [value] if hasattr(value, "__index__") else list(value)


def conv_general(input: ArrayLike, weight: ArrayLike, stride: int | Sequence[int] = 1, padding: Any = 0,
                 kernel_dilation: int | Sequence[int] = 1, input_dilation: int | Sequence[int] = 1, groups: int = 1,
                 flip: bool = False) -> array:  # fmt: skip
    """Convolution; padding is a number, one for each axis, or a pair of lists: before and behind."""
    pair = not hasattr(padding, "__index__") and len(padding) == 2 and not hasattr(padding[0], "__index__")
    low, high = padding if pair else (padding, padding)
    return _o.conv_general(input, weight, stride, low, high, kernel_dilation, input_dilation, groups, flip)


def _convolution(rank: int) -> Any:
    def convolution(input: ArrayLike, weight: ArrayLike, stride: int | Sequence[int] = 1,
                    padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1, groups: int = 1) -> array:  # fmt: skip
        return conv_general(_ranked(input, rank), weight, stride, _sizes(padding), dilation, 1, groups)

    def transposed(input: ArrayLike, weight: ArrayLike, stride: int | Sequence[int] = 1,
                   padding: int | Sequence[int] = 0, dilation: int | Sequence[int] = 1,
                   output_padding: int | Sequence[int] = 0, groups: int = 1) -> array:  # fmt: skip
        return _o.conv_transpose(_ranked(input, rank), weight, stride, padding, dilation, output_padding, groups)

    convolution.__name__, transposed.__name__ = f"conv{rank}d", f"conv_transpose{rank}d"
    convolution.__doc__ = f"Convolution of [batch, …, channels] over {rank} axes."
    transposed.__doc__ = f"Transposed convolution of [batch, …, channels] over {rank} axes."
    return convolution, transposed


def _ranked(value: ArrayLike, rank: int) -> array:
    made = asarray(value)
    if made.ndim != rank + 2:
        raise ValueError(f"conv{rank}d: the input has {made.ndim} axes, not {rank + 2}: [batch, …, channels]")
    return made


conv1d, conv_transpose1d = _convolution(1)
conv2d, conv_transpose2d = _convolution(2)
conv3d, conv_transpose3d = _convolution(3)

# MLX's other names.
absolute, concat, mod, pow, conj, empty, empty_like = (
    _o.abs, concatenate, _o.remainder, _o.power, _o.conjugate, _o.zeros, zeros_like,
)  # fmt: skip
acos, acosh, asin, asinh, atan, atanh, atan2 = (
    _o.arccos, _o.arccosh, _o.arcsin, _o.arcsinh, _o.arctan, _o.arctanh, _o.arctan2,
)  # fmt: skip
bitwise_left_shift, bitwise_right_shift = _o.left_shift, _o.right_shift
cumulative_sum, cumulative_prod = cumsum, cumprod
