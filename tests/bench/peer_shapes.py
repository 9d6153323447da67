"""Writes models of random weights with the shapes that `c_examples/bench.c --shape` has as GGUF files, so that llama.cpp's own
llama-bench can run them (and libmlxrocm, from the same file):

    peer_shapes.py NAME OUT.gguf [f16|bf16]

NAME: llama-8b, qwen3-0.6b, qwen3-8b, qwen3-30b-a3b, smollm-experts, qwen3.5-0.8b, qwen3.5-4b, qwen3.5-27b, qwen3.5-35b-a3b, gpt-oss-20b.

`llama-8b` has Qwen3-8B's sizes and no norms of heads: for `c_examples/11_llama_by_hand.c`. Matrices are Q4_0, or as the third argument
says; gpt-oss' experts MXFP4 and its other matrices Q8_0, as its published files are. Needs numpy.
"""

import struct
import sys

import numpy

F32, F16, Q4_0, Q8_0, BF16, MXFP4 = 0, 1, 2, 8, 30, 39
BYTES_OF_32 = {F32: 128, F16: 64, Q4_0: 18, Q8_0: 34, BF16: 64, MXFP4: 17}
PLAIN = {"f16": F16, "bf16": BF16}
ALIGN = 32
# hidden, mlp, layers, heads, kv heads, head, vocabulary, key heads, value heads, experts, of which chosen
HYBRIDS = {
    "qwen3.5-0.8b": (1024, 3584, 24, 8, 2, 256, 248320, 16, 16, 0, 0),
    "qwen3.5-4b": (2560, 9216, 32, 16, 4, 256, 248320, 16, 32, 0, 0),
    "qwen3.5-27b": (5120, 17408, 64, 24, 4, 256, 248320, 16, 48, 0, 0),
    "qwen3.5-35b-a3b": (2048, 512, 40, 16, 2, 256, 248320, 16, 32, 256, 8),
}
INTERVAL, TAPS, STATE = 4, 4, 128
# architecture, hidden, mlp, layers, heads, kv heads, head, vocabulary, whether the head is the embedding, experts, of which chosen
TRANSFORMERS = {
    "llama-8b": ("llama", 4096, 12288, 36, 32, 8, 128, 151936, False),
    "qwen3-8b": ("qwen3", 4096, 12288, 36, 32, 8, 128, 151936, False),
    "qwen3-0.6b": ("qwen3", 1024, 3072, 28, 16, 8, 128, 151936, True),
    "qwen3-30b-a3b": ("qwen3moe", 2048, 768, 48, 32, 4, 128, 151936, False, 128, 8),
    "smollm-experts": ("qwen3moe", 576, 1536, 30, 9, 3, 64, 49152, True, 8, 2),
}


def hybrid(hidden, mlp, layers, heads, kv_heads, head, vocabulary, keys, values, experts, chosen):
    inner, channels = values * STATE, (2 * keys + values) * STATE
    facts = {
        "block_count": layers, "context_length": 40960, "embedding_length": hidden, "attention.head_count": heads,
        "attention.head_count_kv": kv_heads, "attention.key_length": head, "attention.value_length": head,
        "attention.layer_norm_rms_epsilon": 1e-6, "rope.freq_base": 1e7, "rope.dimension_count": head // 4,
        "rope.dimension_sections": [11, 11, 10, 0], "full_attention_interval": INTERVAL, "ssm.conv_kernel": TAPS,
        "ssm.state_size": STATE, "ssm.group_count": keys, "ssm.time_step_rank": values, "ssm.inner_size": inner,
        "vocab_size": vocabulary,
    }
    if experts:
        facts |= {"expert_count": experts, "expert_used_count": chosen, "expert_feed_forward_length": mlp,
                  "expert_shared_feed_forward_length": mlp}
    else:
        facts["feed_forward_length"] = mlp
    tensors = {"token_embd.weight": (Q4_0, vocabulary, hidden), "output_norm.weight": (F32, hidden)}
    if layers > 32:
        tensors["output.weight"] = (Q4_0, vocabulary, hidden)
    for layer in range(layers):
        names = {"attn_norm.weight": (F32, hidden), "post_attention_norm.weight": (F32, hidden)}
        if (layer + 1) % INTERVAL:
            names |= {
                "ssm_conv1d.weight": (F32, channels, TAPS), "attn_qkv.weight": (Q4_0, channels, hidden),
                "attn_gate.weight": (Q4_0, inner, hidden), "ssm_dt.bias": (F32, values), "ssm_a": (F32, values),
                "ssm_norm.weight": (F32, STATE), "ssm_out.weight": (Q4_0, hidden, inner),
                "ssm_beta.weight": (Q4_0, values, hidden), "ssm_alpha.weight": (Q4_0, values, hidden),
            }
        else:
            names |= {
                "attn_q.weight": (Q4_0, 2 * heads * head, hidden), "attn_k.weight": (Q4_0, kv_heads * head, hidden),
                "attn_v.weight": (Q4_0, kv_heads * head, hidden), "attn_output.weight": (Q4_0, hidden, heads * head),
                "attn_q_norm.weight": (F32, head), "attn_k_norm.weight": (F32, head),
            }
        if experts:
            names |= {
                "ffn_gate_inp.weight": (F32, experts, hidden), "ffn_gate_exps.weight": (Q4_0, experts, mlp, hidden),
                "ffn_up_exps.weight": (Q4_0, experts, mlp, hidden), "ffn_down_exps.weight": (Q4_0, experts, hidden, mlp),
                "ffn_gate_shexp.weight": (Q4_0, mlp, hidden), "ffn_up_shexp.weight": (Q4_0, mlp, hidden),
                "ffn_down_shexp.weight": (Q4_0, hidden, mlp), "ffn_gate_inp_shexp.weight": (F32, hidden),
            }
        else:
            names |= {"ffn_gate.weight": (Q4_0, mlp, hidden), "ffn_up.weight": (Q4_0, mlp, hidden),
                      "ffn_down.weight": (Q4_0, hidden, mlp)}
        tensors |= {f"blk.{layer}.{name}": tensor for name, tensor in names.items()}
    return ("qwen35moe" if experts else "qwen35"), facts, tensors


