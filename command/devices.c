/* mlxrocm devices: what models can run on. */
#include "command.h"

#include <stdlib.h>

/* One line, or one object. */
static int print_device(size_t index, bool json) {
    mlxrocm_error *error = NULL;
    mlxrocm_device *device = NULL;
    mlxrocm_device_info info = {.struct_size = sizeof info};
    if (mlxrocm_device_open(index, &device, &error) != MLXROCM_OK ||
        mlxrocm_device_get_info(device, &info, &error) != MLXROCM_OK) {
        mlxrocm_device_free(device);
        if (json)
            printf("%s{\"number\": %zu, \"error\": \"%s\"}", index > 0 ? ", " : "", index,
                   mlxrocm_status_name(mlxrocm_error_status(error), NULL));
        fflush(stdout);
        return fail_with(error);
    }
    if (json) {
        printf("%s{\"number\": %zu, \"kind\": \"%s\", \"name\": ", index > 0 ? ", " : "", index,
               device_kind(info.kind));
        json_string(stdout, info.name);
        printf(", \"isa\": ");
        json_string(stdout, info.isa);
        printf(", \"pci\": ");
        json_string(stdout, info.pci_id);
        printf(", \"compute_units\": %llu, \"memory_total\": %llu, \"memory_free\": %llu, \"integrated\": %s}",
               (unsigned long long)info.compute_units, (unsigned long long)info.memory_total,
               (unsigned long long)info.memory_free, info.integrated ? "true" : "false");
    } else {
        const bool is_cpu = info.kind == MLXROCM_DEVICE_CPU;
        set_style(stdout, STYLE_BOLD);
        printf("%zu  %s", index, info.name);
        set_style(stdout, STYLE_PLAIN);
        printf("\n   %s, %s, %llu %s\n", device_kind(info.kind), info.isa, (unsigned long long)info.compute_units,
               is_cpu ? "CPUs" : "compute units");
        printf("   %s of memory%s, %s free\n", readable_bytes(info.memory_total),
               info.integrated ? " shared with the CPU" : "", readable_bytes(info.memory_free));
    }
    mlxrocm_device_free(device);
    return 0;
}

/* Why there are no GPUs of a kind, owned; "" if there are. NULL after an error. */
static char *why_none(uint32_t kind) {
    mlxrocm_error *error = NULL;
    size_t needed = 0;
    if (mlxrocm_device_why_none(kind, NULL, 0, &needed, &error) != MLXROCM_OK) {
        fail_with(error);
        return NULL;
    }
    char *reason = must_allocate(NULL, needed, 1);
    if (mlxrocm_device_why_none(kind, reason, needed, &needed, &error) == MLXROCM_OK) return reason;
    fail_with(error);
    free(reason);
    return NULL;
}

static int print_missing(uint32_t kind, const char *key, bool json) {
    char *reason = why_none(kind);
    if (reason == NULL) return EXIT_FAILED;
    if (json) {
        printf(", \"%s\": ", key);
        json_string(stdout, reason);
    } else if (reason[0] != '\0') {
        printf("\n%s\n", reason);
    }
    free(reason);
    return 0;
}

static int run(const struct settings *settings, char **operands, size_t operand_count) {
    (void)operands, (void)operand_count;
    mlxrocm_error *error = NULL;
    size_t count = 0;
    int result = 0;
    if (mlxrocm_device_count(&count, &error) != MLXROCM_OK) return fail_with(error);
    if (settings->json) printf("{\"devices\": [");
    for (size_t i = 0; i < count; i++)
        if (print_device(i, settings->json) != 0) result = EXIT_FAILED; /* the others are there */
    if (settings->json) printf("]");
    if (print_missing(MLXROCM_DEVICE_HIP, "why_no_amd_gpu", settings->json) != 0) result = EXIT_FAILED;
    if (print_missing(MLXROCM_DEVICE_CUDA, "why_no_nvidia_gpu", settings->json) != 0) result = EXIT_FAILED;
    if (settings->json) printf("}\n");
    if (fflush(stdout) != 0 || ferror(stdout)) return fail_to_write();
    return result;
}

static const struct option_group *const groups[] = {&json_options, NULL};

const struct subcommand devices_command = {
    "devices", "", "lists what models can run on", 0, 0, groups,
    "The number in front is what --device takes. Where GPUs are missing it says why.", run,
};
