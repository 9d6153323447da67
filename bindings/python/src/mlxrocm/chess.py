"""Networks of Leela Chess Zero, which evaluate chess positions. Any thread.

    with mlxrocm.chess.Net("maia-1900.pb.gz") as net:
        (found,) = net.evaluate([chess.Position(moves=["e2e4"])])
        print(found.win, max(found.moves, key=lambda move: move.chance).name)
"""

from __future__ import annotations

import ctypes as C
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Union

from . import _abi, errors
from ._library import Object, call, info, memory_of, nanoseconds, new, numbers, path_of, plain, said, utf8, utf8_list
from .device import Device

PLANES, MOVES, BATCH, QUEUE_BATCHES = _abi.CHESS_PLANES, _abi.CHESS_MOVES, _abi.CHESS_BATCH, _abi.CHESS_QUEUE_BATCHES

_POLICY_HEADS = {
    "vanilla": _abi.CHESS_POLICY_HEAD_VANILLA, "optimistic": _abi.CHESS_POLICY_HEAD_OPTIMISTIC,
    "soft": _abi.CHESS_POLICY_HEAD_SOFT, "opponent": _abi.CHESS_POLICY_HEAD_OPPONENT,
}  # fmt: skip
_VALUE_HEADS = {
    "winner": _abi.CHESS_VALUE_HEAD_WINNER, "q": _abi.CHESS_VALUE_HEAD_Q, "st": _abi.CHESS_VALUE_HEAD_ST,
}  # fmt: skip
_PRECISIONS = {
    "default": _abi.CHESS_PRECISION_DEFAULT, "f16": _abi.CHESS_PRECISION_F16, "f32": _abi.CHESS_PRECISION_F32,
}  # fmt: skip
_BODIES = {_abi.CHESS_BODY_RESIDUAL: "residual", _abi.CHESS_BODY_ATTENTION: "attention"}
_POLICIES = {
    _abi.CHESS_POLICY_CLASSICAL: "classical", _abi.CHESS_POLICY_CONVOLUTION: "convolution",
    _abi.CHESS_POLICY_ATTENTION: "attention",
}  # fmt: skip


@dataclass(frozen=True)
class Position:
    """Where a game has come to: where it began (a FEN; None: the usual start) and the moves since, like "e2e4"."""

    fen: str | None = None
    moves: Sequence[str] = ()


class Legal(NamedTuple):
    """A legal move: UCI's name and the move's place in the policy."""

    name: str
    policy_index: int


@dataclass(frozen=True)
class Planes:
    """A network's input: 112 masks of squares (uint64; bit 0 is a1, bit 63 h8, seen from the side to move), 112 numbers
    that their bits stand for (float32), in any memory, and the legal moves, none if the game is over."""

    masks: Any
    values: Any
    moves: Sequence[Legal] = ()


class Move(NamedTuple):
    """A legal move and its probability."""

    name: str
    policy_index: int
    chance: float


@dataclass(frozen=True)
class Evaluation:
    """What a network says: chances of the side to move (of networks that tell a value q only: (1 + q) / 2, 0 and
    (1 - q) / 2), plies that are left (0 of networks that do not tell), and the legal moves."""

    win: float
    draw: float
    loss: float
    moves_left: float
    moves: tuple[Move, ...]
    # 1,858 logits of moves, legal or not, float32.
    policy: memoryview[float] = field(repr=False, compare=False)


@dataclass(frozen=True)
class NetInfo:
    # As Leela Chess Zero numbers its formats.
    input_format: int
    # "residual" or "attention".
    body: str
    # Residual blocks or encoders.
    depth: int
    # Channels of a square.
    width: int
    # "classical", "convolution" or "attention".
    policy: str
    has_draws: bool
    has_moves_left: bool
    parameters: int


def move_name(policy_index: int) -> str:
    """A move of the policy as White would play it; castling is the king taking its rook, a promotion without a letter
    one to a knight."""
    name = said("mlxrocm_chess_net_move_name", policy_index) if 0 <= policy_index < MOVES else None
    if name is None:
        raise errors.InvalidArgumentError(f"moves of the policy are 0 to {MOVES - 1}, not {policy_index}")
    return name


