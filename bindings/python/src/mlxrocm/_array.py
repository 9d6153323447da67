"""The class of arrays, and what the operations turn their arguments into."""

from __future__ import annotations

import ctypes as C
import operator
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Union

from . import _abi, _dlpack, _elements, _indexing, _methods, dtypes, engine, errors
from ._elements import ints as _ints
from ._library import Object, call, filled, library
from .dtypes import Dtype
from .device import Device

if TYPE_CHECKING:
    from numpy import ndarray

ArrayLike = Union["array", "ndarray[Any, Any]", bool, int, float, complex, Sequence[Any]]

class array(_methods.Methods, Object):
    """An n-dimensional array. Operations are lazy: elements are computed when they are read, or by eval().

    Made from numbers, nested sequences of them or of arrays, numpy arrays, bytes and other memory and anything with
    DLPack, all copied; `from_dlpack` shares memory instead. numpy.asarray(x), memoryview(x.numpy()) and DLPack read it.
    Arrays may be used from any thread; only assigning to one (x[0] = 1, x += 1) while others use it needs a lock.
    """

    _free = "mlxrocm_array_free"
    # numpy leaves `numpy_array + array` to this class.
    __array_priority__ = 1000
    __array_ufunc__ = None

    def __init__(self, value: ArrayLike, dtype: Dtype | None = None):
        super().__init__(_elements.handle_of(value, dtype))

    @classmethod
    def _own(cls, handle: int) -> array:
        made = cls.__new__(cls)
        made._handle = handle
        return made

    @property
    def dtype(self) -> Dtype:
        return dtypes.BY_NUMBER[library.mlxrocm_array_dtype(self.handle)]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(filled(C.c_int64, "mlxrocm_array_shape", self.handle))

    @property
    def ndim(self) -> int:
        return int(library.mlxrocm_array_rank(self.handle))

    @property
    def size(self) -> int:
        return int(library.mlxrocm_array_size(self.handle))

    @property
    def nbytes(self) -> int:
        return int(library.mlxrocm_array_bytes(self.handle))

    @property
    def itemsize(self) -> int:
        return self.dtype.size

    @property
    def T(self) -> array:
        return self.transpose()

    @property
    def mT(self) -> array:
        """The matrices of the last two axes transposed."""
        return self.swapaxes(-1, -2)

    @property
    def real(self) -> array:
        return _one("mlxrocm_array_real", self)

    @property
    def imag(self) -> array:
        return _one("mlxrocm_array_imag", self)

    @property
    def at(self) -> _indexing.ArrayAt:
        """x.at[key].add(value), subtract, multiply, divide, maximum, minimum: x with the value joined with elements."""
        return _indexing.ArrayAt(self)

    def eval(self) -> array:
        """Computes the elements now."""
        evaluate([self])
        return self

    def to_device(self, device: Device) -> array:
        """The array on a device: what is computed of it is computed there. Lazy; reading works wherever it is."""
        if not isinstance(device, Device):
            raise TypeError(f"an array moves to a mlxrocm.Device, like Device(1), not to {device!r}")
        return _one("mlxrocm_array_to_device", self, device.handle)

    def to_stream(self, stream: engine.Stream) -> array:
        """The array on a stream of a GPU: what is computed of it is queued there. Lazy; reading works wherever it is."""
        if not isinstance(stream, engine.Stream):
            raise TypeError(f"an array moves to a mlxrocm.engine.Stream, not to {stream!r}")
        return _one("mlxrocm_array_to_stream", self, stream.handle)

    @classmethod
    def from_buffer(cls, buffer: engine.Buffer, shape: int | Sequence[int], dtype: Dtype, offset: int = 0) -> array:
        """An array in a GPU's memory, a part of a buffer from a byte on, not a copy: nothing may write it as long as
        arrays see it."""
        return _one("mlxrocm_array_from_buffer", buffer.handle, offset, *_ints(shape), dtype.number)

    def buffer(self, stream: engine.Stream | None = None) -> tuple[engine.Buffer, int]:
        """The memory of a GPU in which the elements lie row after row, to be read (engine.In), and the byte at which they
        begin: there for work that is queued on `stream` from now on, or without one when this returns."""
        memory, offset = C.c_void_p(), C.c_uint64()
        call("mlxrocm_array_buffer", self.handle, stream and stream.handle, C.byref(memory), C.byref(offset))
        return engine.Buffer._own(memory.value or 0), offset.value

    def tobytes(self) -> bytes:
        """The elements row after row, in the machine's byte order."""
        return bytes(self._read())

    def _read(self) -> Any:
        buffer = (C.c_char * self.nbytes)()
        call("mlxrocm_array_read", self.handle, buffer, len(buffer))
        return buffer

    def item(self) -> Any:
        """The only element as a Python number."""
        if self.size != 1:
            raise errors.InvalidArgumentError(f"item: an array of shape {self.shape} has {self.size} elements, not one")
        return self.reshape(()).tolist()

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
        return _elements.nest(_elements.numbers_of(self), self.shape)

    def numpy(self) -> ndarray[Any, Any]:
        """The elements as a numpy array of its own memory; bfloat16 becomes float32."""
        import numpy

        source = self.astype(dtypes.float32) if self.dtype is dtypes.bfloat16 else self
        return numpy.frombuffer(source._read(), dtype=source.dtype.numpy).reshape(source.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> ndarray[Any, Any]:
        if copy is False:
            raise ValueError("an array's elements are copied to numpy: copy=False cannot be had")
        elements = self.numpy()
        return elements if dtype is None else elements.astype(dtype, copy=False)

    def __dlpack__(self, *, stream: None = None, max_version: Any = None, dl_device: Any = None,
                   copy: bool | None = None) -> object:  # fmt: skip
        """A capsule with a copy of the elements in the host's memory."""
        if stream is not None or (dl_device is not None and tuple(dl_device) != (1, 0)):
            raise BufferError("arrays are given out in the host's memory only")
        if copy is False:
            raise BufferError("an array's elements are copied: copy=False cannot be had")
        return _dlpack.capsule(self._read(), self.shape, self.dtype)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def reshape(self, *shape: int | Sequence[int]) -> array:
        return _one("mlxrocm_array_reshape", self, *_ints(_unpacked(shape)))

    def transpose(self, *axes: int | Sequence[int]) -> array:
        return _one("mlxrocm_array_transpose", self, *_ints(_unpacked(axes) if axes else None))

    def flatten(self, start_axis: int = 0, end_axis: int = -1) -> array:
        """Neighbouring axes as one."""
        return _one("mlxrocm_array_flatten", self, start_axis, end_axis)

    def split(self, indices_or_sections: Any, axis: int = 0) -> list[array]:
        from ._forms import split

        return split(self, indices_or_sections, axis)

    def conj(self) -> array:
        return self.conjugate()

    def __pos__(self) -> array:
        return array(self)

    def __copy__(self) -> array:
        return array(self)

    def __deepcopy__(self, memo: Any) -> array:
        return array(self)

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("a scalar has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[array]:
        return (self[i] for i in range(len(self)))

    def __bool__(self) -> bool:
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        return operator.index(self.item())

    def __repr__(self) -> str:
        from . import _printing

        return _printing.text(self)

    def __format__(self, spec: str) -> str:
        # A scalar is printed as a number.
        return format(self.item(), spec) if self.ndim == 0 else format(repr(self), spec)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _unpickled, (self.tobytes(), self.shape, self.dtype.name)

    def __bytes__(self) -> bytes:
        return self.tobytes()

    def __getitem__(self, key: Any) -> array:
        return _indexing.get(self, key)

    def __setitem__(self, key: Any, value: ArrayLike) -> None:
        self._become(_indexing.updated(self, key, _array(value, self)))

    def _become(self, other: array) -> None:
        # The new handle moves here and the old one is freed with `other`.
        self._handle, other._handle = other._handle, self._handle


def _unpickled(elements: bytes, shape: tuple[int, ...], dtype: str) -> array:
    return array._own(_elements._from_data(elements, shape, getattr(dtypes, dtype)))


def _operate(name: str, one: array, other: Any, swapped: bool = False) -> Any:
    """A Python operator; `swapped`: the other one is on the left."""
    if other is None:
        return NotImplemented
    try:
        other = _array(other, one)
    except TypeError:
        return NotImplemented
    return _one(name, *((other, one) if swapped else (one, other)))


def _update(name: str, one: array, other: Any) -> Any:
    """An operator that assigns: every name of the array sees the result, as in MLX and numpy."""
    made = _operate(name, one, other)
    if made is NotImplemented:
        return made
    one._become(made)
    return one


def from_dlpack(source: Any) -> array:
    """An array that shares the memory of another library's CPU tensor, which must not change while it is used."""
    return _dlpack.shared(source)


def evaluate(arrays: Sequence[array], how: str = "eval") -> None:
    """Computes the elements of arrays, all of them in one go; `eval_async`: queues that, `wait`: waits for it."""
    handles = (C.c_void_p * len(arrays))(*(item.handle for item in arrays))
    call(f"mlxrocm_array_{how}", handles, len(arrays))


# What the operations turn their arguments into.


def _call(name: str, arguments: Sequence[Any], *places: Any) -> None:
    call(name, *(a.handle if isinstance(a, array) else a for a in arguments), *places)


def _one(name: str, *arguments: Any) -> array:
    place = C.c_void_p()
    _call(name, arguments, C.byref(place))
    return array._own(place.value or 0)


def _tuple(count: int, name: str, *arguments: Any) -> Any:
    places = [C.c_void_p() for _ in range(count)]
    _call(name, arguments, *(C.byref(place) for place in places))
    return tuple(array._own(place.value or 0) for place in places)


def _many(count: int, name: str, *arguments: Any) -> list[array]:
    places = (C.c_void_p * max(count, 1))()
    _call(name, arguments, places)
    return [array._own(place or 0) for place in places[:count]]


def _array(value: Any, *like: Any) -> Any:
    """An array of a value. Python's numbers take the dtype of the array they meet, as in MLX."""
    if value is None or isinstance(value, array):
        return value
    dtype = None
    if isinstance(value, (bool, int, float, complex)):
        other = next((item.dtype for item in like if isinstance(item, array)), None)
        dtype = _weak(value, other)
    return array(value, dtype)


def _weak(value: Any, other: Dtype | None) -> Dtype | None:
    if isinstance(value, bool):
        return dtypes.bool_
    if isinstance(value, int):
        return dtypes.int32 if other is dtypes.bool_ else other
    if isinstance(value, float):
        return other if other is not None and (other.is_float or other is dtypes.complex64) else dtypes.float32
    return dtypes.complex64


class _Handles:
    """A C array of handles that keeps their arrays alive."""

    def __init__(self, arrays: Sequence[array]):
        self.arrays = arrays
        self._as_parameter_ = C.cast((C.c_void_p * max(len(arrays), 1))(*(a.handle for a in arrays)), C.c_void_p)


def _arrays(values: Sequence[Any]) -> tuple[_Handles, int]:
    made = [_array(value) for value in values]
    return _Handles(made), len(made)


def _axis(value: int | None) -> int:
    return _abi.AXIS_NONE if value is None else operator.index(value)


def _dtype(value: Dtype) -> int:
    if not isinstance(value, Dtype):
        raise TypeError(f"a dtype is one of mlxrocm.core's, like float32, not {value!r}")
    return value.number


def _unpacked(values: tuple[Any, ...]) -> Any:
    return values[0] if len(values) == 1 and not hasattr(values[0], "__index__") else values
