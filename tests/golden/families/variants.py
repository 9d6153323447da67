"""The configs of make.py: for each family small odd sizes, its features on and off."""

BASE = {
    "hidden_size": 40,
    "num_hidden_layers": 2,
    "intermediate_size": 56,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "rms_norm_eps": 1e-5,
    "vocab_size": 61,
    "rope_theta": 10000.0,
    "max_position_embeddings": 512,
    "tie_word_embeddings": False,
}


def variants(model_type, plain, **more):
    """`plain` with what each variant adds."""
    base = BASE | {"model_type": model_type} | plain
    return {name: base | change for name, change in ({"plain": {}} | more).items()}


GEMMA = {"head_dim": 12, "tie_word_embeddings": True}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
LONG = {"type": "longrope", "short_factor": [1.0, 1.1, 1.2, 1.3, 1.4], "long_factor": [1.0, 1.5, 2.0, 3.0, 5.0]}
YARN = {
    "rope_type": "yarn",
    "rope_theta": 10000.0,
    "factor": 4.0,
    "original_max_position_embeddings": 16,
    "beta_fast": 32.0,
    "beta_slow": 1.0,
    "mscale": 1.0,
    "mscale_all_dim": 1.0,
    "llama_4_scaling_beta": 0.1,
}
YARN_PLAIN = ("rope_type", "factor", "original_max_position_embeddings", "beta_fast", "beta_slow")
BIASES = {"attention_bias": True, "mlp_bias": True}
NO_BIASES = {"attention_bias": False, "mlp_bias": False}

