"""Arrays in files: npy, safetensors and GGUF."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from . import _operations as _o
from ._abi import METADATA_TEXT, METADATA_TEXTS
from ._array import ArrayLike, _array, _one, array
from ._library import Object, call, library, new, said, utf8


class _Map(Object):
    """Named arrays and metadata."""

    _free = "mlxrocm_array_map_free"

    def __init__(self, path: bytes | None = None):
        if path is None:
            super().__init__(new("mlxrocm_array_map_new"))
        else:
            super().__init__(new("mlxrocm_array_map_load", path, len(path)))

    def _names(self, count: str, name: str) -> list[str]:
        return [said(name, self.handle, index) or "" for index in range(getattr(library, count)(self.handle))]

    def arrays(self) -> dict[str, array]:
        names = self._names("mlxrocm_array_map_count", "mlxrocm_array_map_name")
        return {name: _one("mlxrocm_array_map_get", self.handle, *utf8(name)) for name in names}

    def metadata(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key in self._names("mlxrocm_array_map_metadata_count", "mlxrocm_array_map_metadata_key"):
            kind = library.mlxrocm_array_map_metadata_kind(self.handle, *utf8(key))
            if kind == METADATA_TEXT:
                found[key] = self._text(key, 0)
                continue
            numbers = _one("mlxrocm_array_map_metadata_array", self.handle, *utf8(key))
            texts = kind == METADATA_TEXTS
            found[key] = [self._text(key, index) for index in range(int(numbers.item()))] if texts else numbers
        return found

    def _text(self, key: str, index: int) -> str:
        return said("mlxrocm_array_map_metadata_text", self.handle, *utf8(key), index) or ""


def load(file: str | os.PathLike[str], format: str | None = None, return_metadata: bool = False) -> Any:
    """The array of an npy file, or a dict of those of a safetensors or GGUF file (with `return_metadata` also what
    the file says beside them). The format is the path's ending unless it is given."""
    path = os.fsencode(file)
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
    path = os.fsencode(file)
    path += b"" if path.endswith(b".npy") else b".npy"
    elements = _array(arr)
    call("mlxrocm_array_save", elements.handle, path, len(path))


def save_safetensors(file: str | os.PathLike[str], arrays: Mapping[str, ArrayLike],
                     metadata: Mapping[str, str] | None = None) -> None:  # fmt: skip
    """Saves a dict of arrays as a safetensors file; `.safetensors` is added to a path without it."""
    _save_named("safetensors", file, arrays, metadata)


def save_gguf(file: str | os.PathLike[str], arrays: Mapping[str, ArrayLike],
              metadata: Mapping[str, str] | None = None) -> None:  # fmt: skip
    """Saves a dict of arrays as a GGUF file, with texts as metadata; `.gguf` is added to a path without it."""
    _save_named("gguf", file, arrays, metadata)


def _save_named(kind: str, file: Any, arrays: Mapping[str, ArrayLike], metadata: Mapping[str, str] | None) -> None:
    path, ending = os.fsencode(file), f".{kind}".encode()
    path += b"" if path.endswith(ending) else ending
    named = _Map()
    for name, value in arrays.items():
        key, elements = name.encode(), _array(value)
        call("mlxrocm_array_map_set", named.handle, key, len(key), elements.handle)
    for name, text in (metadata or {}).items():
        if not isinstance(text, str):
            raise TypeError(f"the metadata {name!r} is a {type(text).__name__}: only texts are saved")
        key, value_bytes = name.encode(), text.encode()
        call("mlxrocm_array_map_set_metadata", named.handle, key, len(key), value_bytes, len(value_bytes))
    call(f"mlxrocm_array_map_save_{kind}", named.handle, path, len(path))


def einsum(subscripts: str, *operands: ArrayLike) -> array:
    """Sums of products over axes that are named by letters: einsum("ij,jk->ik", a, b) is matmul(a, b)."""
    return _o.einsum(subscripts, operands)
