"""Arrays in files: npy, safetensors and GGUF."""

from __future__ import annotations

import ctypes as C
import os
from collections.abc import Mapping
from typing import Any

from . import _operations as _o
from ._abi import METADATA_TEXT, METADATA_TEXTS
from ._array import ArrayLike, _array, _one, array
from ._library import Object, call, library, new


class _Map(Object):
    """Named arrays and metadata."""

    _free = "mlxrocm_array_map_free"

    def __init__(self, path: bytes | None = None):
        if path is None:
            super().__init__(new("mlxrocm_array_map_new"))
        else:
            super().__init__(new("mlxrocm_array_map_load", path, len(path)))

    def _names(self, count: str, name: str) -> list[bytes]:
        numbers = range(getattr(library, count)(self.handle))
        return [self._text(name, index) or b"" for index in numbers]

    def _text(self, name: str, *arguments: Any) -> bytes | None:
        length = C.c_size_t()
        found = getattr(library, name)(self.handle, *arguments, C.byref(length))
        return None if not found else C.string_at(found, length.value)

    def arrays(self) -> dict[str, array]:
        names = self._names("mlxrocm_array_map_count", "mlxrocm_array_map_name")
        return {name.decode(): _one("mlxrocm_array_map_get", self.handle, name, len(name)) for name in names}

    def metadata(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key in self._names("mlxrocm_array_map_metadata_count", "mlxrocm_array_map_metadata_key"):
            kind = library.mlxrocm_array_map_metadata_kind(self.handle, key, len(key))
            read = "mlxrocm_array_map_metadata_text"
            if kind == METADATA_TEXT:
                found[key.decode()] = (self._text(read, key, len(key), 0) or b"").decode()
                continue
            numbers = _one("mlxrocm_array_map_metadata_array", self.handle, key, len(key))
            if kind == METADATA_TEXTS:
                texts = [self._text(read, key, len(key), index) or b"" for index in range(int(numbers.item()))]
                found[key.decode()] = [text.decode() for text in texts]
            else:
                found[key.decode()] = numbers
        return found


def _path(file: str | os.PathLike[str]) -> bytes:
    path = os.fsencode(file)
    if b"\0" in path:
        raise ValueError("a path has no zero bytes")
    return path


def load(file: str | os.PathLike[str], format: str | None = None, return_metadata: bool = False) -> Any:
    """The array of an npy file, or a dict of those of a safetensors or GGUF file (with `return_metadata` also what
    the file says beside them). The format is the path's ending unless it is given."""
    path = _path(file)
    kind = format or os.fsdecode(path).rsplit(".", 1)[-1]
    if kind == "npy":
        if return_metadata:
            raise ValueError("npy files have no metadata")
        return _one("mlxrocm_array_load", path, len(path))
    if kind not in ("safetensors", "gguf"):
        raise ValueError(f"load: npy, safetensors and gguf files are read, not {kind}")
    named = _Map(path)
    return (named.arrays(), named.metadata()) if return_metadata else named.arrays()


def save(file: str | os.PathLike[str], arr: ArrayLike) -> None:
    """Saves an array as an npy file; `.npy` is added to a path without it."""
    path = _path(file)
    path += b"" if path.endswith(b".npy") else b".npy"
    call("mlxrocm_array_save", _array(arr).handle, path, len(path))


def save_safetensors(file: str | os.PathLike[str], arrays: Mapping[str, ArrayLike],
                     metadata: Mapping[str, str] | None = None) -> None:  # fmt: skip
    """Saves a dict of arrays as a safetensors file; `.safetensors` is added to a path without it."""
    _save_named("safetensors", file, arrays, metadata)


def save_gguf(file: str | os.PathLike[str], arrays: Mapping[str, ArrayLike],
              metadata: Mapping[str, str] | None = None) -> None:  # fmt: skip
    """Saves a dict of arrays as a GGUF file, with texts as metadata; `.gguf` is added to a path without it."""
    _save_named("gguf", file, arrays, metadata)


def _save_named(kind: str, file: Any, arrays: Mapping[str, ArrayLike], metadata: Mapping[str, str] | None) -> None:
    path, ending = _path(file), f".{kind}".encode()
    path += b"" if path.endswith(ending) else ending
    named = _Map()
    for name, value in arrays.items():
        key = name.encode()
        call("mlxrocm_array_map_set", named.handle, key, len(key), _array(value).handle)
    for name, text in (metadata or {}).items():
        if not isinstance(text, str):
            raise TypeError(f"the metadata {name!r} is a {type(text).__name__}: only texts are saved")
        key, value_bytes = name.encode(), text.encode()
        call("mlxrocm_array_map_set_metadata", named.handle, key, len(key), value_bytes, len(value_bytes))
    call(f"mlxrocm_array_map_save_{kind}", named.handle, path, len(path))


def einsum(subscripts: str, *operands: ArrayLike) -> array:
    """Sums of products over axes that are named by letters: einsum("ij,jk->ik", a, b) is matmul(a, b)."""
    return _o.einsum(subscripts, operands)
