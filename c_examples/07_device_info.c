/* 07: the GPUs of this machine, with their facts and memory counters; or why there are none.
 *
 * Exits with 77 when there is no GPU. */
#include <mlxrocm.h>
#include <stdio.h>

#define NO_GPU 77

static int fail(const char *what, mlxrocm_error *error) {
    fprintf(stderr, "%s: %s: %s\n", what, mlxrocm_status_name(mlxrocm_error_status(error), NULL),
            mlxrocm_error_message(error, NULL));
    mlxrocm_error_free(error);
    return 1;
}

static double mib(uint64_t bytes) { return (double)bytes / (1024.0 * 1024.0); }

static void print_facts(size_t index, const mlxrocm_device_info *info) {
    printf("device %zu: %s\n", index, info->name);
    printf("  kind           %s\n", info->kind == MLXROCM_DEVICE_HIP ? "AMD (HIP)" : "NVIDIA (CUDA)");
    printf("  target         %s (code for %s)\n", info->target, info->isa);
    printf("  PCI            %s, driver %u\n", info->pci_id, info->driver_version);
    printf("  compute units  %llu, waves of %u, blocks of at most %u\n",
           (unsigned long long)info->compute_units, info->wave_size, info->max_block_threads);
    printf("  clocks         core %u MHz, memory %u MHz x %u bits\n", info->clock_khz / 1000,
           info->memory_clock_khz / 1000, info->memory_bus_bits);
    printf("  on the chip    %u KiB local memory a block, %.1f MiB L2\n", info->lds_bytes / 1024,
           mib(info->l2_bytes));
    printf("  memory         %.0f MiB, %.0f MiB free%s\n", mib(info->memory_total),
           mib(info->memory_free), info->integrated ? ", shared with the processor" : "");
}

static int print_device(size_t index) {
    mlxrocm_error *error = NULL;
    mlxrocm_device *device = NULL;
    if (mlxrocm_device_open(index, &device, &error) != MLXROCM_OK) return fail("open", error);
    mlxrocm_device_info info = {.struct_size = sizeof info};
    mlxrocm_device_memory memory = {.struct_size = sizeof memory};
    int result = 0;
    if (mlxrocm_device_get_info(device, &info, &error) != MLXROCM_OK ||
        mlxrocm_device_get_memory(device, &memory, &error) != MLXROCM_OK) {
        result = fail("facts", error);
    } else {
        print_facts(index, &info);
        printf("  this process   %.0f MiB in use, %.0f MiB cached, at most %.0f MiB\n",
               mib(memory.active), mib(memory.cache), mib(memory.limit));
    }
    mlxrocm_device_free(device);
    return result;
}

/* Prints why there is no GPU of a kind, if there is none. */
static void print_why_none(const char *name, uint32_t kind) {
    char text[512];
    size_t needed = 0;
    if (mlxrocm_device_why_none(kind, text, sizeof text, &needed, NULL) == MLXROCM_OK && text[0])
        fprintf(stderr, "%s: %s\n", name, text);
}

int main(void) {
    mlxrocm_error *error = NULL;
    size_t count = 0;
    if (mlxrocm_device_count(&count, &error) != MLXROCM_OK) return fail("count", error);
    for (size_t index = 1; index < count; index++) /* 0 is the CPU */
        if (print_device(index) != 0) return 1;
    print_why_none("AMD", MLXROCM_DEVICE_HIP);
    print_why_none("NVIDIA", MLXROCM_DEVICE_CUDA);
    return count > 1 ? 0 : NO_GPU;
}
