/* Chats in files: a JSON array of objects with "role" and "content", as chat APIs have them. */
#include "chat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads JSON from `at` on; `problem` is what is wrong with it. */
struct reader {
    const char *at, *end;
    const char *problem;
};

static bool wrong(struct reader *reader, const char *problem) {
    if (reader->problem == NULL) reader->problem = problem;
    return false;
}

static void skip_space(struct reader *reader) {
    while (reader->at < reader->end && *reader->at != '\0' && strchr(" \t\r\n", *reader->at) != NULL) reader->at++;
}

/* Takes `wanted` after any white space. */
static bool take(struct reader *reader, char wanted) {
    skip_space(reader);
    if (reader->at == reader->end || *reader->at != wanted) return false;
    reader->at++;
    return true;
}

/* The four digits of \uXXXX, or -1. */
static long hexadecimal(struct reader *reader) {
    static const char digits[] = "0123456789abcdef";
    long value = 0;
    for (int i = 0; i < 4; i++) {
        const char c = reader->at < reader->end ? *reader->at++ : '\0';
        const char *digit = c != '\0' ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;
        if (digit == NULL) return -1;
        value = value * 16 + (digit - digits);
    }
    return value;
}

static void add_character(struct text *text, long code) {
    char bytes[4];
    size_t length = 0;
    if (code < 0x80) {
        bytes[length++] = (char)code;
    } else if (code < 0x800) {
        bytes[length++] = (char)(0xc0 | code >> 6);
    } else {
        if (code < 0x10000) {
            bytes[length++] = (char)(0xe0 | code >> 12);
        } else {
            bytes[length++] = (char)(0xf0 | code >> 18);
            bytes[length++] = (char)(0x80 | (code >> 12 & 0x3f));
        }
        bytes[length++] = (char)(0x80 | (code >> 6 & 0x3f));
    }
    if (code >= 0x80) bytes[length++] = (char)(0x80 | (code & 0x3f));
    text_add(text, bytes, length);
}

/* What follows a backslash. */
static bool read_escape(struct reader *reader, struct text *text) {
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char c = reader->at < reader->end ? *reader->at++ : '\0';
    const char *name = c != '\0' ? strchr(names, c) : NULL;
    if (name != NULL) {
        text_add(text, &values[name - names], 1);
        return true;
    }
    if (c != 'u') return wrong(reader, "an unknown escape");
    long code = hexadecimal(reader);
    if (code >= 0xd800 && code < 0xdc00 && reader->end - reader->at > 2 && memcmp(reader->at, "\\u", 2) == 0) {
        reader->at += 2;
        const long low = hexadecimal(reader);
        code = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : -1;
    }
    if (code < 0 || (code >= 0xd800 && code < 0xe000)) return wrong(reader, "a damaged \\u escape");
    if (code == 0) return wrong(reader, "a NUL character");
    add_character(text, code);
    return true;
}

static bool read_string(struct reader *reader, struct text *text) {
    text_clear(text);
    if (!take(reader, '"')) return wrong(reader, "no string where one must be");
    while (reader->at < reader->end) {
        const char c = *reader->at++;
        if (c == '"') return true;
        if ((unsigned char)c < 0x20) return wrong(reader, "a control character in a string");
        if (c != '\\') text_add(text, &c, 1);
        else if (!read_escape(reader, text)) return false;
    }
    return wrong(reader, "a string without its end");
}

/* The role's name with the lifetime of the program. */
static const char *known_role(const char *name) {
    static const char *const roles[] = {"system", "user", "assistant", "tool"};
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (strcmp(roles[i], name) == 0) return roles[i];
    return NULL;
}

