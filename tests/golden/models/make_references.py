"""Makes the committed references of the demo model and its folders with MLX's CPU build: all weights dequantized
to float32 (`mlx_format.py`, `gguf`), float32 arithmetic, float32 KV cache, mlx_lm's llama. Run by hand; needs
`mlx[cpu]`, `mlx-lm`, `gguf`. With OpenBLAS in LD_PRELOAD it takes a few minutes.

usage: make_references.py DEMO.gguf FOLDERS_DIRECTORY [ORACLE.json]

Writes next to itself, for NAME in demo, g64-4bit, g32-8bit, mixed (gguf-g32 holds the numbers of demo, so the
references of demo are its references too):

  NAME.prompts.json   for each prompt of prompts.json: its ids, the logits that follow the prompt (the 64 largest
                      and those of every 128th token), 64 greedy tokens and at each its
                      log-probability and the margin: the largest logit minus the second
  NAME.text.bin       for each token of text.txt (demo: all; folders: the first 512), all in one context:
                      what the model expects next
  text.json           the ids of text.txt, and the perplexities

NAME.text.bin, little-endian: 8 bytes "MLXRREF1", u32 positions n, u32 k = 64, u32 vocabulary, u32 zero; then n
records, one for each position i: f32 log Σ exp(logit); f32 log-probability of token i+1 (0 for the last); k
token ids u16, by falling logit; their k logits f32.

With ORACLE.json (an earlier, separately made reference of two prompts) the results are compared with it.
"""

import json
import os
import struct
import sys

import mlx.core as mx
import numpy as np
from mlx_lm.models import llama
from mlx_lm.models.cache import make_prompt_cache
from tokenizers import Tokenizer

import make_folders as mk
import mlx_format as mf
from check_mlx import read_folder

mx.set_default_device(mx.cpu)
HERE = os.path.dirname(os.path.abspath(__file__))
TOP, GREEDY, STRIDE, FOLDER_TOKENS = 64, 64, 128, 512


def weights_f32(demo, folder, quantization):
    """{module: float32 weight}."""
    if folder is None:
        return {module: demo.f32(module) for module in demo.tensors}
    tensors = read_folder(folder)
    out = {}
    for module in demo.tensors:
        if module + ".scales" in tensors:
            how = mk.module_quantization(quantization, module)
            out[module] = mf.dequantize(*(tensors[f"{module}.{s}"] for s in ("weight", "scales", "biases")), *how)
        else:
            out[module] = tensors[module + ".weight"].f32()
    return out


def build(config, weights):
    keys = llama.ModelArgs.__dataclass_fields__
    model = llama.Model(llama.ModelArgs(**{k: v for k, v in config.items() if k in keys}))
    model.load_weights([(module + ".weight", mx.array(w)) for module, w in weights.items()])
    mx.eval(model.parameters())
    return model


def run(model, ids, cache, chunk=512):
    """float32 logits of every position."""
    out = []
    for at in range(0, len(ids), chunk):
        logits = model(mx.array([ids[at : at + chunk]]), cache=cache)[0]
        assert logits.dtype == mx.float32
        out.append(np.array(logits))
    return np.concatenate(out)


def log_sum_exp(logits):
    x = logits.astype(np.float64)
    top = x.max(-1, keepdims=True)
    return (top + np.log(np.exp(x - top).sum(-1, keepdims=True)))[..., 0]


def largest(row, count):
    at = np.argsort(-row, kind="stable")[:count]
    return at, row[at]


def margin(row):
    two = np.partition(row, -2)[-2:]
    return float(two[1] - two[0])


def prompt_reference(model, ids):
    cache = make_prompt_cache(model)
    row = run(model, ids, cache)[-1]
    at, logits = largest(row, TOP)
    out = {
        "ids": ids,
        "logsumexp": round(float(log_sum_exp(row)), 5),
        "top_ids": at.tolist(),
        "top_logits": [round(float(x), 5) for x in logits],
        "every_128th_logit": [round(float(x), 4) for x in row[::STRIDE]],
        "greedy": [],
        "margins": [],
        "logprobs": [],
    }
    for _ in range(GREEDY):
        token = int(row.argmax())
        out["greedy"].append(token)
        out["margins"].append(round(margin(row), 4))
        out["logprobs"].append(round(float(row[token] - log_sum_exp(row)), 5))
        row = run(model, [token], cache)[-1]
    return out


