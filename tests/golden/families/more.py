"""More configs of make.py: experts by other routers, latent attention, recurrent layers."""

from variants import BASE, LLAMA3, YARN, YARN_PLAIN, variants, wrapped

SMALL = {"hidden_size": 48, "intermediate_size": 32}
YARN_ROPE = {key: YARN[key] for key in YARN_PLAIN}
# Experts in DeepSeek's words: eight, in four groups of which two are kept.
ROUTED = SMALL | {
    "num_hidden_layers": 3,
    "intermediate_size": 56,
    "moe_intermediate_size": 32,
    "n_routed_experts": 8,
    "num_experts_per_tok": 3,
    "n_shared_experts": 2,
    "n_group": 4,
    "topk_group": 2,
    "routed_scaling_factor": 1.6,
    "norm_topk_prob": True,
    "first_k_dense_replace": 1,
}
ONE_GROUP = {"n_group": 1, "topk_group": 1, "norm_topk_prob": False, "n_shared_experts": 1, "num_experts_per_tok": 2}
LATENT = {
    "num_key_value_heads": 4,
    "kv_lora_rank": 32,
    "q_lora_rank": 24,
    "qk_nope_head_dim": 20,
    "qk_rope_head_dim": 8,
    "v_head_dim": 16,
}
DEEPSEEK_ROPE = YARN_ROPE | {"type": "yarn", "mscale": 0.7, "mscale_all_dim": 0.9}
NO_QUERY = {"q_lora_rank": None}
CONV = SMALL | {
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "norm_eps": 1e-5,
    "conv_bias": False,
    "conv_L_cache": 3,
    "rope_theta": 10000.0,
    "layer_types": ["conv", "full_attention", "conv"],
    "tie_word_embeddings": True,
}
MAMBA = {
    "mamba_n_heads": 6,
    "mamba_d_head": 8,
    "mamba_d_state": 12,
    "mamba_d_conv": 4,
    "mamba_n_groups": 2,
    "mamba_conv_bias": True,
    "mamba_proj_bias": False,
}
GRANITE = {
    "embedding_multiplier": 1.5,
    "residual_multiplier": 0.6,
    "attention_multiplier": 0.5,
    "logits_scaling": 1.25,
    "attention_bias": False,
}
NEMOTRON = SMALL | {
    "hybrid_override_pattern": list("M*-M"),
    "num_hidden_layers": 4,
    "intermediate_size": 56,
    "head_dim": 12,
    "attention_bias": False,
    "mlp_bias": False,
    "use_bias": False,
    "use_conv_bias": True,
    "mamba_num_heads": 6,
    "mamba_head_dim": 8,
    "mamba_proj_bias": False,
    "ssm_state_size": 12,
    "conv_kernel": 4,
    "n_groups": 3,
    "layer_norm_epsilon": 1e-5,
    "mlp_hidden_act": "relu2",
}

