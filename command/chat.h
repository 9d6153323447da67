/* A chat: what was said so far, and where it comes from. */
#ifndef CHAT_H
#define CHAT_H

#include "command.h"

struct chat {
    const struct settings *settings;
    const mlxrocm_session *session;
    /* The system message, if there is one, comes first. Contents are owned. */
    mlxrocm_message *messages;
    size_t count, capacity;
    struct line_reader input;
    bool is_interactive;
    int interrupts; /* Ctrl-C since the last line */
};

/* chat.c */

/* `role` must live as long as the chat; the content is copied. */
void chat_add(struct chat *chat, const char *role, const char *content);
void chat_drop_last(struct chat *chat);
/* Forgets all but the system message. */
void chat_clear(struct chat *chat);
/* NULL or "" removes it. */
void chat_set_system(struct chat *chat, const char *content);
void chat_free(struct chat *chat);

/* chat_commands.c */

typedef enum command_result { COMMAND_DONE, COMMAND_FAILED, COMMAND_LEAVES } command_result;

/* Does what a line that begins with a slash says. */
command_result chat_command_line(struct chat *chat, char *line);

/* chat_file.c: chats as a JSON array of {"role": ..., "content": ...}. */

/* Both say what went wrong. A file is replaced if it is a chat or empty, and only when all was written. */
bool chat_save(const struct chat *chat, const char *path);
/* Replaces the chat; leaves it as it was after an error. */
bool chat_load(struct chat *chat, const char *path);

#endif
