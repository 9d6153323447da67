/* What the engine group is for, on a GPU: copies, kernels of the library and of one's own, events,
 * memory counters, programs in both modes, and the self-test.
 *
 *     gpu_work CODE        CODE: a code object for the GPU with a kernel `twice` */
#include "gpu.h"

#define COUNT 1003

static mlxrocm_device *gpu;
static mlxrocm_stream *stream;
static float numbers[COUNT], more[COUNT], result[COUNT];

static void copies(void) {
    mlxrocm_buffer *a = buffer_on(gpu, MLXROCM_BUFFER_DEVICE, sizeof numbers);
    mlxrocm_buffer *b = buffer_on(gpu, MLXROCM_BUFFER_DEVICE, sizeof numbers);
    mlxrocm_buffer *host = buffer_on(gpu, MLXROCM_BUFFER_PINNED, sizeof numbers);
    mlxrocm_buffer_info info = {0};
    info.struct_size = sizeof info;
    OK(mlxrocm_buffer_get_info(host, &info, &error));
    float *pinned = info.data;

    /* Through pinned memory and two device buffers, and back. */
    for (int i = 0; i < COUNT; i++) pinned[i] = numbers[i];
    OK(mlxrocm_stream_copy(stream, a, 0, host, 0, sizeof numbers, &error));
    OK(mlxrocm_stream_copy(stream, b, 4, a, 0, sizeof numbers - 4, &error));
    OK(mlxrocm_stream_fill(stream, b, 0, 4, 0, &error));
    OK(mlxrocm_stream_wait(stream, FOREVER, &error));
    OK(mlxrocm_stream_query(stream, &error));
    memset(pinned, 0xff, sizeof numbers);
    OK(mlxrocm_stream_copy(stream, host, 8, b, 8, sizeof numbers - 8, &error));
    OK(mlxrocm_stream_wait(stream, FOREVER, &error));
    CHECK(memcmp(pinned + 2, numbers + 1, sizeof numbers - 8) == 0);
    OK(mlxrocm_buffer_read(b, 0, result, sizeof result, &error));
    CHECK(result[0] == 0.0f && memcmp(result + 1, numbers, sizeof numbers - 4) == 0);

    /* Bytes are taken before a queued write returns. */
    float changed = 5.0f;
    OK(mlxrocm_stream_write(stream, a, 12, &changed, sizeof changed, &error));
    changed = 6.0f;
    OK(mlxrocm_stream_read(stream, a, 12, &changed, sizeof changed, &error));
    CHECK(changed == 5.0f);
    OK(mlxrocm_buffer_write(a, 12, numbers + 3, 4, &error));
    OK(mlxrocm_buffer_read(a, 0, result, sizeof result, &error));
    CHECK(memcmp(result, numbers, sizeof numbers) == 0);

    /* Freed while it is in use: the copy still ends. */
    OK(mlxrocm_stream_copy(stream, b, 0, a, 0, sizeof numbers, &error));
    mlxrocm_buffer_free(a);
    OK(mlxrocm_stream_read(stream, b, 0, result, sizeof result, &error));
    CHECK(memcmp(result, numbers, sizeof numbers) == 0);
    mlxrocm_buffer_free(b);
    mlxrocm_buffer_free(host);
}

static void memory(void) {
    mlxrocm_device_memory before = {0}, now = {0};
    before.struct_size = now.struct_size = sizeof now;
    OK(mlxrocm_device_trim(gpu, &error));
    OK(mlxrocm_device_reset_peak_memory(gpu, &error));
    OK(mlxrocm_device_get_memory(gpu, &before, &error));
    CHECK(before.cache == 0 && before.peak == before.active);
    mlxrocm_buffer *buffer = buffer_on(gpu, MLXROCM_BUFFER_DEVICE, 8 << 20);
    mlxrocm_buffer *host = buffer_on(gpu, MLXROCM_BUFFER_PINNED, 1 << 20);
    OK(mlxrocm_device_get_memory(gpu, &now, &error));
    CHECK(now.active >= before.active + (8 << 20) && now.peak == now.active && now.cache == 0);
    CHECK(now.pinned_active >= before.pinned_active + (1 << 20) && now.free < before.free);
    EXPECT(MLXROCM_ERROR_OUT_OF_MEMORY, mlxrocm_device_set_memory_limit(gpu, 1, &error));
    mlxrocm_buffer_free(buffer);
    mlxrocm_buffer_free(host);
    OK(mlxrocm_device_get_memory(gpu, &now, &error));
    CHECK(now.active == before.active && now.cache >= 8 << 20 && now.peak >= now.active + (8 << 20));
    OK(mlxrocm_device_set_memory_limit(gpu, now.active + (1 << 20), &error));
    buffer = NULL;
    EXPECT(MLXROCM_ERROR_OUT_OF_MEMORY,
           mlxrocm_buffer_new(gpu, MLXROCM_BUFFER_DEVICE, 2 << 20, &buffer, &error));
    buffer = buffer_on(gpu, MLXROCM_BUFFER_DEVICE, 512 << 10);
    mlxrocm_buffer_free(buffer);
    OK(mlxrocm_device_set_memory_limit(gpu, before.limit, &error));
    OK(mlxrocm_device_trim(gpu, &error));
    OK(mlxrocm_device_get_memory(gpu, &now, &error));
    CHECK(now.cache == 0 && now.limit == before.limit);
}

