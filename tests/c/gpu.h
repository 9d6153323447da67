/* What the C tests of the engine group share: the controls of the software GPU, and objects. */
#ifndef GPU_H
#define GPU_H

#include "check.h"

#include <dlfcn.h>

#define SECOND INT64_C(1000000000)
#define FOREVER (60 * SECOND) /* a hang ends the test */

/* The software GPU is the library that stands in for HIP; it has controls for tests. */
static inline void *gpu_control(const char *name) {
    const char *path = getenv("MLXROCM_HIP_LIBRARY");
    CHECK(path);
    void *library = dlopen(path, RTLD_NOW);
    CHECK(library);
    void *control = dlsym(library, name);
    CHECK(control);
    return control;
}

/* Arms faults, e.g. "alloc@3". */
static inline void gpu_fault(const char *text) {
    int (*fault)(const char *) = NULL;
    *(void **)&fault = gpu_control("softgpu_fault");
    CHECK(fault(text) == 0);
}

/* Starts again with another machine. All objects must be freed. */
static inline void gpu_configure(const char *text) {
    int (*configure)(const char *) = NULL;
    *(void **)&configure = gpu_control("softgpu_configure");
    CHECK(configure(text) == 0);
}

/* The report as JSON; the caller frees it. */
static inline char *gpu_report(void) {
    size_t (*report)(char *, size_t) = NULL;
    *(void **)&report = gpu_control("softgpu_report");
    const size_t size = report(NULL, 0);
    char *text = malloc(size + 4096);
    CHECK(text);
    report(text, size + 4096);
    return text;
}

/* Nothing was done that HIP forbids. */
static inline void gpu_no_violations(void) {
    char *report = gpu_report();
    if (!strstr(report, "\"violations\":[]") && !strstr(report, "\"violations\": []")) {
        fprintf(stderr, "%.3000s\n", report);
        exit(1);
    }
    free(report);
}

static inline mlxrocm_device *open_gpu(size_t index) {
    mlxrocm_device *device = NULL;
    OK(mlxrocm_device_open(index, &device, &error));
    CHECK(device);
    return device;
}

static inline mlxrocm_stream *stream_on(const mlxrocm_device *device) {
    mlxrocm_stream *stream = NULL;
    OK(mlxrocm_stream_new(device, &stream, &error));
    return stream;
}

static inline mlxrocm_buffer *buffer_on(const mlxrocm_device *device, uint32_t kind, uint64_t size) {
    mlxrocm_buffer *buffer = NULL;
    OK(mlxrocm_buffer_new(device, kind, size, &buffer, &error));
    return buffer;
}

static inline mlxrocm_kernel *kernel_on(const mlxrocm_device *device, const char *name) {
    mlxrocm_kernel *kernel = NULL;
    OK(mlxrocm_device_get_kernel(device, name, MLXROCM_NUL, &kernel, &error));
    return kernel;
}

/* c[i] = a[i] + b[i] for `count` floats, with the library's own kernel. `args` has room for four. */
static inline mlxrocm_launch add_launch(mlxrocm_arg *args, const mlxrocm_buffer *c,
                                        const mlxrocm_buffer *a, const mlxrocm_buffer *b,
                                        uint32_t count) {
    args[0] = mlxrocm_arg_output(c, 0);
    args[1] = mlxrocm_arg_input(a, 0);
    args[2] = mlxrocm_arg_input(b, 0);
    args[3] = mlxrocm_arg_u32(count);
    mlxrocm_launch launch;
    memset(&launch, 0, sizeof launch);
    launch.struct_size = sizeof launch;
    launch.grid[0] = (count + 255) / 256;
    launch.block[0] = 256;
    launch.args = args;
    launch.arg_count = 4;
    return launch;
}

#endif
