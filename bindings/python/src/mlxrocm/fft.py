"""Fourier transforms: mlxrocm.core.fft, under MLX's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _operations as _o
from ._array import ArrayLike, array


def _transform(name: str) -> Any:
    function = getattr(_o, f"fft_{name}n")
    inverse, real = name.startswith("i"), "r" in name

    def one(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str = "backward") -> array:
        return _o.fft_normed(a, norm, inverse, real, None if n is None else [n], [axis])

    def two(a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: str = "backward") -> array:
        return _o.fft_normed(a, norm, inverse, real, s, axes)

    def many(a: ArrayLike, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str = "backward") -> array:
        return _o.fft_normed(a, norm, inverse, real, s, axes)

    for made, end, over in ((one, "", "one axis"), (two, "2", "two axes"), (many, "n", "axes (None: all)")):
        made.__name__ = name + end
        made.__doc__ = f"{function.__doc__} Over {over}; other sizes cut or pad with zeros; norm: backward, ortho, forward."
    return one, two, many


fft, fft2, fftn = _transform("fft")
ifft, ifft2, ifftn = _transform("ifft")
rfft, rfft2, rfftn = _transform("rfft")
irfft, irfft2, irfftn = _transform("irfft")


def fftshift(a: ArrayLike, axes: int | Sequence[int] | None = None) -> array:
    """Frequency 0 in the middle of axes (None: all)."""
    return _o.fft_fftshift(a, axes)


def ifftshift(a: ArrayLike, axes: int | Sequence[int] | None = None) -> array:
    """Undoes fftshift."""
    return _o.fft_ifftshift(a, axes)


fftfreq, rfftfreq = _o.fft_fftfreq, _o.fft_rfftfreq
