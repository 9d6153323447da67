/* What a generated text must be: JSON schemas, regular expressions, grammars, and what is none. */
#include "check.h"

static mlxrocm_request request_of(void) {
    mlxrocm_request request = {0};
    request.struct_size = sizeof request;
    request.text = "The hat";
    request.max_tokens = 60;
    return request;
}

/* The whole text, at most `capacity` bytes with its NUL. */
static mlxrocm_event run(const mlxrocm_session *session, const mlxrocm_request *request, char *text, size_t capacity) {
    mlxrocm_generation *generation = NULL;
    mlxrocm_event event = {0};
    size_t length = 0;
    event.struct_size = sizeof event;
    OK(mlxrocm_session_submit(session, request, &generation, &error));
    do {
        OK(mlxrocm_generation_next(generation, -1, &event, &error));
        if (event.kind == MLXROCM_EVENT_PROMPT) continue;
        CHECK(length + event.text_length < capacity);
        memcpy(text + length, event.text, event.text_length);
        length += event.text_length;
    } while (event.kind != MLXROCM_EVENT_FINISHED);
    text[length] = 0;
    mlxrocm_generation_free(generation);
    return event;
}

static void refused(const mlxrocm_session *session, mlxrocm_request request, const char *says) {
    mlxrocm_generation *generation = NULL;
    EXPECT_MESSAGE(MLXROCM_ERROR_INVALID_ARGUMENT, says,
                   mlxrocm_session_submit(session, &request, &generation, &error));
    CHECK(generation == NULL);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    mlxrocm_model *model = load(argv[1]);
    mlxrocm_session *session = session_of(model);
    char text[512];

    mlxrocm_request request = request_of();
    request.json_schema = "{\"enum\": [\"red\", \"blue\", 7]}";
    mlxrocm_event end = run(session, &request, text, sizeof text);
    CHECK(end.finish_reason == MLXROCM_FINISH_GRAMMAR);
    CHECK(!strcmp(text, "\"red\"") || !strcmp(text, "\"blue\"") || !strcmp(text, "7"));

    /* Drawn, and of a length, so that what stands behind it is not read. */
    request = request_of();
    request.regex = "[xyz]{3}(";
    request.regex_length = 8;
    request.temperature = 1;
    for (request.seed = 0; request.seed < 5; request.seed++) {
        end = run(session, &request, text, sizeof text);
        CHECK(end.finish_reason == MLXROCM_FINISH_GRAMMAR && strlen(text) == 3 && strspn(text, "xyz") == 3);
    }

    request = request_of();
    request.grammar = "start: pair+\npair: \"<\" pair? \">\"\n";
    end = run(session, &request, text, sizeof text);
    int depth = 0;
    for (const char *at = text; *at; at++) {
        CHECK(*at == '<' || *at == '>');
        depth += *at == '<' ? 1 : -1;
        CHECK(depth >= 0);
    }
    CHECK(text[0] == '<' && (depth == 0 || end.finish_reason == MLXROCM_FINISH_LENGTH));

    /* A program that was compiled before there were grammars. */
    request = request_of();
    request.struct_size = (uint32_t)offsetof(mlxrocm_request, json_schema);
    request.json_schema = "{";
    request.max_tokens = 2;
    end = run(session, &request, text, sizeof text);
    CHECK(end.finish_reason != MLXROCM_FINISH_GRAMMAR && end.error_status == MLXROCM_OK);

    request = request_of();
    request.json_schema = "{";
    refused(session, request, "json_schema is not JSON");
    request.json_schema = "{\"type\": \"objekt\"}";
    refused(session, request, "json_schema: ");
    request.json_schema = "\xff";
    refused(session, request, "json_schema is not valid UTF-8");
    request.json_schema = "{}";
    request.regex = "a";
    refused(session, request, "only one of json_schema, regex and grammar");
    request.json_schema = NULL;
    request.regex = "a(";
    refused(session, request, "regex: ");
    request.regex = NULL;
    request.grammar = "begin: \"a\"";
    refused(session, request, "grammar: ");

    mlxrocm_session_free(session);
    mlxrocm_model_free(model);
    return 0;
}
