/* mlxrocm bench MODEL: how fast prompts are read and text is written. */
#include "command.h"

#include <stdlib.h>
#include <string.h>

struct speeds {
    double median, least, most; /* tokens per second */
};

struct bench {
    mlxrocm_session *session;
    uint32_t vocabulary;
    uint32_t seed;
    size_t runs;
    bool is_quiet;
};

/* One request of random tokens, other ones each time: nothing of it is in the cache. */
static int measure_once(struct bench *bench, size_t prompt, uint32_t count, mlxrocm_event *end) {
    mlxrocm_error *error = NULL;
    mlxrocm_generation *generation = NULL;
    mlxrocm_status status;
    uint32_t *tokens = must_allocate(NULL, prompt, sizeof *tokens);
    for (size_t i = 0; i < prompt; i++) {
        bench->seed = bench->seed * 1664525u + 1013904223u;
        tokens[i] = (uint32_t)(((uint64_t)(bench->seed >> 8) * bench->vocabulary) >> 24);
    }
    const mlxrocm_request request = {.struct_size = sizeof request,
                                     .flags = MLXROCM_REQUEST_IGNORE_EOS,
                                     .tokens = tokens,
                                     .token_count = prompt,
                                     .max_tokens = count};
    status = mlxrocm_session_submit(bench->session, &request, &generation, &error);
    free(tokens);
    *end = (mlxrocm_event){.struct_size = sizeof *end};
    while (status == MLXROCM_OK && end->kind != MLXROCM_EVENT_FINISHED && interrupts() == 0)
        status = mlxrocm_generation_next(generation, -1, end, &error);
    int result = 0;
    if (status != MLXROCM_OK) result = fail_with(error);
    else if (interrupts() > 0) result = EXIT_FAILED;
    else if (end->finish_reason == MLXROCM_FINISH_ERROR) result = fail("%s", end->error_message);
    else if (end->finish_reason != MLXROCM_FINISH_LENGTH) result = fail("bench: the text ended too early");
    mlxrocm_generation_free(generation);
    return result;
}

/* Speed of the prompt if `count` is 1, else of what is generated. */
static int measure(struct bench *bench, const char *what, size_t prompt, uint32_t count, struct speeds *speeds) {
    double *values = must_allocate(NULL, bench->runs + 1, sizeof *values);
    int result = 0;
    for (size_t i = 0; i <= bench->runs && result == 0; i++) {
        mlxrocm_event end;
        if (!bench->is_quiet) progress(what, i, bench->runs + 1);
        result = measure_once(bench, prompt, count, &end);
        if (result != 0) break;
        const double seconds = count == 1 ? end.prompt_seconds : end.decode_seconds;
        values[i] = (count == 1 ? (double)prompt : (double)(count - 1)) / (seconds > 1e-9 ? seconds : 1e-9);
    }
    progress_end();
    if (result == 0) {
        /* The first run warmed up. */
        speeds->median = median(values + 1, bench->runs);
        speeds->least = values[1];
        speeds->most = values[bench->runs];
    }
    free(values);
    return result;
}

static void report_speeds(struct report *report, const char *name, size_t tokens, const struct speeds *speeds) {
    char key[64], label[32], line[96];
    snprintf(key, sizeof key, "%s_tokens_per_second", name);
    snprintf(label, sizeof label, "%s %zu", name, tokens);
    snprintf(line, sizeof line, "%.1f tokens/s (%.1f to %.1f)", speeds->median, speeds->least, speeds->most);
    report_real(report, key, label, speeds->median, line);
    if (!report->json) return;
    snprintf(key, sizeof key, "%s_tokens", name);
    report_count(report, key, "", tokens, NULL);
    snprintf(key, sizeof key, "%s_least", name);
    report_real(report, key, "", speeds->least, NULL);
    snprintf(key, sizeof key, "%s_most", name);
    report_real(report, key, "", speeds->most, NULL);
}

