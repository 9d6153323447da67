/* 04: a chat of several turns.
 *
 *     04_chat MODEL [SYSTEM_PROMPT]
 *
 * Each line of stdin is a message; the answers go to stdout. The end of the input or an empty line
 * ends the chat. What earlier turns left in the KV cache is used again, so a long chat stays fast. */
#include <mlxrocm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_MESSAGES 256

/* The chat so far; contents are owned. */
static mlxrocm_message messages[MAX_MESSAGES];
static size_t message_count = 0;

static int fail(const char *what, mlxrocm_error *error) {
    fprintf(stderr, "%s: %s: %s\n", what, mlxrocm_status_name(mlxrocm_error_status(error), NULL),
            mlxrocm_error_message(error, NULL));
    mlxrocm_error_free(error);
    return 1;
}

/* Adds a message; takes `content`, which came from malloc. */
static int say(const char *role, char *content) {
    if (!content || message_count == MAX_MESSAGES) {
        fprintf(stderr, "the chat is too long\n");
        free(content);
        return 1;
    }
    messages[message_count].role = role;
    messages[message_count++].content = content;
    return 0;
}

static char *copy(const char *text, size_t length) {
    char *made = malloc(length + 1);
    if (!made) return NULL;
    memcpy(made, text, length);
    made[length] = '\0';
    return made;
}

/* Appends to an answer that grows; NULL when there is no memory. */
static char *append(char *answer, size_t *length, const char *text, size_t more) {
    char *grown = realloc(answer, *length + more + 1);
    if (!grown) {
        free(answer);
        return NULL;
    }
    memcpy(grown + *length, text, more);
    *length += more;
    grown[*length] = '\0';
    return grown;
}

/* Lets the model answer the chat so far; the answer joins the chat. */
static int answer(mlxrocm_session *session) {
    const mlxrocm_request request = {.struct_size = sizeof request,
                                     .messages = messages,
                                     .message_count = message_count,
                                     .max_tokens = 256};
    mlxrocm_error *error = NULL;
    mlxrocm_generation *generation = NULL;
    if (mlxrocm_session_submit(session, &request, &generation, &error) != MLXROCM_OK)
        return fail("submit", error);
    size_t length = 0;
    char *text = copy("", 0);
    mlxrocm_event event = {.struct_size = sizeof event};
    mlxrocm_status status = MLXROCM_OK;
    int failed = 0;
    while (text && (status = mlxrocm_generation_next(generation, -1, &event, &error)) == MLXROCM_OK) {
        if (event.kind == MLXROCM_EVENT_PROMPT) continue;
        fwrite(event.text, 1, event.text_length, stdout);
        fflush(stdout);
        text = append(text, &length, event.text, event.text_length);
        if (event.kind == MLXROCM_EVENT_TOKEN) continue;
        printf("\n");
        fflush(stdout);
        fprintf(stderr, "[prompt of %llu tokens, %llu of them still in the cache]\n",
                (unsigned long long)event.prompt_tokens, (unsigned long long)event.cached_tokens);
        if (event.finish_reason == MLXROCM_FINISH_ERROR) {
            fprintf(stderr, "%s\n", event.error_message);
            failed = 1;
        }
    }
    mlxrocm_generation_free(generation);
    if (status < 0) failed = fail("next", error);
    if (failed) {
        free(text);
        return 1;
    }
    return say("assistant", text);
}

static int chat(mlxrocm_session *session) {
    char line[4096];
    for (;;) {
        fprintf(stderr, "> ");
        if (!fgets(line, sizeof line, stdin)) return 0;
        const size_t length = strcspn(line, "\r\n");
        if (length == 0) return 0;
        if (say("user", copy(line, length)) != 0 || answer(session) != 0) return 1;
    }
}

int main(int argc, char **argv) {
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: 04_chat MODEL [SYSTEM_PROMPT]\n"
                        "  each line of stdin is a message; an empty line ends the chat\n");
        return 2;
    }
    mlxrocm_error *error = NULL;
    mlxrocm_model *model = NULL;
    mlxrocm_session *session = NULL;
    if (mlxrocm_model_load(argv[1], MLXROCM_NUL, NULL, &model, &error) != MLXROCM_OK) return fail("load",
                                                                                                  error);
    const mlxrocm_status status = mlxrocm_session_new(model, NULL, &session, &error);
    mlxrocm_model_free(model); /* the session keeps what it needs */
    if (status != MLXROCM_OK) return fail("session", error);

    int result = argc == 3 ? say("system", copy(argv[2], strlen(argv[2]))) : 0;
    if (result == 0) result = chat(session);
    mlxrocm_session_free(session);
    while (message_count > 0) free((char *)messages[--message_count].content);
    return result;
}
