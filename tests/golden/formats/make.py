"""Makes the golden files of tests/formats_golden.rs: raw blocks and the numbers they stand for.

    python3 -m venv venv && venv/bin/pip install numpy gguf && venv/bin/python make.py

GGUF formats are dequantized by the numpy code of the `gguf` package, MLX affine by the few lines
here, straight from the definition (a row is one little-endian integer; code k is its bits
[k*bits, (k+1)*bits); w = scale*q + bias in f32). Every file is raw bytes; index.json says what lies
where.
"""

import json
from pathlib import Path

import gguf
import numpy as np

HERE = Path(__file__).parent
rng = np.random.default_rng(20240611)
index = []


def scales_f16(count, lowest_exponent=0, highest_exponent=30):
    """Random finite f16 bits of both signs; the first four are special: subnormals, zero, largest."""
    bits = (
        rng.integers(0, 2, count) << 15
        | rng.integers(lowest_exponent, highest_exponent + 1, count) << 10
        | rng.integers(0, 1024, count)
    ).astype(np.uint16)
    special = np.array([0x0001, 0x83FF, 0x8000, 0x7BFF], dtype=np.uint16)
    bits[: min(4, count)] = special[: min(4, count)]
    return bits


def add(name, fmt, rows, cols, parts, expected, **more):
    """Writes parts and expected values one after another into a file."""
    blob = b""
    entry = {"file": name, "format": fmt, "rows": rows, "cols": cols, **more}
    for part, data in [*parts.items(), ("expected", expected.astype("<f4").tobytes())]:
        entry[part] = [len(blob), len(blob) + len(data)]
        blob += data
    return entry, blob


# name, type, weights, bytes, blocks, where f16 scales lie
GGUF = [
    ("Q4_0", 32, 18, 24, [0]),
    ("Q4_1", 32, 20, 24, [0, 2]),
    ("Q5_0", 32, 22, 24, [0]),
    ("Q5_1", 32, 24, 24, [0, 2]),
    ("Q8_0", 32, 34, 24, [0]),
    ("Q2_K", 256, 84, 8, [80, 82]),
    ("Q3_K", 256, 110, 8, [108]),
    ("Q4_K", 256, 144, 8, [0, 2]),
    ("Q5_K", 256, 176, 8, [0, 2]),
    ("Q6_K", 256, 210, 8, [208]),
]
for name, weights, size, count, places in GGUF:
    blocks = rng.integers(0, 256, (count, size)).astype(np.uint8)
    for place in places:
        blocks[:, place : place + 2] = scales_f16(count).view(np.uint8).reshape(count, 2)
    if name == "Q8_0":
        blocks[:8, 2:] = rng.permutation(256).astype(np.uint8).reshape(8, 32)
    kind = gguf.GGMLQuantizationType[name]
    assert gguf.GGML_QUANT_SIZES[kind] == (weights, size)
    # Two rows, so that the second one's place is checked too.
    rows = blocks.reshape(2, -1)
    expected = gguf.quants.dequantize(rows, kind)
    assert expected.dtype == np.float32 and np.isfinite(expected).all()
    entry, blob = add(f"{name}.bin", name, 2, expected.shape[1], {"data": rows.tobytes()}, expected)
    (HERE / entry["file"]).write_bytes(blob)
    index.append(entry)


def affine_scalars(kind, count):
    """Random scales or biases: stored bytes and their f32 values."""
    if kind == "F16":
        bits = scales_f16(count)
        return bits.tobytes(), bits.view(np.float16).astype(np.float32)
    bits = (
        rng.integers(0, 2, count) << 31
        | rng.integers(60, 180, count) << 23
        | rng.integers(0, 1 << 23, count)
    ).astype(np.uint32)
    bits[0] = 0x80000001 if kind == "F32" else 0x80010000  # subnormals
    if kind == "F32":
        return bits.tobytes(), bits.view(np.float32)
    half = (bits >> 16).astype(np.uint16)
    return half.tobytes(), (half.astype(np.uint32) << 16).view(np.float32)


for bits in (2, 3, 4, 5, 6, 8):
    blob, seen = b"", set()
    for group in (32, 64, 128):
        for kind in ("F16", "BF16", "F32"):
            rows, cols = 2, 128
            packed = rng.integers(0, 256, (rows, cols * bits // 8)).astype(np.uint8)
            scale_bytes, scales = affine_scalars(kind, rows * cols // group)
            bias_bytes, biases = affine_scalars(kind, rows * cols // group)
            expected = np.zeros((rows, cols), dtype=np.float32)
            for r in range(rows):
                stream = int.from_bytes(packed[r].tobytes(), "little")
                for k in range(cols):
                    q = stream >> (k * bits) & (1 << bits) - 1
                    seen.add(q)
                    g = r * (cols // group) + k // group
                    product = np.float32(scales[g] * np.float32(q))
                    expected[r, k] = np.float32(product + biases[g])
            parts = {"data": packed.tobytes(), "scales": scale_bytes, "biases": bias_bytes}
            more = {"bits": bits, "group": group, "scale": kind}
            entry, case = add(f"affine_{bits}.bin", "affine", rows, cols, parts, expected, **more)
            for part in ("data", "scales", "biases", "expected"):
                entry[part] = [len(blob) + at for at in entry[part]]
            blob += case
            index.append(entry)
    assert len(seen) == 1 << bits, bits
    (HERE / f"affine_{bits}.bin").write_bytes(blob)

lines = ",\n".join(json.dumps(entry) for entry in index)
(HERE / "index.json").write_text(f"[\n{lines}\n]\n")