MORE = {
    "qwen3_moe": variants(
        "qwen3_moe",
        SMALL
        | {
            "head_dim": 14,
            "num_experts": 7,
            "num_experts_per_tok": 3,
            "moe_intermediate_size": 32,
            "norm_topk_prob": True,
            "decoder_sparse_step": 1,
            "mlp_only_layers": [],
            "rope_scaling": None,
        },
        tied={"norm_topk_prob": False, "num_hidden_layers": 3, "tie_word_embeddings": True},
    ),
    "qwen3_next": variants(
        "qwen3_next",
        SMALL
        | {
            "num_hidden_layers": 5,
            "intermediate_size": 56,
            "head_dim": 16,
            "partial_rotary_factor": 0.5,
            "linear_num_value_heads": 4,
            "linear_num_key_heads": 2,
            "linear_key_head_dim": 12,
            "linear_value_head_dim": 10,
            "linear_conv_kernel_dim": 4,
            "num_experts": 7,
            "num_experts_per_tok": 3,
            "moe_intermediate_size": 32,
            "shared_expert_intermediate_size": 40,
            "norm_topk_prob": True,
            "decoder_sparse_step": 1,
            "mlp_only_layers": [],
            "full_attention_interval": 4,
        },
        dense={
            "num_experts": 0,
            "num_hidden_layers": 3,
            "full_attention_interval": 2,
            "linear_num_key_heads": 4,
            "tie_word_embeddings": True,
        },
        undivided={"norm_topk_prob": False, "num_hidden_layers": 4},
    ),
    "qwen2_moe": variants(
        "qwen2_moe",
        SMALL
        | {
            "num_experts": 7,
            "num_experts_per_tok": 3,
            "moe_intermediate_size": 32,
            "shared_expert_intermediate_size": 40,
        },
        all={"num_experts": 3, "rope_traditional": True},
    ),
    "glm4_moe": variants(
        "glm4_moe",
        ROUTED
        | {
            "head_dim": 12,
            "partial_rotary_factor": 0.5,
            "use_qk_norm": True,
            "attention_bias": True,
            "rope_scaling": None,
            "scoring_func": "sigmoid",
            "topk_method": "noaux_tc",
        },
        one_group=ONE_GROUP | {"use_qk_norm": False, "attention_bias": False, "first_k_dense_replace": 0},
    ),
    "dots1": variants(
        "dots1",
        ROUTED | {"head_dim": 12, "scoring_func": "noaux_tc"},
        one_group=ONE_GROUP | {"tie_word_embeddings": True, "rope_scaling": LLAMA3},
    ),
    "ernie4_5_moe": variants(
        "ernie4_5_moe",
        SMALL
        | {
            "use_bias": False,
            "moe_num_experts": 6,
            "moe_k": 2,
            "moe_intermediate_size": 32,
            "moe_num_shared_experts": 2,
            "moe_layer_start_index": 1,
            "num_hidden_layers": 3,
            "intermediate_size": 56,
        },
        biases={
            "use_bias": True,
            "moe_gate_act": "sigmoid",
            "moe_num_shared_experts": 0,
            "moe_layer_start_index": 0,
            "moe_layer_interval": 2,
        },
    ),
    "granitemoe": variants(
        "granitemoe",
        SMALL | GRANITE | {"num_local_experts": 6, "num_experts_per_tok": 2},
        biases={"attention_bias": True, "tie_word_embeddings": True, "logits_scaling": 1.0},
    ),
    "phimoe": variants(
        "phimoe",
        SMALL | {"num_local_experts": 6, "num_experts_per_tok": 2, "router_jitter_noise": 0.3},
        long={
            "router_jitter_noise": 0.01,
            "original_max_position_embeddings": 64,
            "rope_scaling": {
                "type": "longrope",
                "short_factor": [1.0, 1.1, 1.2, 1.3, 1.4, 1.5],
                "long_factor": [1.0, 1.5, 2.0, 3.0, 5.0, 6.0],
                "short_mscale": 1.1,
                "long_mscale": 1.2,
            },
        },
    ),
    "minimax": variants(
        "minimax",
        SMALL
        | {
            "num_local_experts": 6,
            "num_experts_per_tok": 3,
            "shared_intermediate_size": 0,
            "head_dim": 14,
            "rotary_dim": 8,
        },
        without={"use_qk_norm": False, "num_experts_per_tok": 1},
    ),
    "llama4": {
        "plain": wrapped(
            "llama4",
            BASE
            | SMALL
            | {
                "model_type": "llama4_text",
                "num_hidden_layers": 4,
                "intermediate_size_mlp": 56,
                "head_dim": 12,
                "attention_bias": False,
                "attention_chunk_size": 16,
                "interleave_moe_layer_step": 2,
                "num_local_experts": 4,
                "num_experts_per_tok": 1,
                "rope_scaling": LLAMA3,
                "use_qk_norm": True,
                "attn_temperature_tuning": 4,
                "floor_scale": 10,
                "attn_scale": 0.3,
            },
        ),
        "dense": BASE
        | SMALL
        | {
            "model_type": "llama4_text",
            "num_hidden_layers": 3,
            "intermediate_size_mlp": 56,
            "head_dim": 12,
            "tie_word_embeddings": True,
            "no_rope_layers": [1, 0, 1],
            "use_qk_norm": False,
        },
    },
    "lfm2": variants(
        "lfm2",
        CONV
        | {
            "block_dim": 48,
            "block_ff_dim": 72,
            "block_multiple_of": 20,
            "block_ffn_dim_multiplier": 1.3,
            "block_auto_adjust_ff_dim": True,
        },
        biases={
            "conv_bias": True,
            "block_auto_adjust_ff_dim": False,
            "conv_L_cache": 4,
            "layer_types": ["conv", "conv", "full_attention"],
        },
    ),
    "lfm2_moe": variants(
        "lfm2_moe",
        CONV
        | {
            "intermediate_size": 56,
            "moe_intermediate_size": 32,
            "num_experts": 6,
            "num_experts_per_tok": 2,
            "norm_topk_prob": True,
            "use_expert_bias": True,
            "num_dense_layers": 1,
        },
        without={"norm_topk_prob": False, "use_expert_bias": False, "num_dense_layers": 0, "routed_scaling_factor": 1.5},
    ),
    "deepseek_v2": variants(
        "deepseek_v2",
        ROUTED
        | LATENT
        | {
            "topk_method": "group_limited_greedy",
            "norm_topk_prob": False,
            "rope_scaling": DEEPSEEK_ROPE,
        },
        greedy={"topk_method": "greedy", "n_group": 1, "topk_group": 1, "attention_bias": True} | NO_QUERY,
        dense={"n_routed_experts": None, "n_shared_experts": None, "rope_scaling": YARN_ROPE | {"type": "yarn"}},
    ),
    "deepseek_v3": variants(
        "deepseek_v3",
        ROUTED | LATENT | {"rope_scaling": DEEPSEEK_ROPE},
        one_group=ONE_GROUP | NO_QUERY | {"rope_scaling": None, "attention_bias": True},
    ),
    "glm4_moe_lite": variants(
        "glm4_moe_lite",
        ROUTED | LATENT | {"num_nextn_predict_layers": 1},
        one_group=ONE_GROUP | {"v_head_dim": 32, "rope_scaling": DEEPSEEK_ROPE},
    ),
    "mamba2": variants(
        "mamba2",
        {
            "num_heads": 6,
            "head_dim": 8,
            "state_size": 12,
            "layer_norm_epsilon": 1e-5,
            "conv_kernel": 4,
            "n_groups": 2,
            "use_bias": False,
            "use_conv_bias": True,
            "time_step_limit": [0.0, 1000.0],
            "time_step_rank": "auto",
        },
        biases={
            "use_bias": True,
            "use_conv_bias": False,
            "time_step_limit": [0.4, 0.9],
            "n_groups": 1,
            "tie_word_embeddings": True,
        },
    ),
    "nemotron_h": variants(
        "nemotron_h",
        NEMOTRON,
        biases={
            "hybrid_override_pattern": list("*MM-"),
            "attention_bias": True,
            "mlp_bias": True,
            "mamba_proj_bias": True,
            "time_step_limit": [0.2, 1.5],
        },
        experts={
            "hybrid_override_pattern": list("MEM*E"),
            "num_hidden_layers": 5,
            "moe_intermediate_size": 32,
            "moe_shared_expert_intermediate_size": 40,
            "n_routed_experts": 8,
            "n_shared_experts": 1,
            "num_experts_per_tok": 3,
            "n_group": 4,
            "topk_group": 2,
            "norm_topk_prob": True,
            "routed_scaling_factor": 1.6,
        },
        narrow={
            "hybrid_override_pattern": list("ME*"),
            "num_hidden_layers": 3,
            "moe_intermediate_size": 32,
            "moe_latent_size": 16,
            "n_routed_experts": 5,
            "num_experts_per_tok": 2,
            "n_group": 1,
            "topk_group": 1,
            "norm_topk_prob": False,
            "routed_scaling_factor": 1.0,
        },
    ),
    "granitemoehybrid": variants(
        "granitemoehybrid",
        SMALL
        | GRANITE
        | MAMBA
        | {
            "num_hidden_layers": 3,
            "layer_types": ["mamba", "attention", "mamba"],
            "num_local_experts": 6,
            "num_experts_per_tok": 2,
            "shared_intermediate_size": 40,
            "position_embedding_type": "nope",
            "tie_word_embeddings": True,
        },
        dense={
            "num_local_experts": 0,
            "position_embedding_type": "rope",
            "mlp_bias": True,
            "attention_bias": True,
            "mamba_proj_bias": True,
            "mamba_conv_bias": False,
            "time_step_limit": [0.3, 0.8],
            "layer_types": ["attention", "mamba", "attention"],
        },
        attention={"layer_types": ["attention"] * 3},
    ),
    "falcon_h1": variants(
        "falcon_h1",
        MAMBA
        | {
            "head_dim": 12,
            "mamba_d_ssm": 48,
            "attention_bias": False,
            "mlp_bias": False,
            "projectors_bias": False,
            "lm_head_multiplier": 0.5,
            "embedding_multiplier": 2.0,
            "tie_word_embeddings": True,
        },
        biases={
            "attention_bias": True,
            "mlp_bias": True,
            "projectors_bias": True,
            "mamba_proj_bias": True,
            "mamba_conv_bias": False,
            "mamba_n_groups": 1,
            "mamba_rms_norm": True,
            "tie_word_embeddings": False,
        },
        before={"mamba_n_groups": 1, "mamba_rms_norm": True, "mamba_norm_before_gate": True},
    ),
    "jamba": variants(
        "jamba",
        SMALL
        | {
            "num_hidden_layers": 4,
            "attn_layer_offset": 1,
            "attn_layer_period": 3,
            "expert_layer_offset": 1,
            "expert_layer_period": 2,
            "mamba_d_conv": 4,
            "mamba_d_state": 6,
            "mamba_expand": 2,
            "num_experts": 4,
            "num_experts_per_tok": 2,
            "tie_word_embeddings": True,
        },
        biases={
            "mamba_proj_bias": True,
            "mamba_conv_bias": False,
            "mamba_dt_rank": 5,
            "num_experts": 1,
            "num_hidden_layers": 2,
            "layers_block_type": ["attention", "mamba"],
            "tie_word_embeddings": False,
        },
    ),
    "kimi_linear": variants(
        "kimi_linear",
        SMALL
        | {
            "num_hidden_layers": 3,
            "intermediate_size": 56,
            "num_key_value_heads": 4,
            "head_dim": 12,
            "linear_attn_config": {
                "kda_layers": [1, 3],
                "full_attn_layers": [2],
                "num_heads": 3,
                "head_dim": 10,
                "short_conv_kernel_size": 4,
            },
            "model_max_length": 512,
            "kv_lora_rank": 32,
            "qk_nope_head_dim": 20,
            "qk_rope_head_dim": 8,
            "v_head_dim": 16,
            "mla_use_nope": True,
            "num_experts": 8,
            "num_experts_per_token": 3,
            "moe_intermediate_size": 32,
            "num_shared_experts": 1,
            "first_k_dense_replace": 1,
            "num_expert_group": 4,
            "topk_group": 2,
            "routed_scaling_factor": 1.6,
        },
        softmax={
            "moe_router_activation_func": "softmax",
            "moe_renormalize": False,
            "num_expert_group": 1,
            "topk_group": 1,
            "num_shared_experts": 0,
            "first_k_dense_replace": 0,
            "tie_word_embeddings": True,
        },
    ),
}

