"""Logits processors: functions of the program that the library calls on a session's thread."""

from __future__ import annotations

import atexit
import contextlib
import ctypes as C
import itertools
import time
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import _abi, errors
from ._library import numbers

if TYPE_CHECKING:
    from .generation import Generation

# Changes the second in place: logits of the next token after the tokens of the first.
LogitsProcessor = Callable[["memoryview[int]", "memoryview[float]"], object]


class Processor:
    """A function that a request brought, what it raised, and the generation that it belongs to."""

    def __init__(self, function: LogitsProcessor):
        self.function = function
        self.raised: BaseException | None = None
        self.generation: weakref.ref[Generation] | None = None


# By the numbers that the library has as `user_data`, until it says that it needs them no more.
_live: dict[int, Processor] = {}
_fresh = itertools.count(1)


# These two are never freed: a session's thread may be in one when its generation goes.
@_abi.logits_processor
def _process(tokens: int, token_count: int, logits: int, vocab_size: int, number: int) -> int:
    processor = _live[number]
    try:
        # Copies, as the library's memory is lent for this call only and the function may keep what it gets.
        seen = numbers(C.string_at(tokens, 4 * token_count), "I")
        changed = (C.c_float * vocab_size)()
        C.memmove(changed, logits, 4 * vocab_size)
        processor.function(seen, numbers(changed, "f"))
        C.memmove(logits, changed, 4 * vocab_size)
        return 0
    except StopIteration as error:
        # It would end the loop over the events, as if all were well.
        processor.raised = RuntimeError("the logits processor raised StopIteration")
        processor.raised.__cause__ = error
    except BaseException as error:  # nothing may be raised into the library
        processor.raised = error
    return 1


@_abi.user_data_free
def _forget(number: int) -> None:
    _live.pop(number, None)


def lend(function: LogitsProcessor, request: Any) -> Processor:
    """Puts a function into a request, which must be submitted then: the library frees it in any case."""
    processor, number = Processor(function), next(_fresh)
    _live[number] = processor
    request.logits_processor, request.user_data, request.user_data_free = _process, number, _forget
    return processor


@atexit.register
def _end() -> None:
    # A thread that calls into an interpreter that has ended does not come back.
    if not _live:
        return
    for processor in list(_live.values()):
        generation = processor.generation and processor.generation()
        if generation is not None:
            with contextlib.suppress(errors.Error):  # it was closed just now
                generation._cancel_if_open()
    for _ in range(500):
        time.sleep(0.01)
        if not _live:
            break
