/* mlxrocm selftest: does a GPU compute what it should, and how fast? */
#include "command.h"

#include <stdlib.h>
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
    return status == MLXROCM_OK ? 0 : failed(error);
}

/* What the library says of products. */
static void product_line(uint32_t level, const char *message, size_t length, void *user_data) {
    (void)level, (void)length, (void)user_data;
    if (strncmp(message, "product ", 8) == 0 || strncmp(message, "BLAS", 4) == 0) puts(message);
}

/* Prompts of a model by the vendor's BLAS, which the library compares with its own kernels, times and remembers. A
 * library that ends the process ends this one, and nothing is remembered of it. */
static int try_products(mlxrocm_device *device, const struct settings *settings, const char *path) {
    enum { MOST = 1024 };
    mlxrocm_error *error = NULL;
    mlxrocm_model *model = NULL;
    mlxrocm_session *session = NULL;
    mlxrocm_model_info info = {.struct_size = sizeof info};
    const mlxrocm_session_options options = {.max_requests = 1, .context = MOST + 1, .prefill_chunk = MOST};
    mlxrocm_log_set_callback(MLXROCM_LOG_DEBUG, product_line, NULL, NULL, NULL);
    int result = 0;
    if (!load_model(settings, device, path, &model) || !new_session(settings, model, options, &session))
        result = EXIT_FAILED;
    else if (mlxrocm_model_get_info(model, &info, &error) != MLXROCM_OK)
        result = fail_with(error);
    uint32_t tokens[MOST];
    for (size_t i = 0; i < MOST && result == 0; i++) tokens[i] = (uint32_t)(i * 7919u % info.vocab_size);
    const size_t most = settings->quick ? 128 : MOST;
    for (size_t count = 128; count <= most && result == 0 && interrupts() == 0; count *= 2) {
        mlxrocm_generation *generation = NULL;
        mlxrocm_event end = {.struct_size = sizeof end};
        /* Each begins with another token: nothing of it is in the cache. */
        const mlxrocm_request request = {.struct_size = sizeof request,
                                         .flags = MLXROCM_REQUEST_IGNORE_EOS,
                                         .tokens = tokens + MOST - count,
                                         .token_count = count,
                                         .max_tokens = 1};
        mlxrocm_status status = mlxrocm_session_submit(session, &request, &generation, &error);
        while (status == MLXROCM_OK && end.kind != MLXROCM_EVENT_FINISHED && interrupts() == 0)
            status = mlxrocm_generation_next(generation, -1, &end, &error);
        if (status != MLXROCM_OK) result = fail_with(error);
        else if (end.finish_reason == MLXROCM_FINISH_ERROR) result = fail("%s", end.error_message);
        mlxrocm_generation_free(generation);
    }
    mlxrocm_session_free(session);
    mlxrocm_model_free(model);
    if (result == 0) puts("products: what was found is remembered");
    return result;
}

/* Frees the device. */
static int test_with(mlxrocm_device *device, const struct settings *settings, const char *path) {
    int result = test(device, settings);
    if (path != NULL && result == 0 && interrupts() == 0) result = try_products(device, settings, path);
    mlxrocm_device_free(device);
    return result;
}

static int run(const struct settings *settings, char **operands, size_t operand_count) {
    const char *model = operand_count > 0 ? operands[0] : NULL;
    mlxrocm_error *error = NULL;
    mlxrocm_device *device = NULL;
    size_t count = 0;
    int result = 0;
    catch_interrupts(1);
    /* This is a process of its own, for just that. */
    if (model != NULL && setenv("MLXROCM_BLAS", "try", 1) != 0) return fail("no memory");
    if (settings->device != NULL && strcmp(settings->device, "auto") != 0) {
        if (!open_device(settings, &device)) return EXIT_FAILED;
        puts(mlxrocm_build_info(NULL));
        return test_with(device, settings, model);
    }
    if (mlxrocm_device_count(&count, &error) != MLXROCM_OK) return fail_with(error);
    puts(mlxrocm_build_info(NULL));
    /* Without a GPU, opening the first one says why. */
    for (size_t index = 1; index < (count > 1 ? count : 2) && interrupts() == 0; index++) {
        const int one = mlxrocm_device_open(index, &device, &error) == MLXROCM_OK ? test_with(device, settings, model)
                                                                                   : failed(error);
        error = NULL;
        if (one != 0) result = one;
    }
    return result;
}

static const struct option_group *const groups[] = {&selftest_options, NULL};

const struct subcommand selftest_command = {
    "selftest", "[MODEL]", "tests GPUs and measures them", 0, 1, groups,
    "The report is to be attached to a bug report. With a model its prompts are run by the vendor's BLAS too,\n"
    "compared with the library's own kernels and timed; what was found is remembered. On AMD GPUs none is\n"
    "used before. Exit status: 0 everything is right, 1 something is wrong, 77 there is no GPU.",
    run,
};
