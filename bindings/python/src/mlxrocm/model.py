"""Models, tokenizers and chat templates. All of them may be used from any thread."""

from __future__ import annotations

import ctypes as C
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

from . import _abi, errors
from ._library import Object, call, filled, filled_text, info, new, path_of, plain, utf8
from .device import Device
from .model_files import Hears, Progress

# ("user", "Hello") or {"role": "user", "content": "Hello"}.
Message = Union[tuple[str, str], Mapping[str, str]]


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
                 progress: Progress | None = None):  # fmt: skip
        options = _abi.model_options(struct_size=C.sizeof(_abi.model_options), threads=threads)
        options.device = None if device is None else device.handle
        options.gpu_weight_bytes = gpu_weight_bytes
        with Hears(options, progress):
            super().__init__(new("mlxrocm_model_load", *path_of(path), C.byref(options)))

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(**plain(info(_abi.model_info, "mlxrocm_model_get_info", self.handle)))

    @property
    def tokenizer(self) -> Tokenizer:
        return Tokenizer(new("mlxrocm_model_get_tokenizer", self.handle))

    @property
    def chat_template(self) -> ChatTemplate:
        return ChatTemplate._own(new("mlxrocm_model_get_chat_template", self.handle))


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
        return list(filled(C.c_uint32, "mlxrocm_tokenizer_encode", self.handle, *utf8(text), flags))

    def decode(self, tokens: Sequence[int], *, skip_special: bool = False) -> str:
        flags = _abi.DECODE_SKIP_SPECIAL * skip_special
        return filled_text("mlxrocm_tokenizer_decode", self.handle, *ids(tokens), flags)

    def token_bytes(self, token: int) -> bytes:
        """The bytes a token stands for, maybe a part of a character."""
        return bytes(filled(C.c_char, "mlxrocm_tokenizer_token_bytes", self.handle, ids([token])[0][0]).raw[:-1])

    def find(self, spelling: str) -> int | None:
        """The token of exactly this spelling."""
        token = C.c_uint32()
        call("mlxrocm_tokenizer_find_token", self.handle, *utf8(spelling), C.byref(token))
        return self._token(token.value)

    def is_special(self, token: int) -> bool:
        special = C.c_uint32()
        call("mlxrocm_tokenizer_is_special", self.handle, ids([token])[0][0], C.byref(special))
        return bool(special.value)


class ChatTemplate(Object):
    """A compiled chat template (Jinja). Immutable."""

    _free = "mlxrocm_chat_template_free"

    def __init__(self, source: str, *, bos: str = "", eos: str = ""):
        super().__init__(new("mlxrocm_chat_template_new", *utf8(source), *utf8(bos), *utf8(eos)))

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
                           *utf8(json.dumps(extra)))  # fmt: skip


def messages_of(messages: Sequence[Message]) -> Any:
    """A C array of messages that keeps its strings alive."""
    structs = (_abi.message * max(len(messages), 1))()
    for struct, given in zip(structs, messages):
        if isinstance(given, str):  # one of two characters would be taken apart
            raise TypeError(f"a message is a role and a text, not {given!r}")
        role, content = (given["role"], given["content"]) if isinstance(given, Mapping) else given
        struct.role, struct.role_length = utf8(role)
        struct.content, struct.content_length = utf8(content)
    return structs


def ids(tokens: Sequence[int]) -> tuple[Any, int]:
    for token in tokens:
        if not 0 <= token <= 0xFFFFFFFF:
            raise errors.InvalidArgumentError(f"{token} is no token id")
    return (C.c_uint32 * max(len(tokens), 1))(*tokens), len(tokens)