def _number(kind: str, name: str, numbers: dict[str, int]) -> int:
    if name not in numbers:
        raise errors.InvalidArgumentError(f"{kind} is one of {', '.join(numbers)}, not {name!r}")
    return numbers[name]


class Net(Object):
    """A network, of a .pb.gz file or the same unpacked. Immutable.

    `device`: None is the CPU. The network must have the heads that are asked for: `policy_head` "vanilla" (which all
    have), "optimistic", "soft" or "opponent", `value_head` "winner" (which all have), "q" or "st". The `precision`
    "default" is "f16" on GPUs and "f32" on the CPU.
    """

    _free = "mlxrocm_chess_net_free"

    def __init__(self, path: str | os.PathLike[str], *, device: Device | None = None, threads: int = 0,
                 policy_head: str = "vanilla", value_head: str = "winner", precision: str = "default"):  # fmt: skip
        if not 0 <= threads < 2**32:
            raise errors.InvalidArgumentError(f"threads are 0 or a number of them, not {threads}")
        options = _abi.chess_net_options(
            C.sizeof(_abi.chess_net_options), threads, _number("policy_head", policy_head, _POLICY_HEADS),
            _number("value_head", value_head, _VALUE_HEADS), None if device is None else device.handle,
            _number("precision", precision, _PRECISIONS),
        )  # fmt: skip
        super().__init__(new("mlxrocm_chess_net_load", *path_of(path), C.byref(options)))

    @property
    def info(self) -> NetInfo:
        facts = plain(info(_abi.chess_net_info, "mlxrocm_chess_net_get_info", self.handle))
        facts["body"] = _BODIES.get(facts["body"], str(facts["body"]))
        facts["policy"] = _POLICIES.get(facts["policy"], str(facts["policy"]))
        return NetInfo(**facts | {name: bool(facts[name]) for name in ("has_draws", "has_moves_left")})

    def planes(self, position: Position) -> Planes:
        """A position as the network's input, with its legal moves."""
        masks, values = (C.c_uint64 * PLANES)(), (C.c_float * PLANES)()
        legal, found = (_abi.chess_move * 256)(), C.c_size_t()  # no position has more than 218
        call("mlxrocm_chess_net_get_input", self.handle, *utf8(position.fen), *utf8_list(position.moves), masks, values,
             legal, len(legal), C.byref(found))  # fmt: skip
        moves = tuple(Legal(move.name.decode(), move.policy_index) for move in legal[: found.value])
        return Planes(numbers(masks, "Q"), numbers(values, "f"), moves)

    def evaluate(self, positions: Sequence[Position | Planes], *, temperature: float = 1.0) -> list[Evaluation]:
        """Evaluates up to 1,024 positions at once; one gets the same alone and in any batch. Temperatures above 1 make
        the chances of moves more alike. Threads may evaluate at the same time."""
        if not positions:
            return []
        batch = _Batch(self, positions, temperature)
        results = _Results(len(positions))
        call("mlxrocm_chess_net_evaluate", self.handle, batch.masks, batch.values, len(positions), *results.places)
        return batch.evaluations(results)


class _Batch:
    """Positions as C takes them, and what is needed to tell what came of them."""

    def __init__(self, net: Net, positions: Sequence[Position | Planes], temperature: float):
        planes = [net.planes(given) if isinstance(given, Position) else given for given in positions]
        self.masks, self.values = (C.c_uint64 * (PLANES * len(planes)))(), (C.c_float * (PLANES * len(planes)))()
        for i, given in enumerate(planes):
            _copied(given.masks, "masks", "QL", self.masks, i)
            _copied(given.values, "values", "f", self.values, i)
        self.legal, self.temperature = [tuple(given.moves) for given in planes], temperature

    def evaluations(self, results: _Results) -> list[Evaluation]:
        policies = numbers(results.policy, "f")
        made = []
        for i in range(len(self.legal)):
            win, draw, loss = results.wdl[3 * i : 3 * i + 3]
            policy = policies[MOVES * i : MOVES * (i + 1)]
            made.append(Evaluation(win, draw, loss, results.moves_left[i], self._moves(results, i), policy))
        return made

    def _moves(self, results: _Results, i: int) -> tuple[Move, ...]:
        legal = (_abi.chess_move * max(len(self.legal[i]), 1))()
        for struct, (_, index) in zip(legal, self.legal[i]):
            struct.policy_index = index
        chances = (C.c_float * len(legal))()
        place = C.byref(results.policy, 4 * MOVES * i)
        call("mlxrocm_chess_net_get_chances", place, legal, len(self.legal[i]), self.temperature, chances)
        return tuple(Move(*move, chance) for move, chance in zip(self.legal[i], chances))