/* y = scale * x + shift, with arguments of several types; LDS that the launch asks for. */
static const char *const source =
    "extern \"C\" __global__ void affine(float *y, const float *x, unsigned count, float scale,\n"
    "                                  int shift, long long unused, double half) {\n"
    "    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < count) y[i] = scale * x[i] + (float)shift + (float)(2 * half) + (float)(unused >> 40);\n"
    "}\n";

static void own_kernels(const char *code_path) {
    mlxrocm_module *module = NULL;
    mlxrocm_kernel *kernel = NULL;
    mlxrocm_buffer *x = buffer_on(gpu, MLXROCM_BUFFER_DEVICE, sizeof numbers);
    mlxrocm_buffer *y = buffer_on(gpu, MLXROCM_BUFFER_DEVICE, sizeof numbers + 16);
    OK(mlxrocm_module_compile(gpu, source, MLXROCM_NUL, NULL, &module, &error));
    OK(mlxrocm_module_get_kernel(module, "affine", MLXROCM_NUL, &kernel, &error));
    mlxrocm_module_free(module); /* the kernel keeps it */
    const mlxrocm_arg args[] = {mlxrocm_arg_output(y, 16),    mlxrocm_arg_input(x, 0),
                                mlxrocm_arg_u32(COUNT),       mlxrocm_arg_f32(2.0f),
                                mlxrocm_arg_i32(-3),          mlxrocm_arg_i64(-(INT64_C(1) << 40)),
                                mlxrocm_arg_f64(0.5)};
    mlxrocm_launch launch = {0};
    launch.struct_size = sizeof launch;
    launch.grid[0] = (COUNT + 127) / 128; /* y and z are 1 */
    launch.block[0] = 128;
    launch.args = args;
    launch.arg_count = 7;
    launch.dynamic_lds = 1024;
    OK(mlxrocm_stream_write(stream, x, 0, numbers, sizeof numbers, &error));
    OK(mlxrocm_stream_launch(stream, kernel, &launch, &error));
    mlxrocm_kernel_free(kernel); /* the queue keeps it */
    mlxrocm_buffer_free(x);
    OK(mlxrocm_stream_read(stream, y, 16, result, sizeof result, &error));
    for (int i = 0; i < COUNT; i++) CHECK(result[i] == 2.0f * numbers[i] - 3.0f);
    launch.grid[0] = 0; /* nothing to do */
    kernel = kernel_on(gpu, "mlxrocm_vector_add_f32");
    mlxrocm_arg adds[4];
    launch = add_launch(adds, y, y, y, 0);
    OK(mlxrocm_stream_launch(stream, kernel, &launch, &error));
    mlxrocm_kernel_free(kernel);

    /* Code that was compiled before. */
    static char code[1 << 20];
    FILE *file = fopen(code_path, "rb");
    CHECK(file);
    const size_t size = fread(code, 1, sizeof code, file);
    fclose(file);
    CHECK(size > 0 && size < sizeof code);
    OK(mlxrocm_module_load(gpu, code, size, &module, &error));
    memset(code, 0, size);
    OK(mlxrocm_module_get_kernel(module, "twice", MLXROCM_NUL, &kernel, &error));
    const mlxrocm_arg twice[] = {mlxrocm_arg_buffer(y, 16), mlxrocm_arg_u32(COUNT)};
    launch = (mlxrocm_launch){.struct_size = sizeof launch, .grid = {4}, .block = {256}};
    launch.args = twice;
    launch.arg_count = 2;
    OK(mlxrocm_stream_launch(stream, kernel, &launch, &error));
    OK(mlxrocm_stream_read(stream, y, 16, result, sizeof result, &error));
    for (int i = 0; i < COUNT; i++) CHECK(result[i] == 2.0f * (2.0f * numbers[i] - 3.0f));
    mlxrocm_module_free(module);
    mlxrocm_kernel_free(kernel);
    mlxrocm_buffer_free(y);
}

