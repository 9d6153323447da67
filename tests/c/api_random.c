/* Random calls in random order from four threads on shared objects: live, freed, NULL and of the
 * wrong type. No result is wrong but a crash, a hang, or a failure without an error object.
 *
 *     api_random MODEL SEED STEPS                                                            */
#include "check.h"

#include <pthread.h>
#include <unistd.h>

#define THREADS 4
#define SLOTS 8
#define SECONDS 300

static const char *model_path;
static unsigned long steps;

/* Handles of any type, shared by all threads; a slot may hold one that was freed. */
static void *slots[SLOTS * 6];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

enum { MODELS, TOKENIZERS, TEMPLATES, SESSIONS, GENERATIONS, DEVICES, KINDS };

static void *take(uint64_t *state, int kind) {
    /* Now and then a handle of another kind, NULL or nonsense. */
    const size_t dice = below(state, 32);
    if (dice == 0) return NULL;
    if (dice == 1) return NO_HANDLE;
    if (dice == 2) kind = (int)below(state, KINDS);
    pthread_mutex_lock(&lock);
    void *handle = slots[(size_t)kind * SLOTS + below(state, SLOTS)];
    pthread_mutex_unlock(&lock);
    return handle;
}

/* Puts a handle into a slot and gives back the one that was there, for the caller to free. */
static void *put(uint64_t *state, int kind, void *handle) {
    const size_t slot = (size_t)kind * SLOTS + below(state, SLOTS);
    pthread_mutex_lock(&lock);
    void *old = slots[slot];
    slots[slot] = handle;
    pthread_mutex_unlock(&lock);
    return old;
}

static void free_kind(int kind, void *handle) {
    switch (kind) {
    case MODELS: mlxrocm_model_free(handle); break;
    case TOKENIZERS: mlxrocm_tokenizer_free(handle); break;
    case TEMPLATES: mlxrocm_chat_template_free(handle); break;
    case SESSIONS: mlxrocm_session_free(handle); break;
    case GENERATIONS: mlxrocm_generation_free(handle); break;
    default: mlxrocm_device_free(handle); break;
    }
}

/* Every failure has an object that agrees with it; nothing is broken inside. */
static void judge(mlxrocm_status status, mlxrocm_error *error) {
    CHECK((status < 0) == (error != NULL));
    if (error) CHECK(mlxrocm_error_status(error) == status && mlxrocm_error_message(error, NULL)[0]);
    CHECK(status != MLXROCM_ERROR_INTERNAL && status != MLXROCM_ERROR_POISONED);
    mlxrocm_error_free(error);
}

#define JUDGE(call)                                                                               \
    do {                                                                                          \
        const mlxrocm_status status = (call);                                                     \
        judge(status, error);                                                                     \
        error = NULL;                                                                             \
    } while (0)

static void make(uint64_t *state, int kind) {
    mlxrocm_error *error = NULL;
    void *made = NULL;
    mlxrocm_status status = MLXROCM_OK;
    if (kind == MODELS) {
        mlxrocm_model_options options = {0};
        options.struct_size = sizeof options;
        options.threads = 1 + (uint32_t)below(state, 2);
        mlxrocm_model *model = NULL;
        status = mlxrocm_model_load(below(state, 8) ? model_path : "/dev/zero", MLXROCM_NUL, &options, &model,
                                    &error);
        made = model;
    } else if (kind == TOKENIZERS) {
        mlxrocm_tokenizer *tokenizer = NULL;
        status = mlxrocm_model_get_tokenizer(take(state, MODELS), &tokenizer, &error);
        made = tokenizer;
    } else if (kind == TEMPLATES) {
        mlxrocm_chat_template *chat = NULL;
        status = mlxrocm_model_get_chat_template(take(state, MODELS), &chat, &error);
        made = chat;
    } else if (kind == SESSIONS) {
        mlxrocm_session_options options = {0};
        options.struct_size = sizeof options;
        options.context = (uint32_t)below(state, 200);
        options.max_requests = (uint32_t)below(state, 5);
        options.prefill_chunk = (uint32_t)below(state, 40);
        options.kv_type = below(state, 4);
        options.prompt_lookup = below(state, 2);
        options.draft_model = below(state, 3) == 0 ? take(state, MODELS) : NULL;
        mlxrocm_session *session = NULL;
        status = mlxrocm_session_new(take(state, MODELS), &options, &session, &error);
        made = session;
    } else if (kind == GENERATIONS) {
        mlxrocm_request request = {0};
        uint32_t tokens[64];
        const char *stop[1] = {"e"};
        for (size_t i = 0; i < 64; i++) tokens[i] = (uint32_t)below(state, 318);
        request.struct_size = sizeof request;
        request.tokens = tokens;
        request.token_count = below(state, 65);
        request.max_tokens = (uint32_t)below(state, 24);
        request.temperature = (float)below(state, 3) * 0.7f;
        request.top_k = (uint32_t)below(state, 5);
        request.seed = next_random(state);
        request.logprobs = (uint32_t)below(state, 22);
        request.stop = stop;
        request.stop_count = below(state, 2);
        mlxrocm_generation *generation = NULL;
        status = mlxrocm_session_submit(take(state, SESSIONS), &request, &generation, &error);
        made = generation;
    } else {
        mlxrocm_device *device = NULL;
        status = mlxrocm_device_open(below(state, 3), &device, &error);
        made = device;
    }
    judge(status, error);
    if (status == MLXROCM_OK) {
        CHECK(made);
        free_kind(kind, put(state, kind, made));
    }
}

