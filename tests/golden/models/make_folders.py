"""Makes MLX model folders from the demo GGUF (SmolLM2-135M-Instruct, Q4_1): test inputs that are too large to
commit. Needs numpy and the PyPI package `gguf`; no MLX. The output depends on the GGUF only, byte for byte.

usage: make_folders.py DEMO.gguf OUTPUT_DIRECTORY [NAME …]

  g64-4bit   what `mlx_lm convert -q --q-bits 4 --q-group-size 64` makes of the model in float16
  g32-8bit   8 bits, groups of 32, float16
  mixed      2, 3, 4, 5, 6 and 8 bits, groups of 32, 64 and 128, one module left out, overrides of every form
             (dict, dict with one key, true, false), bfloat16, two shards
  gguf-g32   the GGUF's own numbers without a change: Q4_1 as 4 bits and Q8_0 as 8 bits, groups of 32

A folder that is there already and was made by these scripts from this file is left as it is.
"""

import hashlib
import json
import os
import shutil
import sys

import numpy as np
from gguf import GGUFReader
from gguf.quants import dequantize as gguf_dequantize

import mlx_format as mf

DEMO_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
NAMES = ["g64-4bit", "g32-8bit", "mixed", "gguf-g32"]


class Demo:
    """The demo file's tensors under Hugging Face names and in Hugging Face row order."""

    def __init__(self, path):
        self.reader = GGUFReader(path)
        self.meta = {name: field.contents() for name, field in self.reader.fields.items()}
        self.tensors = {}
        for t in self.reader.tensors:
            self.tensors[self.hf_name(t.name)] = t
        self.heads = self.meta["llama.attention.head_count"]
        self.kv_heads = self.meta["llama.attention.head_count_kv"]

    @staticmethod
    def hf_name(name):
        parts = {
            "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
            "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
            "ffn_down": "mlp.down_proj", "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
        }  # fmt: skip
        if name == "token_embd.weight":
            return "model.embed_tokens"
        if name == "output_norm.weight":
            return "model.norm"
        _, layer, part, _ = name.split(".")
        return f"model.layers.{layer}.{parts[part]}"

    def order(self, module, rows):
        """GGUF keeps the rows of q and k so that RoPE pairs are neighbours; Hugging Face keeps the halves of a
        head apart. Takes rows (a numpy array, first axis = rows) from the former order to the latter."""
        heads = {"q_proj": self.heads, "k_proj": self.kv_heads}.get(module.rsplit(".", 1)[-1])
        if heads is None:
            return rows
        half = rows.shape[0] // heads // 2
        return rows.reshape(heads, half, 2, -1).swapaxes(1, 2).reshape(rows.shape)

    def f32(self, module):
        """The module's weight in float32, exact."""
        t = self.tensors[module]
        values = gguf_dequantize(t.data, t.tensor_type)
        values = np.asarray(values, np.float32).reshape([int(n) for n in reversed(t.shape)])
        return self.order(module, values)

    def affine(self, module):
        """A Q4_1 or Q8_0 weight as affine groups of 32: (packed, scales, biases, bits); values unchanged."""
        t = self.tensors[module]
        cols, rows = (int(n) for n in t.shape)
        kind = t.tensor_type.name
        if kind == "Q4_1":  # d, m in float16, then 16 bytes: low nibbles are elements 0-15, high ones 16-31
            blocks = t.data.reshape(rows, cols // 32, 20)
            scales, biases = blocks[..., 0:2], blocks[..., 2:4]
            q = np.concatenate([blocks[..., 4:] & 15, blocks[..., 4:] >> 4], axis=-1)
            bits = 4
        elif kind == "Q8_0":  # d in float16, then 32 signed bytes; q = byte + 128, bias = -128·d
            blocks = t.data.reshape(rows, cols // 32, 34)
            scales = blocks[..., 0:2]
            biases = np.ascontiguousarray(scales).view(np.float16) * np.float16(-128)
            q = blocks[..., 2:] ^ 0x80
            bits = 8
        else:
            raise ValueError(f"{t.name}: {kind} was not expected")
        scales = np.ascontiguousarray(scales).view(np.float16).reshape(rows, -1)
        biases = np.ascontiguousarray(biases).view(np.float16).reshape(rows, -1)
        packed = mf.pack(self.order(module, q.reshape(rows, cols)), bits)
        return (
            mf.Tensor(packed, "uint32"),
            mf.Tensor(self.order(module, scales), "float16"),
            mf.Tensor(self.order(module, biases), "float16"),
            bits,
        )


def mixed_quantization(layers):
    """The `quantization` entry of the mixed folder; also what each module gets."""
    q = {"group_size": 64, "bits": 4, "mode": "affine", "model.embed_tokens": {"group_size": 64, "bits": 8}}
    for l in range(layers):
        p = f"model.layers.{l}."
        q[p + "self_attn.v_proj"] = {"group_size": 64, "bits": 6}
        if l % 5 == 1:
            q[p + "self_attn.q_proj"] = {"group_size": 32, "bits": 3, "mode": "affine"}
        if l % 3 == 0:
            q[p + "mlp.down_proj"] = {"group_size": 128, "bits": 5}
        if l % 4 == 2:
            q[p + "mlp.gate_proj"] = {"group_size": 32, "bits": 6}
    q["model.layers.0.self_attn.o_proj"] = False
    q["model.layers.3.mlp.up_proj"] = True
    q["model.layers.4.mlp.up_proj"] = {"bits": 8}
    q[f"model.layers.{layers - 2}.self_attn.k_proj"] = {"group_size": 64, "bits": 2}
    return q


def module_quantization(quantization, module):
    """(group, bits) of a module, None where it is left out."""
    entry = quantization.get(module, True)
    if entry is False:
        return None
    if entry is True:
        return quantization["group_size"], quantization["bits"]
    return entry.get("group_size", 64), entry.get("bits", 4)


def quantization_of(name, layers):
    return {
        "g64-4bit": {"group_size": 64, "bits": 4, "mode": "affine"},
        "g32-8bit": {"group_size": 32, "bits": 8, "mode": "affine"},
        "mixed": mixed_quantization(layers),
        "gguf-g32": {"group_size": 32, "bits": 4, "model.embed_tokens": {"group_size": 32, "bits": 8}},
    }[name]


def folder_tensors(demo, name, quantization):
    """All tensors of a folder, in file order."""
    dtype = "bfloat16" if name == "mixed" else "float16"
    out = {}
    for module in demo.tensors:
        if "norm" in module:
            out[module + ".weight"] = mf.cast(demo.f32(module), dtype)
            continue
        if name == "gguf-g32":
            parts = demo.affine(module)[:3]
        else:
            how = module_quantization(quantization, module)
            # Through float16 first: the folders stand for a model published in 16 bits.
            weight = mf.cast(demo.f32(module), dtype)
            if how is None:
                out[module + ".weight"] = weight
                continue
            parts = mf.quantize(weight, *how)
        for suffix, part in zip(("weight", "scales", "biases"), parts):
            out[f"{module}.{suffix}"] = part
    return out


def tokenizer_json(meta):
    tokens, kinds = meta["tokenizer.ggml.tokens"], meta["tokenizer.ggml.token_type"]
    added = [
        {"id": i, "content": t, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
         "special": True}
        for i, (t, kind) in enumerate(zip(tokens, kinds)) if kind == 3
    ]  # fmt: skip
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [{"type": "Digits", "individual_digits": True}, byte_level],
        },
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {t: i for i, t in enumerate(tokens)},
            "merges": [m.split(" ") for m in meta["tokenizer.ggml.merges"]],
        },
    }


