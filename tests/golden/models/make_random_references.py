"""Makes the references of the small random models of `tests/support/random_model.rs`: plain numpy float64
(`plain_model.py`). Needs numpy and the PyPI package `gguf`. Write the models first:

    MLXROCM_WRITE_RANDOM_MODELS=DIRECTORY MLXROCM_WRITE_LATER_FORMATS=DIRECTORY2 cargo test --test random_models write

usage: make_random_references.py DIRECTORY [later]

Writes random.json (for all models: the tokens, the positions whose logits are kept, a prompt; for each model its
CRC-32, vocabulary, and 24 greedy tokens after the prompt with margins and log-probabilities) and random.bin
(float32 little-endian: for each model in the order of random.json, for each position, the logits). The same of
CACHES for some models over each quantized KV cache: random_kv.bin. With `later`, of the formats that came later:
later.json and later.bin.
"""

import json
import os
import sys
import zlib

import numpy as np

import plain_model

HERE = os.path.dirname(os.path.abspath(__file__))
TOKENS = [(37 * i + 11 * (i // 7) + 5) % 316 for i in range(96)]
POSITIONS = [1, 40, 95]
PROMPT, GREEDY = TOKENS[:9], 24
# Models whose logits over quantized KV caches are kept too.
CACHES = ["llama-q4_1.gguf", "qwen2-q6_k.gguf", "mistral-mlx-window", "qwen3-mlx-wide-heads"]


def checksum(path):
    """CRC-32 of a GGUF file, or of a folder's config.json and safetensors files in the order of their names."""
    if os.path.isdir(path):
        names = sorted(n for n in os.listdir(path) if n == "config.json" or n.endswith(".safetensors"))
        files = [os.path.join(path, n) for n in names]
    else:
        files = [path]
    crc = 0
    for file in files:
        crc = zlib.crc32(open(file, "rb").read(), crc)
    return crc


def log_softmax(row):
    return row - row.max() - np.log(np.exp(row - row.max()).sum())


def main():
    folder = sys.argv[1]
    collection = sys.argv[2] if len(sys.argv) > 2 else "random"
    models, logits, caches = {}, [], []
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        m = plain_model.read(path)
        rows = plain_model.forward(m, TOKENS)
        logits.append(rows[POSITIONS].astype("<f4"))
        if name in CACHES:
            for kv in ("q8", "q4"):
                other = plain_model.forward(m, TOKENS, kv)
                caches.append(other[POSITIONS].astype("<f4"))
                print(f"{name}, {kv}: logits differ by up to {np.abs(other - rows).max():.4f}")
        ids, greedy, margins, logprobs = list(PROMPT), [], [], []
        for _ in range(GREEDY):
            row = plain_model.forward(m, ids)[-1]
            token = int(row.argmax())
            two = np.sort(row)[-2:]
            greedy.append(token)
            margins.append(round(float(two[1] - two[0]), 5))
            logprobs.append(round(float(log_softmax(row)[token]), 5))
            ids.append(token)
        models[name] = {
            "crc32": checksum(path),
            "vocabulary": rows.shape[1],
            "greedy": greedy,
            "margins": margins,
            "logprobs": logprobs,
        }
        print(f"{name}: logits of standard deviation {rows.std():.2f}, smallest margin {min(margins):.3f}")
    files = [(f"{collection}.bin", logits)] + ([("random_kv.bin", caches)] if collection == "random" else [])
    for file, parts in files:
        with open(os.path.join(HERE, file), "wb") as out:
            for part in parts:
                out.write(part.tobytes())
    text = json.dumps({"tokens": TOKENS, "positions": POSITIONS, "prompt": PROMPT, "caches": sorted(CACHES if caches else [])})
    lines = ",\n  ".join(f"{json.dumps(name)}: {json.dumps(m)}" for name, m in models.items())
    with open(os.path.join(HERE, f"{collection}.json"), "w") as out:
        out.write(f'{text[:-1]},\n "models": {{\n  {lines}\n }}\n}}\n')


if __name__ == "__main__":
    main()
