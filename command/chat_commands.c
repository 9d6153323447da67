/* What a line that begins with a slash does in a chat. */
#include "chat.h"

#include <string.h>

static command_result do_help(struct chat *chat, const char *argument);

static command_result do_clear(struct chat *chat, const char *argument) {
    (void)argument;
    chat_clear(chat);
    return COMMAND_DONE;
}

static command_result do_system(struct chat *chat, const char *argument) {
    if (argument[0] != '\0') {
        chat_set_system(chat, strcmp(argument, "-") == 0 ? NULL : argument);
        return COMMAND_DONE;
    }
    const bool is_set = chat->count > 0 && strcmp(chat->messages[0].role, "system") == 0;
    const char *text = is_set ? chat->messages[0].content : "there is no system message";
    write_text(stderr, text, strlen(text));
    fputc('\n', stderr);
    return COMMAND_DONE;
}

static command_result do_save(struct chat *chat, const char *argument) {
    return chat_save(chat, argument) ? COMMAND_DONE : COMMAND_FAILED;
}

static command_result do_load(struct chat *chat, const char *argument) {
    if (!chat_load(chat, argument)) return COMMAND_FAILED;
    if (chat->is_interactive) fprintf(stderr, "%zu messages\n", chat->count);
    return COMMAND_DONE;
}

static command_result do_exit(struct chat *chat, const char *argument) {
    (void)chat, (void)argument;
    return COMMAND_LEAVES;
}

static const struct command {
    const char *name;
    const char *argument; /* NULL: none; in brackets: may be left out */
    const char *help;
    command_result (*run)(struct chat *chat, const char *argument);
} commands[] = {
    {"/help", NULL, "lists the commands", do_help},
    {"/clear", NULL, "forgets the chat, but not the system message", do_clear},
    {"/system", "[TEXT]", "sets the system message; - removes it; without TEXT shows it", do_system},
    {"/save", "FILE", "writes the chat to a file, as JSON", do_save},
    {"/load", "FILE", "replaces the chat by a file's", do_load},
    {"/exit", NULL, "leaves, as Ctrl-D does", do_exit},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static command_result do_help(struct chat *chat, const char *argument) {
    (void)chat, (void)argument;
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(stderr, "  %-8s %-7s %s\n", commands[i].name, commands[i].argument ? commands[i].argument : "",
                commands[i].help);
    fputs("A backslash at the end of a line joins the next one; \"\"\" begins and ends a message of several lines.\n"
          "Ctrl-C stops an answer, a second one or Ctrl-D leaves.\n",
          stderr);
    return COMMAND_DONE;
}

static command_result unknown(const char *name) {
    const char *names[COMMANDS];
    for (size_t i = 0; i < COMMANDS; i++) names[i] = commands[i].name;
    const char *meant = nearest(name, names, COMMANDS);
    fail("there is no command %s", name);
    if (meant != NULL) fprintf(stderr, "mlxrocm: did you mean %s?\n", meant);
    else fputs("mlxrocm: /help lists them; a message that begins with / goes between \"\"\"\n", stderr);
    return COMMAND_FAILED;
}

command_result chat_command_line(struct chat *chat, char *line) {
    char *argument = line + strcspn(line, " \t\n");
    if (*argument != '\0') *argument++ = '\0';
    argument += strspn(argument, " \t\n");
    for (size_t length = strlen(argument); length > 0 && strchr(" \t\n", argument[length - 1]) != NULL; length--)
        argument[length - 1] = '\0';
    for (size_t i = 0; i < COMMANDS; i++) {
        const struct command *command = &commands[i];
        if (strcmp(line, command->name) != 0) continue;
        const bool wants = command->argument != NULL && command->argument[0] != '[';
        if (wants && argument[0] == '\0') fail("%s wants a %s", command->name, command->argument);
        else if (command->argument == NULL && argument[0] != '\0') fail("%s stands alone", command->name);
        else return command->run(chat, argument);
        return COMMAND_FAILED;
    }
    return unknown(line);
}