def write_json(path, value):
    with open(path, "w", encoding="utf-8", newline="\n") as out:
        json.dump(value, out, ensure_ascii=False, indent=2)
        out.write("\n")


def write_folder(demo, name, folder, stamp):
    meta = demo.meta
    layers = meta["llama.block_count"]
    tokens = meta["tokenizer.ggml.tokens"]
    bos, eos = meta["tokenizer.ggml.bos_token_id"], meta["tokenizer.ggml.eos_token_id"]
    quantization = quantization_of(name, layers)
    hidden, heads = meta["llama.embedding_length"], meta["llama.attention.head_count"]
    config = {
        "architectures": ["LlamaForCausalLM"],
        "attention_bias": False,
        "bos_token_id": bos,
        "eos_token_id": eos,
        "head_dim": hidden // heads,
        "hidden_act": "silu",
        "hidden_size": hidden,
        "intermediate_size": meta["llama.feed_forward_length"],
        "max_position_embeddings": meta["llama.context_length"],
        "mlp_bias": False,
        "model_type": "llama",
        "num_attention_heads": heads,
        "num_hidden_layers": layers,
        "num_key_value_heads": meta["llama.attention.head_count_kv"],
        "quantization": quantization,
        "quantization_config": quantization,
        # float32 in the file; 1e-05 as the model's authors wrote it
        "rms_norm_eps": float(f"{meta['llama.attention.layer_norm_rms_epsilon']:.6g}"),
        "rope_scaling": None,
        "rope_theta": float(meta["llama.rope.freq_base"]),
        "tie_word_embeddings": True,
        "torch_dtype": "bfloat16" if name == "mixed" else "float16",
        "vocab_size": len(tokens),
    }
    partial = folder + ".partial"
    shutil.rmtree(partial, ignore_errors=True)
    os.makedirs(partial)
    tensors = folder_tensors(demo, name, quantization)
    total = sum(t.data.nbytes for t in tensors.values())
    if name == "mixed":  # two shards, cut anywhere: a module's parts may lie in different files
        files, so_far, index = [{}, {}], 0, {}
        for key, t in tensors.items():
            shard = 0 if so_far < total // 2 else 1
            files[shard][key] = t
            index[key] = f"model-{shard + 1:05}-of-00002.safetensors"
            so_far += t.data.nbytes
        for shard, part in enumerate(files):
            mf.write_safetensors(os.path.join(partial, f"model-{shard + 1:05}-of-00002.safetensors"), part)
        write_json(
            os.path.join(partial, "model.safetensors.index.json"),
            {"metadata": {"total_size": total}, "weight_map": dict(sorted(index.items()))},
        )
    else:
        mf.write_safetensors(os.path.join(partial, "model.safetensors"), tensors)
    write_json(os.path.join(partial, "config.json"), config)
    write_json(os.path.join(partial, "generation_config.json"), {"bos_token_id": bos, "eos_token_id": [eos]})
    write_json(os.path.join(partial, "tokenizer.json"), tokenizer_json(meta))
    template = meta["tokenizer.chat_template"]
    tokenizer_config = {
        "add_prefix_space": False,
        "bos_token": tokens[bos],
        "clean_up_tokenization_spaces": False,
        "eos_token": tokens[eos],
        "model_max_length": meta["llama.context_length"],
        "pad_token": tokens[meta["tokenizer.ggml.padding_token_id"]],
        "tokenizer_class": "GPT2Tokenizer",
        "unk_token": tokens[meta["tokenizer.ggml.unknown_token_id"]],
    }
    if name == "mixed":  # the template may stand in a file of its own
        with open(os.path.join(partial, "chat_template.jinja"), "w", encoding="utf-8", newline="\n") as out:
            out.write(template)
    else:
        tokenizer_config["chat_template"] = template
    write_json(os.path.join(partial, "tokenizer_config.json"), tokenizer_config)
    with open(os.path.join(partial, "MADE_FROM"), "w") as out:
        out.write(stamp)
    shutil.rmtree(folder, ignore_errors=True)
    os.rename(partial, folder)


def sha256_of(paths):
    digest = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            for block in iter(lambda: file.read(1 << 20), b""):
                digest.update(block)
    return digest.hexdigest()


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    source, output, names = sys.argv[1], sys.argv[2], sys.argv[3:] or NAMES
    unknown = sorted(set(names) - set(NAMES))
    if unknown:
        sys.exit(f"no such folder: {', '.join(unknown)}; known: {', '.join(NAMES)}")
    found = sha256_of([source])
    if found != DEMO_SHA256:
        sys.exit(f"{source} is not the demo model: sha256 {found}, expected {DEMO_SHA256}")
    stamp = sha256_of([os.path.abspath(__file__), mf.__file__]) + "\n"
    demo = None
    for name in names:
        folder = os.path.join(output, name)
        try:
            with open(os.path.join(folder, "MADE_FROM")) as file:
                if file.read() == stamp:
                    print(f"{name}: there already")
                    continue
        except OSError:
            pass
        demo = demo or Demo(source)
        os.makedirs(output, exist_ok=True)
        write_folder(demo, name, folder, stamp)
        print(f"{name}: made")


if __name__ == "__main__":
    main()
