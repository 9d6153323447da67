"""Sessions and generations: requests in, events out.

A session may be used from any thread, and so may a generation: its events go to whoever asks first.
"""

from __future__ import annotations

import asyncio
import ctypes as C
import json
import threading
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Union

from . import _abi, errors
from ._library import Object, call, filled, info, new, text
from .model import Message, Model, _plain, ids, messages_of

if TYPE_CHECKING:
    import numpy

# A text, token ids, or a chat; a mapping is {"messages": [...], "tools": [...], ...} in the form of OpenAI's API.
Prompt = Union[str, Sequence[int], Sequence[Message], Mapping[str, Any]]

FINISH_REASONS = {
    _abi.FINISH_STOP_TOKEN: "stop_token", _abi.FINISH_STOP_STRING: "stop_string", _abi.FINISH_LENGTH: "length",
    _abi.FINISH_CONTEXT: "context", _abi.FINISH_CANCELLED: "cancelled", _abi.FINISH_ERROR: "error",
}  # fmt: skip
_KV = {"f16": _abi.KV_F16, "q8": _abi.KV_Q8, "q4": _abi.KV_Q4}


@dataclass(frozen=True)
class PromptProgress:
    """`done` of `total` prompt tokens have been run."""

    done: int
    total: int
    text: str = ""


@dataclass(frozen=True)
class Token:
    """A token was chosen; `text` became complete with it and may be empty."""

    token: int
    text: str
    # By the model, and the most probable tokens with theirs, where the request asked for `logprobs`.
    logprob: float | None = None
    top: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True)
class Finished:
    """The end. `text` is the rest of the text."""

    text: str
    reason: str
    prompt_tokens: int
    cached_tokens: int
    generated_tokens: int
    prompt_seconds: float
    decode_seconds: float


Event = Union[PromptProgress, Token, Finished]


@dataclass(frozen=True)
class Request:
    """How to continue a prompt. Zero is each default: greedy, until the model stops."""

    max_tokens: int = 0
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 0.0
    min_p: float = 0.0
    repetition_penalty: float = 0.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    penalty_window: int = 0
    logprobs: int = 0
    seed: int = 0
    stop: Sequence[str] = ()
    stop_tokens: Sequence[int] = ()
    logit_bias: Mapping[int, float] = field(default_factory=dict)
    ignore_eos: bool = False

    def _struct(self, prompt: Prompt) -> tuple[Any, list[Any]]:
        """The C struct, and what it borrows."""
        struct = _abi.request(struct_size=C.sizeof(_abi.request))
        for name in ("max_tokens", "top_k", "penalty_window", "logprobs", "seed"):
            value, limit = getattr(self, name), 2**64 if name == "seed" else 2**32
            if not 0 <= value < limit:
                raise errors.InvalidArgumentError(f"{name} is 0 to {limit - 1}, not {value}")
            setattr(struct, name, value)
        for name in ("temperature", "top_p", "min_p", "repetition_penalty", "presence_penalty", "frequency_penalty"):
            setattr(struct, name, getattr(self, name))
        struct.flags = _abi.REQUEST_IGNORE_EOS * self.ignore_eos
        kept: list[Any] = []

        def lend(made: Any) -> Any:
            kept.append(made)
            return C.cast(made, C.c_void_p)

        if isinstance(prompt, str):
            struct.text = text(prompt, "the prompt")
        elif isinstance(prompt, Mapping):
            struct.chat_json = text(json.dumps(prompt), "the chat")
        elif prompt and isinstance(prompt[0], int):
            tokens, struct.token_count = ids(prompt)  # type: ignore[arg-type]
            struct.tokens = lend(tokens)
        else:
            struct.messages, struct.message_count = lend(messages_of(prompt)), len(prompt)  # type: ignore[arg-type]
        strings = [text(string, "a stop string") for string in self.stop]
        struct.stop, struct.stop_count = lend((C.c_char_p * max(len(strings), 1))(*strings)), len(strings)
        stop_tokens, struct.stop_token_count = ids(self.stop_tokens)
        struct.stop_tokens = lend(stop_tokens)
        struct.bias_tokens, struct.bias_count = lend(ids(list(self.logit_bias))[0]), len(self.logit_bias)
        values = list(self.logit_bias.values())
        struct.bias_values = lend((C.c_float * max(len(values), 1))(*values))
        return struct, kept