def text_reference(model, ids, path):
    logits = run(model, ids, make_prompt_cache(model))
    n, vocab = logits.shape
    lse = log_sum_exp(logits)
    logprobs = [float(logits[i, ids[i + 1]]) - lse[i] for i in range(n - 1)]
    with open(path, "wb") as out:
        out.write(b"MLXRREF1" + struct.pack("<4I", n, TOP, vocab, 0))
        for i in range(n):
            at, top = largest(logits[i], TOP)
            out.write(struct.pack("<2f", lse[i], logprobs[i] if i + 1 < n else 0.0))
            out.write(at.astype("<u2").tobytes() + top.astype("<f4").tobytes())
    return float(np.exp(-np.mean(logprobs)))


def write_json(path, value):
    """Lists of numbers stay on one line."""

    def dump(v, indent):
        if isinstance(v, dict) and v:
            pad = "\n" + " " * (indent + 1)
            return "{" + ",".join(f"{pad}{json.dumps(k)}: {dump(x, indent + 1)}" for k, x in v.items()) + "}"
        return json.dumps(v, ensure_ascii=False)

    with open(path, "w", encoding="utf-8") as out:
        out.write(dump(value, 0) + "\n")


def compare_with_oracle(oracle, run_name, references):
    for name, prompt in oracle["prompts"].items():
        theirs, mine = prompt["runs"][run_name], references[name]
        assert prompt["prompt_ids"] == mine["ids"], f"{name}: ids differ"
        logits = dict(zip(mine["top_ids"], mine["top_logits"]))
        worst = max(abs(logits[i] - x) for i, x in theirs["first_top5"])
        for i, (a, b, m) in enumerate(zip(theirs["greedy"], mine["greedy"], mine["margins"])):
            if a != b:
                print(f"  {run_name} {name}: greedy differs at {i}, margin {m}")
                break
        margins = max(abs(a - b) for a, b in zip(theirs["greedy_margin"], mine["margins"]))
        print(f"  oracle {run_name} {name}: top-5 logits within {worst:.6f}, margins within {margins:.6f}")
        assert worst < 1e-3


def main():
    demo = mk.Demo(sys.argv[1])
    oracle = json.load(open(sys.argv[3])) if len(sys.argv) > 3 else None
    tokenizer = Tokenizer.from_file(os.path.join(sys.argv[2], "gguf-g32", "tokenizer.json"))
    config = json.load(open(os.path.join(sys.argv[2], "gguf-g32", "config.json")))
    text = tokenizer.encode(open(os.path.join(HERE, "text.txt"), encoding="utf-8").read()).ids
    prompts = json.load(open(os.path.join(HERE, "prompts.json"), encoding="utf-8"))
    prompts = {name: tokenizer.encode(p).ids for name, p in prompts.items()}
    perplexities = {}
    for name in ["demo", "g64-4bit", "g32-8bit", "mixed"]:
        folder = None if name == "demo" else os.path.join(sys.argv[2], name)
        quantization = mk.quantization_of(name, config["num_hidden_layers"]) if folder else None
        model = build(config, weights_f32(demo, folder, quantization))
        references = {key: prompt_reference(model, ids) for key, ids in prompts.items()}
        write_json(os.path.join(HERE, f"{name}.prompts.json"), references)
        ids = text if folder is None else text[:FOLDER_TOKENS]
        perplexities[name] = text_reference(model, ids, os.path.join(HERE, f"{name}.text.bin"))
        print(f"{name}: perplexity {perplexities[name]:.5f} over {len(ids)} tokens")
        run_name = {"demo": "gguf_deq_f32", "g64-4bit": "mlx4bit_g64_deq_f32"}.get(name)
        if oracle and run_name:
            compare_with_oracle(oracle, run_name, references)
    write_json(os.path.join(HERE, "text.json"), {"perplexity": perplexities, "ids": text})


if __name__ == "__main__":
    main()