def transformer(arch, hidden, mlp, layers, heads, kv_heads, head, vocabulary, tied, experts=0, chosen=0):
    facts = {
        "block_count": layers, "context_length": 40960, "embedding_length": hidden, "feed_forward_length": mlp,
        "attention.head_count": heads, "attention.head_count_kv": kv_heads, "attention.layer_norm_rms_epsilon": 1e-6,
        "rope.freq_base": 1e6, "rope.dimension_count": head, "vocab_size": vocabulary,
    }
    if arch != "llama":
        facts |= {"attention.key_length": head, "attention.value_length": head}
    if experts:
        facts |= {"expert_count": experts, "expert_used_count": chosen, "expert_feed_forward_length": mlp}
    tensors = {"token_embd.weight": (Q4_0, vocabulary, hidden), "output_norm.weight": (F32, hidden)}
    if not tied:
        tensors["output.weight"] = (Q4_0, vocabulary, hidden)
    for layer in range(layers):
        names = {
            "attn_norm.weight": (F32, hidden), "ffn_norm.weight": (F32, hidden), "attn_q.weight": (Q4_0, heads * head, hidden),
            "attn_k.weight": (Q4_0, kv_heads * head, hidden), "attn_v.weight": (Q4_0, kv_heads * head, hidden),
            "attn_output.weight": (Q4_0, hidden, heads * head),
        }
        if arch != "llama":
            names |= {"attn_q_norm.weight": (F32, head), "attn_k_norm.weight": (F32, head)}
        if experts:
            names |= {
                "ffn_gate_inp.weight": (F32, experts, hidden), "ffn_gate_exps.weight": (Q4_0, experts, mlp, hidden),
                "ffn_up_exps.weight": (Q4_0, experts, mlp, hidden), "ffn_down_exps.weight": (Q4_0, experts, hidden, mlp),
            }
        else:
            names |= {"ffn_gate.weight": (Q4_0, mlp, hidden), "ffn_up.weight": (Q4_0, mlp, hidden),
                      "ffn_down.weight": (Q4_0, hidden, mlp)}
        tensors |= {f"blk.{layer}.{name}": tensor for name, tensor in names.items()}
    return arch, facts, tensors


