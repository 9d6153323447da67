"""Makes small models with gated delta nets of random weights, and has mlx-lm run them in float32 on the CPU. Needs
mlx-lm, "mlx[cpu]" and gguf.

usage: make.py

Writes beside itself, for the tokens of tests/delta/main.rs:
  next/       qwen3_next as mlx-lm keeps it: 4-bit, fused projections, experts with a shared one
  shared/     the same with more experts, and a shared one that is as wide as they are
  published/  qwen3_5 as its makers publish it: within a config of a model that sees, f16, norms less 1, other
              convolutions, layers that predict further tokens; no size is a multiple of 8
  next.gguf, dense.gguf, experts.gguf, recurrent.gguf
              qwen3next, qwen35, qwen35moe and qwen35 as llama.cpp's converter writes them, f16
and logits.safetensors: `[tokens, vocabulary]` f32 of each by name, with keys and values rounded to f16.
"""

import json
import os
import re

import gguf
import mlx.core as mx
import numpy as np
from mlx.utils import tree_flatten
from mlx_lm.models import qwen3_5, qwen3_5_moe, qwen3_next
from mlx_lm.models.cache import KVCache

HERE = os.path.dirname(os.path.abspath(__file__))
VOCABULARY = 96

COMMON = {
    "rms_norm_eps": 1e-6,
    "vocab_size": VOCABULARY,
    "max_position_embeddings": 512,
    "tie_word_embeddings": False,
    "attention_bias": False,
}
EXPERTS = {
    "num_experts": 8,
    "num_experts_per_tok": 3,
    "moe_intermediate_size": 32,
    "shared_expert_intermediate_size": 64,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
    "norm_topk_prob": True,
}
# Attention is the last of four blocks.
NEXT = COMMON | EXPERTS | {
    "model_type": "qwen3_next",
    "hidden_size": 64,
    "num_hidden_layers": 4,
    "intermediate_size": 128,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "rope_theta": 10000.0,
    "partial_rotary_factor": 0.25,
    "full_attention_interval": 4,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 6,
    "linear_key_head_dim": 32,
    "linear_value_head_dim": 64,
    "linear_conv_kernel_dim": 4,
}
# Every second block has attention, the last has not.
DENSE = COMMON | {
    "model_type": "qwen3_5_text",
    "hidden_size": 52,
    "num_hidden_layers": 5,
    "intermediate_size": 76,
    "num_attention_heads": 3,
    "num_key_value_heads": 1,
    "head_dim": 28,
    "full_attention_interval": 2,
    "layer_types": ["linear_attention", "full_attention"] * 2 + ["linear_attention"],
    "linear_num_key_heads": 3,
    "linear_num_value_heads": 6,
    "linear_key_head_dim": 20,
    "linear_value_head_dim": 12,
    "linear_conv_kernel_dim": 4,
    "tie_word_embeddings": True,
    "attn_output_gate": True,
    "mtp_num_hidden_layers": 1,
    "rope_parameters": {
        "rope_type": "default",
        "rope_theta": 100000.0,
        "partial_rotary_factor": 0.5,
        "mrope_section": [3, 2, 2],
        "mrope_interleaved": True,
    },
}
SHARED = NEXT | {"num_hidden_layers": 2, "full_attention_interval": 2, "num_experts": 16, "shared_expert_intermediate_size": 32}
RECURRENT = DENSE | {"num_hidden_layers": 4, "full_attention_interval": 3, "layer_types": None}
MOE = NEXT | {
    "model_type": "qwen3_5_moe_text",
    "num_hidden_layers": 2,
    "full_attention_interval": 2,
    "linear_value_head_dim": 24,
    "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.25},
}


def tokens():
    text = open(os.path.join(HERE, "../../delta/main.rs")).read()
    return [int(n) for n in re.search(r"const TOKENS: \[u32; \d+\] = \[([^\]]*)\]", text)[1].split(",") if n.strip()]


def make(config, without=None):
    """A model and its weights, random numbers of f16; zeros where names end so."""
    module = {"qwen3_next": qwen3_next, "qwen3_5_text": qwen3_5, "qwen3_5_moe_text": qwen3_5_moe}[config["model_type"]]
    model = module.Model(module.ModelArgs.from_dict(json.loads(json.dumps(config))))
    weights = {}
    for name, old in tree_flatten(model.parameters()):
        if name.endswith("A_log"):
            new = mx.log(mx.random.uniform(0.05, 8, old.shape))
        elif name.endswith("dt_bias"):
            new = mx.random.normal(old.shape) - 2
        elif name.endswith("norm.weight"):
            new = 1 + 0.2 * mx.random.normal(old.shape)
        elif "conv1d" in name:
            new = mx.random.normal(old.shape) / 2
        else:
            new = mx.random.normal(old.shape) * (1.5 / old.shape[-1] ** 0.5)
        if without and name.endswith(without):
            new = mx.zeros(old.shape)
        weights[name] = new.astype(mx.float16)
    return model, weights


