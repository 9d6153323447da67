"""The MLX weight format in plain numpy, written from its description and not from MLX's code: affine
quantization as MLX's CPU device does it, the bit stream of packed weights, and safetensors files.

`make_folders.py` builds model folders with it. `check_mlx.py` compares it with MLX itself, bit for bit.
"""

import json
import struct

import numpy as np

#: safetensors' names of the types used here. bfloat16 is kept as its 16 bits (numpy has no such type).
DTYPES = {"float32": "F32", "float16": "F16", "bfloat16": "BF16", "uint32": "U32"}
#: Types that other tools' formats have too.
MORE_DTYPES = {"int32": "I32", "int64": "I64", "uint8": "U8", "float8": "F8_E4M3"}


def to_bf16_bits(x):
    """float32 → the 16 bits of bfloat16, round to nearest even (finite values)."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((bits + (0x7FFF + ((bits >> 16) & 1))) >> 16).astype(np.uint16)


def from_bf16_bits(bits):
    """The 16 bits of bfloat16 → float32, exact."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


class Tensor:
    """Numbers as they stand in a file: `data` (numpy; uint16 for bfloat16) and the dtype's name."""

    def __init__(self, data, dtype):
        self.data = np.ascontiguousarray(data)
        self.dtype = dtype

    def f32(self):
        """The values in float32, exact."""
        return from_bf16_bits(self.data) if self.dtype == "bfloat16" else self.data.astype(np.float32)


def cast(x, dtype):
    """float32 values rounded to `dtype`."""
    if dtype == "bfloat16":
        return Tensor(to_bf16_bits(x), dtype)
    return Tensor(np.asarray(x, np.float32).astype(dtype), dtype)


def pack(q, bits):
    """Unsigned integers `[rows, cols]` → `[rows, cols·bits/32]` uint32: each row is one bit stream, least
    significant bit first, element k in bits k·bits … (k+1)·bits."""
    rows, cols = q.shape
    # By columns, so that every operation below runs over contiguous memory.
    lanes = np.ascontiguousarray(q.reshape(rows * cols // 32, 32).T.astype(np.uint32))
    words = np.zeros((bits, lanes.shape[1]), np.uint32)
    for i in range(32):
        word, shift = divmod(i * bits, 32)
        words[word] |= lanes[i] << np.uint32(shift)
        if shift + bits > 32:
            words[word + 1] |= lanes[i] >> np.uint32(32 - shift)
    return np.ascontiguousarray(words.T).reshape(rows, cols * bits // 32)


def unpack(words, bits):
    """The inverse of `pack`, as uint8."""
    rows, count = words.shape
    groups = np.ascontiguousarray(words.reshape(-1, bits).T)
    mask = np.uint32((1 << bits) - 1)
    lanes = np.empty((32, groups.shape[1]), np.uint8)
    for i in range(32):
        word, shift = divmod(i * bits, 32)
        value = groups[word] >> np.uint32(shift)
        if shift + bits > 32:
            value = value | (groups[word + 1] << np.uint32(32 - shift))
        lanes[i] = value & mask
    return np.ascontiguousarray(lanes.T).reshape(rows, count * 32 // bits)


def quantize(w, group, bits):
    """Affine quantization with the rounding of MLX's CPU device.

    `w` is a `Tensor` `[rows, cols]`. Per group of `group` columns, in float32: n = 2^bits − 1,
    s = max((max − min) / n, 1e-7); the edge farther from zero is kept exactly where it can be:
    edge = min with +s if |min| > |max|, else max with −s; q0 = round(edge / s); if q0 ≠ 0 then
    s = edge / q0 and bias = edge, else bias = 0; q = clip(round((w − bias) / s), 0, n), halves to even.
    Scale and bias are then rounded to the dtype of `w`.
    Returns packed weight, scales and biases as `Tensor`s.
    """
    rows, cols = w.data.shape
    x = w.f32().reshape(rows * cols // group, group)
    low, high = x.min(1), x.max(1)
    n = np.float32((1 << bits) - 1)
    scale = np.maximum((high - low) / n, np.float32(1e-7)).astype(np.float32)
    lower = np.abs(low) > np.abs(high)
    edge = np.where(lower, low, high)
    scale = np.where(lower, scale, -scale)
    q0 = np.rint(edge / scale)
    nonzero = q0 != 0
    scale = np.where(nonzero, edge / np.where(nonzero, q0, np.float32(1)), scale).astype(np.float32)
    bias = np.where(nonzero, edge, np.float32(0)).astype(np.float32)
    x -= bias[:, None]
    x /= scale[:, None]
    np.rint(x, out=x)
    np.clip(x, 0, n, out=x)
    shape = (rows, cols // group)
    return (
        Tensor(pack(x.astype(np.uint8).reshape(rows, cols), bits), "uint32"),
        cast(scale.reshape(shape), w.dtype),
        cast(bias.reshape(shape), w.dtype),
    )


def dequantize(weight, scales, biases, group, bits):
    """scale·q + bias in float32 (the product is exact for 16-bit scales, so there is one rounding)."""
    q = unpack(weight.data, bits).astype(np.float32)
    s = np.repeat(scales.f32(), group, axis=1)
    b = np.repeat(biases.f32(), group, axis=1)
    return q * s + b


def write_safetensors(path, tensors):
    """Writes `{name: Tensor}` with the metadata {"format": "mlx"}."""
    header = {"__metadata__": {"format": "mlx"}}
    at = 0
    for name, t in tensors.items():
        header[name] = {
            "dtype": DTYPES[t.dtype],
            "shape": list(t.data.shape),
            "data_offsets": [at, at + t.data.nbytes],
        }
        at += t.data.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)))
        out.write(text)
        for t in tensors.values():
            out.write(t.data.tobytes())


def read_safetensors(path):
    """Reads `{name: Tensor}` back (the types of `DTYPES` and `MORE_DTYPES` only; 8-bit floats as bytes)."""
    names = {v: k for k, v in (DTYPES | MORE_DTYPES).items()}
    stored = {"bfloat16": np.uint16, "float8": np.uint8}
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    out = {}
    for name, entry in header.items():
        dtype = names[entry["dtype"]]
        begin, end = (8 + length + o for o in entry["data_offsets"])
        raw = np.frombuffer(data[begin:end], stored.get(dtype, dtype))
        out[name] = Tensor(raw.reshape(entry["shape"]), dtype)
    return out
