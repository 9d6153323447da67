"""Makes the golden files of tests/formats_golden.rs: raw blocks and the numbers they stand for.

    python3 -m venv venv && venv/bin/pip install numpy gguf "mlx[cpu]" && venv/bin/python make.py

GGUF formats are dequantized by the numpy code of the `gguf` package (Q8_1, which it lacks, by its
definition), MLX affine by the few lines here, straight from the definition (a row is one little-endian
integer; code k is its bits [k*bits, (k+1)*bits); w = scale*q + bias in f32), MLX's float modes by mlx
itself. The formats of other tools are packed here as those tools do it, from codes, scales and zero
points that give the expected values. Every file is raw bytes; index.json says what lies where.
"""

import json
from pathlib import Path

import gguf
import mlx.core as mx
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

# name, type, weights, bytes, blocks, where f16 scales lie
MORE_GGUF = [
    ("IQ1_S", 256, 50, 4, [0]),
    ("IQ1_M", 256, 56, 4, []),
    ("IQ2_XXS", 256, 66, 4, [0]),
    ("IQ2_XS", 256, 74, 4, [0]),
    ("IQ2_S", 256, 82, 4, [0]),
    ("IQ3_XXS", 256, 98, 4, [0]),
    ("IQ3_S", 256, 110, 4, [0]),
    ("IQ4_NL", 32, 18, 16, [0]),
    ("IQ4_XS", 256, 136, 4, [0]),
    ("TQ1_0", 256, 54, 4, [52]),
    ("TQ2_0", 256, 66, 4, [64]),
    ("MXFP4", 32, 17, 16, []),
    ("NVFP4", 64, 36, 8, []),
    ("Q8_1", 32, 36, 16, [0]),
]
for name, weights, size, count, places in MORE_GGUF:
    blocks = rng.integers(0, 256, (count, size)).astype(np.uint8)
    for place in places:
        blocks[:, place : place + 2] = scales_f16(count).view(np.uint8).reshape(count, 2)
    if name == "IQ1_M":
        # Four bits of the scale in each of four words.
        words = blocks[:, 48:].copy().view(np.uint16) & np.uint16(0x0FFF)
        d = scales_f16(count)[:, None] >> np.array([0, 4, 8, 12], dtype=np.uint16)
        blocks[:, 48:] = (words | (d & 15) << 12).astype(np.uint16).view(np.uint8)
    if name == "MXFP4":
        blocks[:, 0] = rng.integers(2, 250, count)
        blocks[:4, 0] = [0, 1, 2, 250]
    if name == "NVFP4":
        blocks[:, :4] &= 0x7F
        blocks[0, :4] = [0, 1, 0x7E, 0x7F]
        blocks[blocks[:, 0] == 0x7F, 0] = 0x35
    if name == "Q8_1":
        # d, the sum that products use, 32 signed codes.
        blocks[:8, 4:] = rng.permutation(256).astype(np.uint8).reshape(8, 32)
        d = blocks[:, :2].copy().view(np.float16).astype(np.float32)
        expected = (d * blocks[:, 4:].view(np.int8).astype(np.float32)).reshape(2, -1)
    else:
        kind = gguf.GGMLQuantizationType[name]
        assert gguf.GGML_QUANT_SIZES[kind] == (weights, size)
        expected = gguf.quants.dequantize(blocks.reshape(2, -1), kind)
    assert expected.dtype == np.float32 and np.isfinite(expected).all()
    rows = blocks.reshape(2, -1)
    entry, blob = add(f"{name}.bin", name, 2, expected.shape[1], {"data": rows.tobytes()}, expected)
    (HERE / entry["file"]).write_bytes(blob)
    index.append(entry)

