/* mlxrocm run MODEL [PROMPT]: one answer, streamed to stdout. */
#include "command.h"

#include <stdlib.h>
#include <string.h>

/* The prompt of the argument, of --file or of stdin, the last two without their last newline. */
static bool get_prompt(const struct settings *settings, const char *argument, struct text *prompt) {
    if (argument != NULL && settings->file != NULL) {
        fail("run: a prompt and --file: only one of them can be the prompt");
        return false;
    }
    if (argument != NULL && strcmp(argument, "-") != 0) {
        text_add(prompt, argument, strlen(argument));
    } else {
        const char *path = settings->file != NULL ? settings->file : "-";
        if (strcmp(path, "-") == 0 && terminal_is(stdin))
            fputs("mlxrocm: type the prompt; Ctrl-D on a line of its own ends it\n", stderr);
        if (!read_file(path, prompt)) return false;
        if (prompt->length > 0 && prompt->bytes[prompt->length - 1] == '\n')
            prompt->bytes[--prompt->length] = '\0';
    }
    if (prompt->length == 0) {
        fail("the prompt is empty");
        return false;
    }
    return check_utf8("the prompt", prompt->bytes, prompt->length);
}

/* Whether the model is to answer rather than to continue; -1 after an error. */
static int answers(const struct settings *settings, const mlxrocm_model *model) {
    if (settings->raw) return 0;
    const int found = settings->chat ? 1 : has_chat_template(model);
    if (found == 0 && settings->system != NULL) {
        fail("--system: the model has no chat template that takes a system message");
        return -1;
    }
    return found;
}

/* What the answer must be. */
struct forms {
    struct text json_schema, regex, grammar;
};

/* What an option says, or what is in the file that it names behind an @. Nothing where nothing was said. */
static bool get_form(const char *value, const char *option, struct text *form) {
    if (value == NULL) return true;
    const char *path = value[0] == '@' ? value + 1 : NULL;
    if (path == NULL) text_add(form, value, strlen(value));
    else if (!read_file(path, form)) return false;
    if (form->length == 0) fail("%s is empty", path != NULL ? path : option);
    return form->length > 0;
}

static bool get_forms(const struct settings *settings, struct forms *forms) {
    return get_form(settings->json_schema, "--json-schema", &forms->json_schema) &&
           get_form(settings->regex, "--regex", &forms->regex) &&
           get_form(settings->grammar, "--grammar", &forms->grammar);
}

static int submit_and_stream(const struct settings *settings, const mlxrocm_session *session,
                             const mlxrocm_request *request) {
    mlxrocm_error *error = NULL;
    mlxrocm_generation *generation = NULL;
    mlxrocm_event end;
    if (mlxrocm_session_submit(session, request, &generation, &error) != MLXROCM_OK) return fail_with(error);
    const int result = stream(generation, NULL, &end);
    mlxrocm_generation_free(generation);
    if (result != 0) return result;
    if (settings->verbose) print_speed(&end);
    return end.finish_reason == MLXROCM_FINISH_CANCELLED ? EXIT_INTERRUPTED : 0;
}

static int answer(const struct settings *settings, const mlxrocm_model *model, const mlxrocm_session *session,
                  const struct text *prompt, const struct forms *forms) {
    mlxrocm_request request = make_request(settings);
    request.json_schema = forms->json_schema.bytes;
    request.json_schema_length = forms->json_schema.length;
    request.regex = forms->regex.bytes;
    request.regex_length = forms->regex.length;
    request.grammar = forms->grammar.bytes;
    request.grammar_length = forms->grammar.length;
    const int is_chat = answers(settings, model);
    if (is_chat < 0) return EXIT_FAILED;
    if (is_chat == 0) {
        /* Not request.text, which a NUL byte would end. */
        size_t count = 0;
        uint32_t *tokens = encode(model, prompt->bytes, prompt->length, MLXROCM_ENCODE_ADD_SPECIAL, &count);
        if (tokens == NULL) return EXIT_FAILED;
        request.tokens = tokens;
        request.token_count = count;
        const int result = submit_and_stream(settings, session, &request);
        free(tokens);
        return result;
    }
    if (strlen(prompt->bytes) != prompt->length)
        return fail("the prompt has a NUL byte, which a message cannot have");
    mlxrocm_message messages[2] = {{.role = "system", .content = settings->system}};
    size_t count = settings->system != NULL;
    messages[count++] = (mlxrocm_message){.role = "user", .content = prompt->bytes};
    request.messages = messages;
    request.message_count = count;
    return submit_and_stream(settings, session, &request);
}

static int run(const struct settings *settings, char **operands, size_t count) {
    struct text prompt = {0};
    struct forms forms = {0};
    mlxrocm_model *model = NULL;
    mlxrocm_session *session = NULL;
    int result = EXIT_FAILED;
    if (settings->chat && settings->raw) {
        fail("run: --chat and --raw exclude each other");
        return EXIT_USAGE;
    }
    if (settings->raw && settings->system != NULL) {
        fail("run: --raw has no place for --system");
        return EXIT_USAGE;
    }
    if (settings->system != NULL && !check_utf8("--system", settings->system, strlen(settings->system)))
        return EXIT_USAGE;
    if (get_forms(settings, &forms) && get_prompt(settings, count > 1 ? operands[1] : NULL, &prompt)) {
        catch_interrupts(1);
        if (open_model(settings, operands[0], &model, &session))
            result = answer(settings, model, session, &prompt, &forms);
    }
    mlxrocm_session_free(session);
    mlxrocm_model_free(model);
    text_free(&prompt);
    text_free(&forms.json_schema);
    text_free(&forms.regex);
    text_free(&forms.grammar);
    return result;
}

static const struct option_group *const groups[] = {&run_options,     &generation_options,  &model_options,
                                             &session_options, &speculation_options, &output_options,
                                             NULL};

const struct subcommand run_command = {
    "run",  "MODEL [PROMPT]",
    "streams the model's answer to a prompt, or its continuation",
    1,      2,
    groups, "Without PROMPT, or with -, the prompt is read from stdin. A prompt that begins with a dash goes\n"
            "behind --. Ctrl-C stops the answer.",
    run,
};