static void events(void) {
    mlxrocm_gpu_event *first = NULL, *second = NULL;
    mlxrocm_stream *other = stream_on(gpu);
    mlxrocm_kernel *add = kernel_on(gpu, "mlxrocm_vector_add_f32");
    mlxrocm_buffer *a = buffer_on(gpu, MLXROCM_BUFFER_DEVICE, sizeof numbers);
    mlxrocm_buffer *b = buffer_on(gpu, MLXROCM_BUFFER_DEVICE, sizeof numbers);
    mlxrocm_arg args[4];
    double milliseconds = -1.0;
    OK(mlxrocm_gpu_event_new(gpu, &first, &error));
    OK(mlxrocm_gpu_event_new(gpu, &second, &error));
    OK(mlxrocm_buffer_write(a, 0, numbers, sizeof numbers, &error));
    for (int round = 0; round < 20; round++) {
        /* b = 2a on one stream, b = 2b on the other, always in this order. */
        mlxrocm_launch launch = add_launch(args, b, a, a, COUNT);
        OK(mlxrocm_stream_wait_for(stream, second, &error));
        OK(mlxrocm_stream_launch(stream, add, &launch, &error));
        OK(mlxrocm_stream_record(stream, first, &error));
        launch = add_launch(args, b, b, b, COUNT);
        OK(mlxrocm_stream_wait_for(other, first, &error));
        OK(mlxrocm_stream_launch(other, add, &launch, &error));
        OK(mlxrocm_stream_record(other, second, &error));
    }
    OK(mlxrocm_gpu_event_wait(second, FOREVER, &error));
    OK(mlxrocm_gpu_event_query(second, &error));
    OK(mlxrocm_gpu_event_elapsed(first, second, &milliseconds, &error));
    CHECK(milliseconds >= 0.0 && milliseconds < 60000.0);
    OK(mlxrocm_buffer_read(b, 0, result, sizeof result, &error));
    for (int i = 0; i < COUNT; i++) CHECK(result[i] == 4.0f * numbers[i]);
    mlxrocm_gpu_event_free(first);
    mlxrocm_gpu_event_free(second);
    mlxrocm_stream_free(other);
    mlxrocm_kernel_free(add);
    mlxrocm_buffer_free(a);
    mlxrocm_buffer_free(b);
}

