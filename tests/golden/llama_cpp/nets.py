"""Models as GGUF files that stand for themselves, with names of GGUF only: gated delta nets (llama.cpp wants keys and
values of one width), state spaces, and families whose folders have other tensors."""

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
    return model(arch, metadata, tensors)


def model(arch, metadata, tensors):
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


def matrix(*shape):
    return [list(shape), 0.0, round(1.7 / shape[-1] ** 0.5, 4)]


def norm(size):
    return [[size], 1.0, 0.25]


def bias(size):
    return [[size], 0.0, 0.1]


WIDTH, HEADS, KEYS, DIM, MLP = 48, 4, 2, 12, 56


def attention(biases=False, keys=KEYS):
    made = {}
    for name, rows in (("q", HEADS * DIM), ("k", keys * DIM), ("v", keys * DIM)):
        made[f"attn_{name}.weight"] = matrix(rows, WIDTH)
        if biases:
            made[f"attn_{name}.bias"] = bias(rows)
    return made | {"attn_output.weight": matrix(WIDTH, HEADS * DIM)}


def mlp(gated=True):
    gate = {"ffn_gate.weight": matrix(MLP, WIDTH)} if gated else {}
    return gate | {"ffn_up.weight": matrix(MLP, WIDTH), "ffn_down.weight": matrix(WIDTH, MLP)}


def experts(width=EXPERT, gated=True, shared=0, correction=False):
    made = {
        "ffn_gate_inp.weight": matrix(COUNT_EXPERTS, WIDTH),
        "ffn_up_exps.weight": matrix(COUNT_EXPERTS, width, WIDTH),
        "ffn_down_exps.weight": matrix(COUNT_EXPERTS, WIDTH, width),
    }
    if gated:
        made["ffn_gate_exps.weight"] = matrix(COUNT_EXPERTS, width, WIDTH)
    if correction:
        made["exp_probs_b.bias"] = [[COUNT_EXPERTS], 0.0, 0.3]
    if shared:
        made |= {"ffn_up_shexp.weight": matrix(shared, WIDTH), "ffn_down_shexp.weight": matrix(WIDTH, shared)}
        if gated:
            made["ffn_gate_shexp.weight"] = matrix(shared, WIDTH)
    return made


def norms(*names, biases=False):
    made = {f"{name}.weight": norm(WIDTH) for name in names}
    return made | ({f"{name}.bias": bias(WIDTH) for name in names} if biases else {})


