"""Arrays and their operations under MLX's names: `import mlxrocm.core as mx`.

Operations are lazy, on the CPU, and may be called from any thread. What is not here, or in linalg, fft, fast and
random, MLX has and this library does not.

Made by bindings/generate.py. Do not edit.
"""

from . import fast, fft, linalg, random
from ._forms import (
    ArrayLike, Dtype, absolute, acos, acosh, arange, array, asarray, asin, asinh, async_eval, atan, atan2, atanh,
    bfloat16, bitwise_left_shift, bitwise_right_shift, bool_, broadcast_arrays, clip, complex64, concat,
    concatenate, conj, conv1d, conv2d, conv3d, conv_general, conv_transpose1d, conv_transpose2d, conv_transpose3d,
    cumprod, cumsum, cumulative_prod, cumulative_sum, depends, dequantize, e, einsum, empty, empty_like,
    euler_gamma, eval, evaluate, eye, flatten, float16, float32, float64, from_dlpack, full, full_like, gather_mm,
    gather_qmm, inf, int16, int32, int64, int8, linspace, load, meshgrid, mod, nan, newaxis, ones_like, pad,
    permute_dims, pi, pow, quantize, quantized_matmul, roll, save, save_gguf, save_safetensors, searchsorted, slice,
    slice_update, split, tensordot, trace, transpose, tri, uint16, uint32, uint64, uint8, unflatten, wait,
    zeros_like,
)  # fmt: skip
from ._operations import (
    abs, arccos, arccosh, arcsin, arcsinh, arctan, arctanh, bitwise_invert, ceil, conjugate, cos, cosh, erf, erfinv,
    exp, expm1, floor, imag, log, log2, log10, log1p, logical_not, negative, real, rsqrt, sigmoid, sign, sin, sinh,
    sqrt, square, tan, tanh, degrees, radians, reciprocal, round, trunc, isnan, isinf, isfinite, isposinf, isneginf,
    nan_to_num, astype, view, add, arctan2, bitwise_and, bitwise_or, bitwise_xor, left_shift, right_shift, divide,
    floor_divide, equal, greater, greater_equal, less, less_equal, logaddexp, logical_and, logical_or, maximum,
    minimum, multiply, not_equal, power, remainder, subtract, logical_xor, divmod, where, isclose, allclose,
    array_equal, zeros, ones, number, identity, tril, triu, diag, diagonal, outer, kron, all, any, sum, prod, min,
    max, logsumexp, mean, var, std, median, count_nonzero, argmin, argmax, softmax, number_of_elements, cummax,
    cummin, logcumsumexp, sort, argsort, partition, argpartition, topk, reshape, expand_dims, squeeze, broadcast_to,
    swapaxes, moveaxis, atleast_1d, atleast_2d, atleast_3d, as_strided, contiguous, stop_gradient, stack, repeat,
    tile, flip, split_parts, take, take_along_axis, gather, slice_dynamic, slice_update_dynamic, masked_scatter,
    scatter, scatter_add, slice_update_add, scatter_prod, slice_update_prod, scatter_max, slice_update_max,
    scatter_min, slice_update_min, put_along_axis, scatter_add_axis, matmul, addmm, block_masked_mm, segmented_mm,
    inner, quantize_float, qqmm, gather_qqmm, to_fp8, from_fp8, conv_transpose, hadamard_transform,
)  # fmt: skip

__all__ = [
    "ArrayLike", "Dtype", "abs", "absolute", "acos", "acosh", "add", "addmm", "all", "allclose", "any", "arange",
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "argmax", "argmin", "argpartition",
    "argsort", "array", "array_equal", "as_strided", "asarray", "asin", "asinh", "astype", "async_eval", "atan",
    "atan2", "atanh", "atleast_1d", "atleast_2d", "atleast_3d", "bfloat16", "bitwise_and", "bitwise_invert",
    "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "block_masked_mm", "bool_",
    "broadcast_arrays", "broadcast_to", "ceil", "clip", "complex64", "concat", "concatenate", "conj", "conjugate",
    "contiguous", "conv1d", "conv2d", "conv3d", "conv_general", "conv_transpose", "conv_transpose1d",
    "conv_transpose2d", "conv_transpose3d", "cos", "cosh", "count_nonzero", "cummax", "cummin", "cumprod", "cumsum",
    "cumulative_prod", "cumulative_sum", "degrees", "depends", "dequantize", "diag", "diagonal", "divide", "divmod",
    "e", "einsum", "empty", "empty_like", "equal", "erf", "erfinv", "euler_gamma", "eval", "evaluate", "exp",
    "expand_dims", "expm1", "eye", "fast", "fft", "flatten", "flip", "float16", "float32", "float64", "floor",
    "floor_divide", "from_dlpack", "from_fp8", "full", "full_like", "gather", "gather_mm", "gather_qmm",
    "gather_qqmm", "greater", "greater_equal", "hadamard_transform", "identity", "imag", "inf", "inner", "int16",
    "int32", "int64", "int8", "isclose", "isfinite", "isinf", "isnan", "isneginf", "isposinf", "kron", "left_shift",
    "less", "less_equal", "linalg", "linspace", "load", "log", "log10", "log1p", "log2", "logaddexp",
    "logcumsumexp", "logical_and", "logical_not", "logical_or", "logical_xor", "logsumexp", "masked_scatter",
    "matmul", "max", "maximum", "mean", "median", "meshgrid", "min", "minimum", "mod", "moveaxis", "multiply",
    "nan", "nan_to_num", "negative", "newaxis", "not_equal", "number", "number_of_elements", "ones", "ones_like",
    "outer", "pad", "partition", "permute_dims", "pi", "pow", "power", "prod", "put_along_axis", "qqmm", "quantize",
    "quantize_float", "quantized_matmul", "radians", "random", "real", "reciprocal", "remainder", "repeat",
    "reshape", "right_shift", "roll", "round", "rsqrt", "save", "save_gguf", "save_safetensors", "scatter",
    "scatter_add", "scatter_add_axis", "scatter_max", "scatter_min", "scatter_prod", "searchsorted", "segmented_mm",
    "sigmoid", "sign", "sin", "sinh", "slice", "slice_dynamic", "slice_update", "slice_update_add",
    "slice_update_dynamic", "slice_update_max", "slice_update_min", "slice_update_prod", "softmax", "sort", "split",
    "split_parts", "sqrt", "square", "squeeze", "stack", "std", "stop_gradient", "subtract", "sum", "swapaxes",
    "take", "take_along_axis", "tan", "tanh", "tensordot", "tile", "to_fp8", "topk", "trace", "transpose", "tri",
    "tril", "triu", "trunc", "uint16", "uint32", "uint64", "uint8", "unflatten", "var", "view", "wait", "where",
    "zeros", "zeros_like",
]  # fmt: skip