GEMMA4 = {
    "hidden_size": 48,
    "num_hidden_layers": 4,
    "head_dim": 12,
    "global_head_dim": 24,
    "num_kv_shared_layers": 0,
    "hidden_size_per_layer_input": 0,
    "vocab_size_per_layer_input": 61,
    "sliding_window": 7,
    "sliding_window_pattern": 2,
    "final_logit_softcapping": 3.0,
    "tie_word_embeddings": True,
}
MORE["gemma4"] = variants(
    "gemma4_text",
    GEMMA4,
    sharing={
        "num_hidden_layers": 5,
        "num_kv_shared_layers": 2,
        "hidden_size_per_layer_input": 10,
        "use_double_wide_mlp": True,
        "sliding_window_pattern": 3,
        "final_logit_softcapping": None,
        "rope_parameters": {
            "full_attention": {"rope_type": "proportional", "rope_theta": 5000.0, "partial_rotary_factor": 0.5},
            "sliding_attention": {"rope_type": "default", "rope_theta": 20000.0},
        },
    },
    experts={
        "num_hidden_layers": 2,
        "enable_moe_block": True,
        "num_experts": 6,
        "top_k_experts": 2,
        "moe_intermediate_size": 32,
        "attention_k_eq_v": True,
        "num_global_key_value_heads": 1,
        "layer_types": ["sliding_attention", "full_attention"],
        "tie_word_embeddings": False,
    },
)
MORE["gemma4"]["wrapped"] = wrapped("gemma4", MORE["gemma4"]["sharing"])

