"""Makes the reference of tests/gpt_oss.rs: logits of mlx-lm in float32 on the CPU for a small gpt-oss whose weights
follow from the names of their tensors: experts and o_proj are mxfp4, the router has codes of 8 bits. Needs mlx-lm
and "mlx[cpu]".

Writes logits.json beside itself: the config and some of the logits. Keys and values are rounded to float16 on their way
to the cache, as the library keeps them. mlx-lm does not look at `truncate`: the logits that it gives are those of GGUF
files, which have no such key. For folders it is given the frequencies that OpenAI's own program has: the ends of the
ramp are no whole pairs.
"""

import json
import math
import os
import sys

import mlx.core as mx
import numpy as np
from mlx.utils import tree_flatten
from mlx_lm.models import gpt_oss

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "families"))
from weights import HalfCache, tokens, uniform  # noqa: E402

CONFIG = {
    "model_type": "gpt_oss",
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "intermediate_size": 96,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "num_local_experts": 5,
    "num_experts_per_tok": 2,
    "experts_per_token": 2,
    "rms_norm_eps": 1e-5,
    "vocab_size": 61,
    "sliding_window": 8,
    "layer_types": ["sliding_attention", "full_attention"],
    "max_position_embeddings": 512,
    "initial_context_length": 16,
    "rope_theta": 150000.0,
    "rope_scaling": {
        "rope_type": "yarn",
        "factor": 4.0,
        "original_max_position_embeddings": 16,
        "beta_fast": 4.0,
        "beta_slow": 0.25,
        "truncate": False,
    },
    "tie_word_embeddings": False,
    "attention_bias": True,
    "hidden_act": "silu",
    "swiglu_alpha": 1.702,
    "swiglu_limit": 7.0,
}


def frequencies():
    """Wavelengths / 2π of the pairs."""
    scaling, dims, base = CONFIG["rope_scaling"], CONFIG["head_dim"], CONFIG["rope_theta"]
    original, factor = scaling["original_max_position_embeddings"], scaling["factor"]
    pair = lambda turns: dims / 2 * math.log(original / (turns * 2 * math.pi)) / math.log(base)
    low, high = pair(scaling["beta_fast"]), pair(scaling["beta_slow"])
    low, high = max(low, 0), min(high, dims - 1)
    plain = base ** (np.arange(0, dims, 2) / dims)
    ramp = np.clip((np.arange(dims // 2) - low) / (high - low), 0, 1)
    assert ((ramp > 0) & (ramp < 1)).sum() >= 2, ramp
    return 1 / ((1 - ramp) / plain + ramp / (factor * plain))


def codes(name, count):
    """Bytes that follow from the name."""
    return ((uniform(name, count) + 1) * 128).astype(np.uint8)


def mxfp4(path, shape):
    """Packed codes and scales by name, as numbers."""
    *rows, cols = shape
    data = codes(f"{path}.codes", int(np.prod(rows)) * cols // 2).view(np.uint32).reshape(*rows, cols // 8)
    scales = 121 + codes(f"{path}.scales", int(np.prod(rows)) * cols // 32) % 3
    scales = mx.array(scales.reshape(*rows, cols // 32))
    weight = mx.dequantize(mx.array(data), scales, group_size=32, bits=4, mode="mxfp4", dtype=mx.float32)
    assert weight.dtype == mx.float32
    return weight


def number(path, shape):
    count = int(np.prod(shape))
    module = path.removesuffix(".weight")
    if path.endswith(".weight") and ("experts." in path or "o_proj" in path):
        return mxfp4(module, shape)
    if path.endswith("router.weight"):
        return mx.array(codes(f"{module}.codes", count).reshape(shape).astype(np.float32) / 512 - 0.25)
    centre, spread = 0.0, 1.7 / shape[-1] ** 0.5
    if path.endswith(".bias"):
        # Those of gate and up reach the limits of their function.
        spread = 9.0 if "gate" in path or "up" in path else 0.1
    elif path.endswith(".sinks"):
        centre, spread = 0.5, 2.0
    elif len(shape) == 1:
        centre, spread = 1.0, 0.25
    elif "embed" in path:
        spread = 1.5
    numbers = np.float32(centre) + np.float32(spread) * uniform(path, count)
    return mx.array(numbers.astype(np.float32).reshape(shape))


def logits(model):
    rows = model(mx.array([tokens(CONFIG["vocab_size"])]), cache=[HalfCache() for _ in model.layers])[0]
    rows = np.array(rows)
    print(f"deviation {rows.std():.3f}")
    return [round(float(x), 5) for x in rows[::4, ::3].flatten()]


def main():
    mx.set_default_device(mx.cpu)
    model = gpt_oss.Model(gpt_oss.ModelArgs.from_dict(CONFIG))
    weights = [(path, number(path, old.shape)) for path, old in tree_flatten(model.parameters())]
    model.load_weights(weights)
    made = {"config": CONFIG, "truncated": logits(model)}
    for layer in model.layers:
        layer.self_attn.rope._freqs = mx.array(frequencies().astype(np.float32))
    made["logits"] = logits(model)
    far = np.abs(np.array(made["logits"]) - made["truncated"]).max()
    print(f"apart by {far:.3f}")
    with open(os.path.join(HERE, "logits.json"), "w") as out:
        json.dump(made, out)
        out.write("\n")


main()
