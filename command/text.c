/* Texts that grow, files and lines. */
#include "command.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *must_allocate(void *old, size_t count, size_t size) {
    void *made = size > 0 && count > SIZE_MAX / size ? NULL : realloc(old, count * size > 0 ? count * size : 1);
    if (made == NULL) exit(fail("no memory for %zu times %zu bytes", count, size));
    return made;
}

void text_add(struct text *text, const char *bytes, size_t length) {
    if (length >= SIZE_MAX / 2 - text->length) exit(fail("a text is too long"));
    if (text->length + length + 1 > text->capacity) {
        size_t capacity = text->capacity * 2;
        if (capacity < text->length + length + 1) capacity = text->length + length + 1;
        text->bytes = must_allocate(text->bytes, capacity, 1);
        text->capacity = capacity;
    }
    if (length > 0) memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void text_clear(struct text *text) {
    text->length = 0;
    text_add(text, "", 0);
}

void text_free(struct text *text) {
    free(text->bytes);
    memset(text, 0, sizeof *text);
}

bool read_file(const char *path, struct text *content) {
    enum { LARGEST = 1 << 30 }; /* a device file may have no end */
    const bool is_stdin = strcmp(path, "-") == 0;
    const char *name = is_stdin ? "stdin" : path;
    FILE *file = is_stdin ? stdin : fopen(path, "rb");
    if (file == NULL) {
        fail("%s: %s", name, strerror(errno));
        return false;
    }
    char block[16384];
    size_t got;
    text_clear(content);
    while ((got = fread(block, 1, sizeof block, file)) > 0 && content->length <= LARGEST)
        text_add(content, block, got);
    const int error = ferror(file) ? errno : 0;
    const bool is_too_large = content->length > LARGEST;
    if (!is_stdin) fclose(file);
    if (error != 0) fail("%s: %s", name, strerror(error));
    else if (is_too_large) fail("%s has more than %d bytes", name, LARGEST);
    return error == 0 && !is_too_large;
}

/* Bytes of the character at the start, 0 if it is none (overlong, a surrogate, beyond U+10FFFF, cut off). */
static size_t character(const unsigned char *bytes, size_t length) {
    const unsigned char first = bytes[0];
    if (first < 0x80) return 1;
    const size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || size > length) return 0;
    for (size_t i = 1; i < size; i++)
        if (bytes[i] < 0x80 || bytes[i] > 0xbf) return 0;
    if ((first == 0xe0 && bytes[1] < 0xa0) || (first == 0xed && bytes[1] > 0x9f)) return 0;
    if ((first == 0xf0 && bytes[1] < 0x90) || (first == 0xf4 && bytes[1] > 0x8f)) return 0;
    return size;
}

size_t utf8_end(const char *bytes, size_t length) {
    size_t i = 0;
    while (i < length) {
        const size_t size = character((const unsigned char *)bytes + i, length - i);
        if (size == 0) return i;
        i += size;
    }
    return length;
}

bool check_utf8(const char *what, const char *bytes, size_t length) {
    const size_t end = utf8_end(bytes, length);
    if (end == length) return true;
    fail("%s is not UTF-8: byte %zu is 0x%02x; iconv -t UTF-8 converts texts", what, end,
         (unsigned)(unsigned char)bytes[end]);
    return false;
}

/* Takes a line out of what was read; at the end, what is left is one. */
static bool take_line(struct line_reader *reader, struct text *line) {
    const size_t left = reader->pending.length - reader->start;
    const char *start = left > 0 ? reader->pending.bytes + reader->start : "";
    const char *newline = memchr(start, '\n', left);
    if (newline == NULL && (!reader->at_end || left == 0)) return false;
    const size_t length = newline != NULL ? (size_t)(newline - start) : left;
    text_clear(line);
    text_add(line, start, length > 0 && start[length - 1] == '\r' ? length - 1 : length);
    reader->start += length + (newline != NULL);
    if (reader->start == reader->pending.length) {
        text_clear(&reader->pending);
        reader->start = 0;
    }
    return true;
}

line_result read_line(struct line_reader *reader, struct text *line) {
    for (;;) {
        if (interrupts() > 0) return LINE_INTERRUPTED;
        if (take_line(reader, line)) return LINE_READ;
        if (reader->at_end) return LINE_END;
        struct pollfd waited[2] = {{.fd = reader->fd, .events = POLLIN},
                                   {.fd = interrupt_fd(), .events = POLLIN}};
        if (poll(waited, 2, -1) < 0) {
            if (errno == EINTR) continue;
            return LINE_FAILED;
        }
        if (waited[1].revents != 0 && interrupts() > 0) return LINE_INTERRUPTED;
        if (waited[0].revents == 0) continue;
        char block[4096];
        const ssize_t got = read(reader->fd, block, sizeof block);
        if (got < 0 && errno != EINTR && errno != EAGAIN) return LINE_FAILED;
        if (got > 0) text_add(&reader->pending, block, (size_t)got);
        reader->at_end = got == 0;
    }
}
