/* mlxrocm chat MODEL: a conversation. */
#include "chat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void chat_add(struct chat *chat, const char *role, const char *content) {
    if (chat->count == chat->capacity) {
        chat->capacity = chat->capacity * 2 + 8;
        chat->messages = must_allocate(chat->messages, chat->capacity, sizeof *chat->messages);
    }
    const size_t size = strlen(content) + 1;
    char *copy = must_allocate(NULL, size, 1);
    memcpy(copy, content, size);
    chat->messages[chat->count++] = (mlxrocm_message){.role = role, .content = copy};
}

void chat_drop_last(struct chat *chat) {
    if (chat->count > 0) free((char *)(uintptr_t)chat->messages[--chat->count].content);
}

static size_t has_system(const struct chat *chat) {
    return chat->count > 0 && strcmp(chat->messages[0].role, "system") == 0;
}

void chat_clear(struct chat *chat) {
    while (chat->count > has_system(chat)) chat_drop_last(chat);
}

void chat_set_system(struct chat *chat, const char *content) {
    if (has_system(chat)) {
        free((char *)(uintptr_t)chat->messages[0].content);
        memmove(chat->messages, chat->messages + 1, --chat->count * sizeof *chat->messages);
    }
    if (content == NULL || content[0] == '\0') return;
    chat_add(chat, "system", content);
    const mlxrocm_message system = chat->messages[chat->count - 1];
    memmove(chat->messages + 1, chat->messages, (chat->count - 1) * sizeof *chat->messages);
    chat->messages[0] = system;
}

void chat_free(struct chat *chat) {
    while (chat->count > 0) chat_drop_last(chat);
    free(chat->messages);
    text_free(&chat->input.pending);
}

static void show_prompt(const struct chat *chat, const char *prompt) {
    if (!chat->is_interactive) return;
    set_style(stderr, STYLE_PROMPT);
    fputs(prompt, stderr);
    set_style(stderr, STYLE_PLAIN);
    fflush(stderr);
}

static bool ends_with(const struct text *text, const char *end) {
    const size_t length = strlen(end);
    return text->length >= length && memcmp(text->bytes + text->length - length, end, length) == 0;
}

/* Reads a message: a line; lines that end with a backslash and the next one; or all between two """, which is
 * no command. */
static line_result read_message(struct chat *chat, struct text *message, bool *may_be_command) {
    static const char QUOTES[] = "\"\"\"";
    struct text line = {0};
    text_clear(message);
    show_prompt(chat, "> ");
    line_result result = read_line(&chat->input, &line);
    const bool is_block = result == LINE_READ && strncmp(line.bytes, QUOTES, 3) == 0;
    *may_be_command = !is_block;
    if (is_block) {
        memmove(line.bytes, line.bytes + 3, line.length - 3 + 1);
        line.length -= 3;
    }
    while (result == LINE_READ) {
        const bool goes_on = is_block ? !ends_with(&line, QUOTES) : ends_with(&line, "\\");
        text_add(message, line.bytes, line.length - (is_block ? (goes_on ? 0 : 3) : goes_on));
        if (!goes_on) break;
        text_add(message, "\n", 1);
        show_prompt(chat, ". ");
        result = read_line(&chat->input, &line);
        /* The end of the input ends a message too. */
        if (result == LINE_END) {
            result = LINE_READ;
            break;
        }
    }
    text_free(&line);
    return result;
}

/* Lets the model answer; the answer joins the chat. What cannot be answered leaves it. */
static int answer(struct chat *chat) {
    mlxrocm_error *error = NULL;
    mlxrocm_generation *generation = NULL;
    struct text said = {0};
    mlxrocm_event end;
    mlxrocm_request request = make_request(chat->settings);
    request.messages = chat->messages;
    request.message_count = chat->count;
    const mlxrocm_status status = mlxrocm_session_submit(chat->session, &request, &generation, &error);
    if (status != MLXROCM_OK) {
        chat_drop_last(chat);
        fail_with(error);
        if (status == MLXROCM_ERROR_CONTEXT_FULL)
            fputs("mlxrocm: the message was dropped; /clear forgets the chat, --context makes more room\n", stderr);
        return EXIT_FAILED;
    }
    const int result = stream(generation, &said, &end);
    mlxrocm_generation_free(generation);
    if (result == 0 && said.length > 0) chat_add(chat, "assistant", said.bytes);
    else chat_drop_last(chat);
    text_free(&said);
    if (result == 0 && end.finish_reason == MLXROCM_FINISH_CONTEXT)
        warn("the context is full and the answer cut off; /clear forgets the chat, --context makes more room");
    if (result == 0 && chat->settings->verbose) print_speed(&end);
    return result;
}

