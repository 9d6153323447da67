"""Models as GGUF files that stand for themselves, with names of GGUF only: gated delta nets (llama.cpp wants keys and
values of one width), state spaces, and families whose folders have other tensors."""

VOCABULARY, COUNT_EXPERTS, EXPERT, SHARED = 61, 7, 32, 48


def net(arch, width, heads, kv_heads, head_dim, keys, values, state, layers, interval, mlp=None, tied=False, together=False):
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
            rows = {"gate_up": 2 * EXPERT} if together else {"gate": EXPERT, "up": EXPERT}
            names |= {
                "ffn_gate_inp.weight": matrix(COUNT_EXPERTS, width),
                **{f"ffn_{name}_exps.weight": matrix(COUNT_EXPERTS, rows, width) for name, rows in rows.items()},
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


def mlp(gated=True, width=MLP):
    gate = {"ffn_gate.weight": matrix(width, WIDTH)} if gated else {}
    return gate | {"ffn_up.weight": matrix(width, WIDTH), "ffn_down.weight": matrix(WIDTH, width)}


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


def channels(width, state, rank):
    """A state space whose every number decays on its own."""
    return {
        "ssm_in.weight": matrix(2 * width, WIDTH),
        "ssm_conv1d.weight": [[width, 4], 0.0, 0.7],
        "ssm_conv1d.bias": bias(width),
        "ssm_x.weight": matrix(rank + 2 * state, width),
        "ssm_dt.weight": matrix(width, rank),
        "ssm_dt.bias": [[width], -1.0, 1.0],
        "ssm_dt_norm.weight": norm(rank),
        "ssm_b_norm.weight": norm(state),
        "ssm_c_norm.weight": norm(state),
        "ssm_a": [[width, state], -2.0, 1.5],
        "ssm_d": [[width], 1.0, 0.25],
        "ssm_out.weight": matrix(WIDTH, width),
    }


def kimi_delta(dim, axes):
    """A delta rule whose state's columns decay on their own; converters write convolutions with four axes or three."""
    width = HEADS * dim
    made = {f"attn_{name}.weight": matrix(width, WIDTH) for name in "qkv"}
    shape = [1, width, 1, 4] if axes == 4 else [width, 1, 4]
    made |= {f"ssm_conv1d_{name}.weight": [shape, 0.0, 0.7] for name in "qkv"}
    return made | {
        "ssm_f_a.weight": matrix(dim, WIDTH),
        "ssm_f_b.weight": matrix(width, dim),
        "ssm_g_a.weight": matrix(dim, WIDTH),
        "ssm_g_b.weight": matrix(width, dim),
        "ssm_beta.weight": matrix(HEADS, WIDTH),
        "ssm_a": [[1, 1, HEADS, 1] if axes == 4 else [HEADS, 1], -2.0, 1.5],
        "ssm_dt.bias": [[width], -1.0, 1.0],
        "ssm_norm.weight": norm(dim),
        "attn_output.weight": matrix(WIDTH, width),
    }


def kimi_latent(rank, still, turned, value):
    return {
        "attn_q.weight": matrix(HEADS * (still + turned), WIDTH),
        "attn_kv_a_mqa.weight": matrix(rank + turned, WIDTH),
        "attn_kv_a_norm.weight": norm(rank),
        "attn_k_b.weight": matrix(HEADS, rank, still),
        "attn_v_b.weight": matrix(HEADS, value, rank),
        "attn_output.weight": matrix(WIDTH, HEADS * value),
    }


def kimi(axes, **metadata):
    rank, still, turned, value, dim = 32, 20, 8, 16, 10
    delta, latent = BEFORE | kimi_delta(dim, axes), BEFORE | kimi_latent(rank, still, turned, value)
    mixture = experts(shared=EXPERT, correction=True)
    return blocks(
        "kimi-linear",
        *[delta | mlp(), latent | mixture, delta | mixture],
        attention__head_count_kv=[0, 1, 0],
        attention__key_length=rank + turned,
        attention__value_length=rank,
        attention__key_length_mla=still + turned,
        attention__value_length_mla=value,
        attention__kv_lora_rank=rank,
        rope__dimension_count=turned,
        ssm__conv_kernel=4,
        kda__head_dim=dim,
        expert_feed_forward_length=EXPERT,
        expert_shared_count=1,
        expert_gating_func=2,
        leading_dense_block_count=1,
        **metadata,
        **CHOSEN,
    )


def gemma4(windows, sharing, per_layer, full_dim=24, keys_are_values=False, together=None):
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
        if together is not None:
            names |= gemma4_experts(together)
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
        **({} if together is None else {"expert_feed_forward_length": EXPERT} | CHOSEN),
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


def gemma4_experts(together):
    """Experts beside the MLP; their gate and up are one stack or two."""
    made = norms("pre_ffw_norm_2", "post_ffw_norm_1", "post_ffw_norm_2") | {
        "ffn_gate_inp.scale": norm(WIDTH),
        "ffn_gate_inp.weight": [[COUNT_EXPERTS, WIDTH], 0.0, 1.7],
        "ffn_down_exps.weight": matrix(COUNT_EXPERTS, WIDTH, EXPERT),
    }
    if together:
        return made | {
            "ffn_gate_up_exps.weight": matrix(COUNT_EXPERTS, 2 * EXPERT, WIDTH),
            "ffn_down_exps.scale": norm(COUNT_EXPERTS),
        }
    return made | {f"ffn_{name}_exps.weight": matrix(COUNT_EXPERTS, EXPERT, WIDTH) for name in ("gate", "up")}


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
# One number for each block, and without the architecture before the keys.
XIELU = {
    "/xielu__alpha_p": [0.3, 0.5],
    "/xielu__alpha_n": [0.2, 0.45],
    "/xielu__beta": [0.5, 0.4],
    "/xielu__eps": [-1e-6, -3e-6],
}
SPACE = (6, 16, 8, 2)
CHANNELS = (2 * WIDTH, 6, 5)
WHOLE = (6, 16, 8, 1)


def llama4(count):
    """Every fourth layer sees everything; every second one has experts."""
    names = lambda layer: BEFORE | attention() | (experts_of(count) if layer % 2 else mlp())
    return blocks(
        "llama4",
        *[names(layer) for layer in range(4)],
        expert_count=count,
        expert_used_count=1,
        expert_feed_forward_length=EXPERT,
        interleave_moe_layer_step=2,
        rope__freq_base=500000.0,
    )


def experts_of(count):
    made = experts(shared=EXPERT)
    return {name: [[count, *shape[1:]] if shape[0] == COUNT_EXPERTS else shape, *rest] for name, (shape, *rest) in made.items()}


# As llama.cpp takes the long ones beyond the original context.
LONG = {
    "rope__scaling__type": "longrope",
    "rope__scaling__original_context_length": 16,
    "rope__scaling__attn_factor": 1.3,
}


def with_tensors(net, tensors, long=False):
    net["tensors"] |= tensors
    if long:
        net["tensors"] |= {
            "rope_factors_long.weight": [[DIM // 2], 2.5, 1.4],
            "rope_factors_short.weight": [[DIM // 2], 1.2, 0.1],
        }
    net["gguf"]["names"] = {name: name for name in net["tensors"]}
    return net


def phi3(**metadata):
    names = BEFORE | {
        "attn_qkv.weight": matrix((HEADS + 2 * KEYS) * DIM, WIDTH),
        "attn_output.weight": matrix(WIDTH, HEADS * DIM),
        "ffn_up.weight": matrix(2 * MLP, WIDTH),
        "ffn_down.weight": matrix(WIDTH, MLP),
    }
    return with_tensors(blocks("phi3", names, names, **metadata), {}, bool(metadata))


def phimoe(**metadata):
    names = BEFORE_BIASED | attention(biases=True) | {"attn_output.bias": bias(WIDTH)} | experts(MLP - 8)
    net = blocks("phimoe", names, names, norm_biases=True, feed_forward_length=MLP - 8, **metadata, **CHOSEN)
    return with_tensors(net, {"output.bias": bias(VOCABULARY)}, bool(metadata))


NETS = {
    "qwen3next": net("qwen3next", 48, 4, 2, 20, 2, 6, 12, 5, 4),
    "qwen35": net("qwen35", 52, 3, 1, 28, 3, 6, 20, 5, 2, mlp=76, tied=True),
    "qwen35moe": net("qwen35moe", 48, 4, 2, 24, 2, 4, 16, 3, 2),
    "qwen35moe with stacks together": net("qwen35moe", 48, 4, 2, 24, 2, 4, 16, 3, 2, together=True),
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
    "mistral3 with another magnitude": blocks(
        "mistral3",
        *[BEFORE | attention() | mlp()] * 2,
        rope__scaling__type="yarn",
        rope__scaling__factor=4.0,
        rope__scaling__original_context_length=16,
        rope__scaling__yarn_beta_fast=32.0,
        rope__scaling__yarn_beta_slow=1.0,
        rope__scaling__yarn_log_multiplier=0.4,
        rope__scaling__attn_factor=1.2,
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
    "gemma4 with experts": gemma4([True, False], 0, 0, keys_are_values=True, together=True),
    "gemma4 with experts apart": gemma4([True, False], 0, 10, together=False),
    "apertus": blocks("apertus", *[BEFORE | attention() | OF_HEADS | mlp(gated=False)] * 2, **XIELU),
    "apertus with biases": blocks(
        "apertus",
        *[BEFORE | attention(biases=True) | {"attn_output.bias": bias(WIDTH)} | OF_HEADS | mlp(gated=False)] * 2,
        **XIELU,
    ),
    "jamba": blocks(
        "jamba",
        *[
            BEFORE | part
            for part in (
                channels(*CHANNELS) | mlp(width=MLP - 8),
                attention() | experts(MLP - 8),
                channels(*CHANNELS) | experts(MLP - 8),
            )
        ],
        attention__head_count_kv=[0, KEYS, 0],
        feed_forward_length=MLP - 8,
        ssm__conv_kernel=4,
        ssm__inner_size=CHANNELS[0],
        ssm__state_size=CHANNELS[1],
        ssm__time_step_rank=CHANNELS[2],
        **CHOSEN,
    ),
    "kimi-linear": kimi(4, expert_weights_scale=1.6),
    "kimi-linear with three axes": kimi(3),
    "llama4": llama4(3),
    "llama4 with many experts": llama4(128),
    "phimoe": phimoe(),
    "phimoe with long factors": phimoe(**LONG),
    "phi3 with long factors": phi3(**LONG),
    "falcon-h1": blocks(
        "falcon-h1", *[FALCON | attention() | space(*SPACE, normed=False) | mlp()] * 2, **spaces(*SPACE)
    ),
    "falcon-h1 with a norm": blocks(
        "falcon-h1", *[FALCON | attention() | space(*SPACE) | mlp()] * 2, **spaces(*SPACE)
    ),
}
