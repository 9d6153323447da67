/* Facts as a table for people or as JSON for programs. */
#include "command.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void json_string(FILE *file, const char *text) {
    fputc('"', file);
    for (; *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') fprintf(file, "\\%c", c);
        else if (c == '\n') fputs("\\n", file);
        else if (c < 0x20 || c == 0x7f) fprintf(file, "\\u%04x", (unsigned)c);
        else fputc(c, file);
    }
    fputc('"', file);
}

void report_begin(struct report *report, bool json) {
    report->json = json;
    report->fields = 0;
    if (json) putchar('{');
}

/* Writes what comes before a value. */
static void begin_field(struct report *report, const char *key, const char *label) {
    if (!report->json) {
        set_style(stdout, STYLE_DIM);
        printf("%-16s", label);
        set_style(stdout, STYLE_PLAIN);
        return;
    }
    fputs(report->fields++ > 0 ? ", " : "", stdout);
    json_string(stdout, key);
    fputs(": ", stdout);
}

static void end_field(const struct report *report) {
    if (!report->json) putchar('\n');
}

void report_text(struct report *report, const char *key, const char *label, const char *value) {
    begin_field(report, key, label);
    if (report->json) json_string(stdout, value);
    else write_text(stdout, value, strlen(value));
    end_field(report);
}

void report_count(struct report *report, const char *key, const char *label, uint64_t value, const char *readable) {
    begin_field(report, key, label);
    if (report->json || readable == NULL) printf("%llu", (unsigned long long)value);
    else write_text(stdout, readable, strlen(readable));
    end_field(report);
}

void report_real(struct report *report, const char *key, const char *label, double value, const char *readable) {
    begin_field(report, key, label);
    if (report->json && !isfinite(value)) fputs("null", stdout);
    else if (report->json || readable == NULL) printf("%.9g", value);
    else fputs(readable, stdout);
    end_field(report);
}

void report_flag(struct report *report, const char *key, const char *label, bool value) {
    begin_field(report, key, label);
    if (report->json) fputs(value ? "true" : "false", stdout);
    else fputs(value ? "yes" : "no", stdout);
    end_field(report);
}

int report_end(struct report *report) {
    if (report->json) fputs("}\n", stdout);
    return fflush(stdout) != 0 || ferror(stdout) ? fail_to_write() : 0;
}

/* Four texts, used in turn. */
static char *next_text(size_t *size) {
    static char texts[4][32];
    static unsigned next;
    *size = sizeof texts[0];
    return texts[next++ % 4];
}

static const char *scaled(uint64_t number, double step, const char *const *units) {
    size_t size, unit = 0;
    char *text = next_text(&size);
    double value = (double)number;
    while (value >= step && units[unit + 1] != NULL) {
        value /= step;
        unit++;
    }
    snprintf(text, size, unit > 0 ? "%.1f%s" : "%.0f%s", value, units[unit]);
    return text;
}

const char *readable_bytes(uint64_t bytes) {
    static const char *const units[] = {" bytes", " KiB", " MiB", " GiB", " TiB", NULL};
    return scaled(bytes, 1024, units);
}

const char *readable_number(uint64_t number) {
    static const char *const units[] = {"", " thousand", " million", " billion", NULL};
    return scaled(number, 1000, units);
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median(double *numbers, size_t count) {
    qsort(numbers, count, sizeof *numbers, by_value);
    return count % 2 == 1 ? numbers[count / 2] : (numbers[count / 2 - 1] + numbers[count / 2]) / 2;
}
