"""Compares the folders of `make_folders.py` with MLX itself. Needs `mlx[cpu]`, `mlx-lm`, `gguf`; run by hand.

usage: check_mlx.py DEMO.gguf FOLDERS_DIRECTORY

 1. Every quantized tensor equals `mx.quantize` of the same 16-bit weight on MLX's CPU device, bit for bit, and
    `mx.dequantize` of it (in float32) equals `mlx_format.dequantize`.
 2. mlx_lm loads each folder; its modules have the bits and groups that config.json asks for.
 3. `mx.load` of the GGUF gives the numbers of `gguf-g32` (rows of q and k reordered).
"""

import os
import sys

import mlx.core as mx
import numpy as np
from mlx_lm.utils import load_model
from pathlib import Path

import make_folders as mk
import mlx_format as mf

mx.set_default_device(mx.cpu)


def to_mx(t):
    if t.dtype == "bfloat16":
        return mx.array(t.data).view(mx.bfloat16)
    return mx.array(t.data)


def same_bits(a, t):
    raw = a.view(mx.uint16) if t.dtype in ("bfloat16", "float16") else a
    mine = t.data.view(np.uint16) if t.dtype == "float16" else t.data
    return np.array_equal(np.array(raw), mine)


def read_folder(folder):
    out = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".safetensors"):
            out.update(mf.read_safetensors(os.path.join(folder, name)))
    return out


def main():
    demo = mk.Demo(sys.argv[1])
    layers = demo.meta["llama.block_count"]
    for name in mk.NAMES:
        folder = os.path.join(sys.argv[2], name)
        tensors = read_folder(folder)
        quantization = mk.quantization_of(name, layers)
        checked = 0
        for module in demo.tensors:
            if module + ".scales" not in tensors:
                continue
            parts = [tensors[f"{module}.{s}"] for s in ("weight", "scales", "biases")]
            group, bits = mk.module_quantization(quantization, module)
            if name != "gguf-g32":
                w16 = mf.cast(demo.f32(module), parts[1].dtype)
                theirs = mx.quantize(to_mx(w16), group_size=group, bits=bits)
                for a, t in zip(theirs, parts):
                    assert same_bits(a, t), f"{name}: {module} differs from mx.quantize"
            w, s, b = (to_mx(p) for p in parts)
            deq = mx.dequantize(w, s.astype(mx.float32), b.astype(mx.float32), group_size=group, bits=bits)
            mine = mf.dequantize(*parts, group, bits)
            diff = np.abs(np.array(deq) - mine).max()
            assert diff <= 1e-6 * max(1.0, np.abs(mine).max()), f"{name}: {module} dequantizes differently: {diff}"
            if name == "gguf-g32":
                assert np.array_equal(mine, demo.f32(module)), f"{module}: import is not lossless"
            checked += 1
        model, config = load_model(Path(folder), lazy=True)
        for path, m in model.named_modules():
            if hasattr(m, "bits"):
                want = mk.module_quantization(quantization, path)
                assert (m.group_size, m.bits) == want, f"{name}: {path}: {m.group_size}, {m.bits}, not {want}"
                assert path + ".scales" in tensors
        print(f"{name}: {checked} tensors equal MLX's, {len(tensors)} tensors in all")

    theirs = mx.load(sys.argv[1])
    tensors = read_folder(os.path.join(sys.argv[2], "gguf-g32"))
    for gguf_name in theirs:
        if gguf_name.endswith(".scales"):
            stem = gguf_name.removesuffix(".scales")
            module = demo.hf_name(stem + ".weight")
            bits = 8 if "embed" in module else 4
            q = mf.unpack(np.array(theirs[stem + ".weight"]), bits)
            assert np.array_equal(demo.order(module, q), mf.unpack(tensors[module + ".weight"].data, bits)), module
            for part in ("scales", "biases"):
                a = demo.order(module, np.array(theirs[f"{stem}.{part}"]))
                assert np.array_equal(a, tensors[f"{module}.{part}"].data), (module, part)
    print("gguf-g32: equals MLX's import of the GGUF")


if __name__ == "__main__":
    main()
