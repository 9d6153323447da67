"""DLPack: tensors of other libraries in and out, in the host's memory."""

from __future__ import annotations

import ctypes as C
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import _abi, dtypes
from ._library import new
from .dtypes import Dtype

if TYPE_CHECKING:
    from ._array import array


class _Tensor(C.Structure):
    _fields_ = [
        ("data", C.c_void_p), ("device_type", C.c_int32), ("device_id", C.c_int32), ("ndim", C.c_int32),
        ("code", C.c_uint8), ("bits", C.c_uint8), ("lanes", C.c_uint16), ("shape", C.POINTER(C.c_int64)),
        ("strides", C.POINTER(C.c_int64)), ("byte_offset", C.c_uint64),
    ]  # fmt: skip


class _Managed(C.Structure):
    pass


_Deleter = C.CFUNCTYPE(None, C.POINTER(_Managed))
_Managed._fields_ = [("tensor", _Tensor), ("context", C.c_void_p), ("deleter", _Deleter)]

_new_capsule = C.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = C.py_object, [C.c_void_p, C.c_char_p, C.c_void_p]
_pointer = C.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = C.c_void_p, [C.py_object, C.c_char_p]
_set_name = C.pythonapi.PyCapsule_SetName
_set_name.restype, _set_name.argtypes = C.c_int, [C.py_object, C.c_char_p]
_is_valid = C.pythonapi.PyCapsule_IsValid
_is_valid.restype, _is_valid.argtypes = C.c_int, [C.c_void_p, C.c_char_p]
_raw_pointer = C.PYFUNCTYPE(C.c_void_p, C.c_void_p, C.c_char_p)(("PyCapsule_GetPointer", C.pythonapi))

# A capsule keeps the address of its name.
_NAME, _USED = C.c_char_p(b"dltensor"), C.c_char_p(b"used_dltensor")

# What tensors that were given out need, by the address of each.
_alive: dict[int, tuple[Any, ...]] = {}


@_Deleter
def _delete(managed: Any) -> None:
    _alive.pop(C.addressof(managed.contents), None)


@C.PYFUNCTYPE(None, C.c_void_p)
def _destroy(capsule: int) -> None:
    # A consumer that took the tensor renamed the capsule and calls the deleter itself.
    if _is_valid(capsule, _NAME):
        _alive.pop(_raw_pointer(capsule, _NAME), None)


def capsule(buffer: Any, shape: Sequence[int], dtype: Dtype) -> object:
    """A capsule that owns `buffer`, the elements row after row."""
    sizes = (C.c_int64 * max(len(shape), 1))(*shape)
    tensor = _Tensor(C.addressof(buffer), 1, 0, len(shape), dtype.code, dtype.size * 8, 1, sizes, None, 0)
    managed = _Managed(tensor, None, _delete)
    _alive[C.addressof(managed)] = (managed, buffer, sizes)
    return _new_capsule(C.addressof(managed), _NAME, C.cast(_destroy, C.c_void_p))


@_abi.user_data_free
def _release(address: int) -> None:
    managed = _Managed.from_address(address)
    if managed.deleter:
        managed.deleter(C.pointer(managed))


def shared(source: Any) -> array:
    """An array over the memory of a tensor; whatever its strides, nothing is copied."""
    from ._array import _ints, _one, array

    if tuple(source.__dlpack_device__())[0] != 1:
        raise BufferError("the tensor is not in the host's memory: copy it there first")
    given = source.__dlpack__()
    address = _pointer(given, _NAME)
    tensor = _Managed.from_address(address).tensor
    dtype = dtypes.BY_DLPACK.get((tensor.code, tensor.bits))
    if dtype is None or tensor.lanes != 1:
        raise TypeError(f"no dtype for DLPack's code {tensor.code} of {tensor.bits} bits and {tensor.lanes} lanes")
    shape = tensor.shape[: tensor.ndim]
    strides = tensor.strides[: tensor.ndim] if tensor.strides else None
    if strides is None:
        step, strides = 1, []
        for size in reversed(shape):
            strides.insert(0, step)
            step *= size
    # All memory between the first and the last element is one vector, of which the array is a view.
    empty = 0 in shape
    low = sum(min(0, (n - 1) * s) for n, s in zip(shape, strides))
    high = sum(max(0, (n - 1) * s) for n, s in zip(shape, strides))
    length = 0 if empty else high - low + 1
    begin = (tensor.data or 0) + tensor.byte_offset + low * dtype.size
    _set_name(given, _USED)
    sizes, rank = _ints([length])
    whole = array._own(new("mlxrocm_array_from_borrowed", begin, sizes, rank, dtype.number,
                           _release, address))  # fmt: skip
    if empty:
        return _one("mlxrocm_array_reshape", whole, *_ints(shape))
    return _one("mlxrocm_array_as_strided", whole, *_ints(shape), *_ints(strides), -low)