class Generation(Object):
    """A running request: iterate over its events, or over its text with `texts()`; both also with `async for`.

    An iteration ends after `Finished`; a request that failed raises its error there. Closing one that runs cancels it.
    """

    _free = "mlxrocm_generation_free"

    def __init__(self, handle: int):
        super().__init__(handle)
        # What an event points to lives until the next call.
        self._lock = threading.Lock()
        self.finished: Finished | None = None

    def next(self, timeout: float | None = None) -> Event | None:
        """The next event; None if none came within `timeout` seconds. Raises StopIteration after the end."""
        nanoseconds = -1 if timeout is None else max(0, int(timeout * 1e9))
        struct = _abi.event(struct_size=C.sizeof(_abi.event))
        # Another thread may wait: two at once would read one event's text while the other replaces it.
        if not self._lock.acquire(timeout=-1 if timeout is None else max(0.0, timeout)):
            return None
        try:
            status = call("mlxrocm_generation_next", self.handle, nanoseconds, C.byref(struct))
            if status == _abi.PENDING:
                return None
            if status == _abi.END:
                raise StopIteration
            return self._event(struct)
        finally:
            self._lock.release()

    def _event(self, struct: Any) -> Event:
        if struct.kind == _abi.EVENT_PROMPT:
            return PromptProgress(struct.prompt_done, struct.prompt_total)
        piece = C.string_at(C.cast(_address(struct, "text"), C.c_void_p), struct.text_length).decode(errors="replace")
        if struct.kind == _abi.EVENT_TOKEN:
            top = (_abi.token_logprob * struct.top_count).from_address(struct.top) if struct.top_count else ()
            pairs = tuple((entry.token, entry.logprob) for entry in top)
            return Token(struct.token, piece, struct.logprob if pairs else None, pairs)
        if struct.finish_reason == _abi.FINISH_ERROR:
            raise errors.make(struct.error_status, (struct.error_message or b"").decode(errors="replace"))
        reason = FINISH_REASONS.get(struct.finish_reason, str(struct.finish_reason))
        self.finished = Finished(piece, reason, struct.prompt_tokens, struct.cached_tokens, struct.generated_tokens,
                                 struct.prompt_seconds, struct.decode_seconds)  # fmt: skip
        return self.finished

    def cancel(self) -> None:
        """Ends the generation soon, from any thread; `Finished` still comes, with the reason "cancelled"."""
        call("mlxrocm_generation_cancel", self.handle)

    def __iter__(self) -> Iterator[Event]:
        while True:
            try:
                event = self.next()
            except StopIteration:
                return
            assert event is not None  # without a timeout
            yield event

    def texts(self) -> Iterator[str]:
        """The pieces of the text as they become complete."""
        return (event.text for event in self if event.text)

    def text(self) -> str:
        """Waits for the end: the whole text that is still to come."""
        return "".join(self.texts())

    async def __aiter__(self) -> AsyncIterator[Event]:
        loop = asyncio.get_running_loop()
        try:
            while True:
                # A thread waits a while only, so that many generations share the loop's few.
                try:
                    event = self._poll(0.0) or await loop.run_in_executor(None, self._poll, 0.05)
                except EOFError:
                    return
                if event is not None:
                    yield event
        finally:
            # The task was cancelled, or the loop left: nobody reads on.
            if self._handle is not None and self.finished is None:
                self.cancel()

    def _poll(self, timeout: float) -> Event | None:
        try:
            return self.next(timeout)
        except StopIteration:  # which cannot pass through a future
            raise EOFError from None

    async def atexts(self) -> AsyncIterator[str]:
        """`texts()` for `async for`."""
        async for event in self:
            if event.text:
                yield event.text

    async def atext(self) -> str:
        return "".join([piece async for piece in self.atexts()])


def _address(struct: Any, name: str) -> int:
    """The address in a pointer field that ctypes would read as a string."""
    offset = getattr(type(struct), name).offset
    return C.c_size_t.from_buffer(struct, offset).value


class Session(Object):
    """Several requests at once over one KV cache. Generations keep it alive. Zero is each option's default.

    `kv_type` is "f16", "q8" or "q4". `batch_invariant`: what a request gives never depends on what runs beside it, on
    GPUs too (slower with more than 16 requests or prompts beside them).
    """

    _free = "mlxrocm_session_free"

    def __init__(self, model: Model, *, context: int = 0, max_requests: int = 0, prefill_chunk: int = 0,
                 kv_tokens: int = 0, kv_type: str = "f16", batch_invariant: bool = False):  # fmt: skip
        if kv_type not in _KV:
            raise errors.InvalidArgumentError(f"kv_type is one of {', '.join(_KV)}, not {kv_type!r}")
        options = _abi.session_options(C.sizeof(_abi.session_options), context, max_requests, prefill_chunk,
                                       kv_tokens, _KV[kv_type], int(batch_invariant))  # fmt: skip
        self.model = model
        super().__init__(new("mlxrocm_session_new", model.handle, C.byref(options)))

    @property
    def info(self) -> dict[str, Any]:
        """What it does right now, under the names of mlxrocm_session_info."""
        return _plain(info(_abi.session_info, "mlxrocm_session_get_info", self.handle))

    def submit(self, prompt: Prompt, request: Request | None = None, **options: Any) -> Generation:
        """Queues a request and returns at once. `options` are the fields of a Request."""
        if request is not None and options:
            raise TypeError("submit: a Request or its fields, not both")
        struct, kept = (request or Request(**options))._struct(prompt)
        generation = Generation(new("mlxrocm_session_submit", self.handle, C.byref(struct)))
        del kept  # the library has copied it
        return generation

    def chat(self, messages: str | Sequence[Message] | Mapping[str, Any], request: Request | None = None, **options: Any) -> Generation:
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

    def logits(self, tokens: Sequence[int]) -> numpy.ndarray[Any, Any]:
        """Raw logits [tokens, vocab_size]: row i is about the token that follows the first i + 1."""
        import numpy

        found = filled(C.c_float, "mlxrocm_session_logits", self.handle, *ids(tokens))
        return numpy.frombuffer(found, dtype=numpy.float32).reshape(len(tokens), -1)
