"""A user's program as a type checker sees it: mypy --strict passes over this file; nothing runs it."""

from __future__ import annotations

import mlxrocm
import mlxrocm.core as mx


def numbers() -> list[float]:
    x: mx.array = mx.array([[1.0, 2.0]]) + 1
    y = (2 * x @ x.T).sum(axis=0, keepdims=True)
    y = y.to_device(mlxrocm.Device(0))
    values: list[float] = mx.softmax(y, axis=-1).tolist()
    return values


async def answer(session: mlxrocm.Session) -> str:
    generation = session.chat([("user", "Hi")], max_tokens=3)
    async for event in generation:
        if isinstance(event, mlxrocm.Token):
            number: int = event.token
            print(number, event.text)
    text: str = await session.chat("Hi").atext()
    return text
