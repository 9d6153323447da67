/* 06: four prompts at once in one session. The model reads its weights once for all of them, so
 * this is much faster than one after another.
 *
 *     06_batch MODEL [PROMPT...]          (at most 8 prompts) */
#include <mlxrocm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PROMPTS 8

typedef struct {
    const char *prompt;
    mlxrocm_generation *generation;
    char *text; /* so far */
    size_t length;
} batch_job;

static int fail(const char *what, mlxrocm_error *error) {
    fprintf(stderr, "%s: %s: %s\n", what, mlxrocm_status_name(mlxrocm_error_status(error), NULL),
            mlxrocm_error_message(error, NULL));
    mlxrocm_error_free(error);
    return 1;
}

static int append(batch_job *job, const char *text, size_t more) {
    char *grown = realloc(job->text, job->length + more + 1);
    if (!grown) return 1;
    memcpy(grown + job->length, text, more);
    job->text = grown;
    job->length += more;
    grown[job->length] = '\0';
    return 0;
}

/* Takes the next event of a job. */
static int step(batch_job *job, size_t index) {
    mlxrocm_error *error = NULL;
    mlxrocm_event event = {.struct_size = sizeof event};
    const mlxrocm_status status = mlxrocm_generation_next(job->generation, 0, &event, &error);
    if (status < 0) return fail("next", error);
    if (status != MLXROCM_OK) return 0;
    if (event.kind == MLXROCM_EVENT_PROMPT) {
        fprintf(stderr, "[%zu] prompt %llu/%llu\n", index + 1, (unsigned long long)event.prompt_done,
                (unsigned long long)event.prompt_total);
        return 0;
    }
    if (event.text_length > 0) fprintf(stderr, "[%zu]%s\n", index + 1, event.text);
    if (append(job, event.text, event.text_length) != 0) return 1;
    if (event.kind != MLXROCM_EVENT_FINISHED) return 0;
    if (event.finish_reason == MLXROCM_FINISH_ERROR) {
        fprintf(stderr, "[%zu] %s\n", index + 1, event.error_message);
        return 1;
    }
    fprintf(stderr, "[%zu] end after %llu tokens\n", index + 1,
            (unsigned long long)event.generated_tokens);
    return 0;
}

static int run(mlxrocm_session *session, batch_job *jobs, size_t count) {
    mlxrocm_error *error = NULL;
    for (size_t i = 0; i < count; i++) {
        const mlxrocm_request request = {
            .struct_size = sizeof request, .text = jobs[i].prompt, .max_tokens = 32};
        if (mlxrocm_session_submit(session, &request, &jobs[i].generation, &error) != MLXROCM_OK)
            return fail("submit", error);
    }
    /* Events of different generations come interleaved. An event loop would take their mlxrocm_generation_get_fd. */
    const mlxrocm_generation *generations[MAX_PROMPTS];
    for (size_t i = 0; i < count; i++) generations[i] = jobs[i].generation;
    for (;;) {
        size_t ready = 0;
        const mlxrocm_status status = mlxrocm_generation_wait_any(generations, count, -1, &ready, &error);
        if (status < 0) return fail("wait", error);
        if (status == MLXROCM_END) break;
        if (step(&jobs[ready], ready) != 0) return 1;
    }
    for (size_t i = 0; i < count; i++)
        printf("%zu. %s|%s\n", i + 1, jobs[i].prompt, jobs[i].text ? jobs[i].text : "");
    return 0;
}

int main(int argc, char **argv) {
    static const char *const defaults[] = {"The capital of France is", "Once upon a time",
                                           "Water boils at", "The three primary colours are"};
    if (argc < 2 || argc - 2 > MAX_PROMPTS) {
        fprintf(stderr, "usage: 06_batch MODEL [PROMPT...]   (at most %d prompts)\n", MAX_PROMPTS);
        return 2;
    }
    batch_job jobs[MAX_PROMPTS] = {{NULL, NULL, NULL, 0}};
    const size_t count = argc > 2 ? (size_t)argc - 2 : sizeof defaults / sizeof *defaults;
    for (size_t i = 0; i < count; i++) jobs[i].prompt = argc > 2 ? argv[i + 2] : defaults[i];

    mlxrocm_error *error = NULL;
    mlxrocm_model *model = NULL;
    mlxrocm_session *session = NULL;
    if (mlxrocm_model_load(argv[1], MLXROCM_NUL, NULL, &model, &error) != MLXROCM_OK) return fail("load",
                                                                                                  error);
    const mlxrocm_session_options options = {.struct_size = sizeof options,
                                             .max_requests = MAX_PROMPTS};
    int result = 0;
    if (mlxrocm_session_new(model, &options, &session, &error) != MLXROCM_OK)
        result = fail("session", error);
    else
        result = run(session, jobs, count);
    for (size_t i = 0; i < count; i++) {
        mlxrocm_generation_free(jobs[i].generation);
        free(jobs[i].text);
    }
    mlxrocm_session_free(session);
    mlxrocm_model_free(model);
    return result;
}
