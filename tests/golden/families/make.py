"""Makes the references of tests/families.rs: logits and hidden states of mlx-lm in float32 on the CPU for small models of every
family, whose weights follow from the names of their tensors. Needs mlx-lm, "mlx[cpu]" and gguf.

usage: make.py [family...]

Writes FAMILY.json beside itself: for each variant its config, its tensors and some of each. Keys and values are
rounded to float16 on their way to the cache, as the library keeps them.
"""

import importlib
import json
import os
import sys

import mlx.core as mx
import numpy as np
from mlx.utils import tree_flatten

from gguf import MODEL_ARCH_NAMES, get_tensor_name_map

from more import MORE, MORE_GGUF, as_published, further_metadata
from variants import GGUF, VARIANTS, metadata
from weights import HalfCache, half_caches, tokens, uniform

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS, COLUMNS = 4, 3


def centre_and_spread(name, shape, offset, tied):
    """What a tensor's numbers lie around, and how far."""
    if name.endswith(("A_log", "dt_bias")):
        return -1.0, 1.0
    if name.endswith("layer_scalar"):
        return 0.8, 0.3
    if name.endswith(("correction_bias", "expert_bias")):
        return 0.0, 0.3
    if "conv" in name and name.endswith("weight"):
        return 0.0, 0.7
    if name.endswith("alpha_p") or name.endswith("alpha_n"):
        return 0.3, 0.2
    if name.endswith(".bias"):
        # Experts' reach the limits of their function.
        return 0.0, 9.0 if "experts.gate" in name or "experts.up" in name else 0.1
    if name.endswith(".sinks"):
        return 0.5, 2.0
    if len(shape) < 2:
        return 1.0 - offset, 0.25
    if "embed" in name and not tied:
        return 0.0, 1.5
    return 0.0, float(np.float32(1.7 / shape[-1] ** 0.5))


def make(family, name, config):
    module = importlib.import_module(f"mlx_lm.models.{config['model_type']}")
    model = module.Model(module.ModelArgs.from_dict(json.loads(json.dumps(config))))
    text, inner = config.get("text_config", config), getattr(model, "language_model", model)
    if text.get("tie_word_embeddings") and "lm_head" in inner:
        inner.pop("lm_head")
        inner.tie_word_embeddings = True
    tied = bool(text.get("tie_word_embeddings"))
    offset = 1.0 if family in ("gemma", "gemma2", "gemma3", "nemotron") else 0.0
    tensors, weights = {}, []
    for path, old in sorted(tree_flatten(model.parameters())):
        # Numbers that are no weights.
        if path.endswith((".beta", ".eps")):
            continue
        centre, spread = centre_and_spread(path, old.shape, offset, tied)
        count = int(np.prod(old.shape)) if old.shape else 1
        numbers = np.float32(centre) + np.float32(spread) * uniform(f"{path}", count)
        tensors[path] = [list(old.shape), centre, spread]
        weights.append((path, mx.array(numbers.astype(np.float32).reshape(old.shape))))
    model.load_weights(weights, strict=False)
    caches = lambda: half_caches(model) if family in MORE else [HalfCache() for _ in model.layers]
    vocabulary = text["vocab_size"]
    logits = model(mx.array([tokens(vocabulary)]), cache=caches())[0]
    some = np.array(logits.astype(mx.float32))
    print(f"{family} {name}: deviation {some.std():.3f}")
    kept = lambda rows: [round(float(x), 5) for x in rows[::ROWS, ::COLUMNS].flatten()]
    body = inner.model if "model" in inner else inner.backbone
    hidden = body(mx.array([tokens(vocabulary)]), cache=caches())[0]
    hidden = kept(np.array(hidden.astype(mx.float32)))
    made = {"config": config, "tensors": tensors, "logits": kept(some), "hidden": hidden}
    architecture, variants, permuted = (GGUF | MORE_GGUF).get(family, (None, [], False))
    if name in variants:
        arch = next(arch for arch, other in MODEL_ARCH_NAMES.items() if other == architecture)
        names = get_tensor_name_map(arch, config["num_hidden_layers"])
        published = {path: as_published(path) if family in MORE else path for path in tensors}
        names = {path: names.get_name(published[path], try_suffixes=(".weight", ".bias")) for path in tensors}
        assert all(names.values()), names
        # As the converter does.
        names = {path: name + ".weight" * name.endswith("_sinks") for path, name in names.items()}
        numbers = metadata(family, config)
        if family in MORE:
            numbers |= further_metadata(family, config)
            numbers = {key: number for key, number in numbers.items() if number is not None}
        made["gguf"] = {
            "architecture": architecture,
            "metadata": numbers,
            "names": names,
            "permuted": permuted,
            "offset": offset,
        }
    return made


def main():
    mx.set_default_device(mx.cpu)
    for family in sys.argv[1:] or VARIANTS | MORE:
        configs = (VARIANTS | MORE)[family]
        made = {name: make(family, name, config) for name, config in configs.items()}
        with open(os.path.join(HERE, f"{family}.json"), "w") as out:
            lines = []
            for name, one in made.items():
                parts = ",\n  ".join(f"{json.dumps(key)}: {json.dumps(part)}" for key, part in one.items())
                lines.append(f"{json.dumps(name)}: {{\n  {parts}\n }}")
            out.write("{\n " + ",\n ".join(lines) + "\n}\n")


main()