/* After Ctrl-C: whether to leave. The first one stops what goes on, a second one without a line between leaves. */
static bool is_leaving(struct chat *chat) {
    chat->interrupts += interrupts();
    forget_interrupts();
    if (chat->interrupts > 1 || !chat->is_interactive) return true;
    set_style(stderr, STYLE_DIM);
    fputs("\nCtrl-C again or Ctrl-D leaves", stderr);
    set_style(stderr, STYLE_PLAIN);
    fputc('\n', stderr);
    /* The terminal has dropped what was typed. */
    text_clear(&chat->input.pending);
    chat->input.start = 0;
    return false;
}

/* One message or command. */
static int take(struct chat *chat, struct text *message, bool may_be_command, bool *leaves) {
    if (strspn(message->bytes, " \t\n") == message->length) return 0;
    if (!check_utf8("the message", message->bytes, message->length)) return EXIT_FAILED;
    if (strlen(message->bytes) != message->length) return fail("a message cannot have a NUL byte");
    if (may_be_command && message->bytes[0] == '/') {
        const command_result result = chat_command_line(chat, message->bytes);
        *leaves = result == COMMAND_LEAVES;
        return result == COMMAND_FAILED ? EXIT_FAILED : 0;
    }
    chat_add(chat, "user", message->bytes);
    return answer(chat);
}

static int converse(struct chat *chat) {
    struct text message = {0};
    int result = 0;
    bool leaves = false, may_be_command = false;
    while (!leaves) {
        const line_result got = read_message(chat, &message, &may_be_command);
        if (got == LINE_FAILED) result = fail("stdin: %s", strerror(errno));
        if (got == LINE_END && chat->is_interactive) fputc('\n', stderr);
        if (got == LINE_END || got == LINE_FAILED) break;
        if (got == LINE_READ) {
            chat->interrupts = 0;
            result = take(chat, &message, may_be_command, &leaves);
            /* Who types can try again; a script cannot. */
            if (result != 0 && (!chat->is_interactive || ferror(stdout))) break;
            result = 0;
        }
        if (interrupts() > 0 && is_leaving(chat)) {
            if (chat->is_interactive) fputc('\n', stderr);
            else result = EXIT_INTERRUPTED;
            break;
        }
    }
    text_free(&message);
    return result;
}

static int run(const struct settings *settings, char **operands, size_t count) {
    (void)count;
    mlxrocm_model *model = NULL;
    mlxrocm_session *session = NULL;
    int result = EXIT_FAILED;
    if (settings->system != NULL && !check_utf8("--system", settings->system, strlen(settings->system)))
        return EXIT_USAGE;
    catch_interrupts(2);
    if (open_model(settings, operands[0], &model, &session)) {
        const int can_chat = has_chat_template(model);
        if (can_chat == 0) fail("%s has no chat template; `mlxrocm run --raw` continues texts", operands[0]);
        struct chat chat = {.settings = settings,
                            .session = session,
                            .input = {.fd = STDIN_FILENO},
                            .is_interactive = terminal_is(stdin)};
        chat_set_system(&chat, settings->system);
        if (can_chat == 1 && chat.is_interactive && !settings->quiet) {
            set_style(stderr, STYLE_DIM);
            fputs("/help lists what can be typed; Ctrl-C stops an answer, Ctrl-D leaves", stderr);
            set_style(stderr, STYLE_PLAIN);
            fputc('\n', stderr);
        }
        if (can_chat == 1) result = converse(&chat);
        chat_free(&chat);
    }
    mlxrocm_session_free(session);
    mlxrocm_model_free(model);
    return result;
}

static const struct option_group *const groups[] = {&chat_options,    &generation_options,  &model_options,
                                                    &session_options, &speculation_options, &output_options,
                                                    NULL};

const struct subcommand chat_command = {
    "chat", "MODEL", "holds a conversation", 1, 1, groups,
    "Each line is a message; a backslash at its end joins the next line, and \"\"\" begins and ends a message of\n"
    "several lines. /help lists commands. Ctrl-C stops an answer, a second one or Ctrl-D leaves.",
    run,
};
