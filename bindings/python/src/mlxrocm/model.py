"""Devices, models, tokenizers and chat templates. All of them may be used from any thread."""

from __future__ import annotations

import ctypes as C
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

from . import _abi, errors
from ._library import Object, call, filled, filled_text, info, library, new, text

# ("user", "Hello") or {"role": "user", "content": "Hello"}.
Message = Union[tuple[str, str], Mapping[str, str]]

_KINDS = {_abi.DEVICE_CPU: "cpu", _abi.DEVICE_HIP: "hip", _abi.DEVICE_CUDA: "cuda"}


def version() -> str:
    """The library's version, like "0.1.0"."""
    return str(library.mlxrocm_version_string(None).decode())


def build_info() -> str:
    return str(library.mlxrocm_build_info(None).decode())


def device_count() -> int:
    """Devices of this machine: the CPU, then GPUs."""
    count = C.c_size_t()
    call("mlxrocm_device_count", C.byref(count))
    return count.value


def why_no_gpu(kind: str) -> str:
    """Why there is no GPU of "hip" or "cuda", and what to do about it; "" if there is one."""
    numbers = {name: number for number, name in _KINDS.items()}
    return filled_text("mlxrocm_device_why_none", numbers.get(kind, 0))


def _plain(struct: Any) -> dict[str, Any]:
    """The fields of a struct as Python values; strings are copied, and know their lengths themselves."""
    names = [name for name, *_ in struct._fields_]
    left_out = {"struct_size", *(f"{name}_length" for name in names)}
    values = {name: getattr(struct, name) for name in names if name not in left_out}
    return {k: v.decode(errors="replace") if isinstance(v, bytes) else v for k, v in values.items()}


class Device(Object):
    """An open device: 0 is the CPU, GPUs follow from 1."""

    _free = "mlxrocm_device_free"

    def __init__(self, index: int):
        if index < 0:
            raise errors.NoDeviceError(f"there is no device {index}: the CPU is 0, GPUs follow")
        super().__init__(new("mlxrocm_device_open", index))

    @property
    def info(self) -> dict[str, Any]:
        """Facts under the names of mlxrocm_device_info; `kind` is "cpu", "hip" or "cuda"."""
        facts = _plain(info(_abi.device_info, "mlxrocm_device_get_info", self.handle))
        return facts | {"kind": _KINDS.get(facts["kind"], str(facts["kind"]))}

    @property
    def memory(self) -> dict[str, Any]:
        """A GPU's counters, in bytes, under the names of mlxrocm_device_memory."""
        return _plain(info(_abi.device_memory, "mlxrocm_device_get_memory", self.handle))

    def set_memory_limit(self, size: int) -> None:
        call("mlxrocm_device_set_memory_limit", self.handle, size)

    def trim(self) -> None:
        """Gives freed memory back to the driver."""
        call("mlxrocm_device_trim", self.handle)


@dataclass(frozen=True)
class ModelInfo:
    family: str
    name: str
    quantization: str
    layers: int
    parameters: int
    weight_bytes: int
    context_length: int
    vocab_size: int
    hidden_size: int
    kv_bytes_per_token: int
    load_seconds: float
    gpu_weight_bytes: int
    host_weight_bytes: int


class Model(Object):
    """A loaded model: a GGUF file or an MLX folder. Immutable.

    `device`: None is the best GPU, else the CPU. `gpu_weight_bytes`: of a GPU's memory that weights take at most, the
    rest stays in host memory; 0: all of them are on the GPU if a session fits beside them, else as many as leave room
    for one. `progress(done, total)` hears bytes while loading; what it raises ends loading and comes out here.
    """

    _free = "mlxrocm_model_free"

    def __init__(self, path: str | os.PathLike[str], *, device: Device | None = None, threads: int = 0,
                 gpu_weight_bytes: int = 0,
                 progress: Callable[[int, int], object] | None = None):  # fmt: skip
        raised: list[BaseException] = []

        def report(done: int, total: int, _: object) -> int:
            try:
                assert progress is not None
                progress(done, total)
            except BaseException as error:  # nothing may be raised into the library
                raised.append(error)
                return 1
            return 0

        options = _abi.model_options(struct_size=C.sizeof(_abi.model_options), threads=threads)
        options.device = None if device is None else device.handle
        options.gpu_weight_bytes = gpu_weight_bytes
        if progress is not None:
            options.progress = _abi.progress_callback(report)
        encoded = _path(path)
        try:
            super().__init__(new("mlxrocm_model_load", encoded, len(encoded), C.byref(options)))
        except errors.CancelledError:
            if raised:
                raise raised[0] from None
            raise

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(**_plain(info(_abi.model_info, "mlxrocm_model_get_info", self.handle)))

    @property
    def tokenizer(self) -> Tokenizer:
        return Tokenizer(new("mlxrocm_model_get_tokenizer", self.handle))

    @property
    def chat_template(self) -> ChatTemplate:
        return ChatTemplate._own(new("mlxrocm_model_get_chat_template", self.handle))


