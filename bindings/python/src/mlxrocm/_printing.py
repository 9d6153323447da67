"""How arrays are printed: as MLX prints them, long ones shortened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _operations as _o

if TYPE_CHECKING:
    from ._array import array

# Of arrays of more elements the first and last of each axis are shown.
_ALL, _EDGE = 1000, 3


def text(x: array) -> str:
    short = x.size > _ALL
    numbers = (_edges(x, 0) if short else x).tolist()
    # "array(" is in front of the first line.
    return f"array({_nested(numbers, short, 7)}, dtype={x.dtype.name.rstrip('_')})"


def _edges(x: array, axis: int) -> array:
    """The corners, each a slice: nothing is computed or copied of what is between them."""
    if axis == x.ndim:
        return x
    size = x.shape[axis]
    if size <= 2 * _EDGE:
        return _edges(x, axis + 1)
    parts = (slice(_EDGE), slice(size - _EDGE, size))
    return _o.concatenate([_edges(x[(*[slice(None)] * axis, part)], axis + 1) for part in parts], axis)


def _nested(value: Any, short: bool, indent: int) -> str:
    if not isinstance(value, list):
        return _number(value)
    items = [_nested(item, short, indent + 1) for item in value]
    if short and len(items) == 2 * _EDGE:
        items.insert(_EDGE, "...")
    rows = bool(value) and isinstance(value[0], list)
    return "[" + (",\n" + " " * indent if rows else ", ").join(items) + "]"


def _number(value: Any) -> str:
    if isinstance(value, complex):
        return f"{value.real:.6g}{value.imag:+.6g}j"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
