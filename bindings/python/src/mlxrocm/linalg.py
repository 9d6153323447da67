"""Linear algebra: mlxrocm.core.linalg, under MLX's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _operations as _o
from ._array import ArrayLike, array
from ._operations import (
    linalg_cross as cross, linalg_det as det, linalg_eig as eig, linalg_eigvals as eigvals, linalg_inv as inv,
    linalg_lu as lu, linalg_lu_factor as lu_factor, linalg_pinv as pinv, linalg_qr as qr,
    linalg_slogdet as slogdet, linalg_solve as solve,
)  # fmt: skip


def _upper(UPLO: str) -> bool:
    if UPLO not in ("L", "U"):
        raise ValueError(f'UPLO is "L" or "U", not {UPLO!r}')
    return UPLO == "U"


def svd(a: ArrayLike, compute_uv: bool = True) -> Any:
    """U, the singular values (the largest first) and Vᴴ; or the singular values alone."""
    return _o.linalg_svd(a) if compute_uv else _o.linalg_svd_values(a)


def eigh(a: ArrayLike, UPLO: str = "L") -> tuple[array, array]:
    """Eigenvalues (ascending) and eigenvectors (columns) of Hermitian matrices."""
    return _o.linalg_eigh(a, _upper(UPLO))


def eigvalsh(a: ArrayLike, UPLO: str = "L") -> array:
    """Eigenvalues of Hermitian matrices, ascending."""
    return _o.linalg_eigvalsh(a, _upper(UPLO))


def cholesky(a: ArrayLike, upper: bool = False) -> array:
    """L of L·Lᵀ. What is not positive definite fails when it is evaluated."""
    return _o.linalg_cholesky(a, upper)


def cholesky_inv(a: ArrayLike, upper: bool = False) -> array:
    """The inverse of the matrix whose factor this is."""
    return _o.linalg_cholesky_inv(a, upper)


def tri_inv(a: ArrayLike, upper: bool = False) -> array:
    """The inverse of triangular matrices."""
    return _o.linalg_tri_inv(a, upper)


def solve_triangular(a: ArrayLike, b: ArrayLike, *, upper: bool = False) -> array:
    """x of a·x = b with a triangular a."""
    return _o.linalg_solve_triangular(a, b, upper)


def norm(a: ArrayLike, ord: float | str | None = None, axis: int | Sequence[int] | None = None,
         keepdims: bool = False) -> array:  # fmt: skip
    """Norm of vectors (one axis) or matrices (two); without `ord` the root of the sum of squares."""
    if ord is None:
        return _o.linalg_norm_l2(a, axis, keepdims)
    if isinstance(ord, str):
        return _o.linalg_norm_matrix(a, ord, axis, keepdims)
    return _o.linalg_norm(a, float(ord), axis, keepdims)


__all__ = [
    "cholesky", "cholesky_inv", "cross", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lu", "lu_factor",
    "norm", "pinv", "qr", "slogdet", "solve", "solve_triangular", "svd", "tri_inv",
]  # fmt: skip
