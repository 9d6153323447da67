/* mlxrocm selftest: does a GPU compute what it should, and how fast? */
#include "command.h"

#include <string.h>

static int32_t print_line(const char *line, size_t length, void *user_data) {
    (void)length, (void)user_data;
    puts(line);
    return fflush(stdout) != 0 || interrupts() > 0; /* anything but 0 ends the test */
}

static int failed(mlxrocm_error *error) {
    const bool no_gpu = mlxrocm_error_status(error) == MLXROCM_ERROR_NO_DEVICE;
    fail_with(error);
    return no_gpu ? EXIT_NO_GPU : EXIT_FAILED;
}

static int test(mlxrocm_device *device, const struct settings *settings) {
    mlxrocm_error *error = NULL;
    const mlxrocm_selftest_options options = {
        .struct_size = sizeof options,
        .flags = (settings->quick ? MLXROCM_SELFTEST_QUICK : 0u) |
                 (settings->no_measurements ? MLXROCM_SELFTEST_NO_MEASUREMENTS : 0u),
        .seed = settings->seed,
        .report = print_line,
    };
    const mlxrocm_status status = mlxrocm_device_selftest(device, &options, &error);
    mlxrocm_device_free(device);
    return status == MLXROCM_OK ? 0 : failed(error);
}

static int run(const struct settings *settings, char **operands, size_t operand_count) {
    (void)operands, (void)operand_count;
    mlxrocm_error *error = NULL;
    mlxrocm_device *device = NULL;
    size_t count = 0;
    int result = 0;
    catch_interrupts(1);
    if (settings->device != NULL && strcmp(settings->device, "auto") != 0) {
        if (!open_device(settings, &device)) return EXIT_FAILED;
        puts(mlxrocm_build_info(NULL));
        return test(device, settings);
    }
    if (mlxrocm_device_count(&count, &error) != MLXROCM_OK) return fail_with(error);
    puts(mlxrocm_build_info(NULL));
    /* Without a GPU, opening the first one says why. */
    for (size_t index = 1; index < (count > 1 ? count : 2) && interrupts() == 0; index++) {
        const int one = mlxrocm_device_open(index, &device, &error) == MLXROCM_OK ? test(device, settings)
                                                                                   : failed(error);
        error = NULL;
        if (one != 0) result = one;
    }
    return result;
}

static const struct option_group *const groups[] = {&selftest_options, NULL};

const struct subcommand selftest_command = {
    "selftest", "", "tests GPUs and measures them", 0, 0, groups,
    "The report is to be attached to a bug report. Exit status: 0 everything is right, 1 something is wrong,\n"
    "77 there is no GPU.",
    run,
};