def gpt_oss():
    hidden, mlp, layers, heads, kv_heads, head, vocabulary, experts, chosen = 2880, 2880, 24, 64, 8, 64, 201088, 32, 4
    facts = {
        "block_count": layers, "context_length": 131072, "embedding_length": hidden, "feed_forward_length": mlp,
        "attention.head_count": heads, "attention.head_count_kv": kv_heads, "attention.key_length": head,
        "attention.value_length": head, "attention.layer_norm_rms_epsilon": 1e-5, "attention.sliding_window": 128,
        "rope.freq_base": 150000.0, "rope.dimension_count": head, "rope.scaling.type": "yarn", "rope.scaling.factor": 32.0,
        "rope.scaling.original_context_length": 4096, "expert_count": experts, "expert_used_count": chosen,
        "expert_feed_forward_length": mlp, "vocab_size": vocabulary,
    }
    tensors = {"token_embd.weight": (Q8_0, vocabulary, hidden), "output_norm.weight": (F32, hidden),
               "output.weight": (Q8_0, vocabulary, hidden)}
    for layer in range(layers):
        names = {"attn_norm.weight": (F32, hidden), "post_attention_norm.weight": (F32, hidden), "attn_sinks.weight": (F32, heads)}
        for name, rows, columns in [("q", heads * head, hidden), ("k", kv_heads * head, hidden), ("v", kv_heads * head, hidden),
                                    ("output", hidden, heads * head)]:
            names |= {f"attn_{name}.weight": (Q8_0, rows, columns), f"attn_{name}.bias": (F32, rows)}
        names |= {"ffn_gate_inp.weight": (F32, experts, hidden), "ffn_gate_inp.bias": (F32, experts)}
        for name, rows, columns in [("gate", mlp, hidden), ("up", mlp, hidden), ("down", hidden, mlp)]:
            names |= {f"ffn_{name}_exps.weight": (MXFP4, experts, rows, columns), f"ffn_{name}_exps.bias": (F32, experts, rows)}
        tensors |= {f"blk.{layer}.{name}": tensor for name, tensor in names.items()}
    return "gpt-oss", facts, tensors


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def entry(key, value):
    if isinstance(value, str):
        return text(key) + struct.pack("<I", 8) + text(value)
    if isinstance(value, list) and isinstance(value[0], str):
        return text(key) + struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value))
    if isinstance(value, list):
        return text(key) + struct.pack("<IIQ", 9, 5, len(value)) + struct.pack(f"<{len(value)}i", *value)
    return text(key) + (struct.pack("<If", 6, value) if isinstance(value, float) else struct.pack("<II", 4, value))


def size(tensor):
    kind, *shape = tensor
    return int(numpy.prod(shape)) * BYTES_OF_32[kind] // 32


def noise(kind, count):
    """So many bytes of blocks: numbers of deviation about 0.02, of vectors and small matrices about 0.5."""
    random = numpy.random.default_rng(kind)
    if kind == F32:
        return random.normal(0.0, 0.5, count // 4).astype(numpy.float32).tobytes()
    if kind in (F16, BF16):
        # The same numbers again and again.
        numbers = random.normal(0.0, 0.02, min(count // 2, 1 << 24)).astype(numpy.float32)
        halves = numbers.astype(numpy.float16) if kind == F16 else (numbers.view(numpy.uint32) >> 16).astype(numpy.uint16)
        return numpy.resize(halves, count // 2).tobytes()
    block = BYTES_OF_32[kind]
    blocks = random.integers(0, 256, (count // block, block), numpy.uint8)
    if kind == MXFP4:
        blocks[:, 0] = 119  # 2^-8
    else:
        scale = numpy.array([0.004 if kind == Q4_0 else 0.0003], numpy.float16)
        blocks[:, :2] = scale.view(numpy.uint8)
    return blocks.tobytes()


def main():
    name, path, *plain = sys.argv[1:]
    if name == "gpt-oss-20b":
        arch, facts, tensors = gpt_oss()
    elif name in TRANSFORMERS:
        arch, facts, tensors = transformer(*TRANSFORMERS[name])
    else:
        arch, facts, tensors = hybrid(*HYBRIDS[name])
    if plain:
        tensors = {name: (PLAIN[plain[0]] if kind == Q4_0 else kind, *shape) for name, (kind, *shape) in tensors.items()}
    largest = {kind: max((size(t) for t in tensors.values() if t[0] == kind), default=0) for kind in BYTES_OF_32}
    pools = {kind: noise(kind, count) for kind, count in largest.items() if count}
    entries = [entry("general.architecture", arch), entry("tokenizer.ggml.model", "gpt2")]
    # Tokens that both programs take, and the one merge without which llama.cpp does not read them.
    words = ["t", "0"] + [f"t{i}" for i in range(facts["vocab_size"] - 2)]
    entries += [entry("tokenizer.ggml.pre", "gpt-2"), entry("tokenizer.ggml.tokens", words),
                entry("tokenizer.ggml.merges", ["t 0"])]
    entries += [entry(f"{arch}.{key}", value) for key, value in facts.items()]
    infos, at = [], 0
    for tensor_name, tensor in tensors.items():
        kind, *shape = tensor
        infos.append(text(tensor_name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *reversed(shape), kind, at))
        at += -(-size(tensor) // ALIGN) * ALIGN
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(entries)) + b"".join(entries) + b"".join(infos)
    with open(path, "wb") as file:
        file.write(head + bytes(-len(head) % ALIGN))
        for tensor_name, tensor in tensors.items():
            count = size(tensor)
            numbers = memoryview(pools[tensor[0]])[:count]
            # What states decay by is negative.
            file.write(-abs(numpy.frombuffer(numbers, numpy.float32)) if tensor_name.endswith("ssm_a") else numbers)
            file.write(bytes(-count % ALIGN))


main()
