/* Options: --name VALUE, --name=VALUE, -n VALUE, -nVALUE, unambiguous beginnings of names; "--" ends them. */
#include "command.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct option help_option = {"help", 'h', OPTION_FLAG, 0, 0, 0, NULL, "print this help and end"};

/* Calls for each option; gives the one that `match` likes. `count` is how many it liked. */
static const struct option *find(const struct subcommand *command, const char *name, size_t length, size_t *count) {
    const struct option *found = NULL;
    *count = 0;
    for (const struct option_group *const *group = command->groups; *group != NULL; group++) {
        for (size_t i = 0; i < (*group)->count; i++) {
            const struct option *one = &(*group)->options[i];
            if (strncmp(one->name, name, length) != 0) continue;
            found = one;
            ++*count;
            if (one->name[length] == '\0') {
                *count = 1;
                return one;
            }
        }
    }
    return found;
}

static const struct option *find_letter(const struct subcommand *command, char letter) {
    for (const struct option_group *const *group = command->groups; *group != NULL; group++)
        for (size_t i = 0; i < (*group)->count; i++)
            if ((*group)->options[i].letter == letter) return &(*group)->options[i];
    return NULL;
}

/* Changes, insertions and deletions that lead from one word to the other. */
static size_t distance(const char *a, const char *b) {
    enum { LONGEST = 40 };
    size_t row[LONGEST + 1], n = strlen(b);
    if (n > LONGEST) return n;
    for (size_t j = 0; j <= n; j++) row[j] = j;
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[n];
}

const char *nearest(const char *wrong, const char *const *names, size_t count) {
    const char *best = NULL;
    size_t least = strlen(wrong) / 3 + 2; /* farther ones are other words */
    for (size_t i = 0; i < count; i++) {
        const size_t found = distance(wrong, names[i]);
        if (found < least) {
            least = found;
            best = names[i];
        }
    }
    return best;
}

static int usage(const struct subcommand *command) {
    fprintf(stderr, "mlxrocm: try 'mlxrocm %s --help'\n", command->name);
    return EXIT_USAGE + 1;
}

static int unknown(const struct subcommand *command, const char *argument, const char *name, size_t length) {
    const char *names[64];
    size_t count = 0;
    for (const struct option_group *const *group = command->groups; *group != NULL; group++)
        for (size_t i = 0; i < (*group)->count && count < 64; i++) names[count++] = (*group)->options[i].name;
    char word[32];
    snprintf(word, sizeof word, "%.*s", (int)(length < 31 ? length : 31), name);
    const char *meant = length > 1 ? nearest(word, names, count) : NULL;
    fail("%s: there is no option %s", command->name, argument);
    if (meant != NULL) fprintf(stderr, "mlxrocm: did you mean --%s?\n", meant);
    return usage(command);
}

static bool read_count(const char *value, double least, double most, uint64_t *number) {
    char *end = NULL;
    errno = 0;
    /* strtoull takes blanks and signs: these are no counts. */
    if (!isdigit((unsigned char)value[0])) return false;
    const unsigned long long read = strtoull(value, &end, 10);
    if (errno != 0 || *end != '\0' || (double)read < least || (double)read > most) return false;
    *number = read;
    return true;
}

static bool read_real(const char *value, double least, double most, double *number) {
    char *end = NULL;
    if (!isdigit((unsigned char)value[0]) && strchr("-.", value[0]) == NULL) return false;
    const double read = strtod(value, &end);
    if (end == value || *end != '\0' || !isfinite(read) || read < least || read > most) return false;
    *number = read;
    return true;
}

/* Whether a word is one of those that | separates. */
static bool is_choice(const char *choices, const char *word) {
    const size_t length = strlen(word);
    while (length > 0) {
        const size_t one = strcspn(choices, "|");
        if (one == length && strncmp(choices, word, length) == 0) return true;
        if (choices[one] == '\0') break;
        choices += one + 1;
    }
    return false;
}

