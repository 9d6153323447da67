/* One measurement of libmlxrocm through its C API, as ik_child.py measures ik_llama.cpp.
 *
 * usage: mlxrocm_bench MODEL THREADS [PROMPT=512] [DECODE=128] [REPEAT=1]
 *
 * A warm-up, then PROMPT random tokens: rate from submitting the request to its first token, that token's sampling
 * included. Then DECODE steps after a prompt of one token: rate from the first token event to the last; sampling,
 * decoding to text and the hand-over between threads included. Times are the caller's clock, not the library's.
 * Prints one line of JSON. */
#define _POSIX_C_SOURCE 200809L
#include <mlxrocm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void die(const char *what, mlxrocm_error *error) {
    fprintf(stderr, "mlxrocm_bench: %s: %s\n", what, error ? mlxrocm_error_message(error, NULL) : "failed");
    exit(1);
}

/* A field of /proc/self/status in KiB; 0 where there is none. */
static long status_kib(const char *field) {
    char line[256];
    long value = 0;
    FILE *file = fopen("/proc/self/status", "r");
    if (!file) return 0;
    while (fgets(line, sizeof line, file))
        if (strncmp(line, field, strlen(field)) == 0) value = strtol(line + strlen(field) + 1, NULL, 10);
    fclose(file);
    return value;
}

/* Random tokens, different in every call, so that nothing can come from a cache of prefixes. */
static uint32_t *random_prompt(size_t count, uint64_t vocab) {
    static uint32_t state = 12345;
    uint32_t *tokens = malloc(count * sizeof *tokens);
    if (!tokens) die("memory", NULL);
    for (size_t i = 0; i < count; i++) {
        state = state * 1103515245u + 12345u;
        tokens[i] = 20 + (state >> 8) % (uint32_t)(vocab - 20);
    }
    return tokens;
}

struct times {
    double to_first, to_last; /* seconds: submit to first token, first to last token */
};

/* Runs one request of exactly `count` generated tokens. */
static struct times measure(mlxrocm_session *session, uint64_t vocab, size_t prompt, uint32_t count) {
    mlxrocm_error *error = NULL;
    mlxrocm_generation *generation = NULL;
    uint32_t *tokens = random_prompt(prompt, vocab);
    mlxrocm_request request = {.struct_size = sizeof request,
                               .flags = MLXROCM_REQUEST_IGNORE_EOS,
                               .tokens = tokens,
                               .token_count = prompt,
                               .max_tokens = count};
    const double began = now();
    if (mlxrocm_session_submit(session, &request, &generation, &error) != MLXROCM_OK) die("submit", error);
    double first = 0, last = 0;
    uint32_t seen = 0;
    mlxrocm_event event = {.struct_size = sizeof event};
    mlxrocm_status status;
    while ((status = mlxrocm_generation_next(generation, -1, &event, &error)) == MLXROCM_OK) {
        if (event.kind == MLXROCM_EVENT_TOKEN) {
            last = now();
            if (seen++ == 0) first = last;
        } else if (event.kind == MLXROCM_EVENT_FINISHED) {
            if (event.finish_reason != MLXROCM_FINISH_LENGTH) die("the generation ended early", NULL);
            if (event.cached_tokens != 0) die("part of the prompt came from a cache", NULL);
        }
    }
    if (status != MLXROCM_END) die("next", error);
    if (seen != count) die("the number of tokens is not the one asked for", NULL);
    mlxrocm_generation_free(generation);
    free(tokens);
    return (struct times){first - began, last - first};
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: mlxrocm_bench MODEL THREADS [PROMPT] [DECODE] [REPEAT]\n");
        return 2;
    }
    const size_t prompt = argc > 3 ? strtoul(argv[3], NULL, 10) : 512;
    const uint32_t decode = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 128;
    const int repeat = argc > 5 ? atoi(argv[5]) : 1;

    mlxrocm_error *error = NULL;
    mlxrocm_model *model = NULL;
    mlxrocm_session *session = NULL;
    mlxrocm_model_options options = {.struct_size = sizeof options,
                                     .threads = (uint32_t)strtoul(argv[2], NULL, 10)};
    const double began = now();
    if (mlxrocm_model_load(argv[1], MLXROCM_NUL, &options, &model, &error) != MLXROCM_OK) die("load", error);
    mlxrocm_session_options limits = {.struct_size = sizeof limits,
                                      .context = (uint32_t)(prompt + decode + 64),
                                      .max_requests = 1,
                                      .prefill_chunk = (uint32_t)prompt};
    if (mlxrocm_session_new(model, &limits, &session, &error) != MLXROCM_OK) die("session", error);
    const double load = now() - began;
    mlxrocm_model_info info = {.struct_size = sizeof info};
    if (mlxrocm_model_get_info(model, &info, &error) != MLXROCM_OK) die("info", error);

    measure(session, info.vocab_size, prompt, 2); /* warm-up */
    double best_prompt = 0, best_decode = 0;
    for (int i = 0; i < repeat; i++) {
        const double p = (double)prompt / measure(session, info.vocab_size, prompt, 1).to_first;
        const double d = (double)decode / measure(session, info.vocab_size, 1, decode + 1).to_last;
        if (p > best_prompt) best_prompt = p;
        if (d > best_decode) best_decode = d;
    }
    printf("{\"prompt_tok_s\": %.3f, \"decode_tok_s\": %.3f, \"load_seconds\": %.4f, \"peak_rss_kib\": %ld, "
           "\"kv_kib\": %.0f, \"weight_bytes\": %llu}\n",
           best_prompt, best_decode, load, status_kib("VmHWM"),
           (double)(info.kv_bytes_per_token * (uint64_t)(prompt + decode + 64)) / 1024.0,
           (unsigned long long)info.weight_bytes);
    mlxrocm_session_free(session);
    mlxrocm_model_free(model);
    return 0;
}