def logits(model, weights):
    model.load_weights([(name, weight.astype(mx.float32)) for name, weight in weights.items()])
    exact = model(mx.array([tokens()]))[0]
    # What the rounding of a cache of f16 does is no mistake.
    cache = model.make_cache()
    for layer in cache:
        if isinstance(layer, KVCache):
            fetch = layer.update_and_fetch
            layer.update_and_fetch = lambda k, v, fetch=fetch: fetch(*(rounded(x) for x in (k, v)))
    result = model(mx.array([tokens()]), cache)[0]
    far = mx.abs(result - exact).max().item()
    print(result.shape, result.dtype, "std", result.std().item(), "rounding of the cache", far)
    return result


def rounded(x):
    return x.astype(mx.float16).astype(mx.float32)


def write(folder, config, tensors):
    folder = os.path.join(HERE, folder)
    os.makedirs(folder, exist_ok=True)
    mx.save_safetensors(os.path.join(folder, "model.safetensors"), tensors, {"format": "mlx"})
    with open(os.path.join(folder, "config.json"), "w") as out:
        json.dump(config, out, indent=1)
        out.write("\n")


def quantized(folder, config):
    """As mlx-lm keeps it: matrices of 4 bits, routers of 8."""
    model, weights = make(config)
    rules, tensors, plain = {"group_size": 32, "bits": 4}, {}, {}
    for name, weight in weights.items():
        path = name.removesuffix(".weight")
        if weight.ndim < 2 or "conv1d" in name:
            tensors[name] = weight
            plain[name] = weight
            continue
        bits = 8 if path.endswith("mlp.gate") or path.endswith("shared_expert_gate") else 4
        if bits == 8:
            rules[path] = {"group_size": 32, "bits": 8}
        codes, scales, biases = mx.quantize(weight, group_size=32, bits=bits)
        tensors |= {f"{path}.weight": codes, f"{path}.scales": scales, f"{path}.biases": biases}
        scales, biases = scales.astype(mx.float32), biases.astype(mx.float32)
        plain[name] = mx.dequantize(codes, scales, biases, group_size=32, bits=bits)
    write(folder, config | {"quantization": rules}, tensors)
    return logits(model, plain)


def published():
    model, weights = make(DENSE)
    result, tensors = {}, {}
    for name, weight in weights.items():
        if name.endswith("norm.weight") and "linear_attn" not in name:
            weight = weight - 1
            result[name] = weight.astype(mx.float32) + 1
        else:
            result[name] = weight
        if "conv1d" in name:
            weight = weight.moveaxis(1, 2)
        tensors[name.replace("language_model.model", "model.language_model")] = weight
    tensors["mtp.fc.weight"] = mx.random.normal([8, 8]).astype(mx.float16)
    tensors["model.visual.patch_embed.proj.weight"] = mx.random.normal([8, 8]).astype(mx.float16)
    config = {"model_type": "qwen3_5", "text_config": DENSE, "vision_config": {"depth": 1}}
    write("published", config | {"tie_word_embeddings": True}, tensors)
    return logits(model, result)


NAMES = {
    "post_attention_layernorm": "post_attention_norm",
    "input_layernorm": "attn_norm",
    "linear_attn.in_proj_qkv": "attn_qkv",
    "linear_attn.in_proj_z": "attn_gate",
    "linear_attn.in_proj_ba": "ssm_ba",
    "linear_attn.in_proj_b": "ssm_beta",
    "linear_attn.in_proj_a": "ssm_alpha",
    "linear_attn.conv1d": "ssm_conv1d",
    "linear_attn.norm": "ssm_norm",
    "linear_attn.out_proj": "ssm_out",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "mlp.gate": "ffn_gate_inp",
    "mlp.switch_mlp.gate_proj": "ffn_gate_exps",
    "mlp.switch_mlp.up_proj": "ffn_up_exps",
    "mlp.switch_mlp.down_proj": "ffn_down_exps",
    "mlp.shared_expert_gate": "ffn_gate_inp_shexp",
    "mlp.shared_expert.gate_proj": "ffn_gate_shexp",
    "mlp.shared_expert.up_proj": "ffn_up_shexp",
    "mlp.shared_expert.down_proj": "ffn_down_shexp",
}


