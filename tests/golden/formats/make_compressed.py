"""Makes compressed.safetensors and compressed_values.safetensors for tests/formats_compressed.rs: weights as the package
compressed-tensors 0.20 packs them, and the numbers that its `decompress` defines, computed here by numpy in f32:

  pack-quantized with zero points   scale * (q - zero), both stored plus 2^(bits - 1); zeros packed along the rows
  nvfp4-pack-quantized              value(code) * (weight_scale / weight_global_scale)

Needs numpy and safetensors.
"""

import os

import numpy as np
from safetensors.numpy import save_file

HERE = os.path.dirname(os.path.abspath(__file__))
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], dtype=np.float32)
rng = np.random.default_rng(13)


def e4m3(bytes_):
    exponent, mantissa = (bytes_ >> 3 & 15).astype(int), (bytes_ & 7).astype(np.float64)
    size = np.where(exponent == 0, mantissa / 8 * 2.0**-6, (1 + mantissa / 8) * 2.0 ** (exponent - 7))
    return np.where(bytes_ & 0x80, -size, size).astype(np.float32)


def words(codes, bits):
    """Along the last axis, the first code lowest; what is missing of a word is 0."""
    each = 32 // bits
    padded = np.zeros((codes.shape[0], -(-codes.shape[1] // each) * each), dtype=np.uint32)
    padded[:, : codes.shape[1]] = codes
    shifts = np.arange(each, dtype=np.uint32) * bits
    return np.bitwise_or.reduce(padded.reshape(codes.shape[0], -1, each) << shifts, axis=2).view(np.int32)


def main():
    packed, values = {}, {}
    for bits, group in ((4, 32), (4, 128), (8, 64)):
        name, rows, cols = f"int{bits}_{group}", 13, 256
        codes = rng.integers(0, 1 << bits, (rows, cols), dtype=np.uint32)
        zeros = rng.integers(0, 1 << bits, (rows, cols // group), dtype=np.uint32)
        scales = rng.uniform(0.001, 0.1, (rows, cols // group)).astype(np.float16)
        packed[f"{name}.weight_packed"] = words(codes, bits)
        packed[f"{name}.weight_zero_point"] = np.ascontiguousarray(words(zeros.T, bits).T)
        packed[f"{name}.weight_scale"] = scales
        packed[f"{name}.weight_shape"] = np.array([rows, cols], dtype=np.int64)
        of = lambda numbers: np.repeat(numbers.astype(np.float32), group, axis=1)
        values[name] = of(scales) * (codes.astype(np.float32) - of(zeros))
    rows, cols = 13, 176
    codes = rng.integers(0, 16, (rows, cols), dtype=np.uint8)
    scales = rng.integers(0, 0x7F, (rows, cols // 16), dtype=np.uint8)
    scale = np.array([1234.5], dtype=np.float32)
    packed["nvfp4.weight_packed"] = codes[:, ::2] | codes[:, 1::2] << 4
    # Of a type that numpy has not: the test says which.
    packed["nvfp4.weight_scale"] = scales
    packed["nvfp4.weight_global_scale"] = scale
    numbers = np.where(codes & 8, -E2M1[codes & 7], E2M1[codes & 7]).astype(np.float32)
    values["nvfp4"] = numbers * np.repeat(e4m3(scales) / scale, 16, axis=1)
    save_file(packed, os.path.join(HERE, "compressed.safetensors"))
    save_file(values, os.path.join(HERE, "compressed_values.safetensors"))


main()