mx.set_default_device(mx.cpu)
for mode, bits, group in [("mxfp4", 4, 32), ("mxfp8", 8, 32), ("nvfp4", 4, 16)]:
    rows, cols = 2, 512
    packed = rng.integers(0, 256, (rows, cols * bits // 8)).astype(np.uint8)
    scales = rng.integers(2, 250, (rows, cols // group)).astype(np.uint8)
    if bits == 8:
        packed[0, :256] = np.arange(256)
        packed[packed & 0x7F == 0x7F] = 0x80  # no NaN
    if mode == "nvfp4":
        scales[scales & 0x7F == 0x7F] = 0x80
        scales[0, :4] = [0, 1, 0x7E, 0xFE]
    else:
        # Of floats of 8 bits, no product that overflows.
        scales[:] = scales % (246 if bits == 8 else 250)
        scales[0, :4] = [0, 1, 2, 245]
    expected = np.array(
        mx.dequantize(
            mx.array(packed.view(np.uint32)), mx.array(scales), group_size=group, bits=bits, mode=mode, dtype=mx.float32
        )
    )
    assert np.isfinite(expected).all()
    parts = {"data": packed.tobytes(), "scales": scales.tobytes()}
    entry, blob = add(f"{mode}.bin", mode, rows, cols, parts, expected)
    (HERE / entry["file"]).write_bytes(blob)
    index.append(entry)

# Formats of other tools. `codes` and `zeros` are [rows, cols] and [rows, groups].
AWQ_ORDER = [0, 2, 4, 6, 1, 3, 5, 7]  # the row (of eight) whose code is nibble i of a word


def words_of(codes, axis, order=range(8)):
    """Packs eight 4-bit codes along an axis into 32 bits, the lowest bits first."""
    codes = np.moveaxis(codes.astype(np.uint32), axis, -1)
    codes = codes.reshape(*codes.shape[:-1], -1, 8)
    words = sum(codes[..., row] << np.uint32(4 * i) for i, row in enumerate(order))
    return np.moveaxis(words, -1, axis).astype("<u4")


for name in ("gptq", "gptq_v2", "awq"):
    rows, cols, group = 16, 128, 64
    codes = rng.integers(0, 16, (rows, cols))
    zeros = rng.integers(1, 16, (rows, cols // group))
    bits = scales_f16(rows * cols // group).reshape(rows, -1)
    scales = bits.view(np.float16).astype(np.float32)
    spread = [np.repeat(part, group, axis=1) for part in (scales, zeros)]
    expected = spread[0] * (codes.astype(np.float32) - spread[1].astype(np.float32))
    if name == "awq":
        data, points = words_of(codes.T, 1, AWQ_ORDER), words_of(zeros.T, 1, AWQ_ORDER)
    else:
        stored = zeros - 1 if name == "gptq" else zeros
        data, points = words_of(codes.T, 0), words_of(stored.T, 1)
    parts = {"data": data.tobytes(), "scales": np.ascontiguousarray(bits.T).tobytes(), "biases": points.tobytes()}
    entry, blob = add(f"{name}.bin", name, rows, cols, parts, expected, group=group)
    (HERE / entry["file"]).write_bytes(blob)
    index.append(entry)

for bits, group, kind in [(4, 128, "BF16"), (8, 32, "F16")]:
    rows, cols = 2, 256
    codes = rng.integers(0, 1 << bits, (rows, cols)).astype(np.uint8)
    codes[0] = np.arange(cols) % (1 << bits)
    data = codes if bits == 8 else codes[:, 0::2] | codes[:, 1::2] << 4
    scale_bytes, scales = affine_scalars(kind, rows * cols // group)
    scales = np.repeat(scales.reshape(rows, -1), group, axis=1)
    expected = scales * (codes.astype(np.float32) - np.float32(1 << (bits - 1)))
    parts = {"data": data.tobytes(), "scales": scale_bytes}
    entry, blob = add(f"int{bits}.bin", "centered", rows, cols, parts, expected, bits=bits, group=group, scale=kind)
    (HERE / entry["file"]).write_bytes(blob)
    index.append(entry)


def e4m3(codes):
    """OCP's 8-bit floats: bias 7, no infinities."""
    exponent, mantissa = (codes >> 3 & 15).astype(int), (codes & 7).astype(np.float64)
    size = np.where(exponent == 0, mantissa / 8 * 2.0**-6, (1 + mantissa / 8) * 2.0 ** (exponent - 7))
    return np.where(codes & 0x80, -size, size).astype(np.float32)


# Blocks of rows and columns with borders inside, a scale a row, one scale for all.
for block, kind, name in [((3, 64), "BF16", "blocks"), ((1, 192), "F32", "rows"), ((5, 192), "F32", "all")]:
    rows, cols = 5, 176
    codes = rng.integers(0, 256, (rows, cols)).astype(np.uint8)
    codes.reshape(-1)[:256] = np.arange(256)
    codes[codes & 0x7F == 0x7F] = 0x80
    down, across = -(-rows // block[0]), -(-cols // block[1])
    scale_bytes, scales = affine_scalars(kind, down * across)
    scales = scales.reshape(down, across).repeat(block[0], axis=0)[:rows].repeat(block[1], axis=1)[:, :cols]
    expected = scales * e4m3(codes)
    parts = {"data": codes.tobytes(), "scales": scale_bytes}
    more = {"block": block, "scale": kind}
    entry, blob = add(f"fp8_{name}.bin", "fp8", rows, cols, parts, expected, **more)
    (HERE / entry["file"]).write_bytes(blob)
    index.append(entry)

lines = ",\n".join(json.dumps(entry) for entry in index)
(HERE / "index.json").write_text(f"[\n{lines}\n]\n")
