/* 02: what is there to compute on? Lists the devices with their facts. */
#include <mlxrocm.h>
#include <stdio.h>

/* Prints what went wrong, frees it, and gives the exit status of this program. */
static int fail(const char *what, mlxrocm_error *error) {
    fprintf(stderr, "%s: %s: %s\n", what, mlxrocm_status_name(mlxrocm_error_status(error), NULL),
            mlxrocm_error_message(error, NULL));
    mlxrocm_error_free(error);
    return 1;
}

static int print_device(size_t index) {
    mlxrocm_error *error = NULL;
    mlxrocm_device *device = NULL;
    if (mlxrocm_device_open(index, &device, &error) != MLXROCM_OK) return fail("open", error);

    mlxrocm_device_info info = {.struct_size = sizeof info};
    if (mlxrocm_device_get_info(device, &info, &error) != MLXROCM_OK) {
        mlxrocm_device_free(device);
        return fail("info", error);
    }
    const double gib = 1024.0 * 1024.0 * 1024.0;
    printf("device %zu: %s\n", index, info.name);
    printf("  kind           %s\n", info.kind == MLXROCM_DEVICE_CPU ? "CPU" : "GPU");
    printf("  kernels        %s\n", info.isa);
    printf("  compute units  %llu\n", (unsigned long long)info.compute_units);
    printf("  memory         %.1f GiB, %.1f GiB free\n", (double)info.memory_total / gib,
           (double)info.memory_free / gib);
    mlxrocm_device_free(device);
    return 0;
}

int main(void) {
    mlxrocm_error *error = NULL;
    size_t count = 0;
    if (mlxrocm_device_count(&count, &error) != MLXROCM_OK) return fail("count", error);
    for (size_t index = 0; index < count; index++)
        if (print_device(index) != 0) return 1;
    return 0;
}
