/* 08: a kernel of one's own. It is compiled on this machine for the GPU that is there, and adds two
 * vectors.
 *
 *     08_vector_add [DEVICE]        (1: the first GPU)
 *
 * Exits with 77 when there is no such GPU. */
#include <mlxrocm.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT 100000
#define BLOCK 256
#define NO_GPU 77
#define SECOND INT64_C(1000000000)

static const char *const source =
    "extern \"C\" __global__ void add(float *c, const float *a, const float *b, unsigned count) {\n"
    "    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < count) c[i] = a[i] + b[i];\n"
    "}\n";

static float a[COUNT], b[COUNT], c[COUNT];

static int fail(const char *what, mlxrocm_error *error) {
    const mlxrocm_status status = mlxrocm_error_status(error);
    fprintf(stderr, "%s: %s: %s\n", what, mlxrocm_status_name(status, NULL), mlxrocm_error_message(error,
                                                                                                   NULL));
    fputs(mlxrocm_error_details(error, NULL), stderr); /* the compiler's log, for one */
    mlxrocm_error_free(error);
    return status == MLXROCM_ERROR_NO_DEVICE ? NO_GPU : 1;
}

/* Everything that is made; what is not is NULL, which every _free takes. */
typedef struct {
    mlxrocm_device *device;
    mlxrocm_stream *stream;
    mlxrocm_module *module;
    mlxrocm_kernel *kernel;
    mlxrocm_buffer *a, *b, *c;
} objects;

static int run(objects *o, size_t index) {
    mlxrocm_error *error = NULL;
    const uint32_t kind = MLXROCM_BUFFER_DEVICE;
    if (mlxrocm_device_open(index, &o->device, &error) != MLXROCM_OK) return fail("open", error);
    if (mlxrocm_stream_new(o->device, &o->stream, &error) != MLXROCM_OK) return fail("stream", error);
    if (mlxrocm_module_compile(o->device, source, MLXROCM_NUL, NULL, &o->module, &error) != MLXROCM_OK)
        return fail("compile", error);
    if (mlxrocm_module_get_kernel(o->module, "add", MLXROCM_NUL, &o->kernel, &error) != MLXROCM_OK)
        return fail("kernel", error);
    if (mlxrocm_buffer_new(o->device, kind, sizeof a, &o->a, &error) != MLXROCM_OK ||
        mlxrocm_buffer_new(o->device, kind, sizeof b, &o->b, &error) != MLXROCM_OK ||
        mlxrocm_buffer_new(o->device, kind, sizeof c, &o->c, &error) != MLXROCM_OK)
        return fail("buffer", error);

    const mlxrocm_arg args[] = {mlxrocm_arg_output(o->c, 0), mlxrocm_arg_input(o->a, 0),
                                mlxrocm_arg_input(o->b, 0), mlxrocm_arg_u32(COUNT)};
    const mlxrocm_launch launch = {.struct_size = sizeof launch,
                                   .grid = {(COUNT + BLOCK - 1) / BLOCK, 1, 1},
                                   .block = {BLOCK, 1, 1},
                                   .args = args,
                                   .arg_count = sizeof args / sizeof *args};
    /* A stream does these one after another; the read waits for them. */
    if (mlxrocm_stream_write(o->stream, o->a, 0, a, sizeof a, &error) != MLXROCM_OK ||
        mlxrocm_stream_write(o->stream, o->b, 0, b, sizeof b, &error) != MLXROCM_OK ||
        mlxrocm_stream_launch(o->stream, o->kernel, &launch, &error) != MLXROCM_OK ||
        mlxrocm_stream_wait(o->stream, 60 * SECOND, &error) != MLXROCM_OK ||
        mlxrocm_stream_read(o->stream, o->c, 0, c, sizeof c, &error) != MLXROCM_OK)
        return fail("run", error);

    mlxrocm_device_info device = {.struct_size = sizeof device};
    mlxrocm_kernel_info kernel = {.struct_size = sizeof kernel};
    if (mlxrocm_device_get_info(o->device, &device, &error) != MLXROCM_OK ||
        mlxrocm_kernel_get_info(o->kernel, &kernel, &error) != MLXROCM_OK)
        return fail("info", error);
    printf("%s on %s: %u registers, %u bytes of local memory\n", kernel.name, device.name,
           kernel.registers, kernel.lds_bytes);
    return 0;
}

int main(int argc, char **argv) {
    for (int i = 0; i < COUNT; i++) {
        a[i] = (float)i;
        b[i] = 0.5f * (float)i;
    }
    objects o = {NULL, NULL, NULL, NULL, NULL, NULL, NULL};
    int result = run(&o, argc > 1 ? strtoul(argv[1], NULL, 10) : 1);
    /* In any order: what is still needed is kept. */
    mlxrocm_device_free(o.device);
    mlxrocm_module_free(o.module);
    mlxrocm_kernel_free(o.kernel);
    mlxrocm_buffer_free(o.a);
    mlxrocm_buffer_free(o.b);
    mlxrocm_buffer_free(o.c);
    mlxrocm_stream_free(o.stream);
    if (result != 0) return result;
    for (int i = 0; i < COUNT; i++) {
        if (c[i] != a[i] + b[i]) {
            fprintf(stderr, "number %d is %g instead of %g\n", i, (double)c[i], (double)(a[i] + b[i]));
            return 1;
        }
    }
    printf("%d sums are right\n", COUNT);
    return 0;
}
