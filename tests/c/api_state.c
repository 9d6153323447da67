/* States: saved, loaded in another session and another process, forked, damaged. */
#include "check.h"

#include <math.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROMPT 100
#define NEW 12

typedef struct {
    uint32_t tokens[NEW];
    float logprobs[NEW];
    uint64_t cached;
} answer;

static uint32_t prompt[PROMPT];

static void collect(mlxrocm_generation *generation, answer *a) {
    mlxrocm_event event = {0};
    event.struct_size = sizeof event;
    memset(a, 0, sizeof *a);
    size_t count = 0;
    do {
        OK(mlxrocm_generation_next(generation, -1, &event, &error));
        if (event.kind != MLXROCM_EVENT_TOKEN) continue;
        CHECK(count < NEW);
        a->logprobs[count] = event.logprob;
        a->tokens[count++] = event.token;
    } while (event.kind != MLXROCM_EVENT_FINISHED);
    CHECK(count == NEW && event.finish_reason == MLXROCM_FINISH_LENGTH);
    a->cached = event.cached_tokens;
}

static mlxrocm_request request_of(const uint32_t *tokens, size_t count) {
    mlxrocm_request request = {0};
    request.struct_size = sizeof request;
    request.tokens = tokens;
    request.token_count = count;
    request.max_tokens = NEW;
    request.logprobs = 1;
    request.flags = MLXROCM_REQUEST_IGNORE_EOS;
    return request;
}

static void run(const mlxrocm_session *session, const uint32_t *tokens, size_t count, answer *a) {
    const mlxrocm_request request = request_of(tokens, count);
    mlxrocm_generation *generation = NULL;
    OK(mlxrocm_session_submit(session, &request, &generation, &error));
    collect(generation, a);
    mlxrocm_generation_free(generation);
}

/* Tokens and log-probabilities are the same to the bit. */
static int same(const answer *a, const answer *b) {
    return !memcmp(a->tokens, b->tokens, sizeof a->tokens) && !memcmp(a->logprobs, b->logprobs, sizeof a->logprobs);
}

static mlxrocm_session *session_of_kind(const mlxrocm_model *model, uint64_t kv_type) {
    mlxrocm_session_options options = {0};
    options.struct_size = sizeof options;
    options.context = 256;
    options.kv_type = kv_type;
    mlxrocm_session *session = NULL;
    OK(mlxrocm_session_new(model, &options, &session, &error));
    return session;
}

/* What another process does: loads the file, goes on, and leaves its answer in `result`. */
static int in_another_process(const char *model_path, const char *state, const char *result) {
    mlxrocm_model *model = load(model_path);
    mlxrocm_session *session = session_of(model);
    OK(mlxrocm_session_load_state_file(session, state, MLXROCM_NUL, &error));
    answer a;
    run(session, prompt, PROMPT, &a);
    FILE *file = fopen(result, "wb");
    CHECK(file && fwrite(&a, sizeof a, 1, file) == 1 && fclose(file) == 0);
    mlxrocm_session_free(session);
    mlxrocm_model_free(model);
    return 0;
}

