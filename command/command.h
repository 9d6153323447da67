/* mlxrocm: the command. What its files share; of the library it uses the public header alone.
 *
 * main.c          finds the subcommand          run.c chat.c devices.c selftest.c
 * options.c       reads options, prints help    info.c bench.c perplexity.c quantize.c
 * settings.c      which options there are       generate.c   streams a generation
 * model.c         devices, models, sessions     terminal.c   colours, progress, Ctrl-C
 * text.c          texts that grow, files        report.c     tables and JSON
 * tensors.c       what a model file holds */
#ifndef COMMAND_H
#define COMMAND_H

#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif

#include <mlxrocm.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Exit statuses. */
enum {
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_NO_GPU = 77,       /* of selftest: nothing to test */
    EXIT_INTERRUPTED = 130, /* as shells report it: 128 + SIGINT */
};

enum { MOST_TEXTS = 64 };

/* Values of an option that may be given several times. */
struct texts {
    const char *texts[MOST_TEXTS];
    size_t count;
};

/* What the options say; zero where they say nothing. */
struct settings {
    const char *device; /* "auto", "cpu" or a number; NULL: auto */
    uint64_t threads;
    uint64_t gpu_weights;
    bool verbose, quiet;
    uint64_t context;
    const char *kv; /* "f16", "q8" or "q4"; NULL: f16 */
    bool prompt_lookup;
    const char *draft_model; /* NULL: none */
    bool chat, raw;
    const char *system, *file;
    const char *json_schema, *regex, *grammar; /* or @ and a file */
    uint64_t max_tokens, top_k, seed, penalty_window;
    double temperature, top_p, min_p;
    double repetition_penalty, presence_penalty, frequency_penalty;
    bool seed_given, ignore_eos;
    struct texts stop;
    bool json;
    bool quick, no_measurements;
    bool chat_template, tensors;
    uint64_t prompt_tokens, runs, window, stride;
    uint64_t bits, group_size;
    const char *mode, *recipe, *dtype; /* NULL: the library's own choice */
    struct texts rules;
};

/* options.c */

typedef enum option_kind {
    OPTION_FLAG,   /* bool */
    OPTION_COUNT,  /* uint64_t from `least` to `most` */
    OPTION_REAL,   /* double from `least` to `most` */
    OPTION_TEXT,   /* const char * */
    OPTION_CHOICE, /* const char *: one of the words of `argument`, which | separates */
    OPTION_LIST,   /* struct texts */
} option_kind;

struct option {
    const char *name;     /* without its dashes */
    char letter;          /* of the short form, or 0 */
    option_kind kind;
    size_t offset;        /* of the value in settings */
    double least, most;
    const char *argument; /* what help calls the value */
    const char *help;
};

struct option_group {
    const char *title;
    const struct option *options;
    size_t count;
};

struct subcommand {
    const char *name;
    const char *operands; /* as help writes them */
    const char *summary;
    size_t least, most; /* number of operands */
    const struct option_group *const *groups; /* ends with NULL */
    const char *notes; /* last paragraph of its help, or NULL */
    /* Gives the exit status. */
    int (*run)(const struct settings *settings, char **operands, size_t count);
};

/* Reads the arguments behind the subcommand's name. Operands are moved to the front of `argv`.
 * Gives 0, or an exit status plus 1 where the program is to end. */
int parse_options(const struct subcommand *command, int argc, char **argv, struct settings *values, size_t *operands);
void print_help(const struct subcommand *command, FILE *file);
/* The name that `wrong` was probably meant to be, or NULL. */
const char *nearest(const char *wrong, const char *const *names, size_t count);

/* settings.c */

extern const struct option_group model_options, session_options, kv_options, speculation_options, generation_options,
    output_options;
extern const struct option_group run_options, chat_options, selftest_options, info_options, bench_options,
    perplexity_options, quantize_options, json_options;

/* terminal.c */

enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_PROMPT, STYLE_ERROR, STYLE_WARNING };

