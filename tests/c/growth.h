/* Measures what a process and a GPU hold, and says whether it grew. The includer asks for POSIX. */
#ifndef GROWTH_H
#define GROWTH_H

#include "check.h"

#include <dirent.h>
#include <malloc.h>
#include <unistd.h>

#define MIB (1024.0 * 1024.0)

/* What must not grow: memory of the process and of the device, open files. Besides these numbers, one in a
 * hundred: the allocator's pieces. */
enum { RESIDENT, FILES, DEVICE, PINNED, MEASURES };
static const char *const measure_names[] = {"resident MiB", "open files", "device MiB", "pinned MiB"};
static const double tolerances[] = {8, 0, 1, 1};

typedef struct {
    double values[MEASURES];
} sample;

static sample *samples;
static size_t sample_count;

/* `gpu` is nullable. */
static void measure(const mlxrocm_device *gpu) {
    sample s = {0};
    unsigned long pages = 0;
    /* What is free between the allocator's pieces in use is no growth. */
    malloc_trim(0);
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%*u %lu", &pages) == 1);
    fclose(file);
    s.values[RESIDENT] = (double)pages * (double)sysconf(_SC_PAGESIZE) / MIB;
    DIR *folder = opendir("/proc/self/fd");
    CHECK(folder);
    while (readdir(folder)) s.values[FILES]++;
    closedir(folder);
    if (gpu) {
        /* What two sessions left that by chance were there at once says nothing. */
        OK(mlxrocm_device_trim(gpu, &error));
        mlxrocm_device_memory memory = {.struct_size = sizeof memory};
        OK(mlxrocm_device_get_memory(gpu, &memory, &error));
        s.values[DEVICE] = (double)(memory.active + memory.cache) / MIB;
        s.values[PINNED] = (double)(memory.pinned_active + memory.pinned_cache) / MIB;
    }
    samples = realloc(samples, (sample_count + 1) * sizeof *samples);
    CHECK(samples);
    samples[sample_count++] = s;
}

/* Compares the last quarter's mean, of open files the least (one may be open for a moment), with the most of the
 * first quarter. Returns how many have grown. */
static int judge_growth(void) {
    int grown = 0;
    const size_t quarter = sample_count / 4;
    for (size_t m = 0; m < MEASURES; m++) {
        double first = 0, last = 0, least = samples[sample_count - 1].values[m];
        for (size_t i = 0; i < quarter; i++) {
            if (samples[i].values[m] > first) first = samples[i].values[m];
            const double late = samples[sample_count - 1 - i].values[m];
            last += late / (double)quarter;
            if (late < least) least = late;
        }
        if (m == FILES) last = least;
        const int is_grown = last > first * (m == FILES ? 1 : 1.01) + tolerances[m];
        printf(", %s %.1f -> %.1f%s", measure_names[m], first, last, is_grown ? " (GROWTH)" : "");
        grown += is_grown;
    }
    printf("\n");
    return grown;
}

#endif
