"""Random numbers: mlxrocm.core.random, under MLX's names. The same key gives MLX's numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Union

from . import _operations as _o
from ._array import ArrayLike, _array, array
from ._operations import random_key as key, random_seed as seed
from .dtypes import Dtype, float32, int32

Shape = Union[int, Sequence[int]]


def split(key: array, num: int = 2) -> array:
    """New keys of a key: [num, 2]."""
    return _o.random_split(key, num)


def bits(shape: Shape = (), width: int = 4, key: array | None = None) -> array:
    """Random bits: unsigned integers of `width` bytes."""
    return _o.random_bits(shape, width, key)


def uniform(low: ArrayLike = 0, high: ArrayLike = 1, shape: Shape = (), dtype: Dtype = float32,
            key: array | None = None) -> array:  # fmt: skip
    """Numbers evenly spread from low up to, but not, high."""
    return _o.random_uniform(low, high, shape, dtype, key)


def normal(shape: Shape = (), dtype: Dtype = float32, loc: ArrayLike | None = None, scale: ArrayLike | None = None,
           key: array | None = None) -> array:  # fmt: skip
    """Normally distributed numbers."""
    return _o.random_normal(shape, dtype, loc, scale, key)


def multivariate_normal(mean: ArrayLike, cov: ArrayLike, shape: Shape = (), dtype: Dtype = float32,
                        key: array | None = None) -> array:  # fmt: skip
    """Normally distributed vectors."""
    return _o.random_multivariate_normal(mean, cov, shape, dtype, key)


def randint(low: ArrayLike, high: ArrayLike, shape: Shape = (), dtype: Dtype = int32, key: array | None = None) -> array:
    """Integers from low up to, but not, high."""
    return _o.random_randint(low, high, shape, dtype, key)


def bernoulli(p: ArrayLike = 0.5, shape: Shape | None = None, key: array | None = None) -> array:
    """Truth values, each true with probability p; without a shape p's."""
    chance = _array(p)
    return _o.random_bernoulli(chance, chance.shape if shape is None else shape, key)


def truncated_normal(lower: ArrayLike, upper: ArrayLike, shape: Shape | None = None, dtype: Dtype = float32,
                     key: array | None = None) -> array:  # fmt: skip
    """Normally distributed numbers between two bounds; without a shape that of the bounds."""
    sizes = _o.broadcast_arrays([lower, upper])[0].shape if shape is None else shape
    return _o.random_truncated_normal(lower, upper, sizes, dtype, key)


def gumbel(shape: Shape = (), dtype: Dtype = float32, key: array | None = None) -> array:
    """Numbers of the standard Gumbel distribution."""
    return _o.random_gumbel(shape, dtype, key)


def laplace(shape: Shape = (), dtype: Dtype = float32, loc: float = 0.0, scale: float = 1.0,
            key: array | None = None) -> array:  # fmt: skip
    """Laplace distributed numbers."""
    return _o.random_laplace(shape, dtype, loc, scale, key)


def categorical(logits: ArrayLike, axis: int = -1, shape: Shape | None = None, num_samples: int | None = None,
                key: array | None = None) -> array:  # fmt: skip
    """A place along an axis for each row, with the probability of the softmax of its logits."""
    if shape is not None and num_samples is not None:
        raise ValueError("categorical: shape or num_samples, not both")
    if shape is not None:
        return _o.random_categorical_shape(logits, shape, axis, key)
    if num_samples is not None:
        return _o.random_categorical_num_samples(logits, num_samples, axis, key)
    return _o.random_categorical(logits, axis, key)


def permutation(x: int | ArrayLike, axis: int = 0, key: array | None = None) -> array:
    """Slices along an axis in random order, or the numbers below a count."""
    if isinstance(x, int):
        return _o.random_permutation_arange(x, key)
    return _o.random_permutation(x, axis, key)
