/* 09: a list of launches that is recorded once and run often. The library orders the launches by what
 * they read and write, and runs the program as one graph where that was found right and faster.
 *
 *     09_program_replay [DEVICE]        (1: the first GPU)
 *
 * Each run adds STEPS to every number of a vector: x becomes y + 1, then y becomes x + 1, and so on.
 * Exits with 77 when there is no such GPU. */
#include <mlxrocm.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT 1000
#define STEPS 20
#define RUNS 50
#define NO_GPU 77
#define SECOND INT64_C(1000000000)

static float numbers[COUNT];

static int fail(const char *what, mlxrocm_error *error) {
    const mlxrocm_status status = mlxrocm_error_status(error);
    fprintf(stderr, "%s: %s: %s\n", what, mlxrocm_status_name(status, NULL), mlxrocm_error_message(error,
                                                                                                   NULL));
    mlxrocm_error_free(error);
    return status == MLXROCM_ERROR_NO_DEVICE ? NO_GPU : 1;
}

typedef struct {
    mlxrocm_device *device;
    mlxrocm_stream *stream;
    mlxrocm_kernel *kernel;
    mlxrocm_buffer *vectors[2], *ones;
    mlxrocm_program *program;
    mlxrocm_gpu_event *start, *end;
} objects;

static int make(objects *o, size_t index) {
    mlxrocm_error *error = NULL;
    const uint32_t kind = MLXROCM_BUFFER_DEVICE;
    const uint64_t size = sizeof numbers;
    if (mlxrocm_device_open(index, &o->device, &error) != MLXROCM_OK) return fail("open", error);
    if (mlxrocm_stream_new(o->device, &o->stream, &error) != MLXROCM_OK ||
        mlxrocm_gpu_event_new(o->device, &o->start, &error) != MLXROCM_OK ||
        mlxrocm_gpu_event_new(o->device, &o->end, &error) != MLXROCM_OK ||
        mlxrocm_buffer_new(o->device, kind, size, &o->vectors[0], &error) != MLXROCM_OK ||
        mlxrocm_buffer_new(o->device, kind, size, &o->vectors[1], &error) != MLXROCM_OK ||
        mlxrocm_buffer_new(o->device, kind, size, &o->ones, &error) != MLXROCM_OK ||
        /* One of the library's own kernels. */
        mlxrocm_device_get_kernel(o->device, "mlxrocm_vector_add_f32", MLXROCM_NUL, &o->kernel,
                                  &error) != MLXROCM_OK)
        return fail("make", error);
    return 0;
}

static int record(objects *o) {
    mlxrocm_error *error = NULL;
    if (mlxrocm_program_new(o->device, &o->program, &error) != MLXROCM_OK) return fail("new", error);
    for (int step = 0; step < STEPS; step++) {
        const mlxrocm_arg args[] = {mlxrocm_arg_output(o->vectors[(step + 1) % 2], 0),
                                    mlxrocm_arg_input(o->vectors[step % 2], 0),
                                    mlxrocm_arg_input(o->ones, 0), mlxrocm_arg_u32(COUNT)};
        const mlxrocm_launch launch = {.struct_size = sizeof launch,
                                       .grid = {(COUNT + 255) / 256, 1, 1},
                                       .block = {256, 1, 1},
                                       .args = args,
                                       .arg_count = sizeof args / sizeof *args};
        if (mlxrocm_program_launch(o->program, o->kernel, &launch, &error) != MLXROCM_OK)
            return fail("launch", error);
    }
    if (mlxrocm_program_end(o->program, &error) != MLXROCM_OK) return fail("end", error);
    return 0;
}

static int run(objects *o) {
    mlxrocm_error *error = NULL;
    for (int i = 0; i < COUNT; i++) numbers[i] = 1.0f;
    if (mlxrocm_stream_write(o->stream, o->ones, 0, numbers, sizeof numbers, &error) != MLXROCM_OK ||
        mlxrocm_stream_fill(o->stream, o->vectors[0], 0, sizeof numbers, 0, &error) != MLXROCM_OK ||
        mlxrocm_stream_fill(o->stream, o->vectors[1], 0, sizeof numbers, 0, &error) != MLXROCM_OK)
        return fail("prepare", error);
    for (int i = 0; i < RUNS; i++) {
        /* The first run may compare the ways to run it: time is taken after it. */
        if (i == 1 && mlxrocm_stream_record(o->stream, o->start, &error) != MLXROCM_OK)
            return fail("record", error);
        if (mlxrocm_program_run(o->program, o->stream, &error) != MLXROCM_OK) return fail("run", error);
    }
    double milliseconds = 0.0;
    if (mlxrocm_stream_record(o->stream, o->end, &error) != MLXROCM_OK ||
        mlxrocm_gpu_event_wait(o->end, 120 * SECOND, &error) != MLXROCM_OK ||
        mlxrocm_gpu_event_elapsed(o->start, o->end, &milliseconds, &error) != MLXROCM_OK ||
        mlxrocm_stream_read(o->stream, o->vectors[0], 0, numbers, sizeof numbers, &error) != MLXROCM_OK)
        return fail("result", error);

    char why[256];
    if (mlxrocm_program_explain(o->program, why, sizeof why, NULL, &error) != MLXROCM_OK)
        return fail("explain", error);
    puts(why);
    printf("%.2f us a launch\n", 1e3 * milliseconds / ((RUNS - 1) * STEPS));
    for (int i = 0; i < COUNT; i++) {
        if (numbers[i] != (float)(RUNS * STEPS)) {
            fprintf(stderr, "number %d is %g instead of %d\n", i, (double)numbers[i], RUNS * STEPS);
            return 1;
        }
    }
    printf("%d runs added %d to every number\n", RUNS, RUNS * STEPS);
    return 0;
}

int main(int argc, char **argv) {
    objects o = {NULL, NULL, NULL, {NULL, NULL}, NULL, NULL, NULL, NULL};
    int result = make(&o, argc > 1 ? strtoul(argv[1], NULL, 10) : 1);
    if (result == 0) result = record(&o);
    if (result == 0) result = run(&o);
    mlxrocm_program_free(o.program);
    mlxrocm_gpu_event_free(o.start);
    mlxrocm_gpu_event_free(o.end);
    mlxrocm_kernel_free(o.kernel);
    for (int i = 0; i < 2; i++) mlxrocm_buffer_free(o.vectors[i]);
    mlxrocm_buffer_free(o.ones);
    mlxrocm_stream_free(o.stream);
    mlxrocm_device_free(o.device);
    return result;
}
