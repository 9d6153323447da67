"""x[key]: integers, slices, None, Ellipsis and one array or list of places."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

from . import errors

if TYPE_CHECKING:
    from ._array import array


def _expanded(x: array, key: Any) -> list[Any]:
    """One entry an axis (integer, slice or places), and None for new axes."""
    entries = list(key) if isinstance(key, tuple) else [key]
    taken = builtins.sum(1 for e in entries if e is not None and e is not Ellipsis)
    dots = [i for i, e in enumerate(entries) if e is Ellipsis]
    rank = x.ndim
    if len(dots) > 1 or taken > rank:
        raise IndexError(f"too many indices: {taken} for an array of shape {x.shape}")
    rest: list[Any] = [slice(None)] * (rank - taken)
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
        place = entry.__index__()
        if not -size <= place < size:
            raise IndexError(f"index {place} is out of bounds for axis {axis} of size {size}")
        place %= size
        bounds.append((place, place + 1, 1))
        gone.append(axis)
    return [b[0] for b in bounds], [b[1] for b in bounds], [b[2] for b in bounds], gone


def _is_places(entry: Any) -> bool:
    if isinstance(entry, (list, tuple)):
        return True
    return hasattr(entry, "shape") and hasattr(entry, "dtype") and len(entry.shape) > 0


def get(x: array, key: Any) -> array:
    from ._array import _array, _ints, _one

    entries = _expanded(x, key)
    axes = [e for e in entries if e is not None]
    lists = [i for i, e in enumerate(axes) if _is_places(e)]
    if len(lists) > 1:
        raise errors.UnsupportedError("x[places, places]: one array of places at most; gather takes more")
    plain = [slice(None) if i in lists else e for i, e in enumerate(axes)]
    start, stop, step, gone = _bounds(plain, x.shape)
    result = _one("mlxrocm_array_slice", x, *_ints(start), *_ints(stop), *_ints(step)) if axes else x
    shift = 0
    if lists:
        places = _array(axes[lists[0]])
        if places.dtype.name == "bool_":
            raise errors.UnsupportedError("x[mask]: the result's shape is not known before evaluation; use where")
        result = _one("mlxrocm_array_take", result, places, lists[0])
        shift = places.ndim - 1
    if gone:
        # Axes behind the places have moved.
        moved = [axis + shift if lists and axis > lists[0] else axis for axis in gone]
        result = _one("mlxrocm_array_squeeze", result, *_ints(moved))
    fresh, place = [], 0
    for entry in entries:
        if entry is None:
            fresh.append(place)
        if entry is None or isinstance(entry, slice):
            place += 1
        elif _is_places(entry):
            place += shift + 1
    if fresh:
        result = _one("mlxrocm_array_expand_dims", result, *_ints(fresh))
    return _one("mlxrocm_array_reshape", x, *_ints(x.shape)) if result is x else result


def updated(x: array, key: Any, value: array) -> array:
    """x with the elements of a slice replaced by a value that is broadcast to them."""
    from ._array import _ints, _one

    entries = _expanded(x, key)
    if any(e is None or _is_places(e) for e in entries):
        raise errors.UnsupportedError("x[places] = value: integers and slices only; scatter and put_along_axis do that")
    start, stop, step, gone = _bounds(entries, x.shape)
    value = value.astype(x.dtype)
    # Axes of integers are not in the value's shape.
    if gone and value.ndim:
        kept = [axis for axis in range(x.ndim) if axis not in gone]
        value = _one("mlxrocm_array_expand_dims", value, *_ints(_missing(value.ndim, kept, gone)))
    return _one("mlxrocm_array_slice_update", x, value, *_ints(start), *_ints(stop), *_ints(step))


def _missing(rank: int, kept: list[int], gone: list[int]) -> list[int]:
    """Where, in the value's new shape, the axes of integers belong: those behind its first axis."""
    if rank > len(kept):
        raise errors.InvalidArgumentError(f"a value of {rank} axes does not fit {len(kept)}")
    first = kept[len(kept) - rank]
    return [axis - first for axis in gone if axis > first]