/* Looks at stdout, stderr and the environment (TERM, NO_COLOR). */
void terminal_open(void);
bool terminal_is(FILE *file);
/* Begins a style, STYLE_PLAIN ends it; nothing where there are no colours. */
void set_style(FILE *file, enum style style);
/* A line on stderr that the next call replaces; nothing if stderr is no terminal. */
void progress(const char *what, uint64_t done, uint64_t total);
/* The same with a bar. */
void progress_bar(const char *what, uint64_t done, uint64_t total);
void progress_end(void);
/* Writes a text that came out of a model file: a terminal gets no control characters from it. */
bool write_text(FILE *file, const char *text, size_t length);
/* "mlxrocm: ..." on stderr. All give EXIT_FAILED. */
int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Frees the error. */
int fail_with(mlxrocm_error *error);
/* A failed write to stdout; silent where nobody reads any more. */
int fail_to_write(void);
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Counts Ctrl-C instead of ending; the one after `most` ends the program at once. */
void catch_interrupts(int most);
int interrupts(void);
void forget_interrupts(void);
/* Becomes readable at Ctrl-C. */
int interrupt_fd(void);

/* text.c */

/* Bytes that grow, always with a NUL behind them once something was added. Zero is empty. */
struct text {
    char *bytes;
    size_t length, capacity;
};

/* All end the program when there is no memory. */
void text_add(struct text *text, const char *bytes, size_t length);
void text_clear(struct text *text);
void text_free(struct text *text);
void *must_allocate(void *old, size_t count, size_t size);

/* Reads a whole file, "-" being stdin; says what went wrong. */
bool read_file(const char *path, struct text *content);
/* The first byte that is no UTF-8, or `length`. */
size_t utf8_end(const char *bytes, size_t length);
/* Says what is wrong, if `what` is not UTF-8. */
bool check_utf8(const char *what, const char *bytes, size_t length);

typedef enum line_result { LINE_READ, LINE_END, LINE_INTERRUPTED, LINE_FAILED } line_result;

/* Lines of a file descriptor. */
struct line_reader {
    int fd;
    struct text pending;
    size_t start;
    bool at_end;
};

/* Waits for a line, which comes without its newline, or for Ctrl-C. */
line_result read_line(struct line_reader *reader, struct text *line);

/* model.c */

void start_log(const struct settings *settings);
/* Opens the device that --device names; `device` stays NULL for auto. */
bool open_device(const struct settings *settings, mlxrocm_device **device);
bool load_model(const struct settings *settings, mlxrocm_device *device, const char *path, mlxrocm_model **model);
/* `options` may have more than what the settings say. */
bool new_session(const struct settings *settings, const mlxrocm_model *model, mlxrocm_session_options options,
                 mlxrocm_session **session);
/* Loads the model, and the draft model if there is one, and makes a session of one request. */
bool open_model(const struct settings *settings, const char *path, mlxrocm_model **model, mlxrocm_session **session);
/* 1, 0, or -1 after saying what failed. */
int has_chat_template(const mlxrocm_model *model);
/* Owned ids, or NULL after saying what failed. */
uint32_t *encode(const mlxrocm_model *model, const char *bytes, size_t length, uint32_t flags, size_t *count);
const char *device_kind(uint32_t kind);

/* generate.c */

/* A request as the settings say, without a prompt. */
mlxrocm_request make_request(const struct settings *settings);
/* Writes a generation's text to stdout as it comes and, if `answer` is not NULL, there too. Ctrl-C ends it.
 * Gives an exit status; `end` is MLXROCM_EVENT_FINISHED without its pointers. */
int stream(mlxrocm_generation *generation, struct text *answer, mlxrocm_event *end);
void print_speed(const mlxrocm_event *end);

/* report.c */

/* Facts, as lines "label  value" or as a JSON object. */
struct report {
    bool json;
    size_t fields;
};

void report_begin(struct report *report, bool json);
void report_text(struct report *report, const char *key, const char *label, const char *value);
/* `readable` is for people; NULL: the number. */
void report_count(struct report *report, const char *key, const char *label, uint64_t value, const char *readable);
void report_real(struct report *report, const char *key, const char *label, double value, const char *readable);
void report_flag(struct report *report, const char *key, const char *label, bool value);
/* Gives an exit status. */
int report_end(struct report *report);
void json_string(FILE *file, const char *text);
/* "92.1 MiB", "134.5 M"; borrowed until the fourth next call. */
const char *readable_bytes(uint64_t bytes);
const char *readable_number(uint64_t number);
/* The middle of `count` numbers, which it sorts. */
double median(double *numbers, size_t count);

/* tensors.c */

/* Lists the tensors of a model file. Gives an exit status. */
int print_tensors(const char *path, bool json);

/* The subcommands. */

extern const struct subcommand run_command, chat_command, devices_command, selftest_command, info_command,
    bench_command, perplexity_command, quantize_command;

#endif
