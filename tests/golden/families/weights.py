"""What the references of tests/families.rs and tests/gpt_oss.rs share: numbers that follow from names, the text, and
a cache that keeps what the library's does."""

import mlx.core as mx
import numpy as np
from mlx_lm.models.cache import KVCache

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


class HalfCache(KVCache):
    def update_and_fetch(self, keys, values):
        half = lambda x: x.astype(mx.float16).astype(mx.float32)
        return super().update_and_fetch(half(keys), half(values))
