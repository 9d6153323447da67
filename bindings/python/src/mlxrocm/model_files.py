"""Model files: what is in them, and quantized ones made of them. Any thread."""

from __future__ import annotations

import ctypes as C
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from . import _abi, errors
from ._library import call, field, info, library, new, path_of, plain, utf8, utf8_list

# Hears how many bytes of how many are done; what it raises ends the work.
Progress = Callable[[int, int], object]


class Hears:
    """Puts a callback for progress into a struct of options, and what it raised in place of the library's error."""

    def __init__(self, options: Any, progress: Progress | None):
        raised: list[BaseException] = []
        self._raised = raised

        def report(done: int, total: int, _: object) -> int:
            try:
                assert progress is not None
                progress(done, total)
            except BaseException as error:  # nothing may be raised into the library
                raised.append(error)
                return 1
            return 0

        if progress is not None:
            options.progress = _abi.progress_callback(report)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        if isinstance(error, errors.CancelledError) and self._raised:
            raise self._raised[0] from None


@dataclass(frozen=True)
class TensorInfo:
    """What a model file says about a tensor. `format` is the file's own word: "Q4_K", "BF16", "U32" ..."""

    name: str
    format: str
    shape: tuple[int, ...]
    bytes: int


def list_tensors(path: str | os.PathLike[str]) -> list[TensorInfo]:
    """The tensors of a GGUF file, a safetensors file or a model folder, in its order. Nothing is loaded, so models that
    do not run here can be looked at."""
    file = new("mlxrocm_model_file_open", *path_of(path))
    try:
        return [_tensor(file, index) for index in range(library.mlxrocm_model_file_tensor_count(file))]
    finally:
        library.mlxrocm_model_file_free(file)


def _tensor(file: int, index: int) -> TensorInfo:
    facts = info(_abi.tensor_info, "mlxrocm_model_file_get_tensor", file, index)
    shape = C.cast(facts.shape, C.POINTER(C.c_int64))[: facts.rank]
    return TensorInfo(field(facts, "name"), field(facts, "format"), tuple(shape), facts.bytes)


@dataclass(frozen=True)
class Quantized:
    """What `quantize` made: files of tensors, numbers and bytes in them, and bytes of the source that an interrupted
    run had done before."""

    files: int
    parameters: int
    bytes: int
    resumed_bytes: int


def quantize(source: str | os.PathLike[str], destination: str | os.PathLike[str], *, bits: int = 0, group_size: int = 0,
             mode: str | None = None, recipe: str | None = None, dtype: str | None = None, rules: Sequence[str] = (),
             threads: int = 0, progress: Progress | None = None) -> Quantized:  # fmt: skip
    """Quantizes a model folder or GGUF file of 16- or 32-bit floats into a new folder in MLX's format, as mlx-lm does.

    Zero and None are the defaults: affine, 4 bits in groups of 64. `mode` is "affine", "mxfp4", "mxfp8" or "nvfp4",
    `recipe` one of mlx-lm's, like "mixed_4_6"; `dtype` is that of scales and of what stays, "float16", "bfloat16" or
    "float32"; `rules` say what modules become, like "*.v_proj=6" or "lm_head=8:32". After an interrupted call the same
    one goes on. `progress(done, total)` hears bytes of the source; what it raises ends the work and comes out here.
    """
    for name, value in (("bits", bits), ("group_size", group_size), ("threads", threads)):
        if not 0 <= value < 2**32:
            raise errors.InvalidArgumentError(f"{name} is 0 to {2**32 - 1}, not {value}")
    options = _abi.quantize_options(C.sizeof(_abi.quantize_options), bits, group_size, threads, *utf8(mode),
                                    *utf8(recipe), *utf8(dtype))  # fmt: skip
    strings, lengths, options.rules_count = utf8_list(rules)
    options.rules, options.rules_lengths = C.cast(strings, C.c_void_p), C.cast(lengths, C.c_void_p)
    made = _abi.quantize_result(struct_size=C.sizeof(_abi.quantize_result))
    with Hears(options, progress):
        call("mlxrocm_model_quantize", *path_of(source), *path_of(destination), C.byref(options), C.byref(made))
    return Quantized(**plain(made))