def _path(path: str | os.PathLike[str]) -> bytes:
    encoded = os.fsencode(path)
    if b"\0" in encoded:
        raise errors.InvalidArgumentError("the path holds a NUL character, which no path may")
    return encoded


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
    encoded = _path(path)
    file = new("mlxrocm_model_file_open", encoded, len(encoded))
    try:
        return [_tensor(file, index) for index in range(library.mlxrocm_model_file_tensor_count(file))]
    finally:
        library.mlxrocm_model_file_free(file)


def _tensor(file: int, index: int) -> TensorInfo:
    facts = info(_abi.tensor_info, "mlxrocm_model_file_get_tensor", file, index)
    name, form = (text.decode(errors="replace") for text in (facts.name, facts.format))
    shape = C.cast(facts.shape, C.POINTER(C.c_int64))[: facts.rank]
    return TensorInfo(name, form, tuple(shape), facts.bytes)


class Tokenizer(Object):
    """A model's tokenizer. Immutable."""

    _free = "mlxrocm_tokenizer_free"

    @property
    def vocab_size(self) -> int:
        return int(self._info().vocab_size)

    @property
    def bos(self) -> int | None:
        """The token that begins a text."""
        return self._token(self._info().bos)

    @property
    def eos(self) -> int | None:
        """The token that ends a text."""
        return self._token(self._info().eos)

    def _info(self) -> Any:
        return info(_abi.tokenizer_info, "mlxrocm_tokenizer_get_info", self.handle)

    @staticmethod
    def _token(token: int) -> int | None:
        return None if token == _abi.NO_TOKEN else token

    def encode(self, text: str, *, add_special: bool = False, parse_special: bool = False) -> list[int]:
        """Token ids of a text. `parse_special` reads spelled-out special tokens: not for text of strangers."""
        flags = _abi.ENCODE_ADD_SPECIAL * add_special | _abi.ENCODE_PARSE_SPECIAL * parse_special
        encoded = text.encode(errors="replace")
        return list(filled(C.c_uint32, "mlxrocm_tokenizer_encode", self.handle, encoded, len(encoded), flags))

    def decode(self, tokens: Sequence[int], *, skip_special: bool = False) -> str:
        flags = _abi.DECODE_SKIP_SPECIAL * skip_special
        return filled_text("mlxrocm_tokenizer_decode", self.handle, *ids(tokens), flags)

    def token_bytes(self, token: int) -> bytes:
        """The bytes a token stands for, maybe a part of a character."""
        return bytes(filled(C.c_char, "mlxrocm_tokenizer_token_bytes", self.handle, ids([token])[0][0]).raw[:-1])

    def find(self, spelling: str) -> int | None:
        """The token of exactly this spelling."""
        token = C.c_uint32()
        call("mlxrocm_tokenizer_find_token", self.handle, text(spelling, "the spelling"), _abi.NUL, C.byref(token))
        return self._token(token.value)

    def is_special(self, token: int) -> bool:
        special = C.c_uint32()
        call("mlxrocm_tokenizer_is_special", self.handle, ids([token])[0][0], C.byref(special))
        return bool(special.value)


class ChatTemplate(Object):
    """A compiled chat template (Jinja). Immutable."""

    _free = "mlxrocm_chat_template_free"

    def __init__(self, source: str, *, bos: str = "", eos: str = ""):
        super().__init__(new("mlxrocm_chat_template_new", text(source, "the template"), _abi.NUL, text(bos), _abi.NUL,
                             text(eos), _abi.NUL))

    @classmethod
    def _own(cls, handle: int) -> ChatTemplate:
        made = cls.__new__(cls)
        made._handle = handle
        return made

    @property
    def source(self) -> str:
        return filled_text("mlxrocm_chat_template_source", self.handle)

    def render(self, messages: Sequence[Message], *, generation_prompt: bool = True, **extra: Any) -> str:
        """The chat as the text of a prompt; encode it with parse_special. `extra`: more variables of the template."""
        flags = _abi.RENDER_GENERATION_PROMPT * generation_prompt
        structs = messages_of(messages)
        return filled_text("mlxrocm_chat_template_render", self.handle, structs, len(messages), flags,
                           text(json.dumps(extra)), _abi.NUL)  # fmt: skip


def messages_of(messages: Sequence[Message]) -> Any:
    """A C array of messages that keeps its strings alive."""
    structs = (_abi.message * max(len(messages), 1))()
    for struct, given in zip(structs, messages):
        role, content = (given["role"], given["content"]) if isinstance(given, Mapping) else given
        struct.role, struct.content = text(role, "the role"), text(content, "the message")
    return structs


def ids(tokens: Sequence[int]) -> tuple[Any, int]:
    for token in tokens:
        if not 0 <= token <= 0xFFFFFFFF:
            raise errors.InvalidArgumentError(f"{token} is no token id")
    return (C.c_uint32 * max(len(tokens), 1))(*tokens), len(tokens)
