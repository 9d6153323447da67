"""Opens the library and calls it. The interpreter's lock is released while a call runs."""

from __future__ import annotations

import ctypes as C
import os
import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from . import _abi, errors

Struct = TypeVar("Struct", bound=C.Structure)


def _open() -> C.CDLL:
    """MLXROCM_LIBRARY, else the library inside this package, else the system's."""
    inside = Path(__file__).with_name(_abi.SONAME)
    path = os.environ.get("MLXROCM_LIBRARY") or (str(inside) if inside.exists() else _abi.SONAME)
    try:
        library = C.CDLL(path)
    except OSError as error:
        raise ImportError(f"cannot open {path}: {error}; MLXROCM_LIBRARY names the library to use") from error
    for name, (result, parameters) in _abi.FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f"{path} has no {name}: it is older than this package ({_abi.LIBRARY_VERSION})") from None
        function.restype, function.argtypes = result, parameters
    return library


library = _open()


def call(name: str, *arguments: Any) -> int:
    """Calls a function that can fail with the arguments and a place for its error; raises that."""
    place = C.c_void_p()
    try:
        status: int = getattr(library, name)(*arguments, C.byref(place))
    except C.ArgumentError as error:
        # It says which argument, not what that was.
        place_of = re.match(r"argument (\d+)", str(error))
        wrong = f"{arguments[int(place_of[1]) - 1]!r} is of the wrong type" if place_of else str(error)
        raise TypeError(f"{name.removeprefix('mlxrocm_').removeprefix('array_')}: {wrong}") from None
    if status >= 0:
        return status
    try:
        message, details = said("mlxrocm_error_message", place), said("mlxrocm_error_details", place)
        raise errors.make(status, message or "", details or "", library.mlxrocm_error_vendor_code(place))
    finally:
        library.mlxrocm_error_free(place)


def new(name: str, *arguments: Any) -> int:
    """As `call`, of a function that makes an object."""
    handle = C.c_void_p()
    call(name, *arguments, C.byref(handle))
    assert handle.value is not None
    return handle.value


def info(kind: type[Struct], name: str, *arguments: Any) -> Struct:
    """A struct that a function fills."""
    struct = kind()
    struct.struct_size = C.sizeof(kind)  # type: ignore[attr-defined]
    call(name, *arguments, C.byref(struct))
    return struct


def filled(element: Any, name: str, *arguments: Any) -> Any:
    """A C array that a function measures, then fills."""
    needed = C.c_size_t()
    call(name, *arguments, None, 0, C.byref(needed))
    buffer = (element * needed.value)()
    if needed.value:
        call(name, *arguments, buffer, needed.value, C.byref(needed))
    return buffer


def filled_text(name: str, *arguments: Any) -> str:
    text: bytes = filled(C.c_char, name, *arguments).raw[:-1]
    return text.decode(errors="replace")


def said(name: str, *arguments: Any) -> str | None:
    """A text that a function returns and keeps."""
    length = C.c_size_t()
    address = getattr(library, name)(*arguments, C.byref(length))
    return None if address is None else C.string_at(address, length.value).decode(errors="replace")


def field(struct: C.Structure, name: str) -> str:
    """A text in a struct, whose length is beside it; "" if there is none."""
    # ctypes would read it up to its first NUL.
    address = C.c_size_t.from_buffer(struct, getattr(type(struct), name).offset).value
    return C.string_at(address, getattr(struct, f"{name}_length")).decode(errors="replace") if address else ""


def plain(struct: Any) -> dict[str, Any]:
    """The fields of a struct as Python values; strings are copied, and know their lengths themselves."""
    names = [name for name, *_ in struct._fields_]
    left_out = {"struct_size", *(f"{name}_length" for name in names)}
    return {
        name: field(struct, name) if kind is C.c_char_p else getattr(struct, name)
        for name, kind, *_ in struct._fields_
        if name not in left_out
    }


def utf8(value: str | None) -> tuple[bytes | None, int]:
    """UTF-8 and how many bytes: what C functions take for a text, which may hold NULs."""
    if value is None:
        return None, 0
    if not isinstance(value, str):
        raise TypeError(f"a text is a str, not a {type(value).__name__}")
    encoded = value.encode(errors="replace")
    return encoded, len(encoded)


def utf8_list(values: Sequence[str]) -> tuple[Any, Any, int]:
    """The same of a list: C arrays of the texts and of their lengths, and how many."""
    pairs = [utf8(value) for value in values]
    room = max(len(pairs), 1)
    strings, lengths = (C.c_char_p * room)(*(p[0] for p in pairs)), (C.c_size_t * room)(*(p[1] for p in pairs))
    return strings, lengths, len(pairs)


def path_of(path: str | os.PathLike[str]) -> tuple[bytes, int]:
    """A path as the operating system spells it, and how many bytes."""
    encoded = os.fsencode(path)
    return encoded, len(encoded)


def nanoseconds(timeout: float | None) -> int:
    """Of seconds; None is as long as it takes."""
    return -1 if timeout is None else max(0, int(timeout * 1e9))


def memory_of(value: Any) -> tuple[Any, int]:
    """The bytes of an object with the buffer protocol, as they lie there if that is possible, and how many."""
    if isinstance(value, bytes):
        return value, len(value)
    view = memoryview(value)
    if view.nbytes == 0:
        return b"", 0
    if view.readonly or not view.c_contiguous:
        return view.tobytes(), view.nbytes
    return (C.c_char * view.nbytes).from_buffer(view), view.nbytes


def numbers(elements: Any, kind: Any, *shape: int) -> Any:
    """A C array as a memoryview of a shape and a kind of number, as `struct` names it, which numpy.asarray takes too."""
    view = memoryview(elements).cast("B")
    # A view has no axes of size 0.
    return view.cast(kind, shape=shape) if all(shape) and len(shape) > 1 else view.cast(kind)


class Object:
    """An owned handle: a context manager, freed by close() or when nothing refers to it any more."""

    _free = ""
    _handle: int | None = None

    def __init__(self, handle: int):
        self._handle = handle

    @property
    def handle(self) -> int:
        """The address of the C object, borrowed until close(), for ctypes."""
        if self._handle is None:
            raise errors.InvalidArgumentError(f"this {type(self).__name__} is closed")
        return self._handle

    def close(self) -> None:
        """Frees the object; what was made from it goes on working."""
        handle, self._handle = self._handle, None
        if handle is not None:
            getattr(library, self._free)(handle)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"a {type(self).__name__} is not copied or pickled: it owns an object of the library")

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        # While the interpreter ends, its modules may be gone, and the process' memory soon is.
        if library is not None:
            self.close()


_log_lock = threading.Lock()
_log_callback: Any = None


def set_log(level: int, callback: Callable[[int, str], None] | None) -> None:
    """Sends the process' log lines of `level` (LOG_ERROR 1 to LOG_DEBUG 4) and above to `callback`.

    None restores the default. The callback is called on threads that are in a call of the library.
    """
    global _log_callback

    def line(line_level: int, message: int, length: int, _: object) -> None:
        assert callback is not None
        callback(line_level, C.string_at(message, length).decode(errors="replace"))

    made = _abi.log_callback(line) if callback is not None else _abi.log_callback()
    with _log_lock:
        call("mlxrocm_log_set_callback", level, made, None, _abi.user_data_free())
        _log_callback = made  # the one before may be freed now: no call of it runs any more