# As VARIANTS' GGUF.
MORE_GGUF = {
    "qwen3_moe": ("qwen3moe", ["plain"], False),
    "qwen2_moe": ("qwen2moe", ["plain"], False),
    "glm4_moe": ("glm4moe", ["plain", "one_group"], False),
    "dots1": ("dots1", ["single"], False),
    "ernie4_5_moe": ("ernie4_5-moe", ["plain"], False),
    "granitemoe": ("granitemoe", ["plain"], True),
    "lfm2": ("lfm2", ["plain", "biases"], False),
    "lfm2_moe": ("lfm2moe", ["plain"], False),
    "deepseek_v2": ("deepseek2", ["greedy", "old"], False),
    "deepseek_v3": ("deepseek2", ["plain", "one_group"], False),
}
# llama.cpp takes as many heads of keys as of queries there.
MORE["dots1"]["single"] = MORE["dots1"]["plain"] | {"n_group": 1, "topk_group": 1, "num_key_value_heads": 4}
# Files of llama.cpp have one number for all norms.
for name in ("plain", "one_group"):
    MORE["deepseek_v3"][name] |= {"rms_norm_eps": 1e-6}
MORE["deepseek_v2"]["greedy"] |= {"rms_norm_eps": 1e-6}
# llama.cpp knows one scale for cos, sin and scores together.
MORE["deepseek_v2"]["greedy"] |= {"rope_scaling": YARN_ROPE | {"type": "yarn", "mscale": 0.8, "mscale_all_dim": 0.8}}
# And no biases there, and queries by way of a latent vector in models of most sizes.
MORE["deepseek_v2"]["old"] = MORE["deepseek_v2"]["greedy"] | {"attention_bias": False, "q_lora_rank": 24}
MORE["deepseek_v3"]["plain"] |= {"rope_scaling": YARN_ROPE | {"type": "yarn", "mscale": 0.9, "mscale_all_dim": 0.9}}