VARIANTS = {
    "llama": variants(
        "llama",
        {"head_dim": 12},
        scaled={"rope_scaling": LLAMA3, "rope_traditional": True, "tie_word_embeddings": True},
        biases=BIASES,
    ),
    "qwen2": variants("qwen2", {}, tied={"tie_word_embeddings": True, "rope_scaling": {"type": "linear", "factor": 4.0}}),
    "qwen3": variants(
        "qwen3",
        {"head_dim": 12},
        yarn={"rope_scaling": {key: YARN[key] for key in YARN_PLAIN}, "tie_word_embeddings": True},
    ),
    "gemma": variants("gemma", GEMMA, traditional={"rope_traditional": True, "head_dim": 10}),
    "gemma2": variants(
        "gemma2",
        GEMMA | {"query_pre_attn_scalar": 14.0, "attn_logit_softcapping": 2.0, "final_logit_softcapping": 3.0},
        wide={
            "attn_logit_softcapping": 50.0,
            "final_logit_softcapping": 30.0,
            "num_key_value_heads": 4,
            "query_pre_attn_scalar": 12.0,
        },
    ),
    "gemma3": variants(
        "gemma3_text",
        GEMMA
        | {
            "num_hidden_layers": 3,
            "sliding_window": 7,
            "sliding_window_pattern": 3,
            "query_pre_attn_scalar": 14.0,
            "rope_theta": 100000.0,
            "rope_local_base_freq": 5000.0,
        },
        scaled={"rope_scaling": {"rope_type": "linear", "factor": 8.0}, "sliding_window_pattern": 2},
        untied={"tie_word_embeddings": False, "sliding_window": 40},
        # The square root of this width is a number of bfloat16, which mlx-lm rounds it to and llama.cpp does not.
        six={
            "hidden_size": 36,
            "num_hidden_layers": 7,
            "sliding_window_pattern": 6,
            "query_pre_attn_scalar": 12.0,
        },
    ),
    "phi3": variants(
        "phi3",
        {},
        partial={"partial_rotary_factor": 0.6, "num_key_value_heads": 4},
        long={"rope_scaling": LONG, "original_max_position_embeddings": 64},
        linear={"rope_scaling": {"type": "linear", "factor": 2.0, "long_factor": [1.0]}, "rope_traditional": True},
    ),
    "olmo2": variants("olmo2", {}, biases=BIASES | {"tie_word_embeddings": True, "head_dim": 12}),
    "olmo3": variants(
        "olmo3",
        {"num_hidden_layers": 4, "sliding_window": 9},
        types={
            "num_hidden_layers": 2,
            "layer_types": ["sliding_attention", "full_attention"],
            "rope_scaling": YARN,
        },
    ),
    "smollm3": variants(
        "smollm3",
        {"num_hidden_layers": 4},
        listed={"num_hidden_layers": 3, "no_rope_layers": [0, 1, 1]},
        every={"no_rope_layer_interval": 2, "rope_scaling": LLAMA3},
    ),
    "granite": variants(
        "granite",
        NO_BIASES
        | {
            "embedding_multiplier": 1.5,
            "residual_multiplier": 0.6,
            "attention_multiplier": 0.5,
            "logits_scaling": 1.25,
        },
        biases=BIASES | {"tie_word_embeddings": True, "logits_scaling": 1.0},
    ),
    "glm4": variants(
        "glm4",
        {"head_dim": 12, "partial_rotary_factor": 0.5, "attention_bias": True},
        plain_heads={"rope_traditional": False, "partial_rotary_factor": 1.0, "attention_bias": False},
    ),
    "ministral3": variants("ministral3", {"head_dim": 12, "rope_parameters": YARN}),
    "cohere2": variants(
        "cohere2",
        {
            "num_hidden_layers": 4,
            "head_dim": 10,
            "layer_norm_eps": 1e-5,
            "logit_scale": 0.25,
            "sliding_window": 6,
            "sliding_window_pattern": 4,
            "tie_word_embeddings": True,
        },
        biases={
            "attention_bias": True,
            "layer_norm_bias": True,
            "num_hidden_layers": 2,
            "sliding_window_pattern": 2,
        },
    ),
    "exaone4": variants(
        "exaone4",
        {"head_dim": 12, "rope_scaling": LLAMA3, "sliding_window": None, "sliding_window_pattern": None},
        windows={"num_hidden_layers": 4, "sliding_window": 8, "sliding_window_pattern": "LLLG"},
    ),
    "starcoder2": variants(
        "starcoder2",
        {"norm_epsilon": 1e-5, "hidden_act": "gelu"},
        tied={"tie_word_embeddings": True, "num_key_value_heads": 1},
    ),
    "stablelm": variants(
        "stablelm",
        {
            "layer_norm_eps": 1e-5,
            "partial_rotary_factor": 0.4,
            "use_qkv_bias": False,
        },
        biases={"use_qkv_bias": True, "qk_layernorm": True},
        parallel={"use_parallel_residual": True},
    ),
    "seed_oss": variants(
        "seed_oss",
        {"head_dim": 12},
        biases=BIASES | {"attention_out_bias": True},
    ),
    "internlm2": variants("internlm2", {"bias": False}, biases={"bias": True, "rope_scaling": {"type": "dynamic", "factor": 2.0}}),
    "internlm3": variants(
        "internlm3",
        {},
        biases={"bias": True, "qkv_bias": True, "rope_scaling": {"rope_type": "dynamic", "factor": 6.0}},
    ),
    "hunyuan_v1_dense": variants(
        "hunyuan_v1_dense",
        {"head_dim": 12, "rope_scaling": {"type": "dynamic", "alpha": 1000.0, "factor": 1.0}},
        without={"use_qk_norm": False, "rope_scaling": None, "attention_bias": True},
    ),
    "ernie4_5": variants("ernie4_5", {"head_dim": 12, "use_bias": False}, biases={"use_bias": True}),
    "apertus": variants(
        "apertus",
        NO_BIASES | {"post_norm": False, "qk_norm": True, "hidden_act": "xielu", "rope_scaling": LLAMA3},
        biases={"mlp_bias": True, "rope_scaling": None},
    ),
    "helium": variants("helium", NO_BIASES | {"head_dim": 10}, biases=BIASES),
    "nemotron": variants(
        "nemotron",
        {"hidden_act": "relu2", "norm_eps": 1e-5, "partial_rotary_factor": 0.4},
        biases=BIASES | {"head_dim": 12, "partial_rotary_factor": 0.5},
    ),
    "mixtral": variants(
        "mixtral",
        {"hidden_size": 48, "intermediate_size": 32, "num_local_experts": 6, "num_experts_per_tok": 2},
        most={"num_experts_per_tok": 5, "rope_traditional": True},
    ),
    "olmoe": variants(
        "olmoe",
        {"hidden_size": 48, "intermediate_size": 32, "num_experts": 7, "num_experts_per_tok": 3},
        divided={"norm_topk_prob": True, "attention_bias": True},
    ),
    "gpt_oss": variants(
        "gpt_oss",
        {
            "hidden_size": 48,
            "intermediate_size": 32,
            "num_local_experts": 6,
            "num_experts_per_tok": 3,
            "sliding_window": 7,
            "head_dim": 12,
            "layer_types": ["sliding_attention", "full_attention"],
        },
        yarn={"rope_scaling": {key: YARN[key] for key in YARN_PLAIN} | {"truncate": True}, "rope_theta": 150000.0},
        alternating={
            "num_hidden_layers": 4,
            "layer_types": None,
            "num_key_value_heads": 1,
            "num_experts_per_tok": 1,
            "head_dim": 16,
        },
        all={
            "hidden_size": 64,
            "intermediate_size": 48,
            "num_attention_heads": 6,
            "num_local_experts": 3,
            "sliding_window": 40,
            "layer_types": ["full_attention", "sliding_attention"],
        },
    ),
}