def space(heads, dim, state, groups, normed=True):
    inner = heads * dim
    channels = inner + 2 * groups * state
    made = {
        "ssm_in.weight": matrix(inner + channels + heads, WIDTH),
        "ssm_conv1d.weight": [[channels, 4], 0.0, 0.7],
        "ssm_conv1d.bias": bias(channels),
        "ssm_dt.bias": [[heads], -1.0, 1.0],
        "ssm_a": [[heads, 1], -2.0, 1.5],
        "ssm_d": [[heads, 1], 1.0, 0.25],
        "ssm_out.weight": matrix(WIDTH, inner),
    }
    return made | ({"ssm_norm.weight": [[groups, inner // groups], 1.0, 0.25]} if normed else {})


def spaces(heads, dim, state, groups):
    return {
        "ssm.conv_kernel": 4,
        "ssm.state_size": state,
        "ssm.group_count": groups,
        "ssm.time_step_rank": heads,
        "ssm.inner_size": heads * dim,
    }


def gemma4(windows, sharing, per_layer, full_dim=24, keys_are_values=False):
    """Layers with windows or without; so many of the last take keys and values of earlier ones."""
    made = []
    for layer, windowed in enumerate(windows):
        dim, own = DIM if windowed else full_dim, layer < len(windows) - sharing
        key_heads = 1 if keys_are_values and not windowed else KEYS
        width = MLP if own else 2 * MLP
        names = norms("attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm") | {
            "attn_q.weight": matrix(HEADS * dim, WIDTH),
            "attn_q_norm.weight": norm(dim),
            "attn_output.weight": matrix(WIDTH, HEADS * dim),
            "ffn_gate.weight": matrix(width, WIDTH),
            "ffn_up.weight": matrix(width, WIDTH),
            "ffn_down.weight": matrix(WIDTH, width),
            "layer_output_scale.weight": [[1], 0.8, 0.3],
        }
        if own:
            names |= {"attn_k.weight": matrix(key_heads * dim, WIDTH), "attn_k_norm.weight": norm(dim)}
            if key_heads == KEYS:
                names["attn_v.weight"] = matrix(key_heads * dim, WIDTH)
        if per_layer:
            names |= {
                "inp_gate.weight": matrix(per_layer, WIDTH),
                "proj.weight": matrix(WIDTH, per_layer),
                "post_norm.weight": norm(WIDTH),
            }
        made.append(names)
    net = blocks(
        "gemma4",
        *made,
        tied=True,
        feed_forward_length=[names["ffn_up.weight"][0][0] for names in made],
        attention__head_count_kv=[1 if keys_are_values and not windowed else KEYS for windowed in windows],
        attention__key_length=full_dim,
        attention__value_length=full_dim,
        attention__key_length_swa=DIM,
        attention__value_length_swa=DIM,
        attention__sliding_window=7,
        attention__sliding_window_pattern=windows,
        attention__shared_kv_layers=sharing,
        rope__dimension_count=full_dim,
        rope__dimension_count_swa=DIM,
        rope__freq_base=5000.0,
        rope__freq_base_swa=20000.0,
        embedding_length_per_layer_input=per_layer,
        final_logit_softcapping=3.0,
    )
    if per_layer:
        all_of_them = len(windows) * per_layer
        net["tensors"] |= {
            "per_layer_token_embd.weight": [[VOCABULARY, all_of_them], 0.0, 1.5],
            "per_layer_model_proj.weight": matrix(all_of_them, WIDTH),
            "per_layer_proj_norm.weight": norm(per_layer),
        }
    # make.py makes pairs of the second half such that do not turn.
    net["tensors"]["rope_freqs.weight"] = [[full_dim // 2], 1.0, 0.0]
    net["gguf"]["names"] = {name: name for name in net["tensors"]}
    return net


def blocks(arch, *all_of_them, layer_norm=False, norm_biases=False, tied=False, head_bias=False, **metadata):
    """A model of these blocks."""
    numbers = {
        "block_count": len(all_of_them),
        "context_length": 512,
        "embedding_length": WIDTH,
        "feed_forward_length": MLP,
        "attention.head_count": HEADS,
        "attention.head_count_kv": KEYS,
        "attention.key_length": DIM,
        "attention.value_length": DIM,
        "rope.dimension_count": DIM,
        "rope.freq_base": 10000.0,
        "attention.layer_norm_epsilon" if layer_norm else "attention.layer_norm_rms_epsilon": 1e-5,
    }
    numbers |= {key.replace("__", "."): number for key, number in metadata.items()}
    tensors = {
        "token_embd.weight": [[VOCABULARY, WIDTH], 0.0, round(1.7 / WIDTH**0.5, 4) if tied else 1.5],
        "output_norm.weight": norm(WIDTH),
    }
    if not tied:
        tensors["output.weight"] = matrix(VOCABULARY, WIDTH)
    if norm_biases:
        tensors["output_norm.bias"] = bias(WIDTH)
    for layer, names in enumerate(all_of_them):
        tensors |= {f"blk.{layer}.{name}": tensor for name, tensor in names.items()}
    return model(arch, numbers, tensors)


BEFORE = norms("attn_norm", "ffn_norm")
BEFORE_BIASED = norms("attn_norm", "ffn_norm", biases=True)
# The name as the converter writes it.
FALCON = norms("attn_norm") | {"ffn_norm": norm(WIDTH)}
BEHIND = norms("post_attention_norm", "post_ffw_norm")
OF_HEADS = {"attn_q_norm.weight": norm(DIM), "attn_k_norm.weight": norm(DIM)}
OF_ALL_HEADS = {"attn_q_norm.weight": norm(HEADS * DIM), "attn_k_norm.weight": norm(KEYS * DIM)}
OF_EACH_HEAD = {"attn_q_norm.weight": [[HEADS, DIM], 1.0, 0.25], "attn_k_norm.weight": [[KEYS, DIM], 1.0, 0.25]}
CHOSEN = {"expert_count": COUNT_EXPERTS, "expert_used_count": 3}
SPACE = (6, 16, 8, 2)
WHOLE = (6, 16, 8, 1)


NETS = {
    "qwen3next": net("qwen3next", 48, 4, 2, 20, 2, 6, 12, 5, 4),
    "qwen35": net("qwen35", 52, 3, 1, 28, 3, 6, 20, 5, 2, mlp=76, tied=True),
    "qwen35moe": net("qwen35moe", 48, 4, 2, 24, 2, 4, 16, 3, 2),
    "mixtral": blocks("llama", *[BEFORE | attention() | experts(MLP - 8)] * 2, feed_forward_length=MLP - 8, **CHOSEN),
    # llama.cpp takes as many heads of keys as of queries there.
    "olmoe": blocks(
        "olmoe",
        *[
            BEFORE
            | attention(keys=HEADS)
            | {"attn_q_norm.weight": norm(HEADS * DIM), "attn_k_norm.weight": norm(HEADS * DIM)}
            | experts(MLP - 8)
        ]
        * 2,
        attention__head_count_kv=HEADS,
        feed_forward_length=MLP - 8,
        **CHOSEN,
    ),
    "minimax-m2": blocks(
        "minimax-m2",
        *[BEFORE | attention() | OF_ALL_HEADS | experts(correction=True)] * 2,
        feed_forward_length=EXPERT,
        expert_feed_forward_length=EXPERT,
        expert_gating_func=2,
        rope__dimension_count=6,
        **CHOSEN,
    ),
    "exaone4": blocks("exaone4", *[BEHIND | attention() | OF_HEADS | mlp()] * 2),
    "exaone4 of 64 layers": blocks(
        "exaone4", *[BEHIND | attention() | OF_HEADS | mlp()] * 64, attention__sliding_window=6
    ),
    "internlm2": blocks("internlm2", *[BEFORE | attention() | mlp()] * 2),
    "hunyuan-dense": blocks("hunyuan-dense", *[BEFORE | attention() | OF_HEADS | mlp()] * 2, tied=True),
    "mistral3": blocks("mistral3", *[BEFORE | attention() | mlp()] * 2),
    "mistral3 with growing queries": blocks(
        "mistral3",
        *[BEFORE | attention() | mlp()] * 2,
        attention__temperature_scale=0.1,
        rope__scaling__type="yarn",
        rope__scaling__factor=4.0,
        rope__scaling__original_context_length=16,
        rope__scaling__yarn_beta_fast=32.0,
        rope__scaling__yarn_beta_slow=1.0,
        rope__scaling__yarn_log_multiplier=1.0,
    ),
    "stablelm": blocks(
        "stablelm",
        *[BEFORE_BIASED | attention(biases=True) | mlp()] * 2,
        layer_norm=True,
        norm_biases=True,
        rope__dimension_count=4,
        use_parallel_residual=False,
    ),
    "stablelm in parallel": blocks(
        "stablelm",
        *[norms("attn_norm", biases=True) | attention() | OF_EACH_HEAD | mlp()] * 2,
        layer_norm=True,
        norm_biases=True,
        rope__dimension_count=4,
        use_parallel_residual=True,
    ),
    "nemotron": blocks(
        "nemotron",
        *[BEFORE_BIASED | attention() | mlp(gated=False)] * 2,
        layer_norm=True,
        norm_biases=True,
        rope__dimension_count=6,
    ),
    "mamba2": blocks(
        "mamba2",
        *[norms("attn_norm") | space(*SPACE)] * 2,
        attention__head_count=0,
        attention__head_count_kv=0,
        feed_forward_length=0,
        **spaces(*SPACE),
    ),
    "granitehybrid": blocks(
        "granitehybrid",
        *[BEFORE | space(*WHOLE) | mlp(), BEFORE | attention() | mlp(), BEFORE | space(*WHOLE) | mlp()],
        attention__head_count_kv=[0, KEYS, 0],
        rope__scaling__finetuned=False,
        embedding_scale=3.0,
        residual_scale=0.4,
        attention__scale=0.2,
        logit_scale=2.0,
        **spaces(*WHOLE),
    ),
    "granitehybrid with experts": blocks(
        "granitehybrid",
        *[BEFORE | attention() | experts(MLP - 8, shared=SHARED), BEFORE | space(*WHOLE) | experts(MLP - 8, shared=SHARED)],
        attention__head_count_kv=[KEYS, 0],
        feed_forward_length=MLP - 8,
        embedding_scale=3.0,
        residual_scale=0.4,
        attention__scale=0.2,
        logit_scale=2.0,
        expert_shared_feed_forward_length=SHARED,
        **CHOSEN,
        **spaces(*WHOLE),
    ),
    "nemotron_h": blocks(
        "nemotron_h",
        *[norms("attn_norm") | part for part in (space(*SPACE), mlp(gated=False), attention(), space(*SPACE), mlp(gated=False))],
        attention__head_count_kv=[0, 0, KEYS, 0, 0],
        attention__layer_norm_epsilon=1e-5,
        feed_forward_length=[0, MLP, 0, 0, MLP],
        **spaces(*SPACE),
    ),
    "nemotron_h_moe": blocks(
        "nemotron_h_moe",
        *[
            norms("attn_norm") | part
            for part in (space(*SPACE), experts(gated=False, shared=SHARED, correction=True), attention())
        ],
        attention__head_count_kv=[0, 0, KEYS],
        attention__layer_norm_epsilon=1e-5,
        feed_forward_length=[0, EXPERT, 0],
        expert_feed_forward_length=EXPERT,
        expert_shared_feed_forward_length=SHARED,
        expert_shared_count=1,
        expert_weights_norm=True,
        expert_weights_scale=2.5,
        expert_group_count=1,
        expert_group_used_count=1,
        **CHOSEN,
        **spaces(*SPACE),
    ),
    "gemma4": gemma4([True, False, True, False], 0, 0),
    "gemma4 with keys as values": gemma4([True, False], 0, 0, keys_are_values=True),
    "gemma4 that shares": gemma4([True, True, False, True, False], 2, 10),
    "falcon-h1": blocks(
        "falcon-h1", *[FALCON | attention() | space(*SPACE, normed=False) | mlp()] * 2, **spaces(*SPACE)
    ),
    "falcon-h1 with a norm": blocks(
        "falcon-h1", *[FALCON | attention() | space(*SPACE) | mlp()] * 2, **spaces(*SPACE)
    ),
}
