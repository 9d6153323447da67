/* 03: streams a model's continuation of a prompt, or its answer.
 *
 *     03_generate [--chat] [--tokens N] [--temperature T] [--seed N] [--threads N] MODEL PROMPT
 *
 * Text goes to stdout as it is made; load progress and speed go to stderr. */
#include <mlxrocm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char *what, mlxrocm_error *error) {
    fprintf(stderr, "%s: %s: %s\n", what, mlxrocm_status_name(mlxrocm_error_status(error), NULL),
            mlxrocm_error_message(error, NULL));
    mlxrocm_error_free(error);
    return 1;
}

static int usage(void) {
    fprintf(stderr, "usage: 03_generate [--chat] [--tokens N] [--temperature T] [--seed N] "
                    "[--threads N] MODEL PROMPT\n"
                    "  MODEL      a GGUF file or an MLX model folder\n"
                    "  --chat     let the model answer PROMPT instead of continuing it\n"
                    "  --tokens   tokens to generate at most (default 200; 0: no limit)\n");
    return 2;
}

/* Load progress on stderr; going on is 0. */
static int32_t show_progress(uint64_t done, uint64_t total, void *user_data) {
    int *last = user_data;
    const int percent = total ? (int)(100.0 * (double)done / (double)total) : 100;
    if (percent != *last) fprintf(stderr, "\rloading %3d %%", percent);
    *last = percent;
    return 0;
}

static const char *reason_name(uint32_t reason) {
    switch (reason) {
    case MLXROCM_FINISH_STOP_TOKEN: return "the model stopped";
    case MLXROCM_FINISH_STOP_STRING: return "a stop string";
    case MLXROCM_FINISH_LENGTH: return "the token limit";
    case MLXROCM_FINISH_CONTEXT: return "the context is full";
    case MLXROCM_FINISH_GRAMMAR: return "the text is complete";
    case MLXROCM_FINISH_CANCELLED: return "cancelled";
    default: return "an error";
    }
}

/* Prints a generation's text and, at its end, its figures. */
static int stream(mlxrocm_generation *generation) {
    mlxrocm_error *error = NULL;
    mlxrocm_event event = {.struct_size = sizeof event};
    mlxrocm_status status;
    /* A negative timeout waits as long as it takes. */
    while ((status = mlxrocm_generation_next(generation, -1, &event, &error)) == MLXROCM_OK) {
        if (event.kind == MLXROCM_EVENT_PROMPT) continue;
        fwrite(event.text, 1, event.text_length, stdout);
        fflush(stdout);
        if (event.kind != MLXROCM_EVENT_FINISHED) continue;
        printf("\n");
        fflush(stdout);
        if (event.finish_reason == MLXROCM_FINISH_ERROR) {
            fprintf(stderr, "%s: %s\n", mlxrocm_status_name(event.error_status, NULL),
                    event.error_message);
            return 1;
        }
        /* The first token belongs to the prompt's time. */
        const double steps = event.generated_tokens > 1 ? (double)event.generated_tokens - 1 : 0;
        fprintf(stderr, "end: %s; prompt %llu tokens, %.1f tokens/s; generated %llu, %.1f tokens/s\n",
                reason_name(event.finish_reason), (unsigned long long)event.prompt_tokens,
                event.prompt_seconds > 0 ? (double)event.prompt_tokens / event.prompt_seconds : 0.0,
                (unsigned long long)event.generated_tokens,
                event.decode_seconds > 0 ? steps / event.decode_seconds : 0.0);
    }
    return status == MLXROCM_END ? 0 : fail("next", error);
}

static int run(mlxrocm_model *model, const mlxrocm_request *request) {
    mlxrocm_error *error = NULL;
    mlxrocm_session *session = NULL;
    mlxrocm_generation *generation = NULL;
    int result;
    if (mlxrocm_session_new(model, NULL, &session, &error) != MLXROCM_OK)
        return fail("session", error);
    if (mlxrocm_session_submit(session, request, &generation, &error) == MLXROCM_OK)
        result = stream(generation);
    else
        result = fail("submit", error);
    mlxrocm_generation_free(generation);
    mlxrocm_session_free(session);
    return result;
}

int main(int argc, char **argv) {
    int last_percent = -1, chat = 0, i = 1;
    mlxrocm_model_options options = {.struct_size = sizeof options,
                                     .progress = show_progress,
                                     .user_data = &last_percent};
    mlxrocm_request request = {.struct_size = sizeof request, .max_tokens = 200};
    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        if (strcmp(argv[i], "--chat") == 0) {
            chat = 1;
            continue;
        }
        if (i + 1 >= argc) return usage();
        const char *name = argv[i++];
        if (strcmp(name, "--tokens") == 0) request.max_tokens = (uint32_t)strtoul(argv[i], NULL, 10);
        else if (strcmp(name, "--temperature") == 0) request.temperature = strtof(argv[i], NULL);
        else if (strcmp(name, "--seed") == 0) request.seed = strtoull(argv[i], NULL, 10);
        else if (strcmp(name, "--threads") == 0) options.threads = (uint32_t)strtoul(argv[i], NULL, 10);
        else return usage();
    }
    if (argc - i != 2) return usage();

    mlxrocm_message message = {.role = "user", .content = argv[i + 1]};
    if (chat) {
        request.messages = &message;
        request.message_count = 1;
    } else {
        request.text = argv[i + 1];
    }

    mlxrocm_error *error = NULL;
    mlxrocm_model *model = NULL;
    const mlxrocm_status status = mlxrocm_model_load(argv[i], MLXROCM_NUL, &options, &model, &error);
    if (last_percent >= 0) fprintf(stderr, "\n");
    if (status != MLXROCM_OK) return fail("load", error);

    mlxrocm_model_info info = {.struct_size = sizeof info};
    if (mlxrocm_model_get_info(model, &info, &error) != MLXROCM_OK) {
        mlxrocm_model_free(model);
        return fail("info", error);
    }
    fprintf(stderr, "%s: %s, %.0f million weights, %s, loaded in %.2f s\n", info.name, info.family,
            (double)info.parameters / 1e6, info.quantization, info.load_seconds);
    const int result = run(model, &request);
    mlxrocm_model_free(model);
    return result;
}
