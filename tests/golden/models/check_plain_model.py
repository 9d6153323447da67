"""Compares `plain_model.py` with mlx_lm's models (float32, weights dequantized), on every folder of small random
models and on the demo GGUF. Run by hand; needs `mlx[cpu]`, `mlx-lm`, `gguf`.

usage: check_plain_model.py RANDOM_MODELS_DIRECTORY DEMO.gguf
"""

import importlib
import os
import sys

import mlx.core as mx
import numpy as np

import plain_model
from make_random_references import TOKENS

mx.set_default_device(mx.cpu)


def mlx_logits(folder, m, ids):
    c = dict(plain_model.read_config(folder))
    family = {"mistral": "llama"}.get(c["model_type"], c["model_type"])
    module = importlib.import_module("mlx_lm.models." + family)
    if m.window:  # mlx_lm's llama knows windows by layer
        c["layer_types"] = ["sliding_attention"] * m.layers + ["full_attention"]
        c["num_hidden_layers"] += 1  # it wants a layer without a window; made to add nothing below
        extra = f"model.layers.{m.layers}."
        last = f"model.layers.{m.layers - 1}."
        m.weights |= {
            extra + k.removeprefix(last): v * (0 if k.endswith(("o_proj.weight", "down_proj.weight")) else 1)
            for k, v in m.weights.items()
            if k.startswith(last)
        }
    keys = module.ModelArgs.__dataclass_fields__
    model = module.Model(module.ModelArgs(**{k: v for k, v in c.items() if k in keys}))
    model.load_weights([(k, mx.array(v.astype(np.float32))) for k, v in m.weights.items()])
    return np.array(model(mx.array([ids]))[0])


def main():
    worst_of_all = 0.0
    for name in sorted(os.listdir(sys.argv[1])):
        path = os.path.join(sys.argv[1], name)
        if os.path.isdir(path):
            m = plain_model.read(path)
            worst = np.abs(mlx_logits(path, m, TOKENS) - plain_model.forward(m, TOKENS)).max()
            worst_of_all = max(worst, worst_of_all)
            print(f"{name}: within {worst:.2e} of mlx_lm")
            assert worst < 1e-3, name
    # Interleaved RoPE: the GGUF as it is against a reference made by mlx_lm from reordered rows.
    from json import load

    here = os.path.dirname(os.path.abspath(__file__))
    m = plain_model.read(sys.argv[2])
    prompts = load(open(os.path.join(here, "demo.prompts.json")))
    for name in ("raw_story", "french"):
        row = plain_model.forward(m, prompts[name]["ids"])[-1]
        worst = np.abs(row[prompts[name]["top_ids"]] - prompts[name]["top_logits"]).max()
        print(f"demo GGUF, {name}: within {worst:.2e} of mlx_lm")
        assert worst < 1e-3
    print(f"largest difference of the folders: {worst_of_all:.2e}")


if __name__ == "__main__":
    main()
