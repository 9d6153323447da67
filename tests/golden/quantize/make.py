"""Makes the references of tests/quantize: what mlx_lm.convert of mlx-lm 0.32.2 on the CPU makes of small models as they
are published. Needs mlx-lm and "mlx[cpu]".

usage: make.py [model...]

Writes sums.json beside itself: for each model its config, the shapes of its tensors, whose numbers follow from their
names, and for each way to quantize it the config's "quantization" and the CRC-32 of every tensor.
"""

import contextlib
import importlib
import json
import os
import sys
import tempfile
import zlib
from pathlib import Path

import mlx.core as mx
import numpy as np
from mlx.utils import tree_flatten
from mlx_lm import convert as mlx_convert
from mlx_lm import utils

HERE = os.path.dirname(os.path.abspath(__file__))
convert = sys.modules["mlx_lm.convert"]

PLAIN = {
    "hidden_size": 128, "intermediate_size": 192, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 32, "vocab_size": 96, "max_position_embeddings": 256, "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0, "tie_word_embeddings": False,
}
EXPERTS = {
    "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 64, "norm_topk_prob": True,
    "decoder_sparse_step": 1, "mlp_only_layers": [],
}
DELTA = {
    "linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 32, "linear_value_head_dim": 32,
    "linear_conv_kernel_dim": 4, "full_attention_interval": 2, "partial_rotary_factor": 0.5,
}
SHARED = {"shared_expert_intermediate_size": 64}
USUAL = {"q4": {}}

# Name: config, type of the numbers, files, whether names lie under "model.language_model.", ways to quantize it.
MODELS = {
    "llama": (
        dict(PLAIN, model_type="llama", num_hidden_layers=9, torch_dtype="bfloat16", eos_token_id=2), "bfloat16", 2, "",
        {
            **{f"b{bits}": {"q_bits": bits, "q_group_size": group}
               for bits, group in [(2, 32), (3, 128), (4, 64), (5, 32), (6, 64), (8, 128)]},
            **{mode: {"q_mode": mode} for mode in ("mxfp4", "mxfp8", "nvfp4")},
            **{recipe: {"quant_predicate": recipe, "q_group_size": 64} for recipe in convert.QUANT_RECIPES},
            "half": {"dtype": "float16", "q_group_size": 32},
        },
    ),
    "tied": (dict(PLAIN, model_type="llama", tie_word_embeddings=True), "float16", 1, "", {"q4": {}, "b3": {"q_bits": 3}}),
    "single": (dict(PLAIN, model_type="llama"), "float32", 1, "", {"q4": {}, "mxfp4": {"q_mode": "mxfp4"}}),
    "qwen2": (dict(PLAIN, model_type="qwen2", torch_dtype="bfloat16"), "float32", 1, "", USUAL),
    "qwen3": (dict(PLAIN, model_type="qwen3", tie_word_embeddings=True), "bfloat16", 1, "", USUAL),
    "qwen3_moe": (
        dict(PLAIN, model_type="qwen3_moe", **EXPERTS), "bfloat16", 3, "",
        {"q4": {}, "mxfp4": {"q_mode": "mxfp4"}, "recipe": {"quant_predicate": "mixed_3_6", "q_group_size": 32}},
    ),
    "mixtral": (
        dict(PLAIN, model_type="mixtral", num_local_experts=4, num_experts_per_tok=2), "float16", 1, "", USUAL,
    ),
    "qwen3_next": (
        dict(PLAIN, model_type="qwen3_next", **EXPERTS, **DELTA, **SHARED, torch_dtype="bfloat16"), "bfloat16", 1, "",
        USUAL,
    ),
    "qwen3_5": (
        {"model_type": "qwen3_5", "tie_word_embeddings": True, "vision_config": {"depth": 1},
         "text_config": dict(PLAIN, model_type="qwen3_5_text", **DELTA, tie_word_embeddings=True, dtype="bfloat16")},
        "float32", 1, "model.language_model.", USUAL,
    ),
    "qwen3_5_moe": (
        {"model_type": "qwen3_5_moe",
         "text_config": dict(PLAIN, model_type="qwen3_5_moe_text", **EXPERTS, **DELTA, **SHARED)},
        "bfloat16", 1, "model.language_model.", USUAL,
    ),
    "granite": (
        dict(PLAIN, model_type="granite", embedding_multiplier=2.0, residual_multiplier=0.5, attention_multiplier=0.1,
             logits_scaling=4.0, attention_bias=False, mlp_bias=False), "bfloat16", 1, "", {"q4": {}, "nvfp4": {"q_mode": "nvfp4"}},
    ),
    "gemma3": (
        {"model_type": "gemma3", "vocab_size": 96, "text_config": dict(PLAIN, model_type="gemma3_text", query_pre_attn_scalar=32,
         sliding_window=16, sliding_window_pattern=2)}, "bfloat16", 1, "language_model.model.", USUAL,
    ),
    "mistral3": (
        {"model_type": "mistral3", "vocab_size": 96, "text_config": dict(PLAIN, model_type="mistral", rope_parameters=None)},
        "bfloat16", 1, "language_model.model.", USUAL,
    ),
    "phi3": (dict(PLAIN, model_type="phi3"), "bfloat16", 1, "", USUAL),
    "internlm2": (dict(PLAIN, model_type="internlm2", bias=False), "bfloat16", 1, "", USUAL),
    "starcoder2": (
        dict(PLAIN, model_type="starcoder2", norm_epsilon=1e-5, tie_word_embeddings=True), "bfloat16", 1, "", USUAL,
    ),
}


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


