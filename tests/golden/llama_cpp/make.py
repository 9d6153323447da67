"""Makes the references of tests/formats_llama_cpp.rs: logits of llama.cpp's CPU build for the GGUF forms of
../families' small models, which are written here with the gguf package, in f32. Needs gguf and the folder that
llama_cpp.py tells of.

usage: make.py FOLDER [family...]

Writes FAMILY.json beside itself: of each case the variant it is of, the metadata that it has besides, and the logits
that are kept; and nets.json, whose models stand in it.
"""

import json
import os
import sys
import tempfile

import gguf
import numpy as np

from cases import CASES, changed
from llama_cpp import Library
from nets import NETS

HERE = os.path.dirname(os.path.abspath(__file__))
FAMILIES = os.path.join(HERE, "../families")
sys.path.insert(0, FAMILIES)
ROWS, COLUMNS = 4, 3


def numbers_module():
    """weights.py without mlx, which only its caches need."""
    text = open(os.path.join(FAMILIES, "weights.py")).read()
    text = text.replace("import mlx.core as mx\n", "").split("def half(")[0]
    names = {}
    exec("\n".join(line for line in text.splitlines() if "mlx_lm" not in line), names)
    return names


NUMBERS = numbers_module()
uniform, tokens = NUMBERS["uniform"], NUMBERS["tokens"]


def permuted(rows, heads):
    """As the converter puts those of llama."""
    return rows.reshape(heads, 2, rows.shape[0] // heads // 2, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def write(path, variant):
    form = variant["gguf"]
    arch, numbers = form["architecture"], form["metadata"]
    writer = gguf.GGUFWriter(path, arch)
    vocabulary = variant["config"].get("text_config", variant["config"])["vocab_size"]
    # No tokenizer: tokens are given as numbers.
    writer.add_string("tokenizer.ggml.model", "none")
    writer.add_uint32(f"{arch}.vocab_size", vocabulary)
    for key, number in numbers.items():
        add = {bool: writer.add_bool, str: writer.add_string, float: writer.add_float32, list: writer.add_array}
        key = key[1:] if key.startswith("/") else f"{arch}.{key}"
        add.get(type(number), writer.add_uint32)(key, number)
    for name, (shape, centre, spread) in variant["tensors"].items():
        count = int(np.prod(shape)) if shape else 1
        data = np.float32(centre) + np.float32(spread) * uniform(name, count)
        data = (data + np.float32(form["offset"] if name.endswith("norm.weight") else 0)).reshape(shape)
        if form["permuted"] and ("q_proj" in name or "k_proj" in name):
            data = permuted(data, numbers["attention.head_count" if "q_proj" in name else "attention.head_count_kv"])
        if name == "rope_freqs.weight":
            data[len(data) // 2 :] = 1e30
        # Convolutions lose the axis of one channel.
        if len(shape) == 3 and shape[2] == 1:
            data = data[:, :, 0]
        writer.add_tensor(form["names"][name], np.ascontiguousarray(data, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return vocabulary


def logits(library, family, name, variant):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.gguf")
        vocabulary = write(path, variant)
        all_of_them = library.logits(path, tokens(vocabulary), vocabulary)
    kept = [round(float(x), 5) for x in all_of_them[::ROWS, ::COLUMNS].flatten()]
    print(f"{family} {name}: deviation {all_of_them.std():.3f}", *far(variant, kept))
    return kept


def far(variant, kept):
    """From mlx-lm's, whose model may have other metadata."""
    if "logits" not in variant:
        return ()
    mlx = np.array(variant["logits"])
    return "from mlx-lm's", np.abs(mlx - kept).max() / max(1.0, float(np.sqrt((mlx**2).mean())))


def main():
    library = Library(sys.argv[1])
    for family in sys.argv[2:] or [*CASES, "nets"]:
        if family == "nets":
            made = {name: NETS[name] | {"logits": logits(library, family, name, NETS[name]), "hidden": []} for name in NETS}
        else:
            with open(os.path.join(FAMILIES, f"{family}.json")) as file:
                variants = json.load(file)
            made = {}
            for case in CASES[family]:
                variant = changed(variants, case)
                made[case["name"]] = case | {"logits": logits(library, family, case["name"], variant)}
        with open(os.path.join(HERE, f"{family}.json"), "w") as out:
            lines = (f"{json.dumps(name)}: {json.dumps(one)}" for name, one in made.items())
            out.write("{\n " + ",\n ".join(lines) + "\n}\n")


main()
