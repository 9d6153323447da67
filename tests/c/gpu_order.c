/* Objects of the engine group may be freed in any order, also parents before children and while work
 * is queued, and the others go on working.
 *
 *     gpu_order [STRIDE]        each STRIDE-th of the 5040 orders is tried */
#include "gpu.h"

enum { DEVICE, STREAM, EVENT, BUFFER, MODULE, KERNEL, PROGRAM, OBJECTS };

static mlxrocm_device *gpu;
static mlxrocm_stream *stream;
static mlxrocm_gpu_event *event;
static mlxrocm_buffer *buffer;
static mlxrocm_module *module;
static mlxrocm_kernel *kernel;
static mlxrocm_program *program;
static mlxrocm_arg args[2];

static const char *const source =
    "extern \"C\" __global__ void increase(unsigned *x, unsigned count) {\n"
    "    if (threadIdx.x < count) x[threadIdx.x] += 1;\n"
    "}\n";

static mlxrocm_launch increase(void) {
    args[0] = mlxrocm_arg_buffer(buffer, 0);
    args[1] = mlxrocm_arg_u32(4);
    mlxrocm_launch launch = {0};
    launch.struct_size = sizeof launch;
    launch.grid[0] = 1;
    launch.block[0] = 32;
    launch.args = args;
    launch.arg_count = 2;
    return launch;
}

static void make(void) {
    gpu = open_gpu(1);
    stream = stream_on(gpu);
    OK(mlxrocm_gpu_event_new(gpu, &event, &error));
    buffer = buffer_on(gpu, MLXROCM_BUFFER_DEVICE, 16);
    OK(mlxrocm_module_compile(gpu, source, MLXROCM_NUL, NULL, &module, &error));
    OK(mlxrocm_module_get_kernel(module, "increase", MLXROCM_NUL, &kernel, &error));
    OK(mlxrocm_program_new(gpu, &program, &error));
    const mlxrocm_launch launch = increase();
    OK(mlxrocm_program_launch(program, kernel, &launch, &error));
    OK(mlxrocm_program_end(program, &error));
    /* Work that is queued when the first object goes. */
    OK(mlxrocm_stream_fill(stream, buffer, 0, 16, 0, &error));
    OK(mlxrocm_program_run(program, stream, &error));
    OK(mlxrocm_stream_launch(stream, kernel, &launch, &error));
    OK(mlxrocm_stream_record(stream, event, &error));
}

static void release(int object) {
    switch (object) {
    case DEVICE: mlxrocm_device_free(gpu); break;
    case STREAM: mlxrocm_stream_free(stream); break;
    case EVENT: mlxrocm_gpu_event_free(event); break;
    case BUFFER: mlxrocm_buffer_free(buffer); break;
    case MODULE: mlxrocm_module_free(module); break;
    case KERNEL: mlxrocm_kernel_free(kernel); break;
    default: mlxrocm_program_free(program); break;
    }
}

/* What is not freed yet must work. */
static void use(const int *freed, uint32_t *value) {
    if (!freed[EVENT]) OK(mlxrocm_gpu_event_wait(event, FOREVER, &error));
    if (!freed[DEVICE]) {
        mlxrocm_stream *other = stream_on(gpu);
        OK(mlxrocm_stream_wait(other, FOREVER, &error));
        mlxrocm_stream_free(other);
    }
    if (!freed[MODULE]) {
        mlxrocm_kernel *other = NULL;
        OK(mlxrocm_module_get_kernel(module, "increase", MLXROCM_NUL, &other, &error));
        mlxrocm_kernel_free(other);
    }
    if (!freed[STREAM] && !freed[PROGRAM]) {
        OK(mlxrocm_program_run(program, stream, &error));
        ++*value;
    }
    if (!freed[STREAM] && !freed[KERNEL] && !freed[BUFFER]) {
        const mlxrocm_launch launch = increase();
        OK(mlxrocm_stream_launch(stream, kernel, &launch, &error));
        ++*value;
    }
    if (!freed[BUFFER] && !freed[STREAM]) {
        uint32_t numbers[4] = {0, 0, 0, 0};
        OK(mlxrocm_stream_read(stream, buffer, 0, numbers, sizeof numbers, &error));
        for (int i = 0; i < 4; i++) CHECK(numbers[i] == *value);
    }
}

static int orders, stride = 1;

static void permute(int *order, int count) {
    if (count == OBJECTS) {
        int freed[OBJECTS] = {0};
        uint32_t value = 2;
        if (orders++ % stride != 0) return;
        make();
        for (int i = 0; i < OBJECTS; i++) {
            release(order[i]);
            freed[order[i]] = 1;
            use(freed, &value);
        }
        return;
    }
    for (int object = 0; object < OBJECTS; object++) {
        int taken = 0;
        for (int i = 0; i < count; i++) taken |= order[i] == object;
        if (taken) continue;
        order[count] = object;
        permute(order, count + 1);
    }
}

int main(int argc, char **argv) {
    int order[OBJECTS];
    if (argc == 2) stride = atoi(argv[1]);
    CHECK(stride > 0);
    permute(order, 0);
    CHECK(orders == 5040);
    gpu_no_violations();
    return 0;
}
