/* mlxrocm quantize SOURCE TARGET: makes a quantized folder of a model. */
#include "command.h"

#include <inttypes.h>
#include <string.h>

/* How far it is; anything but 0 ends it. */
static int32_t on_progress(uint64_t done, uint64_t total, void *user_data) {
    const struct settings *settings = user_data;
    if (!settings->quiet) progress_bar("quantizing", done, total);
    return interrupts() > 0;
}

static int report(const struct settings *settings, const char *target, const mlxrocm_quantize_result *made) {
    const double bits = made->parameters > 0 ? 8.0 * (double)made->bytes / (double)made->parameters : 0;
    if (settings->json) {
        struct report fields;
        char line[32];
        snprintf(line, sizeof line, "%.3f", bits);
        report_begin(&fields, true);
        report_text(&fields, "target", "target", target);
        report_count(&fields, "files", "files", made->files, NULL);
        report_count(&fields, "parameters", "parameters", made->parameters, NULL);
        report_count(&fields, "bytes", "size", made->bytes, NULL);
        report_count(&fields, "resumed_bytes", "resumed", made->resumed_bytes, NULL);
        report_real(&fields, "bits_per_weight", "bits a weight", bits, line);
        return report_end(&fields);
    }
    if (settings->quiet) return 0;
    write_text(stdout, target, strlen(target));
    printf(": %s parameters, %s, %.3f bits a weight\n", readable_number(made->parameters),
           readable_bytes(made->bytes), bits);
    return fflush(stdout) != 0 ? fail_to_write() : 0;
}

static int run(const struct settings *settings, char **operands, size_t count) {
    (void)count;
    mlxrocm_error *error = NULL;
    mlxrocm_quantize_result made = {.struct_size = sizeof made};
    const mlxrocm_quantize_options options = {
        .struct_size = sizeof options,
        .bits = (uint32_t)settings->bits,
        .group_size = (uint32_t)settings->group_size,
        .threads = (uint32_t)settings->threads,
        .mode = settings->mode,
        .recipe = settings->recipe,
        .dtype = settings->dtype,
        .rules = settings->rules.texts,
        .rules_count = settings->rules.count,
        .progress = on_progress,
        .user_data = (void *)(uintptr_t)settings,
    };
    catch_interrupts(1);
    const mlxrocm_status status = mlxrocm_model_quantize(operands[0], MLXROCM_NUL, operands[1], MLXROCM_NUL,
                                                         &options, &made, &error);
    progress_end();
    if (status == MLXROCM_OK) return report(settings, operands[1], &made);
    if (status == MLXROCM_ERROR_CANCELLED && !settings->quiet)
        fputs("mlxrocm: what is done is kept: the same command goes on\n", stderr);
    return fail_with(error);
}

static const struct option_group *const groups[] = {&quantize_options, &json_options, &output_options, NULL};

const struct subcommand quantize_command = {
    "quantize",
    "SOURCE TARGET",
    "quantizes a model",
    2,
    2,
    groups,
    "SOURCE is a folder of safetensors files or a GGUF file, TARGET the folder to make. When it is interrupted, the\n"
    "same command goes on. HOW is a number of bits, bits:group, a mode, or none.",
    run,
};
