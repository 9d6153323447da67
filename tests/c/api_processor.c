/* Logits processors: a grammar, failures, and when user data is freed. */
#include "check.h"

#include <math.h>
#include <stdatomic.h>

typedef struct {
    atomic_int calls, freed;
    int fail_at;   /* the call that fails; 0: none */
    float spoiled; /* what is written to a logit then, unless 0 */
} state;

/* Only ids of the parity of the position: what a grammar does. */
static int32_t parity(const uint32_t *tokens, size_t token_count, float *logits, size_t vocab_size, void *data) {
    state *s = data;
    const int call = ++s->calls;
    CHECK(tokens && token_count > 0 && vocab_size > 256);
    for (size_t i = 0; i < vocab_size; i++) {
        CHECK(isfinite(logits[i]));
        if (i % 2 != token_count % 2) logits[i] = -INFINITY;
    }
    if (call != s->fail_at) return 0;
    if (s->spoiled == 0) return 7;
    logits[5] = s->spoiled;
    return 0;
}

static void count_free(void *data) { ++((state *)data)->freed; }

static mlxrocm_request request_of(state *s) {
    mlxrocm_request request = {0};
    request.struct_size = sizeof request;
    request.text = "The hat";
    request.max_tokens = 9;
    request.flags = MLXROCM_REQUEST_IGNORE_EOS;
    request.logits_processor = parity;
    request.user_data = s;
    request.user_data_free = count_free;
    return request;
}

/* Runs to the end; checks the grammar. */
static mlxrocm_event run(const mlxrocm_session *session, const mlxrocm_request *request, size_t *tokens) {
    mlxrocm_generation *generation = NULL;
    mlxrocm_event event = {0};
    event.struct_size = sizeof event;
    OK(mlxrocm_session_submit(session, request, &generation, &error));
    uint64_t position = 0;
    *tokens = 0;
    do {
        OK(mlxrocm_generation_next(generation, -1, &event, &error));
        if (event.kind == MLXROCM_EVENT_PROMPT) position = event.prompt_total;
        if (event.kind == MLXROCM_EVENT_TOKEN) CHECK(event.token % 2 == (position + (*tokens)++) % 2);
    } while (event.kind != MLXROCM_EVENT_FINISHED);
    if (event.error_message) CHECK(strstr(event.error_message, "logits processor"));
    mlxrocm_generation_free(generation);
    return event;
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    mlxrocm_model *model = load(argv[1]);
    mlxrocm_session *session = session_of(model);
    state s = {0}, failing = {.fail_at = 4}, nan = {.fail_at = 1, .spoiled = NAN}, inf = {.fail_at = 2, .spoiled = INFINITY};
    size_t tokens;
    mlxrocm_request request = request_of(&s);
    mlxrocm_event end = run(session, &request, &tokens);
    CHECK(end.finish_reason == MLXROCM_FINISH_LENGTH && tokens == 9 && s.calls == 9 && s.freed == 1);
    request.temperature = 1;
    end = run(session, &request, &tokens);
    CHECK(end.finish_reason == MLXROCM_FINISH_LENGTH && s.calls == 18 && s.freed == 2);

    request = request_of(&failing);
    end = run(session, &request, &tokens);
    CHECK(end.error_status == MLXROCM_ERROR_CANCELLED && tokens == 3 && failing.freed == 1);
    request = request_of(&nan);
    end = run(session, &request, &tokens);
    CHECK(end.error_status == MLXROCM_ERROR_INVALID_ARGUMENT && tokens == 0 && nan.freed == 1);
    request = request_of(&inf);
    end = run(session, &request, &tokens);
    CHECK(end.error_status == MLXROCM_ERROR_INVALID_ARGUMENT && tokens == 1 && inf.freed == 1);

    /* A call that fails frees it too, whatever it fails for. */
    state never = {0};
    mlxrocm_generation *generation = NULL;
    request = request_of(&never);
    request.text = NULL;
    INVALID(mlxrocm_session_submit(session, &request, &generation, &error));
    CHECK(never.freed == 1);
    request.text = "A";
    NULL_ARGUMENT(mlxrocm_session_submit(session, &request, NULL, &error));
    NULL_ARGUMENT(mlxrocm_session_submit(NULL, &request, &generation, &error));
    INVALID(mlxrocm_session_submit(NO_HANDLE, &request, &generation, &error));
    CHECK(never.freed == 4);
    request.struct_size = 3; /* unreadable */
    INVALID(mlxrocm_session_submit(session, &request, &generation, &error));
    CHECK(never.freed == 4 && never.calls == 0);
    /* Without a callback it is not needed. */
    request.struct_size = sizeof request;
    request.logits_processor = NULL;
    OK(mlxrocm_session_submit(session, &request, &generation, &error));
    CHECK(never.freed == 5);
    CHECK(drain(generation, &tokens) == MLXROCM_FINISH_LENGTH && never.calls == 0);
    mlxrocm_generation_free(generation);

    /* Cancelled and freed while others go on; freed with the session's end at the latest. */
    state dropped = {0};
    request = request_of(&dropped);
    request.max_tokens = 0;
    OK(mlxrocm_session_submit(session, &request, &generation, &error));
    mlxrocm_generation_free(generation);
    mlxrocm_session_free(session);
    CHECK(dropped.freed == 1);
    mlxrocm_model_free(model);
    return 0;
}
