/* selftest: does this GPU compute what it should, and how fast? Attach what it prints to a bug report.
 *
 *     selftest [--quick] [--seed N] [DEVICE]        (all GPUs, if none is named)
 *
 * Exits with 0 when everything is right, 1 when something is wrong, 77 when there is no GPU. */
#include <mlxrocm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_GPU 77

static int fail(const char *what, mlxrocm_error *error) {
    const mlxrocm_status status = mlxrocm_error_status(error);
    fprintf(stderr, "%s: %s: %s\n", what, mlxrocm_status_name(status, NULL), mlxrocm_error_message(error,
                                                                                                   NULL));
    mlxrocm_error_free(error);
    return status == MLXROCM_ERROR_NO_DEVICE ? NO_GPU : 1;
}

static int32_t print_line(const char *line, size_t length, void *user_data) {
    (void)length, (void)user_data;
    puts(line);
    fflush(stdout);
    return 0; /* go on */
}

static int test(size_t index, const mlxrocm_selftest_options *options) {
    mlxrocm_error *error = NULL;
    mlxrocm_device *device = NULL;
    if (mlxrocm_device_open(index, &device, &error) != MLXROCM_OK) return fail("open", error);
    const mlxrocm_status status = mlxrocm_device_selftest(device, options, &error);
    mlxrocm_device_free(device);
    return status == MLXROCM_OK ? 0 : fail("self-test", error);
}

int main(int argc, char **argv) {
    mlxrocm_selftest_options options = {.struct_size = sizeof options, .report = print_line};
    size_t first = 1, last = 0;
    mlxrocm_error *error = NULL;
    if (mlxrocm_device_count(&last, &error) != MLXROCM_OK) return fail("count", error);
    last = last > 1 ? last - 1 : 1; /* without a GPU, opening the first one says why */
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0) {
            options.flags |= MLXROCM_SELFTEST_QUICK;
        } else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
            options.seed = strtoull(argv[++i], NULL, 10);
        } else if (argv[i][0] >= '1' && argv[i][0] <= '9') {
            first = last = strtoul(argv[i], NULL, 10);
        } else {
            fprintf(stderr, "usage: selftest [--quick] [--seed N] [DEVICE]   (DEVICE 1 is the first GPU)\n");
            return 2;
        }
    }
    puts(mlxrocm_build_info(NULL));
    int result = 0;
    for (size_t index = first; index <= last; index++) {
        const int one = test(index, &options);
        if (one != 0) result = one;
    }
    return result;
}
