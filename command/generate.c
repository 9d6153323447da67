/* Requests, and the text that comes out of them. */
#include "command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Another number each time. */
static uint64_t new_seed(void) {
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t seed = ((uint64_t)now.tv_sec << 30) ^ (uint64_t)now.tv_nsec ^ ((uint64_t)getpid() << 42);
    seed = (seed ^ (seed >> 31)) * 0x9e3779b97f4a7c15u; /* spreads what differs over all bits */
    return seed >> 32;
}

mlxrocm_request make_request(const struct settings *settings) {
    const bool is_sampled = settings->temperature > 0;
    const uint64_t seed = settings->seed_given || !is_sampled ? settings->seed : new_seed();
    if (is_sampled && settings->verbose) fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
    return (mlxrocm_request){
        .struct_size = sizeof(mlxrocm_request),
        .flags = settings->ignore_eos ? MLXROCM_REQUEST_IGNORE_EOS : 0,
        .stop = settings->stop.count > 0 ? settings->stop.texts : NULL,
        .stop_count = settings->stop.count,
        .seed = seed,
        .max_tokens = (uint32_t)settings->max_tokens,
        .temperature = (float)settings->temperature,
        .top_k = (uint32_t)settings->top_k,
        .top_p = (float)settings->top_p,
        .min_p = (float)settings->min_p,
        .repetition_penalty = (float)settings->repetition_penalty,
        .presence_penalty = (float)settings->presence_penalty,
        .frequency_penalty = (float)settings->frequency_penalty,
        .penalty_window = (uint32_t)settings->penalty_window,
    };
}

/* What an event brings is written at once: the reader sees each token. */
static int show(const mlxrocm_event *event, struct text *answer, bool *ends_line) {
    if (event->kind == MLXROCM_EVENT_PROMPT) {
        if (event->prompt_done < event->prompt_total)
            progress("reading the prompt", event->prompt_done, event->prompt_total);
        return 0;
    }
    progress_end();
    if (event->text_length == 0) return 0;
    if (answer != NULL) text_add(answer, event->text, event->text_length);
    *ends_line = event->text[event->text_length - 1] == '\n';
    if (!write_text(stdout, event->text, event->text_length) || fflush(stdout) != 0) return fail_to_write();
    return 0;
}

int stream(mlxrocm_generation *generation, struct text *answer, mlxrocm_event *end) {
    enum { LOOK_FOR_CTRL_C = 50 * 1000 * 1000 }; /* nanoseconds */
    mlxrocm_error *error = NULL;
    mlxrocm_event event = {.struct_size = sizeof event};
    mlxrocm_status status;
    bool cancelled = false, ends_line = false;
    int result = 0;
    memset(end, 0, sizeof *end);
    while ((status = mlxrocm_generation_next(generation, LOOK_FOR_CTRL_C, &event, &error)) >= 0) {
        if (status == MLXROCM_END) break;
        if (interrupts() > 0 && !cancelled) {
            cancelled = true;
            mlxrocm_generation_cancel(generation, NULL);
        }
        if (status == MLXROCM_PENDING) continue;
        result = show(&event, answer, &ends_line);
        if (result != 0) return result;
        if (event.kind != MLXROCM_EVENT_FINISHED) continue;
        if (!ends_line && (putchar('\n') == EOF || fflush(stdout) != 0)) return fail_to_write();
        if (event.finish_reason == MLXROCM_FINISH_ERROR) result = fail("%s", event.error_message);
        *end = event;
        end->text = end->error_message = NULL;
        end->top = NULL;
        return result;
    }
    return fail_with(error);
}

static const char *reason_name(uint32_t reason) {
    switch (reason) {
    case MLXROCM_FINISH_STOP_TOKEN: return "the model stopped";
    case MLXROCM_FINISH_STOP_STRING: return "a stop text";
    case MLXROCM_FINISH_LENGTH: return "the limit of tokens";
    case MLXROCM_FINISH_CONTEXT: return "the context is full";
    case MLXROCM_FINISH_GRAMMAR: return "the text is complete";
    case MLXROCM_FINISH_CANCELLED: return "stopped";
    default: return "an error";
    }
}

void print_speed(const mlxrocm_event *end) {
    /* The first token belongs to the prompt's time. */
    const double steps = end->generated_tokens > 1 ? (double)end->generated_tokens - 1 : 0;
    const double run = (double)(end->prompt_tokens - end->cached_tokens);
    set_style(stderr, STYLE_DIM);
    fprintf(stderr, "end: %s; prompt %llu tokens (%llu cached), %.1f tokens/s; generated %llu, %.1f tokens/s",
            reason_name(end->finish_reason), (unsigned long long)end->prompt_tokens,
            (unsigned long long)end->cached_tokens, end->prompt_seconds > 0 ? run / end->prompt_seconds : 0.0,
            (unsigned long long)end->generated_tokens,
            end->decode_seconds > 0 ? steps / end->decode_seconds : 0.0);
    if (end->guessed_tokens > 0)
        fprintf(stderr, "; guessed %llu, %llu of them right", (unsigned long long)end->guessed_tokens,
                (unsigned long long)end->accepted_tokens);
    set_style(stderr, STYLE_PLAIN);
    fputc('\n', stderr);
}
