"""What the references of tests/families.rs and tests/gpt_oss.rs share: numbers that follow from names, the text, and
a cache that keeps what the library's does."""

import mlx.core as mx
import numpy as np
from mlx_lm.models.cache import ArraysCache, CacheList, ChunkedKVCache, KVCache

TOKENS = 45


def uniform(name, count):
    """Numbers in [-1, 1) that follow from the name: splitmix64 from its FNV-1a."""
    seed = 0xCBF29CE484222325
    for byte in name.encode():
        seed = (seed ^ byte) * 0x100000001B3 % (1 << 64)
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(40)).astype(np.float32) / np.float32(1 << 23) - np.float32(1)


def tokens(vocabulary):
    return [(i * i * 7 + i * 13 + 5) % vocabulary for i in range(TOKENS)]


def half(x):
    return x.astype(mx.float16).astype(mx.float32)


class HalfCache(KVCache):
    def update_and_fetch(self, keys, values):
        return super().update_and_fetch(half(keys), half(values))


class HalfChunks(ChunkedKVCache):
    def update_and_fetch(self, keys, values):
        return super().update_and_fetch(half(keys), half(values))


class HalfLatent(KVCache):
    """Of keys and values that DeepSeek 2 makes of what the library keeps: of those only the columns that turn."""

    def __init__(self, turned):
        super().__init__()
        self.turned = turned

    def update_and_fetch(self, keys, values):
        still, turned = keys[..., : -self.turned], keys[..., -self.turned :]
        return super().update_and_fetch(mx.concatenate([still, half(turned)], axis=-1), values)


class HalfNorm:
    """The norm of the vector that they are made of."""

    def __init__(self, norm):
        self.norm = norm

    def __call__(self, x):
        return half(self.norm(x))


def half_caches(model):
    """A cache for each layer that has one, of its kind."""
    if model.model_type == "deepseek_v2":
        for layer in model.layers:
            attention = layer.self_attn
            if not isinstance(attention.kv_a_layernorm, HalfNorm):
                attention.kv_a_layernorm = HalfNorm(attention.kv_a_layernorm)
        return [HalfLatent(model.args.qk_rope_head_dim) for _ in model.layers]

    def of(cache):
        if isinstance(cache, CacheList):
            return CacheList(*(of(part) for part in cache.caches))
        if isinstance(cache, ArraysCache):
            return cache
        return HalfChunks(cache.chunk_size) if isinstance(cache, ChunkedKVCache) else HalfCache()

    made = model.make_cache() if hasattr(model, "make_cache") else [KVCache() for _ in model.layers]
    return [of(cache) for cache in made]