def as_published(path):
    """The name of a tensor of mlx-lm as the converter to GGUF knows it."""
    for ours, theirs in (
        (".switch_mlp.", ".experts."),
        ("block_sparse_moe.experts", "mlp.experts"),
        ("e_score_correction_bias", "e_score_correction.bias"),
        ("expert_bias", "expert_bias.bias"),
        ("embed_q", "k_b_proj"),
        ("unembed_out", "v_b_proj"),
    ):
        path = path.replace(ours, theirs)
    return path


def further_metadata(family, config):
    """What the converter writes for these families besides."""
    get = config.get
    if family == "qwen2_moe":
        return {
            "expert_count": get("num_experts"),
            "expert_feed_forward_length": get("moe_intermediate_size"),
            "expert_shared_feed_forward_length": get("shared_expert_intermediate_size"),
        }
    if family == "qwen3_moe":
        return {
            "expert_count": get("num_experts"),
            "expert_feed_forward_length": get("moe_intermediate_size"),
        }
    if family == "ernie4_5_moe":
        return {
            "expert_count": get("moe_num_experts"),
            "expert_used_count": get("moe_k"),
            "expert_feed_forward_length": get("moe_intermediate_size"),
            "expert_shared_count": get("moe_num_shared_experts"),
            "expert_shared_feed_forward_length": get("moe_intermediate_size") * get("moe_num_shared_experts") or None,
            "interleave_moe_layer_step": 1,
            "leading_dense_block_count": get("moe_layer_start_index"),
        }
    if family == "granitemoe":
        return {"expert_feed_forward_length": None}
    if family.startswith("lfm2"):
        attention = [kind == "full_attention" for kind in config["layer_types"]]
        width = get("block_ff_dim", get("intermediate_size"))
        if get("block_auto_adjust_ff_dim"):
            width = int(get("block_ffn_dim_multiplier") * int(2 * width / 3))
            width = -(-width // get("block_multiple_of")) * get("block_multiple_of")
        experts = {
            "expert_count": get("num_experts"),
            "expert_feed_forward_length": get("moe_intermediate_size"),
            "expert_gating_func": 2,
            "leading_dense_block_count": get("num_dense_layers"),
        }
        return {
            "feed_forward_length": width,
            "attention.head_count_kv": [2 * heads for heads in attention],
            "shortconv.l_cache": get("conv_L_cache"),
        } | (experts if family == "lfm2_moe" else {})
    routed = {
        "expert_count": get("n_routed_experts"),
        "expert_feed_forward_length": get("moe_intermediate_size"),
        "expert_shared_count": get("n_shared_experts"),
        "expert_weights_scale": float(get("routed_scaling_factor")),
        "expert_weights_norm": get("norm_topk_prob"),
        "expert_gating_func": 1 if family == "deepseek_v2" else 2,
        "expert_group_count": get("n_group"),
        "expert_group_used_count": get("topk_group"),
        "leading_dense_block_count": get("first_k_dense_replace"),
    }
    if not family.startswith("deepseek"):
        return routed
    scaling = get("rope_scaling") or {"factor": 1.0}
    still, turned, value = (get(key) for key in ("qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"))
    old = family == "deepseek_v2"
    yarn = {
        "rope.scaling.factor": scaling["factor"],
        "rope.scaling.original_context_length": scaling.get("original_max_position_embeddings"),
        "rope.scaling.yarn_beta_fast": scaling.get("beta_fast"),
        "rope.scaling.yarn_beta_slow": scaling.get("beta_slow"),
        "rope.scaling.yarn_log_multiplier": 0.1 * scaling.get("mscale_all_dim", 0.0),
        "rope.scaling.type": "yarn",
    }
    return routed | {
        "attention.head_count_kv": get("num_attention_heads") if old else 1,
        "attention.key_length": still + turned if old else get("kv_lora_rank") + turned,
        "attention.value_length": value if old else get("kv_lora_rank"),
        "attention.layer_norm_rms_epsilon": get("rms_norm_eps"),
        "attention.key_length_mla": None if old else still + turned,
        "attention.value_length_mla": None if old else value,
        "attention.kv_lora_rank": get("kv_lora_rank"),
        "attention.q_lora_rank": get("q_lora_rank"),
        "rope.dimension_count": turned,
    } | (yarn if get("rope_scaling") else {})