def published(name, path, shape, prefix, experts):
    """Names and shapes that a tensor of MLX's has where it comes from."""
    if prefix.startswith("model."):
        path = path.replace("language_model.model.", prefix).replace("language_model.lm_head", "lm_head")
    module, found, part = path.rpartition(".switch_mlp.")
    if found and name == "qwen3_5_moe":
        part = part.removesuffix(".weight")
        both = [shape[0], 2 * shape[1], shape[2]]
        return {"gate_proj": [(f"{module}.experts.gate_up_proj", both)], "up_proj": [],
                "down_proj": [(f"{module}.experts.down_proj", shape)]}[part]
    if found:
        if name == "mixtral":
            part = {"gate_proj": "w1", "down_proj": "w2", "up_proj": "w3"}[part.removesuffix(".weight")] + ".weight"
        return [(f"{module}.experts.{expert}.{part}", shape[1:]) for expert in range(experts)]
    if path.endswith("conv1d.weight"):
        return [(path, [shape[0], shape[2], shape[1]])]
    return [(path, shape)]


def tensors(name, config, prefix):
    """Names and shapes of all tensors of the source."""
    module = importlib.import_module(f"mlx_lm.models.{config['model_type']}")
    model = module.Model(module.ModelArgs.from_dict(json.loads(json.dumps(config))))
    all = []
    for path, old in tree_flatten(model.parameters()):
        # Numbers that are no weights.
        if path.endswith((".beta", ".eps")):
            continue
        all += published(name, path, list(old.shape), prefix, 4)
    # What is left out.
    if name == "llama":
        all += [(f"model.layers.{layer}.self_attn.rotary_emb.inv_freq", [16]) for layer in range(2)]
    if name == "internlm2":
        all.append(("model.layers.0.attention.rope.inv_freq", [16]))
    if name == "tied":
        all.append(("lm_head.weight", [96, 128]))
    if name in ("gemma3", "mistral3"):
        all += [("vision_tower.a.weight", [64, 64]), ("multi_modal_projector.b.weight", [64, 64])]
    if name.startswith("qwen3_5"):
        all += [("model.visual.a.weight", [64, 64]), ("mtp.layers.0.input_layernorm.weight", [128])]
    if name == "qwen3_next":
        all.append(("mtp.norm.weight", [128]))
    return dict(all)


def write(folder, shapes, config, dtype, files):
    made = {}
    for name, shape in shapes.items():
        numbers = uniform(name, int(np.prod(shape))).reshape(shape)
        made[name] = mx.array(numbers * np.float32(0.25)).astype(getattr(mx, dtype))
    names = sorted(made)
    each = -(-len(names) // files)
    for file in range(files):
        part = {name: made[name] for name in names[file * each:][:each]}
        title = "model" if files == 1 else f"model-{file + 1:05}-of-{files:05}"
        mx.save_safetensors(str(folder / f"{title}.safetensors"), part)
    (folder / "config.json").write_text(json.dumps(config))


def sums(folder):
    all = {}
    for file in sorted(folder.glob("*.safetensors")):
        for name, tensor in mx.load(str(file)).items():
            bytes = np.array(tensor.view(mx.uint8)).tobytes()
            all[name] = [str(tensor.dtype).removeprefix("mlx.core."), list(tensor.shape), zlib.crc32(bytes)]
    return dict(sorted(all.items()))


# Neither reads a tokenizer.
def load(path, **_):
    model, config = utils.load_model(Path(path), lazy=True)
    return model, None, config


def save(target, source, model, tokenizer, config):
    utils.save_model(target, model)
    utils.save_config(config, config_path=Path(target) / "config.json")


def make(name):
    config, dtype, files, prefix, ways = MODELS[name]
    shapes = tensors(name, config, prefix)
    made = {"config": config, "dtype": dtype, "files": files, "tensors": shapes, "ways": {}}
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "source"
        source.mkdir()
        write(source, shapes, config, dtype, files)
        for way, options in ways.items():
            target = Path(scratch) / way
            with contextlib.redirect_stdout(sys.stderr):
                mlx_convert(str(source), str(target), quantize=True, **options)
            written = json.loads((target / "config.json").read_text())
            rest = {key: value for key, value in written.items() if not key.startswith("quantization")}
            made["ways"][way] = {
                "options": options, "quantization": written["quantization"], "config": rest, "tensors": sums(target),
            }
            assert written["quantization_config"] == written["quantization"]
    return made


def main():
    mx.set_default_device(mx.cpu)
    convert.load, convert.save = load, save
    path = os.path.join(HERE, "sums.json")
    all = json.load(open(path)) if sys.argv[1:] else {}
    for name in sys.argv[1:] or MODELS:
        all[name] = make(name)
        print(name)
    with open(path, "w") as out:
        lines = [f"{json.dumps(name)}: {json.dumps(one)}" for name, one in sorted(all.items())]
        out.write("{\n" + ",\n".join(lines) + "\n}\n")


main()
