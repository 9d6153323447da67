"""x[key], x[key] = value and x.at[key]: integers, slices, None, Ellipsis and arrays or lists of places, as numpy has them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from . import dtypes, errors

if TYPE_CHECKING:
    from ._array import ArrayLike, array

_FULL = slice(None)


def _entry(entry: Any) -> Any:
    """An integer, a slice, None, or an array of places."""
    from ._array import array

    if entry is None or entry is Ellipsis or isinstance(entry, slice):
        return entry
    if isinstance(entry, (list, array)) or getattr(entry, "shape", None):
        if isinstance(entry, list) and not entry:
            return array(entry, dtypes.int32)
        return entry if isinstance(entry, array) else array(entry)
    if isinstance(entry, bool) or not hasattr(entry, "__index__"):
        raise TypeError(f"an index is an integer, a slice, None, ... or an array or list of integers, not {entry!r}")
    return entry.__index__()


def _expanded(x: array, key: Any) -> list[Any]:
    """One entry an axis (integer, slice or places), and None for new axes."""
    entries = [_entry(entry) for entry in (key if isinstance(key, tuple) else (key,))]
    taken = sum(1 for e in entries if e is not None and e is not Ellipsis)
    dots = [i for i, e in enumerate(entries) if e is Ellipsis]
    rank = x.ndim
    if len(dots) > 1 or taken > rank:
        raise IndexError(f"too many indices: {taken} for an array of shape {x.shape}")
    rest: list[Any] = [_FULL] * (rank - taken)
    at = dots[0] if dots else len(entries)
    return entries[:at] + rest + entries[at + len(dots) :]


def _bounds(entries: list[Any], shape: tuple[int, ...]) -> tuple[list[int], list[int], list[int], list[int]]:
    """First, last and step of each axis, and the axes of integers, which go away."""
    bounds: list[tuple[int, int, int]] = []
    gone = []
    for axis, (entry, size) in enumerate(zip(entries, shape)):
        if isinstance(entry, slice):
            a, b, c = entry.indices(size)
            if c > 0:
                b = max(a, b)
            # In C, -1 is the last place: before the first one is -size - 1.
            elif b < 0:
                b = -size - 1
            bounds.append((a, b, c))
            continue
        if not isinstance(entry, int):
            bounds.append((0, size, 1))
            continue
        if not -size <= entry < size:
            raise IndexError(f"index {entry} is out of bounds for axis {axis} of size {size}")
        entry %= size
        bounds.append((entry, entry + 1, 1))
        gone.append(axis)
    return [b[0] for b in bounds], [b[1] for b in bounds], [b[2] for b in bounds], gone


def _is_places(entry: Any) -> bool:
    return entry is not None and entry is not Ellipsis and not isinstance(entry, (int, slice))


def get(x: array, key: Any) -> array:
    from ._array import _arrays, _ints, _one

    entries = _expanded(x, key)
    axes = [e for e in entries if e is not None]
    places = [axis for axis, e in enumerate(axes) if _is_places(e)]
    if any(axes[axis].dtype is dtypes.bool_ for axis in places):
        raise errors.UnsupportedError("x[mask]: the result's shape is not known before evaluation; use where")
    start, stop, step, gone = _bounds(axes, x.shape)
    result = _one("mlxrocm_array_slice", x, *_ints(start), *_ints(stop), *_ints(step)) if axes else x
    rank = 0
    if places:
        indices = [axes[axis] for axis in places]
        sizes = [1 if axis in places else size for axis, size in enumerate(result.shape)]
        result = _one("mlxrocm_array_gather", result, *_arrays(indices), *_ints(places), *_ints(sizes))
        # The axes of the places are the first ones now.
        rank = max(index.ndim for index in indices)
        gone = [rank + axis for axis in sorted(gone + places)]
    if gone:
        result = _one("mlxrocm_array_squeeze", result, *_ints(gone))
    # The axes of places stand where these are in the key, or first if something is between them.
    advanced = [i for i, e in enumerate(entries) if places and e is not None and not isinstance(e, slice)]
    together = advanced and advanced[-1] - advanced[0] == len(advanced) - 1
    before = sum(1 for e in entries[: advanced[0]] if e is not None) if together else 0
    if before and rank:
        order = [*range(rank, rank + before), *range(rank), *range(rank + before, result.ndim)]
        result = _one("mlxrocm_array_transpose", result, *_ints(order))
    fresh, place = [], 0 if together else rank
    for i, entry in enumerate(entries):
        if together and i == advanced[0]:
            place += rank
        if entry is None:
            fresh.append(place)
        if entry is None or isinstance(entry, slice):
            place += 1
    if fresh:
        result = _one("mlxrocm_array_expand_dims", result, *_ints(fresh))
    return _one("mlxrocm_array_reshape", x, *_ints(x.shape)) if result is x else result


def updated(x: array, key: Any, value: array, how: str = "") -> array:
    """x with a value, broadcast, in place of the elements of a key, or joined with them: `_add`, `_prod`, `_max`, `_min`."""
    from ._array import _ints, _one

    value = value.astype(x.dtype)
    entries = [_entry(entry) for entry in (key if isinstance(key, tuple) else (key,))]
    if any(_is_places(e) and e.dtype is dtypes.bool_ for e in entries):
        if len(entries) > 1 or how:
            raise errors.UnsupportedError("a mask is a key alone, x[mask] = value: where takes others")
        return _masked(x, entries[0], value)
    entries = _expanded(x, key)
    if any(e is None or _is_places(e) for e in entries):
        return _scattered(x, entries, value, how)
    start, stop, step, gone = _bounds(entries, x.shape)
    kept = [axis for axis in range(x.ndim) if axis not in gone]
    value = _of_rank(value, len(kept))
    # Axes of integers are not in the value's shape.
    if gone and value.ndim:
        first = kept[len(kept) - value.ndim]
        value = _one("mlxrocm_array_expand_dims", value, *_ints([axis - first for axis in gone if axis > first]))
    return _one(f"mlxrocm_array_slice_update{how}", x, value, *_ints(start), *_ints(stop), *_ints(step))


def _of_rank(value: array, rank: int) -> array:
    """A value without axes of size 1 in front of as many as its place has."""
    while value.ndim > rank and value.shape[0] == 1:
        value = value.reshape(value.shape[1:])
    if value.ndim > rank:
        raise errors.InvalidArgumentError(f"a value of shape {value.shape} does not fit a place of {rank} axes")
    return value


def _masked(x: array, mask: array, value: array) -> array:
    from . import _operations as _o

    if mask.shape != x.shape[: mask.ndim]:
        raise IndexError(f"a mask of shape {mask.shape} does not fit an array of shape {x.shape}")
    rest = x.ndim - mask.ndim
    if value.size == 1:
        value = value.reshape(())
    if value.ndim > rest:
        return _o.masked_scatter(x, mask, value)
    return _o.where(mask.reshape(*mask.shape, *[1] * rest), value, x)


def _scattered(x: array, entries: list[Any], value: array, how: str) -> array:
    from . import _operations as _o
    from ._array import _arrays, _ints, _one

    # A row is what the last axes hold, which are taken whole. The key takes some rows, by their numbers.
    while entries and isinstance(entries[-1], slice) and entries[-1] == _FULL:
        entries.pop()
    axes = sum(1 for e in entries if e is not None)
    shape, row = x.shape[:axes], x.shape[axes:]
    count = math.prod(shape)
    rows = get(_o.arange(0, count, 1, dtypes.int64).reshape(shape), tuple(entries))
    value = _o.broadcast_to(_of_rank(value, rows.ndim + len(row)), (*rows.shape, *row))
    updates = value.reshape(rows.size, 1, *row)
    flat = _one(f"mlxrocm_array_scatter{how}", x.reshape(count, *row), *_arrays([rows.reshape(-1)]), updates, *_ints(0))
    return flat.reshape(x.shape)


class ArrayAt:
    """x.at[key]: x with values joined with the elements of a key, all of them where a place comes twice."""

    def __init__(self, x: array, key: Any = ...):
        self._x, self._key = x, key

    def __getitem__(self, key: Any) -> ArrayAt:
        return ArrayAt(self._x, key)

    def _joined(self, value: ArrayLike, how: str) -> array:
        from ._array import _array

        return updated(self._x, self._key, _array(value, self._x), how)

    def add(self, value: ArrayLike) -> array:
        return self._joined(value, "_add")

    def subtract(self, value: ArrayLike) -> array:
        from ._array import _array

        return self._joined(-_array(value, self._x), "_add")

    def multiply(self, value: ArrayLike) -> array:
        return self._joined(value, "_prod")

    def divide(self, value: ArrayLike) -> array:
        from ._array import _array

        return self._joined(1 / _array(value, self._x), "_prod")

    def maximum(self, value: ArrayLike) -> array:
        return self._joined(value, "_max")

    def minimum(self, value: ArrayLike) -> array:
        return self._joined(value, "_min")
