/* The options of all subcommands, in groups. */
#include "command.h"

#define FLAG(name, letter, field, help) {name, letter, OPTION_FLAG, offsetof(struct settings, field), 0, 0, NULL, help}
#define COUNT(name, letter, field, least, most, help) \
    {name, letter, OPTION_COUNT, offsetof(struct settings, field), least, most, "N", help}
#define REAL(name, letter, field, least, most, help) \
    {name, letter, OPTION_REAL, offsetof(struct settings, field), least, most, "X", help}
#define TEXT(name, letter, field, argument, help) \
    {name, letter, OPTION_TEXT, offsetof(struct settings, field), 0, 0, argument, help}
#define LIST(name, field, argument, help) {name, 0, OPTION_LIST, offsetof(struct settings, field), 0, 0, argument, help}
#define GROUP(name, title) \
    const struct option_group name = {title, name##_list, sizeof name##_list / sizeof *name##_list}

static const struct option model_options_list[] = {
    TEXT("device", 'd', device, "DEVICE", "auto, cpu, or a number of `mlxrocm devices` (default: auto)"),
    COUNT("threads", 't', threads, 0, 1024, "CPU threads (default: one for each CPU)"),
    COUNT("gpu-weights", 0, gpu_weights, 0, 1 << 30, "MiB of weights on the GPU, others in host memory (0: what fits)"),
};
GROUP(model_options, "Where it runs");

#define KV \
    {"kv", 0, OPTION_CHOICE, offsetof(struct settings, kv), 0, 0, "f16|q8|q4", "what the KV cache holds (default: f16)"}

static const struct option session_options_list[] = {
    COUNT("context", 'c', context, 0, UINT32_MAX, "tokens of context (default: the model's, at most 8192)"),
    KV,
};
GROUP(session_options, "Memory");

static const struct option speculation_options_list[] = {
    FLAG("prompt-lookup", 0, prompt_lookup, "guess tokens from what was written before; same text, sooner"),
    TEXT("draft-model", 0, draft_model, "MODEL", "a smaller model with its tokens that guesses; same text, sooner"),
};
GROUP(speculation_options, "Speculation");

/* Of subcommands that know how much context they need. */
static const struct option kv_options_list[] = {KV};
GROUP(kv_options, "Memory");

static const struct option generation_options_list[] = {
    COUNT("max-tokens", 'n', max_tokens, 0, UINT32_MAX, "tokens to generate at most (default 0: until it ends)"),
    REAL("temperature", 0, temperature, 0, 100, "0: always the most probable token (default: 0)"),
    COUNT("top-k", 0, top_k, 0, UINT32_MAX, "choose among the N most probable tokens (0: off)"),
    REAL("top-p", 0, top_p, 0, 1, "choose among tokens of this probability together (0 or 1: off)"),
    REAL("min-p", 0, min_p, 0, 1, "drop tokens less probable than X times the best (0: off)"),
    COUNT("seed", 's', seed, 0, 18446744073709551615.0, "same seed, same text (default: a new one each time)"),
    REAL("repetition-penalty", 0, repetition_penalty, 0, 100, "divides logits of recent tokens (0 or 1: off)"),
    REAL("presence-penalty", 0, presence_penalty, -100, 100, "taken once from logits of recent tokens"),
    REAL("frequency-penalty", 0, frequency_penalty, -100, 100, "taken for each occurrence of recent tokens"),
    COUNT("penalty-window", 0, penalty_window, 0, UINT32_MAX, "tokens that count as recent (default: 64)"),
    LIST("stop", stop, "TEXT", "end before this text; may be given several times"),
    FLAG("ignore-eos", 0, ignore_eos, "go on past the model's own end"),
};
GROUP(generation_options, "How tokens are chosen");

static const struct option run_options_list[] = {
    FLAG("chat", 0, chat, "let the model answer the prompt (default where it has a chat template)"),
    FLAG("raw", 0, raw, "let the model continue the prompt as it is"),
    TEXT("system", 0, system, "TEXT", "system message"),
    TEXT("file", 'f', file, "FILE", "read the prompt from a file"),
    TEXT("json-schema", 0, json_schema, "SCHEMA", "the answer is JSON that fits it; this and the next two: or @FILE"),
    TEXT("regex", 0, regex, "REGEX", "the answer is what it matches"),
    TEXT("grammar", 0, grammar, "GRAMMAR", "the answer is what its rule start derives (Lark's notation)"),
};
GROUP(run_options, "Prompt");

static const struct option chat_options_list[] = {
    TEXT("system", 0, system, "TEXT", "system message"),
};
GROUP(chat_options, "Chat");

static const struct option output_options_list[] = {
    FLAG("verbose", 'v', verbose, "say what was chosen and how fast it was, on stderr"),
    FLAG("quiet", 'q', quiet, "no warnings, no progress"),
};
GROUP(output_options, "Output");

static const struct option json_options_list[] = {
    FLAG("json", 0, json, "print JSON"),
};
GROUP(json_options, "Format");

static const struct option selftest_options_list[] = {
    TEXT("device", 'd', device, "DEVICE", "a GPU's number of `mlxrocm devices` (default: all GPUs)"),
    FLAG("quick", 0, quick, "measure with small sizes and few rounds"),
    FLAG("no-measurements", 0, no_measurements, "measure nothing"),
    COUNT("seed", 's', seed, 0, 18446744073709551615.0, "seed of the random inputs (default 0: a new one)"),
};
GROUP(selftest_options, "Test");

static const struct option info_options_list[] = {
    FLAG("template", 0, chat_template, "print the chat template's source and nothing else"),
    FLAG("tensors", 0, tensors, "list the file's tensors and nothing else; the model is not loaded"),
};
GROUP(info_options, "Facts");

static const struct option bench_options_list[] = {
    COUNT("prompt-tokens", 'p', prompt_tokens, 1, 1000000, "tokens of the prompt (default: 512)"),
    COUNT("max-tokens", 'n', max_tokens, 2, 1000000, "tokens to generate (default: 128)"),
    COUNT("runs", 'r', runs, 1, 1000, "runs, after one that warms up (default: 3)"),
};
GROUP(bench_options, "Measurement");

static const struct option perplexity_options_list[] = {
    COUNT("window", 'w', window, 4, 1000000, "tokens of a window (default: 512)"),
    COUNT("stride", 0, stride, 1, 1000000, "tokens from window to window (default: half of it)"),
};
GROUP(perplexity_options, "Windows");

#define CHOICE(name, letter, field, words, help) \
    {name, letter, OPTION_CHOICE, offsetof(struct settings, field), 0, 0, words, help}

static const struct option quantize_options_list[] = {
    COUNT("bits", 'b', bits, 2, 8, "bits of a weight (default: 4, of mxfp8 8)"),
    COUNT("group-size", 'g', group_size, 16, 128, "weights that share a scale (default: the mode's usual ones)"),
    CHOICE("mode", 'm', mode, "affine|mxfp4|mxfp8|nvfp4", "what codes mean (default: affine)"),
    CHOICE("recipe", 0, recipe, "mixed_2_6|mixed_3_4|mixed_3_6|mixed_4_6", "more bits where they matter, as in mlx-lm"),
    LIST("rule", rules, "PATTERN=HOW", "for modules by their names; the first that matches counts"),
    CHOICE("dtype", 0, dtype, "float16|bfloat16|float32", "of scales and vectors (default: the model's)"),
    COUNT("threads", 't', threads, 0, 1024, "CPU threads (default: one for each CPU)"),
};
GROUP(quantize_options, "Quantization");
