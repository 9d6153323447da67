/* 15: an answer in JSON that fits a JSON schema.
 *
 *     15_json MODEL PROMPT [SCHEMA]        (the schema of a person, unless there is another) */
#include <mlxrocm.h>
#include <stdio.h>

static const char person[] = "{\"type\": \"object\", \"required\": [\"name\", \"age\"], \"additionalProperties\": false,"
                             " \"properties\": {\"name\": {\"type\": \"string\", \"maxLength\": 40},"
                             " \"age\": {\"type\": \"integer\", \"minimum\": 0, \"maximum\": 150}}}";

static int fail(const char *what, mlxrocm_error *error) {
    fprintf(stderr, "%s: %s: %s\n", what, mlxrocm_status_name(mlxrocm_error_status(error), NULL),
            mlxrocm_error_message(error, NULL));
    mlxrocm_error_free(error);
    return 1;
}

static int answer(mlxrocm_session *session, const char *prompt, const char *schema) {
    mlxrocm_error *error = NULL;
    mlxrocm_generation *generation = NULL;
    mlxrocm_event event = {.struct_size = sizeof event};
    const mlxrocm_message message = {.role = "user", .content = prompt};
    const mlxrocm_request request = {.struct_size = sizeof request,
                                     .messages = &message,
                                     .message_count = 1,
                                     .max_tokens = 500,
                                     .json_schema = schema};
    /* A schema that is none is told here. */
    if (mlxrocm_session_submit(session, &request, &generation, &error) != MLXROCM_OK) return fail("submit", error);
    mlxrocm_status status;
    int result = 0;
    while ((status = mlxrocm_generation_next(generation, -1, &event, &error)) == MLXROCM_OK) {
        if (event.kind == MLXROCM_EVENT_PROMPT) continue;
        fwrite(event.text, 1, event.text_length, stdout);
        if (event.kind != MLXROCM_EVENT_FINISHED) continue;
        puts("");
        /* Whole: the schema's end, or the model's where more might follow. Anything else cut it off. */
        if (event.finish_reason != MLXROCM_FINISH_GRAMMAR && event.finish_reason != MLXROCM_FINISH_STOP_TOKEN) {
            fprintf(stderr, "the answer is not complete: %s\n",
                    event.finish_reason == MLXROCM_FINISH_ERROR ? event.error_message : "too many tokens");
            result = 1;
        }
    }
    mlxrocm_generation_free(generation);
    return status == MLXROCM_END ? result : fail("generate", error);
}

int main(int argc, char **argv) {
    if (argc != 3 && argc != 4) {
        fprintf(stderr, "usage: 15_json MODEL PROMPT [SCHEMA]\n");
        return 2;
    }
    mlxrocm_error *error = NULL;
    mlxrocm_model *model = NULL;
    mlxrocm_session *session = NULL;
    if (mlxrocm_model_load(argv[1], MLXROCM_NUL, NULL, &model, &error) != MLXROCM_OK) return fail("load", error);
    int result = 0;
    if (mlxrocm_session_new(model, NULL, &session, &error) != MLXROCM_OK) result = fail("session", error);
    else result = answer(session, argv[2], argc == 4 ? argv[3] : person);
    mlxrocm_session_free(session);
    mlxrocm_model_free(model);
    return result;
}