static int set(const struct subcommand *command, const struct option *option, const char *value,
               struct settings *values) {
    void *place = (char *)values + option->offset;
    switch (option->kind) {
    case OPTION_FLAG: *(bool *)place = true; return 0;
    case OPTION_COUNT:
        if (!read_count(value, option->least, option->most, place)) break;
        if (option->offset == offsetof(struct settings, seed)) values->seed_given = true;
        return 0;
    case OPTION_REAL:
        if (!read_real(value, option->least, option->most, place)) break;
        return 0;
    case OPTION_TEXT: *(const char **)place = value; return 0;
    case OPTION_CHOICE:
        if (is_choice(option->argument, value)) {
            *(const char **)place = value;
            return 0;
        }
        fail("%s: --%s: '%s' is none of %s", command->name, option->name, value, option->argument);
        return usage(command);
    case OPTION_LIST:
        if (((struct texts *)place)->count == MOST_TEXTS) {
            fail("%s: --%s: at most %d of them", command->name, option->name, MOST_TEXTS);
            return usage(command);
        }
        ((struct texts *)place)->texts[((struct texts *)place)->count++] = value;
        return 0;
    }
    if (option->most >= 1e15)
        fail("%s: --%s: '%s' is no number from %g up", command->name, option->name, value, option->least);
    else
        fail("%s: --%s: '%s' is no %snumber from %.10g to %.10g", command->name, option->name, value,
             option->kind == OPTION_COUNT ? "whole " : "", option->least, option->most);
    return usage(command);
}

/* One argument that begins with a dash; `next` is the argument after it, and used up by adding 1 to `at`. */
static int parse_one(const struct subcommand *command, char *argument, char *next, int *at, struct settings *values) {
    const bool is_long = argument[1] == '-';
    const char *name = argument + 1 + is_long, *value = NULL;
    size_t length = is_long ? strcspn(name, "=") : 1, matches = 1;
    const struct option *found = is_long ? find(command, name, length, &matches) : find_letter(command, *name);
    if (matches > 1) {
        fail("%s: --%.*s may be several options", command->name, (int)length, name);
        return usage(command);
    }
    if (found == NULL) return unknown(command, argument, name, length);
    if (is_long && name[length] == '=') value = name + length + 1;
    if (!is_long && name[1] != '\0') value = name + 1;
    if (found->kind == OPTION_FLAG) {
        if (value == NULL) return set(command, found, NULL, values);
        if (is_long) {
            fail("%s: --%s takes no value", command->name, found->name);
            return usage(command);
        }
        /* -vq is -v -q. */
        argument[1] = '-';
        const int result = set(command, found, NULL, values);
        return result != 0 ? result : parse_one(command, argument + 1, next, at, values);
    }
    if (value == NULL) {
        if (next == NULL) {
            fail("%s: --%s wants a value: %s", command->name, found->name, found->argument);
            return usage(command);
        }
        value = next;
        ++*at;
    }
    return set(command, found, value, values);
}

int parse_options(const struct subcommand *command, int argc, char **argv, struct settings *values, size_t *operands) {
    size_t count = 0;
    bool ended = false;
    for (int i = 0; i < argc; i++) {
        char *argument = argv[i];
        if (!ended && strcmp(argument, "--") == 0) {
            ended = true;
        } else if (ended || argument[0] != '-' || argument[1] == '\0') {
            argv[count++] = argument;
        } else if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0) {
            print_help(command, stdout);
            return (fflush(stdout) != 0 ? fail_to_write() : 0) + 1;
        } else {
            const int result = parse_one(command, argument, i + 1 < argc ? argv[i + 1] : NULL, &i, values);
            if (result != 0) return result;
        }
    }
    if (count < command->least) {
        fail("%s: wanted: %s", command->name, command->operands);
        return usage(command);
    }
    if (count > command->most) {
        fail("%s: '%s' is one argument too many; a text of several words needs quotes", command->name,
             argv[command->most]);
        return usage(command);
    }
    *operands = count;
    return 0;
}

static void print_option(const struct option *option, FILE *file) {
    char left[64], letter[8] = "    ";
    if (option->letter != 0) snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(left, sizeof left, "%s--%s%s%s", letter, option->name, option->argument ? " " : "",
             option->argument ? option->argument : "");
    fprintf(file, "  %-32s %s\n", left, option->help);
}

void print_help(const struct subcommand *command, FILE *file) {
    fprintf(file, "usage: mlxrocm %s [OPTION...]%s%s\n\n%s\n", command->name, command->operands[0] ? " " : "",
            command->operands, command->summary);
    for (const struct option_group *const *group = command->groups; *group != NULL; group++) {
        set_style(file, STYLE_BOLD);
        fprintf(file, "\n%s\n", (*group)->title);
        set_style(file, STYLE_PLAIN);
        for (size_t i = 0; i < (*group)->count; i++) print_option(&(*group)->options[i], file);
    }
    fputs("\n", file);
    print_option(&help_option, file);
    if (command->notes != NULL) fprintf(file, "\n%s\n", command->notes);
}
