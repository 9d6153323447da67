"""Gated delta nets as GGUF files that llama.cpp takes: it wants keys and values of one width. They have names of GGUF
only, so that they stand for themselves."""

VOCABULARY, COUNT_EXPERTS, EXPERT, SHARED = 61, 7, 32, 48


def net(arch, width, heads, kv_heads, head_dim, keys, values, state, layers, interval, mlp=None, tied=False):
    inner = values * state
    channels = 2 * keys * state + inner
    metadata = {
        "block_count": layers,
        "context_length": 512,
        "embedding_length": width,
        "attention.head_count": heads,
        "attention.head_count_kv": kv_heads,
        "attention.key_length": head_dim,
        "attention.value_length": head_dim,
        "attention.layer_norm_rms_epsilon": 1e-6,
        "rope.freq_base": 10000.0,
        "rope.dimension_count": head_dim // 2,
        "full_attention_interval": interval,
        "ssm.conv_kernel": 4,
        "ssm.state_size": state,
        "ssm.group_count": keys,
        "ssm.time_step_rank": values,
        "ssm.inner_size": inner,
    }
    tensors = {"token_embd.weight": [[VOCABULARY, width], 0.0, round(1.7 / width**0.5, 4) if tied else 1.5], "output_norm.weight": [[width], 1.0, 0.25]}
    matrix = lambda *shape: [list(shape), 0.0, round(1.7 / shape[-1] ** 0.5, 4)]
    norm = lambda size: [[size], 1.0, 0.25]
    if not tied:
        tensors["output.weight"] = matrix(VOCABULARY, width)
    if arch != "qwen3next":
        pairs = head_dim // 4
        metadata["rope.dimension_sections"] = [pairs - 2 * (pairs // 3), pairs // 3, pairs // 3, 0]
    if mlp:
        metadata["feed_forward_length"] = mlp
    else:
        metadata |= {
            "expert_count": COUNT_EXPERTS,
            "expert_used_count": 3,
            "expert_feed_forward_length": EXPERT,
            "expert_shared_feed_forward_length": SHARED,
        }
    for layer in range(layers):
        names = {"attn_norm.weight": norm(width), "post_attention_norm.weight": norm(width)}
        if (layer + 1) % interval:
            names |= {
                "ssm_conv1d.weight": [[channels, 4], 0.0, 0.7],
                "attn_qkv.weight": matrix(channels, width),
                "attn_gate.weight": matrix(inner, width),
                "ssm_dt.bias": [[values], -1.0, 1.0],
                "ssm_a": [[values], -2.0, 1.5],
                "ssm_norm.weight": norm(state),
                "ssm_out.weight": matrix(width, inner),
            }
            if arch == "qwen3next":
                names["ssm_ba.weight"] = matrix(2 * values, width)
            else:
                names |= {"ssm_beta.weight": matrix(values, width), "ssm_alpha.weight": matrix(values, width)}
        else:
            names |= {
                "attn_q.weight": matrix(2 * heads * head_dim, width),
                "attn_k.weight": matrix(kv_heads * head_dim, width),
                "attn_v.weight": matrix(kv_heads * head_dim, width),
                "attn_output.weight": matrix(width, heads * head_dim),
                "attn_q_norm.weight": norm(head_dim),
                "attn_k_norm.weight": norm(head_dim),
            }
        if mlp:
            names |= {
                "ffn_gate.weight": matrix(mlp, width),
                "ffn_up.weight": matrix(mlp, width),
                "ffn_down.weight": matrix(width, mlp),
            }
        else:
            names |= {
                "ffn_gate_inp.weight": matrix(COUNT_EXPERTS, width),
                "ffn_gate_exps.weight": matrix(COUNT_EXPERTS, EXPERT, width),
                "ffn_up_exps.weight": matrix(COUNT_EXPERTS, EXPERT, width),
                "ffn_down_exps.weight": matrix(COUNT_EXPERTS, width, EXPERT),
                "ffn_gate_shexp.weight": matrix(SHARED, width),
                "ffn_up_shexp.weight": matrix(SHARED, width),
                "ffn_down_shexp.weight": matrix(width, SHARED),
                "ffn_gate_inp_shexp.weight": matrix(width),
            }
        tensors |= {f"blk.{layer}.{name}": tensor for name, tensor in names.items()}
    return {
        "config": {"vocab_size": VOCABULARY},
        "tensors": tensors,
        "gguf": {
            "architecture": arch,
            "metadata": metadata,
            "names": {name: name for name in tensors},
            "permuted": False,
            "offset": 0.0,
        },
    }


NETS = {
    "qwen3next": net("qwen3next", 48, 4, 2, 20, 2, 6, 12, 5, 4),
    "qwen35": net("qwen35", 52, 3, 1, 28, 3, 6, 20, 5, 2, mlp=76, tied=True),
    "qwen35moe": net("qwen35moe", 48, 4, 2, 24, 2, 4, 16, 3, 2),
}
