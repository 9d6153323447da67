/* Host cost of arrays: graphs of dependent small operations, built, computed and read again and again.
 *   arrays [DEVICE [OPERATIONS [ELEMENTS [ROUNDS]]]]        MLXROCM_ARRAY_PLANS=off: operation by operation */
#include <mlxrocm.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static mlxrocm_error *error;

static void check(mlxrocm_status status) {
    if (status == MLXROCM_OK) return;
    fprintf(stderr, "%s\n", mlxrocm_error_message(error, NULL));
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    const size_t device_number = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    const int operations = argc > 2 ? atoi(argv[2]) : 100, rounds = argc > 4 ? atoi(argv[4]) : 300;
    const int64_t shape[] = {argc > 3 ? atoll(argv[3]) : 256};
    mlxrocm_device *device = NULL;
    mlxrocm_array *begin = NULL, *x = NULL, *rate = NULL, *moved = NULL;
    check(mlxrocm_device_open(device_number, &device, &error));
    check(mlxrocm_array_ones(shape, 1, MLXROCM_DTYPE_FLOAT32, &x, &error));
    check(mlxrocm_array_to_device(x, device, &begin, &error));
    mlxrocm_array_free(x);
    check(mlxrocm_array_number(0.5, MLXROCM_DTYPE_FLOAT32, &moved, &error));
    check(mlxrocm_array_to_device(moved, device, &rate, &error));
    mlxrocm_array_free(moved);
    const mlxrocm_array *both[] = {begin, rate};
    check(mlxrocm_array_eval(both, 2, &error));
    double *build = malloc((size_t)rounds * sizeof *build), *whole = malloc((size_t)rounds * sizeof *whole);
    if (!build || !whole) return 1;
    for (int round = 0; round < rounds; round++) {
        const double start = now();
        check(mlxrocm_array_clone(begin, &x, &error));
        for (int i = 0; i < operations; i++) {
            mlxrocm_array *next = NULL;
            if (i % 2) check(mlxrocm_array_multiply(x, rate, &next, &error));
            else check(mlxrocm_array_add(x, begin, &next, &error));
            mlxrocm_array_free(x);
            x = next;
        }
        build[round] = now() - start;
        const mlxrocm_array *wanted[] = {x};
        check(mlxrocm_array_eval(wanted, 1, &error));
        whole[round] = now() - start;
        mlxrocm_array_free(x);
    }
    qsort(build, (size_t)rounds, sizeof *build, ascending);
    qsort(whole, (size_t)rounds, sizeof *whole, ascending);
    const double b = build[rounds / 2] * 1e6, w = whole[rounds / 2] * 1e6;
    printf("%d operations on %lld elements: built %.1f us (%.2f an operation), with eval %.1f us (%.2f an operation); "
           "the fastest of %d: %.1f and %.1f us\n",
           operations, (long long)shape[0], b, b / operations, w, w / operations, rounds, build[0] * 1e6, whole[0] * 1e6);
    free(build);
    free(whole);
    mlxrocm_array_free(begin);
    mlxrocm_array_free(rate);
    mlxrocm_device_free(device);
    return 0;
}