class _Results:
    def __init__(self, count: int):
        self.policy, self.wdl = (C.c_float * (MOVES * count))(), (C.c_float * (3 * count))()
        self.moves_left = (C.c_float * count)()
        self.places = self.policy, self.wdl, self.moves_left


def _copied(given: Any, what: str, kinds: str, target: Any, place: int) -> None:
    view = memoryview(given)
    width = C.sizeof(target._type_)
    if view.format.lstrip("@=<") not in kinds or view.itemsize != width or view.nbytes != PLANES * width:
        raise errors.InvalidArgumentError(
            f"{what} of a position are {PLANES} numbers of format {kinds[0]!r}, "
            f"not {view.nbytes // view.itemsize} of format {view.format!r}"
        )
    C.memmove(C.byref(target, PLANES * width * place), memory_of(view)[0], PLANES * width)


class Queue(Object):
    """Batches that a network evaluates one after the other while the program goes on; small ones that wait together are
    evaluated together. `for number, found in queue` takes what it holds."""

    _free = "mlxrocm_chess_queue_free"

    def __init__(self, net: Net):
        super().__init__(new("mlxrocm_chess_queue_create", net.handle))
        self._net = net
        self._lock = threading.Lock()
        # By their numbers, those that were not taken yet.
        self._batches: dict[int, _Batch] = {}
        self._largest = 1

    def submit(self, positions: Sequence[Position | Planes], *, temperature: float = 1.0) -> int | None:
        """Hands in 1 to 1,024 positions and returns at once: the batch's number, 0, 1, 2 … of this queue; None if it
        holds QUEUE_BATCHES (64) already, those whose results wait included."""
        if not 0 < temperature < float("inf"):
            raise errors.InvalidArgumentError(f"a temperature is above 0, not {temperature}")
        batch = _Batch(self._net, positions, temperature)
        number = C.c_uint64()
        # Whoever takes the batch waits until it is known.
        with self._lock:
            status = call("mlxrocm_chess_queue_submit", self.handle, batch.masks, batch.values, len(positions),
                          C.byref(number))  # fmt: skip
            if status == _abi.PENDING:
                return None
            self._largest = max(self._largest, len(positions))
            self._batches[number.value] = batch
            return number.value

    def next(self, timeout: float | None = None) -> tuple[int, list[Evaluation]] | None:
        """The oldest batch's number and evaluations; None if it was not done within `timeout` seconds. Raises
        StopIteration when the queue holds none. Where several threads take batches, each gets others."""
        count, number = C.c_size_t(), C.c_uint64()
        capacity = self._largest
        while True:
            results = _Results(capacity)
            try:
                status = call("mlxrocm_chess_queue_next", self.handle, nanoseconds(timeout), capacity, *results.places,
                              C.byref(count), C.byref(number))  # fmt: skip
                break
            except errors.BufferTooSmallError:  # one that was handed in meanwhile
                capacity = BATCH
        if status == _abi.PENDING:
            return None
        if status == _abi.END:
            raise StopIteration
        with self._lock:
            batch = self._batches.pop(number.value)
        return number.value, batch.evaluations(results)

    def __iter__(self) -> Iterator[tuple[int, list[Evaluation]]]:
        while True:
            try:
                taken = self.next()
            except StopIteration:
                return
            assert taken is not None  # without a timeout
            yield taken
