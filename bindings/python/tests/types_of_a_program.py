"""A user's program as a type checker sees it: mypy --strict passes over this file; nothing runs it."""

from __future__ import annotations

import mlxrocm
import mlxrocm.core as mx
from mlxrocm import chess


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


def evaluated(path: str) -> dict[str, float]:
    with chess.Net(path, device=mlxrocm.Device(0)) as net, chess.Queue(net) as queue:
        number: int | None = queue.submit([chess.Position(moves=["e2e4"]), net.planes(chess.Position())])
        for taken, found in queue:
            print(taken == number, found[0].win - found[0].loss, found[0].policy[0])
        (start,) = net.evaluate([chess.Position()], temperature=1.5)
        return {move.name: move.chance for move in start.moves}


def kept(session: mlxrocm.Session, tokens: list[int]) -> bytes:
    def forbid(tokens: memoryview[int], logits: memoryview[float]) -> None:
        logits[tokens[-1]] = float("-inf")

    generation = session.submit(tokens, logits_processor=forbid)
    ready: mlxrocm.Generation | None = mlxrocm.wait_any([generation, generation.fork(max_tokens=3)], timeout=1.0)
    print(ready, list(session.embed(tokens)))
    state: bytes = session.save_state(tokens)
    assert mlxrocm.state_tokens(state) == tokens
    mlxrocm.quantize("source", "destination", bits=4, progress=print)
    return state