static int print_results(const struct settings *settings, const mlxrocm_device *device, const mlxrocm_model *model,
                         size_t runs, const struct speeds *prefill, const struct speeds *decode) {
    mlxrocm_error *error = NULL;
    mlxrocm_device_info machine = {.struct_size = sizeof machine};
    mlxrocm_model_info info = {.struct_size = sizeof info};
    if (mlxrocm_device_get_info(device, &machine, &error) != MLXROCM_OK ||
        mlxrocm_model_get_info(model, &info, &error) != MLXROCM_OK)
        return fail_with(error);
    struct report report;
    char line[128];
    report_begin(&report, settings->json);
    report_text(&report, "version", "library", mlxrocm_version_string(NULL));
    report_text(&report, "device", "device", machine.name);
    report_text(&report, "isa", "kernels", machine.isa);
    const uint64_t threads = settings->threads != 0 ? settings->threads : machine.compute_units;
    if (machine.kind == MLXROCM_DEVICE_CPU) report_count(&report, "threads", "threads", threads, NULL);
    report_text(&report, "model", "model", info.name);
    report_text(&report, "quantization", "weights", info.quantization);
    report_count(&report, "weight_bytes", "size", info.weight_bytes, readable_bytes(info.weight_bytes));
    if (info.host_weight_bytes > 0)
        report_count(&report, "host_weight_bytes", "in host memory", info.host_weight_bytes,
                     readable_bytes(info.host_weight_bytes));
    report_text(&report, "kv", "KV cache", settings->kv != NULL ? settings->kv : "f16");
    snprintf(line, sizeof line, "%.2f s", info.load_seconds);
    report_real(&report, "load_seconds", "loaded in", info.load_seconds, line);
    report_count(&report, "runs", "runs", runs, NULL);
    report_speeds(&report, "prefill", settings->prompt_tokens, prefill);
    report_speeds(&report, "decode", settings->max_tokens, decode);
    return report_end(&report);
}

static int measure_all(const struct settings *settings, const mlxrocm_device *device, const mlxrocm_model *model) {
    mlxrocm_error *error = NULL;
    mlxrocm_tokenizer *tokenizer = NULL;
    mlxrocm_tokenizer_info words = {.struct_size = sizeof words};
    const uint64_t longest = settings->prompt_tokens > settings->max_tokens ? settings->prompt_tokens
                                                                            : settings->max_tokens;
    const mlxrocm_session_options options = {.context = (uint32_t)longest + 2, .max_requests = 1};
    struct bench bench = {.seed = 1, .runs = settings->runs, .is_quiet = settings->quiet};
    struct speeds prefill = {0}, decode = {0};
    if (mlxrocm_model_get_tokenizer(model, &tokenizer, &error) != MLXROCM_OK ||
        mlxrocm_tokenizer_get_info(tokenizer, &words, &error) != MLXROCM_OK) {
        mlxrocm_tokenizer_free(tokenizer);
        return fail_with(error);
    }
    mlxrocm_tokenizer_free(tokenizer);
    bench.vocabulary = words.vocab_size;
    if (!new_session(settings, model, options, &bench.session)) return EXIT_FAILED;
    int result = measure(&bench, "prefill", settings->prompt_tokens, 1, &prefill);
    if (result == 0) result = measure(&bench, "decode", 1, (uint32_t)settings->max_tokens, &decode);
    mlxrocm_session_free(bench.session);
    return result != 0 ? result : print_results(settings, device, model, bench.runs, &prefill, &decode);
}

/* The GPU that a model gets which names none: with memory of its own, then with most of it; else the CPU. */
static bool open_best(mlxrocm_device **best) {
    mlxrocm_error *error = NULL;
    size_t count = 0;
    mlxrocm_device_info most = {0};
    if (mlxrocm_device_count(&count, &error) != MLXROCM_OK || mlxrocm_device_open(0, best, &error) != MLXROCM_OK) {
        fail_with(error);
        return false;
    }
    for (size_t i = 1; i < count; i++) {
        mlxrocm_device *device = NULL;
        mlxrocm_device_info info = {.struct_size = sizeof info};
        if (mlxrocm_device_open(i, &device, NULL) != MLXROCM_OK) continue;
        if (mlxrocm_device_get_info(device, &info, NULL) == MLXROCM_OK &&
            (most.kind == 0 || info.integrated < most.integrated ||
             (info.integrated == most.integrated && info.memory_total > most.memory_total))) {
            mlxrocm_device_free(*best);
            *best = device;
            most = info;
        } else {
            mlxrocm_device_free(device);
        }
    }
    return true;
}

static int run(const struct settings *given, char **operands, size_t count) {
    (void)count;
    struct settings settings = *given;
    mlxrocm_device *device = NULL;
    mlxrocm_model *model = NULL;
    int result = EXIT_FAILED;
    if (settings.prompt_tokens == 0) settings.prompt_tokens = 512;
    if (settings.max_tokens == 0) settings.max_tokens = 128;
    if (settings.runs == 0) settings.runs = 3;
    catch_interrupts(1);
    /* The device must be known, to be named: a model does not tell which one it got. */
    if (open_device(&settings, &device) && (device != NULL || open_best(&device)) &&
        load_model(&settings, device, operands[0], &model))
        result = measure_all(&settings, device, model);
    mlxrocm_model_free(model);
    mlxrocm_device_free(device);
    return result;
}

static const struct option_group *const groups[] = {&bench_options, &model_options, &kv_options, &json_options,
                                             &output_options, NULL};

const struct subcommand bench_command = {
    "bench", "MODEL", "measures how fast a model is", 1, 1, groups,
    "Prints the median of the runs, and the slowest and fastest one. Prompts are random tokens.", run,
};
