"""Operations of transformers in one: mlxrocm.core.fast, under MLX's names."""

from __future__ import annotations

from . import _operations as _o
from ._array import ArrayLike, array
from ._kernel import ArrayKernel as ArrayKernel
from ._kernel import hip_kernel as hip_kernel


def rms_norm(x: ArrayLike, weight: ArrayLike | None, eps: float) -> array:
    """x · rsqrt(mean(x²) + eps) · weight over the last axis."""
    return _o.fast_rms_norm(x, weight, eps)


def layer_norm(x: ArrayLike, weight: ArrayLike | None, bias: ArrayLike | None, eps: float) -> array:
    """(x − mean) · rsqrt(variance + eps) · weight + bias over the last axis."""
    return _o.fast_layer_norm(x, weight, bias, eps)


def rope(a: ArrayLike, dims: int, *, traditional: bool, base: float | None, scale: float, offset: ArrayLike,
         freqs: array | None = None) -> array:  # fmt: skip
    """Rotary position embedding of [batch, …, tokens, dim]; either base or freqs."""
    if (base is None) == (freqs is None):
        raise ValueError("rope: one of base and freqs is needed, and not both")
    offset = offset if isinstance(offset, array) else array(offset)
    return _o.fast_rope(a, dims, traditional, float("nan") if base is None else base, scale, offset, freqs)


def scaled_dot_product_attention(q: ArrayLike, k: ArrayLike, v: ArrayLike, *, scale: float,
                                 mask: ArrayLike | str | None = None, sinks: array | None = None) -> array:  # fmt: skip
    """softmax(scale · q·kᵀ + mask) · v; the mask is "causal", truth values (seen or not) or numbers."""
    if isinstance(mask, str) and mask != "causal":
        raise ValueError(f'scaled_dot_product_attention: the mask is an array or "causal", not {mask!r}')
    causal = isinstance(mask, str)
    return _o.fast_scaled_dot_product_attention(q, k, v, scale, causal, None if causal else mask, sinks)
