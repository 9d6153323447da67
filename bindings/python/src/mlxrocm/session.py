"""Sessions: requests in, generations out. Any thread."""

from __future__ import annotations

import ctypes as C
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _abi, errors
from ._library import Object, call, filled, info, memory_of, new, numbers, path_of, plain
from .generation import Generation, submitted
from .model import Message, Model, ids
from .request import Prompt, Request

if TYPE_CHECKING:
    import numpy

_KV = {"f16": _abi.KV_F16, "q8": _abi.KV_Q8, "q4": _abi.KV_Q4}
_POOLING = {
    "none": _abi.POOLING_NONE, "mean": _abi.POOLING_MEAN, "cls": _abi.POOLING_CLS, "last": _abi.POOLING_LAST,
}  # fmt: skip


class Session(Object):
    """Several requests at once over one KV cache. Generations keep it alive. Zero is each option's default.

    `kv_type` is "f16", "q8" or "q4". `batch_invariant`: what a request gives never depends on what runs beside it, on
    GPUs too (slower with more than 16 requests or prompts beside them). `prompt_lookup` guesses next tokens from what
    followed the same few earlier, `draft_model` from a smaller model with the same tokens: the same text, sooner where
    guesses are right.
    """

    _free = "mlxrocm_session_free"

    def __init__(self, model: Model, *, context: int = 0, max_requests: int = 0, prefill_chunk: int = 0,
                 kv_tokens: int = 0, kv_type: str = "f16", batch_invariant: bool = False,
                 prompt_lookup: bool = False, draft_model: Model | None = None):  # fmt: skip
        if kv_type not in _KV:
            raise errors.InvalidArgumentError(f"kv_type is one of {', '.join(_KV)}, not {kv_type!r}")
        options = _abi.session_options(C.sizeof(_abi.session_options), context, max_requests, prefill_chunk,
                                       kv_tokens, _KV[kv_type], int(batch_invariant), int(prompt_lookup),
                                       draft_model.handle if draft_model is not None else None)  # fmt: skip
        self.model = model
        super().__init__(new("mlxrocm_session_new", model.handle, C.byref(options)))

    @property
    def info(self) -> dict[str, Any]:
        """What it does right now, under the names of mlxrocm_session_info."""
        return plain(info(_abi.session_info, "mlxrocm_session_get_info", self.handle))

    def submit(self, prompt: Prompt, request: Request | None = None, **options: Any) -> Generation:
        """Queues a request and returns at once. `options` are the fields of a Request."""
        return submitted("mlxrocm_session_submit", self.handle, prompt, request, options)

    def chat(self, messages: str | Sequence[Message] | Mapping[str, Any], request: Request | None = None,
             **options: Any) -> Generation:  # fmt: skip
        """Queues a chat that the model answers; a string is one message of the user."""
        chat: Prompt = [("user", messages)] if isinstance(messages, str) else messages
        return self.submit(chat, request, **options)

    def batch(self, prompts: Sequence[Prompt], request: Request | None = None, **options: Any) -> list[str]:
        """Runs all prompts at once and waits: their texts in order. If one fails, the others are cancelled."""
        generations: list[Generation] = []
        try:
            for prompt in prompts:
                generations.append(self.submit(prompt, request, **options))
            return [generation.text() for generation in generations]
        finally:
            for generation in generations:
                generation.close()

    def logits(self, tokens: Sequence[int], positions: Sequence[int] | None = None) -> numpy.ndarray[Any, Any]:
        """Raw logits [tokens, vocab_size]: row i is about the token that follows the first i + 1. With `positions`,
        which rise, only their rows, which takes less memory and time; negative ones count from the end."""
        import numpy

        if positions is None:
            found = filled(C.c_float, "mlxrocm_session_logits", self.handle, *ids(tokens))
        else:
            places, count = _positions(positions, len(tokens))
            found = filled(C.c_float, "mlxrocm_session_logits_at", self.handle, *ids(tokens), places, count)
        return numpy.frombuffer(found, dtype=numpy.float32).reshape(len(tokens if positions is None else positions), -1)

    def embed(self, tokens: Sequence[int], pooling: str = "mean", *, normalize: bool = True,
              positions: Sequence[int] | None = None) -> memoryview[float]:  # fmt: skip
        """The embedding of a text: hidden states after the final norm, pooled ("mean", "cls": the first token, "last"),
        hidden_size float32; "none": a row for each token, or for each of `positions`, which rise. `normalize` divides
        each row by its length. numpy.asarray takes what comes without a copy."""
        if pooling not in _POOLING:
            raise errors.InvalidArgumentError(f"pooling is one of {', '.join(_POOLING)}, not {pooling!r}")
        options = _abi.embed_options(struct_size=C.sizeof(_abi.embed_options), pooling=_POOLING[pooling])
        options.flags = _abi.EMBED_NORMALIZE * normalize
        places = None
        if positions is not None:
            places, options.position_count = _positions(positions, len(tokens))
            options.positions = C.cast(places, C.c_void_p)
        found = filled(C.c_float, "mlxrocm_session_embed", self.handle, *ids(tokens), C.byref(options))
        del places  # which the options borrowed
        rows = len(tokens if positions is None else positions)
        return numbers(found, "f") if pooling != "none" else numbers(found, "f", rows, len(found) // rows)

    def save_state(self, tokens: Sequence[int]) -> bytes:
        """What was computed of tokens, to go on after them without running them again: in another session of the same
        model, device and kv_type too, also in another process."""
        return bytes(filled(C.c_char, "mlxrocm_session_save_state", self.handle, *ids(tokens)))

    def save_state_file(self, tokens: Sequence[int], path: str | os.PathLike[str]) -> None:
        """`save_state` to a file, which is there whole or not at all."""
        call("mlxrocm_session_save_state_file", self.handle, *ids(tokens), *path_of(path))

    def load_state(self, state: Any) -> None:
        """Keeps a state (bytes, or other memory) for prompts that begin with its tokens. Load only those of whom you
        would let write the prompt."""
        call("mlxrocm_session_load_state", self.handle, *memory_of(state))

    def load_state_file(self, path: str | os.PathLike[str]) -> None:
        """`load_state` from a file."""
        call("mlxrocm_session_load_state_file", self.handle, *path_of(path))


def state_tokens(state: Any) -> list[int]:
    """The tokens of a saved state."""
    return list(filled(C.c_uint32, "mlxrocm_state_get_tokens", *memory_of(state)))


def _positions(positions: Sequence[int], count: int) -> tuple[Any, int]:
    """A C array of positions in `count` tokens."""
    places = [place + count if place < 0 else place for place in positions]
    # To the library no positions are the last one, or all.
    if not places or not all(0 <= place < count for place in places):
        raise errors.InvalidArgumentError(f"positions are some of {count} tokens, not {list(positions)}")
    return (C.c_uint32 * len(places))(*places), len(places)