static bool read_message(struct reader *reader, struct chat *chat) {
    struct text key = {0}, role = {0}, content = {0};
    bool has_role = false, has_content = false, done = take(reader, '{') || wrong(reader, "no object");
    while (done) {
        done = read_string(reader, &key) && (take(reader, ':') || wrong(reader, "no colon after a key"));
        if (!done) break;
        const bool is_role = strcmp(key.bytes, "role") == 0;
        if (!is_role && strcmp(key.bytes, "content") != 0) done = wrong(reader, "a key besides role and content");
        else done = read_string(reader, is_role ? &role : &content);
        has_role |= is_role;
        has_content |= !is_role;
        if (!done || take(reader, '}')) break;
        done = take(reader, ',') || wrong(reader, "no comma between keys");
    }
    if (done && !(has_role && has_content)) done = wrong(reader, "a message without role or content");
    const char *known = done ? known_role(role.bytes) : NULL;
    if (done && known == NULL) done = wrong(reader, "a role besides system, user, assistant and tool");
    if (done && strcmp(known, "system") == 0 && chat->count > 0)
        done = wrong(reader, "a system message that is not the first");
    if (done) chat_add(chat, known, content.bytes);
    text_free(&key);
    text_free(&role);
    text_free(&content);
    return done;
}

/* Adds the messages of a file's content to an empty chat; NULL, or what is wrong. */
static const char *read_chat(const struct text *file, struct chat *chat, size_t *place) {
    struct reader reader = {.at = file->bytes, .end = file->bytes + file->length};
    bool done = take(&reader, '[') || wrong(&reader, "no array");
    if (done && !take(&reader, ']')) {
        while ((done = read_message(&reader, chat)) && !take(&reader, ']'))
            if (!take(&reader, ',')) {
                done = wrong(&reader, "no comma between messages");
                break;
            }
    }
    skip_space(&reader);
    if (done && reader.at != reader.end) wrong(&reader, "more than a chat");
    *place = (size_t)(reader.at - file->bytes);
    return reader.problem;
}

bool chat_load(struct chat *chat, const char *path) {
    struct text file = {0};
    struct chat loaded = {0};
    size_t place = 0;
    bool done = read_file(path, &file) && check_utf8(path, file.bytes, file.length);
    const char *problem = done ? read_chat(&file, &loaded, &place) : NULL;
    if (problem != NULL) done = fail("%s is no chat: %s near byte %zu", path, problem, place) == 0;
    if (done) {
        mlxrocm_message *old = chat->messages;
        while (chat->count > 0) chat_drop_last(chat);
        free(old);
        chat->messages = loaded.messages;
        chat->count = loaded.count;
        chat->capacity = loaded.capacity;
    } else {
        chat_free(&loaded);
    }
    text_free(&file);
    return done;
}

/* Whether saving to `path` loses nothing but a chat. */
static bool may_replace(const char *path) {
    struct text file = {0};
    struct chat old = {0};
    struct stat facts;
    size_t place = 0;
    if (stat(path, &facts) != 0) return true;
    if (!S_ISREG(facts.st_mode)) return fail("%s is no regular file; it was left as it is", path) == 0;
    bool may = read_file(path, &file);
    if (may && file.length > 0 && read_chat(&file, &old, &place) != NULL)
        may = fail("%s is there already and no chat; it was left as it is", path) == 0;
    chat_free(&old);
    text_free(&file);
    return may;
}

bool chat_save(const struct chat *chat, const char *path) {
    if (!may_replace(path)) return false;
    struct text temporary = {0};
    /* What a link leads to is replaced, not the link. */
    char *found = realpath(path, NULL);
    const char *target = found != NULL ? found : path;
    text_add(&temporary, target, strlen(target));
    text_add(&temporary, ".XXXXXX", 7);
    const int descriptor = mkstemp(temporary.bytes);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    bool done = file != NULL;
    if (done) {
        fputs("[", file);
        for (size_t i = 0; i < chat->count; i++) {
            fputs(i > 0 ? ",\n {\"role\": " : "\n {\"role\": ", file);
            json_string(file, chat->messages[i].role);
            fputs(", \"content\": ", file);
            json_string(file, chat->messages[i].content);
            fputs("}", file);
        }
        fputs("\n]\n", file);
        done = fflush(file) == 0 && !ferror(file) && fsync(fileno(file)) == 0;
        done = fclose(file) == 0 && done && rename(temporary.bytes, target) == 0;
    }
    if (!done) {
        const int error = errno;
        if (descriptor >= 0) remove(temporary.bytes);
        fail("%s: %s", path, strerror(error));
    }
    text_free(&temporary);
    free(found);
    return done;
}