static void use(uint64_t *state) {
    mlxrocm_error *error = NULL;
    size_t needed = 0;
    uint32_t tokens[32];
    char room[64];
    switch (below(state, 12)) {
    case 0: {
        mlxrocm_event event = {0};
        event.struct_size = sizeof event;
        const int64_t timeout = (int64_t)below(state, 3) * 1000000;
        JUDGE(mlxrocm_generation_next(take(state, GENERATIONS), timeout, &event, &error));
        break;
    }
    case 1: JUDGE(mlxrocm_generation_cancel(take(state, GENERATIONS), &error)); break;
    case 2:
        JUDGE(mlxrocm_tokenizer_encode(take(state, TOKENIZERS), "The hat", below(state, 8), 3, tokens,
                                       below(state, 8), &needed, &error));
        break;
    case 3:
        for (size_t i = 0; i < 8; i++) tokens[i] = (uint32_t)below(state, 322);
        JUDGE(mlxrocm_tokenizer_decode(take(state, TOKENIZERS), tokens, below(state, 9), 0, room,
                                       below(state, 64), &needed, &error));
        break;
    case 4: {
        const mlxrocm_message message = {.role = "user", .content = "hi"};
        JUDGE(mlxrocm_chat_template_render(take(state, TEMPLATES), &message, below(state, 2), 1, NULL,
                                           MLXROCM_NUL,
                                           room, below(state, 64), &needed, &error));
        break;
    }
    case 5: {
        static float unused[1];
        JUDGE(mlxrocm_session_logits(take(state, SESSIONS), tokens, 1, unused, below(state, 2), &needed,
                                     &error));
        break;
    }
    case 6: {
        mlxrocm_model_info info = {0};
        info.struct_size = (uint32_t)(below(state, 2) * sizeof info);
        JUDGE(mlxrocm_model_get_info(take(state, MODELS), &info, &error));
        break;
    }
    case 7: {
        mlxrocm_device_info info = {0};
        info.struct_size = sizeof info;
        JUDGE(mlxrocm_device_get_info(take(state, DEVICES), &info, &error));
        break;
    }
    case 8: {
        mlxrocm_session_info info = {0};
        info.struct_size = sizeof info;
        JUDGE(mlxrocm_session_get_info(take(state, SESSIONS), &info, &error));
        break;
    }
    default: {
        /* A whole logits call, while generations run. */
        static const uint32_t some[3] = {65, 66, 67};
        float *logits = malloc(3 * 320 * sizeof *logits);
        CHECK(logits);
        JUDGE(mlxrocm_session_logits(take(state, SESSIONS), some, 3, logits, 960, &needed, &error));
        free(logits);
        break;
    }
    case 9: {
        static const uint32_t text[40] = {65, 66, 67};
        static uint8_t state_bytes[1 << 17];
        const mlxrocm_session *session = take(state, SESSIONS);
        JUDGE(mlxrocm_session_save_state(session, text, below(state, 41), NULL, 0, &needed, &error));
        JUDGE(mlxrocm_session_load_state(session, state_bytes, below(state, sizeof state_bytes), &error));
        float *row = malloc(4096 * sizeof *row);
        CHECK(row);
        JUDGE(mlxrocm_session_embed(session, text, below(state, 9), NULL, row, 4096, &needed, &error));
        JUDGE(mlxrocm_session_logits_at(session, text, below(state, 9), text, below(state, 2), row, 4096, &needed,
                                        &error));
        free(row);
        break;
    }
    case 10: {
        const mlxrocm_generation *some[3];
        for (size_t i = 0; i < 3; i++) some[i] = take(state, GENERATIONS);
        int32_t fd;
        JUDGE(mlxrocm_generation_wait_any(some, below(state, 4), 1000, &needed, &error));
        JUDGE(mlxrocm_generation_get_fd(some[0], &fd, &error));
        mlxrocm_request request = {0};
        request.struct_size = sizeof request;
        request.max_tokens = 2;
        mlxrocm_generation *made = NULL;
        JUDGE(mlxrocm_generation_fork(some[0], &request, &made, &error));
        mlxrocm_generation_free(made);
        break;
    }
    }
}

static void *thread_main(void *seed) {
    uint64_t state = *(uint64_t *)seed;
    for (unsigned long step = 0; step < steps; step++) {
        const size_t dice = below(&state, 100);
        if (dice < 2) make(&state, MODELS);
        else if (dice < 5) make(&state, SESSIONS);
        else if (dice < 15) make(&state, GENERATIONS);
        else if (dice < 22) make(&state, TOKENIZERS + (int)below(&state, 2));
        else if (dice < 24) make(&state, DEVICES);
        else if (dice < 30) {
            /* Freed, but it stays in its slot for others to stumble over. */
            const int kind = (int)below(&state, KINDS);
            free_kind(kind, take(&state, kind));
        } else use(&state);
    }
    return NULL;
}

int main(int argc, char **argv) {
    CHECK(argc == 4);
    model_path = argv[1];
    steps = strtoul(argv[3], NULL, 10);
    alarm(SECONDS); /* a hang ends the process */
    uint64_t state = strtoull(argv[2], NULL, 10);
    for (int kind = 0; kind < KINDS; kind++) make(&state, kind);
    pthread_t threads[THREADS];
    uint64_t seeds[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        seeds[i] = next_random(&state);
        CHECK(pthread_create(&threads[i], NULL, thread_main, &seeds[i]) == 0);
    }
    for (size_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    /* Everything once more, in any order: leak checkers look after this. */
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < SLOTS; i++) free_kind(kind, slots[(size_t)kind * SLOTS + i]);
    return 0;
}
