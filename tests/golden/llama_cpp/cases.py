"""What of ../families make.py gives to llama.cpp: variants that have a GGUF form, and such with other metadata."""

import copy


def case(of, name=None, **metadata):
    metadata = {key.replace("__", "."): number for key, number in metadata.items()}
    return {"of": of, "name": name or of, "metadata": metadata}


# Keys that change what a file of the family gives, or that llama.cpp passes over.
WINDOW = {"attention__sliding_window": 6}
LINEAR = {"rope__scaling__type": "linear", "rope__scaling__factor": 3.0}
YARN = {
    "rope__scaling__type": "yarn",
    "rope__scaling__factor": 4.0,
    "rope__scaling__original_context_length": 16,
}


CASES = {
    "llama": [case("plain"), case("plain", "window", **WINDOW), case("plain", "linear", **LINEAR), case("plain", "yarn", **YARN)],
    "qwen2": [case("plain"), case("plain", "window", **WINDOW), case("plain", "yarn", **YARN)],
    "qwen3": [case("plain"), case("plain", "window", **WINDOW), case("plain", "linear", **LINEAR), case("plain", "yarn", **YARN)],
    "gemma": [case("plain"), case("plain", "window", **WINDOW)],
    "gemma2": [case("wide"), case("wide", "window", **WINDOW)],
    "gemma3": [case("six"), case("six", "window", **WINDOW), case("six", "linear", **LINEAR)],
    "phi3": [case("plain"), case("partial"), case("plain", "window", **WINDOW)],
    "olmo2": [case("plain"), case("plain", "window", **WINDOW), case("plain", "yarn", **YARN)],
    "olmo3": [case("plain"), case("plain", "yarn", **YARN)],
    "smollm3": [case("plain"), case("plain", "window", **WINDOW)],
    "granite": [case("plain")],
    "glm4": [case("plain")],
    "cohere2": [case("plain"), case("plain", "window", **WINDOW)],
    "starcoder2": [case("plain"), case("tied"), case("plain", "window", **WINDOW)],
    "seed_oss": [case("plain"), case("plain", "window", **WINDOW)],
    "ernie4_5": [case("plain")],
    "gpt_oss": [case("plain"), case("alternating")],
    "qwen2_moe": [case("plain")],
    "qwen3_moe": [case("plain"), case("plain", "window", **WINDOW)],
    "glm4_moe": [case("plain"), case("one_group")],
    "dots1": [case("single")],
    "ernie4_5_moe": [case("plain")],
    "granitemoe": [case("plain")],
    "lfm2": [case("plain")],
    "lfm2_moe": [case("plain")],
    "deepseek_v2": [case("old")],
    "deepseek_v3": [case("plain")],
}


def changed(variants, case):
    """The variant with the case's metadata."""
    variant = copy.deepcopy(variants[case["of"]])
    variant["gguf"]["metadata"] |= case["metadata"]
    return variant
