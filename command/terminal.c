/* What a terminal gets besides the text: colours, progress, messages; and Ctrl-C. */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    bool in, out, err;    /* is a terminal */
    bool colours;         /* of those that are */
    bool quiet;           /* no progress */
    bool has_progress;    /* a line of it is on the screen */
    char shown[80];
} terminal;

/* Descriptors 0 to 2 that the caller closed are opened so that using them fails: else the next file, of a model or a
 * chat, would be in their place. */
static void fill_descriptors(void) {
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
        if (fcntl(i, F_GETFD) < 0 && errno == EBADF) open("/dev/null", i == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void terminal_open(void) {
    fill_descriptors();
    const char *kind = getenv("TERM"), *no_color = getenv("NO_COLOR");
    const bool is_dumb = kind == NULL || kind[0] == '\0' || strcmp(kind, "dumb") == 0;
    terminal.in = isatty(STDIN_FILENO) == 1;
    terminal.out = isatty(STDOUT_FILENO) == 1;
    terminal.err = isatty(STDERR_FILENO) == 1;
    terminal.colours = !is_dumb && (no_color == NULL || no_color[0] == '\0');
    terminal.quiet = is_dumb;
}

bool terminal_is(FILE *file) { return file == stdin ? terminal.in : file == stdout ? terminal.out : terminal.err; }

void set_style(FILE *file, enum style style) {
    static const char *const codes[] = {"0", "1", "2", "1;32", "1;31", "1;33"};
    if (terminal_is(file) && terminal.colours) fprintf(file, "\033[%sm", codes[style]);
}

void progress(const char *what, uint64_t done, uint64_t total) {
    if (!terminal.err || terminal.quiet) return;
    char line[sizeof terminal.shown];
    const double share = total > 0 ? (double)done / (double)total : 1.0;
    snprintf(line, sizeof line, "%s %3.0f %%", what, share * 100.0);
    if (terminal.has_progress && strcmp(line, terminal.shown) == 0) return;
    fprintf(stderr, "\r%s", line);
    fflush(stderr);
    memcpy(terminal.shown, line, sizeof line);
    terminal.has_progress = true;
}

void progress_bar(const char *what, uint64_t done, uint64_t total) {
    enum { WIDTH = 30 };
    char line[sizeof terminal.shown], bar[WIDTH + 1];
    const double share = total > 0 ? (double)done / (double)total : 1.0;
    const size_t full = (size_t)(share * WIDTH);
    memset(bar, '-', WIDTH);
    memset(bar, '#', full < WIDTH ? full : WIDTH);
    bar[WIDTH] = '\0';
    snprintf(line, sizeof line, "%s [%s]", what, bar);
    progress(line, done, total);
}

void progress_end(void) {
    if (!terminal.has_progress) return;
    fprintf(stderr, "\r%*s\r", (int)strlen(terminal.shown), "");
    fflush(stderr);
    terminal.has_progress = false;
}

/* Bytes of a control character at the start of `text`, 0 if it begins with none. C1 controls have two. */
static size_t control(const unsigned char *text, size_t length) {
    if (text[0] == '\n' || text[0] == '\t') return 0;
    if (text[0] < 0x20 || text[0] == 0x7f) return 1;
    return length > 1 && text[0] == 0xc2 && text[1] >= 0x80 && text[1] < 0xa0 ? 2 : 0;
}

bool write_text(FILE *file, const char *text, size_t length) {
    if (!terminal_is(file)) return fwrite(text, 1, length, file) == length;
    size_t start = 0, i = 0;
    while (i < length) {
        const size_t bytes = control((const unsigned char *)text + i, length - i);
        if (bytes == 0) {
            i++;
            continue;
        }
        if (fwrite(text + start, 1, i - start, file) != i - start) return false;
        i += bytes;
        start = i;
    }
    return fwrite(text + start, 1, length - start, file) == length - start;
}

static void say(enum style style, const char *kind, const char *format, va_list arguments) {
    progress_end();
    fputs("mlxrocm: ", stderr);
    set_style(stderr, style);
    fputs(kind, stderr);
    set_style(stderr, STYLE_PLAIN);
    /* What a model file says may be in it. */
    char line[4096];
    const int length = vsnprintf(line, sizeof line, format, arguments);
    write_text(stderr, line, length < 0 ? 0 : (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
    fputc('\n', stderr);
}

int fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(STYLE_ERROR, "error: ", format, arguments);
    va_end(arguments);
    return EXIT_FAILED;
}

void warn(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(STYLE_WARNING, "warning: ", format, arguments);
    va_end(arguments);
}

int fail_with(mlxrocm_error *error) {
    const bool cancelled = mlxrocm_error_status(error) == MLXROCM_ERROR_CANCELLED && interrupts() > 0;
    if (!cancelled) {
        const char *details = mlxrocm_error_details(error, NULL);
        fail("%s", mlxrocm_error_message(error, NULL));
        if (details[0] != '\0') fprintf(stderr, "%s\n", details);
    }
    progress_end();
    mlxrocm_error_free(error);
    return EXIT_FAILED;
}

int fail_to_write(void) {
    return errno == EPIPE ? EXIT_FAILED : fail("stdout: %s", strerror(errno));
}

/* Handlers may run on any thread, so the one that waits hears of it through a pipe. */
static volatile sig_atomic_t interrupt_count, most_interrupts;
static int interrupt_pipe[2] = {-1, -1};

static void on_interrupt(int signal) {
    const int error = errno;
    (void)signal;
    interrupt_count++;
    if (interrupt_count > most_interrupts) _exit(EXIT_INTERRUPTED);
    /* The pipe does not block: when it is full, there is enough to read. */
    if (write(interrupt_pipe[1], "", 1) < 0) errno = error;
    errno = error;
}

void catch_interrupts(int most) {
    struct sigaction old;
    /* A shell that starts a job in the background has it ignored. */
    if (sigaction(SIGINT, NULL, &old) != 0 || old.sa_handler == SIG_IGN) return;
    if (pipe(interrupt_pipe) != 0) return;
    for (int i = 0; i < 2; i++) {
        fcntl(interrupt_pipe[i], F_SETFD, FD_CLOEXEC);
        fcntl(interrupt_pipe[i], F_SETFL, O_NONBLOCK);
    }
    most_interrupts = most;
    /* The library's system calls go on. */
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
}

int interrupts(void) { return interrupt_count; }

void forget_interrupts(void) {
    char bytes[64];
    interrupt_count = 0;
    while (interrupt_pipe[0] >= 0 && read(interrupt_pipe[0], bytes, sizeof bytes) > 0) continue;
}

int interrupt_fd(void) { return interrupt_pipe[0]; }
