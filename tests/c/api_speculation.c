/* Guessed tokens: the same text as without, counts of guesses, wrong options, a draft model that is freed early. */
#include "check.h"

#define TOKENS 60

static uint32_t plain[TOKENS];

/* Writes on from a text that repeats itself; the last event. */
static mlxrocm_event write_on(const mlxrocm_session *session, uint32_t *tokens) {
    mlxrocm_generation *generation = submit_text(session, "one two one two one two one two one", TOKENS);
    mlxrocm_event event = {0};
    event.struct_size = sizeof event;
    size_t count = 0;
    while (event.kind != MLXROCM_EVENT_FINISHED) {
        OK(mlxrocm_generation_next(generation, -1, &event, &error));
        if (event.kind != MLXROCM_EVENT_TOKEN) continue;
        CHECK(count < TOKENS);
        tokens[count++] = event.token;
    }
    CHECK(count == TOKENS && event.generated_tokens == TOKENS && event.accepted_tokens <= event.guessed_tokens);
    event.text = NULL, event.top = NULL, event.error_message = NULL;
    mlxrocm_generation_free(generation);
    return event;
}

static mlxrocm_session *guessing(const mlxrocm_model *model, uint64_t prompt_lookup, const mlxrocm_model *draft) {
    mlxrocm_session_options options = {0};
    options.struct_size = sizeof options;
    options.context = 256;
    options.prompt_lookup = prompt_lookup;
    options.draft_model = draft;
    mlxrocm_session *session = NULL;
    OK(mlxrocm_session_new(model, &options, &session, &error));
    return session;
}

static void same_text(const mlxrocm_model *model, const char *path) {
    uint32_t tokens[TOKENS];
    for (int with = 0; with < 4; with++) {
        mlxrocm_model *draft = with & 2 ? load(path) : NULL;
        mlxrocm_session *session = guessing(model, with & 1, draft);
        mlxrocm_model_free(draft); /* the session keeps it */
        const mlxrocm_event end = write_on(session, with == 0 ? plain : tokens);
        CHECK(with == 0 ? end.guessed_tokens == 0 : memcmp(tokens, plain, sizeof plain) == 0);
        /* The model guesses as it chooses itself. */
        CHECK(with != 2 || (end.guessed_tokens > 0 && end.accepted_tokens > 0));
        mlxrocm_session_free(session);
    }
}

static void wrong_options(const mlxrocm_model *model) {
    mlxrocm_session_options options = {0};
    options.struct_size = sizeof options;
    mlxrocm_session *session = NO_HANDLE;
    options.prompt_lookup = 2;
    EXPECT_MESSAGE(MLXROCM_ERROR_INVALID_ARGUMENT, "prompt_lookup is 2",
                   mlxrocm_session_new(model, &options, &session, &error));
    options.prompt_lookup = 0;
    options.draft_model = NO_HANDLE;
    EXPECT_MESSAGE(MLXROCM_ERROR_INVALID_ARGUMENT, "draft_model", mlxrocm_session_new(model, &options, &session, &error));
    CHECK(session == NO_HANDLE);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    mlxrocm_model *model = load(argv[1]);
    same_text(model, argv[1]);
    wrong_options(model);
    mlxrocm_model_free(model);
    return 0;
}
