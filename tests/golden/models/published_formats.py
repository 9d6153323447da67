"""MLX's float modes and the formats of other tools, written from their descriptions in plain numpy float64:
GPTQ, AWQ, compressed-tensors, 8-bit floats in blocks; and GGUF's Q8_1, which the package `gguf` does not read."""

import numpy as np

import mlx_format as mf

#: Ends of names of tensors that belong to a weight beside them.
PARTS = ("scales", "biases", "qzeros", "g_idx", "weight_scale", "weight_scale_inv", "weight_shape")
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6])
#: The row (of eight) whose code is nibble i of a word of AWQ.
AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)


def e4m3(codes):
    """8-bit floats: sign, 4 bits of exponent (bias 7), 3 of mantissa, no infinities."""
    exponent, mantissa = (codes >> 3 & 15).astype(int), (codes & 7).astype(np.float64)
    size = np.where(exponent == 0, mantissa / 8 * 2.0**-6, (1 + mantissa / 8) * 2.0 ** (exponent - 7))
    return np.where(codes & 0x80, -size, size)


def nibbles(words, axis, order=range(8)):
    """32-bit words to eight 4-bit codes along an axis; nibble i is code `order[i]`."""
    words = np.moveaxis(words.view(np.uint32), axis, -1)
    codes = np.empty((*words.shape, 8), np.int64)
    for i, place in enumerate(order):
        codes[..., place] = words >> np.uint32(4 * i) & np.uint32(15)
    return np.moveaxis(codes.reshape(*words.shape[:-1], -1), -1, axis)


def float_mode(mode, packed, scales):
    """MLX mxfp4, mxfp8, nvfp4."""
    if mode == "mxfp8":
        values = e4m3(packed.view(np.uint8))
    else:
        values = E2M1[mf.unpack(packed, 4)]
    factors = e4m3(scales) if mode == "nvfp4" else 2.0 ** (scales.astype(int) - 127)
    return values * np.repeat(factors, values.shape[1] // scales.shape[1], axis=1)


def q8_1(rows):
    """Rows of blocks of 36 bytes: scale, a sum that only products use, 32 signed codes."""
    blocks = rows.reshape(-1, 36)
    d = blocks[:, :2].copy().view(np.float16).astype(np.float64)
    return (d * blocks[:, 4:].view(np.int8)).reshape(rows.shape[0], -1)


def read(quantization, method, tensors, module, part):
    """The matrix `[rows, cols]` whose codes are `module.part`; None where they are in no format of these."""
    t = lambda part: tensors[f"{module}.{part}"]
    floats = lambda part: t(part).f32().astype(np.float64)
    kind = method.get("quant_method")
    if part == "qweight":
        order = AWQ_ORDER if kind == "awq" else range(8)
        codes = nibbles(t("qweight").data, 1 if kind == "awq" else 0, order).T
        zeros = nibbles(t("qzeros").data, 1, order).T
        if kind == "gptq" and method["checkpoint_format"] == "gptq":
            zeros = zeros + 1
        group = codes.shape[1] // zeros.shape[1]
        return np.repeat(floats("scales").T, group, 1) * (codes - np.repeat(zeros, group, 1))
    if part == "weight_packed":
        weights = method["config_groups"]["group_0"]["weights"]
        codes = mf.unpack(t("weight_packed").data.view(np.uint32), weights["num_bits"]).astype(np.int64)
        scales = np.repeat(floats("weight_scale"), weights["group_size"], 1)
        return scales * (codes - (1 << (weights["num_bits"] - 1)))
    if part == "weight" and t("weight").dtype == "float8":
        values = e4m3(t("weight").data)
        if f"{module}.weight_scale" in tensors:
            return values * floats("weight_scale")
        down, across = method["weight_block_size"]
        scales = floats("weight_scale_inv").repeat(down, 0).repeat(across, 1)
        return values * scales[: values.shape[0], : values.shape[1]]
    mode = quantization.get("mode", "affine")
    if part == "weight" and mode != "affine" and f"{module}.scales" in tensors:
        return float_mode(mode, t("weight").data, t("scales").data)
    return None
