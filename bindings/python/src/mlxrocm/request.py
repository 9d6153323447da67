"""Requests: how to continue a prompt."""

from __future__ import annotations

import ctypes as C
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Union

from . import _abi, _processor, errors
from ._library import utf8, utf8_list
from ._processor import LogitsProcessor, Processor
from .model import Message, ids, messages_of

# A text, token ids, or a chat; a mapping is {"messages": [...], "tools": [...], ...} in the form of OpenAI's API.
Prompt = Union[str, Sequence[int], Sequence[Message], Mapping[str, Any]]


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
    # What the generated text must be, at most one: JSON that fits a JSON schema (as JSON or as what json.loads makes of
    # it); what a regular expression matches, all of it; what the rule start of a grammar in Lark's notation derives.
    json_schema: str | Mapping[str, Any] | bool | None = None
    regex: str | None = None
    grammar: str | None = None
    # Called before each token is chosen with the tokens so far and the logits of the next one (memory of uint32 and of
    # float32), which it changes in place. What it raises ends the generation and comes out of it. It is called on the
    # session's thread: nothing in it may wait for the session.
    logits_processor: LogitsProcessor | None = None

    def _struct(self, prompt: Prompt | None) -> tuple[Any, list[Any], Processor | None]:
        """The C struct, what it borrows, and its processor. It must be submitted, or a processor is never freed."""
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

        if prompt is not None:
            _put(prompt, struct, lend)
        schema = self.json_schema
        if schema is not None:
            struct.json_schema, struct.json_schema_length = utf8(schema if isinstance(schema, str) else json.dumps(schema))
        if self.regex is not None:
            struct.regex, struct.regex_length = utf8(self.regex)
        if self.grammar is not None:
            struct.grammar, struct.grammar_length = utf8(self.grammar)
        stop, lengths, struct.stop_count = utf8_list(self.stop)
        struct.stop, struct.stop_lengths = lend(stop), lend(lengths)
        stop_tokens, struct.stop_token_count = ids(self.stop_tokens)
        struct.stop_tokens = lend(stop_tokens)
        struct.bias_tokens, struct.bias_count = lend(ids(list(self.logit_bias))[0]), len(self.logit_bias)
        values = list(self.logit_bias.values())
        struct.bias_values = lend((C.c_float * max(len(values), 1))(*values))
        return struct, kept, self.logits_processor and _processor.lend(self.logits_processor, struct)


def _put(prompt: Prompt, struct: Any, lend: Callable[[Any], Any]) -> None:
    if isinstance(prompt, str):
        struct.text, struct.text_length = utf8(prompt)
    elif isinstance(prompt, Mapping):
        struct.chat_json, struct.chat_json_length = utf8(json.dumps(prompt))
    elif isinstance(prompt, (bytes, bytearray)):  # which has whole numbers
        raise TypeError("a prompt is a str, token ids or messages, not bytes")
    elif len(prompt) and hasattr(prompt[0], "__index__"):
        tokens, struct.token_count = ids(prompt)  # type: ignore[arg-type]
        struct.tokens = lend(tokens)
    else:
        struct.messages, struct.message_count = lend(messages_of(prompt)), len(prompt)  # type: ignore[arg-type]
