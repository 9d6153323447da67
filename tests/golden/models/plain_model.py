"""A dense transformer (llama, mistral, qwen2, qwen3) in plain numpy float64, and readers of GGUF files and MLX
folders written from the formats' descriptions. Slow and simple: the reference of small models.

Dequantization of GGUF types is the PyPI package `gguf`'s, of MLX's affine groups `mlx_format`'s rule, of MLX's float
modes and of other tools' formats `published_formats`'s.
"""

import json
import math
import os
import struct
from dataclasses import dataclass, field

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize as gguf_dequantize

import mlx_format as mf
import published_formats as pf


@dataclass
class Plain:
    """Numbers and weights (float64, under Hugging Face names) of a model."""

    heads: int
    kv_heads: int
    head_dim: int
    layers: int
    eps: float
    theta: float
    interleaved: bool  # RoPE pairs are (2i, 2i+1), not (i, i + dims/2)
    window: int | None = None
    rope: dict = field(default_factory=dict)  # Hugging Face's rope_scaling, or {"factors": […]}
    weights: dict = field(default_factory=dict)


def rope_frequencies(m):
    """Angle per position of each pair, and the factor on cos and sin."""
    dims, base, s = m.head_dim, m.theta, m.rope
    freq = base ** (-np.arange(0, dims, 2, dtype=np.float64) / dims)
    kind = s.get("rope_type") or s.get("type")
    if "factors" in s:
        return freq / np.asarray(s["factors"], np.float64), 1.0
    if kind is None:
        return freq, 1.0
    if kind == "linear":
        return freq / s["factor"], 1.0
    if kind == "llama3":
        old, factor, low, high = (
            s[k] for k in ("original_max_position_embeddings", "factor", "low_freq_factor", "high_freq_factor")
        )
        wave = 2 * math.pi / freq
        smooth = np.clip((old / wave - low) / (high - low), 0, 1)  # 0: wave ≥ old/low; 1: wave ≤ old/high
        return (1 - smooth) * freq / factor + smooth * freq, 1.0
    if kind == "yarn":
        old, factor = s["original_max_position_embeddings"], s["factor"]

        def dimension(rotations):  # the dimension that turns this often within the old context
            return dims * math.log(old / (rotations * 2 * math.pi)) / (2 * math.log(base))

        low = max(math.floor(dimension(s.get("beta_fast", 32))), 0)
        high = min(math.ceil(dimension(s.get("beta_slow", 1))), dims - 1)
        ramp = np.clip((np.arange(dims // 2) - low) / max(high - low, 0.001), 0, 1)
        return freq * (1 - ramp) + freq / factor * ramp, 0.1 * math.log(factor) + 1.0
    raise ValueError(f"RoPE scaling {kind}")


def rotate(x, m, positions):
    """RoPE of `x` `[tokens, heads, head_dim]`."""
    freq, factor = rope_frequencies(m)
    angle = positions[:, None] * freq[None, :]
    cos, sin = (np.cos(angle) * factor)[:, None, :], (np.sin(angle) * factor)[:, None, :]
    out = np.empty_like(x)
    half = m.head_dim // 2
    first, second = (slice(0, None, 2), slice(1, None, 2)) if m.interleaved else (slice(0, half), slice(half, None))
    out[..., first] = x[..., first] * cos - x[..., second] * sin
    out[..., second] = x[..., first] * sin + x[..., second] * cos
    return out


def norm(x, weight, eps):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * weight


def cached(x, kind):
    """What a KV cache gives back for `x` `[tokens, heads, head_dim]`: groups of 32 columns of a head have a scale
    (and a minimum) in float16, and codes for the rounded scale."""
    if kind == "f16":
        return x
    tokens, heads, dims = x.shape
    out = np.empty_like(x)
    for first in range(0, dims, 32):
        part = x[..., first : first + 32]
        if kind == "q8":
            least, codes = 0.0, (-127, 127)
            scale = np.abs(part).max(-1, keepdims=True) / 127
        else:
            least, codes = part.min(-1, keepdims=True).astype(np.float16).astype(np.float64), (0, 15)
            scale = (part.max(-1, keepdims=True) - least) / 15
        scale = scale.astype(np.float16).astype(np.float64)
        out[..., first : first + 32] = np.clip(np.rint((part - least) / scale), *codes) * scale + least
    return out


def forward(m, ids, cache="f16"):
    """Logits of every position, `[tokens, vocabulary]`. Keys and values as a cache of this kind gives them back
    ("f16": unchanged)."""
    w, n = m.weights, len(ids)
    positions = np.arange(n)
    visible = positions[None, :] <= positions[:, None]
    if m.window:
        visible &= positions[:, None] - positions[None, :] < m.window
    x = w["model.embed_tokens.weight"][np.asarray(ids)]

    def linear(name, x):
        y = x @ w[name + ".weight"].T
        return y + w[name + ".bias"] if name + ".bias" in w else y

    for layer in range(m.layers):
        p = f"model.layers.{layer}."
        h = norm(x, w[p + "input_layernorm.weight"], m.eps)
        q = linear(p + "self_attn.q_proj", h).reshape(n, m.heads, m.head_dim)
        k = linear(p + "self_attn.k_proj", h).reshape(n, m.kv_heads, m.head_dim)
        v = linear(p + "self_attn.v_proj", h).reshape(n, m.kv_heads, m.head_dim)
        if p + "self_attn.q_norm.weight" in w:
            q = norm(q, w[p + "self_attn.q_norm.weight"], m.eps)
            k = norm(k, w[p + "self_attn.k_norm.weight"], m.eps)
        q, k = rotate(q, m, positions), rotate(k, m, positions)
        k, v = cached(k, cache), cached(v, cache)
        mixed = np.empty_like(q)
        for head in range(m.heads):
            kv = head // (m.heads // m.kv_heads)
            scores = q[:, head] @ k[:, kv].T / math.sqrt(m.head_dim)
            scores = np.where(visible, scores, -np.inf)
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            mixed[:, head] = scores / scores.sum(-1, keepdims=True) @ v[:, kv]
        x = x + linear(p + "self_attn.o_proj", mixed.reshape(n, -1))
        h = norm(x, w[p + "post_attention_layernorm.weight"], m.eps)
        gate = linear(p + "mlp.gate_proj", h)
        gate = gate / (1 + np.exp(-gate))
        x = x + linear(p + "mlp.down_proj", gate * linear(p + "mlp.up_proj", h))
    x = norm(x, w["model.norm.weight"], m.eps)
    head = w.get("lm_head.weight", w["model.embed_tokens.weight"])
    return x @ head.T


GGUF_NAMES = {
    "token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head",
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj", "attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm",
    "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
}  # fmt: skip


def parse_gguf(path):
    """GGUF version 1, 2 or 3: (metadata, {name: (GGML type number, shape, bytes)})."""
    data = open(path, "rb").read()
    at = 0

    def take(form):
        nonlocal at
        (value,) = struct.unpack_from("<" + form, data, at)
        at += struct.calcsize("<" + form)
        return value

    magic, version = take("I"), take("I")
    assert magic == 0x46554747 and version in (1, 2, 3), path
    count = "I" if version == 1 else "Q"  # version 1 counts in 32 bits

    def text():
        nonlocal at
        length = take(count)
        at += length
        return data[at - length : at].decode()

    forms = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}

    def value(kind):
        if kind == 8:
            return text()
        if kind == 9:
            kind, length = take("I"), take(count)
            return [value(kind) for _ in range(length)]
        return take(forms[kind])

    tensors, pairs = take(count), take(count)
    meta = {}
    for _ in range(pairs):
        key = text()
        meta[key] = value(take("I"))
    infos = []
    for _ in range(tensors):
        name = text()
        shape = [take(count) for _ in range(take("I"))]
        infos.append((name, shape, take("I"), take("Q")))
    alignment = meta.get("general.alignment", 32)
    base = -(-at // alignment) * alignment
    out = {}
    for name, shape, kind, offset in infos:
        # The package's Q8_1 has the size it had in memory once.
        block, size = (32, 36) if kind == 9 else GGML_QUANT_SIZES[GGMLQuantizationType(kind)]
        length = math.prod(shape) // block * size
        out[name] = (kind, shape, data[base + offset : base + offset + length])
    return meta, out


def read_gguf(path):
    meta, tensors = parse_gguf(path)
    family = meta["general.architecture"]
    get = lambda key, default=None: meta.get(f"{family}.{key}", default)
    heads = get("attention.head_count")
    m = Plain(
        heads=heads,
        kv_heads=get("attention.head_count_kv", heads),
        head_dim=get("attention.key_length", get("embedding_length") // heads),
        layers=get("block_count"),
        eps=get("attention.layer_norm_rms_epsilon"),
        theta=get("rope.freq_base", 10000.0),
        interleaved=family == "llama",
    )
    if get("rope.scaling.type"):
        m.rope = {"rope_type": get("rope.scaling.type"), "factor": get("rope.scaling.factor"),
                  "original_max_position_embeddings": get("rope.scaling.original_context_length")}  # fmt: skip
    for name, (kind, shape, raw) in tensors.items():
        kind = GGMLQuantizationType(kind)
        rows = math.prod(shape[1:])
        raw = np.frombuffer(raw, np.uint8).reshape(rows, -1)
        values = pf.q8_1(raw) if kind == 9 else gguf_dequantize(raw, kind)
        values = np.asarray(values).reshape(shape[::-1]).astype(np.float64)
        if name == "rope_freqs.weight":
            m.rope = {"factors": values}
            continue
        parts = name.split(".")
        prefix = f"model.layers.{parts[1]}." if parts[0] == "blk" else ""
        m.weights[f"{prefix}{GGUF_NAMES[parts[-2]]}.{parts[-1]}"] = values
    return m


def read_folder_tensors(folder):
    out = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".safetensors"):
            out.update(mf.read_safetensors(os.path.join(folder, name)))
    return out


def read_config(folder):
    config = json.load(open(os.path.join(folder, "config.json")))
    return config.get("text_config", config)


def module_quantization(quantization, module):
    entry = quantization.get(module, True)
    if isinstance(entry, dict):
        return entry.get("group_size", 64), entry.get("bits", 4)
    return quantization["group_size"], quantization["bits"]


def read_folder(folder):
    c = read_config(folder)
    m = Plain(
        heads=c["num_attention_heads"],
        kv_heads=c["num_key_value_heads"],
        head_dim=c["head_dim"],
        layers=c["num_hidden_layers"],
        eps=c["rms_norm_eps"],
        theta=c["rope_theta"],
        interleaved=False,
        window=c.get("sliding_window"),
        rope=c.get("rope_scaling") or {},
    )
    quantization = c.get("quantization") or {}
    method = c.get("quantization_config") or {}
    tensors = {k.removeprefix("language_model."): t for k, t in read_folder_tensors(folder).items()}
    for name, t in tensors.items():
        module, part = name.rsplit(".", 1)
        if part in pf.PARTS:
            continue
        found = pf.read(quantization, method, tensors, module, part)
        if found is not None:
            m.weights[module + ".weight"] = found
            continue
        if part == "weight" and module + ".scales" in tensors:
            group, bits = module_quantization(quantization, module)
            scales, biases = (tensors[f"{module}.{s}"].f32().astype(np.float64) for s in ("scales", "biases"))
            q = mf.unpack(t.data, bits)
            m.weights[name] = q * np.repeat(scales, group, 1) + np.repeat(biases, group, 1)
        else:
            m.weights[name] = t.f32().astype(np.float64)
    return m


def read(path):
    """Reads a GGUF file or an MLX folder."""
    return read_folder(path) if os.path.isdir(path) else read_gguf(path)