def converted(name, arch, config, without=None):
    """What llama.cpp's converter makes: q, k, v apart from z; value heads of Qwen 3.5 in the order that a repeat of
    all key heads gives."""
    model, weights = make(config, without)
    file = gguf.GGUFWriter(os.path.join(HERE, name), arch)
    c = config
    hk, hv = c["linear_num_key_heads"], c["linear_num_value_heads"]
    dk, dv = c["linear_key_head_dim"], c["linear_value_head_dim"]
    rope = c.get("rope_parameters", c)
    further = 1 if arch == "qwen35" else 0
    file.add_block_count(c["num_hidden_layers"] + further)
    if further:
        file.add_uint32(f"{arch}.nextn_predict_layers", further)
        block = f"blk.{c['num_hidden_layers']}"
        file.add_tensor(f"{block}.nextn.eh_proj.weight", np.ones([8, 8], np.float16))
    file.add_context_length(c["max_position_embeddings"])
    file.add_embedding_length(c["hidden_size"])
    file.add_head_count(c["num_attention_heads"])
    file.add_head_count_kv(c["num_key_value_heads"])
    file.add_key_length(c["head_dim"])
    file.add_value_length(c["head_dim"])
    file.add_layer_norm_rms_eps(c["rms_norm_eps"])
    file.add_rope_freq_base(rope["rope_theta"])
    file.add_rope_dimension_count(int(c["head_dim"] * rope["partial_rotary_factor"]))
    if arch != "qwen3next":
        file.add_rope_dimension_sections([11, 11, 10, 0])
    file.add_uint32(f"{arch}.full_attention_interval", c["full_attention_interval"])
    file.add_ssm_conv_kernel(c["linear_conv_kernel_dim"])
    file.add_ssm_state_size(dk)
    file.add_ssm_group_count(hk)
    file.add_ssm_time_step_rank(hv)
    file.add_ssm_inner_size(hv * dv)
    if "num_experts" in c:
        file.add_expert_count(c["num_experts"])
        file.add_expert_used_count(c["num_experts_per_tok"])
        file.add_expert_feed_forward_length(c["moe_intermediate_size"])
        file.add_expert_shared_feed_forward_length(c["shared_expert_intermediate_size"])
    else:
        file.add_feed_forward_length(c["intermediate_size"])

    def tiled(x, axis, width):
        """Value heads of `width` rows each, from [key heads, heads of each] to the transpose of that."""
        if arch == "qwen3next":
            return x
        shape = x.shape[:axis] + (hk, hv // hk, width) + x.shape[axis + 1 :]
        return np.ascontiguousarray(np.swapaxes(x.reshape(shape), axis, axis + 1)).reshape(x.shape)

    def put(block, module, x):
        x = x.astype(np.float32 if x.ndim == 1 or "conv1d" in module or "norm" in module else np.float16)
        file.add_tensor(f"{block}.{module}", np.ascontiguousarray(x))

    tops = {"embed_tokens": "token_embd", "norm": "output_norm", "lm_head": "output"}
    for path, weight in weights.items():
        x = np.array(weight)
        path = path.removeprefix("language_model.").removeprefix("model.")
        if not path.startswith("layers."):
            x = x.astype(np.float32) if x.ndim == 1 else x
            file.add_tensor(tops[path.removesuffix(".weight")] + ".weight", x)
            continue
        _, layer, module = path.split(".", 2)
        block, module = f"blk.{layer}", module.removesuffix(".weight")
        kind = module.removeprefix("linear_attn.")
        if kind == "A_log":
            put(block, "ssm_a", tiled(-np.exp(x.astype(np.float32)), 0, 1))
        elif kind == "dt_bias":
            put(block, "ssm_dt.bias", tiled(x, 0, 1))
        elif kind == "in_proj_qkvz":
            heads = x.reshape(hk, -1, x.shape[-1])
            q, k, v, z = np.split(heads, [dk, 2 * dk, 2 * dk + hv // hk * dv], axis=1)
            flat = lambda part: part.reshape(-1, x.shape[-1])
            put(block, "attn_qkv.weight", np.concatenate([flat(q), flat(k), flat(v)]))
            put(block, "attn_gate.weight", flat(z))
        else:
            if kind in ("in_proj_qkv", "conv1d"):
                x = x.squeeze()
                x = np.concatenate([x[: 2 * hk * dk], tiled(x[2 * hk * dk :], 0, dv)])
            elif kind == "in_proj_z":
                x = tiled(x, 0, dv)
            elif kind in ("in_proj_a", "in_proj_b"):
                x = tiled(x, 0, 1)
            elif kind == "out_proj":
                x = tiled(x, 1, dv)
            put(block, f"{NAMES[module]}.weight", x)
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()
    return logits(model, weights)


def main():
    mx.set_default_device(mx.cpu)
    mx.random.seed(7)
    results = {
        "next": quantized("next", NEXT),
        "published": published(),
        "next.gguf": converted("next.gguf", "qwen3next", NEXT | {"num_hidden_layers": 2, "full_attention_interval": 2}),
        "dense.gguf": converted("dense.gguf", "qwen35", DENSE | {"num_hidden_layers": 3}),
        "experts.gguf": converted("experts.gguf", "qwen35moe", MOE),
        # Its attention adds nothing, so no cache's rounding does either.
        "recurrent.gguf": converted("recurrent.gguf", "qwen35", RECURRENT, without=".o_proj.weight"),
        "shared": quantized("shared", SHARED),
    }
    mx.save_safetensors(os.path.join(HERE, "logits.safetensors"), results)


main()
