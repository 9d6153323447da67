/* 06: four prompts at once in one session. The model reads its weights once for all of them, so
 * this is much faster than one after another.
 *
 *     06_batch MODEL [PROMPT...]          (at most 8 prompts) */
#include <mlxrocm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PROMPTS 8
#define POLL_NS 1000000 /* one millisecond */

typedef struct {
    const char *prompt;
    mlxrocm_generation *generation;
    char *text; /* so far */
    size_t length;
    int running;
} batch_job;

static int fail(const char *what, mlxrocm_error *error) {
    fprintf(stderr, "%s: %s: %s\n", what, mlxrocm_status_name(mlxrocm_error_status(error)),
            mlxrocm_error_message(error));
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

/* Takes the next event of a job, if there is one within `timeout_ns`. */
static int step(batch_job *job, size_t index, int64_t timeout_ns) {
    mlxrocm_error *error = NULL;
    mlxrocm_event event = {.struct_size = sizeof event};
    const mlxrocm_status status = mlxrocm_generation_next(job->generation, timeout_ns, &event, &error);
    if (status < 0) return fail("next", error);
    if (status == MLXROCM_END) job->running = 0;
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
        jobs[i].running = 1;
    }
    /* Events of different generations come interleaved: look at each in turn. */
    for (size_t running = count; running > 0;) {
        running = 0;
        for (size_t i = 0; i < count; i++) {
            if (!jobs[i].running) continue;
            if (step(&jobs[i], i, POLL_NS) != 0) return 1;
            running += (size_t)jobs[i].running;
        }
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
    batch_job jobs[MAX_PROMPTS] = {{NULL, NULL, NULL, 0, 0}};
    const size_t count = argc > 2 ? (size_t)argc - 2 : sizeof defaults / sizeof *defaults;
    for (size_t i = 0; i < count; i++) jobs[i].prompt = argc > 2 ? argv[i + 2] : defaults[i];

    mlxrocm_error *error = NULL;
    mlxrocm_model *model = NULL;
    mlxrocm_session *session = NULL;
    if (mlxrocm_model_load(argv[1], NULL, &model, &error) != MLXROCM_OK) return fail("load", error);
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