static void another_process(const char *self, const char *model_path, const mlxrocm_session *session,
                            const answer *expected) {
    char folder[] = "/tmp/mlxrocm-state-XXXXXX", state[64], result[64];
    CHECK(mkdtemp(folder));
    snprintf(state, sizeof state, "%s/state", folder);
    snprintf(result, sizeof result, "%s/result", folder);
    OK(mlxrocm_session_save_state_file(session, prompt, PROMPT, state, MLXROCM_NUL, &error));
    const pid_t child = fork();
    if (child == 0) {
        execl(self, self, model_path, state, result, (char *)NULL);
        _exit(9);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    answer a;
    FILE *file = fopen(result, "rb");
    CHECK(file && fread(&a, sizeof a, 1, file) == 1 && fclose(file) == 0);
    CHECK(same(&a, expected) && a.cached == 96);

    /* A FIFO, a folder, nothing. */
    char other[80];
    snprintf(other, sizeof other, "%s/fifo", folder);
    CHECK(mkfifo(other, 0600) == 0);
    EXPECT_MESSAGE(MLXROCM_ERROR_IO, "fifo", mlxrocm_session_load_state_file(session, other, MLXROCM_NUL, &error));
    EXPECT(MLXROCM_ERROR_IO, mlxrocm_session_load_state_file(session, folder, MLXROCM_NUL, &error));
    EXPECT(MLXROCM_ERROR_INVALID_FILE, mlxrocm_session_load_state_file(session, result, MLXROCM_NUL, &error));
    CHECK(unlink(other) == 0 && unlink(state) == 0 && unlink(result) == 0);
    NO_FILE(mlxrocm_session_load_state_file(session, state, MLXROCM_NUL, &error));
    CHECK(rmdir(folder) == 0);
    NO_FILE(mlxrocm_session_save_state_file(session, prompt, PROMPT, state, MLXROCM_NUL, &error));
    INVALID(mlxrocm_session_load_state_file(session, "", MLXROCM_NUL, &error));
    NULL_ARGUMENT(mlxrocm_session_load_state_file(session, NULL, MLXROCM_NUL, &error));
    NULL_ARGUMENT(mlxrocm_session_save_state_file(session, prompt, PROMPT, NULL, MLXROCM_NUL, &error));
}

static void refusals(const mlxrocm_session *session, uint8_t *state, size_t size) {
    size_t needed;
    EXPECT_MESSAGE(MLXROCM_ERROR_INVALID_FILE, "instead of",
                   mlxrocm_session_load_state(session, state, size - 1, &error));
    EXPECT(MLXROCM_ERROR_INVALID_FILE, mlxrocm_session_load_state(session, NULL, 0, &error));
    uint64_t random = 7;
    for (int i = 0; i < 200; i++) {
        const size_t at = below(&random, size);
        const uint8_t old = state[at];
        state[at] ^= (uint8_t)(1 + below(&random, 255));
        mlxrocm_error *error = NULL;
        CHECK(mlxrocm_session_load_state(session, state, size, &error) < 0 && error);
        mlxrocm_error_free(error);
        EXPECT_MESSAGE(MLXROCM_ERROR_INVALID_FILE, "", mlxrocm_session_load_state(session, state, at, &error));
        state[at] = old;
    }
    EXPECT(MLXROCM_ERROR_BUFFER_TOO_SMALL,
           mlxrocm_session_save_state(session, prompt, PROMPT, state, size - 1, &needed, &error));
    EXPECT(MLXROCM_ERROR_CONTEXT_FULL,
           mlxrocm_session_save_state(session, (uint32_t[300]){0}, 300, state, size * 9, &needed, &error));
    INVALID(mlxrocm_session_save_state(session, prompt, 0, state, size, &needed, &error));
    NULL_ARGUMENT(mlxrocm_session_save_state(NULL, prompt, PROMPT, state, size, &needed, &error));
    NULL_ARGUMENT(mlxrocm_session_save_state(session, NULL, PROMPT, state, size, &needed, &error));
    NULL_ARGUMENT(mlxrocm_session_save_state(session, prompt, PROMPT, NULL, size, &needed, &error));
    NULL_ARGUMENT(mlxrocm_session_load_state(session, NULL, size, &error));
    NULL_ARGUMENT(mlxrocm_session_load_state(NULL, state, size, &error));
    NULL_ARGUMENT(mlxrocm_state_get_tokens(NULL, size, NULL, 0, &needed, &error));
}

static void forks(const mlxrocm_session *session, const answer *expected) {
    const mlxrocm_request request = request_of(prompt, PROMPT);
    mlxrocm_generation *first = NULL, *fork = NULL;
    OK(mlxrocm_session_submit(session, &request, &first, &error));
    mlxrocm_event event = {0};
    event.struct_size = sizeof event;
    size_t seen = 0;
    while (seen < 4) {
        OK(mlxrocm_generation_next(first, -1, &event, &error));
        seen += event.kind == MLXROCM_EVENT_TOKEN;
    }
    mlxrocm_request more = request_of(NULL, 0);
    more.max_tokens = NEW - 4;
    OK(mlxrocm_generation_fork(first, &more, &fork, &error));
    answer a = {0};
    size_t count = 0;
    do {
        OK(mlxrocm_generation_next(fork, -1, &event, &error));
        if (event.kind == MLXROCM_EVENT_TOKEN) a.tokens[count++] = event.token;
    } while (event.kind != MLXROCM_EVENT_FINISHED);
    CHECK(count == NEW - 4 && !memcmp(a.tokens, expected->tokens + 4, count * sizeof *a.tokens));
    CHECK(event.cached_tokens == 96 && event.prompt_tokens == PROMPT + 4);
    mlxrocm_generation_free(fork);
    /* With other sampling something else; the first one notices nothing. */
    more.temperature = 50;
    more.seed = 5;
    OK(mlxrocm_generation_fork(first, &more, &fork, &error));
    size_t tokens;
    CHECK(drain(fork, &tokens) == MLXROCM_FINISH_LENGTH && tokens == NEW - 4);
    mlxrocm_generation_free(fork);
    CHECK(drain(first, &tokens) == MLXROCM_FINISH_LENGTH && tokens == NEW - 4);
    EXPECT_MESSAGE(MLXROCM_ERROR_INVALID_ARGUMENT, "fork", mlxrocm_generation_fork(first, &request, &fork, &error));
    NULL_ARGUMENT(mlxrocm_generation_fork(first, NULL, &fork, &error));
    NULL_ARGUMENT(mlxrocm_generation_fork(first, &more, NULL, &error));
    NULL_ARGUMENT(mlxrocm_generation_fork(NULL, &more, &fork, &error));
    mlxrocm_generation_free(first);
    INVALID(mlxrocm_generation_fork(first, &more, &fork, &error));
}

static void all_of_it(const char *self, const char *path, size_t count) {
    mlxrocm_model *model = load(path);
    const uint64_t kinds[] = {MLXROCM_KV_F16, MLXROCM_KV_Q8, MLXROCM_KV_Q4};
    for (size_t kind = 0; kind < count; kind++) {
        mlxrocm_session *fresh = session_of_kind(model, kinds[kind]);
        answer expected, a;
        run(fresh, prompt, PROMPT, &expected);
        CHECK(expected.cached == 0);
        size_t size = 0, count = 0;
        OK(mlxrocm_session_save_state(fresh, prompt, PROMPT, NULL, 0, &size, &error));
        uint8_t *state = malloc(size);
        CHECK(state && size > 96 * 4);
        OK(mlxrocm_session_save_state(fresh, prompt, PROMPT, state, size, &size, &error));
        uint32_t tokens[PROMPT];
        OK(mlxrocm_state_get_tokens(state, size, tokens, PROMPT, &count, &error));
        CHECK(count == PROMPT && !memcmp(tokens, prompt, sizeof prompt));

        mlxrocm_session *second = session_of_kind(model, kinds[kind]);
        OK(mlxrocm_session_load_state(second, state, size, &error));
        run(second, prompt, PROMPT, &a);
        CHECK(same(&a, &expected) && a.cached == 96);
        mlxrocm_session *other = session_of_kind(model, kinds[(kind + 1) % 3]);
        EXPECT_MESSAGE(MLXROCM_ERROR_INVALID_ARGUMENT, "kv_type",
                       mlxrocm_session_load_state(other, state, size, &error));
        mlxrocm_session_free(other);
        if (kind == 0) {
            refusals(second, state, size);
            forks(second, &expected);
            another_process(self, path, second, &expected);
        }
        free(state);
        mlxrocm_session_free(second);
        mlxrocm_session_free(fresh);
    }
    mlxrocm_model_free(model);
}

/* A model with keys and values only, and one with recurrent layers too. */
int main(int argc, char **argv) {
    for (uint32_t i = 0; i < PROMPT; i++) prompt[i] = (i * 7 + 3) % 61;
    if (argc == 4) return in_another_process(argv[1], argv[2], argv[3]);
    CHECK(argc == 3);
    all_of_it(argv[0], argv[1], 3);
    all_of_it(argv[0], argv[2], 1);
    return 0;
}
