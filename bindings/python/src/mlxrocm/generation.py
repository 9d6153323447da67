"""Generations: the events of a request. Any thread: they go to whoever asks first."""

from __future__ import annotations

import asyncio
import ctypes as C
import threading
import weakref
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Union

from . import _abi, errors
from ._library import Object, call, nanoseconds, new
from ._library import field as text_in
from ._processor import Processor
from .request import Prompt, Request

FINISH_REASONS = {
    _abi.FINISH_STOP_TOKEN: "stop_token", _abi.FINISH_STOP_STRING: "stop_string", _abi.FINISH_LENGTH: "length",
    _abi.FINISH_CONTEXT: "context", _abi.FINISH_CANCELLED: "cancelled", _abi.FINISH_ERROR: "error",
    _abi.FINISH_GRAMMAR: "grammar",
}  # fmt: skip


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
    # Tokens that were guessed, and of these the right ones: each saved a step.
    guessed_tokens: int = 0
    accepted_tokens: int = 0


Event = Union[PromptProgress, Token, Finished]


class Generation(Object):
    """A running request: iterate over its events, or over its text with `texts()`; both also with `async for`.

    An iteration ends after `Finished`; a request that failed raises its error there. Closing one that runs cancels it.
    """

    _free = "mlxrocm_generation_free"

    def __init__(self, handle: int, processor: Processor | None = None):
        super().__init__(handle)
        self._processor = processor
        if processor is not None:
            processor.generation = weakref.ref(self)
        # What an event points to lives until the next call.
        self._lock = threading.Lock()
        self.finished: Finished | None = None

    def next(self, timeout: float | None = None) -> Event | None:
        """The next event; None if none came within `timeout` seconds. Raises StopIteration after the end."""
        struct = _abi.event(struct_size=C.sizeof(_abi.event))
        # Another thread may wait: two at once would read one event's text while the other replaces it.
        if not self._lock.acquire(timeout=-1 if timeout is None else max(0.0, timeout)):
            return None
        try:
            status = call("mlxrocm_generation_next", self.handle, nanoseconds(timeout), C.byref(struct))
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
        piece = text_in(struct, "text")
        if struct.kind == _abi.EVENT_TOKEN:
            top = (_abi.token_logprob * struct.top_count).from_address(struct.top) if struct.top_count else ()
            pairs = tuple((entry.token, entry.logprob) for entry in top)
            return Token(struct.token, piece, struct.logprob if pairs else None, pairs)
        if struct.finish_reason == _abi.FINISH_ERROR:
            if self._processor is not None and self._processor.raised is not None:
                raise self._processor.raised
            raise errors.make(struct.error_status, text_in(struct, "error_message"))
        reason = FINISH_REASONS.get(struct.finish_reason, str(struct.finish_reason))
        self.finished = Finished(piece, reason, struct.prompt_tokens, struct.cached_tokens, struct.generated_tokens,
                                 struct.prompt_seconds, struct.decode_seconds, struct.guessed_tokens,
                                 struct.accepted_tokens)  # fmt: skip
        return self.finished

    def cancel(self) -> None:
        """Ends the generation soon, from any thread; `Finished` still comes, with the reason "cancelled"."""
        call("mlxrocm_generation_cancel", self.handle)

    def _cancel_if_open(self) -> None:
        handle = self._handle
        if handle is not None:
            call("mlxrocm_generation_cancel", handle)

    def fork(self, request: Request | None = None, **options: Any) -> Generation:
        """Goes on after the tokens whose events were taken, beside this one, which may have ended. The fork's options
        are its own."""
        # Not while another thread takes an event.
        with self._lock:
            return submitted("mlxrocm_generation_fork", self.handle, None, request, options)

    def fileno(self) -> int:
        """A file descriptor for select, selectors and event loops, which is readable while there is an event; it is
        closed with the generation and must not be read."""
        descriptor = C.c_int32()
        call("mlxrocm_generation_get_fd", self.handle, C.byref(descriptor))
        return descriptor.value

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
            if self.finished is None:
                self._cancel_if_open()

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


def submitted(name: str, handle: int, prompt: Prompt | None, request: Request | None, options: Any) -> Generation:
    """What a function makes of an object and a request, or of its fields."""
    if request is not None and options:
        raise TypeError("a Request or its fields, not both")
    struct, kept, processor = (request or Request(**options))._struct(prompt)
    generation = Generation(new(name, handle, C.byref(struct)), processor)
    del kept  # the library has copied it
    return generation


def wait_any(generations: Sequence[Generation], timeout: float | None = None) -> Generation | None:
    """One of several generations, of any sessions, that has an event; where several have, they take turns. None if none
    had within `timeout` seconds. Raises StopIteration when all have given out their last event."""
    handles = (C.c_void_p * max(len(generations), 1))(*(generation.handle for generation in generations))
    place = C.c_size_t()
    status = call("mlxrocm_generation_wait_any", handles, len(generations), nanoseconds(timeout), C.byref(place))
    if status == _abi.END:
        raise StopIteration
    return None if status == _abi.PENDING else generations[place.value]