def wrapped(model_type, text, **more):
    """A model with other senses around a text model."""
    return {"model_type": model_type, "text_config": text, "vocab_size": text["vocab_size"]} | more


VARIANTS["gemma3"]["wrapped"] = wrapped("gemma3", VARIANTS["gemma3"]["plain"])
VARIANTS["mistral3"] = {
    "plain": wrapped("mistral3", BASE | {"model_type": "mistral", "head_dim": 12}),
    "ministral": wrapped("mistral3", VARIANTS["ministral3"]["plain"]),
}

# The GGUF architectures of families, the variants that they can say, and whether the converter permutes the rows
# of q and k.
GGUF = {
    "llama": ("llama", ["plain"], True),
    "qwen2": ("qwen2", ["plain"], False),
    "qwen3": ("qwen3", ["plain"], False),
    "gemma": ("gemma", ["plain"], False),
    "gemma2": ("gemma2", ["wide"], False),
    "gemma3": ("gemma3", ["six"], False),
    "phi3": ("phi3", ["plain", "partial"], False),
    "olmo2": ("olmo2", ["plain"], False),
    "olmo3": ("olmo2", ["plain"], False),
    "smollm3": ("smollm3", ["plain"], True),
    "granite": ("granite", ["plain"], True),
    "glm4": ("glm4", ["plain"], False),
    "cohere2": ("cohere2", ["plain"], False),
    "starcoder2": ("starcoder2", ["plain", "tied"], False),
    "seed_oss": ("seed_oss", ["plain"], False),
    "ernie4_5": ("ernie4_5", ["plain"], False),
    "gpt_oss": ("gpt-oss", ["plain", "alternating"], False),
}


def metadata(family, config):
    """What llama.cpp's converter writes for a config, but for the architecture before the keys."""
    head_dim = config.get("head_dim", config["hidden_size"] // config["num_attention_heads"])
    layer_norm = family in ("cohere2", "starcoder2")
    numbers = {
        "context_length": config["max_position_embeddings"],
        "embedding_length": config["hidden_size"],
        "block_count": config["num_hidden_layers"],
        "feed_forward_length": config["intermediate_size"],
        "attention.head_count": config["num_attention_heads"],
        "attention.head_count_kv": config["num_key_value_heads"],
        "attention.key_length": head_dim,
        "attention.value_length": head_dim,
        "rope.dimension_count": int(head_dim * config.get("partial_rotary_factor", 1.0)),
        "rope.freq_base": config["rope_theta"],
        "attention.layer_norm_epsilon" if layer_norm else "attention.layer_norm_rms_epsilon": 1e-5,
        "attn_logit_softcapping": config.get("attn_logit_softcapping"),
        "final_logit_softcapping": config.get("final_logit_softcapping"),
        "attention.sliding_window": config.get("sliding_window"),
        "rope.freq_base_swa": config.get("rope_local_base_freq"),
        "embedding_scale": config.get("embedding_multiplier"),
        "residual_scale": config.get("residual_multiplier"),
        "attention.scale": config.get("attention_multiplier"),
        "expert_count": config.get("num_local_experts"),
        "expert_used_count": config.get("num_experts_per_tok"),
        "expert_feed_forward_length": config["intermediate_size"] if "num_local_experts" in config else None,
        "logit_scale": config.get("logits_scaling", config.get("logit_scale")),
    }
    return {key: number for key, number in numbers.items() if number is not None}