static void programs(void) {
    mlxrocm_kernel *add = kernel_on(gpu, "mlxrocm_vector_add_f32");
    mlxrocm_buffer *a = buffer_on(gpu, MLXROCM_BUFFER_DEVICE, sizeof numbers);
    mlxrocm_buffer *b = buffer_on(gpu, MLXROCM_BUFFER_DEVICE, sizeof numbers);
    mlxrocm_buffer *c = buffer_on(gpu, MLXROCM_BUFFER_DEVICE, sizeof numbers);
    mlxrocm_program *program = NULL;
    mlxrocm_arg args[5];
    OK(mlxrocm_program_new(gpu, &program, &error));
    /* a += b, eight times; then c = a, and its first number is 0. */
    for (int i = 0; i < 8; i++) {
        mlxrocm_launch launch = add_launch(args, a, a, b, COUNT);
        args[0] = mlxrocm_arg_buffer(a, 0);
        OK(mlxrocm_program_launch(program, add, &launch, &error));
    }
    OK(mlxrocm_program_copy(program, c, 0, a, 0, sizeof numbers, &error));
    OK(mlxrocm_program_barrier(program, &error));
    OK(mlxrocm_program_fill(program, c, 0, 4, 0, &error));
    OK(mlxrocm_program_fill(program, c, 0, 0, 0, &error)); /* records nothing */
    OK(mlxrocm_program_end(program, &error));
    mlxrocm_kernel_free(add);
    mlxrocm_program_info info = {0};
    info.struct_size = sizeof info;
    char why[256];
    const uint32_t graphs[] = {MLXROCM_GRAPHS_OFF, MLXROCM_GRAPHS_ON, MLXROCM_GRAPHS_AUTO};
    for (int mode = 0; mode < 3; mode++) {
        OK(mlxrocm_device_set_graphs(gpu, graphs[mode], &error));
        OK(mlxrocm_stream_write(stream, a, 0, numbers, sizeof numbers, &error));
        OK(mlxrocm_stream_write(stream, b, 0, more, sizeof more, &error));
        for (int run = 0; run < 3; run++) OK(mlxrocm_program_run(program, stream, &error));
        OK(mlxrocm_stream_read(stream, c, 0, result, sizeof result, &error));
        CHECK(result[0] == 0.0f);
        for (int i = 1; i < COUNT; i++) CHECK(result[i] == numbers[i] + 24.0f * more[i]);
        OK(mlxrocm_program_get_info(program, &info, &error));
        OK(mlxrocm_program_explain(program, why, sizeof why, NULL, &error));
        CHECK(info.nodes == 10 && info.edges == 9 && strstr(why, "10 launches"));
        if (graphs[mode] == MLXROCM_GRAPHS_AUTO) {
            CHECK(info.reason == MLXROCM_REASON_COMPARED && info.same_bits == 1);
            CHECK(info.direct_ns > 0 && info.graph_ns > 0);
            CHECK((info.mode == MLXROCM_PROGRAM_GRAPH) == (info.graph_ns < info.direct_ns));
        } else {
            CHECK(info.reason == MLXROCM_REASON_SETTING);
            CHECK((info.mode == MLXROCM_PROGRAM_GRAPH) == (graphs[mode] == MLXROCM_GRAPHS_ON));
        }
    }
    mlxrocm_program_free(program);

    /* What a launch touches orders it, whether it is an argument or not. */
    add = kernel_on(gpu, "mlxrocm_vector_add_f32");
    OK(mlxrocm_program_new(gpu, &program, &error));
    mlxrocm_launch launch = add_launch(args, a, b, b, COUNT);
    OK(mlxrocm_program_launch(program, add, &launch, &error));
    launch = add_launch(args, c, b, b, COUNT);
    args[4] = mlxrocm_arg_input(a, 0);
    launch.touched = args + 4;
    launch.touched_count = 1;
    OK(mlxrocm_program_launch(program, add, &launch, &error));
    OK(mlxrocm_program_end(program, &error));
    OK(mlxrocm_program_get_info(program, &info, &error));
    CHECK(info.nodes == 2 && info.edges == 1);
    mlxrocm_program_free(program);
    mlxrocm_kernel_free(add);
    mlxrocm_buffer_free(a);
    mlxrocm_buffer_free(b);
    mlxrocm_buffer_free(c);
}

typedef struct {
    int lines, freed, failed, stop_at;
    char seed[64];
} hearing;

static int32_t hear(const char *line, size_t length, void *user_data) {
    hearing *heard = user_data;
    CHECK(strlen(line) == length);
    CHECK(!strchr(line, '\n'));
    ++heard->lines;
    if (strncmp(line, "FAIL", 4) == 0) ++heard->failed;
    if (strncmp(line, "seed: ", 6) == 0) snprintf(heard->seed, sizeof heard->seed, "%s", line + 6);
    return heard->lines == heard->stop_at;
}

static void heard_enough(void *user_data) { ++((hearing *)user_data)->freed; }

static void selftest(void) {
    hearing heard = {0};
    mlxrocm_selftest_options options = {0};
    options.struct_size = sizeof options;
    options.flags = MLXROCM_SELFTEST_QUICK;
    options.report = hear;
    options.user_data = &heard;
    options.user_data_free = heard_enough;
    OK(mlxrocm_device_selftest(gpu, &options, &error));
    CHECK(heard.lines > 20 && heard.freed == 1 && heard.failed == 0 && heard.seed[0]);
    options.flags = MLXROCM_SELFTEST_NO_MEASUREMENTS;
    options.seed = 7;
    OK(mlxrocm_device_selftest(gpu, &options, &error));
    CHECK(heard.freed == 2 && strcmp(heard.seed, "7") == 0);
    heard.stop_at = heard.lines + 3;
    EXPECT(MLXROCM_ERROR_CANCELLED, mlxrocm_device_selftest(gpu, &options, &error));
    CHECK(heard.freed == 3);
    /* A device whose graphs give wrong results. */
    heard.stop_at = 0;
    gpu_fault("graph_wrong");
    EXPECT_MESSAGE(MLXROCM_ERROR_SELFTEST_FAILED, "graph",
                   mlxrocm_device_selftest(gpu, &options, &error));
    gpu_fault("none");
    CHECK(heard.failed > 0);
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    for (int i = 0; i < COUNT; i++) numbers[i] = (float)(i % 64), more[i] = (float)(i % 5);
    gpu = open_gpu(1);
    stream = stream_on(gpu);
    copies();
    memory();
    own_kernels(argv[1]);
    events();
    programs();
    gpu_no_violations();
    selftest();
    mlxrocm_stream_free(stream);
    mlxrocm_device_free(gpu);
    return 0;
}
