"""Makes a small qwen3_moe folder of random 4-bit weights, and has mlx-lm run it in float32 on the CPU (weights
dequantized: 16-bit quantized products are inexact on x86). Needs mlx-lm and "mlx[cpu]".

usage: make.py

Writes config.json, model.safetensors and logits.safetensors (`[tokens, vocabulary]` f32 for the tokens of
tests/experts.rs) beside itself.
"""

import json
import os
import re

import mlx.core as mx
from mlx_lm.models import qwen3_moe

HERE = os.path.dirname(os.path.abspath(__file__))
HIDDEN, LAYERS, HEADS, KV_HEADS, DIM, EXPERTS, WIDTH, VOCABULARY = 64, 2, 4, 2, 32, 8, 96, 96
CONFIG = {
    "model_type": "qwen3_moe",
    "hidden_size": HIDDEN,
    "num_hidden_layers": LAYERS,
    "intermediate_size": 128,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KV_HEADS,
    "head_dim": DIM,
    "num_experts": EXPERTS,
    "num_experts_per_tok": 3,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
    "moe_intermediate_size": WIDTH,
    "rms_norm_eps": 1e-6,
    "vocab_size": VOCABULARY,
    "rope_theta": 10000.0,
    "tie_word_embeddings": False,
    "max_position_embeddings": 512,
    "norm_topk_prob": True,
}


def tokens():
    text = open(os.path.join(HERE, "../../experts.rs")).read()
    return [int(n) for n in re.search(r"const TOKENS: \[u32; \d+\] = \[([^\]]*)\]", text)[1].split(",") if n.strip()]


def main():
    mx.set_default_device(mx.cpu)
    mx.random.seed(5)
    file, plain = {}, {}

    def matrix(name, *shape):
        weights = (mx.random.normal(shape) * (1.5 / shape[-1] ** 0.5)).astype(mx.float16)
        codes, scales, biases = mx.quantize(weights, group_size=32, bits=4)
        file[f"{name}.weight"], file[f"{name}.scales"], file[f"{name}.biases"] = codes, scales, biases
        scales, biases = scales.astype(mx.float32), biases.astype(mx.float32)
        plain[f"{name}.weight"] = mx.dequantize(codes, scales, biases, group_size=32, bits=4)

    def norm(name, size):
        weights = (1 + mx.random.normal([size]) * 0.2).astype(mx.float16)
        file[f"{name}.weight"] = weights
        plain[f"{name}.weight"] = weights.astype(mx.float32)

    matrix("model.embed_tokens", VOCABULARY, HIDDEN)
    for layer in range(LAYERS):
        path = f"model.layers.{layer}"
        norm(f"{path}.input_layernorm", HIDDEN)
        norm(f"{path}.post_attention_layernorm", HIDDEN)
        norm(f"{path}.self_attn.q_norm", DIM)
        norm(f"{path}.self_attn.k_norm", DIM)
        matrix(f"{path}.self_attn.q_proj", HEADS * DIM, HIDDEN)
        matrix(f"{path}.self_attn.k_proj", KV_HEADS * DIM, HIDDEN)
        matrix(f"{path}.self_attn.v_proj", KV_HEADS * DIM, HIDDEN)
        matrix(f"{path}.self_attn.o_proj", HIDDEN, HEADS * DIM)
        matrix(f"{path}.mlp.gate", EXPERTS, HIDDEN)
        matrix(f"{path}.mlp.switch_mlp.gate_proj", EXPERTS, WIDTH, HIDDEN)
        matrix(f"{path}.mlp.switch_mlp.up_proj", EXPERTS, WIDTH, HIDDEN)
        matrix(f"{path}.mlp.switch_mlp.down_proj", EXPERTS, HIDDEN, WIDTH)
    norm("model.norm", HIDDEN)
    matrix("lm_head", VOCABULARY, HIDDEN)
    model = qwen3_moe.Model(qwen3_moe.ModelArgs.from_dict(CONFIG))
    model.load_weights(list(plain.items()))
    logits = model(mx.array([tokens()]))[0].astype(mx.float32)
    print(logits.shape, "std", logits.std().item())
    mx.save_safetensors(os.path.join(HERE, "model.safetensors"), file, {"format": "mlx"})
    mx.save_safetensors(os.path.join(HERE, "logits.safetensors"), {"logits": logits})
    config = CONFIG | {"quantization": {"group_size": 32, "bits": 4}}
    with open(os.path.join(HERE, "config.json"), "w") as out:
        json.dump(config, out, indent=1)
        out.write("\n")


main()
