"""Has mlx-lm run the 4-bit weights of this folder in float32 on the CPU as a glm4_moe: the router of sigmoids, with a
correction and groups. Needs mlx-lm and "mlx[cpu]".

usage: routers.py

Writes glm4_moe.json beside itself: the config, the corrections of each layer, and every fourth row and third column of the
logits of the tokens of tests/gpu_experts/main.rs. Keys and values are rounded to float16, as the library keeps them.
"""

import json
import os
import sys

import mlx.core as mx
import numpy as np
from mlx_lm.models import glm4_moe

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "families"))
from weights import HalfCache  # noqa: E402

TOKENS = [(i * 37 + 11) % 96 for i in range(61)]


def main():
    mx.set_default_device(mx.cpu)
    old = json.load(open(os.path.join(HERE, "config.json")))
    config = {key: old[key] for key in old if key not in ("num_experts", "decoder_sparse_step", "mlp_only_layers")}
    config |= {
        "model_type": "glm4_moe",
        "n_routed_experts": old["num_experts"],
        "n_shared_experts": None,
        "n_group": 4,
        "topk_group": 2,
        "routed_scaling_factor": 1.6,
        "first_k_dense_replace": 0,
        "use_qk_norm": True,
        "attention_bias": False,
        "partial_rotary_factor": 0.5,
        "rope_scaling": None,
        "scoring_func": "sigmoid",
        "topk_method": "noaux_tc",
    }
    file = mx.load(os.path.join(HERE, "model.safetensors"))
    f32 = lambda name: file[name].astype(mx.float32)
    plain = {}
    for name in file:
        module = name.removesuffix(".weight")
        if name.endswith(".weight") and f"{module}.scales" in file:
            scales, biases = f32(f"{module}.scales"), f32(f"{module}.biases")
            plain[name] = mx.dequantize(file[name], scales, biases, group_size=32, bits=4)
        elif name.endswith(".weight"):
            plain[name] = f32(name)
    corrections = []
    for layer in range(old["num_hidden_layers"]):
        correction = [round(0.11 * ((expert * 3 + layer * 5) % 8 - 3.5), 4) for expert in range(old["num_experts"])]
        corrections.append(correction)
        plain[f"model.layers.{layer}.mlp.gate.e_score_correction_bias"] = mx.array(correction)
    model = glm4_moe.Model(glm4_moe.ModelArgs.from_dict(config))
    model.load_weights(list(plain.items()))
    rows = np.array(model(mx.array([TOKENS]), cache=[HalfCache() for _ in model.layers])[0].astype(mx.float32))
    print(rows.shape, "deviation", rows.std())
    logits = [round(float(x), 5) for x in rows[::4, ::3].flatten()]
    with open(os.path.join(HERE, "glm4_moe.json"), "w") as out:
        json.dump({"config": config, "corrections": corrections, "logits": logits}, out)
        out.write("\n")


main()
