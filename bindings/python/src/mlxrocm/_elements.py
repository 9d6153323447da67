"""Arrays of Python's numbers, numpy's arrays and DLPack's tensors, and back."""

from __future__ import annotations

import array as packed
import contextlib
import ctypes as C
import math
import operator
import struct
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import _dlpack, dtypes, errors
from ._library import library, new
from .dtypes import Dtype

if TYPE_CHECKING:
    from ._array import array

# How `struct` packs an element; complex ones are two of single precision.
_FORMATS = {
    "bool_": "?", "uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q", "int8": "b", "int16": "h",
    "int32": "i", "int64": "q", "float16": "e", "float32": "f", "float64": "d", "complex64": "ff",
}  # fmt: skip


def ints(values: int | Sequence[int] | None) -> tuple[Any, int]:
    if values is None:
        return None, 0
    listed: Any = [values] if hasattr(values, "__index__") else values
    # Which refuses what 64 bits do not hold.
    many = packed.array("q", [operator.index(value) for value in listed])
    # An empty list is not NULL: of shapes it is a scalar's, of axes none.
    return (C.c_int64 * max(len(many), 1))(*many), len(many)


def _flat(value: Any, shape: list[int], depth: int, out: list[Any]) -> None:
    if not isinstance(value, (list, tuple)):
        if depth != len(shape):
            raise errors.InvalidArgumentError("nested lists of different depths are no array")
        out.append(value)
        return
    if depth >= len(shape) or len(value) != shape[depth]:
        raise errors.InvalidArgumentError("nested lists of different lengths are no array")
    for item in value:
        _flat(item, shape, depth + 1, out)


def handle_of(value: Any, dtype: Dtype | None) -> int:
    from ._array import array

    if isinstance(value, array):
        if dtype is not None and dtype is not value.dtype:
            return new("mlxrocm_array_astype", value.handle, dtype.number)
        return new("mlxrocm_array_clone", value.handle)
    if hasattr(value, "__array_interface__"):
        import numpy

        elements = numpy.ascontiguousarray(value).reshape(numpy.shape(value))
        elements = elements.astype(elements.dtype.newbyteorder("="), copy=False)
        kind = dtypes.BY_NAME.get(elements.dtype.name)
        if kind is None:
            raise TypeError(f"numpy's dtype {elements.dtype} has no like here: convert it first")
        return _converted(_from_data(elements.ctypes.data_as(C.c_void_p), elements.shape, kind), dtype)
    if hasattr(value, "__dlpack__"):
        shared = _dlpack.shared(value)
        return _converted(_from_data(C.cast(shared._read(), C.c_void_p), shared.shape, shared.dtype), dtype)
    if not isinstance(value, (list, tuple)):
        with contextlib.suppress(TypeError):
            return _converted(_from_memory(memoryview(value)), dtype)
    shape: list[int] = []
    first = value
    while isinstance(first, (list, tuple)):
        shape.append(len(first))
        if not first:
            break
        first = first[0]
    if shape and getattr(first, "shape", None):
        return _stacked([array(item) for item in value], dtype)
    numbers: list[Any] = []
    _flat(value, shape, 0, numbers)
    numbers = [n.item() if isinstance(n, array) or hasattr(n, "__array_interface__") else n for n in numbers]
    if not all(isinstance(n, (bool, int, float, complex)) for n in numbers):
        raise TypeError(f"an array is made of numbers, not of {type(value).__name__}")
    kind = dtype or _common(numbers)
    if kind is dtypes.bfloat16:
        return _converted(handle_of(value, dtypes.float32), dtype)
    try:
        if kind is dtypes.complex64:
            parts = [part for n in map(complex, numbers) for part in (n.real, n.imag)]
            data = struct.pack(f"={len(parts)}f", *parts)
        else:
            exact = [int(n) for n in numbers] if kind.is_integer else numbers
            data = struct.pack(f"={len(exact)}{_FORMATS[kind.name]}", *exact)
    except OverflowError:
        if not kind.is_float:
            raise
        # Too large for float16 or float32: an infinity, as in MLX.
        return _converted(handle_of(value, dtypes.float64), kind)
    except struct.error as error:
        raise errors.InvalidArgumentError(f"a number is out of the range of {kind.name}: {error}") from None
    return _from_data(data, shape, kind)


def _common(numbers: Sequence[Any]) -> Dtype:
    """As MLX: truth values, int32 (int64 if one does not fit), float32 or complex64; without numbers float32."""
    if any(isinstance(n, complex) for n in numbers):
        return dtypes.complex64
    if any(isinstance(n, float) for n in numbers) or not numbers:
        return dtypes.float32
    if all(isinstance(n, bool) for n in numbers):
        return dtypes.bool_
    return dtypes.int32 if all(-(2**31) <= n < 2**31 for n in numbers) else dtypes.int64


def _from_memory(memory: memoryview) -> int:
    """A copy of what bytes, array.array and others hold in the machine's byte order."""
    native = "@=<" if sys.byteorder == "little" else "@=>"
    letter = memory.format.lstrip(native)
    if letter not in tuple("?bBhHiIlLqQefd"):
        raise errors.InvalidArgumentError(f"memory of format {memory.format!r} has no dtype")
    code = {"?": 6, "e": 2, "f": 2, "d": 2}.get(letter, 0 if letter.islower() else 1)
    return _from_data(memory.tobytes(), memory.shape or (), dtypes.BY_DLPACK[code, memory.itemsize * 8])


def _stacked(items: Sequence[array], dtype: Dtype | None) -> int:
    from ._array import _arrays

    handle = new("mlxrocm_array_stack", *_arrays(items), 0)
    return _converted(handle, dtype)


def _from_data(data: Any, shape: Sequence[int], dtype: Dtype) -> int:
    sizes, rank = ints(shape)
    return new("mlxrocm_array_from_data", data, sizes, rank, dtype.number)


def _converted(handle: int, dtype: Dtype | None) -> int:
    if dtype is None or library.mlxrocm_array_dtype(handle) == dtype.number:
        return handle
    from ._array import array

    with array._own(handle) as source:
        return new("mlxrocm_array_astype", source.handle, dtype.number)


def numbers_of(source: array) -> list[Any]:
    if source.dtype is dtypes.bfloat16:
        source = source.astype(dtypes.float32)
    found = struct.unpack(f"={source.size * (2 if source.dtype is dtypes.complex64 else 1)}{_FORMATS[source.dtype.name][0]}",
                          source.tobytes())  # fmt: skip
    if source.dtype is dtypes.complex64:
        return [complex(a, b) for a, b in zip(found[::2], found[1::2])]
    return list(found)


def nest(numbers: list[Any], shape: Sequence[int]) -> Any:
    if not shape:
        return numbers[0]
    step = math.prod(shape[1:])
    return [nest(numbers[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]
