/* What the C tests share: checks that name the line, and the objects of a model. */
#ifndef CHECK_H
#define CHECK_H

#include <mlxrocm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                          \
    do {                                                                                          \
        if (!(condition)) {                                                                       \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);             \
            exit(1);                                                                              \
        }                                                                                         \
    } while (0)

/* `call` passes `&error`; it must return `wanted`, with an error object if and only if it fails. */
#define EXPECT(wanted, call)                                                                      \
    do {                                                                                          \
        mlxrocm_error *error = NULL;                                                              \
        const mlxrocm_status got = (call);                                                        \
        check_status(__FILE__, __LINE__, #call, (wanted), got, error);                            \
        mlxrocm_error_free(error);                                                                \
    } while (0)

/* As EXPECT, and the message must hold `part`. */
#define EXPECT_MESSAGE(wanted, part, call)                                                        \
    do {                                                                                          \
        mlxrocm_error *error = NULL;                                                              \
        const mlxrocm_status got = (call);                                                        \
        check_status(__FILE__, __LINE__, #call, (wanted), got, error);                            \
        if (!strstr(mlxrocm_error_message(error, NULL), (part))) {                                \
            fprintf(stderr, "%s:%d: no \"%s\" in: %s\n", __FILE__, __LINE__, (part),              \
                    mlxrocm_error_message(error, NULL));                                          \
            exit(1);                                                                              \
        }                                                                                         \
        mlxrocm_error_free(error);                                                                \
    } while (0)

/* A file that is not there, and no more: no number of the system's behind its text. */
#define NO_FILE(call)                                                                           \
    do {                                                                                          \
        mlxrocm_error *error = NULL;                                                              \
        const mlxrocm_status got = (call);                                                        \
        const char *message = mlxrocm_error_message(error, NULL), *end = ": No such file or directory"; \
        check_status(__FILE__, __LINE__, #call, MLXROCM_ERROR_IO, got, error);                    \
        CHECK(strlen(message) > strlen(end) && !strcmp(message + strlen(message) - strlen(end), end)); \
        mlxrocm_error_free(error);                                                                \
    } while (0)

#define OK(call) EXPECT(MLXROCM_OK, call)
#define NULL_ARGUMENT(call) EXPECT(MLXROCM_ERROR_NULL_ARGUMENT, call)
#define INVALID(call) EXPECT(MLXROCM_ERROR_INVALID_ARGUMENT, call)

static inline void check_status(const char *file, int line, const char *call, mlxrocm_status wanted,
                                mlxrocm_status got, const mlxrocm_error *error) {
    const char *message = mlxrocm_error_message(error, NULL);
    const int right = got == wanted && (got < 0) == (error != NULL) &&
                      mlxrocm_error_status(error) == (got < 0 ? got : MLXROCM_OK) &&
                      (message[0] != '\0') == (got < 0) && !strchr(message, '\n');
    if (right) return;
    fprintf(stderr, "%s:%d: %s\n  returned %s instead of %s: %s\n", file, line, call,
            mlxrocm_status_name(got, NULL), mlxrocm_status_name(wanted, NULL), message);
    exit(1);
}

/* A pointer that no handle ever has. */
#define NO_HANDLE ((void *)(uintptr_t)0x5a5a5a50)

static inline mlxrocm_model *load(const char *path) {
    mlxrocm_model_options options = {0};
    options.struct_size = sizeof options;
    options.threads = 1;
    mlxrocm_model *model = NULL;
    OK(mlxrocm_model_load(path, MLXROCM_NUL, &options, &model, &error));
    CHECK(model);
    return model;
}

static inline mlxrocm_session *session_of(const mlxrocm_model *model) {
    mlxrocm_session_options options = {0};
    options.struct_size = sizeof options;
    options.context = 256;
    options.max_requests = 4;
    mlxrocm_session *session = NULL;
    OK(mlxrocm_session_new(model, &options, &session, &error));
    CHECK(session);
    return session;
}

static inline mlxrocm_generation *submit_text(const mlxrocm_session *session, const char *text,
                                              uint32_t max_tokens) {
    mlxrocm_request request = {0};
    request.struct_size = sizeof request;
    request.text = text;
    request.max_tokens = max_tokens;
    request.flags = MLXROCM_REQUEST_IGNORE_EOS;
    mlxrocm_generation *generation = NULL;
    OK(mlxrocm_session_submit(session, &request, &generation, &error));
    CHECK(generation);
    return generation;
}

/* Takes events to the end; returns the finish reason, and the tokens seen in `tokens`. */
static inline uint32_t drain(const mlxrocm_generation *generation, size_t *tokens) {
    uint32_t reason = 0;
    mlxrocm_event event = {0};
    event.struct_size = sizeof event;
    *tokens = 0;
    for (;;) {
        mlxrocm_error *error = NULL;
        const mlxrocm_status status = mlxrocm_generation_next(generation, -1, &event, &error);
        if (status < 0) fprintf(stderr, "%s\n", mlxrocm_error_message(error, NULL));
        CHECK(status == MLXROCM_OK || status == MLXROCM_END);
        if (status == MLXROCM_END) break;
        CHECK(reason == 0); /* nothing follows the end */
        if (event.kind == MLXROCM_EVENT_PROMPT) continue;
        CHECK(event.text && event.text[event.text_length] == '\0');
        if (event.kind == MLXROCM_EVENT_TOKEN) ++*tokens;
        if (event.kind == MLXROCM_EVENT_FINISHED) reason = event.finish_reason;
    }
    CHECK(reason != 0);
    return reason;
}

static inline uint64_t next_random(uint64_t *state) {
    /* splitmix64 */
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline size_t below(uint64_t *state, size_t limit) { return (size_t)(next_random(state) % limit); }

#endif
